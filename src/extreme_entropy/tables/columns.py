"""Columns of a table, in the types that a classifier is to see.

Cells of separated text are text until here; numbers, booleans and dates become what they are, and
cells that cannot be read as such are refused. What becomes of categories, dates and gaps is the
classifier's own affair (`features.encoding`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError

Array = np.ndarray[Any, Any]

LONGEST = 1024  # bytes of a cell of text that are kept as they are
KINDS = {
    "number": "numbers",
    "boolean": "true or false",
    "date": "dates",
    "text": "text",
}


@dataclass(frozen=True)
class Column:
    """A column that a model uses."""

    name: str
    kind: str  # a key of KINDS

    def read(self, array: pa.Array) -> pa.Array:
        """Cells in the type of the column, null where nothing is known."""
        try:
            return as_kind(array, self.kind)
        except pa.ArrowException as error:
            strange = first_misfit(array, lambda cell: as_kind(cell, self.kind))
            raise InputError(
                f"Column {self.name!r} must hold {KINDS[self.kind]}, as in training; it holds "
                f"{strange!r}. Correct it, or leave the cell empty."
            ) from error


@dataclass(frozen=True)
class Columns:
    """The columns that a model uses, and why it does not use the others."""

    used: tuple[Column, ...]
    dropped: Mapping[str, str]  # name: reason

    def read(self, batch: Any) -> pa.Table:
        """The used columns of a record batch or table, in their types."""
        self.require(batch.schema.names)
        arrays = []
        for column in self.used:
            array = batch.column(column.name)
            if isinstance(array, pa.ChunkedArray):
                array = array.combine_chunks()
            arrays.append(column.read(array))
        return pa.Table.from_arrays(arrays, [column.name for column in self.used])

    def require(self, names: list[str]) -> None:
        """Raise unless all columns are among these names."""
        known = set(names)
        missing = [c.name for c in self.used if c.name not in known]
        if missing:
            raise InputError(
                f"The table must have all columns of the training table; it lacks "
                f"{', '.join(map(repr, missing[:5]))}{' and others' if missing[5:] else ''}."
            )


def as_kind(array: pa.Array, kind: str) -> pa.Array:
    """Cells in the type of a kind; ArrowException where some cannot be."""
    if kind == "text":
        return shortened(array if pa.types.is_string(array.type) else array.cast(pa.string()))
    if kind == "date":
        return _dates(array)
    if kind == "boolean" or pa.types.is_boolean(array.type):
        return array.cast(pa.bool_()).cast(pa.int8()).cast(pa.float64())
    numbers = pc.cast(array, pa.float64(), safe=False)
    return pc.if_else(pc.is_finite(numbers), numbers, pa.scalar(None, pa.float64()))


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


def as_numbers(array: pa.Array, kind: str) -> Array:
    """Cells of numbers, booleans or dates as floats, NaN where missing or infinite."""
    cells = as_kind(array, kind)
    if kind == "date":
        cells = pc.divide(pc.cast(cells.cast(pa.int64()), pa.float64(), False), 1e6)
    return np.array(cells.to_numpy(zero_copy_only=False), dtype=float)


def _dates(array: pa.Array) -> pa.Array:
    """Dates by the clock of their own place."""
    if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
        raise pa.ArrowInvalid("numbers are no dates")
    if pa.types.is_timestamp(array.type) and array.type.tz is not None:
        array = pc.local_timestamp(array)
    try:
        return array.cast(pa.timestamp("us"), safe=False)
    except pa.ArrowInvalid:  # text with an offset from Greenwich
        utc = array.cast(pa.timestamp("us", "UTC"), safe=False)
        return utc.cast(pa.timestamp("us"))


def first_misfit(array: pa.Array, cast: Callable[[pa.Array], Any]) -> Any:
    """The first cell that does not survive a cast, or the type of all where each does."""
    if not pa.types.is_nested(array.type):
        distinct = array.unique().drop_null()
        for i in range(len(distinct)):
            try:
                cast(distinct.slice(i, 1))
            except pa.ArrowException:
                return distinct[i].as_py()
    return str(array.type)
