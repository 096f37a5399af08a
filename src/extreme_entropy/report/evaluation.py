"""How good a classifier is on rows: computed once, for `eem evaluate` and for the report.

Rows come in batches and are not kept. The confusion matrix, AUC, Brier score and log-loss are those
of all rows; costs follow from the matrix. A score is a `Metric` in the list `METRICS`: the command
prints it, `--json` writes it and the report shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..metrics import (
    Outcome,
    RunningAUC,
    RunningProbabilityScores,
    ScoreInterval,
    confusion_counts,
    predicted_classes,
    recall_scores,
)
from ..moments.sketch import NO_ROWS, RowSketch
from ..plots.drawn_rows import label_positions
from .classifiers import Reported
from .rows import as_rows, take

Array = np.ndarray[Any, Any]
Probabilities = Callable[[Array], Array]  # of values t: those of all classes   (n, classes)

VALUES_AT_ONCE = 2**21  # computed together: 16 MB


@dataclass(frozen=True, slots=True)
class Metric:
    """A score of predictions."""

    key: str  # in JSON
    title: str
    meaning: Callable[[int], str]  # in a sentence, for so many classes
    of: Callable[[Evaluation], ScoreInterval]
    of_probabilities: bool = False  # such scores the command prints in a table, by priors


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What is known of a classifier's predictions of all rows."""

    confusion: Array  # rows by true (down) and predicted class (across)
    costs: Array  # of taking a row of each class (down) for each class (across)
    auc: ScoreInterval
    priors: str  # under which the classifier decides: a key of `probabilities`
    probabilities: Mapping[str, Mapping[str, ScoreInterval]]  # Brier score and log-loss, by priors
    sketch: RowSketch  # of all rows
    share_learnt: float  # of the rows, which are those of the fit

    @property
    def counts(self) -> Array:
        """Rows of each class."""
        return self.confusion.sum(axis=1)

    @property
    def rows(self) -> int:
        """All rows."""
        return int(self.confusion.sum())

    @property
    def class_costs(self) -> list[float]:
        """The cost of misclassifying a row of each class, the largest where that depends."""
        return self.costs.max(axis=1).tolist()

    @property
    def outcome(self) -> Outcome:
        """What is found, missed and costs."""
        return Outcome(self.confusion, self.costs)

    @property
    def costs_by_class(self) -> bool:
        """Whether the cost of a mistake depends on the true class alone."""
        return bool(
            (self.costs == self.costs.max(axis=1)[:, None] * (1 - np.eye(len(self.costs)))).all()
        )

    def scores(self, metrics: Sequence[Metric] | None = None) -> list[tuple[Metric, ScoreInterval]]:
        """Each metric with its value, by default all of `METRICS`."""
        return [(metric, metric.of(self)) for metric in metrics or METRICS]


def _recall_metric(key: str) -> Callable[[Evaluation], ScoreInterval]:
    return lambda evaluation: recall_scores(np.diag(evaluation.confusion), evaluation.counts)[key]


METRICS = (
    Metric(
        "gmean",
        "GMean",
        lambda n: (
            "Geometric mean of the recalls of all classes: 1 is no mistake, 0 means that "
            "some class is never found."
        ),
        _recall_metric("gmean"),
    ),
    Metric(
        "balanced_accuracy",
        "Balanced accuracy",
        lambda n: f"Mean of the recalls of all classes. Guessing gives {1 / n:.2g}.",
        _recall_metric("balanced_accuracy"),
    ),
    Metric(
        "auc",
        "AUC",
        lambda n: (
            "How often a row of a class is ranked above a row of "
            f"{'the other' if n == 2 else 'one of the others, on average'}. Guessing gives 0.5."
        ),
        lambda evaluation: evaluation.auc,
    ),
    Metric(
        "brier",
        "Brier score",
        lambda n: (
            "Mean squared error of the probabilities: 0 is perfect, and equal probabilities "
            f"for all classes give {0.25 if n == 2 else 1 - 1 / n:.2g}."
        ),
        lambda evaluation: evaluation.probabilities[evaluation.priors]["brier"],
        of_probabilities=True,
    ),
)


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Some rows, and what the classifier makes of them."""

    rows: Any  # checked, as the classifier takes them
    original: Any  # as they came
    labels: Array  # positions in classes_   (n,)
    values: Array  # t   (n, columns)
    scores: Array
    predicted: Array  # positions in classes_   (n,)


def evaluate(
    classifier: Reported,
    batches: Iterable[tuple[Any, Any]],
    probabilities: Mapping[str, Probabilities] | None = None,
) -> Evaluation:
    """Scores of a classifier on batches of rows and labels, which need not fit in memory together.

    `probabilities` are scored by their names, those of the classifier's own priors among them.
    """
    running = RunningEvaluation(classifier, probabilities)
    for batch in predicted_batches(classifier, batches):
        running.add(batch)
    return running.result()


def predicted_batches(
    classifier: Reported, batches: Iterable[tuple[Any, Any]]
) -> Iterator[RowBatch]:
    """Rows with labels and predictions, few enough at a time to be computed at once."""
    step = max(1, VALUES_AT_ONCE // max(1, len(classifier.machine_.pairs)))
    for rows, y in batches:
        original, X = as_rows(rows), classifier.checked(rows)
        labels = label_positions(classifier, X, y)
        for start in range(0, len(labels), step):
            if len(labels) > step:
                part = np.arange(start, min(start + step, len(labels)))
                yield _predicted(classifier, take(X, part), take(original, part), labels[part])
            else:
                yield _predicted(classifier, X, original, labels)


def _predicted(classifier: Reported, X: Any, original: Any, labels: Array) -> RowBatch:
    values = classifier.values(X)
    scores = classifier.machine_.scores(values)
    return RowBatch(X, original, labels, values, scores, predicted_classes(scores))


class RunningEvaluation:
    """The evaluation of the rows so far."""

    def __init__(
        self, classifier: Reported, probabilities: Mapping[str, Probabilities] | None = None
    ) -> None:
        k, by_default = len(classifier.classes_), classifier.machine_.probabilities
        self._classifier = classifier
        self._probabilities = probabilities or {classifier.priors: by_default}
        self._confusion = np.zeros((k, k), dtype=np.int64)
        self._auc, self._sketch = RunningAUC(k), NO_ROWS
        self._running = {name: RunningProbabilityScores() for name in self._probabilities}

    def add(self, batch: RowBatch) -> None:
        """Count the rows of a batch."""
        self._confusion += confusion_counts(batch.labels, batch.predicted, len(self._confusion))
        self._sketch += self._classifier.sketch(batch.rows, batch.labels)
        for name, probabilities in self._probabilities.items():
            p = probabilities(batch.values)
            self._running[name].add(batch.labels, p)
            if name == self._classifier.priors:
                self._auc.add(batch.labels, p)

    def result(self) -> Evaluation:
        """Of all rows so far, at least one."""
        return Evaluation(
            confusion=self._confusion,
            # Twelve digits: a logarithm gives back 7.3 as 7.300000000000001.
            costs=np.vectorize(lambda cost: float(f"{cost:.12g}"))(self._classifier.costs),
            auc=self._auc.interval(),
            priors=self._classifier.priors,
            probabilities={name: running.scores() for name, running in self._running.items()},
            sketch=self._sketch,
            share_learnt=self._classifier.share_learnt(self._sketch),
        )
