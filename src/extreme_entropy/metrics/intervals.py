"""Scores of predictions with 95 % intervals.

GMean and balanced accuracy follow from the confusion matrix: their intervals are percentiles of a
bootstrap over rows, which draws whole matrices. AUC and the Brier score are means over rows (or
pairs of rows), and their intervals are normal, the one of AUC after DeLong et al. (1988).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

Array = np.ndarray[Any, Any]

DRAWS = 2000
NORMAL = 1.959963984540054


@dataclass(frozen=True, slots=True)
class ScoreInterval:
    """A score and its 95 % interval; None where it is not defined."""

    value: float | None
    low: float | None
    high: float | None


def scores_with_intervals(
    matrix: Array, labels: Array, probabilities: Array, seed: int = 0
) -> dict[str, ScoreInterval]:
    """GMean, balanced accuracy, AUC and Brier score of predictions.

    Parameters
    ----------
    matrix : ndarray of shape (n_classes, n_classes)
        From `confusion_counts`.
    labels : ndarray of shape (n_samples,)
        Positions of the true classes.
    probabilities : ndarray of shape (n_samples, n_classes)
        Of each class.
    seed : int, default=0
        For the bootstrap.

    Returns
    -------
    dict of str to ScoreInterval
        "gmean", "balanced_accuracy", "auc", "brier".

    Examples
    --------
    >>> from extreme_entropy.metrics import confusion_counts, scores_with_intervals
    >>> labels, p = np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.7, 0.9])
    >>> matrix = confusion_counts(labels, (p > 0.5).astype(int), 2)
    >>> scores = scores_with_intervals(matrix, labels, np.column_stack([1 - p, p]))
    >>> scores["balanced_accuracy"].value, scores["auc"].value
    (0.75, 1.0)
    """
    return {
        **scores_of_matrix(matrix, seed),
        "auc": _auc(labels, probabilities),
        "brier": _brier(labels, probabilities),
    }


def scores_of_matrix(matrix: Array, seed: int = 0) -> dict[str, ScoreInterval]:
    """GMean and balanced accuracy, from the confusion matrix alone."""
    rng = np.random.default_rng(seed)
    total = int(matrix.sum())
    drawn = rng.multinomial(total, matrix.ravel() / total, DRAWS).reshape(-1, *matrix.shape)
    present = matrix.sum(axis=1) > 0  # a class without rows has no recall
    recalls = _recalls(matrix[None])[:, present], _recalls(drawn)[:, present]
    gmean, drawn_gmeans = (r.prod(axis=1) ** (1 / r.shape[1]) for r in recalls)
    balanced, drawn_balanced = (r.mean(axis=1) for r in recalls)
    return {
        "gmean": _percentiles(gmean[0], drawn_gmeans),
        "balanced_accuracy": _percentiles(balanced[0], drawn_balanced),
    }


def _recalls(matrices: Array) -> Array:
    rows = matrices.sum(axis=2)
    found = np.diagonal(matrices, axis1=1, axis2=2)
    # A drawn matrix may lack all rows of a rare class, whose recall is then not known.
    return np.divide(found, rows, out=np.full(rows.shape, np.nan), where=rows > 0)


def _percentiles(value: float, drawn: Array) -> ScoreInterval:
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return ScoreInterval(float(value), float(low), float(high))


def _auc(labels: Array, probabilities: Array) -> ScoreInterval:
    """The area under the curve of each class against the others, averaged over the classes."""
    n, k = probabilities.shape
    counts = np.bincount(labels, minlength=k)
    if (counts == 0).any() or (counts == n).any():
        return ScoreInterval(None, None, None)
    areas, influence = [], np.zeros(n)
    for c in range(k) if k > 2 else (1,):  # of two classes, either gives the same area
        positive = labels == c
        placements = _placements(probabilities[:, c], positive)
        areas.append(placements[positive].mean())
        influence += (placements - areas[-1]) / np.where(positive, counts[c], n - counts[c])
    influence /= len(areas)
    return _normal(float(np.mean(areas)), float(np.sqrt((influence**2).sum())), 1.0)


def _placements(scores: Array, positive: Array) -> Array:
    """Of each row the share of rows of the other class that are on the right side of it."""
    ranks = rankdata(scores)
    within = np.empty(len(scores))
    within[positive], within[~positive] = rankdata(scores[positive]), rankdata(scores[~positive])
    below = ranks - within  # rows of the other class below, ties half
    n_positive = int(positive.sum())
    n_negative = len(scores) - n_positive
    return np.where(positive, below / n_negative, 1 - below / n_positive)


def _brier(labels: Array, probabilities: Array) -> ScoreInterval:
    """Mean squared error of the probabilities: of the second of two classes, else summed."""
    errors = probabilities.copy()
    errors[np.arange(len(labels)), labels] -= 1
    squares = (errors**2).sum(axis=1) / (2 if probabilities.shape[1] == 2 else 1)
    spread = float(squares.std(ddof=1) / np.sqrt(len(squares))) if len(squares) > 1 else np.inf
    return _normal(float(squares.mean()), spread, 1.0 if probabilities.shape[1] == 2 else 2.0)


def _normal(value: float, error: float, most: float) -> ScoreInterval:
    reach = NORMAL * error
    return ScoreInterval(value, max(0.0, value - reach), min(most, value + reach))
