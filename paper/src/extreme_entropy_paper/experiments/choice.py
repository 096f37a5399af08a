"""Can the divergence choose? Hyper-parameters by D_CS beside those by cross-validation.

    python benchmarks/choice.py     nine data sets of the paper, about ten minutes; docs/choice.md

For each outer fold and candidate (activation and size, the paper's grid) one fit on the training
rows gives D_CS of its own projections and GMean on the test rows. From the same fits come

    best of grid   the candidate with the best mean over the test folds, as the paper reports it
    D_CS           in each fold the candidate with the largest divergence on the training rows
    nested         in each fold the candidate that 10 inner folds choose (EEM only, in one pass)

Needs EXTREME_ENTROPY_DATA, a folder with the data as NAME.npz (X, y).
"""

from __future__ import annotations

import argparse
import os
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import rows
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from extreme_entropy import EEMClassifier, EEMClassifierCV, gmean_score
from extreme_entropy.baselines.elm import WELMClassifier
from extreme_entropy.selection.divergence_search import divergence_of

DATASETS = (
    *("australian", "breast_cancer", "diabetes", "german_numer", "heart"),
    *("ionosphere", "liver_disorders", "sonar", "splice"),
)
SIZES = (50, 100, 250, 500, 1000)
ACTIVATIONS = ("sig", "nsig", "rbf")
CANDIDATES = list(product(ACTIVATIONS, SIZES))
SEED = 0
PAPER = {"scale": "minmax", "ridge": 0.0, "decision": "paper"}
MODELS = ("EEM", "WELM")


def candidate(model: str, activation: str, size: int) -> Any:
    """A machine of the paper's grid."""
    if model == "EEM":
        return EEMClassifier(size, activation=activation, random_state=SEED, **PAPER)
    return WELMClassifier(size, activation=activation, random_state=SEED)


def one_fold(model: str, X: Any, y: Any, train: Any, test: Any) -> dict[str, Any]:
    """GMean and divergences of every candidate in one outer fold, and what inner folds choose."""
    with threadpool_limits(1):
        found: dict[str, Any] = {"gmean": [], "gaussian": [], "kde": []}
        for activation, size in CANDIDATES:
            machine = candidate(model, activation, size).fit(X[train], y[train])
            found["gmean"].append(100 * gmean_score(y[test], machine.predict(X[test])))
            for density in ("gaussian", "kde"):
                found[density].append(divergence_of(machine, X[train], y[train], density=density))
        if model == "EEM":
            search = EEMClassifierCV(SIZES, activation=ACTIVATIONS, random_state=SEED, **PAPER)
            search.fit(X[train], y[train])
            found["nested"] = 100 * gmean_score(y[test], search.predict(X[test]))
        return found


def measure(name: str, model: str, X: Any, y: Any) -> dict[str, Any]:
    """One row: GMean by each way of choosing."""
    splits = StratifiedKFold(10, shuffle=True, random_state=SEED).split(X, y)
    folds = Parallel(n_jobs=os.cpu_count())(
        delayed(one_fold)(model, X, y, train, test) for train, test in splits
    )
    gmeans = np.array([fold["gmean"] for fold in folds])
    chosen = {
        density: np.mean([fold["gmean"][int(np.argmax(fold[density]))] for fold in folds])
        for density in ("gaussian", "kde")
    }
    nested = [fold["nested"] for fold in folds] if model == "EEM" else []
    return {
        "dataset": name,
        "model": model,
        "best_of_grid": f"{gmeans.mean(axis=0).max():.2f}",
        "nested": f"{np.mean(nested):.2f}" if nested else "",
        "dcs_gaussian": f"{chosen['gaussian']:.2f}",
        "dcs_kde": f"{chosen['kde']:.2f}",
        "seed": SEED,
    }


def page() -> str:
    """docs/choice.md from the newest rows."""
    measured = rows.read("choice")
    columns = ("best_of_grid", "nested", "dcs_gaussian", "dcs_kde")
    lines = [
        "# Choosing hyper-parameters by divergence",
        "",
        "GMean over ten outer folds on the nine UCI sets of the paper, the paper's machines and",
        "grid. *Best of grid* is the best mean over the test folds, as the paper reports it, and",
        "optimistic; *nested* lets ten inner folds choose; *D_CS* takes the candidate whose",
        "training projections diverge most, Gaussian or by kernel density.",
        "",
        "| data set | model | best of grid | nested | D_CS, Gaussian | D_CS, KDE |",
        "|---|---|---|---|---|---|",
    ]
    for row in measured:
        values = " | ".join(row[column] for column in columns)
        lines.append(f"| {row['dataset']} | {row['model']} | {values} |")
    for model in MODELS:
        means = []
        for column in columns:
            values = [float(r[column]) for r in measured if r["model"] == model and r[column]]
            means.append(f"**{np.mean(values):.2f}**" if values else "")
        lines.append(f"| **mean** | {model} | {' | '.join(means)} |")
    lines += ["", "Made by `python benchmarks/choice.py`.", "", *rows.measured_on(measured)]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--render", action="store_true", help="the page again, from the rows")
    if not parser.parse_args().render:
        folder = Path(os.environ["EXTREME_ENTROPY_DATA"])
        measured = []
        for name, model in product(DATASETS, MODELS):
            with np.load(folder / f"{name}.npz") as arrays:
                X, y = arrays["X"].astype(float), arrays["y"]
            measured.append(measure(name, model, X, y))
            print(measured[-1], flush=True)
        rows.append("choice", measured)
    Path(__file__).parents[1].joinpath("docs", "choice.md").write_text(page())


if __name__ == "__main__":
    main()
