"""ExtremeEntropyClassifier, the classifier to start with: its size follows from the table."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions

from ..drawing.growing import ForestSpec
from ..engines.threads import CUTS, Threads
from ..errors import InputError
from ..machine.calibration import solve_leaves
from ..machine.machine import Machine
from ..machine.predictor import ClassesInSet
from .base import EntropyClassifier
from .docstrings import with_shared_texts
from .fitted import Learned
from .inputs import Costs, Priors

Array = np.ndarray[Any, Any]


def _belongs_to_leaves(classifier: Any) -> Any:
    raise AttributeError(
        "ExtremeEntropyClassifier has no β, shrinkage or ridge of its own; each leaf has, in "
        "`machine_.leaves`."
    )


@with_shared_texts
class ExtremeEntropyClassifier(EntropyClassifier, ClassifierMixin, BaseEstimator):
    """Extreme Entropy Machines whose number follows from the table: the classifier to start with.

    A table of fewer than 8192 rows is learnt by two Extreme Entropy Machines, one on kernel
    features and one on random neurons, whose log-odds are averaged. A larger one is also cut into
    leaves by a tree that is grown on a sample, and each leaf has its own landmarks, its own
    relevant columns and its own machine, so that accuracy grows with the rows at the same cost for
    each row. In both cases a fit is a sum over rows, with all that follows: `partial_fit`, `merge`,
    `forget`, batches, threads and clusters give the classifier of one fit with the same landmarks
    and cuts.

    By default `predict_proba` assumes that all classes are equally frequent, so that a rare class
    gets larger probabilities than its frequency, and `predict` treats all classes alike. With
    `priors="empirical"` probabilities are as frequent as they say among rows like those learnt
    (calibrated), and `predict` favours the frequent class; `with_costs(priors="empirical")` changes
    this at any time, without refitting. For calibrated probabilities with the decisions of equal
    priors, take `priors="empirical"` with costs in inverse proportion to the frequencies of the
    classes.

    Parameters
    ----------
    n_leaves : int or "auto", default="auto"
        Leaves of the tree, at the most; a table with one is not cut. "auto" is one for every 2048
        rows that the first call sees (1 if that is fewer than four), as far as all sums stay below
        some 600 megabytes.
        Give a number where the first rows are only a small part of all, as in `fit_batches` and
        `partial_fit`.
    n_landmarks : int or "auto", default="auto"
        Features of each machine. "auto" is 700 for a table that is not cut and 400 for leaves, and
        fewer where there are more than six classes. A fit costs about n·h² operations.
    {categorical_features}
    {priors, costs}
    {n_jobs}
    random_state : int, RandomState instance or None, default=None
        Seeds the hash that chooses sampled rows and folds.

    Attributes
    ----------
    {classes_}
    feature_map_ : FeatureMap
        Trees, and the features of each leaf; grown once and frozen.
    summary_ : Summary
        The sums of the rows learnt, by leaf, class and fold: all that is kept of them, beside those
        that are part of `feature_map_` (landmarks, and the sample of the notes below).
    machine_ : Machine
        The solved machines of all leaves, and the slope from their log-odds to probabilities.
    thresholds_ : ndarray of shape (1,)
        The log-odds of the leaves at which the decision changes.
    divergence_ : float
        Cauchy–Schwarz divergence of the two Gaussians that stand for that slope.
    means_, variances_ : ndarray of shape (2,)
        Those Gaussians.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        How much each column matters, over all nodes of the tree; they sum to one.
    {columns seen}

    See Also
    --------
    EEMClassifier : The paper's classifier on random neurons, with all its settings.
    EEKMClassifier : The paper's classifier on a kernel, with all its settings.

    Notes
    -----
    The tree, the landmarks, the weights of columns and a sample of up to 2000 rows of each class
    are frozen by the first call of `fit`, `partial_fit` or `fit_batches`. From the sample follows
    the slope from log-odds to probabilities: its rows are projected by operators of the folds they
    are not in.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from extreme_entropy import ExtremeEntropyClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
    >>> classifier = ExtremeEntropyClassifier(random_state=0).fit(X, y)
    >>> classifier.score(X_new, y_new) > 0.9
    True
    >>> classifier.predict_proba(X_new).shape
    (143, 2)
    """

    # What EEMClassifier and EEKMClassifier let users choose.
    scale: str | None = "quantile"
    relevance: str = "learned"
    shrinkage: str | float | None = "ledoit-wolf"
    ridge: float | str = "auto"
    decision: str = "cross-fitted"

    _spec: ClassVar[type[ForestSpec]] = ForestSpec
    _has_one_leaf: ClassVar[bool] = False
    _cure_of_degenerate: ClassVar[str] = (
        "The columns carry no information about the classes. Check that labels belong to their "
        "rows, or add columns that tell the classes apart."
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_leaves": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        **{
            name: EntropyClassifier._parameter_constraints[name]
            for name in ("categorical_features", "priors", "costs", "n_jobs", "random_state")
        },
    }

    def __init__(
        self,
        *,
        n_leaves: int | Literal["auto"] = "auto",
        n_landmarks: int | Literal["auto"] = "auto",
        categorical_features: Any = "from_dtype",
        priors: Priors = "balanced",
        costs: Costs | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_leaves = n_leaves
        self.n_landmarks = n_landmarks
        self.categorical_features = categorical_features
        self.priors: Priors = priors
        self.costs = costs
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict_set(self, X: Any, coverage: float = 0.95) -> Array:
        """The classes that cannot be ruled out for each row, at the same rate for each class.

        Of new rows of any class, on average at least a share of `coverage` has its class in the
        set, as far as new rows are like those learnt (conformal prediction by class, from rows that
        were held out). A set may hold several classes where rows are hard to classify, or none
        where a row is unlike all classes.

        Parameters
        ----------
        {X}
        coverage : float, default=0.95
            Between 0 and 1. A class with fewer than coverage / (1 − coverage) held-out rows can
            never be ruled out.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            Columns in the order of `classes_`; lazy where X is.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from extreme_entropy import ExtremeEntropyClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> classifier = ExtremeEntropyClassifier(n_landmarks=50, random_state=0).fit(X, y)
        >>> sets = classifier.predict_set(X, coverage=0.9)
        >>> sets.shape
        (150, 3)
        >>> bool((sets.sum(axis=1) <= 2).all())
        True
        """
        if not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
            raise InputError(f"`coverage` must be a number between 0 and 1; it is {coverage!r}.")
        return self._answer(X, ClassesInSet(1 - float(coverage)))

    beta_: property = property(_belongs_to_leaves)
    shrinkage_: property = property(_belongs_to_leaves)
    ridge_: property = property(_belongs_to_leaves)

    def _machine(self, learned: Learned, log_priors: Array, log_costs: Array) -> Machine:
        execute = Threads(self.n_jobs, ahead=CUTS.few_slices)
        phi, summary = learned.feature_map, learned.summary
        return solve_leaves(phi, summary, log_priors, log_costs, execute)
