"""Scores of predictions with 95 % intervals.

GMean and balanced accuracy follow from the recalls of all k classes. Their intervals are
percentiles of draws from Beta(found + 1/k, missed + 1/k) for each recall (Jeffreys' prior where
k = 2), so that a class without a mistake is not taken for certain, as it would be by a bootstrap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..shapes import Array


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


UNDEFINED = ScoreInterval(None, None, None)
NORMAL_REACH = 1.959963984540054  # the 97.5 % quantile of a Gaussian


def normal_interval(value: float, error: float, most: float) -> ScoreInterval:
    """A score with its standard error, within 0 and the largest there can be."""
    reach = NORMAL_REACH * error
    return ScoreInterval(value, max(0.0, value - reach), min(most, value + reach))


def recall_scores(
    found: Array, rows: Array, seed: int = 0, *, n_draws: int = 2000
) -> dict[str, ScoreInterval]:
    """GMean and balanced accuracy, from the rows of each class and those found among them.

    Both are of shape (n_classes,), or (n_groups, n_classes) where rows of a group are alike:
    intervals then reach at least as far as those of groups that are drawn anew. Not defined with a
    class that has no rows.
    """
    groups = (found, rows) if rows.ndim == 2 else None
    if groups:
        found, rows = found.sum(axis=0), rows.sum(axis=0)
    if not rows.all():
        return dict.fromkeys(("gmean", "balanced_accuracy"), UNDEFINED)
    k, rng = len(rows), np.random.default_rng(seed)
    draws = [rng.beta(found + 1 / k, rows - found + 1 / k, (n_draws, k))]
    if groups:
        draws.append(_recalls_of_groups(groups[0], groups[1], n_draws, rng))
    recalls, gmeans = found / rows, [drawn.prod(axis=1) ** (1 / k) for drawn in draws]
    return {
        "gmean": _percentiles(recalls.prod() ** (1 / k), gmeans),
        "balanced_accuracy": _percentiles(recalls.mean(), [drawn.mean(axis=1) for drawn in draws]),
    }


def _recalls_of_groups(found: Array, rows: Array, n: int, rng: np.random.Generator) -> Array:
    """Recalls with groups weighed at random, as if others had come (Rubin, 1981)."""
    drawn, at_once = [], 100  # since groups may be many
    for start in range(0, n, at_once):
        weights = rng.exponential(size=(min(at_once, n - start), len(rows)))
        drawn.append((weights @ found) / (weights @ rows))
    return np.concatenate(drawn)


def _percentiles(value: float, draws: list[Array]) -> ScoreInterval:
    ends = np.array([np.percentile(drawn, [2.5, 97.5]) for drawn in draws])
    low, high = ends[:, 0].min(), ends[:, 1].max()
    return ScoreInterval(float(value), float(min(low, value)), float(max(high, value)))
