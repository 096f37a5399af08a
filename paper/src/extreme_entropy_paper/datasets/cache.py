"""The folder that fetched data sets are kept in: NAME.npz, checked; raw/ for files under way.

Downloads are made under a lock that ends with its process, so two processes never write to one
file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from ..files import whole_file
from .registry import Dataset, Download

Array = np.ndarray[Any, Any]


def folder() -> Path:
    """`EXTREME_ENTROPY_CACHE`, or a folder in scikit-learn's data home."""
    chosen = os.environ.get("EXTREME_ENTROPY_CACHE")
    home = os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data")
    return Path(chosen or Path(home) / "extreme_entropy").expanduser()


def place(dataset: Dataset) -> Path:
    """Where a fetched data set is kept."""
    return folder() / f"{dataset.name}.npz"


def raw_places(dataset: Dataset, download: Download) -> list[Path]:
    """Where the raw files of a download are put, by us or by hand."""
    prefix = "" if download.shared else f"{dataset.name}-"
    return [folder() / "raw" / f"{prefix}{url.rsplit('/', 1)[1]}" for url in download.urls]


def read(path: Path) -> tuple[Array, Array]:
    """X and y of an NPZ file, not yet checked."""
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["X"], arrays["y"]


def write(path: Path, X: Array, y: Array) -> None:
    """Keep X and y, whole or not at all; call it under the lock."""
    single = X.astype(np.float32)
    with whole_file(path) as file:
        np.savez_compressed(file, X=single if (single == X).all() else X, y=y)


def lock(path: Path) -> FileLock:
    """Held by one process at a time; others wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(path.with_name(f".{path.name}.lock"))
