"""What a report keeps of the rows, however many they are: an evaluation of all, and a sample.

Of each class at most so many rows are kept, with their values t (`classifiers.py`). Beyond that
they are a uniform sample: every row draws a key, and the smallest keys stay, so that the sample
does not depend on how rows were cut into batches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from .classifiers import Reported
from .evaluation import Evaluation, RunningEvaluation, predicted_batches
from .report_settings import ReportSettings
from .rows import stacked, take
from .telling import Telling, TellingRow
from .verdict import to_be_found

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Rows as a classifier sees them."""

    evaluation: Evaluation  # of all rows
    labels: Array  # of the rows kept: positions in classes_                       (n,)
    values: Array  # their t                                                        (n, columns)
    rows: Any  # a few of the rows themselves                                       (m, d)
    row_labels: Array  # (m,)
    telling: tuple[TellingRow, ...]
    rare: int  # of two classes the one to be found: the rarer in training, or the second

    @property
    def counts(self) -> Array:
        """Rows of each class, all of them   (classes,)."""
        return self.evaluation.counts

    @property
    def sampled(self) -> bool:
        """Whether rows were left out."""
        return len(self.labels) < self.evaluation.rows

    @property
    def weights(self) -> Array:
        """How many rows each row that was kept stands for   (n,)."""
        kept = np.bincount(self.labels, minlength=len(self.counts))
        return (self.counts / np.maximum(kept, 1))[self.labels]

    def proportional(self) -> Array:
        """Positions of kept rows whose classes are as frequent as in all rows."""
        kept = np.bincount(self.labels, minlength=len(self.counts))
        present = self.counts > 0
        share = (kept[present] / self.counts[present]).min()
        if share == 1:
            return np.arange(len(self.labels))
        wanted = np.maximum(1, np.round(share * self.counts)).astype(int)
        parts = [np.flatnonzero(self.labels == c)[:n] for c, n in enumerate(wanted)]
        return np.sort(np.concatenate(parts))


def collect(
    classifier: Reported,
    batches: Iterable[tuple[Any, Any]],
    settings: ReportSettings | None = None,
) -> Evidence:
    """Evidence of batches of rows and labels, which need not fit in memory together."""
    settings = settings or ReportSettings()
    k = len(classifier.classes_)
    running = RunningEvaluation(classifier)
    columns = max(1, len(classifier.machine_.pairs))
    sample = _ClassSample(k, min(settings.kept_rows, settings.kept_values // columns))
    drawn = _ClassSample(k, settings.drawn_rows)
    telling = Telling(k, settings.telling_rows)
    n = 0
    for batch in predicted_batches(classifier, batches):
        running.add(batch)
        telling.look(batch)
        sample.add(batch.labels, batch.values)
        drawn.add(batch.labels, batch.rows)
        n += len(batch.labels)
    if not n:
        raise InputError("A report needs rows to evaluate the classifier on; there are none.")
    evaluation = running.result()
    present = np.flatnonzero(evaluation.counts)
    if len(present) < 2:
        raise InputError(
            f"A report needs rows of two classes at least; all {n} rows are "
            f"{classifier.classes_.tolist()[int(present[0])]!r}. Give it rows of the others too."
        )
    labels, values = sample.kept()
    row_labels, rows = drawn.kept()
    known = evaluation.counts if classifier.trained_on is None else classifier.trained_on
    rare = to_be_found(known.tolist()) or 0
    return Evidence(evaluation, labels, values, rows, row_labels, telling.chosen(rare), rare)


class _ClassSample:
    """A uniform sample of the rows of each class, whether values or rows themselves are kept."""

    def __init__(self, n_classes: int, most: int) -> None:
        self._n_classes, self._most = n_classes, most
        self._random = np.random.default_rng(0)
        self._labels: Array = np.empty(0, dtype=np.intp)
        self._keys: Array = np.empty(0)
        self._rows: Any = None

    def add(self, labels: Array, rows: Any) -> None:
        self._labels = np.concatenate([self._labels, labels])
        self._keys = np.concatenate([self._keys, self._random.random(len(labels))])
        self._rows = rows if self._rows is None else stacked([self._rows, rows])
        if len(self._labels) > 1.5 * self._most:
            self.kept()

    def kept(self) -> tuple[Array, Any]:
        """Labels and rows, in the order in which they came."""
        if len(self._labels) > self._most:
            share = max(1, self._most // self._n_classes)
            order = np.argsort(self._keys, kind="stable")
            of_each = [order[self._labels[order] == c][:share] for c in range(self._n_classes)]
            kept = np.sort(np.concatenate(of_each))
            self._labels, self._keys = self._labels[kept], self._keys[kept]
            self._rows = take(self._rows, kept)
        return self._labels, self._rows
