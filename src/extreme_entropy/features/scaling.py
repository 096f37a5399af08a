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
from typing import Annotated, Any

import numpy as np
from scipy.spatial.distance import pdist

from ..columns.statistics import ColumnStats, exact
from ..shapes import Count, Indices, Numbers, Unscaled

Array = np.ndarray[Any, Any]

FAR = 100.0  # ranges or deviations from the offset
BINS = 1024  # of equal width between a column's ends; their tables stay in cache
CLOSE = 1 / 64  # how near bins must follow the ranks (a rank among 1000 rows is no surer than that)
MOST = 0.9  # of the sampled values, which are not far off
MOST_KNOTS = 254  # of such a column, between its ends
SAMPLE_ROWS = 1000  # sampled rows that quantiles, widths and γ are taken from
MEDIAN_ROWS = 500  # of those, whose distances are computed


@dataclass(frozen=True, slots=True)
class Affine:
    """z = (x − offset) · factor, as far as ±FAR: a row beyond would be all that sums hold."""

    offset: Annotated[Array, Unscaled("encoded")]
    factor: Annotated[Array, Unscaled("encoded", least=0)]

    def __call__(self, X: Array) -> Array:
        # In float64, since offset and column may share their leading digits.
        Z = np.subtract(X, self.offset, dtype=np.float64)
        with np.errstate(over="ignore"):  # what is beyond all numbers is far off, too
            Z *= self.factor
        np.clip(Z, -FAR, FAR, out=Z)
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

    Columns of two values (flags, one-hot codes) are straight. Most others are straight within each
    of many bins of equal width, which are found without a search. Those whose values crowd in a
    few bins (long tails, a heap at zero) go through knots of their own.
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
    name: str | None, stats: ColumnStats, sample: Array, *, by_distance: bool = False
) -> Scaling:
    """The scaling called `name` for columns with these statistics and sampled rows.

    Without one, columns stay as they are, or are moved where only distances matter.
    """
    if name is None:
        return Shift(_middle(stats)) if by_distance else Identity(len(stats.low))
    if name == "quantile":
        return _fit_quantile(stats, sample, stats.varies)
    if name == "minmax":
        offset, spread = stats.low, stats.high - stats.low
    else:
        spread = np.sqrt(stats.deviation / stats.n)
        offset = np.where(_coarse(stats.mean, spread), stats.low, stats.mean)
    used = stats.varies & (spread > 0)
    return Affine(offset, np.divide(1.0, spread, out=np.zeros(len(spread)), where=used))


def _middle(stats: ColumnStats) -> Array:
    """About the mean of each column, whatever the order of rows: to a step of its deviation."""
    deviation = np.sqrt(stats.deviation / stats.n)
    step = 2.0 ** np.floor(np.log2(deviation, out=np.zeros(len(deviation)), where=deviation > 0))
    inexact = (deviation == 0) | _coarse(stats.mean, deviation)
    return np.where(inexact, stats.low, np.round(stats.mean / step) * step)


def _coarse(mean: Array, deviation: Array) -> Array:
    """Where a mean has too few digits to be the same for rows in any order."""
    return np.spacing(abs(mean)) > 1e-6 * deviation


def _fit_quantile(stats: ColumnStats, sample: Array, used: Array) -> Quantile:
    even: dict[int, Array] = {}
    uneven: dict[int, tuple[Array, Array]] = {}
    for j in np.flatnonzero(used).tolist():
        knots, levels = _curve(sample[:, j], stats.low[j], stats.high[j])
        if len(knots) == 2:
            continue
        t = (knots - knots[0]) / (knots[-1] - knots[0]) * BINS
        grid = np.interp(np.arange(BINS + 1), t, levels)
        if abs(np.interp(t, np.arange(BINS + 1), grid) - levels).max() <= CLOSE:
            even[j] = grid
        else:
            uneven[j] = _fewer(knots, levels)
    columns = np.array(list(even), dtype=np.intp)
    grids = np.array([*even.values()]).reshape(-1, BINS + 1)
    bins = np.arange(grids.size).reshape(grids.shape)
    slopes = np.diff(grids, append=grids[:, -1:])
    first, steps = np.zeros(len(stats.low)), np.ones(len(stats.low))
    first[columns], steps[columns] = bins[:, 0], BINS
    widths = stats.high - stats.low
    factor = np.divide(steps, widths, out=np.zeros(len(widths)), where=used)
    return Quantile(
        stats.low - first * widths / steps,
        factor,
        first,
        first + steps,
        columns,
        (grids - slopes * bins).ravel(),
        slopes.ravel(),
        np.array(list(uneven), dtype=np.intp),
        np.concatenate([np.empty(0), *(knots for knots, _ in uneven.values())]),
        np.concatenate([np.empty(0), *(levels for _, levels in uneven.values())]),
        np.cumsum([0, *(len(knots) for knots, _ in uneven.values())]),
    )


def _curve(values: Array, low: float, high: float) -> tuple[Array, Array]:
    """Knots at the distinct sampled values, at the middle of the ranks each one holds."""
    knots, counts = np.unique(values, return_counts=True)
    below = np.cumsum(counts) - counts
    levels = (below + (counts - 1) / 2) / max(len(values) - 1, 1)
    # Values as close as rounding are one value, or the curve would be a cliff between them. How
    # large they are is taken from most of them, not from a far-off one.
    size = 0.0 if exact(knots).all() else np.quantile(abs(values), MOST)
    apart = 16 * np.finfo(float).eps * size
    inner = (knots > low + apart) & (knots < high - apart)
    inner[1:] &= np.diff(knots) > apart
    knots, levels = knots[inner], levels[inner]
    return np.concatenate([[low], knots, [high]]), np.concatenate([[0.0], levels, [1.0]])


def _fewer(knots: Array, levels: Array) -> tuple[Array, Array]:
    """At most so many knots that their table stays in the processor's cache."""
    if len(knots) > MOST_KNOTS + 2:
        # The ends and their neighbours stay: a heap of values ends between them.
        inner = np.linspace(1, len(knots) - 2, MOST_KNOTS).round().astype(int)
        some = np.unique([0, *inner, len(knots) - 1])
        knots, levels = knots[some], levels[some]
    return knots, levels


def median_distance(rows: Array, metric: str) -> float:
    """The median distance between differing rows; 1 where all are alike."""
    distances = pdist(rows[:MEDIAN_ROWS], metric)
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0
