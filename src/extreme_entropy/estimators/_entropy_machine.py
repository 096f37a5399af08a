"""What both classifiers share: validate, delegate, name the results."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from ..engines.threads import add_up, one_blas_thread, run
from ..errors import (
    DegenerateWarning,
    FewRowsWarning,
    ForgetError,
    IncompleteError,
    InputError,
    MergeError,
)
from ..features.content import ContentHash, Draw, draw_rows
from ..features.feature_map import FeatureMap, Layer, same
from ..features.scaling import ColumnStats, fit_scaling, scan
from ..machine.machine import Machine, solve
from ..moments.reduction import chunks, dense, lanes, summarise
from ..moments.summary import Summary
from . import _stakes

Array = np.ndarray[Any, Any]
T = TypeVar("T")

N_FOLDS = 5  # of the cross-fitted decision
BATCH_ROWS = 16384  # of fit_batches are put together before they are summarised
FEW_ROWS = 64  # are projected at once, without the cost of an engine
SAMPLE_ROWS = 1000  # drawn rows that widths and quantiles are taken from


class EntropyMachine(ClassifierMixin, BaseEstimator):
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

    # Set by the constructors of the two classifiers.
    scale: str | None
    shrinkage: str | float
    ridge: float | str
    decision: str
    priors: Any
    costs: Mapping[Any, float] | None
    n_jobs: int | None
    random_state: Any
    # Set by fit.
    classes_: Array
    _phi: FeatureMap
    _summary: Summary
    _solved: tuple[Machine, Array] | None
    # A twin's φ and classes are another machine's, and stay.
    _is_twin: bool = False

    # ---------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw φ, add up the rows and solve for β.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows to learn from. float32 is worked on in single precision.
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
        X, y, weight = self._check_rows(X, y, sample_weight, reset=not self._is_twin)
        classes = self.classes_ if self._is_twin else _classes_of(y)
        phi = self._phi if self._is_twin else self._draw(X, weight)
        n_folds = self._n_folds(fresh=not self._is_twin)
        summary = self._summarise(phi, X, _encode(y, classes), weight, len(classes), n_folds)
        _stakes.check(self.priors, self.costs, classes)
        self.classes_, self._phi, self._summary = classes, phi, summary
        self._solved = None
        if not self._classes_without_rows():
            self._solve()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows, as if they had been there from the start.

        φ and the scaling are frozen by the first rows seen; let those be typical. Afterwards the
        machine equals one `fit` on all rows so far with that φ, whatever the batches.

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
        first = not hasattr(self, "_phi")
        X, y, weight = self._check_rows(X, y, sample_weight, reset=first)
        return self._learn(X, y, weight, classes)

    def fit_batches(
        self, batches: Iterable[Any], *, classes: Any = None, progress: bool = False
    ) -> Self:
        """Fit in one pass over batches of rows, for data that never fit in memory.

        φ and the scaling are drawn from the first 16 384 rows (or the first batch, if it is
        larger); from there on only sums are kept. Small batches are put together, so that their
        size costs nothing.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
            Each as for `fit`. A batch may be empty or lack classes.
        classes : array-like, optional
            All labels that will ever come. Needed if the first 16 384 rows lack some.
        progress : bool, default=False
            Show a progress bar. Needs the extra `progress`.

        Returns
        -------
        self
            The fitted classifier.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from extreme_entropy import EEMClassifier
        >>> X, y = make_classification(1000, random_state=0)
        >>> def batches():  # in earnest: read from a file or a data base
        ...     for start in range(0, 1000, 100):
        ...         yield X[start : start + 100], y[start : start + 100]
        >>> machine = EEMClassifier(50, random_state=0).fit_batches(batches())
        >>> machine.score(X, y) > 0.9
        True
        """
        self._validate_params()
        learner = self.twin() if self._is_twin else clone(self)
        for X, y, weight in learner._gathered(_with_progress(batches) if progress else batches):
            learner._learn(X, y, weight, classes)
        if not hasattr(learner, "_phi"):
            raise InputError("There must be rows to learn from; `batches` held none.")
        learner._ready()
        self.__dict__.update(learner.__dict__)
        return self

    def _gathered(self, batches: Iterable[Any]) -> Iterator[tuple[Any, Array, Array | None]]:
        """Checked batches, put together until they are worth the cost of a merge."""
        waiting: list[tuple[Any, Array, Array]] = []
        for number, batch in enumerate(batches):
            try:
                X, y, *rest = batch
                if not _n_rows(X):
                    continue
                fresh = not hasattr(self, "n_features_in_")
                X, y, weight = self._check_rows(X, y, *(rest or [None]), reset=fresh)
            except Exception as error:
                error.add_note(f"This was batch {number} (the first is 0).")
                raise
            waiting.append((X, y, np.ones(len(y)) if weight is None else weight))
            if sum(len(part[1]) for part in waiting) >= BATCH_ROWS:
                yield _stacked(waiting)
                waiting = []
        if waiting:
            yield _stacked(waiting)

    def _learn(self, X: Any, y: Array, weight: Array | None, classes: Any) -> Self:
        """Add checked rows to what is known; the first ones draw φ."""
        first = not hasattr(self, "_phi")
        known = _labels_to_expect(getattr(self, "classes_", None), classes, y)
        labels = _encode(y, known)
        phi = self._draw(X, weight) if first else self._phi
        part = self._summarise(phi, X, labels, weight, len(known), self._n_folds(fresh=first))
        _stakes.check(self.priors, self.costs, known)
        self._summary = part if first else self._summary + part
        self.classes_, self._phi, self._solved = known, phi, None
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows: the machine becomes what it would be had they never come.

        φ and the scaling stay as drawn. Only rows that were learnt can be forgotten; where a count
        would become negative this is an error and nothing changes.

        Parameters
        ----------
        X, y, sample_weight
            Rows learnt before, as for `fit`.

        Returns
        -------
        self
            The classifier without the rows.
        """
        check_is_fitted(self)
        X, y, weight = self._check_rows(X, y, sample_weight, reset=False)
        labels = _encode(y, self.classes_)
        part = self._summarise(
            self._phi, X, labels, weight, len(self.classes_), self._n_folds(fresh=False)
        )
        held, asked = np.array(self._summary.counts), np.array(part.counts)
        if (asked > held * (1 + 1e-12)).any():
            raise ForgetError(
                "Only rows that were learnt can be forgotten; "
                f"{asked.sum():g} rows came, of which some were never learnt "
                "(a class would be left with fewer than no rows). Nothing was changed. "
                "Pass exactly rows, labels and weights given to fit or partial_fit before."
            )
        self._summary, self._solved = self._summary - part, None
        return self

    def merge(self, other: EntropyMachine) -> Self:
        """Add all that another machine has learnt to this one.

        Both must have the same φ: make the other one with `twin()`. `a + b` does the same without
        changing either.

        Parameters
        ----------
        other : classifier of the same kind
            A twin of this one, fitted on other rows.

        Returns
        -------
        self
            This classifier, as if fitted on the rows of both.
        """
        for machine in (self, other):
            check_is_fitted(machine)
        if type(self) is not type(other) or not same(self._phi, other._phi):
            raise MergeError(
                "Machines can be merged only if they share φ (the same neurons and scaling); "
                "these two were drawn apart. Make one of them with `other = machine.twin()` "
                "and fit that on its rows."
            )
        if not np.array_equal(self.classes_, other.classes_):
            raise MergeError(
                f"Machines can be merged only if they know the same classes; one knows "
                f"{self.classes_.tolist()}, the other {other.classes_.tolist()}. "
                "Pass all `classes` to the first partial_fit."
            )
        if self._summary.n_folds != other._summary.n_folds:
            raise MergeError(
                "Machines can be merged only if both have the same `decision`; "
                f"one has {self.decision!r}, the other {other.decision!r}."
            )
        self._summary, self._solved = self._summary + other._summary, None
        return self

    def __add__(self, other: EntropyMachine) -> Self:
        if not isinstance(other, EntropyMachine):
            return NotImplemented
        return copy.copy(self).merge(other)

    def twin(self) -> Self:
        """An empty machine with the same φ and classes, to be fitted elsewhere and merged.

        Returns
        -------
        classifier
            Its `fit` and `partial_fit` keep φ, and may see only some of the classes.
        """
        check_is_fitted(self)
        twin = clone(self)
        for name in ("n_features_in_", "feature_names_in_", "classes_", "_phi"):
            if hasattr(self, name):
                setattr(twin, name, getattr(self, name))
        twin._is_twin = True
        twin._summary = Summary.empty(len(self.classes_), self._summary.n_folds, self._phi.h)
        twin._solved = None
        return twin

    def with_costs(self, costs: Mapping[Any, float] | None = None, *, priors: Any = None) -> Self:
        """The same machine under other costs and priors, at once and without data.

        Only the thresholds move; β and the Gaussians stay.

        Parameters
        ----------
        costs : dict of label to cost, optional
            Cost of taking a row of that label for another. Labels left out cost 1.
        priors : optional
            As in the constructor; None keeps the present ones.

        Returns
        -------
        classifier
            A new fitted classifier; this one is unchanged.
        """
        machine = self.machine_
        other = copy.copy(self)
        other.costs = costs
        other.priors = self.priors if priors is None else priors
        other._validate_params()
        _stakes.check(other.priors, other.costs, other.classes_)
        other._solved = (machine.with_stakes(*other._log_stakes()), self._ready()[1])
        return other

    # ---------------------------------------------------------------- deciding

    def project(self, X: Any) -> Array:
        """βᵀφ(x): where each row falls on the line.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_pairs) with more than two classes
            Projections; with more classes one column for each pair of classes.
        """
        projections = self._project(X)
        return projections[:, 0] if len(self.classes_) == 2 else projections

    def decision_function(self, X: Any) -> Array:
        """Log-odds of the second class, costs and priors included; ln(C p) with more classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            Positive means the second class; with more classes the largest column wins.
        """
        return self.machine_.scores(self._project(X))

    def predict(self, X: Any) -> Array:
        """The class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of `predict_proba`, exact also where probabilities vanish.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        return self.machine_.log_probabilities(self._project(X))

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class under the priors. Costs do not change probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`; rows sum to one.
        """
        return self.machine_.probabilities(self._project(X))

    # ---------------------------------------------------------------- what was fitted

    @property
    def machine_(self) -> Machine:
        """The solved machine: operators, Gaussians, shrinkage, priors and costs."""
        return self._ready()[0]

    @property
    def beta_(self) -> Array:
        """β on φ(x), (h,); with more than two classes one row for each pair."""
        return self._one(self.machine_.operators)

    @property
    def thresholds_(self) -> Any:
        """Where the decision changes on the line: an array of none, one or two points."""
        return self._one(self.machine_.thresholds)

    @property
    def shrinkage_(self) -> Array:
        """ε of each class."""
        return self.machine_.shrinkage

    @property
    def divergence_(self) -> Any:
        """D_CS of the two Gaussians on the line."""
        return self._one(self.machine_.divergences)

    @property
    def means_(self) -> Array:
        """Means of the two Gaussians on the line, in the order of `classes_`."""
        return self._one(np.array([g.means for g in self.machine_.gaussians]))

    @property
    def variances_(self) -> Array:
        """Variances of the two Gaussians on the line, in the order of `classes_`."""
        return self._one(np.array([g.variances for g in self.machine_.gaussians]))

    def _one(self, by_pair: Any) -> Any:
        return by_pair[0] if len(self.classes_) == 2 else by_pair

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_summary")

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
        from ._saving import save

        save(self, path)

    # ---------------------------------------------------------------- the steps

    def _draw_layer(
        self, d: int, rows: Array, dtype: np.dtype[Any], seed: int
    ) -> tuple[Layer, Array | None]:
        """The hidden layer, and the whitening that follows it, for scaled drawn rows."""
        raise NotImplementedError

    def _rows_to_draw(self) -> int:
        """How many rows of the data the layer wants to see."""
        raise NotImplementedError

    def _draw(self, X: Any, weight: Array | None) -> FeatureMap:
        """φ for these rows: cells, drawn rows, scaling, layer."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        n, d = X.shape

        def each_lane(work: Callable[[slice], T]) -> T:
            """Add up what `work` makes of each lane's chunks of rows."""
            return add_up(run((partial(work, lane) for lane in lanes(n)), self.n_jobs))

        def look(lane: slice) -> ColumnStats:
            part, w = X[lane], None if weight is None else weight[lane]
            pieces = chunks(part.shape[0], d)
            return scan(((part[s], None if w is None else w[s]) for s in pieces), d)

        with np.errstate(over="ignore", invalid="ignore"):  # ranges are checked below
            stats = each_lane(look)
            spans = stats.high - stats.low
        if not (np.isfinite(spans) & np.isfinite(stats.deviation)).all():
            raise InputError(
                "The square of each column's range must be a finite number; the widest spans "
                f"{spans.max():g}. Rescale that column."
            )
        content = ContentHash.between(seed, stats.low, stats.high)
        k = max(self._rows_to_draw(), SAMPLE_ROWS if self.scale == "quantile" else 0)

        def draw(lane: slice) -> Draw:
            part = X[lane]
            return draw_rows(content, k, (part[s] for s in chunks(part.shape[0], d)))

        rows = each_lane(draw).rows if k else np.empty((0, d))
        scaling = fit_scaling(self.scale, stats, rows)
        with one_blas_thread():
            layer, whitening = self._draw_layer(d, scaling(rows), X.dtype, seed)
        return FeatureMap(content, scaling, layer, whitening)

    def _n_folds(self, *, fresh: bool) -> int:
        """How many folds rows are kept in; decided by the first rows, as φ is."""
        wanted = N_FOLDS if self.decision == "cross-fitted" or self.ridge == "auto" else 1
        if fresh:
            return wanted
        if self._summary.n_folds < wanted:
            raise InputError(
                "decision='cross-fitted' and ridge='auto' must be set before the first rows are "
                "learnt, since sums are kept by fold for them; this machine has learnt rows "
                "without folds. Fit a new machine, or set decision='paper' and a numeric ridge."
            )
        return self._summary.n_folds

    def _summarise(
        self,
        phi: FeatureMap,
        X: Any,
        labels: Array,
        weight: Array | None,
        n_classes: int,
        n_folds: int,
    ) -> Summary:
        tasks = [
            partial(
                summarise,
                phi,
                X[lane],
                labels[lane],
                None if weight is None else weight[lane],
                n_classes,
                n_folds,
            )
            for lane in lanes(len(labels))
        ]
        return add_up(run(tasks, self.n_jobs))

    def _solve(self) -> tuple[Machine, Array]:
        log_priors, log_costs = self._log_stakes()
        with one_blas_thread():
            machine = solve(
                self._summary,
                shrinkage=self.shrinkage,
                ridge=self.ridge,
                cross_fitted=self.decision == "cross-fitted",
                log_priors=log_priors,
                log_costs=log_costs,
                run=partial(run, n_jobs=self.n_jobs),
            )
        self._solved = (machine, self._phi.readout(machine.operators))
        self._warn(machine)
        return self._solved

    def _ready(self) -> tuple[Machine, Array]:
        """The machine and its readout, solved when first needed."""
        check_is_fitted(self)
        if self._solved is None:
            missing = self._classes_without_rows()
            if missing:
                raise IncompleteError(
                    f"Every class needs rows before the machine can decide; {missing} "
                    "has none yet. Learn rows of it with partial_fit, or merge a machine that has."
                )
            return self._solve()
        return self._solved

    def _project(self, X: Any) -> Array:
        _, readout = self._ready()
        X = self._check_x(X, reset=False)
        phi = self._phi.in_precision(X.dtype)
        weights = readout.T.astype(X.dtype)

        def project(stretch: slice) -> Array:
            return phi.hidden(dense(X[stretch])) @ weights

        n = X.shape[0]
        if n <= FEW_ROWS:
            return project(slice(0, n)).astype(np.float64, copy=False)
        stretches = chunks(n, max(phi.d, phi.layer.size))
        parts = run([partial(project, stretch) for stretch in stretches], self.n_jobs)
        return np.concatenate(list(parts)).astype(np.float64, copy=False)

    def _classes_without_rows(self) -> list[Any]:
        counts = np.sum(self._summary.counts, axis=1)
        return self.classes_[counts == 0].tolist()

    def _log_stakes(self) -> tuple[Array, Array]:
        counts = np.sum(self._summary.counts, axis=1)
        return (
            _stakes.log_priors(self.priors, self.classes_, counts),
            _stakes.log_costs(self.costs, self.classes_),
        )

    def _check_x(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32)
        )

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool
    ) -> tuple[Any, Array, Array | None]:
        """Rows, labels and weights, without the rows whose weight is zero."""
        X, y = validate_data(
            self, X, y, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32)
        )
        check_classification_targets(y)
        if sample_weight is None:
            return X, y, None
        weight = column_or_1d(
            check_array(
                sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
            )
        )
        check_consistent_length(X, weight)
        if (weight < 0).any():
            raise InputError(
                f"Sample weights must not be negative; the least is {weight.min():g}. "
                "To take rows out of a fitted machine, use forget()."
            )
        kept = weight > 0
        if not kept.any():
            raise InputError(
                "Some sample weight must be positive; all are zero. "
                "A weight of zero means the row is not there."
            )
        return (X, y, weight) if kept.all() else (X[kept], y[kept], weight[kept])

    def _warn(self, machine: Machine) -> None:
        if "degenerate" in machine.remarks:
            warnings.warn(
                "Two classes have the same mean in feature space, so the machine cannot tell them "
                "apart and gives a constant answer (probabilities are the priors). Either the "
                "features carry no information, or the neurons are saturated: all rows look alike "
                "to them, as with activation='sig' on many columns. "
                "Try another activation or scale, such as the default ones.",
                DegenerateWarning,
                stacklevel=4,
            )
        counts = np.sum(self._summary.counts, axis=1)
        if "one row" in machine.remarks:
            warnings.warn(
                f"Class {self.classes_[counts <= 1].tolist()} has one row only; its covariance is "
                "taken as 0 and the other classes carry the solve. "
                "Expect little of this class until it has more rows.",
                FewRowsWarning,
                stacklevel=4,
            )
        elif "not cross-fitted" in machine.remarks:
            warnings.warn(
                f"A class has too few distinct rows to be held out (the fewest: {counts.min():g}), "
                "so the Gaussians of its training rows decide, as with decision='paper'.",
                FewRowsWarning,
                stacklevel=4,
            )


