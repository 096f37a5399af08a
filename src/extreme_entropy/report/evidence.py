"""What a report keeps of the rows: labels, projections, and a few rows to draw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..plots.inputs import classifier_and_rows, label_positions, project_rows
from ..plots.regions import MOST_POINTS, evenly_of_each

Array = np.ndarray[Any, Any]

MOST_KEPT = 20 * MOST_POINTS  # rows in memory, of which a few are drawn


@dataclass(frozen=True, slots=True)
class Evidence:
    """Rows as the classifier projects them."""

    labels: Array  # positions in classes_           (n,)
    projections: Array  # for each pair of classes    (n, pairs)
    rows: Any  # a few of the rows                    (m, d)
    row_labels: Array  # (m,)

    def counts(self, n_classes: int) -> Array:
        """Rows of each class."""
        return np.bincount(self.labels, minlength=n_classes)


def collect(classifier: Any, batches: Iterable[tuple[Any, Any]]) -> Evidence:
    """Evidence of batches of rows and labels, which need not fit in memory together."""
    labels: list[Array] = []
    projections: list[Array] = []
    rows: Any = None
    row_labels = np.empty(0, dtype=int)
    room = MOST_POINTS  # for the rows of a batch
    for X, y in batches:
        classifier, X = classifier_and_rows(classifier, X, "A report")
        found = label_positions(classifier, X, y)
        labels.append(found)
        projections.append(project_rows(classifier, X))
        some = evenly_of_each(found, room)
        rows = X[some] if rows is None else _stacked(rows, X[some])
        row_labels = np.concatenate([row_labels, found[some]])
        if len(row_labels) > MOST_KEPT:
            # Later batches give as few as are left of earlier ones.
            kept = evenly_of_each(row_labels, MOST_KEPT // 2)
            rows, row_labels = rows[kept], row_labels[kept]
            room = max(2, room // 2)
    if not labels:
        raise InputError("A report needs rows to evaluate the classifier on; there are none.")
    together = np.concatenate(labels)
    present = np.unique(together)
    if len(present) < 2:
        raise InputError(
            f"A report needs rows of two classes at least; all {len(together)} rows are "
            f"{classifier.classes_.tolist()[int(present[0])]!r}. Give it rows of the others too."
        )
    kept = evenly_of_each(row_labels, MOST_POINTS)
    return Evidence(together, np.concatenate(projections), rows[kept], row_labels[kept])


def _stacked(above: Any, below: Any) -> Any:
    if sp.issparse(above):
        return sp.vstack([above, below], format="csr")
    return np.concatenate([above, below])
