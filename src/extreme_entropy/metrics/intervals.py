"""Scores of predictions with 95 % intervals.

GMean and balanced accuracy follow from the recalls of all k classes. Their intervals are
percentiles of draws from Beta(found + 1/k, missed + 1/k) for each recall (Jeffreys' prior where
k = 2), so that a class without a mistake is not taken for certain, as it would be by a bootstrap.
AUC, the Brier score and the log-loss are means over rows (or pairs of rows), and their intervals
are normal, the one of AUC after DeLong et al. (1988).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

Array = np.ndarray[Any, Any]

DRAWS = 2000
DRAWN_AT_ONCE = 100  # of groups, which may be many
NORMAL = 1.959963984540054
LEAST = float(np.finfo(float).eps)  # probability in a log-loss, as scikit-learn has it


@dataclass(frozen=True, slots=True)
class ScoreInterval:
    """A score and its 95 % interval; None where it is not defined.

    Parameters
    ----------
    value : float or None
        The score.
    low, high : float or None
        Ends of its interval.
    """

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
        Of the draws.

    Returns
    -------
    dict of str to ScoreInterval
        "gmean", "balanced_accuracy", "auc", "brier". With a class that has no rows the first
        three are not defined.

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
        **recall_scores(np.diag(matrix), matrix.sum(axis=1), seed),
        "auc": auc(labels, probabilities),
        "brier": probability_scores(labels, probabilities)["brier"],
    }


def recall_scores(found: Array, rows: Array, seed: int = 0) -> dict[str, ScoreInterval]:
    """GMean and balanced accuracy, from the rows of each class and those found among them.

    Parameters
    ----------
    found : ndarray of shape (n_classes,) or (n_groups, n_classes)
        Rows of each class that were predicted as such. By groups, where rows of a group are alike:
        intervals then reach at least as far as those of groups that are drawn anew.
    rows : ndarray of the same shape
        Rows of each class.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    dict of str to ScoreInterval
        "gmean" and "balanced_accuracy"; not defined with a class that has no rows.

    Examples
    --------
    >>> from extreme_entropy.metrics import recall_scores
    >>> recall_scores(np.array([8, 2]), np.array([10, 10]))["gmean"].value
    0.4
    """
    by_group = (found, rows) if rows.ndim == 2 else None
    found, rows = (one.sum(axis=0) if by_group else one for one in (found, rows))
    if not rows.all():
        return dict.fromkeys(("gmean", "balanced_accuracy"), ScoreInterval(None, None, None))
    k, rng = len(rows), np.random.default_rng(seed)
    draws = [rng.beta(found + 1 / k, rows - found + 1 / k, (DRAWS, k))]
    if by_group:
        draws.append(_recalls_of_groups(*by_group, rng))
    recalls, gmeans = found / rows, [drawn.prod(axis=1) ** (1 / k) for drawn in draws]
    return {
        "gmean": _percentiles(recalls.prod() ** (1 / k), gmeans),
        "balanced_accuracy": _percentiles(recalls.mean(), [drawn.mean(axis=1) for drawn in draws]),
    }


def _recalls_of_groups(found: Array, rows: Array, rng: np.random.Generator) -> Array:
    """Recalls with groups weighed at random, as if others had come (Rubin, 1981)."""
    drawn = []
    for _ in range(DRAWS // DRAWN_AT_ONCE):
        weights = rng.exponential(size=(DRAWN_AT_ONCE, len(rows)))
        drawn.append((weights @ found) / (weights @ rows))
    return np.concatenate(drawn)


def probability_scores(labels: Array, probabilities: Array) -> dict[str, ScoreInterval]:
    """Brier score (of the second of two classes, else summed) and log-loss.

    Parameters
    ----------
    labels : ndarray of int of shape (n_samples,)
        Positions of the true classes.
    probabilities : ndarray of shape (n_samples, n_classes)
        Probabilities of each class.

    Returns
    -------
    dict of str to ScoreInterval
        "brier" and "log_loss".

    Examples
    --------
    >>> from extreme_entropy.metrics import probability_scores
    >>> probability_scores(np.array([0, 1]), np.array([[1.0, 0.0], [0.5, 0.5]]))["brier"].value
    0.125
    """
    found = losses(labels, probabilities)
    return {name: _mean(values, most) for name, (values, most) in found.items()}


def losses(labels: Array, probabilities: Array) -> dict[str, tuple[Array, float]]:
    """Brier score and log-loss of each row, and the largest that either can be."""
    k, rows = probabilities.shape[1], np.arange(len(labels))
    errors = probabilities.copy()
    errors[rows, labels] -= 1
    squares = (errors**2).sum(axis=1) / (2 if k == 2 else 1)
    logarithms = -np.log(np.maximum(probabilities[rows, labels], LEAST))
    return {
        "brier": (squares, 1.0 if k == 2 else 2.0),
        "log_loss": (logarithms, -float(np.log(LEAST))),
    }


def _percentiles(value: float, draws: list[Array]) -> ScoreInterval:
    ends = np.array([np.percentile(drawn, [2.5, 97.5]) for drawn in draws])
    low, high = ends[:, 0].min(), ends[:, 1].max()
    return ScoreInterval(float(value), float(min(low, value)), float(max(high, value)))


def auc(labels: Array, probabilities: Array) -> ScoreInterval:
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
    return normal_interval(float(np.mean(areas)), float(np.sqrt((influence**2).sum())), 1.0)


def _placements(scores: Array, positive: Array) -> Array:
    """Of each row the share of rows of the other class that are on the right side of it."""
    ranks = rankdata(scores)
    within = np.empty(len(scores))
    within[positive], within[~positive] = rankdata(scores[positive]), rankdata(scores[~positive])
    below = ranks - within  # rows of the other class below, ties half
    n_positive = int(positive.sum())
    n_negative = len(scores) - n_positive
    return np.where(positive, below / n_negative, 1 - below / n_positive)


def _mean(values: Array, most: float) -> ScoreInterval:
    n = len(values)
    spread = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.inf
    return normal_interval(float(values.mean()), spread, most)


def normal_interval(value: float, error: float, most: float) -> ScoreInterval:
    """A score with its standard error, within 0 and the largest there can be."""
    reach = NORMAL * error
    return ScoreInterval(value, max(0.0, value - reach), min(most, value + reach))
