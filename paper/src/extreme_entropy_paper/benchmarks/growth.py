"""How does the cost grow? Fit time and peak memory against rows (streamed) and hidden size.

Rows are made up beforehand in batches and streamed through `fit_batches`, so that neither making
nor holding them counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import click

from extreme_entropy import EEMClassifier

from ..store import Row, add_run
from .measure import best_seconds, exponent, peak_megabytes
from .samples import two_classes

COLUMNS, H, BATCH = 20, 200, 20_000
FIXED_ROWS = 100_000  # where the hidden size grows
Batches = list[tuple[Any, Any]]


def stream(made: Batches, n: int) -> Iterator[tuple[Any, Any]]:
    """n rows, batch after batch."""
    for start in range(0, n, BATCH):
        X, y = made[start // BATCH % len(made)]
        yield X[: n - start], y[: n - start]


def measure(made: Batches, n: int, h: int, repeats: int) -> Row:
    model = EEMClassifier(h, n_jobs=os.cpu_count(), random_state=0)

    def fit() -> None:
        model.fit_batches(stream(made, n))

    (seconds,) = best_seconds(fit, repeats=repeats)
    return {
        "rows": n,
        "h": h,
        "fit_seconds": round(seconds, 3),
        "peak_mb": round(peak_megabytes(fit)),
    }


@click.command()
@click.option("--full", is_flag=True, help="Up to 2 000 000 rows instead of 200 000.")
@click.option("--repeats", default=3, show_default=True)
def growth(full: bool, repeats: int) -> None:
    """Time fits of more and more rows and neurons."""
    made = [two_classes(BATCH, COLUMNS, 0.05, 0.7, [0, i]) for i in range(10)]
    most = 2_000_000 if full else 200_000
    sizes = (10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000)
    measure(made, BATCH, H, 1)  # once before it counts
    measured = []
    for n, h in [
        *((n, H) for n in sizes if n <= most),
        *((FIXED_ROWS, h) for h in (100, 400, 800, 1600)),
    ]:
        row = measure(made, n, h, repeats)
        measured.append(row)
        click.echo(f"{n:9,} rows, h = {h:4}: {row['fit_seconds']:8} s, {row['peak_mb']:5} MB")
    by_rows = [(r["rows"], r["fit_seconds"]) for r in measured if r["h"] == H]
    by_size = [(r["h"], r["fit_seconds"]) for r in measured if r["rows"] == FIXED_ROWS]
    for row in measured:
        row["exponent_of_rows"] = round(exponent(*map(list, zip(*by_rows, strict=True))), 3)
        row["exponent_of_h"] = round(exponent(*map(list, zip(*by_size, strict=True))), 3)
    add_run("growth", measured)
