"""Data frames of pandas, polars and Arrow: what each column holds, and its cells as numbers.

What each column holds is decided by the first rows, from types alone: categories are columns of
text and those whose type says so (or that the user names), whatever their values. Where a column
holds categories in some rows and numbers in others, its numbers are categories, too: the same value
is the same category, whatever type carries it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError
from .cells import READERS, Cells, Profiles, ValueProfile, cells_of
from .kind import ColumnKind
from .number import Number

Array = np.ndarray[Any, Any]

MEANT = b"extreme_entropy.meant"  # metadata of an Arrow field: what its text is, as in `Cells`
CHUNK_ROWS = 1024  # rows whose columns are put side by side while they stay in cache


def library_of(X: Any) -> str:
    """The library that its type, or one from which that derives, is of."""
    for base in type(X).__mro__:
        library = base.__module__.partition(".")[0]
        if library in READERS:
            return library
    return type(X).__module__.partition(".")[0]


def is_frame(X: Any) -> bool:
    """Whether X is a table with a type for each column."""
    return library_of(X) in READERS and hasattr(type(X), "columns")


def is_arrow(X: Any) -> bool:
    """Whether X is a table that NumPy cannot read."""
    return library_of(X) == "pyarrow"


def names_of(X: Any) -> list[Any]:
    """The names of a data frame's columns."""
    return list(X.schema.names if is_arrow(X) else X.columns)


def _types(X: Any) -> list[Any]:
    return list(X.schema.types if is_arrow(X) else X.dtypes)


def rows_of(X: Any) -> Any:
    """X, or the rows of a query: of a polars LazyFrame, a DuckDB relation or the like."""
    library = library_of(X)
    if library == "polars" and hasattr(X, "collect_schema") and hasattr(X, "collect"):
        return X.collect()
    if library in READERS or not hasattr(X, "__arrow_c_stream__"):
        return X
    from pyarrow import RecordBatchReader

    return RecordBatchReader.from_stream(X).read_all()


def must_be_read(X: Any, kinds: Sequence[ColumnKind] | None) -> bool:
    """Whether scikit-learn alone cannot make numbers of X."""
    return is_frame(X) and (kinds is not None or is_arrow(X) or not is_numeric(X))


def with_names(X: Any) -> Any:
    """X as a table whose names scikit-learn can see, which a record batch is not."""
    if not is_arrow(X):
        return X
    [(name, n)] = Counter(names_of(X)).most_common(1) or [("", 0)]
    if n > 1:
        raise InputError(
            f"The columns of X must have different names; {name!r} comes {n} times. Rename one of "
            "them."
        )
    if type(X).__name__ != "RecordBatch":
        return X
    import pyarrow as pa

    return pa.Table.from_batches([X])


def without_cells(X: Any) -> Any:
    """Made-up rows of pandas, with gaps in columns that do not hold numbers."""
    if library_of(X) != "pandas" or not is_frame(X):
        return X
    X = X.copy()
    for j in [j for j, dtype in enumerate(_types(X)) if not _is_number(dtype)]:
        X.isetitem(j, [None] * len(X))
    return X


def is_mixed(X: Any) -> bool:
    """Whether a data frame has columns that are no floats or booleans."""
    whole = ("int", "uint", "decimal")
    return any(not _is_number(t) or str(t).lower().startswith(whole) for t in _types(X))


def is_numeric(X: Any) -> bool:
    """Whether all columns of a data frame are of types of numbers."""
    return all(map(_is_number, _types(X)))


def _is_number(dtype: Any) -> bool:
    """Whether a type is one of numbers or booleans."""
    library = library_of(dtype)
    if library == "polars":
        import polars as pl

        return dtype.is_numeric() or dtype == pl.Boolean
    if library == "pyarrow":
        from pyarrow import types

        of = (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal)
        return any(is_one(dtype) for is_one in of)
    return getattr(dtype, "kind", "O") in "biuf" and str(dtype) != "category"


def _is_single(dtype: Any) -> bool:
    """Whether a type has no more than single precision."""
    return str(dtype).lower() in ("float32", "float16", "float", "halffloat")


def profile(X: Any, named: Array, weight: Any = None) -> Profiles:
    """What is known of each column of a data frame, from rows that have weight."""
    rows = slice(None) if weight is None else np.asarray(weight) > 0
    return Profiles(tuple(ValueProfile.of(cells, rows) for cells in _cells(X, named)))


def read(X: Any, kinds: Sequence[ColumnKind] | None) -> Array:
    """A data frame as a matrix, for columns of these kinds; without them all are numbers."""
    names, trained = names_of(X), kinds is not None
    kinds = ([Number()] * len(names) if kinds is None else kinds)[: len(names)]
    columns = _cells(X, np.array([kind.is_labelled for kind in kinds]))
    numbers = [t for t, kind in zip(_types(X), kinds, strict=True) if not kind.is_counted]
    single = bool(numbers) and all(map(_is_single, numbers))
    coded = [
        kind.code(cells, name, trained=trained)
        for cells, kind, name in zip(columns, kinds, names, strict=True)
    ]
    more = [values.T[1:] for values in coded if values.ndim > 1]
    coded = [values if values.ndim == 1 else values[:, 0] for values in coded]
    coded += [values for of_column in more for values in of_column]
    matrix = np.empty((X.shape[0], len(coded)), np.float32 if single else np.float64)
    for start in range(0, len(matrix), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        for j, values in enumerate(coded):
            matrix[rows, j] = values[rows]
    return matrix


def _cells(X: Any, named: Array) -> list[Cells]:
    """The columns of a data frame as numbers."""
    columns, types, library = [], _types(X), library_of(X)
    for j, name in enumerate(names_of(X)):
        try:
            column = _column(X, j, name)
            cells = cells_of(column, types[j], library, named=bool(named[j]))
        except (TypeError, ValueError, OverflowError, NotImplementedError) as error:
            raise InputError(
                f"Columns must hold numbers, booleans, dates or text; {name!r} holds "
                f"{types[j]}. Convert it, or leave it out."
            ) from error
        metadata = X.schema.field(j).metadata if is_arrow(X) else None
        if metadata and MEANT in metadata:
            cells = replace(cells, meant=metadata[MEANT].decode())
        columns.append(cells)
    return columns


def _column(X: Any, j: int, name: Any) -> Any:
    """A column by its position, since names may come twice."""
    if library_of(X) == "pandas":
        return X.iloc[:, j]
    return X.column(j) if is_arrow(X) else X[name]
