"""Scores of probabilities with normal intervals, of rows at once or in batches.

Brier score and log-loss are means over rows, kept as running means with their squared deviations.
AUC is a mean over pairs of rows, with the interval of DeLong et al. (1988). It needs ranks: rows
are kept as they are up to a number, and counted in bins of log-odds beyond. In a bin half of the
pairs count, which is right but for the tilt of the densities within it.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from ..shapes import Array
from .intervals import UNDEFINED, ScoreInterval, normal_interval, recall_scores


def scores_with_intervals(
    matrix: Array, labels: Array, probabilities: Array, seed: int = 0
) -> dict[str, ScoreInterval]:
    """GMean, balanced accuracy, AUC and Brier score of predictions.

    Parameters
    ----------
    matrix : ndarray of shape (n_classes, n_classes)
        The confusion matrix: true classes down, predicted ones across.
    labels : ndarray of shape (n_samples,)
        Positions of the true classes.
    probabilities : ndarray of shape (n_samples, n_classes)
        Of each class.
    seed : int, default=0
        Of the draws.

    Returns
    -------
    dict of str to ScoreInterval
        "gmean", "balanced_accuracy", "auc", "brier". With a class that has no rows the first
        three are not defined.

    Examples
    --------
    >>> from sklearn.metrics import confusion_matrix
    >>> from extreme_entropy.metrics import scores_with_intervals
    >>> labels, p = np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.7, 0.9])
    >>> matrix = confusion_matrix(labels, p > 0.5)
    >>> scores = scores_with_intervals(matrix, labels, np.column_stack([1 - p, p]))
    >>> scores["balanced_accuracy"].value, scores["auc"].value
    (0.75, 1.0)
    """
    return {
        **recall_scores(np.diag(matrix), matrix.sum(axis=1), seed),
        "auc": auc(labels, probabilities),
        "brier": probability_scores(labels, probabilities)["brier"],
    }


def probability_scores(labels: Array, probabilities: Array) -> dict[str, ScoreInterval]:
    """Brier score (of the second of two classes, else summed) and log-loss."""
    running = RunningProbabilityScores()
    running.add(labels, probabilities)
    return running.scores()


class RunningProbabilityScores:
    """Brier score and log-loss of probabilities that come in batches."""

    def __init__(self) -> None:
        self._n, self._mean, self._deviation, self._most = 0, *np.zeros((3, 2))

    def add(self, labels: Array, probabilities: Array) -> None:
        """Take in positions of true classes, and the probabilities of all classes."""
        if not len(labels):
            return
        losses, self._most = _losses(labels, probabilities)
        n, mean = len(labels), losses.mean(axis=0)
        step, total = mean - self._mean, self._n + n
        self._deviation += ((losses - mean) ** 2).sum(axis=0) + step**2 * (self._n * n / total)
        self._mean += step * (n / total)
        self._n = total

    def scores(self) -> dict[str, ScoreInterval]:
        """Of all rows so far, at least one."""
        variance = self._deviation / (self._n - 1) if self._n > 1 else np.full(2, np.inf)
        values = zip(self._mean.tolist(), np.sqrt(variance / self._n), self._most, strict=True)
        brier, log_loss = (normal_interval(mean, float(e), float(most)) for mean, e, most in values)
        return {"brier": brier, "log_loss": log_loss}


def _losses(labels: Array, probabilities: Array) -> tuple[Array, Array]:
    """Brier score and log-loss of each row (n, 2), and the largest that either can be (2,)."""
    two, rows = probabilities.shape[1] == 2, np.arange(len(labels))
    errors = probabilities.copy()
    errors[rows, labels] -= 1
    squares = (errors**2).sum(axis=1) / (2 if two else 1)
    least = np.finfo(float).eps  # probability in a log-loss, as scikit-learn has it
    logarithms = -np.log(np.maximum(probabilities[rows, labels], least))
    return np.column_stack([squares, logarithms]), np.array([1.0 if two else 2.0, -np.log(least)])


def auc(labels: Array, probabilities: Array) -> ScoreInterval:
    """The area under the curve of each class against the others, averaged over the classes."""
    n, k = probabilities.shape
    counts = np.bincount(labels, minlength=k)
    if (counts == 0).any() or (counts == n).any():
        return UNDEFINED
    areas, influence = [], np.zeros(n)
    for c in _judged(k):
        positive, ranks = labels == c, np.unique(probabilities[:, c], return_inverse=True)[1]
        members, others = (np.bincount(ranks[side], minlength=n) for side in (positive, ~positive))
        area, below, above = _area(members, others)
        areas.append(area)
        placements = np.where(positive, below[ranks], above[ranks])
        influence += (placements - area) / np.where(positive, counts[c], n - counts[c])
    error = np.sqrt((influence**2).sum()) / len(areas)
    return normal_interval(float(np.mean(areas)), float(error), 1.0)


class RunningAUC:
    """The area under the curve of each class against the others, of rows that come in batches.

    Up to `most_kept` probabilities are kept one by one.
    """

    def __init__(self, n_classes: int, most_kept: int = 2**21) -> None:
        self._k, self._most_kept = n_classes, most_kept
        self._kept: list[tuple[Array, Array]] = []
        self._bins: Array | None = None  # rows of each class and of the others, for each score

    def add(self, labels: Array, probabilities: Array) -> None:
        """Take in positions of true classes, and the probabilities of all classes."""
        self._kept.append((labels, probabilities))
        if self._bins is not None or sum(p.size for _, p in self._kept) > self._most_kept:
            self._count()

    def _count(self, farthest: float = 40.0, per_unit: int = 1024) -> None:
        """Put all rows that are kept into bins of log-odds; those farther differ by rounding."""
        n_bins = int(2 * farthest * per_unit) + 1
        if self._bins is None:
            self._bins = np.zeros((len(_judged(self._k)), 2, n_bins))
        for labels, probabilities in self._kept:
            for counts, c in zip(self._bins, _judged(self._k), strict=True):
                odds = np.clip(logit(probabilities[:, c]), -farthest, farthest)
                bins = np.floor((odds + farthest) * per_unit).astype(np.intp)
                counts += [
                    np.bincount(bins[s], minlength=n_bins) for s in (labels == c, labels != c)
                ]
        self._kept.clear()

    def interval(self) -> ScoreInterval:
        """The mean area, with the interval of DeLong et al. (1988).

        Of rows in bins the standard errors of the classes are averaged, which is no less than
        the standard error of the mean.
        """
        if self._bins is None:
            labels = np.concatenate([labels for labels, _ in self._kept])
            return auc(labels, np.concatenate([p for _, p in self._kept]))
        if not self._bins.any(axis=2).all():
            return UNDEFINED
        areas, errors = [], []
        for members, others in self._bins:
            area, below, above = _area(members, others)
            terms = members @ (below - area) ** 2 / members.sum() ** 2
            terms += others @ (above - area) ** 2 / others.sum() ** 2
            areas.append(area)
            errors.append(np.sqrt(terms))
        return normal_interval(float(np.mean(areas)), float(np.mean(errors)), 1.0)


def _judged(k: int) -> range:
    """The classes whose areas count; of two classes, either has the same."""
    return range(k) if k > 2 else range(1, 2)


def _area(members: Array, others: Array) -> tuple[float, Array, Array]:
    """AUC from the rows of a class and of the others by bin, and the pairs won in each bin.

    Those are the share of the others below, and of the class above; ties count half.
    """
    below = (np.cumsum(others) - others / 2) / others.sum()
    above = 1 - (np.cumsum(members) - members / 2) / members.sum()
    return float(members @ below / members.sum()), below, above
