"""Can the divergence choose? Settings by D_CS beside those by cross-validation.

The candidates are the paper's activations and sizes together, and the fits are those of the grid:
no fold is fitted again. From the same rows come

    best of the grid   the setting with the best mean over the test folds, as the paper reports it
    D_CS               in each fold the setting with the largest divergence of the training rows
    nested             in each fold the setting that ten inner folds choose (EEM, in one pass)
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from extreme_entropy import EEMClassifierCV, gmean_score
from extreme_entropy.features.neurons import Uniform

from ..store import Row
from . import grid
from .claims import datasets_of
from .jobs import Job, data_of
from .protocol import N_FOLDS, SIZES, folds
from .render import PageTable
from .verdicts import Trials, at_largest, gather

ACTIVATIONS: tuple[Uniform, ...] = ("sig", "nsig", "rbf")
FAMILIES = ("EEM", "WELM")
INNER_FOLDS = 10
NESTED = "nested EEM"
MODELS = (*(f"{family}-{name}" for family in FAMILIES for name in ACTIVATIONS), NESTED)
DATASETS = datasets_of("uci")
SETTING = {"inner": INNER_FOLDS, "folds": N_FOLDS}


def plan(
    datasets: Sequence[str], models: Sequence[str], repeats: int
) -> Iterator[tuple[Job, str | None]]:
    """The grid's own jobs; and one for the nested choice in all folds of a repetition."""
    yield from grid.plan(datasets, [model for model in models if model != NESTED], repeats)
    for repeat in range(repeats if NESTED in models else 0):
        for dataset in datasets:
            yield Job(dataset, NESTED, repeat, 0, (SETTING,)), None


def work(job: Job) -> list[Row]:
    """Rows of the grid, or the nested choice."""
    return nested(job) if job.model == NESTED else grid.work(job)


def nested(job: Job) -> list[Row]:
    """Mean GMean over the test folds, in each of which inner folds have chosen."""
    X, y = data_of(job.dataset)
    start, scores = time.perf_counter(), []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant models are scored
        for train, test in folds(X, y, job.repeat):
            search = EEMClassifierCV(
                SIZES,
                activation=ACTIVATIONS,
                cv=INNER_FOLDS,
                scale="minmax",
                ridge=0.0,
                decision="paper",
                priors="balanced",
                costs=None,
                random_state=job.repeat,
            )
            search.fit(X[train], y[train])
            scores.append(100 * gmean_score(y[test], search.predict(X[test])))
    found = {
        "gmean": round(float(np.mean(scores)), 2),
        "fit_seconds": round(time.perf_counter() - start, 5),  # of all folds
        "seed": job.repeat,
    }
    return [{**job.about(setting), **found} for setting in job.settings]


# ------------------------------------------------------------------ the page

COLUMNS = ("best of the grid", "nested", "D_CS, Gaussian", "D_CS, KDE")


def page(rows: Iterable[Row]) -> PageTable:
    """One line for each data set and family, then the means."""
    found = choices(rows)
    lines = [
        [f"{dataset}, {family}", *map(_shown, found[dataset, family])] for dataset, family in found
    ]
    for family in FAMILIES:
        values = np.array([found[dataset, family] for dataset in DATASETS], dtype=float)
        means = [column.mean() if np.isfinite(column).all() else np.nan for column in values.T]
        lines.append([f"mean, {family}", *map(_shown, means)])
    return PageTable(
        "Choosing hyper-parameters by divergence",
        "GMean over the folds of the paper's protocol, with the paper's settings; activation and "
        "size are chosen. Best of the grid: the best mean over the test folds, as the paper "
        "reports it, which is optimistic. Nested: ten inner folds choose in each training fold. "
        "D_CS: the setting whose training projections have the largest divergence, Gaussian or by "
        "kernel density.",
        list(COLUMNS),
        lines,
        ["The nested choice is that of the first repetition of folds, the others of all."],
    )


def choices(rows: Iterable[Row]) -> dict[tuple[str, str], list[float]]:
    """By data set and family: GMean under each way to choose; NaN where it was not run."""
    rows = list(rows)
    trials = gather(rows)
    inner: dict[str, list[float]] = {}
    for row in rows:
        if row.get("model") == NESTED and "gmean" in row:
            inner.setdefault(row["dataset"], []).append(row["gmean"])
    return {
        (dataset, family): _ways(
            [trials.get((dataset, f"{family}-{name}")) for name in ACTIVATIONS],
            inner.get(dataset, []) if family == "EEM" else [],
        )
        for dataset in DATASETS
        for family in FAMILIES
    }


def _ways(each: list[Trials | None], inner: list[float]) -> list[float]:
    """The columns of the page, from the trials of all activations."""
    nested = float(np.mean(inner)) if inner else np.nan
    known = [trials for trials in each if trials is not None]
    if len(known) < len(ACTIVATIONS) or len({trials.gmean.shape[1] for trials in known}) > 1:
        return [np.nan, nested, np.nan, np.nan]
    whole = np.logical_and.reduce([trials.complete for trials in known])
    if not whole.any():
        return [np.nan, nested, np.nan, np.nan]
    gmean, gaussian, kde = (
        np.vstack([getattr(trials, field)[:, whole] for trials in known])
        for field in ("gmean", "gaussian", "kde")
    )
    by_divergence = [float(at_largest(values, gmean).mean()) for values in (gaussian, kde)]
    return [float(gmean.mean(axis=1).max()), nested, *by_divergence]


def _shown(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.1f}"