def _with_progress(batches: Iterable[Any]) -> Iterable[Any]:
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError(
            "progress=True needs tqdm: pip install 'extreme-entropy[progress]'"
        ) from error
    return tqdm(batches, unit="batch")


def _n_rows(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _stacked(parts: list[tuple[Any, Array, Array]]) -> tuple[Any, Array, Array | None]:
    """Batches as one; weights that are all 1 are none."""
    rows, labels, weights = zip(*parts, strict=True)
    X = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.concatenate(rows)
    weight = np.concatenate(weights)
    return X, np.concatenate(labels), None if (weight == 1).all() else weight


def _classes_of(y: Array) -> Array:
    classes = np.unique(y)
    if len(classes) < 2:
        raise InputError(
            f"y holds only one class, {classes.tolist()[0]!r}; a classifier needs two to "
            "separate. Check that the split is stratified."
        )
    return classes.astype(classes.dtype.newbyteorder("="))


def _labels_to_expect(known: Array | None, classes: Any, y: Array) -> Array:
    """The labels of a machine after this call of partial_fit."""
    if classes is None:
        return _classes_of(y) if known is None else known
    classes = np.unique(np.asarray(classes))
    if known is not None and not np.array_equal(known, classes):
        raise InputError(
            f"`classes` must stay what it was in the first call, {known.tolist()}; "
            f"now it is {classes.tolist()}. Leave it out."
        )
    return _classes_of(classes)


def _encode(y: Array, classes: Array) -> Array:
    """Labels as positions in `classes`."""
    strange = np.setdiff1d(y, classes)
    if len(strange):
        raise InputError(
            f"Labels must be among the classes {classes.tolist()}; y also holds "
            f"{strange[:5].tolist()}. Pass all `classes` to the first partial_fit, "
            "or fit a new machine."
        )
    return np.searchsorted(classes, y)
