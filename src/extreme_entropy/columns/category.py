"""Categories: a 0/1 column for each, missing being one of them, and one for all that are rare.

With many categories instead the log-odds of the classes in the category: smoothed frequencies. A
row that is learnt gets those of rows of other folds, so that its own label does not reach its
features; a row to be predicted gets those of all rows. There is one exception: rows equal in all
columns share a fold, and where they are most of a category, only a part of them is left out
(`log_odds_by_fold`), so that labels of such rows count a little in each other's features and in
their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from ..errors import InputError
from ..shapes import Indices, Logs, Scalar, Unscaled
from .cells import Cells, ValueProfile
from .kind import ColumnKind, EncodedPart, Seen
from .statistics import N_FOLDS, CategoryCounts, ColumnStats

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class CategorySettings:
    """What decides how categories are encoded."""

    fewest_rows: int = 5  # rarer categories have no 0/1 column: it would tell rows, not categories
    most_flags: int = 20  # 0/1 columns; more categories have log-odds, or they would outnumber rows
    smoothing: float = 10.0  # rows with the classes of all, that each category is counted with
    most_left_out: float = 2.0  # fair shares of a category that leave it with a fold
    most_counted: float = 2.0  # times that a row counts which stands for those left out
    decimals: int = 9  # of log-odds; further ones depend on the order of rows


SETTINGS = CategorySettings()


@dataclass(frozen=True, slots=True)
class EncodedCategory:
    """A column of categories. The last two rows of its tables are for missing and unseen values."""

    column: Annotated[int, Indices(below="d")]
    values: Annotated[Array, Unscaled("K", increasing=True)]  # those with a meaning of their own
    own: Annotated[Array, Indices("K+2", least=-1)]  # the 0/1 column of each, −1 where it has none
    n_own: int
    # By fold that is left out; the last leaves none out.
    log_odds: Annotated[Array, Logs("K+2", N_FOLDS + 1, None)]

    @property
    def needs_folds(self) -> bool:
        return bool(self.log_odds.size)

    @property
    def size(self) -> int:
        """How many columns it becomes."""
        return self.n_own + self.log_odds.shape[2]

    @property
    def columns(self) -> Array:
        return np.full(self.size, self.column)

    def names(self, columns: Sequence[Any], kinds: Sequence[ColumnKind]) -> list[str]:
        column, kind = columns[self.column], kinds[self.column]
        labels = kind.labels if isinstance(kind, Category) else None
        values = [f"{v:g}" if labels is None else str(labels[int(v)]) for v in self.values]
        names = [f"{column} = (other)"] * self.n_own
        for value, own in zip([*values, "(missing)"], self.own, strict=False):
            alone = own >= 0 and np.sum(self.own == own) == 1
            if alone or (own >= 0 and own < self.n_own - 1):
                names[own] = f"{column} = {value}"
        return names + [f"log-odds of {column}"] * self.log_odds.shape[2]

    def encode(self, X: Array, typical: Array, folds: Array | None, out: Array) -> None:
        self.encode_values(X[:, self.column], folds, out)

    def encode_values(self, x: Array, folds: Array | None, out: Array) -> None:
        """Fill `out` (n, size) for values of the column."""
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

    def stats(self, seen: Seen, encoded: Array) -> ColumnStats:
        counted = seen.counts[self.column]
        encoded = np.empty((len(counted.values), self.size))
        self.encode_values(counted.values, None, encoded)
        stats = ColumnStats.of(encoded, counted.by_value)
        ends = self.log_odds.min(axis=(0, 1)), self.log_odds.max(axis=(0, 1))
        return stats.between(slice(self.n_own, None), ends[0], ends[1])


@dataclass(frozen=True)
class Category(ColumnKind):
    """Categories: text, or whatever a type or the user calls so."""

    name = "category"
    title = "categories"
    encoded: ClassVar[type | None] = EncodedCategory
    widest: ClassVar[int] = SETTINGS.most_flags
    is_counted = True

    # In the order of their codes; None: numbers are codes.
    labels: tuple[Annotated[Any, Scalar()], ...] | None = None

    @property
    def is_labelled(self) -> bool:
        return self.labels is not None

    @classmethod
    def recognise(cls, profile: ValueProfile, *, named: bool) -> Self | None:
        labels = tuple(sorted(profile.counts, key=_order))
        return cls(labels) if cls.name in profile.kinds else None

    @cached_property
    def codes(self) -> dict[Any, int]:
        """The code of each label."""
        return {label: code for code, label in enumerate(self.labels or ())}

    def code(self, cells: Cells, name: Any, *, trained: bool) -> Array:
        if self.labels is None:
            return super().code(cells, name, trained=trained)
        codes = self.codes
        text, theirs = ({isinstance(x, str) for x in labels} for labels in (codes, cells.labels))
        if len(text) == 1 and theirs and text.isdisjoint(theirs):
            words = "text" if text == {True} else "numbers"
            raise InputError(
                f"Column {name!r} must hold {words}, as in training; it holds {cells.labels[0]!r}. "
                "Convert it to the type it had."
            )
        return cells.looked_up(
            np.array([codes.get(label, -1) for label in cells.labels] + [np.nan])
        )

    @classmethod
    def fit(cls, columns: list[int], seen: Seen) -> list[EncodedPart]:
        return [_fit_category(j, seen.counts[j]) for j in columns]


class Text(Category):
    """Text in files: categories, unless nearly all values differ."""

    name = "text"
    title = "text"


def _order(label: Any) -> tuple[str, Any]:
    """Numbers before text, each in their own order."""
    return ("" if isinstance(label, Real) else "text", label)


def _fit_category(column: int, counted: CategoryCounts) -> EncodedCategory:
    """0/1 columns for categories that are not rare, or log-odds where there are many."""
    k = int(np.sum(~np.isnan(counted.values)))  # NaN, the last value, is at k
    own = np.full(k + 2, -1)
    if len(counted.values) > SETTINGS.most_flags:
        return EncodedCategory(
            column, counted.values[:k], own, 0, log_odds_by_fold(counted.counts, k)
        )
    frequent = np.flatnonzero(counted.by_value >= SETTINGS.fewest_rows)
    rest = len(frequent) < len(counted.values)  # a column that all others share
    if rest:
        own[:] = len(frequent)
    own[frequent] = np.arange(len(frequent))
    none = np.empty((k + 2, N_FOLDS + 1, 0))
    return EncodedCategory(column, counted.values[:k], own, len(frequent) + rest, none)


def log_odds_by_fold(counts: Array, k: int) -> Array:
    """ln of how much likelier a class is in each category than overall, by fold left out.

    Of two classes the second has one column; of more, each has one. Values that were not counted
    have 0.
    """
    n_classes = counts.shape[1]
    totals = counts.sum(axis=2, keepdims=True)
    # Equal rows share a fold. Where they are most of a category, to leave them all out would make
    # it look unknown wherever it is learnt; so little more is left out than a fold's fair share.
    rows, own = totals.sum(axis=1, keepdims=True), counts.sum(axis=1, keepdims=True)
    most = SETTINGS.most_left_out * rows / N_FOLDS + 1
    left = totals - counts * np.minimum(1.0, most / np.maximum(own, 1e-300))
    # The rest stands for all, or smoothing would draw rows that are learnt closer to 0 than others.
    rest = left.sum(axis=1, keepdims=True)
    left *= np.minimum(rows / np.maximum(rest, 1e-300), SETTINGS.most_counted)
    by_fold = np.concatenate([left, totals], axis=2)  # (K, n_classes, N_FOLDS + 1)
    prior = by_fold.sum(axis=0, keepdims=True) + 1.0
    prior /= prior.sum(axis=1, keepdims=True)
    smoothed = np.log((by_fold + SETTINGS.smoothing * prior) / prior)
    if n_classes == 2:
        odds = smoothed[:, 1:] - smoothed[:, :1]
    else:
        odds = smoothed - np.log(by_fold.sum(axis=1, keepdims=True) + SETTINGS.smoothing)
    table = np.zeros((k + 2, N_FOLDS + 1, odds.shape[1]))
    # Without their last digits, which depend on the order of rows: equal ones stay equal, which
    # matters to quantiles.
    table[: len(counts)] = odds.swapaxes(1, 2).round(SETTINGS.decimals)
    return table
