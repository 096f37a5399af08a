"""Cells of files ↦ cells in the type of their kind; how a column of a file is read.

Cells of separated text are text until here; numbers, booleans and dates become what they are, and
cells that cannot be read as such are refused, or missing where the column is lenient.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from .cells import arrow_cells, python_value
from .date_text import read_dates
from .kinds import kind_called
from .number_text import number_of

Array = np.ndarray[Any, Any]

LONGEST = 16_384  # bytes of a cell of text that are kept as they are
NUMBER = r"(?i)^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)$"


@dataclass(frozen=True)
class Column:
    """A column of a file, as it is read."""

    name: str
    kind: str  # the name of a kind
    order: str = ""  # of year, month and day in dates of text; "" where they are as ISO has them
    lenient: bool = False  # whether cells that are not of the kind are missing
    decimal_comma: bool = False  # whether 2,5 is two and a half
    unit: str = ""  # that numbers in text may have
    by_words: bool = False  # whether the words of text count even if there are few in a cell

    @property
    def meant(self) -> str:
        """What its text is, as `Cells` have it."""
        return "words" if self.by_words else "text" if self.kind == "text" else ""

    def read(self, array: pa.Array) -> pa.Array:
        """Cells in the type of the column, null where nothing is known."""
        try:
            return self.cast(array)
        except pa.ArrowException as error:
            strange = first_misfit(array, self.cast)
            remedy = "Correct it, or leave the cell empty"
            if self.kind in ("number", "date") and isinstance(strange, str):
                remedy += f"; eem fit --{self.kind} {self.name!r} takes such cells for missing"
            raise InputError(
                f"Column {self.name!r} must hold {kind_called(self.kind).title}, as in training; "
                f"it holds {strange!r}. {remedy}."
            ) from error

    def cast(self, array: pa.Array) -> pa.Array:
        """Cells in the type of the column; ArrowException where some cannot be."""
        return READERS[self.kind](array, self)

    def numbers(self, array: pa.Array) -> Array:
        """Cells of numbers, booleans or dates as floats, NaN where missing or infinite."""
        return arrow_cells(self.cast(array)).values


def _read_numbers(array: pa.Array, column: Column) -> pa.Array:
    if pa.types.is_boolean(array.type):
        return _read_booleans(array, column)
    if pa.types.is_string(array.type):
        numbers = numbers_in(array, comma=column.decimal_comma, unit=column.unit)
        if numbers.null_count > array.null_count and not column.lenient:
            raise pa.ArrowInvalid("not all are numbers")
    else:
        numbers = pc.cast(array, pa.float64(), safe=False)
    return pc.if_else(pc.is_finite(numbers), numbers, pa.scalar(None, pa.float64()))


def _read_booleans(array: pa.Array, column: Column) -> pa.Array:
    return array.cast(pa.bool_()).cast(pa.int8()).cast(pa.float64())


def _read_dates(array: pa.Array, column: Column) -> pa.Array:
    """Dates by the clock of their own place."""
    if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
        if not column.lenient:
            raise pa.ArrowInvalid("numbers are no dates")
        array = array.cast(pa.int64(), safe=False).cast(pa.string())  # 19900930
    if pa.types.is_string(array.type):
        if not column.order:
            try:
                return array.cast(pa.timestamp("us"), safe=False)  # the quickest way
            except pa.ArrowInvalid:
                pass
        dates = read_dates(array, column.order or "ymd")
        if dates.null_count > array.null_count and not column.lenient:
            raise pa.ArrowInvalid("not all are dates")
        return dates
    if pa.types.is_timestamp(array.type) and array.type.tz is not None:
        array = pc.local_timestamp(array)
    return array.cast(pa.timestamp("us"), safe=False)


def _read_text(array: pa.Array, column: Column) -> pa.Array:
    return shortened(array if pa.types.is_string(array.type) else array.cast(pa.string()))


# The cells of each kind that a column of a file may be of.
READERS = {
    "number": _read_numbers,
    "boolean": _read_booleans,
    "date": _read_dates,
    "category": _read_text,
    "text": _read_text,
}


def numbers_in(texts: pa.Array, *, comma: bool = False, unit: str = "") -> pa.Array:
    """The numbers that texts are, NaN where they say that there is none, null for other text."""
    if not comma:
        try:
            return texts.cast(pa.float64())  # the quickest way
        except pa.ArrowInvalid:
            pass
    is_plain = pc.fill_null(
        pc.match_substring_regex(texts, r"^[+-]?\d+$" if comma else NUMBER), False
    )
    plain = pc.if_else(is_plain, texts, pa.scalar(None, pa.string())).cast(pa.float64())
    decimal, rest = "comma" if comma else "point", texts.filter(pc.invert(is_plain))
    distinct = rest.dictionary_encode()
    numbers = [number_of(text, decimal, unit) for text in distinct.dictionary.to_pylist()]
    numbers = pa.array(numbers, pa.float64()).take(distinct.indices)
    return pc.replace_with_mask(plain, pc.invert(is_plain), numbers)


def without(array: pa.Array, missing: Sequence[str]) -> pa.Array:
    """The same cells, null where they hold one of these texts, or the number it stands for."""
    if not missing or pa.types.is_nested(array.type):
        return array
    if pa.types.is_string(array.type):
        gone = pc.is_in(array, value_set=pa.array(missing, pa.string()))
    elif pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
        numbers = numbers_in(pa.array(missing, pa.string())).drop_null()
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
