"""ExtremeEntropyClassifier, the classifier to start with: its size follows from the table."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions

from ..drawing.settings import DRAWING, DrawingSettings
from ..drawing.table_spec import TableSpec
from ..engines.threads import CUTS, Threads
from ..errors import InputError
from ..features.feature_settings import FEATURES
from ..machine.machine import Machine
from ..machine.predictor import ClassesInSet
from ..machine.stepping import solve_steps
from ..shapes import Array
from .base import EntropyClassifier
from .docstrings import with_shared_texts
from .fitted import Learned
from .inputs import Costs, Priors


def _belongs_to_leaves(classifier: Any) -> Any:
    raise AttributeError(
        "ExtremeEntropyClassifier has no β, shrinkage or ridge; the weights of each leaf are "
        "`machine_.leaves[i].operators`. Use EEMClassifier or EEKMClassifier for the paper's model."
    )


@with_shared_texts
class ExtremeEntropyClassifier(EntropyClassifier, ClassifierMixin, BaseEstimator):
    """Classifier for tables with a rare class and costs of mistakes; the one to start with.

    Pass the table as it is, with text, dates and missing values: there is nothing to scale, encode,
    weight or tune. Probabilities are calibrated, costs can be changed without refitting, and rows
    can be added, merged and removed.

    The log-odds of a row are the sum of a constant, an effect of each column by itself, and a
    kernel that compares the row with some rows of the table. Together they are one penalised
    logistic regression. How smooth it is, and which columns the kernel looks at, is chosen on
    sampled rows, by cross-validation. The fit is a sum over rows: `partial_fit`, `merge`,
    `forget`, batches, threads and clusters give the same classifier as one fit with the same
    feature map. A large table is split into leaves, each with its own landmarks and effects, so
    that accuracy grows with the number of rows while the cost of each row stays the same.

    By default probabilities match the frequencies among rows like those seen in training (they are
    calibrated), and `predict` treats all classes alike: a miss costs in inverse proportion to the
    frequency of the class. `costs=None` predicts the most probable class, and
    `with_costs({"fraud": 10})` states real costs at any time, without refitting.

    Parameters
    ----------
    n_leaves : int or "auto", default="auto"
        The maximum number of leaves; with 1 the table is not split. "auto" means one leaf for every
        4096 rows of the first call, but at most one for every 150 rows of the rarest class and as
        many as keep all sums below some 600 megabytes; if that gives fewer than sixteen leaves, the
        table is not split. Set a number if the first rows are only a small part of all, as in
        `fit_batches` and `partial_fit`.
    n_landmarks : int or "auto", default="auto"
        The number of rows that the kernel compares with, in each leaf. "auto" is 300, but 400 in
        leaves and from 10 000 rows on, and 800 with more than two classes. A fit of n rows costs
        about n·h² operations, where h is the number of landmarks plus that of the codes that make
        the effects of columns (usually up to 200).
    {categorical_features}
    {priors, costs}
    {n_jobs}
    random_state : int, RandomState instance or None, default=None
        Seeds the hash that chooses sampled rows and folds.
    {verbose}

    Attributes
    ----------
    {classes_}
    feature_map_ : FeatureMap
        Leaves, and the features and the pilot of each; drawn once and frozen.
    summary_ : Summary
        The sums of the rows seen in training, by leaf and fold: all that is kept of them, apart
        from what is in `feature_map_` (landmarks, and the sample described in the notes below).
    machine_ : Machine
        The solved and calibrated weights of all leaves.
    thresholds_ : ndarray of shape (1,)
        The log-odds at which the decision changes.
    divergence_ : float
        Cauchy–Schwarz divergence of the two Gaussians below.
    means_, variances_ : ndarray of shape (2,)
        Two Gaussians whose log-ratio is the log-odds themselves. Their variance is the mean of the
        variances of both classes among held-out rows.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        How far exchanging a column's values between rows moves the probabilities of equally
        frequent classes, on average over held-out rows, as a share of all columns; they sum to one.
    {columns seen}

    See Also
    --------
    EEMClassifier : The paper's classifier on random neurons, with all its settings.
    EEKMClassifier : The paper's classifier on a kernel, with all its settings.

    Notes
    -----
    The leaves, the landmarks, the weights of columns, a first fit of all weights (the pilot) and a
    sample of up to 2000 rows of each class are frozen by the first call of `fit`, `partial_fit` or
    `fit_batches`. What follows is one step of Newton's method from the pilot, which needs only
    sums. Predictions are calibrated on the sample, where each row is predicted by weights from the
    folds that it is not in.

    `EEMClassifier` and `EEKMClassifier` are the paper's models. This classifier shares landmarks,
    sums over rows and decisions with them; *How it works* in the user guide has its formulas.

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

    _spec: ClassVar[type[TableSpec]] = TableSpec
    settings: ClassVar[DrawingSettings] = replace(
        DRAWING, features=replace(FEATURES, most_of_value=0.05)
    )
    _has_one_leaf: ClassVar[bool] = False
    _cure_of_degenerate: ClassVar[str] = (
        "The columns carry no information about the classes. Check that labels belong to their "
        "rows, or add columns that tell the classes apart."
    )
    _of_one_row: ClassVar[str] = "nothing shows how its rows differ"
    _of_few_rows: ClassVar[str] = "probabilities are not calibrated on rows that were held out"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_leaves": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        **{
            name: EntropyClassifier._parameter_constraints[name]
            for name in (
                *("categorical_features", "priors", "costs"),
                *("n_jobs", "random_state", "verbose"),
            )
        },
    }

    def __init__(
        self,
        *,
        n_leaves: int | Literal["auto"] = "auto",
        n_landmarks: int | Literal["auto"] = "auto",
        categorical_features: Any = "from_dtype",
        priors: Priors = "empirical",
        costs: Costs | None = "balanced",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_leaves = n_leaves
        self.n_landmarks = n_landmarks
        self.categorical_features = categorical_features
        self.priors: Priors = priors
        self.costs = costs
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def predict_set(self, X: Any, coverage: float = 0.95) -> Array:
        """Predict, for each row, the set of classes that cannot be ruled out.

        On average, at least a share of `coverage` of the new rows of each class have their class in
        the set, provided that new rows are like those seen in training (conformal prediction by
        class, from held-out rows). A set may hold several classes if a row is hard to classify, or
        none if it is unlike all classes.

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
        return solve_steps(phi, summary, log_priors, log_costs, execute)
