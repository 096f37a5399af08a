"""`eem bench`: how near a fit on this machine is to the bare limit, and rows per second.

The limit does only what no fit of this machine can avoid: the product with the weights, the
exponential, and HᵀH added to one matrix, with the same chunks and threads.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import click
import numpy as np

from ..engines.threads import run
from ..estimators.eekm import EEKMClassifier
from ..estimators.eem import EEMClassifier
from ..features.chunks import chunks, lanes
from ..moments.gram import add_gram
from .output import echo_json, json_option
from .progress import watched

Array = np.ndarray[Any, Any]

COLUMNS, RARE, REPEATS = 54, 0.02, 2


@click.command()
@click.option("--rows", default=20_000, show_default=True, type=click.IntRange(1000))
@click.option("--size", default=500, show_default=True, type=click.IntRange(1), help="Neurons.")
@json_option
def bench(rows: int, size: int, as_json: bool) -> None:
    """Take a quick look at how fast this machine fits and predicts, on made-up rows."""
    rng = np.random.default_rng(0)
    X, y = rng.random((rows, COLUMNS)), (rng.random(rows) < RARE).astype(int)
    weights = -1e-6 * rng.random((COLUMNS, size))
    machines: dict[str, Any] = {
        "EEM, paper's rbf": EEMClassifier.paper("rbf", size, n_jobs=-1, random_state=0),
        "EEM default": EEMClassifier(size, n_jobs=-1, random_state=0),
        "EEKM default": EEKMClassifier(size, n_jobs=-1, random_state=0),
    }
    works: dict[str, Callable[[], Any]] = {"limit": partial(bare, X, weights)}
    works |= {name: partial(machine.fit, X, y) for name, machine in machines.items()}
    best = _best_seconds(works)
    found = [
        {
            "machine": name,
            "fit_seconds": best[name],
            "times_the_limit": best[name] / best["limit"],
            "fit_rows_per_second": rows / best[name],
            "predict_rows_per_second": rows / _seconds(partial(machine.predict, X)),
        }
        for name, machine in machines.items()
    ]
    if as_json:
        settings = {"rows": rows, "columns": COLUMNS, "size": size, "threads": os.cpu_count()}
        echo_json({**settings, "limit_seconds": best["limit"], "machines": found})
        return
    click.echo(f"{rows:,} rows, {COLUMNS} columns, size {size}, {os.cpu_count()} processors")
    click.echo(f"The bare limit of a fit: {best['limit']:.2f} s, the best of {REPEATS}\n")
    click.echo(f"{'':20}{'fit, s':>8}{'× limit':>9}{'rows/s':>12}{'predicted/s':>14}")
    for row in found:
        click.echo(
            f"{row['machine']:20}{row['fit_seconds']:8.2f}{row['times_the_limit']:9.2f}"
            f"{row['fit_rows_per_second']:12,.0f}{row['predict_rows_per_second']:14,.0f}"
        )


def bare(X: Array, weights: Array) -> Array:
    """What cannot be avoided: products, exponentials and sums of squares, lane by lane."""

    def lane(stretch: slice) -> Array:
        part, h = X[stretch], weights.shape[1]
        S = np.zeros((h, h), X.dtype)
        for chunk in chunks(len(part), h):
            H = part[chunk] @ weights
            np.exp(H, out=H)
            add_gram(H, S)
        return S

    return sum(run([partial(lane, stretch) for stretch in lanes(len(X))], -1))  # type: ignore[return-value]


def _best_seconds(works: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The best time of each work, taken in turns, so that a busy moment hits them all."""
    best = dict.fromkeys(works, float("inf"))
    for _ in watched(range(REPEATS), "measuring", None):
        for name, work in works.items():
            best[name] = min(best[name], _seconds(work))
    return best


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
