"""Statistics of columns, which add up: extremes, means, deviations, counts; weights in rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

Array = np.ndarray[Any, Any]

N_FOLDS = 5  # of rows: to learn a row, the labels of its own fold are left out
MOST_FILLED = 0.1  # of the numbers of sparse rows, where passing over zeros is worth it
BY_COLUMN = ("low", "high", "above", "deviation", "missing")  # of `ColumnStats`


def exact(x: Array) -> Array:
    """Which numbers are whole, and so small that floats hold the next one, too."""
    return (np.floor(x) == x) & (abs(x) <= 2.0**53)


def varies(low: Array, high: Array) -> Array:
    """Which columns vary between these by more than rounding, which whole numbers do not have."""
    with np.errstate(invalid="ignore"):  # columns without values
        rounding = 8 * np.finfo(float).eps * np.maximum(abs(low), abs(high))
        return high - low > np.where(exact(low) & exact(high), 0.0, rounding)


def effective(n: float, squares: float) -> float:
    """How many rows weights are worth whose sum is n, from Σ min(w, w²).

    A weight of one or more is so many rows. Weights below one only say how much rows count beside
    each other (Kish's effective size): all of 1/n are worth n rows, as all of 1 are.
    """
    return float(n if squares == n or squares <= 0 else n * (n / squares))


def squares_of(weight: Array) -> float:
    """Σ min(w, w²) of weights."""
    return float((weight * np.minimum(weight, 1.0)).sum())


def worth(weight: Array) -> float:
    """How many rows weights are worth."""
    return effective(float(weight.sum()), squares_of(weight))


def has_gaps(X: Array) -> bool:
    """Whether some number is NaN; large numbers may seem so, which does no harm."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isnan(X.sum()))


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """Count, extremes, mean and squared deviation of each column, without its gaps: a monoid."""

    n: float
    low: Array  # ∞ for a column without values
    high: Array  # −∞ for a column without values
    above: Array  # mean − low, which keeps its digits where both are large
    deviation: Array  # Σ (x − mean)²
    missing: Array  # of n, in each column
    squares: float = 0.0  # Σ min(w, w²), which is n where no weight is below one

    @property
    def rows(self) -> float:
        """How many rows the weights are worth."""
        return effective(self.n, self.squares)

    @property
    def mean(self) -> Array:
        """The mean of each column, 0 for one without values."""
        return np.where(self.low <= self.high, self.low, 0.0) + self.above

    @property
    def varies(self) -> Array:
        """Which columns vary by more than rounding."""
        return varies(self.low, self.high)

    @classmethod
    def empty(cls, d: int) -> ColumnStats:
        zeros = np.zeros(d)
        return cls(0.0, np.full(d, np.inf), np.full(d, -np.inf), zeros, zeros, zeros)

    @classmethod
    def of(cls, X: Any, weight: Array | None = None) -> ColumnStats:
        """The statistics of a chunk of rows, dense or sparse."""
        if sp.issparse(X):
            if X.nnz < MOST_FILLED * X.shape[0] * X.shape[1]:
                return cls._of_sparse(X, weight)
            X = X.toarray()
        low = X.min(axis=0).astype(np.float64)
        if np.isnan(low).any():
            return cls._with_gaps(X, weight)
        high = X.max(axis=0).astype(np.float64)
        weight = np.ones(len(X)) if weight is None else weight
        n = float(weight.sum())
        # About the least value, so that columns far from the origin keep their digits.
        above = np.subtract(X, low, dtype=np.float64)
        offset = weight @ above / n
        above -= offset
        deviation = weight @ np.square(above, out=above)
        return cls(n, low, high, offset, deviation, np.zeros(len(low)), squares_of(weight))

    @classmethod
    def _of_sparse(cls, X: Any, weight: Array | None) -> ColumnStats:
        """The same from the entries alone; means may differ by rounding."""
        rows, X = X.shape[0], X.tocsc(copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        weight = np.ones(rows) if weight is None else weight.astype(np.float64)
        n, filled = float(weight.sum()), np.diff(X.indptr)
        j = np.repeat(np.arange(X.shape[1]), filled)
        x, w = X.data.astype(np.float64), weight[X.indices]
        gaps = np.isnan(x)

        def total(of_entries: Array) -> Array:
            return np.bincount(j, of_entries, X.shape[1])

        missing = total(w * gaps)
        x, w = np.where(gaps, 0.0, x), np.where(gaps, 0.0, w)
        zeros = n - missing - total(w)  # weights of the zeros that are not stored
        has_zeros = filled < rows
        low, high = np.where(has_zeros, 0.0, np.inf), np.where(has_zeros, 0.0, -np.inf)
        np.minimum.at(low, j[~gaps], x[~gaps])
        np.maximum.at(high, j[~gaps], x[~gaps])
        lowest = np.where(low <= high, low, 0.0)
        present = np.where(low <= high, n - missing, 1.0)
        zeros = np.where(has_zeros, zeros, 0.0)
        above = (total(w * (x - lowest[j])) - zeros * lowest) / present
        deviation = total(w * (x - lowest[j] - above[j]) ** 2) + zeros * (lowest + above) ** 2
        return cls(n, low, high, above, deviation, missing, squares_of(weight))

    @classmethod
    def _with_gaps(cls, X: Array, weight: Array | None) -> ColumnStats:
        """The same where values are missing."""
        gaps = np.isnan(X)
        low = np.where(gaps, np.inf, X).min(axis=0).astype(np.float64)
        high = np.where(gaps, -np.inf, X).max(axis=0).astype(np.float64)
        weight = np.ones(len(X)) if weight is None else weight
        missing, known = weight @ gaps, low <= high
        present = np.where(known, weight.sum() - missing, 1.0)
        lowest = np.where(known, low, 0.0)
        above = np.where(gaps, 0.0, np.subtract(X, lowest, dtype=np.float64))
        offset = weight @ above / present
        above = np.where(gaps, 0.0, above - offset)
        deviation = weight @ np.square(above, out=above)
        n, squares = float(weight.sum()), squares_of(weight)
        return cls(n, low, high, offset, deviation, missing, squares)

    def __add__(self, other: ColumnStats) -> ColumnStats:
        if not self.n or not other.n:
            return self if self.n else other
        mine, theirs = self.n - self.missing, other.n - other.missing
        share = theirs / np.maximum(mine + theirs, np.finfo(float).tiny)  # 0 where neither has any
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        ours, others = self._above(low), other._above(low)
        step = np.where((mine > 0) & (theirs > 0), others - ours, 0.0)
        return ColumnStats(
            self.n + other.n,
            low,
            high,
            np.where(mine > 0, ours, others) + step * share,
            self.deviation + other.deviation + step**2 * (mine * share),
            self.missing + other.missing,
            self.squares + other.squares,
        )

    def _above(self, low: Array) -> Array:
        """How far the mean is above a value, 0 for columns without values."""
        return self.above + np.subtract(
            self.low, low, out=np.zeros(len(low)), where=self.low <= self.high
        )

    def between(self, columns: Any, low: Any, high: Any) -> ColumnStats:
        """The statistics where the ends of some columns are others."""
        ends = replace(self, low=self.low.copy(), high=self.high.copy())
        ends.low[columns], ends.high[columns] = low, high
        return replace(ends, above=self._above(ends.low))

    def filled(self, values: Array) -> ColumnStats:
        """The statistics once these values stand where some are missing."""
        if not self.missing.any():
            return self
        d, n = len(values), self.n
        gone = self.missing > 0
        low = np.where(gone, np.minimum(self.low, values), self.low)
        high = np.where(gone, np.maximum(self.high, values), self.high)
        mine, ours = n - self.missing, self._above(low)
        step = np.where(mine > 0, values - low - ours, 0.0)
        above = np.where(mine > 0, ours, values - low) + step * (self.missing / n)
        deviation = self.deviation + step**2 * (mine * self.missing / n)
        return ColumnStats(n, low, high, above, deviation, np.zeros(d), self.squares)

    def of_columns(self, columns: Any) -> ColumnStats:
        """The statistics of some columns."""
        return replace(self, **{name: getattr(self, name)[columns] for name in BY_COLUMN})

    def beside(self, other: ColumnStats) -> ColumnStats:
        """The statistics of these columns and others of the same rows."""
        both: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in (self, other)])
            for name in BY_COLUMN
        }
        return replace(self, **both)


