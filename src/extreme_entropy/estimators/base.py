"""The base of all classifiers: rows ↦ φ and summary ↦ machine ↦ answers, as scikit-learn asks.

`fit` shows the whole way from top to bottom. What was learnt is kept as frozen values that are
replaced whole, so that a call that fails leaves the classifier as it was. The machine is solved
when it is first needed, so that many `partial_fit`s cost one solve.
"""

from __future__ import annotations

import copy
from dataclasses import fields, replace
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..columns.statistics import N_FOLDS
from ..drawing.sampling import Sampled
from ..engines.threads import FEW_SLICES, Threads, one_blas_thread
from ..errors import (
    DegenerateWarning,
    FewRowsWarning,
    ForcedWarning,
    ForgetError,
    IncompleteError,
    InputError,
    MergeError,
    warn,
)
from ..features.feature_map import FeatureMap, same
from ..machine.machine import Machine
from ..machine.predictor import Answer, Predictor
from ..machine.solving import ONE_ROW, Method, solve
from ..moments.summary import ClassCounts, Summary
from ..progress import with_progress
from .arrow import batches_of
from .batches import CheckedBatches, gathered, rows_worth_a_merge
from .checkpoint import Checkpoint, NoCheckpoint
from .inputs import (
    Columns,
    Costs,
    Priors,
    check_x,
    classes_of,
    columns_of,
    fitted_columns,
    labels_to_expect,
    log_priors_and_costs,
    on_numpy,
    set_columns,
)
from .mixin import EstimatorMixin
from .notebook import html_of, mime_bundle
from .schema import check_machine, require
from .tables import (
    InMemory,
    Table,
    answer_block,
    as_table,
    count_correct,
    engine_for,
    explain_block,
    in_blocks,
    name_of_answer,
)
from .turns import in_turn

Array = np.ndarray[Any, Any]

DIGITS = 1e-6  # of the weight of all rows, that rounding may have taken from it
FEW_FIRST_ROWS = 100  # a φ drawn from fewer costs AUC: on mammography 0.87 from 10, 0.91 from all


class Learned(NamedTuple):
    """What a classifier has learned; it is replaced whole, so that no thread sees a part of it."""

    classes: Array
    feature_map: FeatureMap
    summary: Any  # a Summary; of a slim classifier ClassCounts
    is_twin: bool = False  # φ and classes are another classifier's, and stay


class Solved(NamedTuple):
    """A solved machine, and what it was solved from."""

    learned: Learned
    predictor: Predictor


