"""What users give, checked once: rows, labels, weights, priors and costs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import log_softmax
from sklearn import config_context, get_config
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_X_y,
    column_or_1d,
    validate_data,
)

from ..columns.cells import LARGE, Profiles
from ..columns.frames import (
    is_frame,
    must_be_read,
    profile,
    read,
    rows_of,
    with_names,
    without_cells,
)
from ..columns.kind import ColumnKind
from ..drawing.sampling import Columns
from ..engines.blocks import Block, Blocks
from ..errors import ChangedDefaultWarning, InputError, warn_once
from ..shapes import Array
from .column_kinds import kinds_of_frames, kinds_of_matrix, warn_rounded, warn_unseen

# By name; by label; or in the order of the classes.
NamedPriors = Literal["balanced", "empirical"]
Priors = NamedPriors | Mapping[Any, float] | Sequence[float] | Array
# By name; by label; by true and predicted label; or a matrix, true classes down.
Costs = Literal["balanced"] | Mapping[Any, Any] | Sequence[Sequence[float]] | Array


MOST_WEIGHT = 1e150  # of a row
# Classes that are numbers; more are taken for a quantity unless they count from 0 or 1 on, of which
# a part of the rows may lack a few.
MOST_NUMBERS = 20
FIRST_CODES = 3
MOST_GAPS = 1.25


def set_columns(estimator: Any, columns: Columns) -> None:
    """Tell an estimator the columns it was fitted on."""
    estimator.n_features_in_ = columns.n
    if columns.names is not None:
        estimator.feature_names_in_ = columns.names
    else:
        estimator.__dict__.pop("feature_names_in_", None)


def fitted_columns(estimator: Any) -> dict[str, Any]:
    """Classes and columns that an estimator was fitted on; names only where X had some."""
    names = ("classes_", "n_features_in_", "feature_names_in_")
    return {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}


def columns_of(fitted: Mapping[str, Any], kinds: tuple[ColumnKind, ...] | None) -> Columns:
    """The columns among fitted attributes."""
    return Columns(fitted["n_features_in_"], fitted.get("feature_names_in_"), kinds)


def on_numpy() -> AbstractContextManager[None]:
    """Where scikit-learn takes arrays of any library as NumPy's, whatever its configuration."""
    if get_config().get("array_api_dispatch"):
        return config_context(array_api_dispatch=False)
    return nullcontext()


def check_x(estimator: Any, X: Any) -> Any:
    """Rows to ask a fitted estimator about, in single or double precision."""
    return _matrix(estimator, rows_of(X), known_kinds(estimator), reset=False)


def check_columns(estimator: Any, blocks: Blocks, *, reset: bool) -> tuple[Columns, np.dtype[Any]]:
    """Columns and precision of rows in blocks."""
    estimator, like = copy.copy(estimator), blocks.like
    if not reset:
        kinds = known_kinds(estimator)
    else:
        kinds = _find_kinds(
            estimator, like, lambda named: blocks.add_up(partial(profile_block, named))
        )
    X = _matrix(estimator, without_cells(like), kinds, reset=reset)
    names = getattr(estimator, "feature_names_in_", None)
    return Columns(estimator.n_features_in_, names, kinds), X.dtype


def check_rows(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    reset: bool,
    columns: Columns | None = None,
    learned: bool = False,
) -> tuple[Columns, Any, Array, Array | None]:
    """Columns, rows, labels and weights; rows whose weight is zero are left out.

    The estimator is not written to: a fit that fails leaves it as it was. `columns` are those of
    earlier rows, if their kinds are not those that the estimator knows. Of rows that were `learned`
    before, the user has been told what there is to tell.
    """
    estimator, given, y = copy.copy(estimator), rows_of(X), rows_of(y)
    framed = is_frame(given)
    if isinstance(y, str) and framed:
        raise InputError(
            f"y must hold a label for each row; got {y!r}. If the labels are a column of X, use "
            f"fit_batches(X, target={y!r})."
        )
    if columns is not None:
        kinds = columns.kinds
    elif not reset:
        kinds = known_kinds(estimator)
    else:
        weight = None if sample_weight is None else check_weight(given, sample_weight)
        kinds = _find_kinds(estimator, given, lambda named: profile(given, named, weight))
    X, y = _matrix(estimator, given, kinds, y, reset=reset)
    check_labels(y)
    if not framed:
        if rounded := _rounded(given, X):
            warn_rounded(rounded)
    elif kinds is not None and not learned and (columns is not None or not reset):
        warn_unseen(given, X, kinds)
    names = getattr(estimator, "feature_names_in_", None)
    columns = Columns(estimator.n_features_in_, names, kinds)
    if sample_weight is None:
        return columns, X, y, None
    weight = check_weight(X, sample_weight)
    kept = weight > 0
    return (columns, X, y, weight) if kept.all() else (columns, X[kept], y[kept], weight[kept])


