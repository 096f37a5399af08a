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
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import Interval, StrOptions

from ..columns.statistics import N_FOLDS
from ..drawing.sampling import Columns, Sampled
from ..drawing.settings import DRAWING, DrawingSettings
from ..engines.threads import CUTS, Threads, in_turn, one_blas_thread
from ..errors import DegenerateWarning, FewRowsWarning, IncompleteError, InputError, warn
from ..machine.column_importance import importances
from ..machine.machine import Machine, is_one_row
from ..machine.operator import SHRINKAGES
from ..machine.predictor import Answer, Predictor
from ..machine.solving import Method, solve
from ..moments.summary import ClassCounts
from ..progress import ADDING_UP, advance, begin_step, steps_shown, with_progress
from ..shapes import Array
from .batches import BatchSettings, CheckedBatches, batches_of, gathered, stacked
from .checkpoint import Checkpoint
from .combining import Combinable
from .docstrings import with_shared_texts
from .fitted import Learned, Solved
from .inputs import (
    Costs,
    Priors,
    check_priors_and_costs,
    classes_of,
    labels_to_expect,
    log_priors_and_costs,
    on_numpy,
    set_columns,
)
from .tables import InMemory, Table, answer_rows, as_table, engine_for, in_blocks

# What a column with such answers is called.
NAMES: dict[Answer, str] = {
    "projection": "projection",
    "decision": "decision",
    "label": "prediction",
    "probability": "probability",
    "log probability": "log_probability",
}
FEW_FIRST_ROWS = 100  # a φ drawn from fewer costs AUC: on mammography 0.87 from 10, 0.91 from all


