"""Labels as the file spells them, and as the booleans, whole numbers or text that they are.

A label has one spelling everywhere. Whole numbers and booleans are labels of these types only where
their spelling follows from their value: 01 and TRUE in separated text stay text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..columns.text import first_misfit, numbers_in
from ..errors import InputError
from ..estimators.inputs import is_quantity

Array = np.ndarray[Any, Any]

TYPES = {"integer": pa.int64(), "boolean": pa.bool_(), "text": pa.string()}
SPELLINGS = {"integer": r"^(0|-?[1-9][0-9]*)$", "boolean": "^(true|false)$"}
LONGEST_LABEL = 256  # characters


def label_kind(texts: Iterable[str], written: pa.DataType | None) -> str:
    """What labels of these spellings are, in a column of this type or in separated text."""
    if written is not None and pa.types.is_boolean(written):
        return "boolean"
    is_number = written is None or pa.types.is_integer(written) or pa.types.is_floating(written)
    for kind in SPELLINGS if is_number else ():
        try:
            _as_kind(pa.array(texts, pa.string()), kind)
        except pa.ArrowException:
            continue
        return kind
    return "text"


def listed(names: Sequence[str], most: int = 10) -> str:
    """Names in quotes; of very many the first ones."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + rest


def read_labels(array: pa.Array, kind: str, name: str) -> Array:
    """Labels of rows that have one."""
    try:
        distinct = array.dictionary_encode()
        texts = _spelt(distinct.dictionary)
    except pa.ArrowException as error:
        raise InputError(
            f"The labels in column {name!r} must be text of up to {LONGEST_LABEL} characters, "
            f"whole numbers or booleans; there is {_shown(first_misfit(array, _spelt))}. A "
            "classifier needs classes."
        ) from error
    try:
        values = _as_kind(pc.utf8_lower(texts) if kind == "boolean" else texts, kind)
    except pa.ArrowException as error:
        strange = first_misfit(texts, lambda cell: _as_kind(cell, kind))
        raise InputError(
            f"The labels in column {name!r} must be like those of training; there is "
            f"{_shown(strange)}."
        ) from error
    labels = values.to_numpy(zero_copy_only=False)
    return (labels.astype(str) if kind == "text" else labels)[distinct.indices.to_numpy()]


def check_classes(classes: Array, name: str) -> None:
    """Raise if labels are numbers, as those of a quantity are."""
    numbers = numbers_in(pa.array(classes.astype(str)))
    if not numbers.null_count and is_quantity(np.sort(numbers.to_numpy())):
        shown = ", ".join(map(str, classes[:3].tolist()))
        raise InputError(
            f"The target must hold classes; {name!r} holds {len(classes)} different numbers "
            f"({shown}, …), as a quantity does. To predict its range, add a column that says in "
            "which range a row is, and name that. If each number is a class, add --classes."
        )


def _spelt(array: pa.Array) -> pa.Array:
    """Values as text; ArrowException where some are no labels."""
    if pa.types.is_floating(array.type):
        array = array.cast(pa.int64())  # safely: 1.5 is not the label 1
    texts = array.cast(pa.string())
    if pc.any(pc.greater(pc.utf8_length(texts), LONGEST_LABEL)).as_py():
        raise pa.ArrowInvalid("too long")
    if pc.any(pc.match_substring(texts, "\0")).as_py():  # which NumPy would cut off
        raise pa.ArrowInvalid("a null character")
    return texts


def _as_kind(texts: pa.Array, kind: str) -> pa.Array:
    """Texts in the type of a kind; ArrowException where some are not spelt so."""
    if kind in SPELLINGS and not pc.all(pc.match_substring_regex(texts, SPELLINGS[kind])).as_py():
        raise pa.ArrowInvalid("another spelling")
    return texts.cast(TYPES[kind])


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "…"


def has_label(labels: Any) -> Any:
    """Which cells of the target are neither null nor NaN."""
    present = pc.is_valid(labels)
    if pa.types.is_floating(labels.type):
        present = pc.and_(present, pc.invert(pc.fill_null(pc.is_nan(labels), False)))
    return present
