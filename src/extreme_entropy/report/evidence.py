"""What a report keeps of the rows, however many they are: counts of all, and a bounded sample.

Of each class at most so many rows are kept, with their values t (`classifiers.py`). Beyond that
they are a uniform sample: every row draws a key, and the smallest keys stay, so that the sample
does not depend on how rows were cut into batches. Confusion matrix and scores are of all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..metrics import (
    RunningAUC,
    RunningProbabilityScores,
    ScoreInterval,
    confusion_counts,
    predicted_classes,
)
from ..moments.sketch import NO_ROWS, RowSketch
from ..plots.inputs import label_positions
from ..plots.regions import MOST_POINTS, evenly_of_each
from .classifiers import Reported
from .rows import as_rows, stacked, take
from .telling import Telling, TellingRow

Array = np.ndarray[Any, Any]

MOST_KEPT = 200_000  # rows of all classes whose values are kept
MOST_VALUES = 2**24  # that they have, together
AT_ONCE = 2**21  # values computed at a time
MOST_DRAWN = 20 * MOST_POINTS  # rows in memory, of which a few are drawn


@dataclass(frozen=True, slots=True)
class Evidence:
    """Rows as a classifier sees them."""

    counts: Array  # rows of each class, all of them                              (classes,)
    confusion: Array  # all rows by true (down) and predicted class (across)
    sketch: RowSketch  # of all rows
    auc: ScoreInterval  # of all rows, under the classifier's priors
    brier: ScoreInterval
    labels: Array  # of the rows kept: positions in classes_                       (n,)
    values: Array  # their t                                                        (n, columns)
    rows: Any  # a few of the rows themselves                                       (m, d)
    row_labels: Array  # (m,)
    telling: tuple[TellingRow, ...]
    rare: int  # of two classes the one to be found: the rarer in training, or the second

    @property
    def sampled(self) -> bool:
        """Whether rows were left out."""
        return len(self.labels) < self.counts.sum()

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


def collect(classifier: Reported, batches: Iterable[tuple[Any, Any]]) -> Evidence:
    """Evidence of batches of rows and labels, which need not fit in memory together."""
    k = len(classifier.classes_)
    sample, telling, drawn = _Sample(k), Telling(k), _Drawn()
    confusion = np.zeros((k, k), dtype=np.int64)
    auc, brier = RunningAUC(k), RunningProbabilityScores()
    sketch = NO_ROWS
    for X, given, labels in _in_parts(classifier, batches):
        values = classifier.values(X)
        scores = classifier.machine_.scores(values)
        predicted = predicted_classes(scores)
        confusion += confusion_counts(labels, predicted, k)
        for running in (auc, brier):
            running.add(labels, classifier.machine_.probabilities(values))
        sketch += classifier.sketch(X, labels)
        telling.look(X, given, values, scores, labels, predicted)
        sample.add(labels, values)
        drawn.add(X, labels)
    if not confusion.any():
        raise InputError("A report needs rows to evaluate the classifier on; there are none.")
    counts = confusion.sum(axis=1)
    present = np.flatnonzero(counts)
    if len(present) < 2:
        raise InputError(
            f"A report needs rows of two classes at least; all {counts.sum()} rows are "
            f"{classifier.classes_.tolist()[int(present[0])]!r}. Give it rows of the others too."
        )
    labels, values = sample.kept()
    rows, row_labels = drawn.kept()
    known = counts if classifier.trained_on is None else classifier.trained_on
    return Evidence(
        counts=counts,
        confusion=confusion,
        sketch=sketch,
        auc=auc.interval(),
        brier=brier.scores()["brier"],
        labels=labels,
        values=values,
        rows=rows,
        row_labels=row_labels,
        rare=int(known[1] <= known[0]),
        telling=telling.chosen(counts),
    )


def _in_parts(
    classifier: Reported, batches: Iterable[tuple[Any, Any]]
) -> Iterator[tuple[Any, Any, Array]]:
    """Checked rows, the same as they were given, and labels: few enough to compute at once."""
    columns = max(1, len(classifier.machine_.pairs))
    for rows, y in batches:
        given = as_rows(rows)
        X = classifier.checked(rows)
        labels = label_positions(classifier, X, y)
        step = max(1, AT_ONCE // columns)
        if X.shape[0] <= step:
            if len(labels):
                yield X, given, labels
            continue
        for start in range(0, X.shape[0], step):
            some = np.arange(start, min(start + step, X.shape[0]))
            yield take(X, some), take(given, some), labels[some]


class _Sample:
    """A uniform sample of the rows of each class."""

    def __init__(self, n_classes: int) -> None:
        self._n_classes = n_classes
        self._random = np.random.default_rng(0)
        self._parts: list[tuple[Array, Array, Array]] = []  # labels, values, keys
        self._n = 0

    def add(self, labels: Array, values: Array) -> None:
        self._parts.append((labels, values, self._random.random(len(labels))))
        self._n += len(labels)
        if self._n > 1.5 * self._most(values):
            self._trim()

    def kept(self) -> tuple[Array, Array]:
        self._trim()
        ((labels, values, _),) = self._parts
        return labels, values

    def _most(self, values: Array) -> int:
        return min(MOST_KEPT, MOST_VALUES // values.shape[1])

    def _trim(self) -> None:
        labels, values, keys = (np.concatenate(p) for p in zip(*self._parts, strict=True))
        if len(labels) > self._most(values):
            share = max(1, self._most(values) // self._n_classes)
            own = [np.flatnonzero(labels == c) for c in range(self._n_classes)]
            kept = [
                part[np.argpartition(keys[part], share)[:share]] if len(part) > share else part
                for part in own
            ]
            some = np.sort(np.concatenate(kept))
            labels, values, keys = labels[some], values[some], keys[some]
        self._parts, self._n = [(labels, values, keys)], len(labels)


class _Drawn:
    """Rows themselves, evenly of each class, to be drawn and shuffled."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._labels: list[Array] = []
        self._room = MOST_POINTS  # for the rows of a batch

    def add(self, X: Any, labels: Array) -> None:
        some = evenly_of_each(labels, self._room)
        self._parts.append(take(X, some))
        self._labels.append(labels[some])
        if sum(map(len, self._labels)) > MOST_DRAWN:
            # Later batches give as few as are left of earlier ones.
            self._keep(MOST_DRAWN // 2)
            self._room = max(2, self._room // 2)

    def kept(self) -> tuple[Any, Array]:
        self._keep(MOST_POINTS)
        return self._parts[0], self._labels[0]

    def _keep(self, most: int) -> None:
        labels = np.concatenate(self._labels)
        rows = stacked(self._parts)
        some = evenly_of_each(labels, most)
        self._parts, self._labels = [take(rows, some)], [labels[some]]
