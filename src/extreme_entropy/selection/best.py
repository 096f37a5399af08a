"""What all searches share: the best classifier answers and learns; a table of all candidates."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import Any, Self, TypeVar

import numpy as np
from scipy.stats import rankdata
from sklearn.utils.metaestimators import available_if

from ..errors import InputError
from ..estimators.base import EntropyClassifier
from ..estimators.inputs import Costs, Priors
from ..shapes import Array

T = TypeVar("T")


def _can(method: str) -> Callable[[Any], bool]:
    """Whether the best classifier, or before a fit the one to be fitted, has a method."""

    def check(search: Any) -> bool:
        getattr(getattr(search, "best_estimator_", search.searched), method)
        return True

    return check


def _fitted_can(method: str) -> Callable[[Any], bool]:
    """Whether there is a best classifier that has a method."""
    return lambda search: hasattr(getattr(search, "best_estimator_", None), method)


def _of_best(method: Callable[..., T], can: Callable[[str], Callable[[Any], bool]] = _can) -> Any:
    """A method of a classifier as one of a search, which its best classifier answers."""
    name = method.__name__

    @available_if(can(name))
    @wraps(method)
    def answer(self: Any, *arguments: Any, **options: Any) -> T:
        return getattr(self._best(), name)(*arguments, **options)

    return answer


class BestAnswers:
    """Methods of a search that are those of its best classifier."""

    best_estimator_: Any
    predict: Callable[..., Any] = _of_best(EntropyClassifier.predict)
    predict_proba: Callable[..., Any] = _of_best(EntropyClassifier.predict_proba)
    predict_log_proba: Callable[..., Any] = _of_best(EntropyClassifier.predict_log_proba)
    decision_function: Callable[..., Any] = _of_best(EntropyClassifier.decision_function)
    project: Callable[..., Any] = _of_best(EntropyClassifier.project)
    explain: Callable[..., Any] = _of_best(EntropyClassifier.explain)
    score: Callable[..., float] = _of_best(EntropyClassifier.score)
    to_onnx: Callable[..., None] = _of_best(EntropyClassifier.to_onnx)
    save: Callable[..., None] = _of_best(EntropyClassifier.save, _fitted_can)

    @property
    def searched(self) -> Any:
        """What has the methods of a candidate."""
        raise NotImplementedError

    def _best(self) -> Any:
        """The best classifier, or an error that says why there is none."""
        raise NotImplementedError

    @property
    def feature_importances_(self) -> Array:
        """How much each column matters to the best classifier."""
        return self._best().feature_importances_

    @available_if(_can("partial_fit"))
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to what the best classifier has learnt; the first rows choose it, as `fit` does.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`. The first rows must have all classes.
        classes : array-like, optional
            All labels that will ever come.

        Returns
        -------
        self
            The search with the rows learnt.
        """
        if hasattr(self, "best_estimator_"):
            self._best().partial_fit(X, y, classes, sample_weight)
            return self
        chosen = copy.copy(self).fit(X, y, sample_weight)  # type: ignore[attr-defined]
        missing = np.setdiff1d([] if classes is None else classes, chosen.classes_)
        if len(missing):
            raise InputError(
                "A search chooses by its first rows, which must have all classes; they have none "
                f"of {missing.tolist()}. Give it more rows first."
            )
        self.__dict__.update(chosen.__dict__)
        return self

    @available_if(_fitted_can("forget"))
    def forget(self, X: Any, y: Any, sample_weight: Any = None, *, force: bool = False) -> Self:
        """Remove rows from the best classifier; nothing is chosen again."""
        self._best().forget(X, y, sample_weight, force=force)
        return self

    @available_if(_fitted_can("merge"))
    def merge(self, other: Any) -> Self:
        """Add to the best classifier what another one with the same φ has learnt."""
        self._best().merge(getattr(other, "best_estimator_", other))
        return self

    @available_if(_fitted_can("with_costs"))
    def with_costs(self, costs: Costs | None = None, *, priors: Priors | None = None) -> Self:
        """Return the same search, with other costs or priors for its best classifier."""
        return self._with_best(self._best().with_costs(costs, priors=priors))

    @available_if(_fitted_can("slim"))
    def slim(self) -> Self:
        """Return the same search, with a best classifier for predictions only."""
        return self._with_best(self._best().slim())

    def _with_best(self, best: Any) -> Self:
        search = copy.copy(self)
        search.best_estimator_ = best
        return search


def results(candidates: list[dict[str, Any]], scores: Array) -> dict[str, Any]:
    """Candidates with their scores on each fold, as GridSearchCV has them in `cv_results_`."""
    means = scores.mean(axis=1)
    return {
        **parameters_of(candidates),
        **{f"split{k}_test_score": column for k, column in enumerate(scores.T)},
        "mean_test_score": means,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": ranked(means),
    }


def parameters_of(candidates: list[dict[str, Any]]) -> dict[str, Any]:
    """Candidates as "params", and each parameter as a column that is masked where it is absent."""
    columns: dict[str, Any] = {"params": candidates}
    for name in sorted({name for params in candidates for name in params}):
        values = np.ma.MaskedArray(np.empty(len(candidates), dtype=object), mask=True)
        for i, params in enumerate(candidates):
            if name in params:
                values[i] = params[name]
        columns[f"param_{name}"] = values
    return columns


def ranked(scores: Array) -> Array:
    """Ranks, 1 for the largest; what is no number comes last."""
    return rankdata(-np.where(np.isnan(scores), -np.inf, scores), method="min").astype(int)
