"""Scaling: each column brought to a common range before the neurons see it.

    none      z = x
    minmax    z = (x − min) / (max − min)                            the paper's [0, 1]
    standard  z = (x − mean) / std
    quantile  z = share of sampled rows below x, from the least value seen (0) to the largest (1)

A column that was constant when φ was drawn carries no information and is always scaled to 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np

from ..columns.statistics import ColumnStats, exact, varies
from ..shapes import Array, Count, Indices, Numbers, Unscaled
from ..tolerances import EPS, MEAN_ROUNDING, VALUE_ROUNDING
from .feature_settings import FEATURES, FeatureSettings


@dataclass(frozen=True, slots=True)
class Affine:
    """z = (x − offset) · factor, as far as ±`far`: a row beyond would be all that sums hold."""

    far: ClassVar[float] = 100.0  # ranges or deviations from the offset

    offset: Annotated[Array, Unscaled("encoded")]
    factor: Annotated[Array, Unscaled("encoded", least=0)]

    def __call__(self, X: Array) -> Array:
        # In float64, since offset and column may share their leading digits.
        Z = np.subtract(X, self.offset, dtype=np.float64)
        with np.errstate(over="ignore"):  # what is beyond all numbers is far off, too
            Z *= self.factor
        np.clip(Z, -self.far, self.far, out=Z)
        return Z.astype(X.dtype, copy=False)


@dataclass(frozen=True, slots=True)
class Shift:
    """z = x − origin: the same distances, without the digits that rows share."""

    origin: Annotated[Array, Unscaled("encoded")]

    def __call__(self, X: Array) -> Array:
        return np.subtract(X, self.origin, dtype=np.float64).astype(X.dtype, copy=False)


@dataclass(frozen=True, slots=True)
class Identity:
    """z = x."""

    d: Annotated[int, Count("encoded")]

    def __call__(self, X: Array) -> Array:
        return X


@dataclass(frozen=True, slots=True)
class Quantile:
    """z = a monotone curve, column by column; flat beyond its ends.

    Columns of two values (flags, one-hot codes) are straight, and so are mostly empty ones of wide
    tables. Most others are straight within each of many bins of equal width, which are found
    without a search. Those whose values crowd in a few bins (long tails, a heap at zero) go through
    knots of their own.
    """

    offset: Annotated[Array, Unscaled("encoded")]  # t = (x − offset) · factor
    factor: Annotated[Array, Unscaled("encoded", least=0)]  # 0 where constant
    # t at the least value of a column: its first bin, or 0; and at its largest: its last bin, or 1.
    first: Annotated[Array, Numbers("encoded", least=0)]
    last: Annotated[Array, Numbers("encoded", least=0)]
    # Columns with bins, which follow one another, and z = height + slope · t in each bin.
    even: Annotated[Array, Indices(None, below="encoded", increasing=True)]
    heights: Annotated[Array, Numbers("bins")]
    slopes: Annotated[Array, Numbers("bins", least=-1e-6, most=1 + 1e-6)]  # 0 to 1 and rounding
    # Columns with knots; those one after another, and z at each; where each column's begin.
    uneven: Annotated[Array, Indices("uneven", below="encoded", increasing=True)]
    knots: Annotated[Array, Unscaled("knots")]
    levels: Annotated[Array, Numbers("knots", least=0, most=1)]
    starts: Annotated[Array, Indices("uneven+1")]

    def entries(self, x: Array, j: Array) -> Array:
        """z of single values x of the columns j."""
        z = np.subtract(x, self.offset[j], dtype=np.float64)
        with np.errstate(over="ignore"):  # what is beyond all numbers is far off, too
            z *= self.factor[j]
        np.clip(z, self.first[j], self.last[j], out=z)
        binned = np.isin(j, self.even)
        bins = z[binned].astype(np.intp)
        z[binned] *= self.slopes.take(bins, mode="clip")
        z[binned] += self.heights.take(bins, mode="clip")
        by_knots = np.flatnonzero(np.isin(j, self.uneven))
        by_knots = by_knots[np.argsort(j[by_knots], kind="stable")]
        columns, starts = np.unique(j[by_knots], return_index=True)
        of_columns = np.split(by_knots, starts[1:]) if len(columns) else ()
        for at, i in zip(of_columns, np.searchsorted(self.uneven, columns), strict=True):
            a, b = self.starts[i : i + 2]
            z[at] = np.interp(x[at], self.knots[a:b], self.levels[a:b])
        return z.astype(x.dtype, copy=False)

    @property
    def keeps_zeros(self) -> bool:
        """Whether z is 0 wherever x is: no column has a value below 0."""
        return bool((-self.offset * self.factor <= self.first * (1 + 4 * EPS)).all())

    def __call__(self, X: Array) -> Array:
        Z = np.subtract(X, self.offset, dtype=np.float64)
        with np.errstate(over="ignore"):  # what is beyond all numbers is far off, too
            Z *= self.factor
        np.clip(Z, self.first, self.last, out=Z)
        if len(self.even):
            every = len(self.even) == Z.shape[1]
            t = Z if every else Z[:, self.even]
            bins = t.astype(np.intp)
            t *= self.slopes.take(bins, mode="clip")
            t += self.heights.take(bins, mode="clip")
            if not every:
                Z[:, self.even] = t
        for j, (a, b) in zip(self.uneven, pairwise(self.starts), strict=True):
            Z[:, j] = np.interp(X[:, j], self.knots[a:b], self.levels[a:b])
        return Z.astype(X.dtype, copy=False)


Scaling = Affine | Identity | Quantile | Shift


def fit_scaling(
    name: str | None,
    stats: ColumnStats,
    sample: Array,
    *,
    by_distance: bool = False,
    settings: FeatureSettings = FEATURES,
) -> Scaling:
    """The scaling called `name` for columns with these statistics and sampled rows.

    Without one, columns stay as they are, or are moved where only distances matter.
    """
    if name is None:
        return Shift(_middle(stats)) if by_distance else Identity(len(stats.low))
    if name == "quantile":
        return _fit_quantile(stats, sample[: settings.typical_rows], settings)
    if name == "minmax":
        offset, spread = stats.low, stats.high - stats.low
    else:
        spread = np.sqrt(stats.deviation / stats.n)
        offset = np.where(_coarse(stats.mean, spread), stats.low, stats.mean)
    used = varies(stats.low, stats.high) & (spread > 0)
    return Affine(offset, np.divide(1.0, spread, out=np.zeros(len(spread)), where=used))


def _middle(stats: ColumnStats) -> Array:
    """About the mean of each column, whatever the order of rows: to a step of its deviation."""
    deviation = np.sqrt(stats.deviation / stats.n)
    step = 2.0 ** np.floor(np.log2(deviation, out=np.zeros(len(deviation)), where=deviation > 0))
    inexact = (deviation == 0) | _coarse(stats.mean, deviation)
    return np.where(inexact, stats.low, np.round(stats.mean / step) * step)


def _coarse(mean: Array, deviation: Array) -> Array:
    """Where a mean has too few digits to be the same for rows in any order."""
    return np.spacing(abs(mean)) > MEAN_ROUNDING * deviation


def _fit_quantile(stats: ColumnStats, sample: Array, settings: FeatureSettings) -> Quantile:
    even: dict[int, Array] = {}
    uneven: dict[int, tuple[Array, Array]] = {}
    used, bins = varies(stats.low, stats.high), settings.bins
    straight = np.zeros(len(used), bool)
    if len(used) > settings.wide:  # a curve of each column would take more memory than rows do
        filled = np.count_nonzero(sample > stats.low, axis=0)
        straight = filled < settings.mostly_empty * len(sample)
    for j in np.flatnonzero(used & ~straight).tolist():
        knots, levels = _curve(sample[:, j], stats.low[j], stats.high[j], settings)
        if len(knots) == 2:
            continue
        t = (knots - knots[0]) / (knots[-1] - knots[0]) * bins
        grid = np.interp(np.arange(bins + 1), t, levels)
        if abs(np.interp(t, np.arange(bins + 1), grid) - levels).max() <= settings.bin_error:
            even[j] = grid
            continue
        if len(knots) > settings.most_knots + 2:  # so that their table stays in cache
            # The ends and their neighbours stay: a heap of values ends between them.
            inner = np.linspace(1, len(knots) - 2, settings.most_knots).round().astype(int)
            places = np.unique([0, *inner, len(knots) - 1])
            knots, levels = knots[places], levels[places]
        uneven[j] = knots, levels
    columns = np.array(list(even), dtype=np.intp)
    grids = np.array([*even.values()]).reshape(-1, bins + 1)
    places = np.arange(grids.size).reshape(grids.shape)
    slopes = np.diff(grids, append=grids[:, -1:])
    first, steps = np.zeros(len(stats.low)), np.ones(len(stats.low))
    first[columns], steps[columns] = places[:, 0], bins
    widths = stats.high - stats.low
    return Quantile(
        offset=stats.low - first * widths / steps,
        factor=np.divide(steps, widths, out=np.zeros(len(widths)), where=used),
        first=first,
        last=first + steps,
        even=columns,
        heights=(grids - slopes * places).ravel(),
        slopes=slopes.ravel(),
        uneven=np.array(list(uneven), dtype=np.intp),
        knots=np.concatenate([np.empty(0), *(knots for knots, _ in uneven.values())]),
        levels=np.concatenate([np.empty(0), *(levels for _, levels in uneven.values())]),
        starts=np.cumsum([0, *(len(knots) for knots, _ in uneven.values())]),
    )


def _curve(
    values: Array, low: float, high: float, settings: FeatureSettings
) -> tuple[Array, Array]:
    """Knots at the distinct sampled values, at the middle of the ranks each one holds."""
    knots, counts = np.unique(values, return_counts=True)
    counts = np.minimum(counts, max(settings.most_of_value * len(values), 1))
    below = np.cumsum(counts) - counts
    levels = (below + (counts - 1) / 2) / max(counts.sum() - 1, 1)
    # Values as close as rounding are one value, or the curve would be a cliff between them. How
    # large they are is taken from those that are near, not from a far-off one.
    size = 0.0 if exact(knots).all() else np.quantile(abs(values), settings.near)
    apart = 2 * VALUE_ROUNDING * size
    inner = (knots > low + apart) & (knots < high - apart)
    inner[1:] &= np.diff(knots) > apart
    knots, levels = knots[inner], levels[inner]
    return np.concatenate([[low], knots, [high]]), np.concatenate([[0.0], levels, [1.0]])
