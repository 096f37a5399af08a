"""What both classifiers share: learning, deciding, and scikit-learn's conventions."""

from __future__ import annotations

from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions

from ._deciding import Decider
from ._learning import Learner
from ._notebook import InNotebook


class EntropyClassifier(Decider, Learner, ClassifierMixin, InNotebook, BaseEstimator):
    """Base of `EEMClassifier` and `EEKMClassifier`: everything but how φ is drawn."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "scale": [StrOptions({"minmax", "standard", "quantile"}), None],
        "shrinkage": [
            StrOptions({"ledoit-wolf", "oas", "none"}),
            Interval(Real, 0, 1, closed="both"),
        ],
        "ridge": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "decision": [StrOptions({"paper", "cross-fitted"})],
        "priors": [StrOptions({"balanced", "empirical"}), dict, "array-like"],
        "costs": [dict, None],
        "n_jobs": [int, None],
        "random_state": ["random_state"],
    }

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "summary_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier to a file, whole or not at all.

        Parameters
        ----------
        path : path-like
            Where to. `extreme_entropy.load(path)` reads it back.
        """
        from .saving import save

        save(self, path)
