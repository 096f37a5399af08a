"""Rows in any form a classifier takes them: arrays, sparse matrices, data frames, Arrow tables."""

from __future__ import annotations

import datetime
import math
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..columns.cells import python_value
from .harmless_text import visible

Array = np.ndarray[Any, Any]

LONGEST_CELL = 48  # letters


def as_rows(X: Any) -> Any:
    """The same rows with a shape: lists become an array."""
    return X if hasattr(X, "shape") else np.asarray(X)


def column_names(X: Any) -> list[str]:
    """Names of the columns where they have some."""
    for name in ("column_names", "columns"):  # of Arrow, of pandas and polars
        if hasattr(X, name):
            return [str(column) for column in getattr(X, name)]
    return []


def take(X: Any, index: Array) -> Any:
    """Rows by their positions."""
    if hasattr(X, "iloc"):
        return X.iloc[index]
    if hasattr(X, "column_names"):
        return X.take(index)
    return X[index]


def column_as_array(X: Any, j: int) -> Array:
    """The cells of a column."""
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[:, j])
    if hasattr(X, "get_columns"):
        return np.asarray(X.to_series(j).to_numpy())
    if hasattr(X, "column_names"):
        return np.asarray(X.column(j).to_numpy())
    return X[:, [j]].toarray()[:, 0] if sp.issparse(X) else np.asarray(X[:, j])


def with_column_of(X: Any, j: int, source: Any, rows: Array) -> Any:
    """All rows of X, of which one column has the cells of as many rows of another such X."""
    if hasattr(X, "iloc"):
        changed = X.copy()
        changed.isetitem(j, source.iloc[rows, j].set_axis(changed.index))
        return changed
    if hasattr(X, "get_columns"):
        return X.with_columns(source.to_series(j).gather(rows))
    if hasattr(X, "column_names"):
        return X.set_column(j, X.column_names[j], source.column(j).take(rows))
    changed = X.toarray() if sp.issparse(X) else X.copy()
    changed[:, j] = column_as_array(source, j)[rows]
    return sp.csr_matrix(changed) if sp.issparse(X) else changed


def stacked(parts: list[Any]) -> Any:
    """Rows of one form, one below the other."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if sp.issparse(first):
        return sp.vstack(parts, format="csr")
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    library = import_module(type(first).__module__.partition(".")[0])
    return library.concat_tables(parts) if hasattr(first, "column_names") else library.concat(parts)


def cells_of(X: Any, i: int) -> list[str]:
    """The cells of a row as text, as they are in the data."""
    if hasattr(X, "iloc"):
        cells = X.iloc[i].tolist()
    elif hasattr(X, "get_columns"):
        cells = list(X.row(i))
    elif hasattr(X, "column_names"):
        cells = [python_value(column[i]) for column in X.columns]
    else:
        cells = (X[[i]].toarray()[0] if sp.issparse(X) else X[i]).tolist()
    return [cell_text(cell) for cell in cells]


def cell_text(cell: Any) -> str:
    """A cell as text, harmless and short."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if cell is None or str(cell) in ("<NA>", "NaT", "nan"):
        return "missing"
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        return f"{cell:.7g}" if math.isfinite(cell) else str(cell)
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ", "seconds").removesuffix(" 00:00:00")
    return visible(cell, LONGEST_CELL)