def check_labels(y: Array) -> None:
    """Raise unless y holds a class label for each row."""
    if y.dtype == object:
        missing = sum(label is None for label in y.tolist())
        if missing:
            raise InputError(
                f"Each row must have a label; {missing} of {len(y)} are None. Leave those out, "
                "or give them a label of their own."
            )
        _check_one_type(y.tolist())
    check_classification_targets(y)


def _check_one_type(labels: Sequence[Any]) -> None:
    """Raise if some labels are text and others are not."""
    words = [label for label in labels if isinstance(label, str)]
    if 0 < len(words) < len(labels):
        number = next(label for label in labels if not isinstance(label, str))
        raise InputError(
            "Labels must be text in all rows, or numbers in all rows; some are text, such as "
            f"{str(words[0])!r}, and others are not, such as {number}. Convert all of them to one "
            "type."
        )


def known_kinds(estimator: Any) -> tuple[ColumnKind, ...] | None:
    """What each column held when the estimator was fitted."""
    feature_map = getattr(estimator, "feature_map_", None)
    return None if feature_map is None else feature_map.encoding.kinds


def _find_kinds(
    estimator: Any, X: Any, profiles: Callable[[Array], Profiles]
) -> tuple[ColumnKind, ...] | None:
    """What each column of the first rows holds; None if all hold numbers."""
    if is_frame(X):
        return kinds_of_frames(estimator, [X], profiles)
    wanted = getattr(estimator, "categorical_features", None)
    return None if wanted is None or isinstance(wanted, str) else kinds_of_matrix(wanted, X)


def _rounded(given: Any, X: Any) -> list[int]:
    """Columns of whole numbers that have more digits than the floats they became."""
    if getattr(getattr(given, "dtype", None), "kind", "O") in "bf":
        return []
    ends = X.max(axis=0), -X.min(axis=0)
    low, high = (end.toarray().ravel() if sp.issparse(end) else end for end in ends)
    columns = np.flatnonzero(np.maximum(low, high) >= LARGE).tolist()
    return columns if columns and np.asarray(given).dtype.kind != "f" else []


def profile_block(named: Array, block: Block) -> Profiles:
    """What the columns of a block hold."""
    return profile(block.X, named, block.weight)


def _matrix(
    estimator: Any,
    X: Any,
    kinds: tuple[ColumnKind, ...] | None,
    y: Any = "no_validation",
    *,
    reset: bool,
) -> Any:
    """Rows as numbers, with labels if some are given, checked as scikit-learn does."""
    options: dict[str, Any] = {
        "accept_sparse": "csr",
        "dtype": (np.float64, np.float32),
        "ensure_all_finite": "allow-nan" if hasattr(estimator, "categorical_features") else True,
    }
    if is_frame(X) and must_be_read(X, kinds):
        # The names and number of columns.
        validate_data(estimator, with_names(X), reset=reset, skip_check_array=True)
        X = read(X, kinds)
        with on_numpy():
            if isinstance(y, str):
                return check_array(X, input_name="X", **options)
            return check_X_y(X, y, **options)
    coded = [j for j, kind in enumerate(kinds or ()) if kind.needs_frame]
    if coded:
        raise InputError(
            f"X must be a data frame, as in training, since its columns {coded[:10]} hold "
            f"categories or dates; it is {type(X).__name__}."
        )
    with on_numpy():
        return validate_data(estimator, X, y, reset=reset, **options)


def check_weight(X: Any, sample_weight: Any, *, some: bool = True) -> Array:
    """Weights of the rows; zeros are allowed, but not everywhere if `some` must be positive."""
    with on_numpy():
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
    if weight.max(initial=0.0) > MOST_WEIGHT:
        raise InputError(
            f"Sample weights must not be above {MOST_WEIGHT:g}, or their squares are no numbers; "
            f"the largest is {weight.max():g}. Divide all of them by their mean."
        )
    if some and not weight.any():
        raise InputError(
            "Some sample weight must be positive; all are zero. "
            "A weight of zero means the row is not there."
        )
    return weight


