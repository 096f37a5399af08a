"""Labels as they came: whole numbers, booleans, numbers without a fraction, or text; counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from .columns import as_text, fits

Array = np.ndarray[Any, Any]

TYPES = {
    "integer": pa.int64(),
    "boolean": pa.bool_(),
    "number": pa.float64(),
    "text": pa.string(),
}
MOST_CLASSES = 50


def kind_of(values: Iterable[Any], name: str, *, typed: bool) -> str:
    """What labels are, from their distinct values; text of an untyped file may be numbers."""
    values = list(values)
    if not typed and all(str(value).lower() in ("true", "false") for value in values):
        return "boolean"
    if not typed:
        numbers = all(fits(value, lambda cell: cell.cast(pa.float64())) for value in values)
        if numbers and all(float(value).is_integer() for value in values):
            plain = all(str(int(float(value))) == value for value in values)
            return "integer" if plain else "number"
        return "text"
    if all(isinstance(value, bool | np.bool_) for value in values):
        return "boolean"
    if all(isinstance(value, int | np.integer) for value in values):
        return "integer"
    if all(isinstance(value, float) for value in values):
        strange = [value for value in values if not float(value).is_integer()]
        if strange:
            raise InputError(
                f"The labels in column {name!r} must be text, whole numbers or booleans; "
                f"one is {strange[0]!r}. A classifier needs classes."
            )
        return "number"
    return "text"


def read_labels(array: pa.Array, kind: str, name: str) -> Array:
    """Labels of rows that have one."""
    if pa.types.is_boolean(array.type) and kind != "boolean":
        array = as_text(array)
    try:
        # A safe cast: 1.5 is not the label 1.
        read = pc.cast(array, TYPES[kind])
    except pa.ArrowException as error:
        strange = next(
            (
                value
                for value in array.unique().to_pylist()
                if not fits(value, lambda cell: pc.cast(cell, TYPES[kind]))
            ),
            str(array.type),
        )
        raise InputError(
            f"The labels in column {name!r} must be like those of training; there is {strange!r}."
        ) from error
    values = read.to_numpy(zero_copy_only=False)
    return values.astype(str) if kind == "text" else values


def told(label: Any) -> str:
    """A label in words."""
    if isinstance(label, bool | np.bool_):
        return str(bool(label)).lower()
    return str(label)


def has_label(labels: pa.Array) -> pa.Array:
    """Which cells of the target are neither null nor NaN."""
    there = pc.is_valid(labels)
    if pa.types.is_floating(labels.type):
        there = pc.and_(there, pc.invert(pc.fill_null(pc.is_nan(labels), False)))
    return there


class LabelProfile:
    """Counts labels as they are written, and leaves out rows that have none."""

    def __init__(self, name: str, *, typed: bool) -> None:
        self._name, self._typed = name, typed
        self._counts: Counter[Any] = Counter()
        self._rows = 0
        self.unlabelled = 0

    def add(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Array, Array]:
        """The rows that have a label, their labels as written, and their numbers in the table."""
        there = has_label(batch.column(self._name))
        numbers = self._rows + 1 + np.flatnonzero(there.to_numpy(zero_copy_only=False))
        self._rows += batch.num_rows
        self.unlabelled += batch.num_rows - len(numbers)
        batch = batch.filter(there)
        keys = np.array(batch.column(self._name).to_pylist(), dtype=object)
        self._counts.update(keys.tolist())
        if len(self._counts) > MOST_CLASSES:
            raise InputError(
                f"The target must have at most {MOST_CLASSES} classes; {self._name!r} has more: "
                f"{', '.join(map(repr, list(self._counts)[:3]))}, … Is it the right column?"
            )
        return batch, keys, numbers

    def learn(self, table: str) -> tuple[str, Array, Array]:
        """What labels are, the classes, and the rows of each."""
        if not self._counts:
            raise InputError(
                f"{table!r} must have rows with a label in {self._name!r} to learn from; "
                + (f"all {self.unlabelled} lack it." if self.unlabelled else "it has no rows.")
            )
        kind = kind_of(self._counts, self._name, typed=self._typed)
        written = read_labels(pa.array(list(self._counts)), kind, self._name)
        classes, positions = np.unique(written, return_inverse=True)
        counts = np.bincount(positions, weights=list(self._counts.values())).astype(int)
        if len(classes) < 2:
            raise InputError(
                f"The target {self._name!r} must have two classes or more; all {counts[0]} rows "
                f"of {table!r} are {classes.tolist()[0]!r}."
            )
        return kind, classes, counts
