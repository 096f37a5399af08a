"""A classifier together with the columns it reads, its target, and how it came to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from .. import persistence
from ..errors import FileFormatError, InputError, MergeError
from ..estimators.base import EntropyClassifier
from ..estimators.saving import packed, unpacked
from .columns import Columns
from .labels import TYPES, has_label, read_labels, told
from .reading import Source

Array = np.ndarray[Any, Any]

NUMBERS = 2**23  # of encoded rows that are held at once: 64 MiB
FEWEST = 256  # rows, however many columns


@dataclass(frozen=True)
class TableModel:
    """A fitted classifier for tables.

    Parameters
    ----------
    classifier : EEMClassifier or EEKMClassifier
        Fitted on encoded rows.
    columns : Columns
        The learnt encoding: `columns.names`, `columns.used`, `columns.dropped`.
    target : str
        The column that holds the labels.
    label_kind : {"integer", "boolean", "number", "text"}
        What labels are.
    facts : dict
        Plain values: command, when, versions, seed, source, rows, class_counts, missing, dropped,
        warnings, estimate and, where sizes were compared, path.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> from extreme_entropy.tables.fitting import fit_table
    >>> from extreme_entropy.tables.model import TableModel
    >>> from extreme_entropy.tables.reading import open_table
    >>> rows = "".join(f"{i * 7 % 50},{'yes' if i * 7 % 50 > 30 else 'no'}\\n" for i in range(100))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.csv").write_text("age,ill\\n" + rows)
    ...     fit_table(open_table(folder + "/a.csv"), "ill", size=20).save(folder + "/a.eem")
    ...     model = TableModel.load(folder + "/a.eem")
    >>> model.classifier.predict(model.encode(pa.record_batch({"age": [10, 45]}))).tolist()
    ['no', 'yes']
    """

    classifier: EntropyClassifier
    columns: Columns
    target: str
    label_kind: str
    facts: dict[str, Any]

    @property
    def label_type(self) -> pa.DataType:
        """The type of a column of labels."""
        return TYPES[self.label_kind]

    @property
    def label_names(self) -> list[str]:
        """The classes in words, in the order of the classifier's `classes_`."""
        return [told(label) for label in self.classifier.classes_.tolist()]

    def encode(self, batch: Any) -> Array:
        """Rows of a record batch or table as the classifier takes them."""
        return self.columns.encode(batch)

    def labels(self, batch: Any) -> Array:
        """Labels of a record batch or table in which every row has one (see `labelled`)."""
        self._require_target(batch)
        array = batch.column(self.target)
        labels = read_labels(
            array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array,
            *(self.label_kind, self.target),
        )
        strange = np.setdiff1d(labels, self.classifier.classes_)
        if len(strange):
            known = ", ".join(map(repr, self.label_names))
            raise InputError(
                f"The labels in column {self.target!r} must be among {known}; "
                f"there is also {told(strange[0])!r}."
            )
        return labels

    def pieces(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same rows in batches that are not too large once encoded."""
        rows = max(FEWEST, NUMBERS // len(self.columns.names))
        for batch in batches:
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows)

    def labelled(self, batch: Any) -> Any:
        """The rows that have a label."""
        self._require_target(batch)
        labels = batch.column(self.target)
        return batch.filter(has_label(labels))

    def require(self, source: Source, *, target: bool = True) -> list[str]:
        """The columns to read from a table; an error names those it lacks."""
        self.columns.require(source.schema.names)
        if target:
            self._require_target(source)
        return [column.name for column in self.columns.used] + [self.target] * target

    def merged(self, others: Iterable[TableModel]) -> TableModel:
        """This model and others, as if fitted on the rows of all."""
        classifier, facts = self.classifier, dict(self.facts)
        for other in others:
            if other.target != self.target or other.columns.used != self.columns.used:
                raise MergeError(
                    "Models can be merged only if they read the same columns in the same way; "
                    "these two learnt them apart. Fit one with: eem fit … --like OTHER"
                )
            classifier = classifier + other.classifier
            facts = _summed(facts, other.facts)
        return replace(self, classifier=classifier, facts=facts)

    def save(self, path: str | Path) -> None:
        """Write the model to a file, whole or not at all; `extreme_entropy.load` reads it too."""
        values, arrays = packed(self.classifier)
        table = {
            "target": self.target,
            "label_kind": self.label_kind,
            "columns": self.columns.as_values(),
            "facts": self.facts,
        }
        persistence.write(path, {**values, "table": table}, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote. Loading never runs code."""
        values, arrays = persistence.read(path)
        classifier = unpacked(values, arrays, path)
        if "table" not in values:
            raise FileFormatError(
                f"{str(path)!r} must be a model of a table; it is a machine saved from Python, "
                "which knows no columns. Make a model with: eem fit"
            )
        try:
            table = values["table"]
            columns = Columns.from_values(table["columns"])
            kind = table["label_kind"]
            if len(columns.names) != classifier.n_features_in_ or kind not in TYPES:
                raise ValueError("columns that do not fit the classifier")
            return cls(classifier, columns, str(table["target"]), kind, dict(table["facts"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FileFormatError(
                f"{str(path)!r} is whole, but says something this version does not understand "
                f"({error!r}). Load it with the version of extreme-entropy that wrote it."
            ) from error

    def _require_target(self, table: Any) -> None:
        if self.target not in table.schema.names:
            raise InputError(
                f"The table must have the column {self.target!r} with the labels; it has none."
            )


def _summed(mine: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    """Facts of two models together; an estimate of one says nothing of both."""
    summed = dict(mine, estimate=None)
    summed["rows"] = mine.get("rows", 0) + others.get("rows", 0)
    summed["rows_without_label"] = mine.get("rows_without_label", 0) + others.get(
        "rows_without_label", 0
    )
    for name in ("class_counts", "missing"):
        counts = dict(mine.get(name, {}))
        for key, n in others.get(name, {}).items():
            counts[key] = counts.get(key, 0) + n
        summed[name] = counts
    return summed