@with_shared_texts
class EntropyClassifier(Combinable):
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
    verbose: bool | int
    _cure_of_degenerate: ClassVar[str] = (
        "Either the features carry no information, or the neurons are saturated: all rows have the "
        "same outputs, as with activation='sig' on many columns. "
        "Try another activation or scale, such as the default ones."
    )
    # What follows where a class has one row, and where no rows of it can be held out.
    _of_one_row: ClassVar[str] = (
        "its covariance is taken as 0, and the other classes decide the projection"
    )
    _of_few_rows: ClassVar[str] = (
        "the Gaussians of its training rows decide, as with decision='paper'"
    )
    # What φ is: a specification whose fields are parameters of the classifier, and its settings.
    _spec: ClassVar[Any]
    settings: ClassVar[DrawingSettings] = DRAWING
    _batching: ClassVar[BatchSettings] = BatchSettings()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "scale": [StrOptions({"minmax", "standard", "quantile"}), None],
        "relevance": [StrOptions({"auto", "learned", "uniform"})],
        "shrinkage": [StrOptions(set(SHRINKAGES)), Interval(Real, 0, 1, closed="both"), None],
        "ridge": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "decision": [StrOptions({"paper", "cross-fitted"})],
        "priors": [StrOptions({"balanced", "empirical"}), dict, "array-like"],
        "costs": [StrOptions({"balanced"}), dict, "array-like", None],
        "n_jobs": [
            Interval(Integral, None, -1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    # ---------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier to rows and their labels.

        A twin keeps its feature map; any other classifier forgets what it learnt before.

        Parameters
        ----------
        {rows to learn from}

        Returns
        -------
        self
            The fitted classifier.
        """
        with in_turn(self), steps_shown(self.verbose):
            self._validate_params()
            begin_step("reading rows")
            twin = self._learned if self._learned is not None and self._learned.is_twin else None
            table = as_table(self, X, y, sample_weight, reset=twin is None)
            classes = classes_of(table.labels) if twin is None else twin.classes
            learner = copy.copy(self)
            learner._learned = None if twin is None else twin.emptied()
            learned = learner._learn(table, classes)
            if twin is None or learned.is_complete:  # a twin's rows may lack classes
                learner._solve()
            self.__dict__ = vars(learner)  # in one step, so that no thread sees a part of it
            return self

    def set_fitted(self, columns: Columns, learned: Learned) -> Self:
        """Become the classifier that has learnt this of rows with these columns."""
        set_columns(self, columns)
        self._learned = learned
        self._solved = None  # which holds the sums that it was solved from
        return self

    def _learn(self, table: Table, classes: Array, *, all_rows: bool = True) -> Learned:
        """Add rows, all there are or some of them, to what is known; the first ones draw φ."""
        check_priors_and_costs(self.priors, self.costs, classes)  # raises before the pass
        known, (extent, unit) = self._learned, table.extent
        total = extent if all_rows else None
        n_folds = N_FOLDS if self.decision == "cross-fitted" or self.ridge == "auto" else 1
        if known is not None and known.summary.n_folds < n_folds:
            raise InputError(
                "decision='cross-fitted' and ridge='auto' must be set before the first rows are "
                "learnt, since sums are kept by fold for them; this classifier has learnt rows "
                "without folds. Fit a new one, or set decision='paper' and a numeric ridge."
            )
        if known is None:
            spec = self.specification()
            begin_step("sampling rows")
            sampled = Sampled.of(table, self.random_state, [spec], classes)
            begin_step("choosing features")
            feature_map = spec.draw(sampled)
            begin_step(ADDING_UP, total, unit)
            summary = table.learn(feature_map, classes, n_folds)
            learned = Learned(classes, feature_map, summary)
            absent = classes[~(summary.counts > 0).any(axis=1)]
            if sampled.by_class is not None and len(absent):
                warn(
                    "The feature map is drawn from the first rows, which hold no row of class "
                    f"{absent.tolist()}, so it may hardly tell that class from others, however "
                    "many of its rows follow. Let the first rows hold some of every class; if "
                    "rows are sorted by class, shuffle them.",
                    FewRowsWarning,
                )
        else:
            begin_step(ADDING_UP, total, unit)
            part = table.learn(known.feature_map, classes, known.summary.n_folds)
            learned = known._replace(summary=known.summary + part)
        self.set_fitted(table.columns, learned)
        return learned

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to what the classifier has learnt.

        The first rows fix the feature map φ and the scaling, so pass representative rows first.
        From then on the classifier equals one `fit` on all rows so far with that φ, whatever the
        batches. Several threads can call this at once: the calls wait for each other.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`. A batch may lack classes.
        classes : array-like, optional
            All labels that will ever come. Needed in the first call if its `y` lacks some.

        Returns
        -------
        self
            The classifier, with the rows added.
        """
        with in_turn(self), steps_shown(self.verbose):
            self._validate_params()
            known = None if self._learned is None else self._with_sums().classes
            table = as_table(self, X, y, sample_weight, reset=known is None)
            learned = self._learn(table, labels_to_expect(known, classes, lambda: table.labels))
            rows = learned.summary.effective_rows.sum()
            if known is None and rows < FEW_FIRST_ROWS:
                warn(
                    f"The feature map was drawn from the {rows:g} rows of the first partial_fit, "
                    f"and stays as it is. Start with at least {FEW_FIRST_ROWS} typical rows, or "
                    "use fit_batches, which gathers enough of them first.",
                    FewRowsWarning,
                )
            return self

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
        """Fit in one pass over batches of rows, for data larger than memory.

        The feature map φ and the scaling are drawn from the first 16 384 rows (or the first batch,
        if it is larger); from then on, only sums are kept. Small batches are combined, so their
        size does not matter.

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
            A file that keeps what was learnt so far, and is removed when the fit is done. If the
            fit is killed and you start it again with the same batches, it continues after the last
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
        with in_turn(self), steps_shown(self.verbose):
            self._validate_params()
            learner = clone(self)
            saved = None if checkpoint is None else Checkpoint(checkpoint, every)
            if saved is not None:
                saved.restore(learner)
            batches = batches_of(batches, target, self._batching)
            batches = with_progress(batches) if progress else batches
            checked = CheckedBatches(learner, batches, self._batching)
            enough = partial(self._batching.worth_a_merge, learner)
            left = checked if saved is None else saved.not_yet_counted(checked)
            with_rows = filter(None, left)
            for X, y, weight in gathered(with_rows, lambda batch: len(batch.y), enough, stacked):
                table = InMemory(checked.columns, X, y, weight, self.n_jobs, advance=advance)
                known = None if learner._learned is None else learner._learned.classes
                expected = labels_to_expect(known, classes, partial(np.unique, y))
                learner._learn(table, expected, all_rows=False)
                if saved is not None:
                    saved.keep(learner)
            if learner._learned is None:
                raise InputError("There must be rows to learn from; `batches` held none.")
            learner._solve()
            if saved is not None:
                saved.remove()
            rest = {name: x for name, x in vars(self).items() if name != "feature_names_in_"}
            self.__dict__ = rest | vars(learner)
            return self

    def slim(self) -> Self:
        """Return a smaller copy of the classifier, for predictions only.

        It predicts as this one does, under any costs and priors, and takes far less memory and
        disk space, because it has no sums. It cannot learn, merge or forget. In an
        `ExtremeEntropyClassifier`, the rows kept for probabilities are left out, too; landmarks
        stay.

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
        slim = self._as_it_is()
        (classes, phi, summary, _), predictor = slim._solve()
        if len(phi.held.Z):
            phi = phi.without_rows(importances(predictor))
        slim._learned = Learned(classes, phi, ClassCounts(summary.counts.sum(axis=1)))
        slim._solved = Solved(slim._learned, Predictor(phi, predictor.machine, classes))
        return slim

    def set_params(self, **params: Any) -> Self:
        """Set parameters for the next fit.

        What is already fitted does not change; use `with_costs` for other costs and priors.

        Parameters
        ----------
        **params : dict
            Parameters of the constructor.

        Returns
        -------
        self
            The classifier.
        """
        if params and self._learned is not None and self._learned.is_complete:
            self._solve()  # with the parameters that its rows were learnt with
        return super().set_params(**params)

    def specification(self) -> Any:
        """What φ is drawn from, as far as it is a matter of parameters."""
        names = {f.name: f.metadata.get("parameter", f.name) for f in fields(self._spec)}
        return self._spec(**{name: getattr(self, parameter) for name, parameter in names.items()})

    def _as_it_is(self) -> Self:
        """This classifier now, solved, whatever other threads make of it meanwhile."""
        view = object.__new__(type(self))
        view.__dict__ = self.__dict__.copy()
        solved = view._solve()
        if vars(self).get("_learned") is solved.learned:
            self._solved = solved
        return view

    # ---------------------------------------------------------------- deciding

    def project(self, X: Any) -> Array:
        """Project each row to the number that decides its class, βᵀφ(x).

        Parameters
        ----------
        {X}

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_pairs) with more than two classes
            Projections; with more classes one column for each pair of classes, which in an
            `ExtremeEntropyClassifier` are the first class with each other one.
        """
        return self._answer(X, "projection")

    def decision_function(self, X: Any) -> Array:
        """Score each row for the decision: log-odds of the second class, with costs and priors.

        With more than two classes it is ln(C p / Σ C p), where C are the costs; with a matrix of
        costs, minus the logarithm of the expected cost.

        Parameters
        ----------
        {X}

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            Positive means the second class; with more classes the largest column wins.
        """
        return self._answer(X, "decision")

    def predict(self, X: Any) -> Array:
        """Predict the class of each row, at the present costs and priors.

        Parameters
        ----------
        {X}

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        return self._answer(X, "label")

    def predict_log_proba(self, X: Any) -> Array:
        """Predict the logarithm of the probability of each class.

        It is exact even where probabilities round to 0 or 1. So rank rows by this or by
        `decision_function`.

        Parameters
        ----------
        {X}

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        return self._answer(X, "log probability")

    def predict_proba(self, X: Any) -> Array:
        """Predict the probability of each class under the priors, whatever the costs.

        By default, probabilities match the class frequencies of the rows learnt, while `predict`
        treats all classes alike, so its label need not be the most probable one. To predict the
        most probable one, set `costs=None` or call `with_costs()`.

        To rank rows, use `decision_function` or `predict_log_proba`: probabilities within about
        1e-16 of 1 round to 1, so those rows are tied.

        Parameters
        ----------
        {X}

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`; rows sum to one.
        """
        return self._answer(X, "probability")

    def explain(self, X: Any) -> Array:
        """Explain each decision: what each column adds to it, compared with a typical row.

        The contributions of a row sum to its `decision_function` minus that of the typical row,
        which is the median of the rows that the feature map was drawn from. They are integrated
        gradients along the straight line, in scaled columns, from the typical row to the row.
        With two classes neither costs nor priors change them.

        Parameters
        ----------
        {X}

        Returns
        -------
        ndarray of shape (n_samples, n_features), or (n_samples, n_classes, n_features) with more \
than two classes
            In units of log-odds; positive values speak for the second class. With more classes,
            contributions to each column of `decision_function`. Lazy where X is.

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
        work = partial(_explanations, view._solve().predictor)
        return answer_rows(view, X, work, "contributions")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of rows whose class is predicted correctly.

        Parameters
        ----------
        {X}
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
        correct, total = table.add_up(partial(_count_correct, self._solve().predictor))
        return float(correct / total)

    def with_costs(self, costs: Costs | None = None, *, priors: Priors | None = None) -> Self:
        """Return the same classifier with other costs or priors, at once and without data.

        Only the thresholds move. The costs that you pass replace the balanced ones.

        Parameters
        ----------
        costs : "balanced", dict of label to cost, or matrix, optional
            Cost of misclassifying a row of that label, 1 if not named; with None, all cost 1. If it
            matters what a row is taken for, a dict of dicts, `{true: {predicted: cost}}`, or an
            array of shape (n_classes, n_classes) in the order of `classes_`, true classes down.
        priors : optional
            As in the constructor; None keeps the present ones.

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
        view = self._as_it_is()
        learned, predictor = view._solve()
        view.costs = costs
        view.priors = self.priors if priors is None else priors
        view._validate_params()
        counts = learned.summary.counts.sum(axis=1)
        terms = log_priors_and_costs(view.priors, view.costs, learned.classes, counts)
        if priors is None:  # set_params may have changed those of the next fit
            check_priors_and_costs(view.priors, view.costs, learned.classes)
            terms = terms._replace(log_priors=predictor.machine.log_priors)
        machine = predictor.machine.with_priors_and_costs(*terms)
        view._solved = Solved(learned, replace(predictor, machine=machine))
        return view

    def _solve(self) -> Solved:
        """The solved machine with its φ; solved now, if it was not before."""
        learned, solved = self._learned, self._solved
        if learned is None:
            learned = self._with_sums()  # raises; it takes as long as a small prediction
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
        begin_step("solving", len(learned.summary.leaves), " leaves")
        with one_blas_thread():
            machine = self._machine(learned, terms.log_priors, terms.log_costs)
        if terms.cost_matrix is not None:
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
        execute = Threads(self.n_jobs, ahead=CUTS.few_slices)
        return solve(learned.summary.leaves[0], method, log_priors, log_costs, execute)

    def _answer(self, X: Any, kind: Answer) -> Any:
        """A prediction for each row: at once, or lazily where X lies in blocks."""
        view = self._as_it_is()
        work = partial(_answers, view._solve().predictor, kind)
        return answer_rows(view, X, work, NAMES.get(kind, "prediction_set"))

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
                f"Class {learned.classes[is_one_row(rows)].tolist()} has one row only; "
                f"{self._of_one_row}. Expect little of this class until it has more rows.",
                FewRowsWarning,
            )
        elif "not cross-fitted" in diagnostics:
            warn(
                "A class has too few distinct rows to be held out (the rarest has "
                f"{rows.min():g} rows, with those that repeat others), so {self._of_few_rows}. Add "
                "rows of the rare classes, or give rare classes that are alike one label.",
                FewRowsWarning,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _answers(predictor: Predictor, kind: Answer, rows: InMemory) -> Array:
    """The answer to each row, perhaps to none."""
    execute = Threads(rows.n_jobs, ahead=CUTS.few_slices)
    return predictor.answer(kind, predictor.project(rows.X, execute))


def _explanations(predictor: Predictor, rows: InMemory) -> Array:
    """What each column adds to the scores of each row."""
    return predictor.explain(rows.X, Threads(rows.n_jobs))


def _count_correct(predictor: Predictor, rows: InMemory) -> Array:
    """The weight of rows whose class is predicted, and of all rows."""
    correct = _answers(predictor, "label", rows) == rows.y
    weight = np.ones(len(correct)) if rows.weight is None else rows.weight
    return np.array([weight[correct].sum(), weight.sum()])
