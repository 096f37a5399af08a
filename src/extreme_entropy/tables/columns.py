"""Columns as numbers, from the few values that a model has learnt of them.

Numbers, booleans (0, 1) and dates (days since 1970) get the median where a value is missing, and a
column that says so where values were missing in training. Text becomes one column for each frequent
category, missing being one of them, and one for all others, seen or not. This is what
scikit-learn's SimpleImputer and OneHotEncoder give, without keeping them fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError

Array = np.ndarray[Any, Any]

KINDS = {"number": "numbers", "boolean": "true or false", "date": "dates"}
DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class Numeric:
    """A column of numbers, booleans or dates."""

    name: str
    kind: str  # a key of KINDS
    median: float
    gaps: bool  # whether values were missing in training

    def values(self, array: pa.Array) -> Array:
        """Cells as numbers, NaN where nothing is known."""
        try:
            return as_numbers(array, self.kind)
        except pa.ArrowException as error:
            strange = first_misfit(array, lambda cell: as_numbers(cell, self.kind))
            raise InputError(
                f"Column {self.name!r} must hold {KINDS[self.kind]}, as in training; it holds "
                f"{strange!r}. Correct it, or leave the cell empty."
            ) from error


@dataclass(frozen=True)
class Category:
    """A column of text with a number of its own for each frequent category."""

    name: str
    kept: tuple[str | None, ...]  # None is a missing value
    rest: bool  # whether there were others in training

    @cached_property
    def order(self) -> list[str | None]:
        """The kept categories in the order of their numbers."""
        return sorted(self.kept, key=lambda category: (category is None, category))

    @property
    def names(self) -> list[str]:
        """What each number stands for."""
        kept = ["missing" if category is None else category for category in self.order]
        return [f"{self.name} = {one}" for one in kept + ["(other)"] * self.rest]

    def encode(self, array: pa.Array) -> Array:
        """0 and 1 for each category                              (n, len(names))."""
        order = pa.array(self.order, pa.string())
        position = pc.fill_null(pc.index_in(array.cast(pa.string()), order), len(order))
        one_hot = np.eye(len(order) + 1)[position.to_numpy(zero_copy_only=False)]
        return one_hot[:, : len(order) + self.rest]


@dataclass(frozen=True)
class Columns:
    """The columns that a model uses, and why it does not use the others."""

    used: tuple[Numeric | Category, ...]
    dropped: Mapping[str, str]  # name: reason

    @cached_property
    def names(self) -> list[str]:
        """What each number of an encoded row stands for."""
        numeric = [column for column in self.used if isinstance(column, Numeric)]
        return [
            *(column.name for column in numeric),
            *(f"{column.name} is missing" for column in numeric if column.gaps),
            *(n for column in self.used if isinstance(column, Category) for n in column.names),
        ]

    def encode(self, batch: Any) -> Array:
        """Rows of a record batch or table as numbers             (n, len(names))."""
        self.require(batch.schema.names)
        numbers, gaps, categories = [], [], []
        for column in self.used:
            array = batch.column(column.name)
            if isinstance(array, pa.ChunkedArray):
                array = array.combine_chunks()
            if isinstance(column, Category):
                categories.append(column.encode(array))
                continue
            values = column.values(array)
            missing = np.isnan(values)
            numbers.append(np.where(missing, column.median, values))
            if column.gaps:
                gaps.append(missing.astype(float))
        return np.column_stack([*numbers, *gaps, *categories])

    def require(self, names: list[str]) -> None:
        """Raise unless all columns are among these names."""
        missing = [c.name for c in self.used if c.name not in set(names)]
        if missing:
            raise InputError(
                f"The table must have all columns of the training table; it lacks "
                f"{', '.join(map(repr, missing[:5]))}{' and others' if missing[5:] else ''}."
            )


def as_numbers(array: pa.Array, kind: str) -> Array:
    """Cells as floats, NaN where missing or infinite; ArrowException where some are none."""
    if kind == "date":
        numbers = pc.divide(pc.cast(_microseconds(array), pa.float64(), False), DAY)
    elif kind == "boolean" or pa.types.is_boolean(array.type):
        numbers = array.cast(pa.bool_()).cast(pa.int8()).cast(pa.float64())
    else:
        numbers = pc.cast(array, pa.float64(), safe=False)
    values = np.array(numbers.to_numpy(zero_copy_only=False), dtype=float)
    values[~np.isfinite(values)] = np.nan
    return values


def _microseconds(array: pa.Array) -> pa.Array:
    """Dates in microseconds since 1970."""
    if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
        raise pa.ArrowInvalid("numbers are no dates")
    zone = array.type.tz if pa.types.is_timestamp(array.type) else None
    try:
        return array.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64())
    except pa.ArrowInvalid:  # text with an offset from Greenwich
        return array.cast(pa.timestamp("us", "UTC"), safe=False).cast(pa.int64())


def first_misfit(array: pa.Array, cast: Callable[[pa.Array], Any]) -> Any:
    """The first cell that does not survive a cast, or the type of all where each does."""
    for value in array.unique().drop_null():
        try:
            cast(pa.array([value.as_py()]))
        except pa.ArrowException:
            return value.as_py()
    return str(array.type)
