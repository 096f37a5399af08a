"""Rows that were learnt are known again by their sums.

The rows are not kept, but their sums are: equal counts, and equal means and variances of the first
projection, are no coincidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..moments.summary import ForestSummary, Summary
from .forest import training_odds

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ProjectionSums:
    """Rows of each class: how many, and mean and variance of their first projection.

    They add up, so that the rows may come in batches.
    """

    counts: Array  # (classes,)
    means: Array
    variances: Array
    low: float  # of all projections
    high: float

    @classmethod
    def of(cls, labels: Array, projections: Array, n_classes: int) -> ProjectionSums:
        """Sums of rows, `labels` being positions of classes."""
        counts = np.bincount(labels, minlength=n_classes)
        n = np.maximum(counts, 1)
        means = np.bincount(labels, projections, n_classes) / n
        spread = np.square(projections - means[labels])
        variances = np.bincount(labels, spread, n_classes) / n
        return cls(counts, means, variances, float(projections.min()), float(projections.max()))

    def __add__(self, other: ProjectionSums) -> ProjectionSums:
        counts = self.counts + other.counts
        share = other.counts / np.maximum(counts, 1)
        gap = other.means - self.means
        between = share * (1 - share) * gap**2
        variances = (1 - share) * self.variances + share * other.variances + between
        low, high = min(self.low, other.low), max(self.high, other.high)
        return ProjectionSums(counts, self.means + share * gap, variances, low, high)


def were_learnt(
    machine: Any, summary: Summary | ForestSummary, labels: Array, projections: Array
) -> bool:
    """Whether rows, all together, are those of the summary.

    `labels` are positions of classes, `projections` those of the first pair.
    """
    sums = ProjectionSums.of(labels, projections, len(summary.counts))
    return sums_were_learnt(machine, summary, sums)


def sums_were_learnt(machine: Any, summary: Summary | ForestSummary, sums: ProjectionSums) -> bool:
    """The same for rows of which only sums are known."""
    if not np.array_equal(sums.counts, summary.counts.sum(axis=1)):
        return False
    present = np.flatnonzero(sums.counts).tolist()
    if isinstance(summary, ForestSummary):
        means, near = training_odds(machine, summary), 1e-4 * (sums.high - sums.low) + 1e-9
        return all(abs(sums.means[c] - means[c]) < near for c in present)
    operator = machine.operators[0]
    for c in present:
        learnt = summary.of_class(c)
        deviation = np.sqrt(float(operator @ learnt.scatter @ operator) / learnt.n)
        mean = sums.means[c] - operator @ learnt.mean
        if max(abs(mean), abs(np.sqrt(sums.variances[c]) - deviation)) > 1e-4 * deviation + 1e-9:
            return False
    return True
