"""Rows that were learnt are known again by their sums.

The rows are not kept, but their sums are: equal counts, and equal means and variances of the first
projection, are no coincidence.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..moments.summary import ForestSummary, Summary
from .forest import training_odds

Array = np.ndarray[Any, Any]


def were_learnt(
    machine: Any, summary: Summary | ForestSummary, labels: Array, projections: Array
) -> bool:
    """Whether rows, all together, are those of the summary.

    `labels` are positions of classes, `projections` those of the first pair.
    """
    counts = summary.counts.sum(axis=1)
    if not np.array_equal(np.bincount(labels, minlength=len(counts)), counts):
        return False
    by_class = {int(c): projections[labels == c] for c in np.unique(labels)}
    if isinstance(summary, ForestSummary):
        means, near = training_odds(machine, summary), 1e-4 * np.ptp(projections) + 1e-9
        return all(abs(here.mean() - means[c]) < near for c, here in by_class.items())
    operator = machine.operators[0]
    for c, here in by_class.items():
        learnt = summary.of_class(c)
        deviation = np.sqrt(float(operator @ learnt.scatter @ operator) / learnt.n)
        differences = (here.mean() - operator @ learnt.mean, here.std() - deviation)
        if np.abs(differences).max() > 1e-4 * deviation + 1e-9:
            return False
    return True
