"""Encoding: categories, dates and gaps as numbers, before columns are scaled.

    number    x, or the median where it is missing; beside it a 0/1 column that tells where values
              are missing, if some were when φ was drawn
    date      days since 1970, and as far as they vary the month, the weekday and the hour
    category  a 0/1 column for each category, missing being one of them, and one for all that are
              rare; with many categories instead the log-odds of the classes in the category

The log-odds of a category are smoothed class frequencies. A row that is learnt gets those of rows
of other folds, so that its own label does not reach its features; a row to be predicted gets those
of all rows. Rows to be learnt therefore have one column more, which holds their fold. There is one
exception: rows equal in all columns share a fold, and where they are most of a category, only some
of them are left out (`_log_odds`), so that labels of such rows count a little in each other's
features and in their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .scaling import SAMPLE_ROWS, ColumnStats

Array = np.ndarray[Any, Any]

N_FOLDS = 5  # of rows whose labels give the log-odds of categories
FEW = 5  # rows: rarer categories have no 0/1 column of their own
MOST = 20  # categories with 0/1 columns; more have log-odds
SMOOTHING = 10.0  # rows with the classes of the whole table, that each category is counted with
MOST_LEFT_OUT = 2.0  # fair shares of a category, with a fold
MOST_COUNTED = 2.0  # times that a row counts which stands for others
DECIMALS = 9  # of log-odds
DAY = 86_400.0  # seconds


@dataclass(frozen=True)
class ColumnKind:
    """What a column of X holds."""

    kind: str = "number"  # or "category", "date", "left out", "empty"
    labels: tuple[Any, ...] | None = None  # of a data frame's category, in the order of its codes
    reason: str = ""  # why it is left out

    @cached_property
    def codes(self) -> dict[Any, int]:
        """The code of each label."""
        return {label: code for code, label in enumerate(self.labels or ())}


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

    def __add__(self, other: CategoryCounts) -> CategoryCounts:
        values, positions = np.unique(
            np.concatenate([self.values, other.values]), return_inverse=True
        )
        counts = np.zeros((len(values), *self.counts.shape[1:]))
        np.add.at(counts, positions, np.concatenate([self.counts, other.counts]))
        return CategoryCounts(values, counts)


@dataclass(frozen=True, slots=True)
class Date:
    """A column of dates, in seconds, and the parts of it that are used."""

    column: int
    parts: tuple[str, ...]  # "days" first, then some of PARTS


@dataclass(frozen=True, slots=True)
class Category:
    """A column of categories. The last two rows of its tables are for missing and unseen values."""

    column: int
    values: Array  # those with a meaning of their own, increasing   (K,)
    own: Array  # the 0/1 column of each, −1 where it has none   (K + 2,)
    n_own: int
    log_odds: Array  # by fold that is left out; the last leaves none out   (K + 2, N_FOLDS + 1, q)

    @property
    def size(self) -> int:
        """How many columns it becomes."""
        return self.n_own + self.log_odds.shape[2]

    def names(self, column: Any, kinds: tuple[ColumnKind, ...] | None) -> list[str]:
        """What each of its columns stands for."""
        labels = None if kinds is None else kinds[self.column].labels
        values = [f"{v:g}" if labels is None else str(labels[int(v)]) for v in self.values]
        names = [f"{column} = (other)"] * self.n_own
        for value, own in zip([*values, "(missing)"], self.own, strict=False):
            alone = own >= 0 and np.sum(self.own == own) == 1
            if alone or (own >= 0 and own < self.n_own - 1):
                names[own] = f"{column} = {value}"
        return names + [f"log-odds of {column}"] * self.log_odds.shape[2]

    def encode(self, x: Array, folds: Array | None, out: Array) -> None:
        """Fill `out` (n, size) for the values of the column."""
        k = len(self.values)
        positions = np.full(len(x), k + 1)
        if k:
            near = np.minimum(np.searchsorted(self.values, x), k - 1)
            positions = np.where(self.values[near] == x, near, k + 1)
        positions[np.isnan(x)] = k
        out[:, : self.n_own] = 0
        own = self.own[positions]
        rows = np.flatnonzero(own >= 0)
        out[rows, own[rows]] = 1
        if self.size > self.n_own:
            left_out = N_FOLDS if folds is None else folds.astype(np.intp)
            out[:, self.n_own :] = self.log_odds[positions, left_out]


@dataclass(frozen=True, slots=True)
class Encoding:
    """Columns of X as those that are scaled, which without categories and gaps are the same."""

    kinds: tuple[ColumnKind, ...] | None  # of each column; None where all are numbers
    typical: Array  # the median of each column, or its most frequent category   (d,)
    numbers: Array  # columns that are numbers
    gaps: Array  # of those, which were seen to miss values
    dates: tuple[Date, ...]
    categories: tuple[Category, ...]

    @property
    def d(self) -> int:
        """Columns of X."""
        return len(self.typical)

    @property
    def size(self) -> int:
        """Encoded columns."""
        of_dates = sum(len(date.parts) for date in self.dates)
        of_categories = sum(category.size for category in self.categories)
        return len(self.numbers) + len(self.gaps) + of_dates + of_categories

    @property
    def plain(self) -> bool:
        """Whether columns stay what they are."""
        return len(self.numbers) == self.d and not len(self.gaps)

    @property
    def by_fold(self) -> bool:
        """Whether rows to be learnt must have a last column with their fold."""
        return any(category.log_odds.size for category in self.categories)

    @property
    def origins(self) -> Array:
        """The column of X that each encoded column comes from."""
        dates = [np.full(len(date.parts), date.column) for date in self.dates]
        categories = [np.full(category.size, category.column) for category in self.categories]
        return np.concatenate([self.numbers, self.gaps, *dates, *categories]).astype(np.intp)

    def names(self, columns: Sequence[Any]) -> list[str]:
        """What each encoded column stands for, where the columns of X are called so."""
        names = [str(columns[j]) for j in self.numbers]
        names += [f"{columns[j]} is missing" for j in self.gaps]
        names += [f"{part} of {columns[date.column]}" for date in self.dates for part in date.parts]
        for category in self.categories:
            names += category.names(columns[category.column], self.kinds)
        return names

    def __call__(self, X: Array) -> Array:
        """Dense rows with their columns encoded; their last column may be their fold."""
        if self.plain:
            return np.where(np.isnan(X), self.typical, X).astype(X.dtype) if _has_gaps(X) else X
        folds = X[:, self.d] if X.shape[1] > self.d else None
        encoded = np.empty((len(X), self.size), X.dtype)
        start = len(self.numbers)
        numbers = encoded[:, :start]
        numbers[:] = X[:, self.numbers]
        if _has_gaps(numbers):
            typical = self.typical[self.numbers]
            np.copyto(numbers, typical, where=np.isnan(numbers), casting="same_kind")
        encoded[:, start : start + len(self.gaps)] = np.isnan(X[:, self.gaps])
        start += len(self.gaps)
        for date in self.dates:
            x = X[:, date.column].astype(np.float64)
            x[np.isnan(x)] = self.typical[date.column]
            for part in date.parts:
                encoded[:, start] = PARTS[part](x)
                start += 1
        for category in self.categories:
            out = encoded[:, start : start + category.size]
            category.encode(X[:, category.column], folds, out)
            start += category.size
        return encoded

    def stats(
        self, stats: ColumnStats, sample: Array, counts: Sequence[CategoryCounts]
    ) -> ColumnStats:
        """Statistics of the encoded columns, from those of the columns and encoded sampled rows."""
        filled = stats.filled(self.typical)
        if self.plain:
            return filled
        n, share = stats.n, stats.missing[self.gaps] / stats.n
        zeros, ones = np.zeros(len(share)), np.ones(len(share))
        found = filled.of_columns(self.numbers)
        found = found.beside(ColumnStats(n, zeros, ones, share, n * share * (1 - share), zeros))
        start = len(self.numbers) + len(self.gaps)
        for date in self.dates:
            parts = ColumnStats.of(sample[:, start : start + len(date.parts)])
            ends = filled.low[date.column] / DAY, filled.high[date.column] / DAY
            found = found.beside(parts.between(0, *ends))
            start += len(date.parts)
        for category, counted in zip(self.categories, counts, strict=True):
            encoded = np.empty((len(counted.values), category.size))
            category.encode(counted.values, None, encoded)
            parts = ColumnStats.of(encoded, counted.counts.sum(axis=(1, 2)))
            odds = slice(category.n_own, None)
            ends = category.log_odds.min(axis=(0, 1)), category.log_odds.max(axis=(0, 1))
            found = found.beside(parts.between(odds, *ends))
        return found


def _has_gaps(X: Array) -> bool:
    """Whether some number is NaN; large numbers may seem so, which does no harm."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isnan(X.sum()))


