"""DivergenceSearch: the setting whose projected classes diverge most, with no rows held out.

The paper's third table: instead of cross-validating, take the hyper-parameters with the largest
Cauchy–Schwarz divergence of the *training* projections. One fit a candidate.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..entropy.gaussian import cauchy_schwarz_divergence
from ..entropy.kde import kde_divergence
from ..errors import InputError, warn
from ..estimators.inputs import on_numpy
from ..machine.solving import floored
from ..pipelines import at_last_step
from ..progress import with_progress
from ..shapes import Array
from .best import BestAnswers, parameters_of, ranked


class Trial(NamedTuple):
    """One candidate, tried."""

    divergence: float
    estimator: Any
    fit_seconds: float
    score_seconds: float
    error: Exception | None = None


class DivergenceSearch(BestAnswers, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Choose parameters without held-out rows, by how far apart the classes are projected.

    Each candidate is fitted once on all rows. Its rows are projected to numbers, and the candidate
    with the largest Cauchy–Schwarz divergence between the classes wins. No row is held out, so the
    criterion suits classifiers that do not overfit their projections, such as `EEMClassifier` and
    `EEKMClassifier`; for others it rewards overfitting (the paper's tables show it for WELM).

    Parameters
    ----------
    estimator : classifier
        With `project` (ours) or `decision_function` (such as `SVC`), or a pipeline that ends in
        one.
    param_grid : dict of lists, or list of such dicts
        As for `GridSearchCV`.
    density : {"gaussian", "kde"}, default="gaussian"
        How projections become densities: a Gaussian for each class, or a Gaussian kernel density
        estimate with Silverman's bandwidth.
    error_score : "raise" or float, default=nan
        The divergence of a candidate that cannot be fitted, with a warning; or "raise".
    refit : bool, default=True
        Keep the best candidate as `best_estimator_`. It was fitted on all rows already.
    progress : bool, default=False
        Show a progress bar. Needs the extra `progress`.
    n_jobs : int, optional
        Candidates fitted at a time, on threads. None is one, -1 all.

    Attributes
    ----------
    cv_results_ : dict of arrays
        "params", "param_NAME", "divergence", "rank_divergence", "fit_time" and "score_time" of each
        candidate; can be made a data frame.
    best_estimator_ : classifier
        The best candidate, fitted. Only with refit=True.
    best_params_ : dict
        Its parameters.
    best_score_ : float
        Its divergence.
    best_index_ : int
        Its position in `cv_results_`.
    classes_ : ndarray of shape (n_classes,)
        Labels.

    See Also
    --------
    EEMClassifierCV : Choice by cross-validation, all folds and sizes in one pass.

    Notes
    -----
    With more than two classes the divergence is the mean over pairs of classes, each with its own
    projection: the pair's column of `project`, or the difference of two classes' log-odds against
    the first class (of an `ExtremeEntropyClassifier`) or columns of `decision_function`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from extreme_entropy import DivergenceSearch, EEMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid = {"n_hidden": [10, 50, 100], "activation": ["nsig", "rbf"]}
    >>> search = DivergenceSearch(EEMClassifier(random_state=0), grid).fit(X, y)
    >>> search.best_params_["n_hidden"]
    100
    >>> search.score(X, y) > 0.9
    True
    """

    # Set by learning.
    best_estimator_: Any
    best_index_: int
    best_params_: dict[str, Any]
    best_score_: float
    classes_: Array
    cv_results_: dict[str, Any]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"])],
        "param_grid": [dict, list],
        "density": [StrOptions({"gaussian", "kde"})],
        "error_score": [StrOptions({"raise"}), float, int],
        "refit": ["boolean"],
        "progress": ["boolean"],
        "n_jobs": [int, None],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Any] | list[Mapping[str, Any]],
        *,
        density: Literal["gaussian", "kde"] = "gaussian",
        error_score: float | Literal["raise"] = np.nan,
        refit: bool = True,
        progress: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.density = density
        self.error_score = error_score
        self.refit = refit
        self.progress = progress
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit each candidate once and keep the one with the largest divergence.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, in the candidates' `fit` and in the divergence.
        **fit_params
            Passed to the candidates' `fit`.

        Returns
        -------
        self
            The search, with the best candidate.
        """
        self._validate_params()
        if not is_classifier(self.estimator):
            raise InputError(
                "DivergenceSearch needs a classifier, since it compares projected classes; "
                f"{type(self.estimator).__name__} is none."
            )
        candidates = self._candidates()
        if sample_weight is not None:
            fit_params = {"sample_weight": sample_weight, **fit_params}
        with on_numpy():
            y = column_or_1d(y, warn=True)
        trials = self._trials(candidates, X, y, fit_params)
        divergences, fit_times, score_times = np.empty((3, len(candidates)))
        best, best_index = None, 0
        for i, trial in enumerate(trials):
            self._warn_if_failed(candidates[i], trial.error)
            divergences[i] = trial.divergence
            fit_times[i], score_times[i] = trial.fit_seconds, trial.score_seconds
            if np.isfinite(trial.divergence) and (best is None or _exceeds(trial, best)):
                best, best_index = trial, i
        if best is None:
            raise _none_is_best(trial, len(candidates))
        self.best_index_ = best_index
        self.cv_results_ = {
            **parameters_of(candidates),
            "divergence": divergences,
            "rank_divergence": ranked(divergences),
            "fit_time": fit_times,
            "score_time": score_times,
        }
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(best.divergence)
        self.classes_ = best.estimator.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(best.estimator, name):
                setattr(self, name, getattr(best.estimator, name))
        if self.refit:
            self.best_estimator_ = best.estimator
        return self

    def _candidates(self) -> list[dict[str, Any]]:
        try:
            candidates = list(ParameterGrid(self.param_grid))
        except ValueError as error:
            raise InputError(f"`param_grid` must give candidates: {error}") from error
        if not candidates or not self.param_grid:
            raise InputError(
                "`param_grid` must give at least one candidate; it is empty. "
                'Write, for example, {"n_hidden": [50, 100]}.'
            )
        return candidates

    def _trials(
        self, candidates: list[dict[str, Any]], X: Any, y: Array, fit_params: dict[str, Any]
    ) -> Iterable[Trial]:
        """Tried candidates in their order, no more of them in memory than threads need."""
        parallel = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
        trials = parallel(
            delayed(_try)(
                clone(self.estimator).set_params(**clone(params, safe=False)),
                X,
                y,
                fit_params,
                self.density,
                self.error_score,
            )
            for params in candidates
        )
        return with_progress(trials, total=len(candidates), unit="fit") if self.progress else trials

    def _warn_if_failed(self, params: dict[str, Any], error: Exception | None) -> None:
        if error is not None:
            warn(
                f"{params} could not be fitted and gets error_score={self.error_score}: {error}",
                FitFailedWarning,
            )

    @property
    def searched(self) -> Any:
        """The classifier whose parameters are chosen."""
        return self.estimator

    def _best(self) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise InputError(
                "This search kept no classifier (refit=False), so it cannot predict. "
                "Set refit=True, or fit one with `best_params_`."
            )
        return self.best_estimator_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_params_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.classifier_tags = inner.classifier_tags
        tags.input_tags = inner.input_tags
        return tags


def _try(
    estimator: Any,
    X: Any,
    y: Array,
    fit_params: dict[str, Any],
    density: str,
    error_score: float | str,
) -> Trial:
    """Fit one candidate and compute the divergence of its classes."""
    start = time.perf_counter()
    try:
        estimator.fit(X, y, **fit_params)
    except Exception as error:
        if error_score == "raise":
            raise
        return Trial(float(error_score), estimator, time.perf_counter() - start, 0.0, error)
    fitted = time.perf_counter()
    divergence = divergence_of(estimator, X, y, fit_params.get("sample_weight"), density)
    return Trial(divergence, estimator, fitted - start, time.perf_counter() - fitted)


def divergence_of(
    estimator: Any, X: Any, y: Array, weight: Array | None = None, density: str = "gaussian"
) -> float:
    """D_CS of the classes' projections by a fitted classifier, averaged over pairs of classes."""
    columns = _projections(estimator, X)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    between = _gaussian if density == "gaussian" else kde_divergence
    divergences = []
    for (a, b), values in zip(combinations(estimator.classes_, 2), columns, strict=True):
        rows_a, rows_b = (y == a) & (weight > 0), (y == b) & (weight > 0)
        of_a, of_b = values[rows_a], values[rows_b]
        finite = np.isfinite(of_a).all() and np.isfinite(of_b).all()
        divergence = between(of_a, of_b, weight[rows_a], weight[rows_b]) if finite else np.nan
        divergences.append(divergence)
    return float(np.mean(divergences))


