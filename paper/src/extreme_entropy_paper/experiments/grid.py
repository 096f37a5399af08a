"""The paper's result tables: every setting of its grids on every fold, fitted, timed and scored."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from extreme_entropy.metrics import gmean_score
from extreme_entropy.selection.divergence_search import divergence_of

from ..datasets import list_datasets
from .claims import datasets_of
from .jobs import Array, Job, Setting, data_of
from .protocol import N_FOLDS, classifier, fold_of, obstacle, seed_of, settings_of

SETTINGS_AT_ONCE = 11  # of a job, so that rows come often;
MANY_ROWS = 5000  # one by one where fits take long
DENSITIES = ("gaussian", "kde")


def plan(
    datasets: Sequence[str], models: Sequence[str], repeats: int
) -> Iterator[tuple[Job, str | None]]:
    """All jobs, and why not to try one. Quick ones come first."""
    about = {dataset.name: dataset for dataset in list_datasets()}
    quick = sorted(models, key=lambda model: len(settings_of(model)))
    for repeat in range(repeats):
        for model in quick:
            for name in sorted(datasets, key=lambda name: about[name].rows):
                reason = obstacle(model, about[name].rows, about[name].columns)
                at_once = 1 if about[name].rows > MANY_ROWS else SETTINGS_AT_ONCE
                for fold, some in product(range(N_FOLDS), _parts(settings_of(model), at_once)):
                    yield Job(name, model, repeat, fold, some), reason


def _parts(settings: list[Setting], size: int) -> list[tuple[Setting, ...]]:
    return [tuple(settings[start : start + size]) for start in range(0, len(settings), size)]


def work(job: Job) -> list[dict[str, Any]]:
    """A row for each setting of a job. Runs in a process of its own."""
    X, y = data_of(job.dataset)
    train, test = fold_of(X, y, job.repeat, job.fold)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant models and iterations cut short are scored
        return [_row(job, s, X[train], y[train], X[test], y[test]) for s in job.settings]


def _row(
    job: Job, setting: Setting, X: Array, y: Array, X_test: Array, y_test: Array
) -> dict[str, Any]:
    seed = seed_of(job.repeat, job.fold)
    start = time.perf_counter()
    fitted = classifier(job.model, setting, seed).fit(X, y)
    middle = time.perf_counter()
    answers = fitted.predict(X_test)
    end = time.perf_counter()
    return {
        **job.about(setting),
        "gmean": round(100 * gmean_score(y_test, answers), 4),
        **_divergences(job.dataset, fitted, X, y),
        **_iterations(fitted),
        "fit_seconds": round(middle - start, 5),
        "predict_seconds": round(end - middle, 5),
        "seed": seed,
    }


def _divergences(dataset: str, fitted: Any, X: Array, y: Array) -> dict[str, float | None]:
    """Of the training projections, where a table of the paper chooses by them."""
    if dataset not in datasets_of("gaussian"):
        return {}
    return {
        f"dcs_{density}": _number(divergence_of(fitted, X, y, density=density))
        for density in DENSITIES
    }


def _number(value: float) -> float | None:
    """To six digits; JSON has no word for what is no number."""
    return float(f"{value:.6g}") if np.isfinite(value) else None


def _iterations(fitted: Any) -> dict[str, int]:
    """Of an SVM, whose protocol limits them."""
    steps = getattr(fitted, "named_steps", {})
    return {"iterations": int(steps["svc"].n_iter_.max())} if "svc" in steps else {}
