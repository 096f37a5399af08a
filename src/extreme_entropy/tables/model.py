"""A classifier together with the columns it reads, its target, and how it came to be."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from .. import persistence
from ..columns.category import Category, Text
from ..columns.date_text import ORDERS
from ..columns.kind import ColumnKind
from ..columns.kinds import KINDS
from ..columns.words import FreeText
from ..errors import FileFormatError, InputError, MergeError
from ..estimators.base import EntropyClassifier
from ..estimators.batches import BatchSettings
from ..estimators.saving import pack, understood, unpack
from ..features.feature_map import same
from ..metrics import Outcome, by_class, label_text
from ..progress import with_progress
from ..shapes import is_text, require
from .column_profile import ColumnProfile, Drift
from .labels import TYPES, has_label, listed, read_labels
from .reading import TableSource
from .used_columns import TableColumns, Unread
from .validation import from_plain

Array = np.ndarray[Any, Any]

LABEL_DTYPES = {"integer": "i", "boolean": "b", "number": "f", "text": "U"}


@dataclass(frozen=True)
class BaselineEstimate:
    """Another classifier on the same rows: its GMean with a 95 % interval, and its mistakes."""

    name: str
    gmean: float
    low: float
    high: float
    confusion: tuple[tuple[int, ...], ...] = ()  # rows by true (down) and predicted class (across)
    saved: tuple[float, ...] = ()  # by the model, in cost of a row, and the ends of its interval


@dataclass(frozen=True)
class HeldOutEstimate:
    """Such models on rows they were not fitted on: GMean with a 95 % interval, and mistakes.

    The intervals are about the rows that were held out.
    """

    gmean: float
    low: float
    high: float
    folds: int
    not_judged: tuple[str, ...] = ()  # classes with too few rows, which do not count
    split: str = "random"  # or "time" or "group"
    column: str = ""  # that rows were split by
    held_out: int = 0  # rows
    baseline: BaselineEstimate | None = None  # of the same rows
    confusion: tuple[tuple[int, ...], ...] = ()  # files of version 1.0 have none
    costs: tuple[float, ...] = ()  # of missing a row of each class
    shares: tuple[float, ...] = ()  # of the classes where the model is used
    stated: bool = False  # whether somebody gave the costs or the shares
    saved: tuple[float, ...] = ()  # on the cheapest constant, as for `BaselineEstimate`

    def outcome(self, confusion: tuple[tuple[int, ...], ...]) -> Outcome:
        """These mistakes, or those of the baseline, at the costs of the fit."""
        return Outcome(np.array(confusion), by_class(self.costs), np.array(self.shares))


@dataclass(frozen=True, kw_only=True)
class FitFacts:
    """How a model of a table came to be."""

    model: str  # "auto", "eem" or "eekm"
    size: int  # neurons or landmarks, those of each leaf with "auto"
    seed: int
    source: str = ""
    when: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    rows: int = 0
    rows_without_label: int = 0
    class_counts: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)  # cells of columns that lack some
    costs: Mapping[str, float] | None = None
    profiles: Mapping[str, ColumnProfile] = field(default_factory=dict)  # of sampled rows
    estimated_rows: int | None = None  # that the estimate was made on
    estimate: HeldOutEstimate | None = None  # None where nothing was or could be held out
    no_estimate: str = ""  # the reason where there is none
    warnings: tuple[str, ...] = ()
    command: str = ""
    merged: tuple[str, ...] = ()  # the files that were put together

    def added_to(self, second: FitFacts) -> FitFacts:
        """Facts of two models together; the estimate of one does not hold for both."""
        return replace(
            self,
            estimate=None,
            no_estimate="it would be that of one part only",
            rows=self.rows + second.rows,
            rows_without_label=self.rows_without_label + second.rows_without_label,
            class_counts=dict(Counter(self.class_counts) + Counter(second.class_counts)),
            missing=dict(Counter(self.missing) + Counter(second.missing)),
        )


@dataclass(frozen=True)
class TableModel:
    """A fitted classifier for tables.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> from extreme_entropy.tables.fitting import FitRequest, fit_table
    >>> from extreme_entropy.tables.model import TableModel
    >>> from extreme_entropy.tables.reading import open_table
    >>> rows = "".join(f"{i * 7 % 50},{'yes' if i * 7 % 50 > 30 else 'no'}\\n" for i in range(100))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.csv").write_text("age,ill\\n" + rows)
    ...     table, request = open_table(folder + "/a.csv"), FitRequest("ill", size=20)
    ...     fit_table(table, request).save(folder + "/a.eem")
    ...     model = TableModel.load(folder + "/a.eem")
    >>> model.classifier.predict(model.read(pa.record_batch({"age": [10, 45]}))).tolist()
    ['no', 'yes']
    """

    classifier: EntropyClassifier  # fitted on tables of the columns that are used
    columns: TableColumns  # which are used, in which types, and why others are not
    target: str  # the column that holds the labels
    label_kind: str  # "integer", "boolean" or "text"
    facts: FitFacts

    @property
    def label_type(self) -> pa.DataType:
        """The type of a column of labels."""
        return TYPES[self.label_kind]

    @property
    def label_names(self) -> list[str]:
        """The classes as text, in the order of the classifier's `classes_`."""
        return [label_text(label) for label in self.classifier.classes_.tolist()]

    @property
    def feature_names(self) -> list[str]:
        """What each number stands for that the classifier makes of a row."""
        encoding = self.classifier.feature_map_.encoding
        return encoding.names([column.name for column in self.columns.used])

    def read(self, batch: Any) -> pa.Table:
        """Rows of a record batch or table as the classifier takes them."""
        return self.columns.read(batch)

    def unread(self) -> Unread:
        """What counts cells of new rows that the model cannot read or does not know."""
        kinds = self.classifier.feature_map_.encoding.table_kinds
        known = {
            column.name: kind.labels
            for column, kind in zip(self.columns.used, kinds, strict=True)
            if isinstance(kind, Category) and kind.labels is not None
        }
        return Unread(self.columns, known)

    def labels(self, batch: Any) -> Array:
        """Labels of a record batch or table in which every row has one."""
        if self.target not in batch.schema.names:
            raise InputError(f"The rows must have a column {self.target!r} with their labels.")
        array = batch.column(self.target)
        array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        labels = read_labels(array, self.label_kind, self.target)
        strange = np.setdiff1d(labels, self.classifier.classes_)
        if len(strange):
            known = listed(self.label_names)
            raise InputError(
                f"The labels in column {self.target!r} must be among {known}; "
                f"there is also {label_text(strange[0])!r}."
            )
        return labels

    def batches(
        self, source: TableSource, *, also: Iterable[str] = (), progress: str | None = None
    ) -> Iterator[pa.Table]:
        """The rows of a table, as many at a time as take little memory.

        Only the columns that are used are read, and `also` these. With `progress`, a bar of that
        label moves as rows are done with, not as they are read.
        """
        self.columns.require(source.schema.names)
        columns = list(dict.fromkeys([*(column.name for column in self.columns.used), *also]))
        gathered = _Gathered(source, columns, self.target, self._rows_at_once(source))
        if progress is None:
            return iter(gathered)
        return with_progress(
            gathered,
            total=source.rows,
            unit=" rows",
            label=progress,
            amount=lambda table: table.num_rows,
            share=None if source.rows is not None else lambda: gathered.share,
            terminal_only=True,
        )

    def _rows_at_once(self, source: TableSource) -> int:
        """As many as take little memory."""
        held = source.limits.held_cells // len(self.columns.used)
        return min(
            BatchSettings().worth_a_merge(self.classifier), max(source.limits.fewest_rows, held)
        )

    def with_missing(self, texts: Sequence[str]) -> TableModel:
        """The same model, which takes cells of these texts for missing, too."""
        missing = tuple(dict.fromkeys([*self.columns.missing, *texts]))
        return replace(self, columns=replace(self.columns, missing=missing))

    def merged(self, second: TableModel) -> TableModel:
        """This model and another, as if fitted on the rows of both, even if they share some."""
        alike = second.target == self.target and second.columns.used == self.columns.used
        if not alike or not same(self.classifier.feature_map_, second.classifier.feature_map_):
            raise MergeError(
                "Models can be merged only if they read the same columns in the same way; "
                "these two were fitted independently. Fit one with: eem fit … --like OTHER"
            )
        classifier = copy.copy(self.classifier).merge(second.classifier, force=True)
        return replace(self, classifier=classifier, facts=self.facts.added_to(second.facts))

    def save(self, path: str | Path) -> None:
        """Write the model to a file, whole or not at all; `extreme_entropy.load` reads it too."""
        values, arrays = pack(self.classifier)
        table = {
            "target": self.target,
            "label_kind": self.label_kind,
            "columns": asdict(self.columns),
            "facts": asdict(self.facts),
        }
        persistence.write(path, {**values, "table": table}, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote. Loading never runs code."""
        values, arrays = persistence.read(path)
        classifier = unpack(values, arrays, path)
        if "table" not in values:
            raise FileFormatError(
                f"{str(path)!r} must be a model of a table; it is a classifier saved from Python, "
                "which does not say how files are read. Use it in Python, or make a model with: "
                "eem fit"
            )
        with understood(path):
            table = values["table"]
            columns = from_plain(TableColumns, table.pop("columns"))
            facts = from_plain(FitFacts, table.pop("facts"))
            model = cls(classifier, columns, table.pop("target"), table.pop("label_kind"), facts)
            require(not table, "the table", "a target, labels, columns and facts", sorted(table))
            model._check()
        return model

    def _check(self) -> None:
        """Raise ValueError unless columns, labels and counts are those of the classifier."""
        classifier, used = self.classifier, self.columns.used
        names = [column.name for column in used]
        known = getattr(classifier, "feature_names_in_", np.empty(0)).tolist()
        require(names == known, "the columns", f"those of the classifier, {known[:5]}", names[:5])
        kinds = classifier.feature_map_.encoding.table_kinds
        by_name = {kind.name: kind for kind in KINDS if kind.is_used}
        for column, kind in zip(used, kinds, strict=True):
            read = by_name.get(column.kind, ColumnKind)
            alike = issubclass(read, type(kind)) or issubclass(type(kind), read)
            alike = alike or not kind.is_used or (read is Text and isinstance(kind, FreeText))
            alike = alike and read is not ColumnKind
            require(alike, f"column {column.name!r}", kind.name, column.kind)
            require(column.order in ("", *ORDERS), "an order", " or ".join(ORDERS), column.order)
        dtype = classifier.classes_.dtype
        alike = dtype.kind == LABEL_DTYPES.get(self.label_kind)
        require(alike, "label_kind", f"that of {dtype}", self.label_kind)
        target = is_text(self.target) and self.target not in names
        require(target, "the target", "a column beside the others", self.target)
        facts = self.facts
        counts = [facts.rows, facts.rows_without_label, facts.estimated_rows or 0, facts.size]
        counts += [*facts.class_counts.values(), *facts.missing.values()]
        require({*facts.class_counts} <= {*self.label_names}, "class_counts", "of classes", "not")
        require(min(counts) >= 0, "counts", "not negative", min(counts))


class _Gathered:
    """Rows of a table, so many at a time, and the share of the table that was given out."""

    def __init__(self, source: TableSource, columns: list[str], target: str, rows: int) -> None:
        self._source, self._columns, self._rows = source, columns, rows
        self._target = target if target in columns else None
        self._read = self._given = 0

    @property
    def share(self) -> float:
        return self._source.share * self._given / max(1, self._read)

    def __iter__(self) -> Iterator[pa.Table]:
        waiting: list[pa.RecordBatch] = []
        for batch in self._source.batches(self._columns, target=self._target):
            waiting.append(batch)
            self._read += batch.num_rows
            n = sum(part.num_rows for part in waiting)
            if n >= self._rows:
                table = pa.Table.from_batches(waiting)
                for start in range(0, n - n % self._rows, self._rows):
                    self._given += self._rows
                    yield table.slice(start, self._rows)
                waiting = table.slice(n - n % self._rows).to_batches()
        if waiting:
            self._given = self._read
            yield pa.Table.from_batches(waiting)


class LabelledRows:
    """The rows of a table that have a label, batch by batch, and counted on the way.

    `purpose` is what they are for, in the words of the error that is raised where there are none;
    `progress` is as for `TableSource.batches`.
    """

    class_counts: dict[str, int]
    missing: dict[str, int]
    rows: int
    rows_without_label: int

    def __init__(
        self, model: TableModel, source: TableSource, purpose: str, *, progress: str | None = None
    ) -> None:
        self._model, self._source, self._purpose, self._progress = model, source, purpose, progress
        self.class_counts = dict.fromkeys(model.label_names, 0)
        self.missing = dict.fromkeys((column.name for column in model.columns.used), 0)
        self.rows = self.rows_without_label = 0  # so far
        self._unread = model.unread()
        self.drift = Drift(model.facts.profiles)

    def __iter__(self) -> Iterator[tuple[pa.Table, Array]]:
        model = self._model
        for batch in model.batches(self._source, also=[model.target], progress=self._progress):
            labelled = batch.filter(has_label(batch.column(model.target)))
            self.rows += labelled.num_rows
            self.rows_without_label += batch.num_rows - labelled.num_rows
            if not labelled.num_rows:
                continue
            y = model.labels(labelled)
            for label, n in zip(*np.unique(y, return_counts=True), strict=True):
                self.class_counts[label_text(label)] += int(n)
            X = model.read(labelled)
            for name in self.missing:
                self.missing[name] += X.column(name).null_count
            self._unread.add(labelled, X)
            self.drift.add(X)
            yield X, y
        if not self.rows:
            raise InputError(
                f"{self._source.name!r} must have rows with a label in {model.target!r} to "
                f"{self._purpose}; it has none."
            )
        if self._purpose != "learn from":  # a fit has notes of its own
            self._unread.point_out()
