"""Labels as they came: whole numbers, booleans, numbers without a fraction, or text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from .columns import first_misfit

Array = np.ndarray[Any, Any]

TYPES = {
    "integer": pa.int64(),
    "boolean": pa.bool_(),
    "number": pa.float64(),
    "text": pa.string(),
}


def label_kind(values: Iterable[Any], name: str, *, typed: bool) -> str:
    """What labels are, from their distinct values; text of an untyped file may be numbers."""
    if not typed:
        words = [str(value) for value in values]
        if all(word.lower() in ("true", "false") for word in words):
            return "boolean"
        try:
            numbers = pa.array(words).cast(pa.float64()).to_pylist()
        except pa.ArrowException:
            return "text"
        if not all(number.is_integer() for number in numbers):
            return "text"
        plain = all(str(int(n)) == word for n, word in zip(numbers, words, strict=True))
        return "integer" if plain else "number"
    values = list(values)
    if all(isinstance(value, bool) for value in values):
        return "boolean"
    if all(isinstance(value, int) for value in values):
        return "integer"
    if not all(isinstance(value, float) for value in values):
        return "text"
    strange = [value for value in values if not value.is_integer()]
    if strange:
        raise InputError(
            f"The labels in column {name!r} must be text, whole numbers or booleans; "
            f"one is {strange[0]!r}. A classifier needs classes."
        )
    return "number"


def read_labels(array: pa.Array, kind: str, name: str) -> Array:
    """Labels of rows that have one."""
    if pa.types.is_boolean(array.type) and kind != "boolean":
        array = array.cast(pa.string())
    try:
        # A safe cast: 1.5 is not the label 1.
        values = pc.cast(array, TYPES[kind]).to_numpy(zero_copy_only=False)
    except pa.ArrowException as error:
        strange = first_misfit(array, lambda cell: pc.cast(cell, TYPES[kind]))
        raise InputError(
            f"The labels in column {name!r} must be like those of training; there is {strange!r}."
        ) from error
    return values.astype(str) if kind == "text" else values


def has_label(labels: Any) -> Any:
    """Which cells of the target are neither null nor NaN."""
    present = pc.is_valid(labels)
    if pa.types.is_floating(labels.type):
        present = pc.and_(present, pc.invert(pc.fill_null(pc.is_nan(labels), False)))
    return present