class EntropyClassifier(EstimatorMixin):
    """Base of all classifiers of Extreme Entropy Machines: everything but what φ is."""

    # Set by the constructors of the classifiers, or fixed by them.
    categorical_features: Any
    scale: str | None
    relevance: str
    shrinkage: str | float | None
    ridge: float | str
    decision: str
    priors: Priors
    costs: Costs | None
    n_jobs: int | None
    random_state: Any
    # Set by learning.
    n_features_in_: int
    feature_names_in_: Array
    _learned: Learned
    _solved: Solved | None = None  # until a machine is first needed

    _cure_of_degenerate: ClassVar[str] = (
        "Either the features carry no information, or the neurons are saturated: all rows have the "
        "same outputs, as with activation='sig' on many columns. "
        "Try another activation or scale, such as the default ones."
    )
    # What φ is: a specification whose fields are parameters of the classifier.
    _spec: ClassVar[Any]
    _has_one_leaf: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "scale": [StrOptions({"minmax", "standard", "quantile"}), None],
        "relevance": [StrOptions({"auto", "learned", "uniform"})],
        "shrinkage": [
            StrOptions({"ledoit-wolf", "oas"}),
            Interval(Real, 0, 1, closed="both"),
            None,
        ],
        "ridge": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "decision": [StrOptions({"paper", "cross-fitted"})],
        "priors": [StrOptions({"balanced", "empirical"}), dict, "array-like"],
        "costs": [dict, "array-like", None],
        "n_jobs": [
            Interval(Integral, None, -1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
        "random_state": ["random_state"],
    }

    # ---------------------------------------------------------------- learning

    @in_turn
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw φ, add up the rows and solve for β.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows to learn from. float32 is worked on in single precision. Blocks of a Dask
            collection or Ray Dataset and partitions of a Spark DataFrame are worked on where they
            lie.
        y : array-like or Dask collection of shape (n_samples,), or str
            Labels of two or more classes; where X is a Spark DataFrame or Ray Dataset, the name of
            the column that holds them. So it is with `sample_weight`.
        sample_weight : array-like or Dask collection of shape (n_samples,), optional
            A weight counts as repetition of the row: 2 is the row twice, 0 is no row. Weights
            below one say how much rows count beside each other: all of 1/n are as all of 1.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._validate_params()
        twin = self._learned if self.is_twin else None
        table = as_table(self, X, y, sample_weight, reset=twin is None)
        classes = classes_of(table.labels) if twin is None else twin.classes
        log_priors_and_costs(self.priors, self.costs, classes)  # raises before the pass
        n_folds = self._n_folds(None if twin is None else twin.summary)
        if twin is None:
            spec = self.specification()
            feature_map = spec.draw(Sampled.of(table, self.random_state, [spec], classes))
        else:
            feature_map = twin.feature_map
        summary = table.learn(feature_map, classes, n_folds)
        learner = copy.copy(self).set_fitted(table.columns, classes, feature_map, summary)
        if summary.counts.any(axis=1).all():  # a twin's rows may lack classes
            learner._solve()
        return self._become(learner)

    @in_turn
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows, as if they had been there from the start.

        φ and the scaling are frozen by the first rows seen; let those be typical. Afterwards the
        classifier equals one `fit` on all rows so far with that φ, whatever the batches. Several
        threads can call this at once: the calls wait for each other.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`. A batch may lack classes.
        classes : array-like, optional
            All labels that will ever come. Needed in the first call if its `y` lacks some.

        Returns
        -------
        self
            The classifier with the rows learnt.
        """
        self._validate_params()
        fresh = not hasattr(self, "feature_map_")
        self._check_sums()
        self._learn(as_table(self, X, y, sample_weight, reset=fresh), classes)
        rows = self.summary_.effective_rows.sum()
        if fresh and rows < FEW_FIRST_ROWS:
            warn(
                f"The feature map was drawn from the {rows:g} rows of the first partial_fit, and "
                f"stays as it is. Start with at least {FEW_FIRST_ROWS} typical rows, or use "
                "fit_batches, which gathers enough of them first.",
                FewRowsWarning,
            )
        return self

    @in_turn
    def fit_batches(
        self,
        batches: Any,
        *,
        target: str | None = None,
        classes: Any = None,
        progress: bool = False,
        checkpoint: str | Path | None = None,
        every: int = 100,
    ) -> Self:
        """Fit in one pass over batches of rows, for data that never fit in memory.

        φ and the scaling are drawn from the first 16 384 rows (or the first batch, if it is
        larger); from there on only sums are kept. Small batches are put together, so that their
        size costs nothing.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight), or a source of columns
            Each as for `fit`. A batch may be empty or lack classes. A pyarrow dataset, table or
            record batch reader, a data frame, a LazyFrame of polars or a relation of DuckDB is
            read batch by batch, a few of them ahead.
        target : str, optional
            The column of such a source that holds the labels; all others are features.
        classes : array-like, optional
            All labels that will ever come. Needed if the first 16 384 rows lack some.
        progress : bool, default=False
            Show a progress bar. Needs the extra `progress`.
        checkpoint : path-like, optional
            A file that keeps what was learnt so far, and is removed when the fit is done. Killed
            at any moment and started again with the same batches, the fit goes on after the last
            checkpoint, and ends with the same classifier to the last bit.
        every : int, default=100
            Batches between checkpoints.

        Returns
        -------
        self
            The fitted classifier.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from extreme_entropy import EEMClassifier
        >>> X, y = make_classification(1000, random_state=0)
        >>> def batches():  # in practice: read from a file or a database
        ...     for start in range(0, 1000, 100):
        ...         yield X[start : start + 100], y[start : start + 100]
        >>> classifier = EEMClassifier(50, random_state=0).fit_batches(batches())
        >>> classifier.score(X, y) > 0.9
        True
        """
        self._validate_params()
        learner = clone(self)
        saved = NoCheckpoint() if checkpoint is None else Checkpoint(checkpoint, every)
        saved.restore(learner)
        batches = batches_of(batches, target)
        given = CheckedBatches(learner, with_progress(batches) if progress else batches)
        enough = partial(rows_worth_a_merge, learner)
        for X, y, weight in gathered(saved.not_yet_counted(given), enough):
            learner._learn(InMemory(given.columns, X, y, weight, self.n_jobs), classes)
            saved.keep(learner)
        if not hasattr(learner, "feature_map_"):
            raise InputError("There must be rows to learn from; `batches` held none.")
        learner._solve()
        saved.remove()
        return self._become(learner)

    @in_turn
    def forget(self, X: Any, y: Any, sample_weight: Any = None, *, force: bool = False) -> Self:
        """Unlearn rows: the sums become what they would be had the rows never come.

        φ stays as drawn, and so does what it keeps of rows: see `redraw`. Only rows that were
        learnt can be forgotten. Others are refused, and nothing changes: all others where the
        classifier has learnt up to 262 144 distinct rows, and where it has learnt more, k rows
        that it never learnt are noticed with probability 1 − (1 − s)^k, where s is the share of
        rows that it can look up, 131 072 or more.

        Parameters
        ----------
        X, y, sample_weight
            Rows learnt before, as for `fit`.
        force : bool, default=False
            Subtract the rows although they were not found among those learnt, say because their
            values have been rounded since. If they were not learnt, the classifier becomes wrong.

        Returns
        -------
        self
            The classifier without the rows.
        """
        check_is_fitted(self)
        self._check_sums()
        table = as_table(self, X, y, sample_weight, reset=False)
        part = table.learn(self.feature_map_, self.classes_, self._n_folds(self.summary_))
        unknown = self.summary_.rows.lacks(part.rows)
        if (unknown and not force) or (part.cells > self.summary_.most).any():
            which = f"at least {unknown}" if unknown else "some"
            raise ForgetError(
                f"You can only forget rows that were learnt; {which} of the rows passed were "
                "never learnt, or not with that weight. Nothing was changed. Pass the same rows, "
                "labels and weights that you passed to fit or partial_fit."
            )
        if unknown:
            warn(
                f"At least {unknown} of these rows were not found among those learnt, and were "
                "taken out all the same. If they were never learnt, the classifier is wrong now.",
                ForcedWarning,
            )
        rest = self.summary_ - part
        lost = rest.rows.lost(rest.counts) - self.summary_.rows.lost(self.summary_.counts)
        if not unknown and lost > DIGITS * max(rest.counts.sum(), 1.0):
            raise ForgetError(
                f"Rows to be forgotten must not outweigh all others; they weigh "
                f"{part.counts.sum():g}, and sums with them have lost a weight of {lost:g} of the "
                "others. Nothing was changed. Fit anew on the rows that remain: redraw."
            )
        return self._become_learned(self._learned._replace(summary=rest))

    @in_turn
    def redraw(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit anew on these rows alone: a new φ, new sums, nothing left of any other row.

        `forget` leaves φ as it was drawn: ranges and quantiles of columns, categories and how they
        go with the classes, landmarks, weights of columns, cuts between leaves, and the rows kept
        for probabilities are still those of the rows that φ was drawn from. Where no trace of a row
        may be left, give all other rows to this method. It equals `fit` of a new classifier; the
        `fit` of a twin would keep φ.

        Parameters
        ----------
        X, y, sample_weight
            All rows to learn from, as for `fit`.

        Returns
        -------
        self
            The classifier, as if just made and fitted on these rows.
        """
        self.__dict__ = self._unfitted().fit(X, y, sample_weight).__dict__
        return self

    @in_turn
    def merge(self, other: EntropyClassifier, *, force: bool = False) -> Self:
        """Add everything another classifier has learnt to this one.

        Both must have the same φ: make the other one with `twin()`. `a + b` does the same without
        changing either.

        Parameters
        ----------
        other : classifier of the same kind
            A twin of this one, fitted on other rows.
        force : bool, default=False
            Merge even if this classifier has already learnt rows of the other one; they then count
            twice.

        Returns
        -------
        self
            This classifier, as if fitted on the rows of both.
        """
        for classifier in (self, other):
            check_is_fitted(classifier)
            classifier._check_sums()
        mine, theirs = self._learned, other._learned  # once: another thread may change the other
        if type(self) is not type(other) or not same(mine.feature_map, theirs.feature_map):
            raise MergeError(
                "Classifiers can be merged only if they share φ (the same neurons and scaling); "
                "these two were drawn apart. Make one of them with `other = classifier.twin()` "
                "and fit that on its rows."
            )
        if not np.array_equal(mine.classes, theirs.classes):
            raise MergeError(
                f"Classifiers can be merged only if they know the same classes; one knows "
                f"{mine.classes.tolist()}, the other {theirs.classes.tolist()}. "
                "Pass all `classes` to the first partial_fit."
            )
        if mine.summary.n_folds != theirs.summary.n_folds:
            raise MergeError(
                "Classifiers can be merged only if both have the same `decision`; "
                f"one has {self.decision!r}, the other {other.decision!r}."
            )
        shared = mine.summary.rows.share_of(theirs.summary.rows, certain=True)
        if shared and not force:
            raise MergeError(
                f"{100 * shared:.3g} % of the other classifier's rows have already been learnt by "
                "this one and would count twice. Nothing was changed. Merge each part once; if "
                "these are different rows that happen to be equal, use merge(other, force=True)."
            )
        return self._become_learned(mine._replace(summary=mine.summary + theirs.summary))

    def __add__(self, other: EntropyClassifier) -> Self:
        if not isinstance(other, EntropyClassifier):
            return NotImplemented
        return copy.copy(self).merge(other)

    def __radd__(self, other: Any) -> Self:
        # `sum(parts)` begins with 0.
        return copy.copy(self) if isinstance(other, int) and other == 0 else NotImplemented

    def twin(self) -> Self:
        """An empty classifier with the same φ and classes, to be fitted elsewhere and merged.

        Returns
        -------
        classifier
            Its `fit` and `partial_fit` keep φ, and may see only some of the classes.
        """
        check_is_fitted(self)
        self._check_sums()
        twin = self._unfitted()
        columns = columns_of(fitted_columns(self), self.feature_map_.encoding.kinds)
        twin.set_fitted(columns, self.classes_, self.feature_map_, self.summary_.emptied())
        return twin._become_learned(twin._learned._replace(is_twin=True))

    def slim(self) -> Self:
        """The classifier for predictions alone, without its sums.

        It answers as this one does, under any costs and priors, and takes a small part of its
        memory and of its place in a file. It cannot learn, merge or forget. An
        `ExtremeEntropyClassifier` also leaves out the rows that it keeps for probabilities;
        landmarks stay.

        Returns
        -------
        classifier
            A new fitted classifier; this one is unchanged.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from extreme_entropy import EEMClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> classifier = EEMClassifier(50, random_state=0).fit(X, y)
        >>> slim = classifier.slim()
        >>> bool((slim.predict_proba(X) == classifier.predict_proba(X)).all())
        True
        """
        other = self._as_it_is()
        (classes, phi, summary, _), predictor = other._solve()
        phi = phi.without_rows()
        other._learned = Learned(classes, phi, ClassCounts(summary.counts.sum(axis=1)))
        predictor = Predictor(phi, predictor.machine, classes)
        other._solved = Solved(other._learned, predictor)
        return other

    def _check_sums(self) -> None:
        """Raise if there are no sums to add to or to take from."""
        if isinstance(getattr(self, "summary_", None), ClassCounts):
            raise InputError(
                "Rows can be learnt, merged and forgotten only where sums are kept; this "
                "classifier was made by slim(), or saved with sums=False, for predictions alone. "
                "Use the classifier it was made from."
            )

    def set_params(self, **params: Any) -> Self:
        """Set parameters, which act from the next fit on.

        What was fitted stays as it is; `with_costs` gives it other costs and priors.

        Parameters
        ----------
        **params : dict
            Parameters of the constructor.

        Returns
        -------
        self
            The classifier.
        """
        fitted = hasattr(self, "summary_")
        if params and fitted and self.summary_.counts.any(axis=1).all():
            self._solve()  # with the parameters that its rows were learnt with
        return super().set_params(**params)

    def _unfitted(self) -> Self:
        """A classifier with the same parameters that has learnt nothing."""
        return super().__sklearn_clone__()

    def __sklearn_clone__(self) -> Self:
        """A twin's clone is a twin: it keeps φ."""
        return self.twin() if self.is_twin else self._unfitted()

    def specification(self) -> Any:
        """What φ is drawn from, as far as it is a matter of parameters."""
        return self._spec(**{f.name: getattr(self, f.name) for f in fields(self._spec)})

    def set_fitted(
        self,
        columns: Columns,
        classes: Array,
        feature_map: FeatureMap,
        summary: Summary,
    ) -> Self:
        """Become the classifier that has learnt `summary` under `feature_map`.

        Parameters
        ----------
        columns : Columns
            Number of columns, and their names if they have some.
        classes : ndarray of shape (n_classes,)
            Labels, sorted.
        feature_map : FeatureMap
            φ.
        summary : Summary
            The sums of φ of the rows learnt, by class and fold.

        Returns
        -------
        self
            The classifier.
        """
        set_columns(self, columns)
        return self._become_learned(Learned(classes, feature_map, summary, self.is_twin))

    def _become_learned(self, learned: Learned) -> Self:
        self._learned = learned
        self._solved = None  # which holds the sums that it was solved from
        return self

    def fitted_parts(self, *, solved: bool = True) -> dict[str, Any]:
        """All that was learnt, by name: what a file holds.

        Parameters
        ----------
        solved : bool, default=True
            With the machine, if that can be solved.

        Returns
        -------
        dict
            Plain values, arrays and frozen dataclasses, for `set_fitted_parts`.
        """
        solved &= bool(self.summary_.counts.any(axis=1).all())
        return {
            **fitted_columns(self),
            "feature_map_": self.feature_map_,
            "summary_": self.summary_,
            "is_twin": self.is_twin,
            "machine": self.machine_ if solved else None,
        }

    def set_fitted_parts(self, parts: dict[str, Any]) -> Self:
        """Become fitted; ValueError unless these are the parts of one such classifier.

        Parameters
        ----------
        parts : dict
            From the `fitted_parts` of another classifier of this kind.

        Returns
        -------
        self
            The fitted classifier.
        """
        check_machine(parts, one_leaf=self._has_one_leaf)
        phi, classes, machine = (parts[name] for name in ("feature_map_", "classes_", "machine"))
        log_priors_and_costs(self.priors, self.costs, classes)
        self.set_fitted(columns_of(parts, phi.encoding.kinds), classes, phi, parts["summary_"])
        self._become_learned(self._learned._replace(is_twin=parts["is_twin"]))
        if machine is not None:
            predictor = Predictor(phi, machine, classes)
            with np.errstate(all="ignore"):
                projection = predictor.project(phi.encoding.typical[np.newaxis])
                total = float(predictor.answer("probability", projection).sum())
            require(abs(total - 1) < 1e-6, "the probabilities of a typical row", "1 in all", total)
            self._solved = Solved(self._learned, predictor)
        return self

    def _become(self, learner: Self) -> Self:
        """Take over all that another one has learnt, once nothing can fail any more."""
        own = {name: value for name, value in vars(self).items() if name != "feature_names_in_"}
        self.__dict__ = own | vars(learner)  # in one step, so that no thread sees a part of it
        return self

    def _as_it_is(self) -> Self:
        """This classifier now, solved, whatever other threads make of it meanwhile."""
        view = object.__new__(type(self))
        view.__dict__ = self.__dict__.copy()
        solved = view._solve()
        if vars(self).get("_learned") is solved.learned:
            self._solved = solved
        return view

    def _learn(self, table: Table, classes: Any) -> Self:
        """Add rows to what is known; the first ones draw φ."""
        known, summary = getattr(self, "classes_", None), getattr(self, "summary_", None)
        known = labels_to_expect(known, classes, lambda: table.labels)
        log_priors_and_costs(self.priors, self.costs, known)  # raises before the pass
        n_folds = self._n_folds(summary)
        feature_map = getattr(self, "feature_map_", None)
        if feature_map is None:
            spec = self.specification()
            feature_map = spec.draw(Sampled.of(table, self.random_state, [spec], known))
        part = table.learn(feature_map, known, n_folds)
        with one_blas_thread():
            total = part if summary is None else summary + part
        return self.set_fitted(table.columns, known, feature_map, total)

    def _n_folds(self, summary: Summary | None) -> int:
        """How many folds rows are kept in; decided by the first rows, as φ is."""
        wanted = N_FOLDS if self.decision == "cross-fitted" or self.ridge == "auto" else 1
        if summary is None:
            return wanted
        if summary.n_folds < wanted:
            raise InputError(
                "decision='cross-fitted' and ridge='auto' must be set before the first rows are "
                "learnt, since sums are kept by fold for them; this classifier has learnt rows "
                "without folds. Fit a new one, or set decision='paper' and a numeric ridge."
            )
        return summary.n_folds

    # ---------------------------------------------------------------- deciding

    def project(self, X: Any) -> Array:
        """βᵀφ(x): the projection of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_pairs) with more than two classes
            Projections; with more classes one column for each pair of classes.
        """
        return self._answer(X, "projection")

    def decision_function(self, X: Any) -> Array:
        """Log-odds of the second class, costs and priors included; ln(C p) with more classes.

        With more classes and a matrix of costs it is minus the logarithm of the expected cost.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            Positive means the second class; with more classes the largest column wins.
        """
        return self._answer(X, "decision")

    def predict(self, X: Any) -> Array:
        """The class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        return self._answer(X, "label")

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of `predict_proba`, exact even where probabilities round to 0 or 1.

        Rank rows by this or by `decision_function`: both still differ between rows whose
        probabilities round to 1.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        return self._answer(X, "log probability")

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class under the priors. Costs do not change probabilities.

        With the default, `priors="balanced"`, classes are taken for equally frequent, and a rare
        class gets probabilities far above its frequency: their Brier score is often worse than that
        of a constant. `with_costs(priors="empirical")` makes them match frequencies, without
        refitting.

        To rank rows, use `decision_function` or `predict_log_proba`: probabilities within about
        1e-16 of 1 round to 1, which makes those rows tie.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`; rows sum to one.
        """
        return self._answer(X, "probability")

    def explain(self, X: Any) -> Array:
        """What each column adds to the decision about each row, compared with a typical row.

        The contributions of a row sum to its `decision_function` minus that of the typical row,
        which is the median of the rows that the feature map was drawn from. They are integrated
        gradients along the straight line, in scaled columns, from the typical row to the row.
        Costs do not change them; neither do priors with two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or (n_samples, n_classes, n_features) with more \
than two classes
            In units of log-odds; positive speaks for the second class. With more classes, one
            contribution to each column of `decision_function`; lazy where X is.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from extreme_entropy import EEMClassifier
        >>> data = load_breast_cancer()
        >>> classifier = EEMClassifier(50, random_state=0).fit(data.data, data.target)
        >>> contributions = classifier.explain(data.data[:2])
        >>> contributions.shape
        (2, 30)
        >>> typical = classifier.decision_function(data.data[:2]) - contributions.sum(axis=1)
        >>> bool(abs(typical[0] - typical[1]) < 1e-9)  # the score of the typical row
        True
        """
        view = self._as_it_is()
        predictor, engine = view._solve().predictor, engine_for(X)
        if engine is None:
            with one_blas_thread():
                return predictor.explain(check_x(view, X), Threads(self.n_jobs))
        table = in_blocks(view, engine(X, None, None), reset=False)
        shared = table.dtype, table.columns, predictor
        nothing = predictor.explain(np.zeros((1, table.columns.n)))[:0]
        return table.blocks.each(explain_block, *shared, like=nothing, name="contributions")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            Accuracy; for rare classes see `gmean_score`.
        """
        engine = engine_for(X)
        if engine is None:
            with on_numpy():
                return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))
        table = in_blocks(self, engine(X, y, sample_weight), reset=False)
        correct, total = table.add_up(count_correct, self._solve().predictor)
        return float(correct / total)

    def with_costs(self, costs: Costs | None = None, *, priors: Priors | None = None) -> Self:
        """The same classifier under other costs and priors, at once and without data.

        Only the thresholds move; β and the Gaussians stay.

        Parameters
        ----------
        costs : dict of label to cost, or matrix, optional
            Cost of misclassifying a row of that label. Labels left out cost 1. Where it matters
            what a row is taken for, a dict of dicts, `{true: {predicted: cost}}`, or an array of
            shape (n_classes, n_classes) in the order of `classes_`, true classes down.
        priors : optional
            As in the constructor; None keeps those that decide at present.

        Returns
        -------
        classifier
            A new fitted classifier; this one is unchanged.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from extreme_entropy import EEMClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> classifier = EEMClassifier(30, random_state=0).fit(X, y)
        >>> careful = classifier.with_costs({2: {1: 20}})  # 2 taken for 1; other mistakes cost 1
        >>> int((careful.predict(X) == 2).sum() - (classifier.predict(X) == 2).sum()) > 0
        True
        """
        other = self._as_it_is()
        learned, predictor = other._solve()
        other.costs = costs
        other.priors = self.priors if priors is None else priors
        other._validate_params()
        counts = learned.summary.counts.sum(axis=1)
        terms = log_priors_and_costs(other.priors, other.costs, learned.classes, counts)
        if priors is None:  # set_params may have changed those of the next fit
            terms = terms._replace(log_priors=predictor.machine.log_priors)
        machine = predictor.machine.with_priors_and_costs(*terms)
        other._solved = Solved(learned, replace(predictor, machine=machine))
        return other

    def _solve(self) -> Solved:
        """The solved machine with its φ; solved now, if it was not before."""
        if not hasattr(self, "_learned"):
            check_is_fitted(self)  # raises; it takes as long as a small prediction
        learned, solved = self._learned, self._solved
        if solved is not None and solved.learned is learned:
            return solved
        counts = learned.summary.counts.sum(axis=1)
        if not counts.all():
            raise IncompleteError(
                f"Every class needs rows before there can be a prediction; "
                f"{learned.classes[counts == 0].tolist()} has none yet. "
                "Learn rows of it with partial_fit, or merge a classifier that has."
            )
        terms = log_priors_and_costs(self.priors, self.costs, learned.classes, counts)
        with one_blas_thread():
            machine = self._machine(learned, terms.log_priors, terms.log_costs)
        machine = machine.with_priors_and_costs(*terms)
        predictor = Predictor(learned.feature_map, machine, learned.classes)
        # Another thread may have learned more rows by now; then this will be solved again.
        self._solved = solved = Solved(learned, predictor)
        if machine.diagnostics:
            self._warn(machine.diagnostics, learned)
        return solved

    def _machine(self, learned: Learned, log_priors: Array, log_costs: Array) -> Machine:
        """The solved machine of all sums."""
        method = Method(self.shrinkage, self.ridge, self.decision == "cross-fitted")
        execute = Threads(self.n_jobs, ahead=FEW_SLICES)
        return solve(learned.summary.leaves[0], method, log_priors, log_costs, execute)

    def _answer(self, X: Any, kind: Answer) -> Any:
        """A prediction for each row: at once, or lazily where X lies in blocks."""
        view = self._as_it_is()
        predictor, engine = view._solve().predictor, engine_for(X)
        if engine is None:
            execute = Threads(self.n_jobs, ahead=FEW_SLICES)
            with one_blas_thread():
                return predictor.answer(kind, predictor.project(check_x(view, X), execute))
        table = in_blocks(view, engine(X, None, None), reset=False)
        shared = table.dtype, table.columns, predictor, kind
        nothing = predictor.answer(kind, np.zeros((1, len(predictor.machine.pairs))))[:0]
        return table.blocks.each(answer_block, *shared, like=nothing, name=name_of_answer(kind))

    def _warn(self, diagnostics: tuple[str, ...], learned: Learned) -> None:
        rows = learned.summary.effective_rows
        if "degenerate" in diagnostics:
            warn(
                "Two classes have the same mean in feature space, so that they cannot be "
                "separated and the prediction is constant (probabilities are the priors). "
                + self._cure_of_degenerate,
                DegenerateWarning,
            )
        if "one row" in diagnostics:
            warn(
                f"Class {learned.classes[rows <= ONE_ROW].tolist()} has one row only; its "
                "covariance is taken as 0, and the other classes decide the projection. "
                "Expect little of this class until it has more rows.",
                FewRowsWarning,
            )
        elif "not cross-fitted" in diagnostics:
            warn(
                "A class has too few distinct rows to be held out (the rarest has "
                f"{rows.min():g} rows, with those that repeat others), so the Gaussians of its "
                "training rows decide, as with decision='paper'.",
                FewRowsWarning,
            )

    # ---------------------------------------------------------------- what was fitted

    @property
    def classes_(self) -> Array:
        """Labels, sorted."""
        return self._of_learned("classes")

    @property
    def feature_map_(self) -> FeatureMap:
        """φ, drawn once and frozen."""
        return self._of_learned("feature_map")

    @property
    def summary_(self) -> Any:
        """The sums of the rows, by class and fold."""
        return self._of_learned("summary")

    @property
    def is_twin(self) -> bool:
        """Whether φ and classes are another classifier's, and stay."""
        return hasattr(self, "_learned") and self._learned.is_twin

    def _of_learned(self, name: str) -> Any:
        if not hasattr(self, "_learned"):
            raise AttributeError(
                f"This {type(self).__name__} has no {name}_ until it is fitted; call fit first."
            )
        return getattr(self._learned, name)

    @property
    def machine_(self) -> Machine:
        """The solved machine: operators, Gaussians, shrinkage, priors and costs."""
        return self._solve().predictor.machine

    @property
    def beta_(self) -> Array:
        """β on φ(x), (h,); with more than two classes one row for each pair."""
        return self._by_pair(self.machine_.leaves[0].operators)

    @property
    def thresholds_(self) -> Any:
        """Projections at which the decision changes: an array of none, one or two."""
        return self._by_pair(self.machine_.thresholds)

    @property
    def shrinkage_(self) -> Array:
        """ε of each class."""
        return self.machine_.leaves[0].shrinkage

    @property
    def ridge_(self) -> Any:
        """What was added to the diagonal of Σ: `ridge`, or what "auto" chose."""
        return self._by_pair(self.machine_.leaves[0].ridges)

    @property
    def divergence_(self) -> Any:
        """D_CS of the two Gaussians of projections."""
        return self._by_pair(self.machine_.divergences)

    @property
    def means_(self) -> Array:
        """Means of the two Gaussians of projections, in the order of `classes_`."""
        return self._by_pair(np.array([curve.means for curve in self.machine_.curves]))

    @property
    def variances_(self) -> Array:
        """Variances of the two Gaussians of projections, in the order of `classes_`."""
        return self._by_pair(np.array([curve.variances for curve in self.machine_.curves]))

    @property
    def feature_importances_(self) -> Array:
        """How much each column of X matters, where relevance was learned; they sum to one."""
        check_is_fitted(self)
        weights = self.feature_map_.relevance
        if weights is None:
            raise AttributeError(
                "feature_importances_ needs relevance='learned'; this classifier was fitted with "
                "relevance='uniform', which takes all columns alike."
            )
        encoding = self.feature_map_.encoding
        shares = np.bincount(encoding.origins, weights=weights**2, minlength=encoding.d)
        return shares / shares.sum()

    def _by_pair(self, values: Any) -> Any:
        return values[0] if len(self.classes_) == 2 else values

    # ---------------------------------------------------------------- conventions

    def save(self, path: str | Path | BinaryIO, *, sums: bool = True) -> None:
        """Write the fitted classifier to a file, whole or not at all.

        Parameters
        ----------
        path : path-like or binary file object
            Where to. `extreme_entropy.load(path)` reads it back.
        sums : bool, default=True
            False writes what `slim()` keeps: a small file, for predictions alone.
        """
        from .saving import save  # which knows this class, and so comes after it

        save(self if sums else self.slim(), path)

    def to_onnx(
        self,
        path: str | Path,
        *,
        dtype: Literal["float64", "float32"] = "float64",
        columns: bool | None = None,
    ) -> None:
        """Write the fitted classifier as an ONNX model, which runs without Python.

        Scaling, features, leaves, priors and costs are part of the model, and so are gaps, dates
        and text where the classifier was fitted on some. It has two outputs, `label` and
        `probabilities`, which are those of `predict` and `predict_proba`. Needs the extra `onnx`.

        Parameters
        ----------
        path : path-like
            Where to. The file is written whole or not at all.
        dtype : {"float64", "float32"}, default="float64"
            Precision of inputs, features and probabilities. Single precision halves the file.
        columns : bool, optional
            Whether each column is an input of its own, of shape (rows, 1) and with the name of the
            column; otherwise all of them are one matrix `X`. By default they are where some hold
            text or dates. Columns that the classifier left out are no inputs then.

        See Also
        --------
        extreme_entropy.register_skl2onnx : Convert pipelines.

        Notes
        -----
        A missing number is NaN, and a missing text the empty string. Dates are seconds since 1970
        by the clock of their place, always in double precision.

        Examples
        --------
        >>> import tempfile
        >>> import onnxruntime
        >>> from sklearn.datasets import load_iris
        >>> from extreme_entropy import EEMClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> classifier = EEMClassifier(30, random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     classifier.to_onnx(Path(folder) / "iris.onnx")
        ...     session = onnxruntime.InferenceSession(Path(folder) / "iris.onnx")
        >>> label, probabilities = session.run(None, {"X": X})
        >>> bool((label == classifier.predict(X)).all())
        True
        >>> bool(abs(probabilities - classifier.predict_proba(X)).max() < 1e-6)
        True
        """
        from ..export.model import onnx_model, write_onnx  # which need the extra

        names = getattr(self, "feature_names_in_", None)
        write_onnx(path, partial(onnx_model, self._solve().predictor, names, dtype, columns))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learned")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _html_repr(self) -> str:
        return html_of(self)

    # scikit-learn 1.6 does not ask `_html_repr` yet.
    def _repr_html_inner(self) -> str:
        return html_of(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return mime_bundle(self)