def check_block(
    block: Block, dtype: np.dtype[Any], columns: Columns
) -> tuple[Any, Any, Array | None]:
    """Rows of a block, perhaps none, with labels and weights if there are any."""
    X, kinds = block.X, columns.kinds
    if X.shape[1] != columns.n:
        raise InputError(f"Every block must have {columns.n} columns; this one has {X.shape[1]}.")
    if must_be_read(X, kinds):
        X = read(X, kinds)
    X = check_array(
        X,
        accept_sparse="csr",
        dtype=dtype,
        ensure_min_samples=0,
        ensure_all_finite="allow-nan",
    )
    y = block.y
    if y is not None:
        y = column_or_1d(y)
        assert_all_finite(y, input_name="y")
        check_consistent_length(X, y)
        if len(y):
            check_labels(y)
    if block.weight is None:
        return X, y, None
    weight = check_weight(X, block.weight, some=False)
    kept = weight > 0
    return X[kept], None if y is None else y[kept], weight[kept]


def cast_exactly(labels: Array, dtype: np.dtype[Any]) -> Array | None:
    """Numbers in another type; None if it cannot hold them all as they are."""
    low, high = labels.min().item(), labels.max().item()  # which Python compares exactly
    floats = labels.dtype.kind == "f"
    if dtype.kind == "f":
        fits = floats or (low >= -LARGE and high <= LARGE)
    else:
        range_ = np.iinfo(dtype)
        fits = range_.min <= low and high <= range_.max
        fits = fits and not (floats and (labels != np.floor(labels)).any())
    return labels.astype(dtype) if fits else None


def joined(labels: Sequence[Array]) -> Array:
    """Labels of several batches or blocks, which are of one type, as exact as they were."""
    _check_one_type([part[0] for part in labels])
    together = np.concatenate(labels)
    if together.dtype.kind != "f" or all(part.dtype.kind in "bf" for part in labels):
        return together
    for dtype in map(np.dtype, (np.int64, np.uint64, np.float64)):
        parts = [cast_exactly(part, dtype) for part in labels]
        if all(part is not None for part in parts):
            return np.concatenate(parts)  # type: ignore[arg-type]  # none of them is None
    raise InputError(
        "Labels must be numbers that one type can hold exactly; they range from "
        f"{min(part.min().item() for part in labels)} to "
        f"{max(part.max().item() for part in labels)}. Convert all of them to text."
    )


def classes_of(y: Array, *, asked: bool = False) -> Array:
    """The labels in y, of which there must be two.

    Somebody may have asked for just these classes; otherwise they must not be a quantity.
    """
    classes = np.unique(y)
    if not asked and is_quantity(classes):
        raise InputError(
            f"y must hold classes; it holds {len(classes)} different numbers from {classes[0]:g} "
            f"to {classes[-1]:g}, as a quantity does. To predict a quantity, use a regressor; to "
            "predict its range, cut it with pandas.cut. If each number is a class, convert y to "
            "text: y.astype(str)."
        )
    if len(classes) < 2:
        raise InputError(
            f"y holds only one class, {classes.tolist()[0]!r}; a classifier needs two to "
            "separate. Check that the split is stratified."
        )
    return classes.astype(classes.dtype.newbyteorder("="))


def is_quantity(classes: Array) -> bool:
    """Whether classes are many numbers that do not count from 0 or 1 on, as codes do."""
    if classes.dtype.kind not in "iuf" or len(classes) <= MOST_NUMBERS:
        return False
    low, high = float(classes[0]), float(classes[-1])
    return not (0 <= low < FIRST_CODES and high <= MOST_GAPS * len(classes))


def labels_to_expect(known: Array | None, classes: Any, seen: Callable[[], Array]) -> Array:
    """The labels after this call of partial_fit: known, given, or found in the rows."""
    if classes is None and known is not None:
        return known
    if classes is None:
        labels = np.unique(seen())
        if len(labels) == 1:
            raise InputError(
                f"The first rows hold only one class, {labels.tolist()[0]!r}. Pass the labels of "
                "all classes that will come as `classes=`."
            )
        return classes_of(labels)
    classes = np.unique(np.asarray(classes))
    if known is not None and not np.array_equal(known, classes):
        raise InputError(
            f"`classes` must stay what it was in the first call, {known.tolist()}; "
            f"now it is {classes.tolist()}. Leave it out."
        )
    return classes_of(classes, asked=True)


