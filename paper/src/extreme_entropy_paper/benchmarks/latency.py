"""What does a prediction cost, and an import? Beside LogisticRegression, the limit and sklearn.

    python benchmarks/latency.py

The limit of many rows is the bare product and activation, chunk by chunk, as in limit.py. Rows are
those of forest cover (10 numbers and 44 flags) and 54 Gaussian columns: each of those goes through
a curve when columns are scaled by rank, so they are the worst case of the default.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import rows
from limit import load
from measure import best_seconds
from sklearn.linear_model import LogisticRegression

from extreme_entropy import EEKMClassifier, EEMClassifier
from extreme_entropy.engines.threads import run
from extreme_entropy.features.chunks import chunks

D, H = 54, 500
N_JOBS = os.cpu_count()


def bare(X: Any, weights: Any, readout: Any) -> None:
    """Product, exponential and readout, chunk by chunk."""

    def chunk(stretch: slice) -> Any:
        hidden = X[stretch] @ weights
        np.exp(hidden, out=hidden)
        return hidden @ readout

    tasks = [partial(chunk, stretch) for stretch in chunks(len(X), weights.shape[1])]
    np.concatenate(list(run(tasks, N_JOBS, ahead=len(tasks))))


def gaussian() -> tuple[Any, Any]:
    """105 000 rows of 54 Gaussian columns."""
    rng = np.random.default_rng(0)
    y = (rng.random(105_000) < 0.1).astype(int)
    return rng.normal(size=(len(y), D)) + y[:, None], y


def predictions(kind: str, X: Any, y: Any) -> list[dict[str, Any]]:
    """Seconds of `predict_proba` for 1, 100 and 100 000 rows, after a fit on 5000."""
    X = X / np.abs(X).max(axis=0).clip(1)  # or LogisticRegression would take long to converge
    X, many, y = X[:5000], X[5000:105_000], y[:5000]
    rng = np.random.default_rng(0)
    weights, readout = rng.random((D, H)) * -1e-3, rng.random((H, 1))
    models = {
        "LogisticRegression": LogisticRegression(max_iter=1000),
        "EEM, paper's rbf": EEMClassifier.paper("rbf", H, n_jobs=N_JOBS, random_state=0),
        "EEM default": EEMClassifier(H, n_jobs=N_JOBS, random_state=0),
        "EEKM default": EEKMClassifier(H, n_jobs=N_JOBS, random_state=0),
    }
    for model in models.values():
        model.fit(X, y)
    measured = []
    for n, repeats, pause in ((1, 300, 0.0), (100, 200, 0.0), (100_000, 8, 0.3)):
        asked = np.ascontiguousarray(many[:n])
        works = [partial(model.predict_proba, asked) for model in models.values()]
        logistic, *ours, limit = best_seconds(
            *works, partial(bare, asked, weights, readout), repeats=repeats, pause=pause
        )
        for name, seconds in zip(models, (logistic, *ours), strict=True):
            measured.append(
                {
                    "what": f"predict_proba of {n} rows, {kind}",
                    "model": name,
                    "milliseconds": f"{1e3 * seconds:.3f}",
                    "x_logistic": f"{seconds / logistic:.2f}",
                    "x_limit": f"{seconds / limit:.2f}",
                }
            )
    return measured


def imports(repeats: int) -> list[dict[str, Any]]:
    """Seconds of importing us beside scikit-learn's linear models, each in a new process."""

    def load(module: str) -> None:
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    modules = ("sklearn.linear_model", "extreme_entropy")
    times = best_seconds(*(partial(load, module) for module in modules), repeats=repeats)
    return [
        {
            "what": f"import {module}",
            "model": "",
            "milliseconds": f"{1e3 * seconds:.0f}",
            "x_logistic": f"{seconds / times[0]:.2f}",
            "x_limit": "",
        }
        for module, seconds in zip(modules, times, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10, help="of the imports")
    measured = [
        *predictions("forest cover", *load(105_000)),
        *predictions("Gaussian", *gaussian()),
        *imports(parser.parse_args().repeats),
    ]
    for row in measured:
        print(
            f"{row['what']:46} {row['model']:20} {row['milliseconds']:>10} ms"
            f"  {row['x_logistic']:>7} × first  {row['x_limit']:>5} × limit"
        )
    rows.append("latency", measured)


if __name__ == "__main__":
    main()
