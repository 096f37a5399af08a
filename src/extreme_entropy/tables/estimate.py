"""How good models of a table are on rows that they have not learnt: GMean, held out row by row.

Rows are held out in one of three ways:

    random   each fifth in turn, or one where rows of all classes are many
    group    likewise, and rows of one group are never on both sides
    time     the last fifth, or each fifth but the first after the ones before it where the last has
             too few rows of a class

The baseline learns and predicts the very same rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from ..estimators.base import EntropyClassifier
from ..metrics import FEWEST_JUDGED, label_text, recall_scores
from ..progress import with_progress
from .baseline import Boosting
from .model import BaselineEstimate, GMeanEstimate

Array = np.ndarray[Any, Any]
Fold = tuple[Array, Array]  # rows that are learnt, and those that are held out


@dataclass(frozen=True, slots=True)
class EstimateSettings:
    """How much of a sample is held out and looked at, so that a fit takes seconds."""

    folds: int = 5
    one_fold: int = 5000  # rows, beyond which a fifth of them is enough: an interval of ±0.02
    rows: int = 12_000  # to estimate on: more narrow the interval by little
    cells: int = 2**24  # of those rows: 128 MB as numbers
    fewest_rows: int = 2000  # however many columns
    hinted_rows: int = 2000  # to look for leaks in, column by column

    def rows_of(self, n_columns: int) -> int:
        """To estimate on, of a table of so many columns."""
        return min(self.rows, max(self.fewest_rows, self.cells // n_columns))


@dataclass(frozen=True)
class Split:
    """Which rows are held out together."""

    how: str = "random"  # or "time" or "group"
    column: str = ""
    values: Array = field(default_factory=lambda: np.empty(0))  # its times (NaN: none) or groups

    def take(self, rows: Array) -> Split:
        """The split of some of the rows."""
        values = self.values if self.how == "random" else self.values[rows]
        return Split(self.how, self.column, values)


def estimate_gmean(
    classifier: EntropyClassifier,
    X: pa.Table,
    y: Array,
    seed: int,
    *,
    split: Split | None = None,
    baseline: bool = False,
    progress: bool = False,
    settings: EstimateSettings | None = None,
) -> GMeanEstimate | str:
    """GMean of the classifier on rows it has not learnt, and its 95 % interval.

    Classes of fewer than `FEWEST_JUDGED` rows that can be held out are learnt and not judged. The
    reason in words where fewer than two are judged.
    """
    split, settings = split or Split(), settings or EstimateSettings()
    classes, labels, counts = np.unique(y, return_inverse=True, return_counts=True)
    if (counts >= FEWEST_JUDGED).sum() < 2:
        return f"two classes need {FEWEST_JUDGED} rows or more, to be held out in turn"
    folds = list(_folds(labels, split, seed, settings))
    held_out = sum(
        (np.bincount(labels[out], minlength=len(counts)) for _, out in folds), 0 * counts
    )
    judged = held_out >= FEWEST_JUDGED
    if judged.sum() < 2:
        return (
            f"of two classes {FEWEST_JUDGED} rows or more must be held out by --{split.how} "
            f"{split.column}"
        )
    boosting = Boosting(X, seed) if baseline else None
    # Counts of each group, where rows of a group are alike; all others are one.
    groups = split.values if split.how == "group" else np.zeros(len(y))
    groups = np.unique(groups, return_inverse=True)[1]
    rows, right, right_boosted = np.zeros((3, int(groups.max()) + 1, len(classes)))
    steps: Any = folds
    if progress:
        steps = with_progress(folds, label="estimating", unit="fold", terminal_only=True)
    for learnt, out in steps:
        fitted = clone(classifier).fit(X.take(learnt), labels[learnt])
        at = groups[out], labels[out]
        np.add.at(rows, at, 1)
        np.add.at(right, at, fitted.predict(X.take(out)) == labels[out])
        if boosting:
            np.add.at(right_boosted, at, boosting.predictions(learnt, y, out) == y[out])
    held = rows[:, judged].any(axis=1)
    rows, right, right_boosted = (n[held][:, judged] for n in (rows, right, right_boosted))
    theirs = _gmean(right_boosted, rows, split)
    return GMeanEstimate(
        **_gmean(right, rows, split),
        folds=len(folds),
        not_judged=tuple(label_text(label) for label in classes[~judged]),
        split=split.how,
        column=split.column,
        held_out=int(held_out.sum()),
        baseline=BaselineEstimate(boosting.name, **theirs) if boosting else None,
    )


def _gmean(right: Array, rows: Array, split: Split) -> dict[str, float]:
    """GMean and its interval, from counts by group and class."""
    if split.how != "group":
        right, rows = right.sum(axis=0), rows.sum(axis=0)
    score = recall_scores(right, rows)["gmean"]
    return {"gmean": score.value or 0.0, "low": score.low or 0.0, "high": score.high or 0.0}


def _folds(labels: Array, split: Split, seed: int, settings: EstimateSettings) -> Iterator[Fold]:
    """Rows to learn and rows to hold out; those of classes with few rows are only learnt."""
    counts = np.bincount(labels)
    enough = counts >= FEWEST_JUDGED
    rows = np.flatnonzero(enough[labels])
    if split.how == "time":
        yield from _forward(labels, rows, split.values, settings.folds)
        return
    options: dict[str, Any] = {"shuffle": True, "random_state": seed}
    if split.how == "group":
        groups = split.values
        n_groups = len(np.unique(groups[rows]))
        if n_groups < 2:
            return
        cut = StratifiedGroupKFold(min(settings.folds, n_groups), **options).split(
            rows, labels[rows], groups[rows]
        )
        folds = [(np.flatnonzero(~np.isin(groups, groups[rows[out]])), rows[out]) for _, out in cut]
    else:
        cut = StratifiedKFold(settings.folds, **options).split(rows, labels[rows])
        every = np.arange(len(labels))
        folds = [(np.setdiff1d(every, rows[out]), rows[out]) for _, out in cut]
    fewest = counts[enough].min()
    once = len(labels) > settings.one_fold and fewest >= settings.folds * FEWEST_JUDGED
    folds = [(learnt, out) for learnt, out in folds if len(out) and len(set(labels[learnt])) > 1]
    yield from folds[: 1 if once else None]


def _forward(labels: Array, rows: Array, times: Array, n_folds: int) -> Iterator[Fold]:
    """Later rows after earlier ones: the last fifth, or if it has too few each but the first."""
    rows = rows[~np.isnan(times[rows])]
    values, counts = np.unique(times[rows], return_counts=True)
    if len(values) < 2:
        return
    later = 1 - np.cumsum(counts)[:-1] / len(rows)  # share of the rows after each time but the last
    cuts = sorted(
        {values[1:][np.abs(later - share / n_folds).argmin()] for share in range(1, n_folds)}
    )
    last = rows[times[rows] >= cuts[-1]]
    counted = np.bincount(labels[last], minlength=labels.max() + 1)
    if counted[np.unique(labels[rows])].min() >= FEWEST_JUDGED:
        cuts = cuts[-1:]
    for start, end in zip(cuts, [*cuts[1:], np.inf], strict=True):
        learnt = np.flatnonzero(times < start)
        out = rows[(times[rows] >= start) & (times[rows] < end)]
        if len(set(labels[learnt])) > 1 and len(out):
            yield learnt, out
