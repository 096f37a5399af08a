"""What both cross-validated classifiers share: folds, scores, the choice, the best classifier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..columns.statistics import N_FOLDS
from ..drawing.sampling import Sampled, Spec
from ..engines.threads import Threads, one_blas_thread
from ..errors import InputError
from ..estimators.base import EntropyClassifier
from ..estimators.docstrings import with_shared_texts
from ..estimators.fitted import EstimatorMixin, Learned
from ..estimators.inputs import (
    Costs,
    Priors,
    check_priors_and_costs,
    check_rows,
    check_weight,
    classes_of,
    log_priors_and_costs,
    set_columns,
)
from ..estimators.tables import InBlocks, InMemory, as_table, engine_for
from ..machine.solving import Method
from ..metrics import get_scorer
from ..moments.summary import Summary
from ..progress import with_progress
from ..shapes import Array
from .best import BestAnswers, results
from .folded import FoldedTable, FoldRule, check_scorer
from .folds import UNTESTED, by_content, check_counts, check_folds, dealt, judged, split
from .one_pass import CrossValidation, Scored, Solver, score_paths

BY_RECALL = ("gmean", "balanced_accuracy")  # scores that a class of very few rows can decide


@dataclass(frozen=True, slots=True)
class Path:
    """Held-out scores and D_CS for each setting (activation or γ) and size."""

    sizes: Array  # (sizes,)
    scores: Array  # held-out score of each fold        (settings, sizes, folds)
    divergences: Array  # D_CS, mean over the folds          (settings, sizes)
    labels: tuple[str, ...]  # of the settings
    size_name: str
    score_name: str
    best: tuple[int, int]  # setting and size

    @property
    def mean_scores(self) -> Array:
        """Scores averaged over the folds                    (settings, sizes)."""
        return self.scores.mean(axis=2)

    def plot(self, ax: Any = None) -> Any:
        """Draw scores and divergences against size. Needs the extra `plot`.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to; a new figure otherwise.

        Returns
        -------
        PathDisplay
            With the figure in `figure_`.
        """
        from ..plots.size_path import PathDisplay

        return PathDisplay(**asdict(self)).plot(ax)


@with_shared_texts
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
    _cross_validation: ClassVar[CrossValidation] = CrossValidation()
    # Parameters that every candidate takes over.
    _shared: ClassVar[tuple[str, ...]] = (
        *("categorical_features", "scale", "relevance", "shrinkage", "ridge", "decision"),
        *("priors", "costs", "n_jobs"),
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Score every setting and size on held-out folds, then fit the best on all rows.

        Parameters
        ----------
        {X}
            Blocks of a Dask collection or Ray Dataset and partitions of a Spark DataFrame are
            worked on where they lie; `cv` must then be a number, and `scoring` need labels alone.
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
        specs = self._specifications(sizes[-1], self._settings())
        fold_rows = self._in_memory if engine_for(X) is None else self._in_blocks
        with one_blas_thread():
            rows, folds, by_content = fold_rows(X, y, sample_weight, groups, seed, specs)
            settings = self._settings(rows.sampled)
            specs = self._specifications(sizes[-1], settings)
            solver = self._solver(rows.classes)
            n_folds = N_FOLDS if solver.n_groups > 1 else 1  # that a classifier of all rows keeps
            # Folds by content add up to those.
            adds_up = by_content and rows.n_folds % n_folds == 0
            execute = Threads(self.n_jobs)
            scored = score_paths(specs, sizes, rows, solver, execute, n_folds if adds_up else None)
            scores = np.stack([path.scores for path in scored])
            best = self._best_of(scores)
            params = {self._size_name: sizes[best[1]], **list(settings.values())[best[0]]}
            estimator = self._estimator(seed, **params)
            learned = self._whole(estimator, rows, scored[best[0]], best[1], n_folds)
        estimator.set_fitted(rows.table.columns, learned)
        _ = estimator.machine_  # solved now, with its warnings, before anything is changed
        self.path_ = Path(
            np.array(sizes),
            scores,
            np.stack([path.divergences for path in scored]).mean(axis=2),
            tuple(settings),
            self._size_name,
            self.scoring if isinstance(self.scoring, str) else "score",
            best,
        )
        set_columns(self, rows.table.columns)
        self.classes_, self.folds_, self.best_index_ = rows.classes, folds, best
        self.scores_, self.best_score_ = scores[best[0]], float(scores[best].mean())
        self.cv_results_ = results(
            [{**setting, self._size_name: k} for setting in settings.values() for k in sizes],
            scores.reshape(-1, scores.shape[2]),
        )
        self.best_params_, self.best_estimator_ = params, estimator
        return self

    def _settings(self, sampled: Sampled | None = None) -> dict[str, dict[str, Any]]:
        """Parameters of each candidate next to the size, by their label.

        Without sampled rows, as far as they matter to how many rows must be sampled.
        """
        raise NotImplementedError

    def _specifications(self, size: int, settings: dict[str, dict[str, Any]]) -> list[Spec]:
        """What φ may be drawn from, with the largest size."""
        return [
            self._estimator(0, **{self._size_name: size}, **setting).specification()
            for setting in settings.values()
        ]

    def _estimator(self, seed: int, **params: Any) -> EntropyClassifier:
        """A candidate, unfitted."""
        shared = {name: getattr(self, name) for name in self._shared}
        return self._kind(random_state=seed, **shared, **params)

    def _in_memory(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, seed: int, specs: Sequence[Spec]
    ) -> tuple[FoldedTable, Any, bool]:
        """Rows in memory in their folds; those without weight have a fold, but count nowhere.

        Also the fold of each row as given, and whether it follows from the row's content.
        """
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
        check_priors_and_costs(self.priors, self.costs, classes)  # raises before the pass
        sampled = Sampled.of(table, seed, specs, classes)
        tested = there.copy()
        if self._deals_rows and self.scoring in BY_RECALL:
            tested[there] = judged(y[there], int(self.cv))
        if self._deals_rows:
            hashes = np.zeros(len(y), np.uint64)
            hashes[there] = table.hashes(sampled.content)
            if not there.all():
                hashes[~there] = sampled.content(X[~there])
            folds, by_content = self._deal(hashes, y, there, tested)
        else:
            folds, by_content = split(self.cv, X, y, groups), False
        n_folds = check_folds(folds[tested], y[tested])
        table = replace(table, folds=folds[there])
        rule = FoldRule(n_folds, sampled.content, classes)
        scorer = get_scorer(self.scoring)
        rows = FoldedTable(table, classes, rule, scorer, seed, specs, sampled)
        return rows, folds, by_content

    @property
    def _deals_rows(self) -> bool:
        """Whether `cv` is a number of folds, which rows are put into here."""
        return isinstance(self.cv, Integral) and int(self.cv) >= 2

    def _deal(self, hashes: Array, y: Array, there: Array, tested: Array) -> tuple[Array, bool]:
        """The fold of each row, and whether it follows from the row's content alone."""
        folds, shown = np.full(len(y), UNTESTED), tested | ~there
        labels = np.unique(y[shown], return_inverse=True)[1]
        alike = by_content(int(self.cv), hashes[shown], labels, self._cross_validation.fewest)
        if alike is not None:
            folds[shown] = alike
            return folds, True
        folds[tested] = dealt(int(self.cv), hashes[tested], y[tested])
        return folds, False

    def _in_blocks(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, seed: int, specs: Sequence[Spec]
    ) -> tuple[FoldedTable, Any, bool]:
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
        check_priors_and_costs(self.priors, self.costs, classes)  # raises before the pass
        sampled = Sampled.of(table, seed, specs, classes)
        rule = FoldRule(int(self.cv), sampled.content, classes)
        counts = table.add_up(rule.counts).reshape(len(classes), -1)
        check_counts(counts, self._cross_validation.fewest)
        rows = FoldedTable(table, classes, rule, scorer, seed, specs, sampled)
        return rows, table.each(rule, "fold"), True

    def _solver(self, classes: Array) -> Solver:
        """How machines are solved."""

        def watch(machines: Iterable[Any], total: int) -> Iterable[Any]:
            return with_progress(machines, total=total, unit="fit") if self.progress else machines

        cross_fitted = self.decision == "cross-fitted"
        terms = partial(log_priors_and_costs, self.priors, self.costs, classes)
        method = Method(self.shrinkage, self.ridge, cross_fitted)
        return Solver(method, terms, watch, self._cross_validation)

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
        self,
        estimator: EntropyClassifier,
        rows: FoldedTable,
        scored: Scored,
        size: int,
        n_folds: int,
    ) -> Learned:
        """What is learned of all rows: the fit it would have been."""
        table, classes = rows.table, rows.classes
        if scored.feature_map is None or scored.summaries is None:
            phi = estimator.specification().draw(rows.sampled)
            return Learned(classes, phi, table.learn(phi, classes, n_folds))
        phi = scored.feature_map.first(getattr(estimator, self._size_name))
        sketch = table.add_up(partial(InMemory.sketch, content=phi.content, classes=classes))
        summary = Summary((scored.summaries(size),), sketch)
        return Learned(classes, phi, summary)

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