def plain_encoding(d: int) -> Encoding:
    """That of rows which are encoded already."""
    return Encoding(None, np.zeros(d), np.arange(d), np.empty(0, np.intp), (), ())


def most_encoded(kinds: tuple[ColumnKind, ...] | None, d: int) -> int:
    """How many columns d columns become, at the most."""
    wide = {"category": MOST, "date": len(PARTS)}
    return d if kinds is None else sum(wide.get(column.kind, 1) for column in kinds)


def fit_encoding(
    kinds: tuple[ColumnKind, ...] | None,
    stats: ColumnStats,
    sample: Array,
    counts: Sequence[CategoryCounts],
) -> Encoding:
    """The encoding of columns with these statistics and sampled rows.

    `counts` are those of each column whose kind is "category", in their order.
    """
    d, sample = len(stats.low), sample[:SAMPLE_ROWS, : len(stats.low)]
    kind = np.array(["number"] * d if kinds is None else [column.kind for column in kinds])
    typical = _medians(sample, stats)
    numbers = np.flatnonzero(kind == "number")
    dates = [_fit_date(j, sample[:, j], typical[j]) for j in np.flatnonzero(kind == "date")]
    some_missing = (stats.missing > 0) & (stats.missing < stats.n)
    gaps = np.flatnonzero(((kind == "number") | (kind == "date")) & some_missing)
    columns = np.flatnonzero(kind == "category").tolist()
    categories = [_fit_category(j, c) for j, c in zip(columns, counts, strict=True)]
    for j, counted in zip(columns, counts, strict=True):
        typical[j] = counted.values[counted.counts.sum(axis=(1, 2)).argmax()]
    return Encoding(kinds, typical, numbers, gaps, tuple(dates), tuple(categories))


