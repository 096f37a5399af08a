"""How good predictions are, with 95 % intervals.

GMean and balanced accuracy follow from the confusion matrix: their intervals are percentiles of a
bootstrap over rows, which draws whole matrices. AUC and the Brier score are means over rows (or
pairs of rows), and their intervals are normal, the one of AUC after DeLong et al. (1988).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

Array = np.ndarray[Any, Any]

DRAWS = 2000
NORMAL = 1.959963984540054
Score = dict[str, float | None]  # value, low, high; None where it is not defined


def confusion(labels: Array, predictions: Array, n_classes: int) -> Array:
    """Rows of each class (down) taken for each class (across), from positions of classes."""
    cells = np.bincount(labels * n_classes + predictions, minlength=n_classes**2)
    return cells.reshape(n_classes, n_classes)


def judge(matrix: Array, labels: Array, probabilities: Array, seed: int = 0) -> dict[str, Score]:
    """Scores of predictions.

    Parameters
    ----------
    matrix : ndarray of shape (n_classes, n_classes)
        From `confusion`.
    labels : ndarray of shape (n_samples,)
        Positions of the true classes.
    probabilities : ndarray of shape (n_samples, n_classes)
        Of each class.
    seed : int, default=0
        For the bootstrap.

    Returns
    -------
    dict
        "gmean", "balanced_accuracy", "auc", "brier", each with "value", "low" and "high".

    Examples
    --------
    >>> from extreme_entropy.tables.scores import confusion, judge
    >>> labels, p = np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.7, 0.9])
    >>> matrix = confusion(labels, (p > 0.5).astype(int), 2)
    >>> scores = judge(matrix, labels, np.column_stack([1 - p, p]))
    >>> scores["balanced_accuracy"]["value"], scores["auc"]["value"]
    (0.75, 1.0)
    """
    rng = np.random.default_rng(seed)
    total = int(matrix.sum())
    drawn = rng.multinomial(total, matrix.ravel() / total, DRAWS).reshape(-1, *matrix.shape)
    there = matrix.sum(axis=1) > 0  # a class without rows says nothing
    return {
        name: _percentiles(mean(matrix[None], there)[0], mean(drawn, there))
        for name, mean in (("gmean", _gmeans), ("balanced_accuracy", _accuracies))
    } | {"auc": _auc(labels, probabilities), "brier": _brier(labels, probabilities)}


def _recalls(matrices: Array, there: Array) -> Array:
    rows = matrices.sum(axis=2)
    found = np.diagonal(matrices, axis1=1, axis2=2)
    # A drawn matrix may lack all rows of a rare class, whose recall is then not known.
    return np.divide(found, rows, out=np.full(rows.shape, np.nan), where=rows > 0)[:, there]


def _gmeans(matrices: Array, there: Array) -> Array:
    recalls = _recalls(matrices, there)
    return recalls.prod(axis=1) ** (1 / recalls.shape[1])


def _accuracies(matrices: Array, there: Array) -> Array:
    return _recalls(matrices, there).mean(axis=1)


def _percentiles(value: float, drawn: Array) -> Score:
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return {"value": float(value), "low": float(low), "high": float(high)}


def _auc(labels: Array, probabilities: Array) -> Score:
    """The area under the curve of each class against the others, averaged over the classes."""
    n, k = probabilities.shape
    counts = np.bincount(labels, minlength=k)
    if (counts == 0).any() or (counts == n).any():
        return {"value": None, "low": None, "high": None}
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


def _brier(labels: Array, probabilities: Array) -> Score:
    """Mean squared error of the probabilities: of the second of two classes, else summed."""
    errors = probabilities.copy()
    errors[np.arange(len(labels)), labels] -= 1
    squares = (errors**2).sum(axis=1) / (2 if probabilities.shape[1] == 2 else 1)
    spread = float(squares.std(ddof=1) / np.sqrt(len(squares))) if len(squares) > 1 else np.inf
    return _normal(float(squares.mean()), spread, 1.0 if probabilities.shape[1] == 2 else 2.0)


def _normal(value: float, error: float, most: float) -> Score:
    return {
        "value": value,
        "low": max(0.0, value - NORMAL * error),
        "high": min(most, value + NORMAL * error),
    }
