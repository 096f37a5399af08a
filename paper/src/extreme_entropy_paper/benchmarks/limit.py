"""How close to the limit? Our fit beside the bare products, activations and ?syrk it consists of.

    python benchmarks/limit.py          100 000 rows
    python benchmarks/limit.py --full   all 581 012 rows of the forest-cover shape

The limit does, with the same chunks and threads, only what no fit of this machine can avoid: the
product with the weights, the exponential, and HᵀH added to one matrix. Uses forest cover from
EXTREME_ENTROPY_DATA, or made-up rows of its shape.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import rows
from extreme_entropy.cli.bench import bare
from measure import best_seconds, peak_megabytes

from extreme_entropy import EEMClassifier

N_JOBS = os.cpu_count()


def load(n: int) -> tuple[Any, Any]:
    """The first n rows of forest cover, or made-up ones."""
    path = Path(os.environ.get("EXTREME_ENTROPY_DATA", "")) / "forest_cover.npz"
    if path.is_file():
        with np.load(path) as arrays:
            order = np.random.default_rng(0).permutation(len(arrays["y"]))[:n]
            return arrays["X"][order].astype(np.float64), arrays["y"][order]
    rng = np.random.default_rng(0)
    return rng.random((n, 54)), np.where(rng.random(n) < 0.0163, 1, -1)


def measure(X: Any, y: Any, h: int, repeats: int) -> list[dict[str, Any]]:
    """Rows for one hidden size and precision."""
    weights = np.random.default_rng(0).random((X.shape[1], h)).astype(X.dtype) * X.dtype.type(-1e-6)
    machines = {
        "paper's rbf": EEMClassifier.paper("rbf", h, n_jobs=N_JOBS, random_state=0),
        "default": EEMClassifier(h, n_jobs=N_JOBS, random_state=0),
    }
    fits = [partial(machine.fit, X, y) for machine in machines.values()]
    limit, *times = best_seconds(partial(bare, X, weights), *fits, repeats=repeats)
    return [
        {
            "rows": len(X),
            "h": h,
            "dtype": X.dtype.name,
            "machine": name,
            "limit_seconds": f"{limit:.3f}",
            "fit_seconds": f"{seconds:.3f}",
            "ratio": f"{seconds / limit:.3f}",
            "peak_mb_beyond_x": f"{peak_megabytes(fit):.0f}",
        }
        for (name, seconds), fit in zip(zip(machines, times, strict=True), fits, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="all 581 012 rows")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    X, y = load(581_012 if options.full else 100_000)
    print(f"{'h':>5} {'dtype':8} {'machine':12} {'limit':>8} {'fit':>8} {'ratio':>6} {'MB':>6}")
    measured = []
    for dtype in (np.float64, np.float32):
        for h in (100, 500, 1000):
            for row in measure(X.astype(dtype), y, h, options.repeats):
                measured.append(row)
                print(
                    f"{row['h']:5} {row['dtype']:8} {row['machine']:12} {row['limit_seconds']:>7}s"
                    f" {row['fit_seconds']:>7}s {row['ratio']:>6} {row['peak_mb_beyond_x']:>6}",
                    flush=True,
                )
    rows.append("limit", measured)


if __name__ == "__main__":
    main()
