"""What ELM, WELM and LS-SVM share: outputs f(x) = φ(x)β + b fitted to targets of ±1.

Two classes have one column of targets, +1 for the second class; more have one column each, +1 on
the rows of the class and −1 on all others. The sign, or the largest column, decides.

Columns are scaled to [0, 1] by the training rows, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import gen_batches
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from extreme_entropy.errors import InputError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class UnitScaling:
    """z = (x − low) / (high − low), and 0 for columns that are constant."""

    low: Array
    factor: Array
    farthest: float = 100.0  # ranges; an outlier beyond would be all that the neurons see

    @classmethod
    def of(cls, X: Array) -> UnitScaling:
        low, spread = X.min(axis=0), np.ptp(X, axis=0)
        return cls(low, np.divide(1.0, spread, out=np.zeros(len(low)), where=spread > 0))

    def __call__(self, X: Array) -> Array:
        return np.clip((X - self.low) * self.factor, -self.farthest, self.farthest)


@dataclass(frozen=True, slots=True)
class Outputs:
    """f(x) = φ(x)β + b of scaled rows."""

    features: Callable[[Array], Array]  # φ: scaled rows (n, d) ↦ (n, h)
    readout: Array  # β   (h, k)
    bias: Array  # b   (k,)
    batch: int = 1024  # rows that φ is computed of at once

    def __call__(self, Z: Array) -> Array:
        parts = [self.features(Z[s]) @ self.readout for s in gen_batches(len(Z), self.batch)]
        return np.asarray(np.concatenate(parts) + self.bias)


class LeastSquaresClassifier(ClassifierMixin, BaseEstimator):
    """Base of `ELMClassifier`, `WELMClassifier` and `LSSVMClassifier`: all but the solving."""

    classes_: Array
    _scaling: UnitScaling
    _outputs: Outputs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve for the outputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to learn from.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_samples,), optional
            A weight counts as repetition of the row: 2 is the row twice, 0 is no row.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        X, y, weight = (values[weight > 0] for values in (X, y, weight))
        classes, labels = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise InputError(
                f"y must hold two classes or more; got {len(classes)} class. "
                "Check that the split is stratified."
            )
        scaling = UnitScaling.of(X)
        T = np.array([[-1.0], [1.0]]) if len(classes) == 2 else 2 * np.eye(len(classes)) - 1
        self._outputs = self._solve(scaling(X), T[labels], labels, weight)
        self._scaling, self.classes_ = scaling, classes
        return self

    def decision_function(self, X: Any) -> Array:
        """f(x): the output of each row, fitted to ±1 for its class.

        Positive means the second class; with more classes the largest of their columns wins.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return _squeezed(self._outputs(self._scaling(X)))

    def predict(self, X: Any) -> Array:
        """The class of each row."""
        outputs = self.decision_function(X)
        best = outputs.argmax(axis=1) if outputs.ndim == 2 else (outputs > 0).astype(int)
        return np.asarray(self.classes_[best])

    def _solve(self, Z: Array, T: Array, labels: Array, weight: Array) -> Outputs:
        """The outputs for scaled rows, their targets (n, k), classes and weights."""
        raise NotImplementedError

    @property
    def _readout(self) -> Array:
        check_is_fitted(self)
        return _squeezed(self._outputs.readout).T


def _squeezed(columns: Array) -> Array:
    """The one column, or all if there are more."""
    return columns[..., 0] if columns.shape[-1] == 1 else columns
