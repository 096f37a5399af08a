"""Learning: rows ↦ φ and summary, in one piece, in batches, merged or forgotten."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..engines.threads import one_blas_thread
from ..errors import ForgetError, InputError, MergeError
from ..features.content import ContentHash, Draw
from ..features.feature_map import FeatureMap, same
from ..features.scaling import ColumnStats, fit_scaling
from ..moments.summary import Summary
from . import _stakes
from ._arrow import batches_of, same_names
from ._checkpoint import Keeper, Keepless
from ._rows import checked, classes_of, gathered, labels_to_expect, with_progress
from ._state import State
from ._tables import InMemory, Table, draw_from, sum_up, table_of

Array = np.ndarray[Any, Any]

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
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows to learn from. float32 is worked on in single precision. Blocks of a Dask
            collection are worked on where they lie.
        y : array-like or Dask collection of shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like or Dask collection of shape (n_samples,), optional
            A weight counts as repetition of the row: 2 is the row twice, 0 is no row.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._validate_params()
        table = table_of(self, X, y, sample_weight, reset=not self._is_twin)
        classes = self.classes_ if self._is_twin else classes_of(table.seen.labels)
        phi = self.feature_map_ if self._is_twin else self._draw(table)
        n_folds = self._n_folds(fresh=not self._is_twin)
        summary = table.add_up(sum_up, phi, classes, n_folds)
        _stakes.check(self.priors, self.costs, classes)
        self.classes_, self.feature_map_, self.summary_ = classes, phi, summary
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
        first = not hasattr(self, "feature_map_")
        return self._learn(table_of(self, X, y, sample_weight, reset=first), classes)

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
        batches : iterable of (X, y) or (X, y, sample_weight), or a pyarrow source
            Each as for `fit`. A batch may be empty or lack classes. A pyarrow dataset, table or
            record batch reader is read batch by batch, a few of them ahead.
        target : str, optional
            The column of a pyarrow source that holds the labels; all others are features.
        classes : array-like, optional
            All labels that will ever come. Needed if the first 16 384 rows lack some.
        progress : bool, default=False
            Show a progress bar. Needs the extra `progress`.
        checkpoint : path-like, optional
            A file that keeps what was learnt so far, and is removed when the fit is done. Killed
            at any moment and started again with the same batches, the fit goes on after the last
            checkpoint, and ends with the same machine to the last bit.
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
        >>> def batches():  # in earnest: read from a file or a data base
        ...     for start in range(0, 1000, 100):
        ...         yield X[start : start + 100], y[start : start + 100]
        >>> machine = EEMClassifier(50, random_state=0).fit_batches(batches())
        >>> machine.score(X, y) > 0.9
        True
        """
        self._validate_params()
        learner = self.twin() if self._is_twin else clone(self)
        names, batches = batches_of(batches, target)
        if names is not None:  # they are checked here; the arrays of the batches have none
            same_names(learner.__dict__.pop("feature_names_in_", names), names)
        keeper = Keeper(checkpoint, every) if checkpoint is not None else Keepless()
        keeper.restore(learner)
        given = checked(learner, with_progress(batches) if progress else batches)
        for X, y, weight in gathered(keeper.not_yet_counted(given)):
            learner._learn(InMemory(X, y, weight, self.n_jobs), classes)
            keeper.keep(learner)
        if not hasattr(learner, "feature_map_"):
            raise InputError("There must be rows to learn from; `batches` held none.")
        learner._ready()
        if names is not None:
            learner.feature_names_in_ = names
        self.__dict__.update(learner.__dict__)
        keeper.remove()
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
        table = table_of(self, X, y, sample_weight, reset=False)
        part = table.add_up(sum_up, self.feature_map_, self.classes_, self._n_folds(fresh=False))
        held, asked = np.array(self.summary_.counts), np.array(part.counts)
        if (asked > held * (1 + 1e-12)).any():
            raise ForgetError(
                "Only rows that were learnt can be forgotten; "
                f"{asked.sum():g} rows came, of which some were never learnt "
                "(a class would be left with fewer than no rows). Nothing was changed. "
                "Pass exactly rows, labels and weights given to fit or partial_fit before."
            )
        self.summary_, self._solved = self.summary_ - part, None
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
        if type(self) is not type(other) or not same(self.feature_map_, other.feature_map_):
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
        if self.summary_.n_folds != other.summary_.n_folds:
            raise MergeError(
                "Machines can be merged only if both have the same `decision`; "
                f"one has {self.decision!r}, the other {other.decision!r}."
            )
        self.summary_, self._solved = self.summary_ + other.summary_, None
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
        for name in ("n_features_in_", "feature_names_in_", "classes_", "feature_map_"):
            if hasattr(self, name):
                setattr(twin, name, getattr(self, name))
        twin._is_twin = True
        twin.summary_ = Summary.empty(
            len(self.classes_), self.summary_.n_folds, self.feature_map_.h
        )
        twin._solved = None
        return twin

    def _learn(self, table: Table, classes: Any) -> Self:
        """Add rows to what is known; the first ones draw φ."""
        first = not hasattr(self, "feature_map_")
        known = labels_to_expect(
            getattr(self, "classes_", None), classes, lambda: table.seen.labels
        )
        phi = self._draw(table) if first else self.feature_map_
        part = table.add_up(sum_up, phi, known, self._n_folds(fresh=first))
        _stakes.check(self.priors, self.costs, known)
        self.summary_ = part if first else self.summary_ + part
        self.classes_, self.feature_map_, self._solved = known, phi, None
        return self

    def _draw(self, table: Table) -> FeatureMap:
        """φ for these rows: cells, drawn rows, scaling, layer."""
        return self._phi_of(self._look(table), table.dtype)

    def _look(self, table: Table) -> Look:
        """What φ is made from: the range of each column, and drawn rows."""
        seed, content = self._content(table)
        stats = table.seen.stats
        k = max(self._rows_to_draw(), SAMPLE_ROWS if self.scale == "quantile" else 0)
        drawn = table.add_up(draw_from, content, k) if k else Draw.nothing(0, len(stats.low))
        return Look(seed, stats, content, drawn)

    def _content(self, table: Table) -> tuple[int, ContentHash]:
        """The seed, and the hash that follows from it and the range of each column."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        stats = table.seen.stats
        with np.errstate(over="ignore", invalid="ignore"):
            spans = stats.high - stats.low
        if not (np.isfinite(spans) & np.isfinite(stats.deviation)).all():
            raise InputError(
                "The square of each column's range must be a finite number; the widest spans "
                f"{spans.max():g}. Rescale that column."
            )
        return seed, ContentHash.between(seed, stats.low, stats.high)

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
        if self.summary_.n_folds < wanted:
            raise InputError(
                "decision='cross-fitted' and ridge='auto' must be set before the first rows are "
                "learnt, since sums are kept by fold for them; this machine has learnt rows "
                "without folds. Fit a new machine, or set decision='paper' and a numeric ridge."
            )
        return self.summary_.n_folds
