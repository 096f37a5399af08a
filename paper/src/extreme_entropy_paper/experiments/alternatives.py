"""Cells that differ, measured under alternative protocols.

`explanations` says of a cell what was checked; here it is checked. Each alternative changes one
thing that the paper leaves open. It is tried with every size of the grid on the protocol's folds,
and with every C where it has one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from extreme_entropy import EEMClassifier
from extreme_entropy.metrics import gmean_score

from ..baselines import TwoGaussians
from ..store import Row, name_of
from .claims import claims
from .jobs import Array, Job, Setting, data_of
from .protocol import COSTS, N_FOLDS, SIZES, classifier, fold_of, seed_of
from .render import PageTable

PROTOCOL = "as the protocol"
PARTS = "differences of the size of rounding believed"
WHOLE = "the whole table scaled at once"
FILLS: dict[str, Callable[[Array], float]] = {
    "missing values filled with 0": lambda known: 0.0,
    "with the median": lambda known: float(np.median(known)),
    "with the largest value": lambda known: float(known.max()),
}
WIDER = "widths of neurons divided by the number of columns"
RIDGED = "regularised, C from SVM's grid"
ALTERNATIVES = {
    ("sonar", "WELM-rbf"): (PROTOCOL, RIDGED),
    ("arythmia", "EEM-sig"): (PROTOCOL, PARTS),
    ("arythmia", "EEM-rbf"): (PROTOCOL, WHOLE, PARTS, WIDER),
    ("sick_euthyroid", "EEM-nsig"): (PROTOCOL, WHOLE, *FILLS),
    ("splice", "EEM-sig"): (PROTOCOL, WHOLE),
}
MODELS = tuple(dict.fromkeys(model for _, model in ALTERNATIVES))
DATASETS = [dataset for dataset, _ in ALTERNATIVES]


def plan(
    datasets: Sequence[str], models: Sequence[str], repeats: int
) -> Iterator[tuple[Job, str | None]]:
    """All sizes of an alternative on a fold are one job."""
    for (dataset, model), alternatives in ALTERNATIVES.items():
        if dataset in datasets and model in models:
            for repeat, alternative, fold in product(range(repeats), alternatives, range(N_FOLDS)):
                yield (
                    Job(dataset, f"{model}, {alternative}", repeat, fold, _settings(alternative)),
                    None,
                )


def _settings(alternative: str) -> tuple[Setting, ...]:
    if alternative == RIDGED:
        return tuple({"h": h, "C": C} for h, C in product(SIZES, COSTS))
    return tuple({"h": h} for h in SIZES)


def work(job: Job) -> list[Row]:
    """A row for each setting: the score, and the divergence of the classifier's own Gaussians."""
    model, alternative = job.model.split(", ", 1)
    X, y = data_of(job.dataset)
    if alternative in FILLS:
        X = refilled(X, FILLS[alternative])
    if alternative == WHOLE:
        X = MinMaxScaler().fit_transform(X)
    train, test = fold_of(X, y, job.repeat, job.fold)
    seed, rows = seed_of(job.repeat, job.fold), []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models whose classes are the same are scored too
        for setting in job.settings:
            fitted = _classifier(model, alternative, setting, seed).fit(X[train], y[train])
            answers = (
                by_parts(fitted, X[train], y[train], X[test])
                if alternative == PARTS
                else fitted.predict(X[test])
            )
            row = {**job.about(setting), "gmean": round(100 * gmean_score(y[test], answers), 4)}
            if isinstance(fitted, EEMClassifier):
                row["divergence"] = float(fitted.divergence_)
            rows.append({**row, "seed": seed})
    return rows


def _classifier(model: str, alternative: str, setting: Setting, seed: int) -> Any:
    """The classifier of a cell under an alternative."""
    chosen = classifier(model, {"h": setting["h"]}, seed)
    if alternative == WIDER:
        chosen.set_params(activation=wider)
    if alternative == WHOLE:
        chosen.set_params(scale=None)
    if alternative == RIDGED:
        chosen.set_params(C=setting["C"])
    return chosen


def wider(Z: Array, weights: Array, biases: Array) -> Array:
    """exp(−b‖w − z‖²/d)."""
    distances = cdist(Z, weights, "sqeuclidean")
    return np.asarray(np.exp(-biases * distances / Z.shape[1]))


def refilled(X: Array, fill: Callable[[Array], float]) -> Array:
    """X with the cells that were filled with their column's mean filled otherwise."""
    X = X.copy()
    for column in X.T:
        values, counts = np.unique(column, return_counts=True)
        for value in values[(counts > 1) & (counts < len(column))]:
            known = column[column != value]
            if np.isclose(known.mean(), value, rtol=1e-9, atol=0):
                column[column == value] = fill(known)
                break
    return X


def by_parts(fitted: Any, X: Array, y: Array, X_test: Array) -> Array:
    """The same machine put together from scikit-learn's parts, without our check for rounding."""
    phi, labels = fitted.feature_map_, fitted.classes_
    parts = TwoGaussians().fit(*(phi(X[y == label]) for label in labels))
    return np.asarray(labels[parts.predict(phi(X_test))])


def page(rows: Iterable[Row]) -> PageTable:
    """For each cell and alternative: best of the grid, and the choice by divergence."""
    found: dict[tuple[str, str], dict[tuple[int, int], dict[str, Row]]] = {}
    for row in rows:
        if ", " in row.get("model", "") and "gmean" in row:
            folds = found.setdefault((row["dataset"], row["model"]), {})
            folds.setdefault((row["repeat"], row["fold"]), {})[name_of(row["setting"])] = row
    lines = []
    for (dataset, model), alternatives in ALTERNATIVES.items():
        for alternative in alternatives:
            folds = found.get((dataset, f"{model}, {alternative}"), {})
            lines.append([f"{dataset}, {model}: {alternative}", *_figures(list(folds.values()))])
    return PageTable(
        "Cells that differ, under alternative protocols",
        "GMean over the folds, of the setting with the best mean and of the size with the largest "
        "divergence of the classifier's own Gaussians in each fold.",
        ["best of the grid", "chosen by D_CS"],
        lines,
        [_printed(*cell) for cell in ALTERNATIVES],
    )


def _figures(folds: list[dict[str, Row]]) -> list[str]:
    if not folds:
        return ["–", "–"]
    best = max(np.mean([fold[name]["gmean"] for fold in folds]) for name in folds[0])
    if "divergence" not in next(iter(folds[0].values())):
        return [f"{best:.1f}", "–"]
    chosen = [max(fold.values(), key=lambda row: row["divergence"])["gmean"] for fold in folds]
    return [f"{best:.1f}", f"{np.mean(chosen):.1f}"]


def _printed(dataset: str, model: str) -> str:
    """What the paper has for a cell, in each table it is in."""
    where = [
        f"{claim.value:g} ± {claim.spread:g} ({table})"
        for table in ("uci", "unbalanced", "gaussian", "kde")
        for claim in claims(table)
        if (claim.dataset, claim.model) == (dataset, model)
    ]
    return f"Printed for {model} on {dataset}: {', '.join(where)}."
