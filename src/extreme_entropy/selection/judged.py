"""What scorers are given in place of a fitted classifier: all that they ask of one, and no rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

Array = np.ndarray[Any, Any]


class Judged(ClassifierMixin, BaseEstimator):
    """A classifier that is fitted from the start."""

    def __init__(self, classes: Array) -> None:
        self.classes = classes
        self.classes_ = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing is left to fit; scorers expect the method."""
        return self
