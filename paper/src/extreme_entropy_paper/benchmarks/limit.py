"""How close to the limit? Our fit beside the bare products, activations and ?syrk it consists of.

The limit does, with the same threads and chunks of the same size, only what no fit of this model
can avoid (`bare`). The rows are those of forest cover, or made-up ones of its shape.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import click
import numpy as np

from ..baselines import Given, make
from ..store import Row, add_run
from .bare import fit_limit
from .measure import best_seconds, peak_megabytes
from .samples import shuffled

THREADS = os.cpu_count() or 1
MODELS = ("EEM, paper's rbf", "EEM-default")


def measure(X: Any, y: Any, h: int, repeats: int) -> list[Row]:
    """Rows for one hidden size and precision."""
    weights = np.random.default_rng(0).random((X.shape[1], h)).astype(X.dtype) * X.dtype.type(-1e-6)
    fits = [partial(make(name, Given(len(X), 0, h, THREADS)).fit, X, y) for name in MODELS]
    limit, *times = best_seconds(partial(fit_limit, X, weights, THREADS), *fits, repeats=repeats)
    return [
        {
            "rows": len(X),
            "h": h,
            "dtype": X.dtype.name,
            "model": name,
            "limit_seconds": round(limit, 3),
            "fit_seconds": round(seconds, 3),
            "ratio": round(seconds / limit, 3),
            "peak_mb_beyond_x": round(peak_megabytes(fit)),
        }
        for name, seconds, fit in zip(MODELS, times, fits, strict=True)
    ]


@click.command()
@click.option("--full", is_flag=True, help="All 581 012 rows instead of 100 000.")
@click.option("--repeats", default=3, show_default=True)
def limit(full: bool, repeats: int) -> None:
    """Time our fits beside the bare operations they consist of."""
    X, y = shuffled("forest_cover", 581_012 if full else 100_000)
    measured = []
    for dtype in (np.float64, np.float32):
        for h in (100, 500, 1000):
            for row in measure(X.astype(dtype), y, h, repeats):
                measured.append(row)
                click.echo("  ".join(f"{name}: {value}" for name, value in row.items()))
    add_run("limit", measured)
