"""What does learned relevance cost? Fits with it beside fits without, taken in turns.

The plain fits are those of an RBF kernel and of radial and linear neurons, with all columns alike.
All parameters are written out, so that the rows mean the same when defaults change. Rows of forest
cover then show how the time with learned relevance grows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import click
import numpy as np

from extreme_entropy import EEKMClassifier, EEMClassifier

from ..store import Row, add_run
from .measure import best_seconds, exponent, peak_megabytes
from .samples import shuffled

THREADS = os.cpu_count() or 1
SIZE = 500
SHARE = 0.8  # of the rows of a data set are fitted, as in cross-validation
SHARED: dict[str, Any] = {"scale": "quantile", "random_state": 0, "n_jobs": THREADS}
KERNEL = partial(EEKMClassifier, SIZE, gamma="median", **SHARED)
NEURONS = partial(EEMClassifier, SIZE, activation="mixed", **SHARED)
# The plain fit of each classifier, and the one with learned relevance.
PAIRS = {
    "EEKM": (
        partial(KERNEL, kernel="rbf", relevance="uniform"),
        partial(KERNEL, kernel="mixed", relevance="learned"),
    ),
    "EEM": (partial(NEURONS, relevance="uniform"), partial(NEURONS, relevance="learned")),
}


def count_cpu(work: Callable[[], Any], spent: list[float]) -> None:
    """Do the work, and add the processor time it took, which others' work hardly changes."""
    start = time.process_time()
    work()
    spent.append(time.process_time() - start)


def measure(dataset: str, X: Any, y: Any, repeats: int) -> list[Row]:
    """A row for each classifier, all timed in one run."""
    fits = [partial(make().fit, X, y) for pair in PAIRS.values() for make in pair]
    spent: list[list[float]] = [[] for _ in fits]
    seconds = best_seconds(*map(partial, [count_cpu] * len(fits), fits, spent), repeats=repeats)
    cpu = [min(times) for times in spent]
    return [
        {
            "dataset": dataset,
            "rows": len(X),
            "columns": X.shape[1],
            "dtype": X.dtype.name,
            "model": name,
            "uniform_seconds": round(seconds[2 * i], 3),
            "learned_seconds": round(seconds[2 * i + 1], 3),
            "ratio": round(seconds[2 * i + 1] / seconds[2 * i], 3),
            "uniform_cpu_seconds": round(cpu[2 * i], 3),
            "learned_cpu_seconds": round(cpu[2 * i + 1], 3),
            "cpu_ratio": round(cpu[2 * i + 1] / cpu[2 * i], 3),
            "uniform_peak_mb_beyond_x": round(peak_megabytes(fits[2 * i])),
            "learned_peak_mb_beyond_x": round(peak_megabytes(fits[2 * i + 1])),
            "seed": 0,
            "load": round(os.getloadavg()[0], 1),  # of others too: seconds mean little where high
        }
        for i, name in enumerate(PAIRS)
    ]


def grow(dataset: str, X: Any, y: Any, sizes: list[int], repeats: int) -> list[Row]:
    """Fits with learned relevance of more and more rows, and the power their time grows with."""
    measured: list[Row] = []
    for name, (_, learned) in PAIRS.items():
        fits = [partial(learned().fit, X[:n], y[:n]) for n in sizes]
        spent: list[list[float]] = [[] for _ in fits]
        seconds = best_seconds(*map(partial, [count_cpu] * len(fits), fits, spent), repeats=repeats)
        cpu = [min(times) for times in spent]
        lengths = [float(n) for n in sizes]
        measured += [
            {
                "dataset": dataset,
                "rows": n,
                "dtype": X.dtype.name,
                "model": name,
                "learned_seconds": round(taken, 3),
                "learned_cpu_seconds": round(own, 3),
                "exponent_of_rows": round(exponent(lengths, seconds), 3),
                "cpu_exponent_of_rows": round(exponent(lengths, cpu), 3),
                "seed": 0,
                "load": round(os.getloadavg()[0], 1),
            }
            for n, taken, own in zip(sizes, seconds, cpu, strict=True)
        ]
    return measured


@click.command("relevance-cost")
@click.option("--most", type=int, help="Rows of each data set at most, for a quick look.")
@click.option("--repeats", default=3, show_default=True)
def relevance_cost(most: int | None, repeats: int) -> None:
    """Time fits with learned relevance beside fits without."""
    measured = []
    for dataset in ("protein_homology", "forest_cover"):
        X, y = shuffled(dataset, most)
        n = int(SHARE * len(X))
        for dtype in (np.float32, np.float64):
            rows = X[:n].astype(dtype)
            found = measure(dataset, rows, y[:n], repeats)
            if dataset == "forest_cover" and dtype == np.float32:
                sizes = [n // 16, n // 8, n // 4, n // 2, n]
                found += grow(dataset, rows, y[:n], sizes, repeats)
            for row in found:
                measured.append(row)
                click.echo("  ".join(f"{name}: {value}" for name, value in row.items()))
    add_run("relevance_cost", measured)
