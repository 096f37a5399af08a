"""Tables whose columns hold labels and weights, too: what the engines for them share.

Rows and answers are Arrow's, which these engines need anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from ..errors import InputError
from ..shapes import Array
from .blocks import Block

# Types of columns that labels may have, as Arrow and as Spark call them.
LABELS = {
    *("string", "large_string", "string_view", "bool", "halffloat", "float", "double"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("boolean", "tinyint", "smallint", "int", "bigint"),
}


class Roles(NamedTuple):
    """What the columns of a table are for."""

    features: list[str]
    y: str | None = None
    weight: str | None = None

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys([*self.features, *filter(None, self[1:])]))

    def block(self, rows: Any) -> Block:
        """Rows of a table of Arrow."""
        y, weight = (name and rows[name].to_numpy() for name in self[1:])
        return Block(rows.select(self.features), y, weight)


class ColumnBlocks:
    """Blocks of a table of which some columns are the features."""

    def __init__(self, table: Any, no_rows: Any, roles: Roles) -> None:
        self.table: Any = table
        self.no_rows: Any = no_rows  # with all columns
        self.roles: Roles = roles

    @property
    def like(self) -> Any:
        """Two rows of zeros, or of gaps in columns that hold no numbers."""
        schema = self.no_rows.select(self.roles.features).schema
        return pa.table([_made_up(field.type) for field in schema], schema.names)

    def select(self, names: Sequence[str]) -> Self:
        """The same rows with these features, if they have them all."""
        if not set(names) <= set(self.no_rows.column_names):
            return self
        return type(self)(self.table, self.no_rows, self.roles._replace(features=list(names)))

    def check_new(self, name: str, rename: str, drop: str) -> None:
        """Raise if there is such a column; two methods could make room for it."""
        if name in self.no_rows.column_names:
            raise InputError(
                f"The {type(self.table).__name__} must not have a column {name!r}, which is to "
                f"hold the answer. Rename it ({rename}), or leave it out ({drop})."
            )


def roles_of(columns: Sequence[tuple[str, str]], y: Any, weight: Any, table: str) -> Roles:
    """What columns are for, given their names and types, and what `table` is called in errors."""
    names, types = [name for name, _ in columns], dict(columns)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"Columns must have different names; {twice[:5]} come twice. Rename them.")
    for name, role, example in ((y, "y", "label"), (weight, "sample_weight", "weight")):
        if name is not None and not (isinstance(name, str) and name in names):
            came = repr(name) if isinstance(name, str) else type(name).__name__
            raise InputError(
                f"With a {table}, `{role}` must name one of its columns, as in {role}={example!r}; "
                f"it is {came}. Add the values to the {table.split()[-1]} as a column."
            )
    if y is not None and types[y] not in LABELS:
        raise InputError(
            f"Labels must be text, numbers or booleans; column {y!r} holds {types[y]}. "
            "Cast it, to string for example."
        )
    return Roles([name for name in names if name not in (y, weight)], y, weight)


def _made_up(kind: Any) -> Any:
    """Two zeros, or two gaps."""
    t = pa.types
    numbers = t.is_integer(kind), t.is_floating(kind), t.is_boolean(kind), t.is_decimal(kind)
    return pa.array([0, 0]).cast(kind) if any(numbers) else pa.nulls(2, kind)


def column_of(answers: Array, dtype: np.dtype[Any]) -> Any:
    """Answers as a column of Arrow; more dimensions are lists in lists."""
    values = np.asarray(answers, dtype)
    if values.ndim > 1:
        n, width = values.shape[:2]
        offsets = pa.array(np.arange(n + 1, dtype=np.int32) * width)
        inner = column_of(values.reshape(-1, *values.shape[2:]), dtype)
        return pa.ListArray.from_arrays(offsets, inner)
    return pa.array(values.astype(np.int64) if values.dtype.kind in "iu" else values)
