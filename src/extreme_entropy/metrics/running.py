"""Scores of rows that come in batches, in bounded memory.

Means over rows (Brier score, log-loss) are running means with their squared deviations. AUC needs
ranks: rows are kept as they are up to a number, and counted in bins of 1/1024 of log-odds beyond.
In a bin half of the pairs count, which is right but for the tilt of the densities within it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from .intervals import ScoreInterval, auc, losses, normal_interval

Array = np.ndarray[Any, Any]

MOST_KEPT = 2**21  # probabilities that are kept one by one
PER_UNIT = 1024  # bins of log-odds
FARTHEST = 40.0  # log-odds; probabilities beyond differ from 0 or 1 by less than rounding


class RunningMean:
    """Mean of values and its standard error."""

    n: int
    mean: float

    def __init__(self) -> None:
        self.n, self.mean, self._deviation = 0, 0.0, 0.0

    def add(self, values: Array) -> None:
        """Take in more values."""
        if not len(values):
            return
        n, mean = len(values), float(values.mean())
        step, total = mean - self.mean, self.n + n
        self._deviation += float(((values - mean) ** 2).sum()) + step**2 * self.n * n / total
        self.mean += step * n / total
        self.n = total

    def interval(self, most: float) -> ScoreInterval:
        """The mean with a normal interval, within 0 and the largest value there can be."""
        error = np.sqrt(self._deviation / (self.n - 1) / self.n) if self.n > 1 else np.inf
        return normal_interval(self.mean, float(error), most)


class RunningProbabilityScores:
    """Brier score and log-loss of probabilities that come in batches."""

    def __init__(self) -> None:
        self._means = {"brier": RunningMean(), "log_loss": RunningMean()}
        self._most: dict[str, float] = {}

    def add(self, labels: Array, probabilities: Array) -> None:
        """Take in positions of true classes, and the probabilities of all classes."""
        for name, (values, most) in losses(labels, probabilities).items():
            self._means[name].add(values)
            self._most[name] = most

    def scores(self) -> dict[str, ScoreInterval]:
        """Of all rows so far, at least one."""
        return {name: mean.interval(self._most[name]) for name, mean in self._means.items()}


class RunningAUC:
    """The area under the curve of each class against the others, of rows that come in batches.

    Parameters
    ----------
    n_classes : int
        Columns of probabilities to come.
    most_kept : int, default=2097152
        Probabilities that are kept one by one.

    Examples
    --------
    >>> from extreme_entropy.metrics import RunningAUC
    >>> running = RunningAUC(2)
    >>> for labels, p in ([0, 1], [0.2, 0.7]), ([0, 1], [0.8, 0.9]):
    ...     running.add(np.array(labels), np.column_stack([1 - np.array(p), p]))
    >>> running.interval().value
    0.75
    """

    def __init__(self, n_classes: int, most_kept: int = MOST_KEPT) -> None:
        self._k, self._most_kept = n_classes, most_kept
        self._kept: list[tuple[Array, Array]] = []
        self._bins: Array | None = None  # rows of each class by bin, for each score

    def add(self, labels: Array, probabilities: Array) -> None:
        """Take in positions of true classes, and the probabilities of all classes."""
        self._kept.append((labels, probabilities))
        if self._bins is not None or sum(p.size for _, p in self._kept) > self._most_kept:
            self._count()

    def _count(self) -> None:
        """Put all rows that are kept into bins."""
        scored = range(self._k) if self._k > 2 else (1,)
        n_bins = int(2 * FARTHEST * PER_UNIT) + 1
        if self._bins is None:
            self._bins = np.zeros((len(scored), 2, n_bins))
        for labels, probabilities in self._kept:
            for counts, c in zip(self._bins, scored, strict=True):
                odds = np.clip(logit(probabilities[:, c]), -FARTHEST, FARTHEST)
                bins = np.floor((odds + FARTHEST) * PER_UNIT).astype(np.intp)
                for own in (0, 1):
                    counts[own] += np.bincount(bins[(labels == c) == bool(own)], minlength=n_bins)
        self._kept.clear()

    def interval(self) -> ScoreInterval:
        """The mean area, with the interval of DeLong et al. (1988).

        Of rows in bins the standard errors of the classes are averaged, which is no less than
        the standard error of the mean.
        """
        if self._bins is None:
            labels = np.concatenate([labels for labels, _ in self._kept])
            return auc(labels, np.concatenate([p for _, p in self._kept]))
        found = [_area(*counts) for counts in self._bins]
        if any(area is None for area in found):
            return ScoreInterval(None, None, None)
        area, error = np.mean([one for one in found if one is not None], axis=0)
        return normal_interval(float(area), float(error), 1.0)


def _area(others: Array, own: Array) -> tuple[float, float] | None:
    """AUC and its standard error, from the rows of a class and of the others by bin."""
    n_own, n_others = own.sum(), others.sum()
    if not n_own or not n_others:
        return None
    # Of each bin the share of rows of the other kind on the right side, ties half.
    below = (np.cumsum(others) - others / 2) / n_others
    above = 1 - (np.cumsum(own) - own / 2) / n_own
    area = float(own @ below / n_own)
    variance = own @ (below - area) ** 2 / n_own**2 + others @ (above - area) ** 2 / n_others**2
    return area, float(np.sqrt(variance))
