"""How good models of a table are on rows they were not fitted on, at the costs of the fit.

Rows are held out in one of three ways:

    random   each fifth in turn, or one where rows of all classes are many
    group    likewise, and rows of one group are never on both sides
    time     the last fifth, or each fifth but the first after the ones before it where the last has
             too few rows of a class

The baseline is fitted on and predicts the very same rows, at the same costs and frequencies.
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
from ..metrics import (
    FEWEST_JUDGED,
    Outcome,
    by_class,
    confusion_counts,
    label_text,
    recall_scores,
    saving,
)
from ..progress import with_progress
from .baseline import Boosting
from .model import BaselineEstimate, HeldOutEstimate

Array = np.ndarray[Any, Any]
Fold = tuple[Array, Array]  # rows that are learnt, and those that are held out
GMEAN_ENDS = {"gmean": "value", "low": "low", "high": "high"}


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


@dataclass(frozen=True)
class Terms:
    """What mistakes cost and how frequent classes are, for labels in increasing order."""

    costs: Array  # of missing a row of each class
    shares: Array  # of the classes where the model is used
    stated: bool = True  # else classes count alike, and a classifier decides so by itself

    @classmethod
    def balanced(cls, counts: Array) -> Terms:
        """No costs are stated: a class costs the more, the rarer it is."""
        return cls(counts.max() / counts, counts / counts.sum(), stated=False)

    @property
    def matrix(self) -> Array:
        """The cost of taking a row of each class (down) for each class (across)."""
        return by_class(self.costs)

    def decide(self, fitted: EntropyClassifier, seen: Array, X: pa.Table) -> Array:
        """Positions among the classes seen, by a classifier that learnt these positions."""
        if self.stated:
            shares = self.shares[seen] / self.shares[seen].sum()
            fitted = fitted.with_costs(
                dict(enumerate(self.costs[seen].tolist())), priors=dict(enumerate(shares.tolist()))
            )
        return fitted.predict(X)


def estimate_outcome(
    classifier: EntropyClassifier,
    X: pa.Table,
    y: Array,
    seed: int,
    *,
    terms: Terms | None = None,
    split: Split | None = None,
    baseline: bool = False,
    progress: bool = False,
    settings: EstimateSettings | None = None,
) -> HeldOutEstimate | str:
    """What the classifier finds, misses and costs on rows it was not fitted on, and its GMean.

    Classes of fewer than `FEWEST_JUDGED` rows that can be held out are learnt and not judged. The
    reason in words where fewer than two are judged.
    """
    split, settings = split or Split(), settings or EstimateSettings()
    classes, labels, counts = np.unique(y, return_inverse=True, return_counts=True)
    terms = terms or Terms.balanced(counts)
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

    def steps(name: str) -> Iterator[Fold]:
        label = f"estimating {name}"
        return (
            with_progress(folds, label=label, unit="fold", terminal_only=True)
            if progress
            else iter(folds)
        )

    ours, theirs = np.full((2, len(y)), -1)
    for learnt, out in steps("this model"):
        seen, among = np.unique(labels[learnt], return_inverse=True)  # codes without gaps
        fitted = clone(classifier).fit(X.take(learnt), among)
        ours[out] = seen[terms.decide(fitted, seen, X.take(out))]
    if boosting:
        for learnt, out in steps(boosting.name):
            theirs[out] = boosting.decisions(learnt, labels, out, terms.costs * terms.shares)
    rows = np.flatnonzero((ours >= 0) & judged[labels])
    held = _HeldOut(labels[rows], split.take(rows), terms, judged)
    result = held.result(ours[rows])
    best = Outcome(np.array(result["confusion"]), terms.matrix, terms.shares).cheapest_constant
    return HeldOutEstimate(
        **result,
        folds=len(folds),
        not_judged=tuple(label_text(label) for label in classes[~judged]),
        split=split.how,
        column=split.column,
        held_out=int(held_out.sum()),
        costs=tuple(terms.costs.tolist()),
        shares=tuple(terms.shares.tolist()),
        stated=terms.stated,
        saved=held.saved(ours[rows], np.full(len(rows), best)),
        baseline=BaselineEstimate(
            boosting.name,
            **held.result(theirs[rows]),
            saved=held.saved(ours[rows], theirs[rows]),
        )
        if boosting
        else None,
    )


@dataclass(frozen=True)
class _HeldOut:
    """Rows that were held out and count."""

    labels: Array  # positions
    split: Split
    terms: Terms
    judged: Array  # whether a class counts

    def result(self, predicted: Array) -> dict[str, Any]:
        """The confusion matrix of predictions, their GMean, and its interval."""
        k, right = len(self.judged), predicted == self.labels
        # Counts of each group, where rows of a group are alike; all others are one.
        by_group = self.split.how == "group"
        groups = np.unique(self.split.values, return_inverse=True)[1] if by_group else 0 * right
        counts = np.zeros((2, int(groups.max()) + 1, k))
        np.add.at(counts[0], (groups, self.labels), right)
        np.add.at(counts[1], (groups, self.labels), 1)
        found, rows = counts[:, :, self.judged] if by_group else counts[:, 0, self.judged]
        score = recall_scores(found, rows)["gmean"]
        return {
            **{name: getattr(score, end) or 0.0 for name, end in GMEAN_ENDS.items()},
            "confusion": tuple(
                tuple(row) for row in confusion_counts(self.labels, predicted, k).tolist()
            ),
        }

    def saved(self, ours: Array, theirs: Array) -> tuple[float, ...]:
        """What a row costs less than by other predictions, and the ends of its interval."""
        groups = self.split.values if self.split.how == "group" else None
        costs, shares = self.terms.matrix, self.terms.shares
        interval = saving(self.labels, ours, theirs, costs, shares, groups=groups)
        return tuple(end or 0.0 for end in (interval.value, interval.low, interval.high))


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
