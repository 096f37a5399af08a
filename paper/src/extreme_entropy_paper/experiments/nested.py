"""The honest form of the result tables: settings chosen inside each training fold.

The paper's cells are the best mean over a grid, seen on the very rows that are scored. Here the
grid is tried by three-fold cross-validation within the training rows; the winner, fitted on all of
them, is scored once on the test rows. Same folds, same grids.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from extreme_entropy.metrics import gmean_score

from ..store import Row
from . import grid
from .claims import datasets_of, models_of
from .jobs import Array, Job, Setting, data_of
from .protocol import classifier, fold_of, seed_of, settings_of
from .render import PageTable
from .verdicts import cells, gather

INNER_FOLDS = 3
PREFIX = "nested "
TABLES = ("uci", "unbalanced")


def plan(
    datasets: Sequence[str], models: Sequence[str], repeats: int
) -> Iterator[tuple[Job, str | None]]:
    """One job for each fold; the choice is part of it."""
    seen = set()
    for job, reason in grid.plan(datasets, models, repeats):
        here = Job(job.dataset, PREFIX + job.model, job.repeat, job.fold, ({"inner": INNER_FOLDS},))
        name = here.dataset, here.model, here.repeat, here.fold
        if name not in seen:
            seen.add(name)
            yield here, reason


def work(job: Job) -> list[Row]:
    """Choose within the training rows, fit, and score once."""
    X, y = data_of(job.dataset)
    train, test = fold_of(X, y, job.repeat, job.fold)
    model, seed = job.model.removeprefix(PREFIX), seed_of(job.repeat, job.fold)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant models and iterations cut short are scored
        start = time.perf_counter()
        chosen = choose(model, X[train], y[train], seed)
        best = classifier(model, chosen, seed).fit(X[train], y[train])
        seconds = time.perf_counter() - start
        score = 100 * gmean_score(y[test], best.predict(X[test]))
    row = {
        "gmean": round(score, 4),
        "chosen": chosen,
        "fit_seconds": round(seconds, 5),  # of the whole choice
        "seed": seed,
    }
    return [{**job.about(setting), **row} for setting in job.settings]


def choose(model: str, X: Array, y: Array, seed: int) -> Setting:
    """The setting of the grid with the best mean GMean over inner folds."""
    inner = list(StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed).split(X, y))

    def mean_score(setting: Setting) -> float:
        scores = []
        for train, test in inner:
            fitted = classifier(model, setting, seed).fit(X[train], y[train])
            scores.append(gmean_score(y[test], fitted.predict(X[test])))
        return float(np.mean(scores))

    return max(settings_of(model), key=mean_score)


def page(rows: Iterable[Row]) -> PageTable:
    """Nested scores beside the best of the grid on the same folds."""
    rows = list(rows)
    scores: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        model = row.get("model", "")
        if model.startswith(PREFIX) and "gmean" in row:
            name = row["dataset"], model.removeprefix(PREFIX)
            scores.setdefault(name, []).append(row["gmean"])
    trials = gather(rows)
    best = {
        (cell.claim.dataset, cell.claim.model): cell.value
        for table in TABLES
        for cell in cells(table, trials)
    }
    datasets = [name for table in TABLES for name in datasets_of(table)]
    return PageTable(
        "GMean with hyper-parameters chosen inside each training fold",
        "Each cell: nested / best of the grid over the test folds themselves, both ours.",
        models_of("uci"),
        [
            [d, *(_shown(scores.get((d, m)), best[d, m]) for m in models_of("uci"))]
            for d in datasets
        ],
        [_optimism(model, scores, best) for model in models_of("uci")],
    )


def _shown(nested: list[float] | None, best: float | None) -> str:
    return f"{_figure(np.mean(nested) if nested else None)} / {_figure(best)}"


def _figure(value: Any) -> str:
    return "–" if value is None else f"{value:.1f}"


def _optimism(model: str, scores: Any, best: Any) -> str:
    """How much better the best of a grid looks than an honest choice, on average."""
    gaps = [
        best[name] - np.mean(found)
        for name, found in scores.items()
        if name[1] == model and best[name] is not None
    ]
    if not gaps:
        return f"{model}: not run."
    return (
        f"{model}: the best of the grid is {np.mean(gaps):.1f} points above, on {len(gaps)} sets."
    )
