"""Columns of a table, in the types that a classifier is to see.

Cells of separated text are text until here; numbers, booleans and dates become what they are, and
cells that cannot be read as such are refused. What becomes of categories, dates and gaps is the
classifier's own affair (`features.encoding`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..columns.kinds import kind_called
from ..errors import ExtremeEntropyWarning, InputError, warn
from ..estimators.arrow import python_value
from .dates import read_dates

Array = np.ndarray[Any, Any]

LONGEST = 1024  # bytes of a cell of text that are kept as they are
NUMBER = r"(?i)^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)$"
DECIMAL_COMMA = r"^([+-]?\d+),(\d+)$"
THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$"  # 1,234.50


@dataclass(frozen=True)
class Column:
    """A column that a model uses."""

    name: str
    kind: str  # the name of a kind
    order: str = ""  # of year, month and day in dates of text; "" where they are as ISO has them
    lenient: bool = False  # whether cells that are not of the kind are missing
    decimal_comma: bool = False  # whether 2,5 is two and a half

    def read(self, array: pa.Array) -> pa.Array:
        """Cells in the type of the column, null where nothing is known."""
        try:
            return as_kind(array, self)
        except pa.ArrowException as error:
            strange = first_misfit(array, lambda cell: as_kind(cell, self))
            remedy = "Correct it, or leave the cell empty"
            if self.kind in ("number", "date") and isinstance(strange, str):
                remedy += f"; eem fit --{self.kind} {self.name!r} takes such cells for missing"
            raise InputError(
                f"Column {self.name!r} must hold {kind_called(self.kind).title}, as in training; "
                f"it holds {strange!r}. {remedy}."
            ) from error


@dataclass(frozen=True)
class Columns:
    """The columns that a model uses, and why it does not use the others."""

    used: tuple[Column, ...]
    dropped: Mapping[str, str]  # name: reason
    missing: tuple[str, ...] = ()  # cells that hold no value, beside those that mean so anyway

    def read(self, batch: Any) -> pa.Table:
        """The used columns of a record batch or table, in their types."""
        self.require(batch.schema.names)
        arrays = [column.read(self.given(batch, column)) for column in self.used]
        return pa.Table.from_arrays(arrays, [column.name for column in self.used])

    def given(self, batch: Any, column: Column) -> pa.Array:
        """The cells of a column as they came, null where they hold no value."""
        array = batch.column(column.name)
        array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        return without(array, self.missing)

    def require(self, names: list[str]) -> None:
        """Raise unless all columns are among these names."""
        known = set(names)
        missing = [c.name for c in self.used if c.name not in known]
        if missing:
            raise InputError(
                f"The table must have all columns of the training table; it lacks "
                f"{', '.join(map(repr, missing[:5]))}{' and others' if missing[5:] else ''}."
            )


class Unread:
    """Cells that a model takes for missing or cannot tell apart, counted to be pointed out.

    They are those that lenient columns could not read, and those whose categories are not among
    `known`, by column.
    """

    def __init__(self, columns: Columns, known: Mapping[str, Sequence[Any]]) -> None:
        self._columns = columns
        self._lenient = [column for column in columns.used if column.lenient]
        self._known = {name: pa.array(labels, pa.string()) for name, labels in known.items()}
        self._gone: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def add(self, batch: Any, read: pa.Table) -> None:
        """Compare rows as they came with what was read of them."""
        for column in self._lenient:
            given = self._columns.given(batch, column).null_count
            self._gone[column.name] += read.column(column.name).null_count - given
        for name, known in self._known.items():
            cells = read.column(name).drop_null()
            unknown = cells.filter(pc.invert(pc.is_in(cells, value_set=known)))
            self._unknown[name] += len(unknown)
            if len(unknown):
                self._examples.setdefault(name, unknown[0].as_py())

    def point_out(self) -> None:
        """A warning for each column with such cells."""
        for column in self._lenient:
            if n := self._gone[column.name]:
                warn(
                    f"Taken for missing: {_cells(n)} of column {column.name!r} that cannot be read "
                    f"as {kind_called(column.kind).title}.",
                    ExtremeEntropyWarning,
                )
        for name, example in self._examples.items():
            warn(
                f"Column {name!r} has {_cells(self._unknown[name])} with a category that the model "
                f"does not know, such as {example!r}. Unknown categories are treated alike.",
                ExtremeEntropyWarning,
            )


def _cells(n: int) -> str:
    return "1 cell" if n == 1 else f"{n:,} cells"


def as_kind(array: pa.Array, column: Column) -> pa.Array:
    """Cells in the type of a column; ArrowException where some cannot be."""
    kind, of_text = column.kind, pa.types.is_string(array.type)
    if kind in ("text", "category"):
        return shortened(array if of_text else array.cast(pa.string()))
    if kind == "date":
        return _dates(array, column.order, column.lenient)
    if kind == "boolean" or pa.types.is_boolean(array.type):
        return array.cast(pa.bool_()).cast(pa.int8()).cast(pa.float64())
    if column.decimal_comma and of_text:
        array = with_points(array)
    if column.lenient and of_text:
        array = numbers_or_gaps(array)
    numbers = pc.cast(array, pa.float64(), safe=False)
    return pc.if_else(pc.is_finite(numbers), numbers, pa.scalar(None, pa.float64()))


def with_points(texts: pa.Array) -> pa.Array:
    """The same text, with a point for the comma of a number such as 2,5."""
    return pc.replace_substring_regex(texts, DECIMAL_COMMA, r"\1.\2")


def numbers_or_gaps(texts: pa.Array) -> pa.Array:
    """The same text, null where it is no number; without the commas of thousands."""
    plain = pc.replace_substring(texts, ",", "")
    texts = pc.if_else(pc.match_substring_regex(texts, THOUSANDS), plain, texts)
    numbers = pc.match_substring_regex(texts, NUMBER)
    return pc.if_else(numbers, texts, pa.scalar(None, pa.string()))


def without(array: pa.Array, missing: Sequence[str]) -> pa.Array:
    """The same cells, null where they hold one of these texts, or the number it stands for."""
    if not missing or pa.types.is_nested(array.type):
        return array
    if pa.types.is_string(array.type):
        gone = pc.is_in(array, value_set=pa.array(missing, pa.string()))
    elif pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
        numbers = numbers_or_gaps(pa.array(missing, pa.string())).drop_null().cast(pa.float64())
        gone = pc.is_in(array.cast(pa.float64(), safe=False), value_set=numbers)
    else:
        return array
    return pc.if_else(gone, pa.scalar(None, array.type), array)


def shortened(texts: pa.Array) -> pa.Array:
    """The same text, of which long cells are their beginning and a hash of all."""
    is_long = pc.fill_null(pc.greater(pc.binary_length(texts), LONGEST), False)
    if not pc.any(is_long).as_py():
        return texts
    short = [
        text[: LONGEST // 8] + "… " + hashlib.sha256(text.encode()).hexdigest()[:32]
        for text in texts.filter(is_long).to_pylist()
    ]
    return pc.replace_with_mask(texts, is_long, pa.array(short, pa.string()))


def as_numbers(array: pa.Array, column: Column) -> Array:
    """Cells of numbers, booleans or dates as floats, NaN where missing or infinite."""
    cells = as_kind(array, column)
    if column.kind == "date":
        cells = pc.divide(pc.cast(cells.cast(pa.int64()), pa.float64(), False), 1e6)
    return np.array(cells.to_numpy(zero_copy_only=False), dtype=float)


def _dates(array: pa.Array, order: str, lenient: bool) -> pa.Array:
    """Dates by the clock of their own place."""
    if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
        if not lenient:
            raise pa.ArrowInvalid("numbers are no dates")
        array = array.cast(pa.int64(), safe=False).cast(pa.string())  # 19900930
    if pa.types.is_string(array.type):
        if not order:
            try:
                return array.cast(pa.timestamp("us"), safe=False)  # the quickest way
            except pa.ArrowInvalid:
                pass
        found = read_dates(array, order or "ymd")
        if found.null_count > array.null_count and not lenient:
            raise pa.ArrowInvalid("not all are dates")
        return found
    if pa.types.is_timestamp(array.type) and array.type.tz is not None:
        array = pc.local_timestamp(array)
    return array.cast(pa.timestamp("us"), safe=False)


def first_misfit(array: pa.Array, cast: Callable[[pa.Array], Any]) -> Any:
    """The first cell that does not survive a cast, or the type of all where each does."""
    if not pa.types.is_nested(array.type):
        distinct = array.unique().drop_null()
        for i in range(len(distinct)):
            try:
                cast(distinct.slice(i, 1))
            except pa.ArrowException:
                return python_value(distinct[i])
    return str(array.type)
