"""What do all folds and sizes cost? EEMClassifierCV beside one plain fit and beside GridSearchCV.

    python benchmarks/one_pass.py           20 000 rows of protein homology's shape, sizes to 500
    python benchmarks/one_pass.py --full    all 145 751 rows, sizes to 1000

Ten folds, one activation. GridSearchCV refits the same machine, with the same seed, threads and
folds, for each size and fold. Uses protein homology from EXTREME_ENTROPY_DATA, or made-up rows.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import rows
from measure import best_seconds, peak_megabytes
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from extreme_entropy import EEMClassifier, EEMClassifierCV
from extreme_entropy.metrics import gmean_scorer

N_JOBS = os.cpu_count()
SEED = 0


def load(n: int | None) -> tuple[Any, Any]:
    """Protein homology, or made-up rows of its shape."""
    path = Path(os.environ.get("EXTREME_ENTROPY_DATA", "")) / "protein_homology.npz"
    rng = np.random.default_rng(SEED)
    if path.is_file():
        with np.load(path) as arrays:
            order = rng.permutation(len(arrays["y"]))[:n]
            return arrays["X"][order].astype(np.float64), arrays["y"][order]
    y = np.where(rng.random(n or 145_751) < 0.009, 1, -1)
    return rng.normal(size=(len(y), 74)) + 0.5 * (y[:, None] > 0), y


def machines(sizes: tuple[int, ...]) -> dict[str, tuple[Any, Any]]:
    """A plain machine of the largest size, and the search over all sizes, by name."""
    paper = {"scale": "minmax", "ridge": 0.0, "decision": "paper"}
    common = {"n_jobs": N_JOBS, "random_state": np.random.RandomState(SEED).randint(2**31 - 1)}
    return {
        "paper's rbf": (
            EEMClassifier(sizes[-1], activation="rbf", **paper, **common),
            EEMClassifierCV(sizes, activation=("rbf",), **paper, n_jobs=N_JOBS, random_state=SEED),
        ),
        "default": (
            EEMClassifier(sizes[-1], **common),
            EEMClassifierCV(sizes, activation=("mixed",), n_jobs=N_JOBS, random_state=SEED),
        ),
    }


def measure(name: str, plain: Any, search: Any, X: Any, y: Any, *, grid: bool) -> dict[str, Any]:
    """One row: times, their ratios, the winners and the memory."""
    fit, path = best_seconds(partial(plain.fit, X, y), partial(search.fit, X, y), repeats=3)
    row: dict[str, Any] = {
        "rows": len(X),
        "machine": name,
        "sizes": " ".join(map(str, search.n_hidden)),
        "fit_seconds": f"{fit:.2f}",
        "cv_seconds": f"{path:.2f}",
        "cv_x_fit": f"{path / fit:.2f}",
        "peak_mb": f"{peak_megabytes(partial(search.fit, X, y)):.0f}",
        "winner": search.best_params_["n_hidden"],
        "gmean": f"{100 * search.best_score_:.2f}",
        "grid_seconds": "",
        "grid_x_cv": "",
        "grid_winner": "",
        "grid_gmean": "",
    }
    if grid:
        folds = PredefinedSplit(search.folds_)
        refits = GridSearchCV(
            plain, {"n_hidden": list(search.n_hidden)}, scoring=gmean_scorer, cv=folds
        )
        (seconds,) = best_seconds(partial(refits.fit, X, y), repeats=1)
        row |= {
            "grid_seconds": f"{seconds:.2f}",
            "grid_x_cv": f"{seconds / path:.1f}",
            "grid_winner": refits.best_params_["n_hidden"],
            "grid_gmean": f"{100 * refits.best_score_:.2f}",
        }
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="all 145 751 rows, sizes to 1000")
    full = parser.parse_args().full
    X, y = load(None if full else 20_000)
    sizes = (50, 100, 250, 500, 1000) if full else (50, 100, 250, 500)
    measured = []
    for name, (plain, search) in machines(sizes).items():
        measured.append(measure(name, plain, search, X, y, grid=True))
        print("  ".join(f"{key}: {value}" for key, value in measured[-1].items()), flush=True)
    rows.append("one_pass", measured)


if __name__ == "__main__":
    main()
