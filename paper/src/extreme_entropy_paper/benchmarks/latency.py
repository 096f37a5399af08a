"""What does a prediction cost, and an import? Beside LogisticRegression, the limit and sklearn.

Rows are those of forest cover (10 numbers and 44 flags) and 54 Gaussian columns: each of those goes
through a curve when columns are scaled by rank, so they are the worst case of the default.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from typing import Any

import click
import numpy as np
from sklearn.linear_model import LogisticRegression

from ..baselines import Given, make
from ..store import Row, add_run
from .bare import predict_limit
from .measure import best_seconds
from .samples import shuffled, two_classes

COLUMNS, H, FITTED = 54, 500, 5000
THREADS = os.cpu_count() or 1
MODELS = ("EEM, paper's rbf", "EEM-default", "EEKM-default")


def predictions(kind: str, X: Any, y: Any) -> list[Row]:
    """Seconds of `predict_proba` for 1, 100 and 100 000 rows, after a fit on 5000."""
    X = X / np.abs(X).max(axis=0).clip(1)  # or LogisticRegression would take long to converge
    X, many, y = X[:FITTED], X[FITTED : FITTED + 100_000], y[:FITTED]
    rng = np.random.default_rng(0)
    weights, readout = rng.random((COLUMNS, H)) * -1e-3, rng.random((H, 1))
    models = {"LogisticRegression": LogisticRegression(max_iter=1000)}
    models |= {name: make(name, Given(len(X), 0, H, THREADS)) for name in MODELS}
    for model in models.values():
        model.fit(X, y)
    measured = []
    for n, repeats, pause in ((1, 300, 0.0), (100, 200, 0.0), (100_000, 8, 0.3)):
        asked = np.ascontiguousarray(many[:n])
        works = [partial(model.predict_proba, asked) for model in models.values()]
        bare = partial(predict_limit, asked, weights, readout, THREADS)
        *times, limit = best_seconds(*works, bare, repeats=repeats, pause=pause)
        for name, seconds in zip(models, times, strict=True):
            measured.append(
                {
                    "what": f"predict_proba of {n} rows, {kind}",
                    "model": name,
                    "milliseconds": round(1e3 * seconds, 3),
                    "x_logistic": round(seconds / times[0], 2),
                    "x_limit": round(seconds / limit, 2),
                }
            )
    return measured


def imports(repeats: int) -> list[Row]:
    """Seconds of importing us beside scikit-learn's linear models, each in a new process."""

    def load(module: str) -> None:
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    modules = ("sklearn.linear_model", "extreme_entropy")
    times = best_seconds(*(partial(load, module) for module in modules), repeats=repeats)
    return [
        {
            "what": f"import {module}",
            "model": None,
            "milliseconds": round(1e3 * seconds),
            "x_logistic": round(seconds / times[0], 2),
            "x_limit": None,
        }
        for module, seconds in zip(modules, times, strict=True)
    ]


@click.command()
@click.option("--repeats", default=10, show_default=True, help="Of the imports.")
def latency(repeats: int) -> None:
    """Time predictions of one row, a hundred and many; and imports."""
    measured = [
        *predictions("forest cover", *shuffled("forest_cover", 105_000)),
        *predictions("Gaussian", *two_classes(105_000, COLUMNS, 0.1, 1.0)),
        *imports(repeats),
    ]
    for row in measured:
        click.echo("  ".join(f"{name}: {value}" for name, value in row.items()))
    add_run("latency", measured)
