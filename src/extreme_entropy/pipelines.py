"""Pipelines: the last step, and rows as they reach it."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted


def last_step(estimator: Any) -> Any:
    """The last step of a pipeline; any other estimator is its own."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def at_last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The last step of a fitted estimator, and rows as the steps before it hand them on."""
    last = last_step(estimator)
    check_is_fitted(last)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        X = estimator[:-1].transform(X)
    return last, X
