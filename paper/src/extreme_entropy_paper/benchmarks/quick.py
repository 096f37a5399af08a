"""How near a fit on this computer is to the bare limit, and rows per second."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import Any

import click
import numpy as np

from ..baselines import Given, make
from .bare import fit_limit
from .measure import best_seconds
from .samples import two_classes

COLUMNS, RARE, REPEATS = 54, 0.02, 2
MODELS = ("EEM, paper's rbf", "EEM-default", "EEKM-default")


@click.command()
@click.option("--rows", default=20_000, show_default=True, type=click.IntRange(1000))
@click.option("--size", default=500, show_default=True, type=click.IntRange(1), help="Neurons.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def quick(rows: int, size: int, as_json: bool) -> None:
    """Take a quick look at how fast this computer fits and predicts, on made-up rows."""
    threads = os.cpu_count() or 1
    X, y = two_classes(rows, COLUMNS, RARE, 0.0)
    weights = -1e-6 * np.random.default_rng(0).random((COLUMNS, size))
    models = {name: make(name, Given(rows, 0, size, threads)) for name in MODELS}
    fits = [partial(model.fit, X, y) for model in models.values()]
    limit, *times = best_seconds(partial(fit_limit, X, weights, threads), *fits, repeats=REPEATS)
    found: list[dict[str, Any]] = [
        {
            "model": name,
            "fit_seconds": seconds,
            "times_the_limit": seconds / limit,
            "fit_rows_per_second": rows / seconds,
            "predict_rows_per_second": rows / best_seconds(partial(model.predict, X), repeats=1)[0],
        }
        for (name, model), seconds in zip(models.items(), times, strict=True)
    ]
    if as_json:
        settings = {"rows": rows, "columns": COLUMNS, "size": size, "threads": threads}
        click.echo(json.dumps({**settings, "limit_seconds": limit, "models": found}, indent=2))
        return
    click.echo(f"{rows:,} rows, {COLUMNS} columns, size {size}, {threads} processors")
    click.echo(f"The bare limit of a fit: {limit:.2f} s, the best of {REPEATS}\n")
    click.echo(f"{'':20}{'fit, s':>8}{'× limit':>9}{'rows/s':>12}{'predicted/s':>14}")
    for row in found:
        click.echo(
            f"{row['model']:20}{row['fit_seconds']:8.2f}{row['times_the_limit']:9.2f}"
            f"{row['fit_rows_per_second']:12,.0f}{row['predict_rows_per_second']:14,.0f}"
        )
