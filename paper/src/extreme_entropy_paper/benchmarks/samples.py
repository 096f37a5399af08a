"""Rows that benchmarks fit: those of the paper's data sets, or made-up ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..datasets import load_dataset

Array = np.ndarray[Any, Any]


def paper_rows(name: str) -> tuple[Array, Array]:
    """All rows of a data set, which must be here."""
    return load_dataset(name, return_X_y=True, download=False)


def shuffled(name: str, n: int | None = None) -> tuple[Array, Array]:
    """So many rows of a data set in random order."""
    X, y = paper_rows(name)
    order = np.random.default_rng(0).permutation(len(y))[:n]
    return X[order], y[order]


def two_classes(n: int, columns: int, rare: float, apart: float, seed: Any = 0) -> Any:
    """Made-up Gaussian rows, one class of them rare and shifted."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rare).astype(int)
    return rng.normal(size=(n, columns)) + apart * y[:, None], y
