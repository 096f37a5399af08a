"""EEMClassifierCV: activation and number of neurons chosen by cross-validation in one pass each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import validate_parameter_constraints

from ..drawing.sampling import Sampled
from ..errors import InputError
from ..estimators.base import EntropyClassifier
from ..estimators.docstrings import with_shared_texts
from ..estimators.eem import EEMClassifier
from ..estimators.inputs import Costs, Priors
from ..features.neurons import Activation
from ..shapes import Array
from .path_cv import PathCV


@with_shared_texts
class EEMClassifierCV(PathCV, ClassifierMixin, BaseEstimator):
    """Extreme Entropy Machine that chooses its activation and size by cross-validation.

    All folds and sizes take one pass over the data for each activation: rows are summed by fold,
    the training set of a fold is the sum of the others, and a smaller layer is the first part of a
    larger one. The best candidate is then fitted on all rows.

    Parameters
    ----------
    n_hidden : sequence of int, default=(50, 100, 250, 500, 1000)
        Sizes to try. The largest sets the cost.
    activation : sequence of str or callable, default=("mixed",)
        Activations to try, as for `EEMClassifier`; one pass each. The paper's are
        ("sig", "nsig", "rbf").
    {cv, scoring}
    categorical_features, scale, relevance, shrinkage, ridge, decision, priors, costs
        As for `EEMClassifier`.
    {progress}
    {n_jobs}
    random_state : int, RandomState instance or None, default=None
        Seeds the neurons, sampled rows and inner folds.

    Attributes
    ----------
    best_estimator_ : EEMClassifier
        The best classifier, fitted on all rows.
    best_params_ : dict
        Its `n_hidden` and `activation`.
    best_index_ : tuple of (int, int)
        Its activation and size, as positions.
    {scores of a path}
    classes_, n_features_in_, feature_names_in_
        As for `EEMClassifier`.

    See Also
    --------
    EEKMClassifierCV : The same for kernels.
    DivergenceSearch : Choice without held-out rows.

    Notes
    -----
    Columns are brought to a common range by the least and largest value among all rows, held-out
    ones included. All else that φ takes from rows, it takes from rows that are never scored.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from extreme_entropy import EEMClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = EEMClassifierCV((20, 50), activation=("mixed",), cv=3, random_state=0)
    >>> search.fit(X, y).best_score_ > 0.9
    True
    >>> search.scores_.shape
    (2, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_hidden": ["array-like"],
        "activation": ["array-like"],
        **PathCV._parameter_constraints,
    }
    _size_name: ClassVar[str] = "n_hidden"
    _kind: ClassVar[type[EntropyClassifier]] = EEMClassifier

    def __init__(
        self,
        n_hidden: Sequence[int] = (50, 100, 250, 500, 1000),
        *,
        activation: Sequence[Activation | Callable[..., Array]] = ("mixed",),
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
        self.n_hidden = n_hidden
        self.activation = activation
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
        if not len(self.activation):
            raise InputError("`activation` must hold at least one activation; it is empty.")
        for activation in self.activation:
            validate_parameter_constraints(
                {"activation": EEMClassifier._parameter_constraints["activation"]},
                {"activation": activation},
                caller_name=type(self).__name__,
            )
        return {_name(activation): {"activation": activation} for activation in self.activation}


def _name(activation: str | Callable[..., Array]) -> str:
    if isinstance(activation, str):
        return activation
    return getattr(activation, "__name__", type(activation).__name__)
