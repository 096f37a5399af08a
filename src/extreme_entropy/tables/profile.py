"""One pass over a table: what its columns are, how often each label comes, and a sample of rows.

The cells of a typed file are of the kind its type says. Those of separated text are of the first
kind that all of them are. Memory is bounded: a column of text keeps at most 10 000 counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import ExtremeEntropyWarning, InputError, warn
from .columns import Column, Columns, as_numbers
from .labels import has_label, label_kind, read_labels
from .reading import MISSING, Source

Array = np.ndarray[Any, Any]

SAMPLE_ROWS = 20_000
CLASS_ROWS = 2_000
MOST_CLASSES = 50
MOST_COUNTED = 10_000  # categories
SEVERAL = 20  # values, from which on numbers with a stray word are no categories
MOSTLY = 0.9  # of the cells, from which on a column of numbers has mistakes
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$"


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


def profile(
    source: Source, target: str, drop: Sequence[str], seed: int, *, progress: bool = False
) -> TableProfile:
    """Pass over all rows once."""
    for name in (target, *drop):
        source.require(name)
    profiles = {
        name: ColumnProfile(name, *_type_kind(source, name))
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
            column.add(batch.column(name), row_numbers)
        sampler.add(batch, keys)
    kind, classes, counts = _count_classes(labels, source, target, n_read)
    sample = sampler.draw()
    used, dropped = [], dict.fromkeys(drop, "left out by --drop")
    for name, column in profiles.items():
        reason = column.reason_to_drop()
        if reason:
            dropped[name] = reason
        else:
            used.append(Column(name, column.kind))
    if not used:
        raise InputError(
            f"{source.name!r} must have a column to learn from beside {target!r}; none is left: "
            + "; ".join(f"{name}: {reason}" for name, reason in list(dropped.items())[:5])
        )
    return TableProfile(
        Columns(tuple(used), dropped),
        replace(sample, labels=read_labels(pa.array(sample.labels, pa.string()), kind, target)),
        *(kind, classes, counts, n_read - int(counts.sum())),
        {name: column.missing for name, column in profiles.items() if column.missing},
    )


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


def _type_kind(source: Source, name: str) -> tuple[str, bool]:
    """The kind of a column, and whether its type says so; otherwise only its cells can tell."""
    kind = source.schema.field(name).type
    types = pa.types
    if types.is_null(kind) or not source.typed:
        return "number", False
    if types.is_boolean(kind):
        return "boolean", True
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number", True
    if types.is_date(kind) or types.is_timestamp(kind):
        return "date", True
    if types.is_string(kind):
        return "text", True
    raise InputError(
        f"Columns must hold numbers, booleans, dates or text; {name!r} of {source.name!r} holds "
        f"{kind}. Leave it out with --drop {name!r}."
    )


@dataclass
class ColumnProfile:
    """What is known of one column so far."""

    name: str
    kind: str  # of typed cells; of untyped ones what all so far are
    typed: bool = True
    counts: Counter[str] | None = field(default_factory=Counter)  # None: too many to count
    low: float = np.inf
    high: float = -np.inf
    first: float = np.nan  # value less the number of its row
    numbers_rows: bool = True  # whether it goes up by one from row to row
    n_numbers: int = 0  # cells that are numbers, in an untyped column
    odd: tuple[int, str] | None = None  # the first cell that is not, and its row
    rows: int = 0
    missing: int = 0

    def add(self, array: pa.Array, row_numbers: Array) -> None:
        """Take in the cells of rows of these numbers."""
        values = self._read(array, row_numbers)
        if values is None:
            self.missing += array.null_count
        elif len(values):
            gone = np.isnan(values)
            self.missing += int(gone.sum())
            if not gone.all():
                self.low = min(self.low, np.nanmin(values))
                self.high = max(self.high, np.nanmax(values))
            if self.rows == 0:
                self.first = values[0] - row_numbers[0]
            self.numbers_rows &= self.kind == "number" and bool(
                (values == self.first + row_numbers).all()
            )
        if (values is None or not self.typed) and self.counts is not None:
            texts, counts = pc.value_counts(array.cast(pa.string()).drop_null()).flatten()
            for text, n in zip(texts.to_pylist(), counts.to_pylist(), strict=True):
                self.counts[text] += n
            if len(self.counts) > MOST_COUNTED:
                self.counts = None
        self.rows += len(array)

    def _read(self, array: pa.Array, row_numbers: Array) -> Array | None:
        """Cells as numbers, or None for text; untyped cells decide what kind all so far are."""
        if self.typed:
            return None if self.kind == "text" else as_numbers(array, self.kind)
        if self.kind == "number":
            try:
                values = as_numbers(array, "number")
            except pa.ArrowException:
                pass
            else:
                self.n_numbers += len(array) - array.null_count
                return values
        odd = pc.invert(pc.match_substring_regex(array, NUMBER, ignore_case=True))
        self.n_numbers += len(array) - array.null_count - (pc.sum(odd).as_py() or 0)
        if self.odd is None and pc.any(odd).as_py():
            i = pc.index(odd, True).as_py()
            self.odd = int(row_numbers[i]), array[i].as_py()
        only_gaps = self.rows == self.missing  # so far
        for kind in ("boolean", "date"):
            if only_gaps or kind == self.kind:
                try:
                    values = as_numbers(array, kind)
                except pa.ArrowException:
                    continue
                self.kind = kind
                return values
        self.kind = "text"
        return None

    def reason_to_drop(self) -> str:
        """Why a model cannot use the column; empty if it can."""
        if self.missing == self.rows:
            return "all its values are missing"
        if self.kind == "text":
            return self._reason_to_drop_text()
        if self.low == self.high and not self.missing:
            return f"it is always {self.low:g}"
        if self.numbers_rows and self.rows > 2:
            return "it only numbers the rows"
        return ""

    def _reason_to_drop_text(self) -> str:
        present, counts = self.rows - self.missing, self.counts
        several = counts is None or len(counts) > SEVERAL
        if self.odd and self.n_numbers >= MOSTLY * present and several:
            row, value = self.odd
            raise InputError(
                f"Column {self.name!r} must hold numbers only, or text; most of its cells are "
                f"numbers, but row {row} (below the header) holds {value!r}. Correct it, leave the "
                f"cell empty, or leave the column out with --drop {self.name!r}."
            )
        if counts is not None and len(counts) == 1 and not self.missing:
            return f"it is always {next(iter(counts))!r}"
        return ""


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
        self.n_rows, self.n_class = n_rows, n_class
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
