"""EEMClassifier: Extreme Entropy Machines, the classifier on random neurons."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions

from ..drawing.specification import NeuronSpec
from ..features.neurons import FROM_ROWS, UNIFORM, Activation, Uniform
from ..shapes import Array
from .base import EntropyClassifier
from .docstrings import with_shared_texts
from .inputs import Costs, Priors
from .transforming import FeatureTransformer


@with_shared_texts
class EEMClassifier(FeatureTransformer, EntropyClassifier, ClassifierMixin, BaseEstimator):
    """The paper's Extreme Entropy Machine: a Fisher discriminant on random features.

    Rows pass through a layer of random neurons. Each class has a mean and a shrunk covariance of
    its own there, and a closed-form operator β projects rows to the numbers that separate the
    classes as far as their variances allow. One Gaussian per class on the projection gives
    probabilities and one or two thresholds. Imbalance needs no weights: both classes count equally
    by construction.

    Parameters
    ----------
    n_hidden : int, default=500
        Number of neurons h. A fit costs about n·h² operations.
    activation : {"mixed", "laplacian", "sig", "nsig", "rbf", "tanimoto", "sorensen", "relu"} or \
callable, default="mixed"
        "mixed" has linear neurons and radial ones centred on rows of the data, and does well on
        data without preparation (paper/docs/defaults.md). "laplacian" has neurons that fall off
        with the sum of absolute differences to rows of the data. "sig", "nsig" and "rbf" are the
        paper's, with weights and biases uniform on [0, 1]. "tanimoto", "sorensen" and "relu" take
        their weights from rows of the data and suit fingerprints and other sparse binary columns.
        A callable `f(Z, weights, biases)` gets scaled rows (n, d), weights (h, d) and biases (h,),
        and returns (n, h).
    {categorical_features}
    {scale}
    relevance : {"auto", "learned", "uniform"}, default="auto"
        "uniform" takes all columns alike, as the paper does. "learned" finds out on a sample of
        each class how much each column matters, and uses it if that separates held-out rows
        better. A "mixed" layer then has Laplacian neurons on columns weighted so, in turn with the
        others, or alone where the gain is large; any other layer sees weighted columns alone. The
        weights are frozen with the layer. "auto" is "learned" for "mixed" and "laplacian" layers
        and "uniform" for others.
    {shrinkage, ridge, decision}
    {priors, costs}
    {n_jobs}
    random_state : int, RandomState instance or None, default=None
        Seeds the neurons and the hash that chooses sampled rows and folds.
    {verbose}

    Attributes
    ----------
    {classes_}
    {one leaf}
    {columns seen}

    See Also
    --------
    EEKMClassifier : The same on a kernel.

    References
    ----------
    W. M. Czarnecki and J. Tabor, "Extreme entropy machines: robust information theoretic
    classification", Pattern Analysis and Applications, 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from extreme_entropy import EEMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
    >>> classifier = EEMClassifier(random_state=0).fit(X, y)
    >>> classifier.score(X_new, y_new) > 0.9
    True
    >>> careful = classifier.with_costs({0: 10})  # missing a malignant tumour costs tenfold
    >>> (careful.predict(X_new) == 0).sum() >= (classifier.predict(X_new) == 0).sum()
    np.True_
    """

    _spec: ClassVar[type[NeuronSpec]] = NeuronSpec
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions({*UNIFORM, *FROM_ROWS}), callable],
        **EntropyClassifier._parameter_constraints,
    }

    def __init__(
        self,
        n_hidden: int = 500,
        *,
        activation: Activation | Callable[..., Array] = "mixed",
        categorical_features: Any = "from_dtype",
        scale: Literal["minmax", "standard", "quantile"] | None = "quantile",
        relevance: Literal["auto", "learned", "uniform"] = "auto",
        shrinkage: Literal["ledoit-wolf", "oas"] | float | None = "ledoit-wolf",
        ridge: float | Literal["auto"] = "auto",
        decision: Literal["paper", "cross-fitted"] = "cross-fitted",
        priors: Priors = "empirical",
        costs: Costs | None = "balanced",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_hidden = n_hidden
        self.activation = activation
        self.categorical_features = categorical_features
        self.scale = scale
        self.relevance = relevance
        self.shrinkage = shrinkage
        self.ridge = ridge
        self.decision = decision
        self.priors: Priors = priors
        self.costs = costs
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(
        cls,
        activation: Uniform = "rbf",
        n_hidden: int = 500,
        *,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> Self:
        """Make a classifier with the paper's exact settings.

        These are [0, 1] scaling, uniform neurons, Ledoit–Wolf and Gaussians of training rows.

        Parameters
        ----------
        activation : {"sig", "nsig", "rbf"}, default="rbf"
            The paper's three.
        n_hidden : int, default=500
            The paper tries 50, 100, 250, 500 and 1000.
        n_jobs, random_state
            As in the constructor.

        Returns
        -------
        EEMClassifier
            Unfitted.
        """
        return cls(
            n_hidden,
            activation=activation,
            scale="minmax",
            relevance="uniform",
            ridge=0.0,
            decision="paper",
            priors="balanced",
            costs=None,
            n_jobs=n_jobs,
            random_state=random_state,
        )
