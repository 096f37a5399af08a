"""The digest that proves a data set: SHA-256 over its rows, sorted, in single precision.

Sorted, because sources list the same rows in different orders. In single precision, because LIBSVM
prints no more, and the mean that fills a missing cell may differ in its last bits. The order of the
columns counts. So a set has one digest however it came, and no other table has the same.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ..errors import ContentError
from .registry import Dataset

Array = np.ndarray[Any, Any]


def digest(X: Array, y: Array) -> str:
    """The digest of rows and their labels in {−1, +1}.

    >>> digest(np.eye(2), np.array([1, -1])) == digest(np.eye(2)[::-1], np.array([-1, 1]))
    True
    """
    rows = np.empty((len(X), 4 * X.shape[1] + 1), dtype=np.uint8)
    with np.errstate(over="ignore"):
        # + 0 turns −0 into 0.
        values = np.ascontiguousarray(X, dtype="<f4") + np.float32(0)
    rows[:, :-1] = values.view(np.uint8).reshape(len(X), -1)
    rows[:, -1] = np.asarray(y, dtype=np.int8).view(np.uint8)
    ordered = np.sort(rows.view(np.dtype((np.void, rows.shape[1]))).ravel())
    return hashlib.sha256(ordered.data).hexdigest()


def check(dataset: Dataset, X: Array, y: Array, origin: str) -> None:
    """Raise ContentError, naming what differs, unless (X, y) is the data set."""
    wrong = _difference(dataset, X, y)
    if wrong:
        raise ContentError(f"{origin} is not the data set {dataset.name!r}: {wrong}.")


def _difference(dataset: Dataset, X: Array, y: Array) -> str | None:
    if X.ndim != 2 or y.shape != X.shape[:1]:
        return f"X has shape {X.shape} and y {y.shape}, not (rows, columns) and (rows,)"
    if X.dtype.kind not in "fiub" or y.dtype.kind not in "fiu":
        return f"X holds {X.dtype} and y {y.dtype}, not numbers"
    if not np.isin(y, (-1, 1)).all():
        return "y holds other labels than -1 and +1"
    if not np.isfinite(X).all():
        return "X holds values that are not finite"
    counts = zip(
        ("rows", "columns", "positive rows"),
        (*X.shape, int((y == 1).sum())),
        (dataset.rows, dataset.columns, dataset.positives),
        strict=True,
    )
    for what, came, expected in counts:
        if came != expected:
            return f"it has {came} {what}, not {expected} ({dataset.counted_by})"
    if digest(X, y) != dataset.digest:
        return "its counts are right, but its values differ (scaled, coded otherwise, or altered)"
    return None
