"""How does the cost grow? Fit time and peak memory against rows (streamed) and hidden size.

    python benchmarks/growth.py          up to 200 000 rows
    python benchmarks/growth.py --full   up to 2 000 000 rows

Rows are made up beforehand in blocks and streamed through `fit_batches`, so that neither making nor
holding them counts.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import rows
from measure import best_seconds, exponent, peak_megabytes

from extreme_entropy import EEMClassifier

D, H, BLOCK = 20, 200, 20_000
FIXED_ROWS = 100_000  # where the hidden size grows


def blocks() -> list[tuple[Any, Any]]:
    """Ten blocks of made-up rows, one class in twenty."""
    rng = np.random.default_rng(0)
    made = []
    for _ in range(10):
        y = (rng.random(BLOCK) < 0.05).astype(int)
        made.append((rng.normal(size=(BLOCK, D)) + 0.7 * y[:, None], y))
    return made


def stream(made: list[tuple[Any, Any]], n: int) -> Iterator[tuple[Any, Any]]:
    """n rows, block after block."""
    for start in range(0, n, BLOCK):
        X, y = made[start // BLOCK % len(made)]
        yield X[: n - start], y[: n - start]


def measure(made: list[tuple[Any, Any]], n: int, h: int, repeats: int) -> dict[str, Any]:
    machine = EEMClassifier(h, n_jobs=os.cpu_count(), random_state=0)

    def fit() -> None:
        machine.fit_batches(stream(made, n))

    (seconds,) = best_seconds(fit, repeats=repeats)
    return {
        "rows": n,
        "h": h,
        "fit_seconds": f"{seconds:.3f}",
        "peak_mb": f"{peak_megabytes(fit):.0f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="up to 2 000 000 rows")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    made = blocks()
    most = 2_000_000 if options.full else 200_000
    sizes = (10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000)
    take = partial(measure, made, repeats=options.repeats)
    take(BLOCK, H)  # once before it counts
    measured = []
    for n, h in [
        *((n, H) for n in sizes if n <= most),
        *((FIXED_ROWS, h) for h in (100, 400, 800, 1600)),
    ]:
        row = take(n, h)
        measured.append(row)
        print(
            f"{n:9,} rows, h = {h:4}: {row['fit_seconds']:>8} s, {row['peak_mb']:>5} MB", flush=True
        )
    by_rows = [(r["rows"], float(r["fit_seconds"])) for r in measured if r["h"] == H]
    by_size = [(r["h"], float(r["fit_seconds"])) for r in measured if r["rows"] == FIXED_ROWS]
    for row in measured:
        row["exponent_of_rows"] = f"{exponent(*map(list, zip(*by_rows, strict=True))):.3f}"
        row["exponent_of_h"] = f"{exponent(*map(list, zip(*by_size, strict=True))):.3f}"
    print(f"time ~ rows^{measured[0]['exponent_of_rows']}, ~ h^{measured[0]['exponent_of_h']}")
    rows.append("growth", measured)


if __name__ == "__main__":
    main()