class PriorsAndCosts(NamedTuple):
    """Priors and costs of the classes, as logarithms."""

    log_priors: Array  # ln π   (classes,)
    log_costs: Array  # ln C   (classes,)
    # Of taking class i for class j, where that does not follow from i alone   (classes, classes)
    cost_matrix: Array | None = None


def log_priors_and_costs(
    priors: Any, costs: Costs | None, classes: Array, counts: Array | None = None
) -> PriorsAndCosts:
    """Priors and costs, checked: equal, by the rows counted, or as given."""
    labels, k = classes.tolist(), len(classes)
    counted = log_softmax(np.log(np.ones(k) if counts is None else counts))  # shares may be tiny
    if not isinstance(priors, str):
        log_priors = np.log(_given_priors(priors, labels))
    else:
        log_priors = counted if priors == "empirical" else np.full(k, -np.log(k))
    log_costs = -counted if isinstance(costs, str) else np.zeros(k)
    if costs is None or isinstance(costs, str):
        return PriorsAndCosts(log_priors, log_costs)
    matrix = _cost_matrix(costs, labels)
    rows = (matrix + np.diag(matrix.max(axis=1))).min(axis=1)  # the least cost of a mistake
    if k == 2 or (matrix == rows[:, np.newaxis] * (1 - np.eye(k))).all():
        return PriorsAndCosts(log_priors, np.log(rows))
    return PriorsAndCosts(log_priors, log_costs, matrix)


def check_priors_and_costs(priors: Any, costs: Costs | None, classes: Array) -> None:
    """Raise unless they suit the classes; warn where labels are not those of version 0.2."""
    log_priors_and_costs(priors, costs, classes)
    empirical = isinstance(priors, str) and priors == "empirical"
    if costs is not None and empirical != isinstance(costs, str):
        changed, former = (
            ("Costs now replace balanced ones, at the real frequencies", "priors='balanced'")
            if empirical
            else ("Costs now are balanced by default, beside other priors too", "costs=None")
        )
        warn_once(
            f"{changed}. For the labels of version 0.2, set {former}; if you never used 0.2, "
            "ignore this.",
            ChangedDefaultWarning,
        )


def _cost_matrix(costs: Costs, labels: list[Any]) -> Array:
    """Costs of taking a row of a class (down) for another (across); zeros on the diagonal."""
    k = len(labels)
    if not isinstance(costs, Mapping):
        matrix = _numbers(costs)
        if matrix.shape != (k, k):
            raise InputError(
                f"A matrix of costs must have a row and a column for each of {k} classes, in the "
                f"order of classes_; this one has shape {matrix.shape}."
            )
        if np.isfinite(matrix).all() and np.diag(matrix).any():
            raise InputError(
                "A matrix of costs must have zeros on its diagonal: a right prediction costs "
                f"nothing. It has {np.diag(matrix).tolist()}."
            )
    else:
        named = [costs, *(row for row in costs.values() if isinstance(row, Mapping))]
        strange = [label for names in named for label in names if label not in labels]
        if strange:
            raise InputError(
                f"`costs` may name only the classes {labels}; it also names {strange}."
            )
        matrix = _numbers([[_cost(costs, i, j) for j in labels] for i in labels])
        np.fill_diagonal(matrix, 0.0)
    others = matrix[~np.eye(k, dtype=bool)]
    if not (np.isfinite(others) & (others > 0)).all():
        raise InputError(
            f"Costs must be positive and finite numbers; got {costs}. "
            "To ignore a class, give it a small cost."
        )
    return matrix


def _cost(costs: Mapping[Any, Any], true: Any, predicted: Any) -> Any:
    """The cost of taking a row of a class for another, 1 where none is given."""
    given = costs.get(true, 1.0)
    return given.get(predicted, 1.0) if isinstance(given, Mapping) else given


def _numbers(values: Any) -> Array:
    """Values as an array of numbers, NaN where they are none."""
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError):
        return np.full(np.shape(values), np.nan)


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