def _medians(sample: Array, stats: ColumnStats) -> Array:
    """The median of each column; the middle of its range where no sampled row has a value."""
    some = stats.low <= stats.high
    medians = np.where(some, stats.low, 0.0) / 2 + np.where(some, stats.high, 0.0) / 2
    if len(sample):
        gaps = np.isnan(sample)
        some = np.logical_not(gaps.all(axis=0))
        if gaps.any():
            medians[some] = np.nanmedian(sample[:, some], axis=0)
        else:
            medians = np.median(sample, axis=0)
    return medians


def _fit_date(column: Any, values: Array, typical: float) -> Date:
    """Those parts of a date that vary."""
    x = np.where(np.isnan(values), typical, values)
    parts = [name for name, of in PARTS.items() if name == "days" or np.ptp(of(x)) > 0]
    return Date(int(column), tuple(parts))


def _fit_category(column: int, counted: CategoryCounts) -> Category:
    """0/1 columns for categories that are not rare, or log-odds where there are many."""
    k = int(np.sum(~np.isnan(counted.values)))  # NaN, the last value, is at k
    own = np.full(k + 2, -1)
    if len(counted.values) > MOST:
        return Category(column, counted.values[:k], own, 0, _log_odds(counted.counts, k))
    frequent = np.flatnonzero(counted.counts.sum(axis=(1, 2)) >= FEW)
    rest = len(frequent) < len(counted.values)  # a column that all others share
    if rest:
        own[:] = len(frequent)
    own[frequent] = np.arange(len(frequent))
    none = np.empty((k + 2, N_FOLDS + 1, 0))
    return Category(column, counted.values[:k], own, len(frequent) + rest, none)


def _log_odds(counts: Array, k: int) -> Array:
    """ln of how much likelier a class is in each category than overall, by fold left out.

    Of two classes the second has one column; of more, each has one. Values that were not counted
    have 0.
    """
    n_classes = counts.shape[1]
    totals = counts.sum(axis=2, keepdims=True)
    # Equal rows share a fold. Where they are most of a category, to leave them all out would make
    # it look unknown wherever it is learnt; so little more is left out than a fold's fair share.
    rows, own = totals.sum(axis=1, keepdims=True), counts.sum(axis=1, keepdims=True)
    most = MOST_LEFT_OUT * rows / N_FOLDS + 1
    left = totals - counts * np.minimum(1.0, most / np.maximum(own, 1e-300))
    # The rest stands for all, or smoothing would draw rows that are learnt closer to 0 than others.
    rest = left.sum(axis=1, keepdims=True)
    left *= np.minimum(rows / np.maximum(rest, 1e-300), MOST_COUNTED)
    by_fold = np.concatenate([left, totals], axis=2)  # (K, n_classes, N_FOLDS + 1)
    prior = by_fold.sum(axis=0, keepdims=True) + 1.0
    prior /= prior.sum(axis=1, keepdims=True)
    smoothed = np.log((by_fold + SMOOTHING * prior) / prior)
    if n_classes == 2:
        odds = smoothed[:, 1:] - smoothed[:, :1]
    else:
        odds = smoothed - np.log(by_fold.sum(axis=1, keepdims=True) + SMOOTHING)
    table = np.zeros((k + 2, N_FOLDS + 1, odds.shape[1]))
    # Without their last digits, which depend on the order of rows: equal ones stay equal, which
    # matters to quantiles.
    table[: len(counts)] = odds.swapaxes(1, 2).round(DECIMALS)
    return table


def _days(x: Array) -> Array:
    return x / DAY


def _months(x: Array) -> Array:
    return x.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64) % 12 + 1


def _weekdays(x: Array) -> Array:
    return (np.floor(x / DAY) + 3) % 7  # 1970 began on a Thursday; Monday is 0


def _hours(x: Array) -> Array:
    return x % DAY / 3600


PARTS = {"days": _days, "month": _months, "weekday": _weekdays, "hour": _hours}
