"""What a report keeps of the rows: labels, projections, and a few rows to draw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..plots.projection import labels_of, machine_and_rows, project_onto
from ..plots.regions import MOST_POINTS, evenly_of_each

Array = np.ndarray[Any, Any]

MOST_KEPT = 20 * MOST_POINTS  # rows in memory, of which a few are drawn


@dataclass(frozen=True, slots=True)
class Evidence:
    """Rows as the machine sees them."""

    labels: Array  # positions in classes_           (n,)
    projections: Array  # on the line of each pair    (n, pairs)
    rows: Any  # a few of the rows                    (m, d)
    row_labels: Array  # (m,)

    def counts(self, n_classes: int) -> Array:
        """Rows of each class."""
        return np.bincount(self.labels, minlength=n_classes)


def collect(machine: Any, batches: Iterable[tuple[Any, Any]]) -> Evidence:
    """Evidence of batches of rows and labels, which need not fit in memory together."""
    labels: list[Array] = []
    projections: list[Array] = []
    rows: Any = None
    row_labels = np.empty(0, dtype=int)
    room = MOST_POINTS  # for the rows of a batch
    for X, y in batches:
        machine, X = machine_and_rows(machine, X, "A report")
        found = labels_of(machine, X, y)
        labels.append(found)
        projections.append(project_onto(machine, X, machine.machine_.operators))
        some = evenly_of_each(found, room)
        rows = X[some] if rows is None else _stacked(rows, X[some])
        row_labels = np.concatenate([row_labels, found[some]])
        if len(row_labels) > MOST_KEPT:
            # Later batches give as few as are left of earlier ones.
            rows, row_labels = _thinned(rows, row_labels, MOST_KEPT // 2)
            room = max(2, room // 2)
    if not labels:
        raise InputError("A report needs rows to judge the machine on; there are none.")
    together = np.concatenate(labels)
    _check(machine, together)
    return Evidence(together, np.concatenate(projections), *_thinned(rows, row_labels, MOST_POINTS))


def _check(machine: Any, labels: Array) -> None:
    present = np.unique(labels)
    if len(present) < 2:
        raise InputError(
            f"A report needs rows of two classes at least; all {len(labels)} rows are "
            f"{machine.classes_.tolist()[int(present[0])]!r}. Give it rows of the others too."
        )


def _thinned(rows: Any, labels: Array, most: int) -> tuple[Any, Array]:
    kept = evenly_of_each(labels, most)
    return rows[kept], labels[kept]


def _stacked(above: Any, below: Any) -> Any:
    if sp.issparse(above):
        return sp.vstack([above, below], format="csr")
    return np.concatenate([above, below])


def learnt_these(machine: Any, evidence: Evidence) -> bool:
    """Whether the rows are those the machine was fitted on.

    The rows are not kept, but their sums are: equal counts, and equal means and variances on the
    first line, are no coincidence.
    """
    if not np.array_equal(evidence.counts(len(machine.classes_)), learnt_counts(machine)):
        return False
    beta = machine.machine_.operators[0]
    for c in np.unique(evidence.labels):
        learnt = machine.summary_.of_class(int(c))
        here = evidence.projections[evidence.labels == c, 0]
        variance = float(beta @ learnt.scatter @ beta) / learnt.n
        close = 1e-4 * np.sqrt(variance) + 1e-9
        if abs(here.mean() - beta @ learnt.mean) > close:
            return False
        if abs(here.std() - np.sqrt(variance)) > close:
            return False
    return True


def learnt_counts(machine: Any) -> Array:
    """Rows of each class that the machine has learnt."""
    return np.sum(machine.summary_.counts, axis=1)
