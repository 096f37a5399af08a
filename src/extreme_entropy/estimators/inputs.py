"""What users give, checked once: rows, labels, weights, priors and costs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
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


class Columns(NamedTuple):
    """What scikit-learn keeps of the columns of X."""

    n: int
    names: Array | None


def set_columns(estimator: Any, columns: Columns) -> None:
    """Tell an estimator the columns it was fitted on."""
    estimator.n_features_in_ = columns.n
    if columns.names is not None:
        estimator.feature_names_in_ = columns.names
    else:
        estimator.__dict__.pop("feature_names_in_", None)


def check_x(estimator: Any, X: Any) -> Any:
    """Rows to ask a fitted estimator about, in single or double precision."""
    return validate_data(
        estimator, X, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32)
    )


def check_columns(estimator: Any, like: Any, *, reset: bool) -> tuple[Columns, np.dtype[Any]]:
    """Columns and precision of rows like these."""
    estimator = copy.copy(estimator)
    X = validate_data(
        estimator, like, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32)
    )
    return Columns(X.shape[1], getattr(estimator, "feature_names_in_", None)), X.dtype


def check_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool
) -> tuple[Columns, Any, Array, Array | None]:
    """Columns, rows, labels and weights; rows whose weight is zero are left out.

    The estimator is not written to: a fit that fails leaves it as it was.
    """
    estimator = copy.copy(estimator)
    X, y = validate_data(
        estimator, X, y, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32)
    )
    check_classification_targets(y)
    columns = Columns(X.shape[1], getattr(estimator, "feature_names_in_", None))
    if sample_weight is None:
        return columns, X, y, None
    weight = check_weight(X, sample_weight)
    kept = weight > 0
    return (columns, X, y, weight) if kept.all() else (columns, X[kept], y[kept], weight[kept])


def check_weight(X: Any, sample_weight: Any, *, some: bool = True) -> Array:
    """Weights of the rows; zeros are allowed, but not everywhere if `some` must be positive."""
    weight: Array = column_or_1d(
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
            "To take rows out of a fitted classifier, use forget()."
        )
    if some and not weight.any():
        raise InputError(
            "Some sample weight must be positive; all are zero. "
            "A weight of zero means the row is not there."
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
    if block.weight is None:
        return X, y, None
    weight = check_weight(X, block.weight, some=False)
    kept = weight > 0
    return X[kept], None if y is None else y[kept], weight[kept]


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
    """The labels after this call of partial_fit: known, given, or found in the rows."""
    if classes is None:
        return classes_of(seen()) if known is None else known
    classes = np.unique(np.asarray(classes))
    if known is not None and not np.array_equal(known, classes):
        raise InputError(
            f"`classes` must stay what it was in the first call, {known.tolist()}; "
            f"now it is {classes.tolist()}. Leave it out."
        )
    return classes_of(classes)


def log_priors_and_costs(
    priors: Any, costs: Mapping[Any, float] | None, classes: Array, counts: Array | None = None
) -> tuple[Array, Array]:
    """ln π and ln C of each class, checked. Priors are equal, as counted, or as given."""
    labels, costs = classes.tolist(), costs or {}
    if isinstance(priors, str):
        shares = counts if priors == "empirical" and counts is not None else np.ones(len(labels))
        shares = shares / shares.sum()
    else:
        shares = _given_priors(priors, labels)
    strange = [label for label in costs if label not in labels]
    if strange:
        raise InputError(f"`costs` may name only the classes {labels}; it also names {strange}.")
    try:
        values = np.array([costs.get(label, 1.0) for label in labels], dtype=float)
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if not (np.isfinite(values) & (values > 0)).all():
        raise InputError(
            f"Costs must be positive and finite numbers; got {dict(costs)}. "
            "To ignore a class, give it a small cost."
        )
    return np.log(shares), np.log(values)


def _given_priors(priors: Any, labels: list[Any]) -> Array:
    if isinstance(priors, Mapping):
        if set(priors) != set(labels):
            raise InputError(
                f"`priors` must name each class once; the classes are {labels}, "
                f"priors has {list(priors)}."
            )
        priors = [priors[label] for label in labels]
    try:
        shares = np.asarray(priors, dtype=float)
    except (TypeError, ValueError):
        shares = np.array([np.nan])
    if shares.shape != (len(labels),) or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-6:
        raise InputError(
            f"`priors` must be {len(labels)} positive numbers that sum to one, in the order of "
            f"the classes {labels}; got {priors!r}. Use 'balanced' or 'empirical' if unsure."
        )
    return shares
