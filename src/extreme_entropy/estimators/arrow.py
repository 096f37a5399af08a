"""Rows of a pyarrow dataset, table or reader as batches of arrays, a few of them read ahead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..errors import InputError

Array = np.ndarray[Any, Any]

BATCH_ROWS = 65536
READ_ROWS = 16384  # at a time, since pyarrow holds many of its batches, whatever its settings
CHUNK_ROWS = 1024  # rows whose columns are put side by side while they stay in cache


def batches_of(source: Any, target: str | None) -> tuple[Array | None, Iterable[Any]]:
    """Names of the features, if the source knows them, and batches of (X, y)."""
    is_arrow = type(source).__module__.partition(".")[0] == "pyarrow"
    if not is_arrow:
        if target is not None:
            raise InputError(
                "`target` names a column of a pyarrow dataset, table or reader; `batches` is "
                f"{type(source).__name__}. Give batches of (X, y), or a pyarrow source."
            )
        return None, source
    columns = [name for name in source.schema.names if name != target]
    if target is None or len(columns) == len(source.schema.names):
        raise InputError(
            f"`target` must name the column that holds the labels; it is {target!r}. "
            f"The columns are {_some(source.schema.names)}."
        )
    dtype = _dtype(source.schema, columns)
    return np.array(columns, dtype=object), (
        (_matrix(batch, columns, dtype), _labels(batch.column(target)))
        for batch in _record_batches(source)
    )


def _record_batches(source: Any) -> Iterator[Any]:
    if hasattr(source, "get_fragments"):  # a dataset
        few = {"batch_readahead": 1, "fragment_readahead": 1}
        options = _scan_options(source)
        return _together(
            source.to_batches(batch_size=READ_ROWS, fragment_scan_options=options, **few)
        )
    if hasattr(source, "to_batches"):  # a table, in memory or mapped
        return iter(source.to_batches(max_chunksize=BATCH_ROWS))
    return iter(source)


def _together(batches: Iterable[Any]) -> Iterator[Any]:
    """The same rows in larger batches."""
    from pyarrow import concat_batches

    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(part.num_rows for part in held) >= BATCH_ROWS:
            yield concat_batches(held)
            held = []
    if held:
        yield concat_batches(held)


def _scan_options(dataset: Any) -> Any:
    """Parquet would otherwise hold whole row groups beside their rows."""
    from pyarrow import dataset as ds

    if getattr(getattr(dataset, "format", None), "default_extname", "") != "parquet":
        return None
    return ds.ParquetFragmentScanOptions(pre_buffer=False)


def _dtype(schema: Any, columns: list[str]) -> np.dtype[Any]:
    """Single precision where no column has more; columns must be numbers."""
    from pyarrow import types

    numbers = (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal)
    strange = [name for name in columns if not any(of(schema.field(name).type) for of in numbers)]
    if strange:
        raise InputError(
            f"Features must be numbers; column {strange[0]!r} is "
            f"{schema.field(strange[0]).type}. Encode it, or select other columns."
        )
    single = (types.is_float16, types.is_float32)
    exact = all(any(of(schema.field(name).type) for of in single) for name in columns)
    return np.dtype(np.float32 if exact else np.float64)


def _matrix(batch: Any, columns: list[str], dtype: np.dtype[Any]) -> Array:
    """The columns side by side; what is missing is NaN, and will be refused."""
    X = np.empty((batch.num_rows, len(columns)), dtype)
    values = [_numbers(batch.column(name), dtype) for name in columns]
    for start in range(0, len(X), CHUNK_ROWS):
        chunk = slice(start, start + CHUNK_ROWS)
        for j, column in enumerate(values):
            X[chunk, j] = column[chunk]
    return X


def _numbers(column: Any, dtype: np.dtype[Any]) -> Array:
    from pyarrow import types

    if not types.is_floating(column.type):
        column = column.cast(dtype.name.replace("float64", "double"))
    return column.to_numpy(zero_copy_only=False)


def _labels(column: Any) -> Array:
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    return column.to_numpy(zero_copy_only=False)


def same_names(known: Array, names: Array) -> None:
    """Raise unless the features are those that a classifier knows."""
    if known.tolist() != names.tolist():
        raise InputError(
            f"The columns must be those that the classifier knows, {_some(known.tolist())}; they "
            f"are {_some(names.tolist())}. Select the same, in the same order."
        )


def _some(names: list[str]) -> str:
    return ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
