"""Prefitted classifiers for scorers: all that a scorer asks of a classifier, and nothing to fit."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from ..errors import InputError
from ..estimators.mixin import EstimatorMixin
from ..machine.machine import Machine
from ..metrics import predicted_classes

Array = np.ndarray[Any, Any]


class Prefitted(EstimatorMixin):
    """A classifier that is fitted from the start."""

    def __init__(self, classes: Array) -> None:
        self.classes = classes
        self.classes_ = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing is left to fit; scorers expect the method."""
        return self


class OnProjections(Prefitted, ClassifierMixin, BaseEstimator):
    """A solved machine whose rows are projections."""

    def __init__(self, machine: Machine, classes: Array) -> None:
        super().__init__(classes)
        self.machine = machine

    def decision_function(self, X: Array) -> Array:
        return self.machine.scores(X)

    def predict(self, X: Array) -> Array:
        return self.classes_[predicted_classes(self.machine.scores(X))]

    def predict_proba(self, X: Array) -> Array:
        return self.machine.probabilities(X)


class OnLabels(Prefitted, ClassifierMixin, BaseEstimator):
    """A classifier whose rows are the positions of the labels it predicts."""

    def predict(self, X: Array) -> Array:
        return self.classes_[X[:, 0]]

    def predict_proba(self, X: Array) -> Array:
        """Probabilities do not add up over blocks."""
        raise InputError(
            "Rows that lie in blocks can be scored by their labels alone, since only counts add "
            "up. Use 'gmean', 'balanced_accuracy', 'f1' or the like, or gather the rows."
        )

    decision_function = predict_proba
    predict_log_proba = predict_proba


def score_counts(scorer: Any, classes: Array, confusion: Array) -> float:
    """The score of a confusion matrix."""
    true, predicted = np.nonzero(confusion)
    weight = confusion[true, predicted]
    rows = predicted[:, np.newaxis]
    return float(scorer(OnLabels(classes), rows, classes[true], sample_weight=weight))


def check_scorer(scorer: Any, name: Any) -> None:
    """Raise unless the scorer needs labels alone, and takes weights: before the rows are read."""
    try:
        score_counts(scorer, np.array([0, 1]), np.array([[3.0, 1.0], [2.0, 4.0]]))
    except TypeError as error:
        raise InputError(
            f"Rows that lie in blocks are scored from counts, so that scoring={name!r} must take "
            f"`sample_weight`; it does not ({error}). Use a scorer made with make_scorer."
        ) from error
