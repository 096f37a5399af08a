"""Raw files ↦ (X, y): rows as float64, y in {−1, +1}.

Each reader takes the paths of one set's raw files and says by keywords how that set is coded.
"""

from __future__ import annotations

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Labelled = tuple[Array, Array]  # X, y
Reader = Callable[[list[Path]], Labelled]

MISSING = "?"
# All that a cut or altered file can make a reader raise.
UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)


def read_table(
    paths: list[Path],
    *,
    positive: Collection[str],
    delimiter: str | None = ",",
    label: int = -1,
    skip: Collection[int] = (),
    nominal: Collection[int] = (),
    fill: bool = False,
    drop_constant: bool = False,
) -> Labelled:
    """Rows of text: UCI's, CSV, and KEEL's with their header of `@` lines.

    Nominal columns become one column for each value seen, in sorted order, where they stand.
    Rows with missing values are dropped, or filled with the column's mean (nominal: zeros).
    """
    cells = np.array([row for path in paths for row in _rows(path, delimiter)], dtype=str)
    if not fill:
        cells = cells[(cells != MISSING).all(axis=1)]
    label %= cells.shape[1]
    left = [j for j in range(cells.shape[1]) if j != label and j not in skip]
    X = np.hstack([_one_hot(cells[:, j]) if j in nominal else _numbers(cells[:, j]) for j in left])
    if drop_constant:
        X = X[:, np.ptp(X, axis=0) > 0]
    return X, _signs(np.isin(cells[:, label], list(positive)))


def read_libsvm(
    paths: list[Path],
    *,
    positive: float = 1.0,
    skip: int = 0,
    n_features: int | None = None,
    distinct: bool = False,
) -> Labelled:
    """LIBSVM's sparse text, without its first `skip` columns, perhaps only distinct rows."""
    from sklearn.datasets import load_svmlight_file

    (path,) = paths
    X, y = load_svmlight_file(str(path), n_features=n_features)
    X = X.toarray()[:, skip:]
    # LIBSVM printed single precision (33.599998): the shortest decimal of it is what was meant.
    X = X.astype(np.float32).astype(str).astype(float)
    if distinct:
        _, first = np.unique(np.column_stack([X, y]), axis=0, return_index=True)
        X, y = X[np.sort(first)], y[np.sort(first)]
    return X, _signs(y == positive)


def read_archive(paths: list[Path], *, member: str, skip: Collection[int] = ()) -> Labelled:
    """One set of imbalanced-learn's archive of Ding's benchmark: NPZ files in a tar."""
    (path,) = paths
    with tarfile.open(path) as archive:
        for entry in archive:
            file = archive.extractfile(entry) if Path(entry.name).name == member else None
            if file is not None:
                with np.load(BytesIO(file.read()), allow_pickle=False) as arrays:
                    X, y = arrays["data"], arrays["label"]
                return np.delete(X.astype(float), list(skip), axis=1), _signs(y == 1)
    raise LookupError(f"the archive has no {member}")


def read_cover_types(paths: list[Path], *, positive: int) -> Labelled:
    """UCI's cover types as scikit-learn mirrors them: compressed CSV, the type last."""
    (path,) = paths
    with gzip.open(path, "rt") as file:
        # Whole numbers below 2²⁴: single precision holds them and halves the memory.
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)
    return table[:, :-1].astype(float), _signs(table[:, -1] == positive)


def _rows(path: Path, delimiter: str | None) -> Iterator[list[str]]:
    for line in path.read_text(encoding="ascii").splitlines():
        if line.strip() and not line.startswith(("@", "*")):
            yield [cell.strip().strip("'") for cell in line.strip().split(delimiter)]


def _numbers(cells: Array) -> Array:
    missing = cells == MISSING
    column = np.where(missing, "nan", cells).astype(float)
    if missing.any():
        column[missing] = column[~missing].mean()
    return column[:, None]


def _one_hot(cells: Array) -> Array:
    values = np.unique(cells[cells != MISSING])
    return (cells[:, None] == values).astype(float)


def _signs(positive: Array) -> Array:
    return np.where(positive, 1, -1).astype(np.int8)
