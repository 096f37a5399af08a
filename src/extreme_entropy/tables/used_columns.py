"""The columns that a model of a table uses, and cells of new rows that it cannot read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..columns.frames import MEANT
from ..columns.kinds import kind_called
from ..columns.text import Column, without
from ..errors import ExtremeEntropyWarning, InputError, warn
from .labels import listed


@dataclass(frozen=True)
class TableColumns:
    """The columns that a model uses, and why it does not use the others."""

    used: tuple[Column, ...]
    dropped: Mapping[str, str]  # name: reason
    missing: tuple[str, ...] = ()  # cells that hold no value, beside those that mean so anyway

    def read(self, batch: Any) -> pa.Table:
        """The used columns of a record batch or table, in their types."""
        self.require(batch.schema.names)
        return self.typed(column.read(self.given(batch, column)) for column in self.used)

    def typed(self, arrays: Iterable[pa.Array]) -> pa.Table:
        """Cells of the used columns as a table that says what text is."""
        arrays = list(arrays)
        # What is read as text holds no dates or numbers, whatever there may be in it.
        fields = [
            pa.field(
                column.name, array.type, metadata={MEANT: column.meant} if column.meant else None
            )
            for column, array in zip(self.used, arrays, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

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
                f"{listed(missing, 5)}."
            )


class Unread:
    """Cells that a model takes for missing or cannot tell apart, counted to be pointed out.

    They are those that lenient columns could not read, and those whose categories are not among
    `known`, by column.
    """

    def __init__(self, columns: TableColumns, known: Mapping[str, Sequence[Any]]) -> None:
        self._columns = columns
        self._lenient = [column for column in columns.used if column.lenient]
        self._known = {name: pa.array(labels, pa.string()) for name, labels in known.items()}
        self._gone: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def add(self, batch: Any, read: pa.Table) -> None:
        """Compare rows as they came with what was read of them."""
        for column in self._lenient:
            before = self._columns.given(batch, column).null_count
            self._gone[column.name] += read.column(column.name).null_count - before
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