@dataclass(frozen=True, slots=True)
class CategoryCounts:
    """How often each value of a categorical column comes, by class and fold: a monoid."""

    values: Array  # increasing, NaN last   (K,)
    counts: Array  # (K, n_classes, N_FOLDS)

    @classmethod
    def of(
        cls, x: Array, labels: Array, folds: Array, weight: Array | None, n_classes: int
    ) -> CategoryCounts:
        """The counts of some rows."""
        values, positions = np.unique(x, return_inverse=True)
        shape = (len(values), n_classes, N_FOLDS)
        cells = np.ravel_multi_index((positions, labels.astype(np.intp), folds), shape)
        counts = np.bincount(cells, weights=weight, minlength=int(np.prod(shape)))
        return cls(values.astype(np.float64), counts.reshape(shape).astype(np.float64))

    @property
    def by_value(self) -> Array:
        """How often each value comes   (K,)."""
        return self.counts.sum(axis=(1, 2))

    def __add__(self, other: CategoryCounts) -> CategoryCounts:
        values, positions = np.unique(
            np.concatenate([self.values, other.values]), return_inverse=True
        )
        counts = np.zeros((len(values), *self.counts.shape[1:]))
        np.add.at(counts, positions, np.concatenate([self.counts, other.counts]))
        return CategoryCounts(values, counts)
