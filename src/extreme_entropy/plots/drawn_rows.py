"""What pictures are made from: a fitted classifier, checked rows, positions of labels, projections.

The projection of a row for a pair of classes is βᵀφ(x). The decision between the two changes where
the log-ratio of their Gaussians plus a bias is zero; priors and costs are that bias.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from ..errors import InputError
from ..estimators.inputs import check_x
from ..machine.predictor import Predictor
from ..pipelines import at_last_step, last_step
from ..shapes import Array
from .style import pyplot


def own_classifier(estimator: Any, who: str) -> Any:
    """The classifier in an estimator, if it is one of this library and pictures can be drawn."""
    pyplot(who)
    classifier = last_step(estimator)
    if not hasattr(type(classifier), "machine_"):
        raise InputError(
            f"{who} shows classifiers of this library; {type(classifier).__name__} is none. "
            "Pass an ExtremeEntropyClassifier, EEMClassifier or EEKMClassifier, or a pipeline that "
            "ends in one."
        )
    return classifier


def classifier_and_rows(estimator: Any, X: Any, who: str) -> tuple[Any, Any]:
    """The fitted classifier in an estimator, and checked rows as they reach it."""
    own_classifier(estimator, who)
    classifier, X = at_last_step(estimator, X)
    return classifier, check_x(classifier, X)


def inputs_to_draw(
    estimator: Any, X: Any, y: Any, who: str, *, two_classes: str | None = None
) -> tuple[Any, Any, Array]:
    """The classifier, checked rows, and positions of their labels.

    With `two_classes`, classifiers of more are refused; it says what else could be done.
    """
    classifier, X = classifier_and_rows(estimator, X, who)
    if two_classes is not None and len(classifier.classes_) != 2:
        raise InputError(
            f"{who} draws two classes; this classifier knows {len(classifier.classes_)}. "
            f"Fit one on two of them{two_classes}."
        )
    return classifier, X, label_positions(classifier, X, y)


def label_positions(classifier: Any, X: Any, y: Any) -> Array:
    """Labels as positions in `classes_`, one for each row."""
    y = column_or_1d(y)
    if len(y) != X.shape[0]:
        raise InputError(f"There must be a label for each row; X has {X.shape[0]}, y {len(y)}.")
    classes = classifier.classes_
    strange = np.setdiff1d(y, classes)
    if len(strange):
        raise InputError(
            f"Labels must be among the classes {classes.tolist()}; y also holds "
            f"{strange[:5].tolist()}."
        )
    return np.searchsorted(classes, y)


def class_position(classifier: Any, label: Any, parameter: str) -> int:
    """The position in `classes_` of a label that a parameter names."""
    classes = classifier.classes_.tolist()
    if label not in classes:
        raise InputError(f"`{parameter}` must be one of the classes {classes}; it is {label!r}.")
    return int(classes.index(label))


def column_names(classifier: Any) -> list[str]:
    """The names of the columns; their numbers, if they have none."""
    numbered = (f"column {i}" for i in range(classifier.n_features_in_))
    return [str(name) for name in getattr(classifier, "feature_names_in_", numbered)]


def predictor_of(classifier: Any) -> Predictor:
    """What predicts rows that are checked, whose columns have lost their names."""
    return Predictor(classifier.feature_map_, classifier.machine_, classifier.classes_)


def project_rows(classifier: Any, X: Any) -> Array:
    """Checked rows projected for the pairs of the machine  (n, pairs)."""
    return predictor_of(classifier).project(X)
