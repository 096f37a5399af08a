"""What Arrow can read (datasets, tables, queries): rows in batches, a few read ahead; cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..columns.frames import is_frame
from ..errors import InputError
from .column_kinds import some_names

Array = np.ndarray[Any, Any]

BATCH_ROWS = 65536
READ_ROWS = 16384  # at a time, since pyarrow holds many of its batches, whatever its settings


def batches_of(source: Any, target: str | None) -> Iterable[Any]:
    """Batches of (X, y), from a source of columns or as they are given."""
    pandas = hasattr(source, "iloc")
    if not pandas and type(source).__module__.partition(".")[0] != "pyarrow":
        if target is None and not (is_frame(source) or hasattr(source, "__arrow_c_stream__")):
            return source
        source = _reader(source)
    names = list(source.columns if pandas else source.schema.names)
    if target is None or target not in names:
        raise InputError(
            f"`target` must name the column that holds the labels; it is {target!r}. "
            f"The columns are {some_names(names)}."
        )
    if pandas:
        return _pandas_batches(source, target)
    columns = [name for name in names if name != target]
    return (
        (batch.select(columns), _labels(batch.column(target))) for batch in _record_batches(source)
    )


def _pandas_batches(frame: Any, target: Any) -> Iterator[Any]:
    """Rows of a data frame as they are: its columns may hold what Arrow has no type for."""
    X, y = frame.drop(columns=target), frame[target]
    for start in range(0, len(frame), BATCH_ROWS):
        rows = slice(start, start + BATCH_ROWS)
        yield X.iloc[rows], y.iloc[rows]


def _reader(source: Any) -> Any:
    """Rows of a query that is run batch by batch, or of any frame that Arrow can read."""
    if hasattr(source, "collect_batches"):  # a LazyFrame of polars
        schema = source.head(0).collect().to_arrow().schema
        frames = source.collect_batches(chunk_size=READ_ROWS, maintain_order=True)
        batches = (batch for frame in frames for batch in frame.to_arrow().to_batches())
        from pyarrow import RecordBatchReader

        return RecordBatchReader.from_batches(schema, batches)
    if hasattr(source, "__arrow_c_stream__"):  # DuckDB, polars
        from pyarrow import RecordBatchReader

        return RecordBatchReader.from_stream(source)
    raise InputError(
        "`target` names a column of a source that Arrow can read: a pyarrow dataset, table or "
        "reader, a data frame, a LazyFrame of polars or a relation of DuckDB. `batches` is "
        f"{type(source).__name__}. Give batches of (X, y), or such a source."
    )


def _checked(batch: Any) -> Any:
    """The same batch, if it is whole: offsets of a damaged file lead out of memory."""
    from pyarrow import ArrowInvalid

    try:
        batch.validate(full=True)
    except ArrowInvalid as error:
        raise InputError(
            f"The batches of a pyarrow source must be whole; one is damaged ({error}). Was the "
            "file cut short or changed?"
        ) from error
    return batch


def _record_batches(source: Any) -> Iterator[Any]:
    if hasattr(source, "get_fragments"):  # a dataset
        few = {"batch_readahead": 1, "fragment_readahead": 1}
        options = _scan_options(source)
        read = source.to_batches(batch_size=READ_ROWS, fragment_scan_options=options, **few)
        return _together(map(_checked, read))
    if hasattr(source, "to_batches"):  # a table, in memory or mapped
        return map(_checked, source.to_batches(max_chunksize=BATCH_ROWS))
    return _together(map(_checked, source))


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


def _labels(column: Any) -> Array:
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    return column.to_numpy(zero_copy_only=False)


def python_value(cell: Any) -> Any:
    """A cell of Arrow; dates that Python has no numbers for as they are counted."""
    try:
        return cell.as_py()
    except (OverflowError, ValueError):
        return f"{cell.value} ({cell.type})"
