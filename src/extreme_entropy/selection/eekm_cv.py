"""EEKMClassifierCV: γ and number of landmarks chosen by cross-validation in one pass each."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import StrOptions

from ..drawing.sampling import Sampled
from ..errors import InputError
from ..estimators.base import EntropyClassifier
from ..estimators.docstrings import with_shared_texts
from ..estimators.eekm import EEKMClassifier
from ..estimators.inputs import Costs, Priors
from ..features.kernels import median_gamma
from ..features.scaling import fit_scaling
from .path_cv import PathCV


@with_shared_texts
class EEKMClassifierCV(PathCV, ClassifierMixin, BaseEstimator):
    """Extreme Entropy Kernel Machine that chooses γ and its landmarks by cross-validation.

    All folds and all numbers of landmarks come from one pass over the data for each γ. The best is
    then fitted on all rows.

    Parameters
    ----------
    n_landmarks : sequence of int, default=(50, 100, 250, 500)
        Numbers of landmarks to try. The largest sets the cost.
    gamma : sequence of float or "median", default="median"
        Values of γ to try. "median" tries 1/16, 1/4, 1 and 4 times the median heuristic of
        `EEKMClassifier`.
    kernel : {"mixed", "rbf", "laplacian", "polynomial"}, default="mixed"
        A kernel with a γ.
    {cv, scoring}
    categorical_features, scale, relevance, shrinkage, ridge, decision, priors, costs
        As for `EEKMClassifier`.
    {progress}
    {n_jobs}
    random_state : int, RandomState instance or None, default=None
        Seeds the landmarks and inner folds.

    Attributes
    ----------
    best_estimator_ : EEKMClassifier
        The best classifier, fitted on all rows.
    best_params_ : dict
        Its `n_landmarks` and `gamma`.
    best_index_ : tuple of (int, int)
        Its γ and size, as positions.
    {scores of a path}
    classes_, n_features_in_, feature_names_in_
        As for `EEKMClassifier`.

    See Also
    --------
    EEMClassifierCV : The same for random neurons.

    Notes
    -----
    No scored row has been a landmark. Rows sampled as landmarks are in every training set and are
    not scored; where too few others would be left, landmarks are sampled anew in each training set.
    The range of each column and the median heuristic are taken from all rows, without labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from extreme_entropy import EEKMClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = EEKMClassifierCV((20, 50), cv=3, random_state=0).fit(X, y)
    >>> search.best_score_ > 0.9
    True
    >>> search.path_.scores.shape
    (4, 2, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_landmarks": ["array-like"],
        "gamma": ["array-like", StrOptions({"median"})],
        "kernel": [StrOptions({"mixed", "rbf", "laplacian", "polynomial"})],
        **PathCV._parameter_constraints,
    }
    _size_name: ClassVar[str] = "n_landmarks"
    _kind: ClassVar[type[EntropyClassifier]] = EEKMClassifier
    # Of the median heuristic, tried by gamma="median".
    _multiples: ClassVar[tuple[float, ...]] = (1 / 16, 1 / 4, 1.0, 4.0)
    _shared: ClassVar[tuple[str, ...]] = ("kernel", *PathCV._shared)

    def __init__(
        self,
        n_landmarks: Sequence[int] = (50, 100, 250, 500),
        *,
        gamma: Sequence[float] | Literal["median"] = "median",
        kernel: Literal["mixed", "rbf", "laplacian", "polynomial"] = "mixed",
        cv: Any = 10,
        scoring: Any = "gmean",
        categorical_features: Any = "from_dtype",
        scale: Literal["minmax", "standard", "quantile"] | None = "quantile",
        relevance: Literal["auto", "learned", "uniform"] = "auto",
        shrinkage: Literal["ledoit-wolf", "oas"] | float | None = "ledoit-wolf",
        ridge: float | Literal["auto"] = "auto",
        decision: Literal["paper", "cross-fitted"] = "cross-fitted",
        priors: Priors = "empirical",
        costs: Costs | None = "balanced",
        progress: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.gamma = gamma
        self.kernel = kernel
        self.cv = cv
        self.scoring = scoring
        self.categorical_features = categorical_features
        self.scale = scale
        self.relevance = relevance
        self.shrinkage = shrinkage
        self.ridge = ridge
        self.decision = decision
        self.priors: Priors = priors
        self.costs = costs
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _settings(self, sampled: Sampled | None = None) -> dict[str, dict[str, Any]]:
        if sampled is None:
            _check_gammas(self.gamma)
            return {"median": {"gamma": "median"}}
        if not isinstance(self.gamma, str):
            return {f"γ = {gamma:g}": {"gamma": float(gamma)} for gamma in self.gamma}
        if self.kernel == "mixed":
            return {f"γ = {m:g} × median": {"gamma": m} for m in self._multiples}
        rows = sampled.sample.rows[: EEKMClassifier.settings.features.typical_rows]
        scaling = fit_scaling(self.scale, sampled.stats, rows)
        median = median_gamma(self.kernel, scaling(rows))
        return {f"γ = {m:g} × median": {"gamma": m * median} for m in self._multiples}


def _check_gammas(gammas: Any) -> None:
    if isinstance(gammas, str):
        return
    if not len(gammas):
        raise InputError('`gamma` must hold at least one value; it is empty. Or use "median".')
    strange = [g for g in gammas if not isinstance(g, Real) or not 0 < float(g) < np.inf]
    if strange:
        raise InputError(f"Values of `gamma` must be positive numbers; got {strange[0]!r}.")
