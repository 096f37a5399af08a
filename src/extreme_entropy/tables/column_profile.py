"""What one pass shows of a column, and what a model makes of it: numbers, categories, or nothing.

The cells of a typed file are of the kind its type says. Those of separated text are of the first
kind that all of them are; a column of text keeps at most 10 000 counts.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from .columns import KINDS, Category, Numeric, as_numbers, as_text

Array = np.ndarray[Any, Any]

MOST_COUNTED = 10_000  # categories
MOST_KEPT = 50  # categories with a column of their own
FEW = 5  # cells of a category that has none
SEVERAL = 20  # values, from which on numbers with a stray word are no categories
MOSTLY = 0.9  # of the cells, from which on a column of numbers has mistakes
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$"


class ColumnProfile:
    """What is seen of one column."""

    def __init__(self, name: str, kind: str) -> None:
        self._name = name
        self._typed = kind != ""
        self._kind = kind or "number"  # of untyped cells: the first of KINDS that all so far are
        self._counts: Counter[str] | None = Counter()  # None: too many to count
        self._low, self._high = np.inf, -np.inf
        self._first = np.nan
        self._counts_rows = True  # whether it goes up by one from row to row
        self._numbers = 0  # cells that are numbers, in an untyped column
        self._odd: tuple[int, str] | None = None  # the first cell that is not, and its row
        self.rows = 0
        self.missing = 0

    def add(self, array: pa.Array, numbers: Array) -> None:
        """Look at cells, in rows of these numbers."""
        if not self._typed:
            self._narrow(array, numbers)
        if self._kind == "text":
            self.missing += array.null_count
        else:
            self._measure(as_numbers(array, self._kind), numbers)
        if (self._kind == "text" or not self._typed) and self._counts is not None:
            values, counts = pc.value_counts(as_text(array).drop_null()).flatten()
            for value, n in zip(values.to_pylist(), counts.to_pylist(), strict=True):
                self._counts[value] += n
            if len(self._counts) > MOST_COUNTED:
                self._counts = None
        self.rows += len(array)

    def learn(self, sample: pa.Array) -> Numeric | Category | str:
        """The column as a model uses it, or why it cannot."""
        if self.missing == self.rows:
            return "all its values are missing"
        if self._kind == "text":
            return self._category()
        if self._low == self._high and not self.missing:
            return f"it is always {self._low:g}"
        if self._counts_rows and self.rows > 2:
            return "it only numbers the rows"
        values = as_numbers(sample, self._kind)
        there = values[~np.isnan(values)]
        # A sample may lack all the values of a column that hardly has any.
        median = float(np.median(there)) if len(there) else float(self._low)
        return Numeric(self._name, self._kind, median, self.missing > 0)

    def _category(self) -> Category | str:
        there = self.rows - self.missing
        counts = self._counts
        several = counts is None or len(counts) > SEVERAL
        if self._odd and self._numbers >= MOSTLY * there and several:
            row, value = self._odd
            raise InputError(
                f"Column {self._name!r} must hold numbers only, or text; most of its cells are "
                f"numbers, but row {row} (below the header) holds {value!r}. Correct it, leave the "
                f"cell empty, or leave the column out with --drop {self._name!r}."
            )
        if counts is None:
            return f"text with more than {MOST_COUNTED} different values"
        if len(counts) == 1 and not self.missing:
            return f"it is always {next(iter(counts))!r}"
        if len(counts) > 0.5 * there:
            return f"text with {len(counts)} different values in {there} rows"
        ranked = sorted([*counts.items(), (None, self.missing)], key=_rank)
        kept = [category for category, n in ranked[:MOST_KEPT] if n >= FEW]
        if not kept:
            return f"text without a value that comes {FEW} times"
        total = len(counts) + (self.missing > 0)
        return Category(self._name, tuple(kept), len(kept) < total)

    def _measure(self, values: Array, numbers: Array) -> None:
        gone = np.isnan(values)
        self.missing += int(gone.sum())
        if not gone.all():
            self._low = min(self._low, np.nanmin(values))
            self._high = max(self._high, np.nanmax(values))
        if self._counts_rows and len(values):
            self._first = values[0] - numbers[0] if self.rows == 0 else self._first
            self._counts_rows = self._kind == "number" and bool(
                (values == self._first + numbers).all()
            )

    def _narrow(self, array: pa.Array, numbers: Array) -> None:
        """Find the kind that all cells so far are, text if none other."""
        if self._kind == "number" and fits_all(array, "number"):
            self._numbers += len(array) - array.null_count
            return
        odd = pc.invert(pc.match_substring_regex(array, NUMBER, ignore_case=True))
        self._numbers += len(array) - array.null_count - (pc.sum(odd).as_py() or 0)
        if self._odd is None and pc.any(odd).as_py():
            i = pc.index(odd, True).as_py()
            self._odd = int(numbers[i]), array[i].as_py()
        first = self.rows == self.missing  # nothing but gaps so far
        kinds = tuple(KINDS) if first else (self._kind,)
        self._kind = next((kind for kind in kinds if fits_all(array, kind)), "text")


def fits_all(array: pa.Array, kind: str) -> bool:
    """Whether all cells are of a kind."""
    if kind == "text":
        return False
    try:
        as_numbers(array, kind)
    except pa.ArrowException:
        return False
    return True


def _rank(item: tuple[str | None, int]) -> tuple[int, str]:
    """Frequent categories first, equals by name: the order of rows does not matter."""
    category, n = item
    return -n, category or ""
