"""The summary of a data set: one `ClassMoments` for each class and fold.

A table of monoids is a monoid. Folds exist so that the decision can be cross-fitted: what a fold
looks like from outside follows from its own summary and the sum of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add, sub

from .class_moments import ClassMoments


@dataclass(frozen=True, slots=True)
class Summary:
    """Moments by class and fold: `cells[c][k]`."""

    cells: tuple[tuple[ClassMoments, ...], ...]

    @classmethod
    def empty(cls, n_classes: int, n_folds: int, h: int) -> Summary:
        """The summary of no rows."""
        nothing = ClassMoments.empty(h)
        return cls(((nothing,) * n_folds,) * n_classes)

    @property
    def n_classes(self) -> int:
        return len(self.cells)

    @property
    def n_folds(self) -> int:
        return len(self.cells[0])

    @property
    def counts(self) -> tuple[tuple[float, ...], ...]:
        """Rows in each class and fold."""
        return tuple(tuple(cell.n for cell in row) for row in self.cells)

    def __add__(self, other: Summary) -> Summary:
        return self._cell_by_cell(add, other)

    def __sub__(self, other: Summary) -> Summary:
        return self._cell_by_cell(sub, other)

    def _cell_by_cell(
        self, combine: Callable[[ClassMoments, ClassMoments], ClassMoments], other: Summary
    ) -> Summary:
        return Summary(
            tuple(
                tuple(map(combine, mine, theirs))
                for mine, theirs in zip(self.cells, other.cells, strict=True)
            )
        )

    def of_class(self, c: int) -> ClassMoments:
        """All rows of class `c`."""
        return reduce(add, self.cells[c])