def _projections(estimator: Any, X: Any) -> Iterator[Array]:
    """The projections of each pair of classes."""
    estimator, X = at_last_step(estimator, X)
    if hasattr(estimator, "project"):
        projections = estimator.project(X)
        if projections.ndim == 1:
            yield projections
        elif projections.shape[1] == len(estimator.classes_) - 1:  # all but the first class
            yield from _differences(np.column_stack([np.zeros(len(projections)), projections]))
        else:
            yield from projections.T
        return
    if not hasattr(estimator, "decision_function"):
        raise InputError(
            "A candidate must project rows to numbers, by `project` or `decision_function`; "
            f"{type(estimator).__name__} has neither."
        )
    scores = estimator.decision_function(X)
    if scores.ndim == 1:
        yield scores
        return
    if scores.shape[1] != len(estimator.classes_):
        raise InputError(
            "With more than two classes `decision_function` must give one column for each class; "
            f"{type(estimator).__name__} gives {scores.shape[1]} for {len(estimator.classes_)} "
            "classes. For SVC, set decision_function_shape='ovr'."
        )
    yield from _differences(scores)


def _differences(scores: Array) -> Iterator[Array]:
    """Of each two columns, the second less the first."""
    for i, j in combinations(range(scores.shape[1]), 2):
        yield scores[:, j] - scores[:, i]


def _gaussian(a: Array, b: Array, weight_a: Array, weight_b: Array) -> float:
    means = [float(np.average(x, weights=w)) for x, w in ((a, weight_a), (b, weight_b))]
    spreads = [
        float(np.average((x - m) ** 2, weights=w))
        for x, m, w in zip((a, b), means, (weight_a, weight_b), strict=True)
    ]
    variances = floored(spreads[0], spreads[1], means[1] - means[0])
    return cauchy_schwarz_divergence(means[0], variances[0], means[1], variances[1])


def _none_is_best(last: Trial, n: int) -> Exception:
    """Why no candidate is the best."""
    if last.error is not None:
        last.error.add_note(f"None of {n} candidates gave a divergence.")
        return last.error
    return InputError(
        f"The divergence must be a number for some candidate; it is none for all {n}. "
        "Look for infinite or missing projections."
    )


def _exceeds(trial: Trial, best: Trial) -> bool:
    """By more than rounding, so that of equals the first wins."""
    return trial.divergence - best.divergence > 1e-9 * abs(best.divergence)
