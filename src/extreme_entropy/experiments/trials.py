"""One fold of one model: every setting fitted, timed and scored."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ..datasets import load_dataset
from ..metrics import gmean_score
from ..selection.divergence_search import divergence_of
from .protocol import Setting, folds, machine

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """Settings of a model to be tried on one fold of a data set."""

    dataset: str
    model: str
    repeat: int
    fold: int
    settings: tuple[Setting, ...]


@lru_cache(maxsize=2)
def _data(name: str) -> tuple[Array, Array]:
    X, y = load_dataset(name, return_X_y=True, download=False)
    return np.asarray(X, dtype=float), y


def try_job(job: Job) -> list[dict[str, Any]]:
    """A row for each setting of a job. Runs in a process of its own."""
    X, y = _data(job.dataset)
    train, test = next(islice(folds(X, y, job.repeat), job.fold, None))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant machines and iterations cut short are scored
        return list(_rows(job, X[train], y[train], X[test], y[test]))


def _rows(job: Job, X: Array, y: Array, X_test: Array, y_test: Array) -> Iterator[dict[str, Any]]:
    for setting in job.settings:
        start = time.perf_counter()
        fitted = machine(job.model, setting, seed=job.repeat).fit(X, y)
        middle = time.perf_counter()
        answers = fitted.predict(X_test)
        end = time.perf_counter()
        yield {
            "dataset": job.dataset,
            "model": job.model,
            "setting": setting,
            "repeat": job.repeat,
            "fold": job.fold,
            "gmean": round(100 * gmean_score(y_test, answers), 4),
            **{
                f"dcs_{density}": _number(divergence_of(fitted, X, y, density=density))
                for density in ("gaussian", "kde")
            },
            "fit_seconds": round(middle - start, 5),
            "predict_seconds": round(end - middle, 5),
            "seed": job.repeat,
        }


def _number(value: float) -> float | None:
    """To six digits; JSON has no word for what is no number."""
    return float(f"{value:.6g}") if np.isfinite(value) else None


def skip_rows(job: Job, reason: str) -> Iterable[dict[str, Any]]:
    """Rows that say why settings were not tried."""
    for setting in job.settings:
        yield {
            "dataset": job.dataset,
            "model": job.model,
            "setting": setting,
            "repeat": job.repeat,
            "fold": job.fold,
            "skipped": reason,
        }
