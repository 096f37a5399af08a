"""One pass over a table: what its columns are, how often each label comes, and a sample of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..columns.text import Column, without
from ..errors import ExtremeEntropyWarning, InputError, warn
from .columns import Columns
from .kinds import Asked, ColumnProfile
from .labels import has_label, label_kind, read_labels
from .reading import MISSING, Source

Array = np.ndarray[Any, Any]

SAMPLE_ROWS = 20_000
CLASS_ROWS = 2_000
MOST_CLASSES = 50


@dataclass(frozen=True, slots=True)
class TableProfile:
    """What one pass has shown."""

    columns: Columns
    sample: TableSample
    label_kind: str
    classes: Array  # sorted
    counts: Array  # rows of each
    unlabelled: int  # rows without a label
    missing: dict[str, int]  # cells of each column
    kinds: dict[str, Column]  # how each is read, also those that are not used
    notes: dict[str, str]  # what was decided in doubt, by column


def profile(
    source: Source,
    target: str,
    drop: Sequence[str],
    seed: int,
    *,
    asked: Mapping[str, Asked] | None = None,
    missing: Sequence[str] = (),
    progress: bool = False,
) -> TableProfile:
    """Pass over all rows once.

    `asked` is how somebody wants columns to be read, and `missing` are further texts of cells that
    hold no value.
    """
    asked = asked or {}
    for name in (target, *drop, *asked):
        source.require(name)
    profiles = {
        name: ColumnProfile(
            name, _type(source, name), asked.get(name, Asked()), source.decimal_commas
        )
        for name in source.schema.names
        if name not in {target, *drop}
    }
    sampler, labels, n_read = Sampler(seed), Counter[str](), 0
    label = "reading columns" if progress else None
    for batch in source.batches([*profiles, target], target=target, progress=label):
        present = has_label(batch.column(target))
        row_numbers = n_read + 1 + np.flatnonzero(present.to_numpy(zero_copy_only=False))
        n_read += batch.num_rows
        batch = batch.filter(present)
        keys = read_labels(batch.column(target), "text", target).astype(object)
        labels.update(keys.tolist())
        if len(labels) > MOST_CLASSES:
            raise InputError(
                f"The target must have at most {MOST_CLASSES} classes; {target!r} has more: "
                f"{', '.join(map(repr, list(labels)[:3]))}, … Is it the right column?"
            )
        for name, column in profiles.items():
            column.add(without(batch.column(name), missing), row_numbers)
        sampler.add(batch, keys)
    kind, classes, counts = _count_classes(labels, source, target, n_read)
    sample = sampler.draw()
    decided = {name: column.decide() for name, column in profiles.items()}
    kinds = {name: column for name, (column, _) in decided.items()}
    notes = {
        name: note or profiles[name].note_on_rounding(column)
        for name, (column, note) in decided.items()
    }
    reasons = {name: profiles[name].reason_to_drop(column) for name, column in kinds.items()}
    dropped = dict.fromkeys(drop, "left out by --drop")
    dropped |= {name: reason for name, reason in reasons.items() if reason}
    used = tuple(column for name, column in kinds.items() if name not in dropped)
    if not used:
        raise InputError(
            f"{source.name!r} must have a column to learn from beside {target!r}; none is left: "
            + "; ".join(f"{name}: {reason}" for name, reason in list(dropped.items())[:5])
        )
    gaps = {name: profiles[name].missing_as(column) for name, column in kinds.items()}
    return TableProfile(
        Columns(used, dropped, tuple(missing)),
        replace(sample, labels=read_labels(pa.array(sample.labels, pa.string()), kind, target)),
        *(kind, classes, counts, n_read - int(counts.sum())),
        {name: n for name, n in gaps.items() if n},
        kinds,
        {name: note for name, note in notes.items() if note},
    )


def _type(source: Source, name: str) -> pa.DataType | None:
    """The type of a column, or None where only its cells can tell."""
    kind = source.schema.field(name).type
    return kind if source.typed and not pa.types.is_null(kind) else None


def _count_classes(
    labels: Counter[str], source: Source, target: str, n_read: int
) -> tuple[str, Array, Array]:
    """What labels are, the classes, and the rows of each."""
    if not labels:
        raise InputError(
            f"{source.name!r} must have rows with a label in {target!r} to learn from; "
            + (f"all {n_read} lack it." if n_read else "it has no rows.")
        )
    gaps = sorted(set(labels) & set(MISSING))
    if gaps and not source.typed:
        warn(
            f"{gaps[0]!r} in the target {target!r} is a label; leave cells empty that lack one.",
            ExtremeEntropyWarning,
        )
    kind = label_kind(labels, source.schema.field(target).type if source.typed else None)
    texts = pa.array(labels, pa.string())
    classes, positions = np.unique(read_labels(texts, kind, target), return_inverse=True)
    counts = np.bincount(positions, weights=list(labels.values())).astype(int)
    if len(classes) < 2:
        raise InputError(
            f"The target {target!r} must have two classes or more; all {counts[0]} rows "
            f"of {source.name!r} are {classes.tolist()[0]!r}."
        )
    return kind, classes, counts


@dataclass(frozen=True, slots=True)
class TableSample:
    """Rows with their labels, in the order of the table."""

    rows: pa.Table
    labels: Array
    uniform: Array  # whether a row belongs to the uniform sample   (n,) bool


class Sampler:
    """A seeded sample of rows drawn in one pass, so that the order of a file does not matter.

    Each row gets a random key. The rows with the least keys of all are a uniform sample; the least
    of each class are added, so that a rare class has enough rows for cross-validation.
    """

    def __init__(self, seed: int, n_rows: int = SAMPLE_ROWS, n_class: int = CLASS_ROWS) -> None:
        self._rng = np.random.default_rng(seed)
        self.n_rows: int = n_rows
        self.n_class: int = n_class
        self._rows: pa.Table | None = None
        self._keys = np.empty(0)
        self._labels: Array = np.empty(0, object)
        self._limit = np.inf  # keys above it are surely not in the uniform sample
        self._limits: dict[Any, float] = {}  # nor above these in the sample of their class

    def add(self, batch: pa.RecordBatch, labels: Array) -> None:
        """Offer rows to the sample; `labels` are hashable values, one for each."""
        keys = self._rng.random(len(labels))
        limits = np.array([self._limits.get(label, np.inf) for label in labels.tolist()])
        near = np.flatnonzero(keys < np.maximum(limits, self._limit))
        if len(near) == 0:
            return
        rows = pa.Table.from_batches([batch]).take(pa.array(near))
        self._rows = rows if self._rows is None else pa.concat_tables([self._rows, rows])
        self._keys = np.concatenate([self._keys, keys[near]])
        self._labels = np.concatenate([self._labels, labels[near]])
        if len(self._keys) > 2 * (self.n_rows + self.n_class * len(self._limits)):
            self.draw()

    def draw(self) -> TableSample:
        """The sample of all rows so far; others are let go."""
        if self._rows is None:
            raise ValueError("no rows were added")
        order = self._keys.argsort(kind="stable")
        counted: dict[Any, int] = {}
        kept = np.empty(len(order), bool)
        for position, label in enumerate(self._labels[order].tolist()):
            counted[label] = counted.get(label, 0) + 1
            kept[position] = position < self.n_rows or counted[label] <= self.n_class
            if counted[label] == self.n_class:
                self._limits[label] = self._keys[order[position]]
            else:
                self._limits.setdefault(label, np.inf)
        if len(order) >= self.n_rows:
            self._limit = self._keys[order[self.n_rows - 1]]
        uniform = np.zeros(len(order), bool)
        uniform[order[: self.n_rows]] = True
        chosen = np.sort(order[kept])  # in the order of the table
        self._rows = self._rows.take(pa.array(chosen)).combine_chunks()
        self._keys, self._labels = self._keys[chosen], self._labels[chosen]
        return TableSample(self._rows, self._labels, uniform[chosen])
