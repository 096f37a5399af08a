"""Columns as numbers: scikit-learn's encoders, rebuilt from the few values they have learnt.

Numbers, booleans (0, 1) and dates (days since 1970) get the median where a value is missing, and a
column that says so where values were missing in training. Text becomes one column for each frequent
category, missing being one of them, and one for all others, seen or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

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
            raise InputError(
                f"Column {self.name!r} must hold {KINDS[self.kind]}, as in training; it holds "
                f"{_misfit(array, self.kind)!r}. Correct it, or leave the cell empty."
            ) from error


@dataclass(frozen=True)
class Category:
    """A column of text with categories of their own for the frequent ones."""

    name: str
    kept: tuple[str | None, ...]  # None is a missing value
    rest: bool  # whether there were others in training

    @cached_property
    def encoder(self) -> OneHotEncoder:
        """Fitted to two cells of each kept category and, if there were others, to one of them."""
        other = "other"
        while other in self.kept:
            other += "."
        cells = np.array([*self.kept, *self.kept, *([other] if self.rest else [])], object)
        encoder = OneHotEncoder(
            min_frequency=2, handle_unknown="infrequent_if_exist", sparse_output=False
        )
        return encoder.fit(cells[:, None])

    @property
    def names(self) -> list[str]:
        """What each column it becomes stands for."""
        kept = [category for category in self.encoder.categories_[0] if category in self.kept]
        told = ["missing" if category is None else str(category) for category in kept]
        return [f"{self.name} = {one}" for one in [*told, *(["(other)"] if self.rest else [])]]

    def encode(self, array: pa.Array) -> Array:
        """One column of 0 and 1 for each category."""
        cells = as_text(array).to_numpy(zero_copy_only=False)
        return self.encoder.transform(cells.astype(object)[:, None])


@dataclass(frozen=True)
class Columns:
    """The columns that a model uses, and why it does not use the others."""

    used: tuple[Numeric | Category, ...]
    dropped: Mapping[str, str]  # name: reason

    @property
    def numeric(self) -> list[Numeric]:
        """Columns of numbers, which come first in an encoded row."""
        return [column for column in self.used if isinstance(column, Numeric)]

    @property
    def categories(self) -> list[Category]:
        """Columns of text, which come last."""
        return [column for column in self.used if isinstance(column, Category)]

    @cached_property
    def imputer(self) -> SimpleImputer:
        """Fitted to a row of medians and a row with gaps where training had some."""
        medians = [column.median for column in self.numeric]
        gaps = [np.nan if column.gaps else column.median for column in self.numeric]
        return SimpleImputer(strategy="median", add_indicator=True).fit(np.array([medians, gaps]))

    @cached_property
    def names(self) -> list[str]:
        """What each number of an encoded row stands for."""
        return [
            *(column.name for column in self.numeric),
            *(f"{column.name} is missing" for column in self.numeric if column.gaps),
            *(name for column in self.categories for name in column.names),
        ]

    def encode(self, batch: Any) -> Array:
        """Rows of a record batch or table as numbers             (n, len(names))."""
        self.require(batch.schema.names)
        parts = []
        if self.numeric:
            values = [column.values(_column(batch, column.name)) for column in self.numeric]
            numbers = np.column_stack(values)
            # scikit-learn refuses to look at no rows.
            width = len(values) + sum(column.gaps for column in self.numeric)
            parts.append(self.imputer.transform(numbers) if len(numbers) else np.empty((0, width)))
        for category in self.categories:
            array = _column(batch, category.name)
            parts.append(
                category.encode(array) if len(array) else np.empty((0, len(category.names)))
            )
        return np.ascontiguousarray(np.hstack(parts))

    def require(self, names: Iterable[str]) -> None:
        """Raise unless all columns are among these names."""
        there = set(names)
        missing = [column.name for column in self.used if column.name not in there]
        if missing:
            raise InputError(
                f"The table must have all columns of the training table; it lacks "
                f"{', '.join(map(repr, missing[:5]))}{' and others' if missing[5:] else ''}."
            )

    def as_values(self) -> dict[str, Any]:
        """Plain values, from which `from_values` makes the same columns."""
        return {"used": [asdict(column) for column in self.used], "dropped": dict(self.dropped)}

    @classmethod
    def from_values(cls, values: Any) -> Self:
        """Columns from plain values; TypeError or ValueError where they are none."""
        used = tuple(_column_of(dict(item)) for item in values["used"])
        dropped = {str(name): str(reason) for name, reason in values["dropped"].items()}
        return cls(used, dropped)


def _column_of(item: dict[str, Any]) -> Numeric | Category:
    if "kept" not in item:
        column = Numeric(**item)
        if column.kind not in KINDS or not isinstance(column.gaps, bool):
            raise ValueError(f"column {column.name!r} is of no known kind")
        return Numeric(str(column.name), column.kind, float(column.median), column.gaps)
    kept = tuple(item["kept"])
    if not all(one is None or isinstance(one, str) for one in kept):
        raise TypeError("categories must be text")
    return Category(str(item["name"]), kept, bool(item["rest"]))


def as_numbers(array: pa.Array, kind: str) -> Array:
    """Cells as floats, NaN where missing or infinite; ArrowException where some are none."""
    if kind == "date":
        numbers = pc.divide(pc.cast(_moments(array).cast(pa.int64()), pa.float64(), False), DAY)
    elif kind == "boolean" or pa.types.is_boolean(array.type):
        numbers = array.cast(pa.bool_()).cast(pa.int8()).cast(pa.float64())
    else:
        numbers = pc.cast(array, pa.float64(), safe=False)
    values = np.array(numbers.to_numpy(zero_copy_only=False), dtype=float)
    values[~np.isfinite(values)] = np.nan
    return values


def _moments(array: pa.Array) -> pa.Array:
    """Dates in microseconds."""
    if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
        raise pa.ArrowInvalid("numbers are no dates")
    zone = array.type.tz if pa.types.is_timestamp(array.type) else None
    try:
        return array.cast(pa.timestamp("us", zone), safe=False)
    except pa.ArrowInvalid:  # text with an offset from Greenwich
        return array.cast(pa.timestamp("us", "UTC"), safe=False)


def as_text(array: pa.Array) -> pa.Array:
    """Cells as strings."""
    return array if array.type == pa.string() else array.cast(pa.string())


def fits(value: Any, cast: Callable[[pa.Array], Any]) -> bool:
    """Whether a cell survives a cast."""
    try:
        cast(pa.array([value]))
    except pa.ArrowException:
        return False
    return True


def _misfit(array: pa.Array, kind: str) -> Any:
    """A cell that is not of the kind."""
    for value in array.unique().to_pylist():
        if value is not None and not fits(value, lambda cell: as_numbers(cell, kind)):
            return value
    return str(array.type)


def _column(batch: Any, name: str) -> pa.Array:
    column = batch.column(name)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column
