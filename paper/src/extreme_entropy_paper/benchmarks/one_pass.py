"""What do all folds and sizes cost? EEMClassifierCV beside one plain fit and beside GridSearchCV.

Ten folds, one activation. GridSearchCV refits the same classifier, with the same seed, threads and
folds, for each size and fold. The rows are those of protein homology, or made-up ones of its shape.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import click
import numpy as np
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from extreme_entropy import EEMClassifier, EEMClassifierCV
from extreme_entropy.metrics import gmean_scorer

from ..store import Row, add_run
from .measure import best_seconds, peak_megabytes
from .samples import shuffled

N_JOBS = os.cpu_count()
SEED = 0


def pairs(sizes: tuple[int, ...]) -> dict[str, tuple[Any, Any]]:
    """A plain classifier of the largest size, and the search over all sizes, by name."""
    paper: Any = {"scale": "minmax", "ridge": 0.0, "decision": "paper"}
    paper |= {"priors": "balanced", "costs": None}
    common: Any = {"n_jobs": N_JOBS, "random_state": np.random.RandomState(SEED).randint(2**31 - 1)}
    return {
        "EEM, paper's rbf": (
            EEMClassifier(sizes[-1], activation="rbf", **paper, **common),
            EEMClassifierCV(sizes, activation=("rbf",), **paper, n_jobs=N_JOBS, random_state=SEED),
        ),
        "EEM-default": (
            EEMClassifier(sizes[-1], **common),
            EEMClassifierCV(sizes, activation=("mixed",), n_jobs=N_JOBS, random_state=SEED),
        ),
    }


def measure(name: str, plain: Any, search: Any, X: Any, y: Any) -> Row:
    """One row: times, their ratios, the winners and the memory."""
    fit, path = best_seconds(partial(plain.fit, X, y), partial(search.fit, X, y), repeats=3)
    peak = peak_megabytes(partial(search.fit, X, y))
    sizes = list(search.n_hidden)
    folds = PredefinedSplit(search.folds_)
    refits = GridSearchCV(plain, {"n_hidden": sizes}, scoring=gmean_scorer, cv=folds)
    (seconds,) = best_seconds(partial(refits.fit, X, y), repeats=1)
    return {
        "rows": len(X),
        "model": name,
        "sizes": sizes,
        "fit_seconds": round(fit, 2),
        "cv_seconds": round(path, 2),
        "cv_x_fit": round(path / fit, 2),
        "peak_mb": round(peak),
        "winner": search.best_params_["n_hidden"],
        "gmean": round(100 * search.best_score_, 2),
        "grid_seconds": round(seconds, 2),
        "grid_x_cv": round(seconds / path, 1),
        "grid_winner": refits.best_params_["n_hidden"],
        "grid_gmean": round(100 * refits.best_score_, 2),
    }


@click.command("one-pass")
@click.option("--full", is_flag=True, help="All 145 751 rows and sizes to 1000.")
def one_pass(full: bool) -> None:
    """Time all folds and sizes in one pass beside one fit and beside a grid search."""
    X, y = shuffled("protein_homology", None if full else 20_000)
    sizes = (50, 100, 250, 500, 1000) if full else (50, 100, 250, 500)
    measured = []
    for name, (plain, search) in pairs(sizes).items():
        measured.append(measure(name, plain, search, X, y))
        click.echo("  ".join(f"{key}: {value}" for key, value in measured[-1].items()))
    add_run("one_pass", measured)
