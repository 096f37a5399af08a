"""What both cross-validated classifiers share: folds, scores, the choice, the best classifier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..columns.statistics import N_FOLDS
from ..drawing.sampling import Sampled, Spec
from ..engines.threads import Threads, one_blas_thread
from ..errors import InputError
from ..estimators.base import EntropyClassifier
from ..estimators.inputs import (
    Costs,
    Priors,
    check_rows,
    check_weight,
    classes_of,
    log_priors_and_costs,
    set_columns,
)
from ..estimators.mixin import EstimatorMixin
from ..estimators.tables import InBlocks, InMemory, Table, as_table, engine_for
from ..features.content import ContentHash
from ..features.feature_map import FeatureMap
from ..machine.solving import Method
from ..metrics import get_scorer
from ..moments.summary import Summary
from ..progress import with_progress
from .best import BestAnswers, results
from .folds import UNTESTED, by_content, check_folds, dealt, judged, split
from .on_blocks import FoldedBlocks
from .one_pass import FoldedRows, FoldedTable, Scored, Solver, score_paths
from .path import Path
from .prefitted import check_scorer

Array = np.ndarray[Any, Any]

BY_RECALL = ("gmean", "balanced_accuracy")  # scores that a class of very few rows can decide


class Folded(NamedTuple):
    """Rows in their folds, and what they come from."""

    table: Table
    classes: Array
    rows: FoldedTable
    folds: Any  # the fold of each row, as given
    by_content: bool  # whether folds follow from the content of rows


class PathCV(BestAnswers, EstimatorMixin):
    """Base of `EEMClassifierCV` and `EEKMClassifierCV`."""

    cv: Any
    scoring: Any
    categorical_features: Any
    scale: str | None
    relevance: str
    shrinkage: str | float | None
    ridge: float | str
    decision: str
    priors: Priors
    costs: Costs | None
    progress: bool
    n_jobs: int | None
    random_state: Any
    # Set by learning.
    best_estimator_: EntropyClassifier
    best_index_: tuple[int, int]
    best_params_: dict[str, Any]
    best_score_: float
    classes_: Array
    cv_results_: dict[str, Any]
    folds_: Any
    path_: Path
    scores_: Any

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cv": ["cv_object"],
        "scoring": [str, callable],
        "progress": ["boolean"],
        **EntropyClassifier._parameter_constraints,
    }
    _size_name: ClassVar[str]
    _kind: ClassVar[type[EntropyClassifier]]
    # Parameters that every candidate takes over.
    _shared: ClassVar[tuple[str, ...]] = (
        *("categorical_features", "scale", "relevance", "shrinkage", "ridge", "decision"),
        *("priors", "costs", "n_jobs"),
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Score every setting and size on held-out folds, then fit the best on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows to learn from. Blocks of a Dask collection or Ray Dataset and partitions of a
            Spark DataFrame are worked on where they lie; `cv` must then be a number, and `scoring`
            need labels alone.
        y : array-like of shape (n_samples,), or str
            Labels of two or more classes, or the column of a Spark DataFrame or Ray Dataset
            that holds them.
        sample_weight : array-like of shape (n_samples,), optional
            A weight counts as repetition of the row, in fits and in scores.
        groups : array-like of shape (n_samples,), optional
            For splitters that keep groups together.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._validate_params()
        sizes = _sizes(self._size_name, getattr(self, self._size_name))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        specs = self._specifications(sizes[-1])
        fold_rows = self._in_memory if engine_for(X) is None else self._in_blocks
        with one_blas_thread():
            folded = fold_rows(X, y, sample_weight, groups, seed, specs)
            settings = self._settings(folded)
            candidates = [
                self._estimator(seed, **{self._size_name: sizes[-1]}, **setting)
                for setting in settings.values()
            ]
            solver, wanted = self._solver(folded.classes)
            # Folds by content add up to those that a classifier of all rows keeps.
            adds_up = folded.by_content and folded.rows.n_folds % wanted == 0
            final_folds = wanted if adds_up else None
            specs = [candidate.specification() for candidate in candidates]
            execute = Threads(self.n_jobs)
            scored = score_paths(specs, sizes, folded.rows, solver, execute, final_folds)
            scores = np.stack([found.scores for found in scored])
            best = self._best_of(scores)
            params = {self._size_name: sizes[best[1]], **list(settings.values())[best[0]]}
            estimator = self._estimator(seed, **params)
            phi, summary = self._whole(estimator, folded, scored[best[0]], best[1], wanted)
        estimator.set_fitted(folded.table.columns, folded.classes, phi, summary)
        _ = estimator.machine_  # solved now, with its warnings, before anything is changed
        self.path_ = Path(
            np.array(sizes),
            scores,
            np.stack([found.divergences for found in scored]).mean(axis=2),
            tuple(settings),
            self._size_name,
            self.scoring if isinstance(self.scoring, str) else "score",
            best,
        )
        set_columns(self, folded.table.columns)
        self.classes_, self.folds_, self.best_index_ = folded.classes, folded.folds, best
        self.scores_, self.best_score_ = scores[best[0]], float(scores[best].mean())
        self.cv_results_ = results(
            [{**setting, self._size_name: k} for setting in settings.values() for k in sizes],
            scores.reshape(-1, scores.shape[2]),
        )
        self.best_params_, self.best_estimator_ = params, estimator
        return self

    def _specifications(self, size: int) -> Sequence[Spec]:
        """What φ may be drawn from, with the largest size."""
        raise NotImplementedError

    def _settings(self, folded: Folded) -> dict[str, dict[str, Any]]:
        """Parameters of each candidate beside the size, by their label."""
        raise NotImplementedError

    def _estimator(self, seed: int, **params: Any) -> EntropyClassifier:
        """A candidate, unfitted."""
        shared = {name: getattr(self, name) for name in self._shared}
        return self._kind(random_state=seed, **shared, **params)

    def _in_memory(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, seed: int, specs: Sequence[Spec]
    ) -> Folded:
        """Rows in memory in their folds; those without weight have a fold, but count nowhere."""
        columns, X, y, _ = check_rows(self, X, y, None, reset=True)
        weight = None if sample_weight is None else check_weight(X, sample_weight)
        if groups is not None and len(groups) != len(y):
            raise InputError(
                f"There must be one group for each of {len(y)} rows; {len(groups)} came."
            )
        table = InMemory(columns, X, y, weight, self.n_jobs)
        classes_of(table.labels)
        there = np.full(len(y), True) if weight is None else weight > 0
        if not there.all():
            table = table.at(there)
        classes = classes_of(table.labels)
        log_priors_and_costs(self.priors, self.costs, classes)  # raises before the pass
        sampled = Sampled.of(table, seed, specs, classes)
        tested = there.copy()
        if self._deals_rows and self.scoring in BY_RECALL:
            tested[there] = judged(y[there], int(self.cv))
        folds, by_content = self._folds(X, y, there, tested, groups, table, sampled.content)
        own = folds if there.all() else folds[there]
        n_folds = check_folds(folds[tested], y[tested])
        scorer = get_scorer(self.scoring)
        rows = FoldedRows(table, classes, own, n_folds, scorer, seed, specs, sampled)
        return Folded(table, classes, rows, folds, by_content)

    @property
    def _deals_rows(self) -> bool:
        """Whether `cv` is a number of folds, which rows are put into here."""
        return isinstance(self.cv, Integral) and int(self.cv) >= 2

    def _folds(
        self,
        X: Any,
        y: Array,
        there: Array,
        tested: Array,
        groups: Any,
        table: InMemory,
        content: ContentHash,
    ) -> tuple[Array, bool]:
        """The fold of each row, and whether it follows from the row's content alone."""
        if not self._deals_rows:
            return split(self.cv, X, y, groups), False
        hashes = np.empty(len(y), np.uint64)
        hashes[there] = table.hashes(content)
        hashes[~there] = content(X[~there]) if not there.all() else 0
        folds, shown = np.full(len(y), UNTESTED), tested | ~there
        labels = np.unique(y[shown], return_inverse=True)[1]
        alike = by_content(int(self.cv), hashes[shown], labels)
        if alike is not None:
            folds[shown] = alike
            return folds, True
        folds[tested] = dealt(int(self.cv), hashes[tested], y[tested])
        return folds, False

    def _in_blocks(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, seed: int, specs: Sequence[Spec]
    ) -> Folded:
        """Rows in blocks, in folds by their content."""
        if groups is not None or not self._deals_rows:
            raise InputError(
                "Rows that lie in blocks are put into folds by their content: cv must be a number "
                f"of folds, and groups None; got cv={self.cv!r}"
                f"{'' if groups is None else ' and groups'}. Other folds need the rows in memory."
            )
        scorer = get_scorer(self.scoring)
        check_scorer(scorer, self.scoring)
        table = as_table(self, X, y, sample_weight, reset=True)
        assert isinstance(table, InBlocks)
        classes = classes_of(table.labels)
        log_priors_and_costs(self.priors, self.costs, classes)  # raises before the pass
        rows = FoldedBlocks.of(table, classes, int(self.cv), scorer, seed, specs)
        return Folded(table, classes, rows, rows.lazy_folds(), True)

    def _solver(self, classes: Array) -> tuple[Solver, int]:
        """How machines are solved, and how many folds a classifier of all rows keeps."""

        def watch(machines: Iterable[Any], total: int) -> Iterable[Any]:
            return with_progress(machines, total=total, unit="fit") if self.progress else machines

        cross_fitted = self.decision == "cross-fitted"
        terms = partial(log_priors_and_costs, self.priors, self.costs, classes)
        solver = Solver(Method(self.shrinkage, self.ridge, cross_fitted), terms, watch)
        return solver, N_FOLDS if solver.n_groups > 1 else 1

    def _best_of(self, scores: Array) -> tuple[int, int]:
        """The setting and size with the best mean score; of equals the first, so the smaller."""
        means = np.nan_to_num(np.round(scores.mean(axis=2), 12), nan=-np.inf)
        if means.max() == -np.inf:
            raise InputError(
                f"scoring={self.scoring!r} must be a number for some candidate; it is NaN for all "
                f"{means.size} of them. Check that it suits these labels."
            )
        setting, size = divmod(int(means.argmax()), means.shape[1])
        return setting, size

    def _whole(
        self, estimator: EntropyClassifier, folded: Folded, scored: Scored, size: int, n_folds: int
    ) -> tuple[FeatureMap, Summary]:
        """φ and summary of all rows: the fit it would have been."""
        if scored.feature_map is not None and scored.summaries is not None:
            k = getattr(estimator, self._size_name)
            phi, sketch = scored.feature_map.first(k), folded.table.sketch
            rows = sketch(phi.content, folded.classes)
            return phi, Summary((scored.summaries(size),), phi.n_leaves, rows)
        phi = folded.rows.draw(estimator.specification())
        return phi, folded.table.learn(phi, folded.classes, n_folds)

    @property
    def searched(self) -> type[EntropyClassifier]:
        """What the candidates are."""
        return self._kind

    def _best(self) -> EntropyClassifier:
        check_is_fitted(self)
        return self.best_estimator_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _sizes(name: str, sizes: Sequence[int]) -> list[int]:
    """Sizes in increasing order, each once."""
    if not len(sizes):
        raise InputError(f"`{name}` must hold at least one size; it is empty.")
    strange = [k for k in sizes if not isinstance(k, Integral) or isinstance(k, bool) or k < 1]
    if strange:
        raise InputError(f"`{name}` must hold positive whole numbers; got {strange[0]!r}.")
    return sorted({int(k) for k in sizes})
