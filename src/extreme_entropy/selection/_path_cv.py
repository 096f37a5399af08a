"""What both cross-validated classifiers share: folds, scores, the choice, the best machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..engines.blocks import engine_of
from ..engines.threads import one_blas_thread, run
from ..errors import InputError
from ..estimators import _stakes
from ..estimators._learning import N_FOLDS
from ..estimators._rows import check_rows, check_weight, classes_of, encode, with_progress
from ..estimators._tables import InBlocks, InMemory, Table, sum_up, table_of
from ..estimators.base import EntropyClassifier
from ..features.chunks import chunks
from ..features.feature_map import FeatureMap
from ..machine.machine import Machine
from ..metrics import get_scorer
from ..moments.summary import Summary
from .folds import UNTESTED, by_content, check_folds, dealt, split
from .judged import Judged
from .on_blocks import BlockRows, check_scorer, lazy_folds
from .one_pass import Draw, Folded, Rows, Scored, Terms, score_path
from .path import Path

Array = np.ndarray[Any, Any]


class OnTheLine(Judged):
    """A solved machine whose rows are projections, so that any scorer can judge it."""

    def __init__(self, machine: Machine, classes: Array) -> None:
        super().__init__(classes)
        self.machine = machine

    def decision_function(self, X: Array) -> Array:
        return self.machine.scores(X)

    def predict(self, X: Array) -> Array:
        scores = self.machine.scores(X)
        positions = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[np.asarray(positions, dtype=np.intp)]

    def predict_proba(self, X: Array) -> Array:
        return self.machine.probabilities(X)


class PathCV(ClassifierMixin, BaseEstimator):
    """Base of `EEMClassifierCV` and `EEKMClassifierCV`."""

    cv: Any
    scoring: Any
    shrinkage: str | float
    ridge: float | str
    decision: str
    priors: Any
    costs: Mapping[Any, float] | None
    progress: bool
    n_jobs: int | None
    random_state: Any
    best_estimator_: EntropyClassifier

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
        *("scale", "shrinkage", "ridge", "decision", "priors", "costs", "n_jobs"),
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Score every setting and size on held-out folds, then fit the best on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows to learn from. Blocks of a Dask collection are worked on where they lie; `cv` must
            then be a number, and `scoring` need labels alone.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.
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
        scorer = get_scorer(self.scoring)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        given = (X, y, sample_weight)
        folded = self._rows if engine_of(X) is None else self._block_rows
        table, classes, rows, final = folded(*given, groups, scorer, seed)

        labels: list[str] = []
        found: list[Scored] = []
        best: tuple[float, int, int] = (-np.inf, 0, 0)
        whole: Callable[[], tuple[FeatureMap, Summary]]
        with one_blas_thread():
            for names, draw in self._draws(sizes, seed):
                scored = self._walk(draw, rows, classes, final)
                means = np.nan_to_num(np.round(scored.scores.mean(axis=2), 12), nan=-np.inf)
                # The first of those that differ by rounding alone, so that the smaller wins.
                i, k = divmod(int(means.argmax()), len(sizes))
                if means[i, k] > best[0]:
                    best = (means[i, k], len(labels) + i, k)
                    whole = partial(scored.whole or partial(self._whole, draw, table), i, k)
                labels += names
                found.append(Scored(scored.scores, scored.divergences))
        if best[0] == -np.inf:
            raise InputError(
                f"scoring={self.scoring!r} must be a number for some candidate; it is NaN for all "
                f"{len(labels) * len(sizes)} of them. Check that it suits these labels."
            )
        _, setting, size = best
        scores = np.concatenate([part.scores for part in found])
        divergences = np.concatenate([part.divergences for part in found])
        self.classes_ = classes
        self.best_index_ = (setting, size)
        self.path_ = Path(
            np.array(sizes),
            scores,
            divergences.mean(axis=2),
            tuple(labels),
            self._size_name,
            self.scoring if isinstance(self.scoring, str) else "score",
            self.best_index_,
        )
        self.scores_ = scores[setting]
        self.best_score_ = float(scores[setting, size].mean())
        self.best_params_ = self._params(table, setting, sizes[size], seed)
        machine = self._machine(seed, **self.best_params_)
        self.best_estimator_ = self._assembled(machine, *whole())
        return self

    def _whole(self, draw: Draw, table: Table, i: int, k: int) -> tuple[FeatureMap, Summary]:
        """φ and summary of all rows, as candidates were drawn in the folds: part of the largest."""
        phi = draw(table).phi_of(i, k)
        n_folds = self._machine(0)._n_folds(fresh=True)
        return phi, table.add_up(sum_up, phi, self.classes_, n_folds)

    def _rows(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, scorer: Any, seed: int
    ) -> tuple[Table, Array, Folded, int | None]:
        """Rows in memory in their folds, and how many folds a machine of all of them can keep."""
        X, y, _ = check_rows(self, X, y, None, reset=True)
        weight = check_weight(X, sample_weight)
        if groups is not None and len(groups) != len(y):
            raise InputError(
                f"There must be one group for each of {len(y)} rows; {len(groups)} came."
            )
        classes_of(y)
        folds, content = self._folds(X, y, weight, groups, seed)
        self.folds_ = folds
        if weight is not None and not weight.all():
            there = weight > 0
            X, y, weight, folds = X[there], y[there], weight[there], folds[there]
        classes = classes_of(y)
        _stakes.check(self.priors, self.costs, classes)
        n_folds = check_folds(folds, y)

        def score(machine: Machine, lines: Array, labels: Array, w: Array | None) -> float:
            weights = {} if w is None else {"sample_weight": w}
            return float(scorer(OnTheLine(machine, classes), lines, classes[labels], **weights))

        rows = Rows(X, encode(y, classes), weight, folds, n_folds, score, self.n_jobs)
        final = self._final_folds(n_folds) if content else None
        return InMemory(X, y, weight, self.n_jobs), classes, rows, final

    def _block_rows(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, scorer: Any, seed: int
    ) -> tuple[Table, Array, Folded, int | None]:
        """Rows in blocks, in folds by their content."""
        n_folds = self._number_of_folds(groups)
        check_scorer(scorer, self.scoring)
        table = table_of(self, X, y, sample_weight, reset=True)
        assert isinstance(table, InBlocks)
        classes = classes_of(table.seen.labels)
        _stakes.check(self.priors, self.costs, classes)
        _, content = self._machine(seed)._content(table)
        rows = BlockRows.of(table, classes, content, n_folds, scorer)
        self.folds_ = lazy_folds(table, content, n_folds)
        return table, classes, rows, self._final_folds(n_folds)

    def _number_of_folds(self, groups: Any) -> int:
        if groups is not None or not isinstance(self.cv, Integral) or int(self.cv) < 2:
            raise InputError(
                "Rows that lie in blocks are put into folds by their content: cv must be a number "
                f"of folds, and groups None; got cv={self.cv!r}"
                f"{'' if groups is None else ' and groups'}. Other folds need the rows in memory."
            )
        return int(self.cv)

    def _draws(self, sizes: list[int], seed: int) -> Iterator[tuple[list[str], Draw]]:
        """Labels of settings, and what draws φ for them."""
        raise NotImplementedError

    def _params(self, table: Table, setting: int, size: int, seed: int) -> dict[str, Any]:
        """The parameters of a candidate."""
        raise NotImplementedError

    def _machine(self, seed: int, **params: Any) -> EntropyClassifier:
        """The machine of a candidate, unfitted."""
        shared = {name: getattr(self, name) for name in self._shared}
        return self._kind(random_state=seed, **shared, **params)

    def _folds(
        self, X: Any, y: Array, weight: Array | None, groups: Any, seed: int
    ) -> tuple[Array, bool]:
        """The fold of each row, and whether it follows from the row's content."""
        if isinstance(self.cv, Integral) and int(self.cv) >= 2:
            there = slice(None) if weight is None else weight > 0
            _, content = self._machine(seed)._content(InMemory(X[there], None, None, self.n_jobs))
            hashes = np.concatenate([content(X[s]) for s in chunks(*X.shape)])
            folds = by_content(int(self.cv), hashes, np.unique(y, return_inverse=True)[1])
            if folds is not None:
                return folds, True
            folds = np.full(len(y), UNTESTED)
            folds[there] = dealt(int(self.cv), hashes[there], y[there])
            return folds, False
        return split(self.cv, X, y, groups), False

    def _final_folds(self, n_folds: int) -> int | None:
        """How many of these folds a machine of its own would keep; None where they do not fit."""
        if self.decision != "cross-fitted" and self.ridge != "auto":
            return 1
        return N_FOLDS if n_folds % N_FOLDS == 0 else n_folds if n_folds > N_FOLDS else None

    def _assembled(
        self, machine: EntropyClassifier, phi: FeatureMap, summary: Summary
    ) -> EntropyClassifier:
        """The machine of all rows from the sums of the folds: the fit it would have been."""
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self, name):
                setattr(machine, name, getattr(self, name))
        machine.feature_map_, machine.summary_ = phi, summary
        machine._solve()
        return machine

    def _walk(self, draw: Draw, rows: Folded, classes: Array, final: int | None) -> Scored:
        """Scores and divergences along the path of one draw of φ."""

        def stakes(counts: Array) -> tuple[Array, Array]:
            return (
                _stakes.log_priors(self.priors, classes, counts),
                _stakes.log_costs(self.costs, classes),
            )

        terms = Terms(self.shrinkage, self.ridge, self.decision == "cross-fitted", stakes)
        engine = partial(run, n_jobs=self.n_jobs, ahead=2)

        def watch(tasks: Iterable[Any], total: int) -> Iterable[Any]:
            return with_progress(tasks, total=total, unit="fit") if self.progress else tasks

        return score_path(draw, rows, terms, engine, watch, final)

    # ---------------------------------------------------------------- the best machine answers

    def predict(self, X: Any) -> Array:
        """The class of each row, by the best machine."""
        return self._best().predict(X)

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class under the priors, by the best machine."""
        return self._best().predict_proba(X)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of `predict_proba`."""
        return self._best().predict_log_proba(X)

    def decision_function(self, X: Any) -> Array:
        """Log-odds of the second class, costs included; ln(C p) with more classes."""
        return self._best().decision_function(X)

    def project(self, X: Any) -> Array:
        """βᵀφ(x): where each row falls on the line of the best machine."""
        return self._best().project(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class the best machine predicts."""
        return self._best().score(X, y, sample_weight)

    def _best(self) -> EntropyClassifier:
        check_is_fitted(self)
        return self.best_estimator_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _sizes(name: str, sizes: Sequence[int]) -> list[int]:
    """Sizes in increasing order, each once."""
    if not len(sizes):
        raise InputError(f"`{name}` must hold at least one size; it is empty.")
    strange = [k for k in sizes if not isinstance(k, Integral) or isinstance(k, bool) or k < 1]
    if strange:
        raise InputError(f"`{name}` must hold positive whole numbers; got {strange[0]!r}.")
    return sorted({int(k) for k in sizes})
