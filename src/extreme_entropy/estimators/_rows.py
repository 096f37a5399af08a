"""Rows, labels, weights and batches as users give them, checked once at the door."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from ..errors import InputError

Array = np.ndarray[Any, Any]
Rows = tuple[Any, Array, Array | None]  # X, y and weights, if there are any

BATCH_ROWS = 16384  # are put together before they are summarised


def check_x(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Rows to ask about, in single or double precision."""
    return validate_data(
        estimator, X, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32)
    )


def check_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
    """Rows, labels and weights, without the rows whose weight is zero."""
    X, y = validate_data(
        estimator, X, y, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32)
    )
    check_classification_targets(y)
    weight = check_weight(X, sample_weight)
    if weight is None or weight.all():
        return X, y, weight
    kept = weight > 0
    return X[kept], y[kept], weight[kept]


def check_weight(X: Any, sample_weight: Any) -> Array | None:
    """Weights of the rows, if there are any; some may be zero, but not all."""
    if sample_weight is None:
        return None
    weight = column_or_1d(
        check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    )
    check_consistent_length(X, weight)
    if (weight < 0).any():
        raise InputError(
            f"Sample weights must not be negative; the least is {weight.min():g}. "
            "To take rows out of a fitted machine, use forget()."
        )
    if not weight.any():
        raise InputError(
            "Some sample weight must be positive; all are zero. "
            "A weight of zero means the row is not there."
        )
    return weight


def gathered(estimator: Any, batches: Iterable[Any]) -> Iterator[Rows]:
    """Checked batches, put together until they are worth the cost of a merge."""
    waiting: list[tuple[Any, Array, Array]] = []
    for number, batch in enumerate(batches):
        try:
            X, y, *rest = batch
            if not (X.shape[0] if hasattr(X, "shape") else len(X)):
                continue
            fresh = not hasattr(estimator, "n_features_in_")
            X, y, weight = check_rows(estimator, X, y, *(rest or [None]), reset=fresh)
        except Exception as error:
            error.add_note(f"This was batch {number} (the first is 0).")
            raise
        waiting.append((X, y, np.ones(len(y)) if weight is None else weight))
        if sum(len(part[1]) for part in waiting) >= BATCH_ROWS:
            yield _stacked(waiting)
            waiting = []
    if waiting:
        yield _stacked(waiting)


def with_progress(
    steps: Iterable[Any], *, total: int | None = None, unit: str = "batch"
) -> Iterable[Any]:
    """The same steps, with a bar that moves as they are taken."""
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError(
            "progress=True needs tqdm: pip install 'extreme-entropy[progress]'"
        ) from error
    return tqdm(steps, total=total, unit=unit)


def _stacked(parts: list[tuple[Any, Array, Array]]) -> Rows:
    """Batches as one; weights that are all 1 are none."""
    rows, labels, weights = zip(*parts, strict=True)
    X = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.concatenate(rows)
    weight = np.concatenate(weights)
    return X, np.concatenate(labels), None if (weight == 1).all() else weight


def classes_of(y: Array) -> Array:
    """The labels in y, of which there must be two."""
    classes = np.unique(y)
    if len(classes) < 2:
        raise InputError(
            f"y holds only one class, {classes.tolist()[0]!r}; a classifier needs two to "
            "separate. Check that the split is stratified."
        )
    return classes.astype(classes.dtype.newbyteorder("="))


def labels_to_expect(known: Array | None, classes: Any, y: Array) -> Array:
    """The labels of a machine after this call of partial_fit."""
    if classes is None:
        return classes_of(y) if known is None else known
    classes = np.unique(np.asarray(classes))
    if known is not None and not np.array_equal(known, classes):
        raise InputError(
            f"`classes` must stay what it was in the first call, {known.tolist()}; "
            f"now it is {classes.tolist()}. Leave it out."
        )
    return classes_of(classes)


def encode(y: Array, classes: Array) -> Array:
    """Labels as positions in `classes`."""
    strange = np.setdiff1d(y, classes)
    if len(strange):
        raise InputError(
            f"Labels must be among the classes {classes.tolist()}; y also holds "
            f"{strange[:5].tolist()}. Pass all `classes` to the first partial_fit, "
            "or fit a new machine."
        )
    return np.searchsorted(classes, y)
