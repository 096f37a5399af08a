"""GMean, the paper's score, beside balanced accuracy, and both as scorers by name.

GMean is the geometric mean of the accuracies within each class, balanced accuracy the plain mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer as sklearn_scorer
from sklearn.metrics import make_scorer
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ..errors import InputError
from ..shapes import Array

#: Rows of a class that are held out, at least; with fewer its recall is known to ±0.3 at best.
FEWEST_JUDGED = 8


def gmean_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Geometric mean of the recalls of all classes in `y_true`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    float
        Between 0 (some class is never found) and 1 (no mistake).

    Examples
    --------
    >>> from extreme_entropy import gmean_score
    >>> gmean_score(["ill", "ill", "well", "well"], ["ill", "well", "well", "well"])
    0.7071067811865476
    """
    y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
    check_consistent_length(y_true, y_pred, sample_weight)
    _check_labels(y_true, y_pred)
    weight = np.ones(len(y_true)) if sample_weight is None else np.asarray(sample_weight, float)
    if not (weight >= 0).all() or not 0 < weight.sum() < np.inf:
        raise InputError(
            "There must be rows, and their weights must be finite numbers of which none is "
            f"negative and some are positive; there are {len(weight)} rows, with a total weight "
            f"of {weight.sum():g}."
        )
    rows = weight > 0  # a weight of 0 is no row
    y_true, y_pred, weight = y_true[rows], y_pred[rows], weight[rows]
    classes, positions = np.unique(y_true, return_inverse=True)
    n_rows = np.bincount(positions, weights=weight)
    hits = np.bincount(positions, weights=weight * (y_true == y_pred))
    return float(np.prod(hits / n_rows) ** (1.0 / len(classes)))


def _check_labels(y_true: Array, y_pred: Array) -> None:
    """Raise unless both hold labels, of text or of numbers."""
    is_text = []
    for name, labels in (("y_true", y_true), ("y_pred", y_pred)):
        if labels.dtype.kind == "f" and not (labels == np.floor(labels)).all():
            strange = labels[labels != np.floor(labels)][0]
            raise InputError(
                f"{name} must hold labels, as predict gives them; it holds {strange:g}. "
                "Probabilities are scored by other functions."
            )
        is_text.append(labels.dtype.kind in "US" or isinstance(next(iter(labels), None), str))
    if len(y_true) and is_text[0] != is_text[1]:
        raise InputError(
            "y_true and y_pred must hold labels of one type; one holds text and the other does "
            f"not: {y_true[0]!r} and {y_pred[0]!r}."
        )


#: GMean as a scorer, for `scoring=` in `cross_val_score`, `GridSearchCV` and the like.
gmean_scorer: Callable[..., float] = make_scorer(gmean_score)


def get_scorer(scoring: str | Callable[..., float]) -> Callable[..., float]:
    """A scorer by its name, "gmean" or any that scikit-learn knows, or the scorer itself.

    Parameters
    ----------
    scoring : str or callable
        Name, or a callable `(estimator, X, y) -> float`.

    Returns
    -------
    callable
        For `scoring=` in `cross_val_score`, `GridSearchCV` and the like.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.svm import SVC
    >>> from extreme_entropy.metrics import get_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_val_score(SVC(), X, y, scoring=get_scorer("gmean")).mean() > 0.9
    np.True_
    """
    is_gmean = isinstance(scoring, str) and scoring == "gmean"
    return gmean_scorer if is_gmean else sklearn_scorer(scoring)


def predicted_classes(scores: Array) -> Array:
    """Positions of the classes that scores decide for: of two, positive ones for the second."""
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)


def confusion_counts(labels: Array, predictions: Array, n_classes: int) -> Array:
    """Rows of each class (down) predicted as each class (across), from positions of classes."""
    counts = np.bincount(labels * n_classes + predictions, minlength=n_classes**2)
    return counts.reshape(n_classes, n_classes)


def label_text(label: Any) -> str:
    """A class label as text, as the command and the report write it."""
    return str(label).lower() if isinstance(label, bool | np.bool_) else str(label)
