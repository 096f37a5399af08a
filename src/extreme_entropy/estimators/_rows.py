"""Rows, labels, weights and batches as users give them, checked once at the door."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from ..engines.blocks import Block
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
    weight = _weight(X, sample_weight)
    if weight is not None and not weight.any():
        raise InputError(
            "Some sample weight must be positive; all are zero. "
            "A weight of zero means the row is not there."
        )
    return weight


def _weight(X: Any, sample_weight: Any) -> Array | None:
    if sample_weight is None:
        return None
    weight = column_or_1d(
        check_array(
            sample_weight,
            ensure_2d=False,
            dtype=np.float64,
            ensure_min_samples=0,
            input_name="sample_weight",
        )
    )
    check_consistent_length(X, weight)
    if (weight < 0).any():
        raise InputError(
            f"Sample weights must not be negative; the least is {weight.min():g}. "
            "To take rows out of a fitted machine, use forget()."
        )
    return weight


def check_block(block: Block, dtype: np.dtype[Any], d: int) -> tuple[Any, Any, Array | None]:
    """Rows of a block, perhaps none, with labels and weights if there are any."""
    X = check_array(block.X, accept_sparse="csr", dtype=dtype, ensure_min_samples=0)
    if X.shape[1] != d:
        raise InputError(f"Every block must have {d} columns; this one has {X.shape[1]}.")
    y = block.y
    if y is not None:
        y = column_or_1d(y)
        assert_all_finite(y, input_name="y")
        check_consistent_length(X, y)
        if len(y):
            check_classification_targets(y)
    weight = _weight(X, block.weight)
    if weight is None or weight.all():
        return X, y, weight
    kept = weight > 0
    return X[kept], None if y is None else y[kept], weight[kept]


def checked(estimator: Any, batches: Iterable[Any]) -> Iterator[Rows | None]:
    """Each batch, checked; None for one without rows."""
    for number, batch in enumerate(batches):
        try:
            X, y, *rest = batch
            if not (X.shape[0] if hasattr(X, "shape") else len(X)):
                yield None
                continue
            fresh = not hasattr(estimator, "n_features_in_")
            rows = check_rows(estimator, X, y, *(rest or [None]), reset=fresh)
        except Exception as error:
            error.add_note(f"This was batch {number} (the first is 0).")
            raise
        yield rows


def gathered(batches: Iterable[Rows | None]) -> Iterator[Rows]:
    """Checked batches, put together until they are worth the cost of a merge.

    Whenever rows are yielded, they hold the last batch taken: nothing waits.
    """
    waiting: list[Rows] = []
    for rows in batches:
        if rows is None:
            continue
        waiting.append(rows)
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


def _stacked(parts: list[Rows]) -> Rows:
    """Batches as one; weights that are all 1 are none."""
    rows, labels, weights = zip(*parts, strict=True)
    if len(parts) == 1:
        X, y = rows[0], labels[0]
    else:
        X = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.concatenate(rows)
        y = np.concatenate(labels)
    if all(weight is None for weight in weights):
        return X, y, None
    filled = [
        np.ones(len(own)) if weight is None else weight
        for own, weight in zip(labels, weights, strict=True)
    ]
    weight = np.concatenate(filled)
    return X, y, None if (weight == 1).all() else weight


def classes_of(y: Array) -> Array:
    """The labels in y, of which there must be two."""
    classes = np.unique(y)
    if len(classes) < 2:
        raise InputError(
            f"y holds only one class, {classes.tolist()[0]!r}; a classifier needs two to "
            "separate. Check that the split is stratified."
        )
    return classes.astype(classes.dtype.newbyteorder("="))


def labels_to_expect(known: Array | None, classes: Any, seen: Callable[[], Array]) -> Array:
    """The labels of a machine after this call of partial_fit: known, told, or seen in the rows."""
    if classes is None:
        return classes_of(seen()) if known is None else known
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
