"""How fast and how exact is the divergence of two kernel densities?

    python benchmarks/entropy.py          the exact value up to 10 000 points a side
    python benchmarks/entropy.py --full   up to 100 000 (some ten minutes)

The exact value is the plain double sum over all pairs, written anew here.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np
import rows
from measure import best_seconds, peak_megabytes

from extreme_entropy.entropy import kde_divergence

SIZES = (10_000, 100_000, 1_000_000)


def samples(shape: str, n: int) -> tuple[Any, Any]:
    """Two samples of n points."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, n))
    if shape == "bells, 1 apart":
        return a, b + 1
    if shape == "the same bell":
        return a, b
    if shape == "bells, 12 apart":
        return a, b + 12
    if shape == "long tails":
        return rng.standard_t(2, n), rng.standard_t(2, n) + 1
    if shape == "one outlier":
        a[0] = 1e9
        return a, b + 1
    return np.round(a, 1), np.round(b + 1, 1)


SHAPES = (
    *("bells, 1 apart", "the same bell", "bells, 12 apart"),
    *("long tails", "one outlier", "steps of 0.1"),
)


def exact(a: Any, b: Any) -> float:
    """D_CS by its definition."""
    sigma_a, sigma_b = ((4 / (3 * len(x))) ** 0.2 * x.std() for x in (a, b))

    def log_integral(x: Any, y: Any, variance: float) -> float:
        total = 0.0
        for i in range(0, len(x), 32):
            for j in range(0, len(y), 2048):
                block = x[i : i + 32, None] - y[j : j + 2048]
                block *= block
                block *= -0.5 / variance
                total += np.exp(block, out=block).sum()
        return float(np.log(total / (len(x) * len(y))) - np.log(2 * np.pi * variance) / 2)

    within = log_integral(a, a, 2 * sigma_a**2) + log_integral(b, b, 2 * sigma_b**2)
    return within - 2 * log_integral(a, b, sigma_a**2 + sigma_b**2)


def measure(shape: str, n: int, most: int, repeats: int) -> dict[str, Any]:
    a, b = samples(shape, n)
    work = partial(kde_divergence, a, b)
    (seconds,) = best_seconds(work, repeats=repeats)
    ours, error = work(), ""
    if n <= most:
        theirs = exact(a, b)
        error = f"{abs(ours - theirs) / theirs:.1e}"
    return {
        "shape": shape,
        "points_a_side": n,
        "divergence": f"{ours:.6g}",
        "milliseconds": f"{1e3 * seconds:.1f}",
        "peak_mb": f"{peak_megabytes(work):.0f}",
        "relative_error": error,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="the exact value of 100 000 points too")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    measured = []
    for shape in SHAPES:
        for n in SIZES:
            row = measure(shape, n, 100_000 if options.full else 10_000, options.repeats)
            measured.append(row)
            print(
                f"{shape:16} {n:9} points a side {row['milliseconds']:>8} ms"
                f" {row['peak_mb']:>5} MB   D = {row['divergence']:12}"
                f" relative error {row['relative_error'] or 'unknown'}"
            )
    rows.append("entropy", measured)


if __name__ == "__main__":
    main()
