"""Batches of rows, as users give them one after another: checked, and put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .inputs import check_rows, set_columns

Array = np.ndarray[Any, Any]

BATCH_ROWS = 16384  # are put together before they are summarised


class Batch(NamedTuple):
    """Checked rows with their labels, and weights if there are any."""

    X: Any
    y: Array
    weight: Array | None


def checked(learner: Any, batches: Iterable[Any]) -> Iterator[Batch | None]:
    """Each batch, checked; None for one without rows. The first tells the learner its columns."""
    for number, batch in enumerate(batches):
        try:
            X, y, *rest = batch
            if not (X.shape[0] if hasattr(X, "shape") else len(X)):
                yield None
                continue
            fresh = not hasattr(learner, "n_features_in_")
            columns, *rows = check_rows(learner, X, y, *(rest or [None]), reset=fresh)
            if fresh:
                set_columns(learner, columns)
        except Exception as error:
            error.add_note(f"This was batch {number} (the first is 0).")
            raise
        yield Batch(*rows)


def gathered(batches: Iterable[Batch | None]) -> Iterator[Batch]:
    """Checked batches, put together until they are worth the cost of a merge.

    Whenever rows are yielded, they hold the last batch taken: nothing waits.
    """
    waiting: list[Batch] = []
    for batch in batches:
        if batch is None:
            continue
        waiting.append(batch)
        if sum(len(batch.y) for batch in waiting) >= BATCH_ROWS:
            yield _stacked(waiting)
            waiting = []
    if waiting:
        yield _stacked(waiting)


def _stacked(batches: list[Batch]) -> Batch:
    """Batches as one; weights that are all 1 are none."""
    rows, labels, weights = zip(*batches, strict=True)
    if len(batches) == 1:
        X, y = rows[0], labels[0]
    else:
        X = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.concatenate(rows)
        y = np.concatenate(labels)
    if all(weight is None for weight in weights):
        return Batch(X, y, None)
    filled = [
        np.ones(len(own)) if weight is None else weight
        for own, weight in zip(labels, weights, strict=True)
    ]
    weight = np.concatenate(filled)
    return Batch(X, y, None if (weight == 1).all() else weight)
