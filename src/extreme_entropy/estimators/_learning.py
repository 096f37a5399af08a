"""Learning: rows ↦ φ and summary, in one piece, in batches, merged or forgotten."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..engines.threads import add_up, one_blas_thread, run
from ..errors import ForgetError, InputError, MergeError
from ..features.chunks import chunks, lanes
from ..features.content import ContentHash, Draw, draw_rows
from ..features.feature_map import FeatureMap, same
from ..features.scaling import ColumnStats, fit_scaling, scan
from ..moments.reduction import summarise
from ..moments.summary import Summary
from . import _stakes
from ._rows import check_rows, classes_of, encode, gathered, labels_to_expect, with_progress
from ._state import State

Array = np.ndarray[Any, Any]
T = TypeVar("T")

N_FOLDS = 5  # of the cross-fitted decision
SAMPLE_ROWS = 1000  # drawn rows that widths and quantiles are taken from


class Look(NamedTuple):
    """What φ is made from."""

    seed: int
    stats: ColumnStats
    content: ContentHash
    drawn: Draw


class Learner(State):
    """The methods that change what a machine has learnt."""

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
        X, y, weight = check_rows(self, X, y, sample_weight, reset=not self._is_twin)
        classes = self.classes_ if self._is_twin else classes_of(y)
        phi = self._phi if self._is_twin else self._draw(X, weight)
        n_folds = self._n_folds(fresh=not self._is_twin)
        summary = self._summarise(phi, X, encode(y, classes), weight, len(classes), n_folds)
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
        X, y, weight = check_rows(self, X, y, sample_weight, reset=first)
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
        given = with_progress(batches) if progress else batches
        for X, y, weight in gathered(learner, given):
            learner._learn(X, y, weight, classes)
        if not hasattr(learner, "_phi"):
            raise InputError("There must be rows to learn from; `batches` held none.")
        learner._ready()
        self.__dict__.update(learner.__dict__)
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
        X, y, weight = check_rows(self, X, y, sample_weight, reset=False)
        labels = encode(y, self.classes_)
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

    def merge(self, other: Learner) -> Self:
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

    def __add__(self, other: Learner) -> Self:
        if not isinstance(other, Learner):
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

    def _learn(self, X: Any, y: Array, weight: Array | None, classes: Any) -> Self:
        """Add checked rows to what is known; the first ones draw φ."""
        first = not hasattr(self, "_phi")
        known = labels_to_expect(getattr(self, "classes_", None), classes, y)
        labels = encode(y, known)
        phi = self._draw(X, weight) if first else self._phi
        part = self._summarise(phi, X, labels, weight, len(known), self._n_folds(fresh=first))
        _stakes.check(self.priors, self.costs, known)
        self._summary = part if first else self._summary + part
        self.classes_, self._phi, self._solved = known, phi, None
        return self

    def _draw(self, X: Any, weight: Array | None) -> FeatureMap:
        """φ for these rows: cells, drawn rows, scaling, layer."""
        return self._phi_of(self._look(X, weight), X.dtype)

    def _look(self, X: Any, weight: Array | None) -> Look:
        """What φ is made from: the range of each column, and drawn rows."""
        d = X.shape[1]
        seed, stats, content = self._ranges(X, weight)
        k = max(self._rows_to_draw(), SAMPLE_ROWS if self.scale == "quantile" else 0)

        def draw(lane: slice) -> Draw:
            part = X[lane]
            return draw_rows(content, k, (part[s] for s in chunks(part.shape[0], d)))

        drawn = self._each_lane(draw, X.shape[0]) if k else Draw.nothing(0, d)
        return Look(seed, stats, content, drawn)

    def _ranges(self, X: Any, weight: Array | None) -> tuple[int, ColumnStats, ContentHash]:
        """The seed, the range of each column, and the hash that follows from both."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        n, d = X.shape

        def look(lane: slice) -> ColumnStats:
            part, w = X[lane], None if weight is None else weight[lane]
            pieces = chunks(part.shape[0], d)
            return scan(((part[s], None if w is None else w[s]) for s in pieces), d)

        with np.errstate(over="ignore", invalid="ignore"):  # ranges are checked below
            stats = self._each_lane(look, n)
            spans = stats.high - stats.low
        if not (np.isfinite(spans) & np.isfinite(stats.deviation)).all():
            raise InputError(
                "The square of each column's range must be a finite number; the widest spans "
                f"{spans.max():g}. Rescale that column."
            )
        return seed, stats, ContentHash.between(seed, stats.low, stats.high)

    def _each_lane(self, work: Callable[[slice], T], n: int) -> T:
        """Add up what `work` makes of each lane of n rows."""
        return add_up(run((partial(work, lane) for lane in lanes(n)), self.n_jobs, ahead=2))

    def _phi_of(self, look: Look, dtype: np.dtype[Any]) -> FeatureMap:
        rows = look.drawn.rows
        scaling = fit_scaling(self.scale, look.stats, rows)
        with one_blas_thread():
            layer, whitening = self._draw_layer(rows.shape[1], scaling(rows), dtype, look.seed)
        return FeatureMap(look.content, scaling, layer, whitening)

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
        engine = partial(run, n_jobs=self.n_jobs, ahead=2)
        return summarise(phi, X, labels, weight, n_classes, n_folds, engine)
