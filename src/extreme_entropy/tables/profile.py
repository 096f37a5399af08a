"""One pass over a table: what its columns are, how often each label comes, and a sample of rows.

Memory is bounded. Medians are those of the sample.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from .column_profile import ColumnProfile
from .columns import Columns
from .labels import LabelProfile, read_labels
from .reading import Source
from .sampling import Sample, Sampler

Array = np.ndarray[Any, Any]
Watch = Callable[[Iterable[Any], str, Source | None], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class Profile:
    """What one pass has shown."""

    columns: Columns
    sample: Sample
    label_kind: str
    classes: Array  # sorted
    counts: Array  # rows of each
    unlabelled: int  # rows without a label
    missing: dict[str, int]  # cells of each column

    @property
    def rows(self) -> int:
        """Rows with a label."""
        return int(self.counts.sum())


def unwatched(steps: Iterable[Any], label: str, source: Source | None) -> Iterable[Any]:
    """The steps as they are."""
    return steps


def profile(
    source: Source, target: str, drop: Sequence[str], seed: int, watch: Watch = unwatched
) -> Profile:
    """Look at all rows once."""
    for name in (target, *drop):
        require(source, name)
    names = [name for name in source.schema.names if name not in {target, *drop}]
    columns = {name: ColumnProfile(name, _kind(source, name)) for name in names}
    sampler, labels = Sampler(seed), LabelProfile(target, typed=source.typed)
    for batch in watch(source.batches([*names, target]), "looking at the table", source):
        batch, keys, numbers = labels.add(batch)
        for name, column in columns.items():
            column.add(batch.column(name), numbers)
        sampler.add(batch, keys)
    kind, classes, counts = labels.learn(source.name)
    sample = sampler.draw()
    used, dropped = [], dict.fromkeys(drop, "left out by --drop")
    for name, column in columns.items():
        learnt = column.learn(sample.rows.column(name).combine_chunks())
        if isinstance(learnt, str):
            dropped[name] = learnt
        else:
            used.append(learnt)
    if not used:
        raise InputError(
            f"{source.name!r} must have a column to learn from beside {target!r}; none is left: "
            + "; ".join(f"{name}: {reason}" for name, reason in list(dropped.items())[:5])
        )
    y = read_labels(pa.array(sample.labels), kind, target)
    return Profile(
        Columns(tuple(used), dropped),
        Sample(sample.rows, y, sample.fair),
        *(kind, classes, counts, labels.unlabelled),
        {name: column.missing for name, column in columns.items() if column.missing},
    )


def require(source: Source, name: str) -> None:
    """Raise unless the table has the column; name the nearest one otherwise."""
    names = source.schema.names
    if name in names:
        return
    near = difflib.get_close_matches(name, names, 1, 0.5) or [
        other for other in names if other.lower() == name.lower()
    ]
    hint = f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(map(repr, names[:10]))}."
    raise InputError(f"{source.name!r} must have a column {name!r}; it has none. {hint}")


def _kind(source: Source, name: str) -> str:
    """The kind of a column from its type; nothing where only its cells can tell."""
    kind = source.schema.field(name).type
    types = pa.types
    if types.is_null(kind) or not source.typed:
        return ""
    if types.is_boolean(kind):
        return "boolean"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "date"
    if types.is_string(kind):
        return "text"
    raise InputError(
        f"Columns must hold numbers, booleans, dates or text; {name!r} of {source.name!r} holds "
        f"{kind}. Leave it out with --drop {name!r}."
    )
