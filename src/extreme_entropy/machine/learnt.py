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
class ProjectionMoments:
    """Counts, means and squared deviations of the first projection, by class: a monoid."""

    counts: Array
    means: Array
    deviations: Array  # Σ (t − mean)²
    low: float = np.inf
    high: float = -np.inf

    @classmethod
    def of(cls, labels: Array, projections: Array, n_classes: int) -> ProjectionMoments:
        """Of rows with these positions of classes."""
        counts = np.bincount(labels, minlength=n_classes).astype(float)
        some = np.maximum(counts, 1.0)
        means = np.bincount(labels, weights=projections, minlength=n_classes) / some
        squares = (projections - means[labels]) ** 2
        deviations = np.bincount(labels, weights=squares, minlength=n_classes)
        ends = projections.min(initial=np.inf), projections.max(initial=-np.inf)
        return cls(counts, means, deviations, float(ends[0]), float(ends[1]))

    def __add__(self, other: ProjectionMoments) -> ProjectionMoments:
        total = self.counts + other.counts
        share = other.counts / np.maximum(total, 1.0)
        step = other.means - self.means
        return ProjectionMoments(
            total,
            self.means + step * share,
            self.deviations + other.deviations + step**2 * self.counts * share,
            min(self.low, other.low),
            max(self.high, other.high),
        )


def were_learnt(machine: Any, summary: Summary | ForestSummary, seen: ProjectionMoments) -> bool:
    """Whether rows, all together, are those of the summary."""
    counts = summary.counts.sum(axis=1)
    if not np.array_equal(seen.counts, counts):
        return False
    present = np.flatnonzero(counts)
    if isinstance(summary, ForestSummary):
        means, near = training_odds(machine, summary), 1e-4 * (seen.high - seen.low) + 1e-9
        return all(abs(seen.means[c] - means[c]) < near for c in present.tolist())
    operator = machine.operators[0]
    for c in present.tolist():
        learnt = summary.of_class(c)
        deviation = np.sqrt(float(operator @ learnt.scatter @ operator) / learnt.n)
        here = np.sqrt(seen.deviations[c] / seen.counts[c])
        differences = (seen.means[c] - operator @ learnt.mean, here - deviation)
        if np.abs(differences).max() > 1e-4 * deviation + 1e-9:
            return False
    return True
