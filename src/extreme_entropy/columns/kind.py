"""What every kind of column says of itself. `kinds.KINDS` lists the kinds, one file each.

A value such as `Number()` says what one column holds. Its class knows how such columns are
recognised and encoded: as parts, each of which makes numbers of one column or of several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from ..errors import InputError
from .cells import Cells, ValueProfile
from .statistics import CategoryCounts, ColumnStats

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of the rows that columns are encoded by."""

    stats: ColumnStats
    typical: Array  # the median of each column, or its most frequent category   (d,)
    sample: Array  # some rows   (≤ n, d)
    counts: Mapping[int, CategoryCounts]  # of the columns whose kind is counted
    kinds: Sequence[Any]  # of each column


class EncodedPart(Protocol):
    """Encoded columns that come of one column, or of several of a kind."""

    @property
    def needs_folds(self) -> bool:
        """Whether rows to be learnt must have a last column with their fold."""

    @property
    def columns(self) -> Array:
        """The column of X that each encoded column comes from   (size,)."""

    def names(self, columns: Sequence[Any], kinds: Sequence[ColumnKind]) -> list[str]:
        """What each encoded column stands for, where the columns of X are called so."""

    def encode(self, X: Array, typical: Array, folds: Array | None, out: Array) -> None:
        """Fill `out` (n, size) for rows; those to be learnt have folds."""

    def stats(self, seen: Seen, encoded: Array) -> ColumnStats:
        """Statistics of the encoded columns, which sampled rows have as `encoded`."""


@dataclass(frozen=True)
class ColumnKind:
    """What a column holds."""

    name: ClassVar[str]  # in code, options of the command, and output
    title: ClassVar[str]  # what its cells are, in a sentence
    cells: ClassVar[str] = "number"  # the kind of `Cells` that it takes
    encoded: ClassVar[type | None] = None  # the parts that `fit` makes
    encoded_as: ClassVar[type[ColumnKind] | None] = (
        None  # the kind whose `fit` has its columns, too
    )
    widest: ClassVar[int] = 1  # how many columns one becomes, at the most
    is_counted: ClassVar[bool] = False  # whether values are counted by class and fold
    marks_gaps: ClassVar[bool] = False  # whether a 0/1 column tells where values are missing
    is_used: ClassVar[bool] = True

    @property
    def is_labelled(self) -> bool:
        """Whether numbers stand for labels."""
        return False

    @property
    def needs_frame(self) -> bool:
        """Whether a matrix of numbers cannot hold its cells."""
        return self.is_labelled

    @property
    def more(self) -> tuple[ColumnKind, ...]:
        """What further columns of the matrix hold that one of a table becomes, after all others."""
        return ()

    @classmethod
    def recognise(cls, profile: ValueProfile, *, named: bool) -> Self | None:
        """The kind of a column with such values, if it is this one.

        A column may be `named` by the user as one of categories.
        """
        return cls() if cls.name in profile.kinds else None

    def code(self, cells: Cells, name: Any, *, trained: bool) -> Array:
        """The cells of a column as numbers, NaN where missing   (n,), or (n, 1 + more)."""
        if cells.kind != self.cells and not np.isnan(cells.values).all():
            held = repr(cells.labels[0]) if len(cells.labels) else f"{cells.kind}s"
            raise InputError(
                f"Column {name!r} must hold {self.cells}s{', as in training' if trained else ''}; "
                f"it holds {held}. Convert it{', or leave the cells empty' if trained else ''}."
            )
        return cells.values

    @classmethod
    def fit(cls, columns: list[int], seen: Seen) -> list[EncodedPart]:
        """How columns of this kind are encoded."""
        return []
