"""One pass over a table: what its columns are, how often each label comes, and a sample of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..columns.date_text import ORDERS
from ..columns.number_text import MISSING
from ..columns.recognition import Asked, FileColumn, KindDecision
from ..columns.text import Column, without
from ..errors import ExtremeEntropyWarning, InputError, warn
from .labels import has_label, label_kind, read_labels
from .reading import TableSource
from .used_columns import TableColumns

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class ProfileSettings:
    """What a pass over a table keeps of it."""

    sample_rows: int = 20_000  # of all rows, from which φ is drawn and the estimate is made
    class_rows: int = 2_000  # of each class, so that a rare one can be cross-validated
    most_classes: int = 50  # a target with more labels is hardly one of classes


SETTINGS = ProfileSettings()


@dataclass(frozen=True, slots=True)
class TableProfile:
    """What one pass has shown."""

    columns: TableColumns
    sample: TableSample
    label_kind: str
    classes: Array  # sorted
    counts: Array  # rows of each
    unlabelled: int  # rows without a label
    missing: dict[str, int]  # cells of each column
    kinds: dict[str, Column]  # how each is read, also those that are not used
    notes: dict[str, str]  # what was decided in doubt, by column


def asked_kinds(options: Mapping[str, Sequence[str]], names: list[str]) -> dict[str, Asked]:
    """Columns with the kind that an option says, as in {"number": ("age",)}.

    A date may be followed by its order, as in born=dmy.
    """
    asked: dict[str, Asked] = {}
    for kind, columns in options.items():
        for text in columns:
            name, sign, order = text.rpartition("=")
            if kind != "date" or text in names or not sign:
                name, order = text, ""
            elif order not in ORDERS:
                raise InputError(
                    f"The order of a date must be one of {', '.join(ORDERS)}, as in "
                    f"--date {name}=dmy; got {order!r}."
                )
            if name in asked and asked[name].kind != kind:
                raise InputError(
                    f"A column must be read in one way; {name!r} is named by --{asked[name].kind} "
                    f"and --{kind}."
                )
            asked[name] = Asked(kind, order, by_words=kind == "text")
    return asked


def profile(
    source: TableSource,
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
    columns = {
        name: FileColumn(
            name,
            _type(source, name),
            asked.get(name) or Asked("text" if source.is_coded(name) else ""),
            source.decimal_commas,
        )
        for name in source.schema.names
        if name not in {target, *drop}
    }
    sampler, labels, n_read = Sampler(seed), Counter[str](), 0
    label = "reading columns" if progress else None
    for batch in source.batches([*columns, target], target=target, progress=label):
        present = has_label(batch.column(target))
        row_numbers = n_read + 1 + np.flatnonzero(present.to_numpy(zero_copy_only=False))
        n_read += batch.num_rows
        batch = batch.filter(present)
        keys = read_labels(batch.column(target), "text", target).astype(object)
        labels.update(keys.tolist())
        _check_few(labels, target)
        for name, column in columns.items():
            columns[name] = column.with_cells(without(batch.column(name), missing), row_numbers)
        sampler.add(batch, keys)
    kind, classes, counts = _count_classes(labels, source, target, n_read)
    sample, decisions = sampler.draw(), [column.decide() for column in columns.values()]
    used, dropped = _used(decisions, drop, source, target)
    return TableProfile(
        TableColumns(used, dropped, tuple(missing)),
        replace(sample, labels=read_labels(pa.array(sample.labels, pa.string()), kind, target)),
        kind,
        classes,
        counts,
        n_read - int(counts.sum()),
        {decision.column.name: decision.missing for decision in decisions if decision.missing},
        {decision.column.name: decision.column for decision in decisions},
        {decision.column.name: decision.note for decision in decisions if decision.note},
    )


def _used(
    decisions: Sequence[KindDecision], drop: Sequence[str], source: TableSource, target: str
) -> tuple[tuple[Column, ...], dict[str, str]]:
    """The columns that a model uses, and why it does not use the others."""
    dropped = dict.fromkeys(drop, "left out by --drop")
    dropped |= {decision.column.name: decision.reason for decision in decisions if decision.reason}
    used = tuple(decision.column for decision in decisions if not decision.reason)
    if not used:
        raise InputError(
            f"{source.name!r} must have a column to learn from beside {target!r}; none is left: "
            + "; ".join(f"{name}: {reason}" for name, reason in list(dropped.items())[:5])
        )
    return used, dropped


def _check_few(labels: Counter[str], target: str) -> None:
    """Raise if a target has more labels than a classifier has classes."""
    if len(labels) > SETTINGS.most_classes:
        raise InputError(
            f"The target must have at most {SETTINGS.most_classes} classes; {target!r} has more: "
            f"{', '.join(map(repr, list(labels)[:3]))}, … Is it the right column?"
        )


def _type(source: TableSource, name: str) -> pa.DataType | None:
    """The type of a column, or None where only its cells can tell."""
    kind = source.schema.field(name).type
    return kind if source.typed and not pa.types.is_null(kind) else None


def _count_classes(
    labels: Counter[str], source: TableSource, target: str, n_read: int
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

    def __init__(self, seed: int, settings: ProfileSettings = SETTINGS) -> None:
        self._rng, self._settings = np.random.default_rng(seed), settings
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
        most = self._settings.sample_rows + self._settings.class_rows * len(self._limits)
        if len(self._keys) > 2 * most:
            self.draw()

    def draw(self) -> TableSample:
        """The sample of all rows so far; others are let go."""
        if self._rows is None:
            raise ValueError("no rows were added")
        order, counted = self._keys.argsort(kind="stable"), Counter[Any]()
        n_rows, n_class = self._settings.sample_rows, self._settings.class_rows
        is_kept = np.empty(len(order), bool)
        for position, label in enumerate(self._labels[order].tolist()):
            counted[label] += 1
            is_kept[position] = position < n_rows or counted[label] <= n_class
            if counted[label] == n_class:
                self._limits[label] = self._keys[order[position]]
            else:
                self._limits.setdefault(label, np.inf)
        if len(order) >= n_rows:
            self._limit = self._keys[order[n_rows - 1]]
        uniform = np.zeros(len(order), bool)
        uniform[order[:n_rows]] = True
        chosen = np.sort(order[is_kept])  # in the order of the table
        self._rows = self._rows.take(pa.array(chosen)).combine_chunks()
        self._keys, self._labels = self._keys[chosen], self._labels[chosen]
        return TableSample(self._rows, self._labels, uniform[chosen])
