"""How fast and how exact is the divergence of two kernel densities?

The exact value is the plain double sum over all pairs, written anew here.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import click
import numpy as np

from extreme_entropy.entropy import kde_divergence

from ..store import Row, add_run
from .measure import best_seconds, peak_megabytes

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


def measure(shape: str, n: int, most: int, repeats: int) -> Row:
    a, b = samples(shape, n)
    work = partial(kde_divergence, a, b)
    (seconds,) = best_seconds(work, repeats=repeats)
    ours, error = work(), None
    if n <= most:
        theirs = exact(a, b)
        error = float(f"{abs(ours - theirs) / theirs:.1e}")
    return {
        "shape": shape,
        "points_a_side": n,
        "divergence": float(f"{ours:.6g}"),
        "milliseconds": round(1e3 * seconds, 1),
        "peak_mb": round(peak_megabytes(work)),
        "relative_error": error,
    }


@click.command()
@click.option("--full", is_flag=True, help="The exact value of 100 000 points too: ten minutes.")
@click.option("--repeats", default=5, show_default=True)
def entropy(full: bool, repeats: int) -> None:
    """Time the divergence of two kernel densities, and compare it with the exact double sum."""
    measured = []
    for shape in SHAPES:
        for n in SIZES:
            measured.append(measure(shape, n, 100_000 if full else 10_000, repeats))
            click.echo("  ".join(f"{name}: {value}" for name, value in measured[-1].items()))
    add_run("entropy", measured)
