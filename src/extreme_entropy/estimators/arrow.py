"""What Arrow can read (datasets, tables, queries): rows in batches, a few read ahead; cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..columns.frames import is_frame
from ..errors import InputError
from ..shapes import Array
from .batches import BatchSettings, gathered
from .column_kinds import some_names


def batches_of(source: Any, target: str | None, settings: BatchSettings) -> Iterable[Any]:
    """Batches of (X, y), from a source of columns or as they are given."""
    if hasattr(source, "iloc"):
        _check_target(list(source.columns), target)
        return _pandas_batches(source, target, settings.arrow_rows)
    if type(source).__module__.partition(".")[0] != "pyarrow":
        if target is None and not (is_frame(source) or hasattr(source, "__arrow_c_stream__")):
            return source
        source = _reader(source, settings.read_rows)
    _check_target(source.schema.names, target)
    columns = [name for name in source.schema.names if name != target]
    batches = _record_batches(source, settings)
    return ((batch.select(columns), _labels(batch.column(target))) for batch in batches)


def _check_target(names: list[Any], target: Any) -> None:
    """Raise unless a column is named for the labels."""
    if target is None or target not in names:
        raise InputError(
            f"`target` must name the column that holds the labels; it is {target!r}. "
            f"The columns are {some_names(names)}."
        )


def _pandas_batches(frame: Any, target: Any, rows: int) -> Iterator[Any]:
    """Rows of a data frame as they are: its columns may hold what Arrow has no type for."""
    X, y = frame.drop(columns=target), frame[target]
    for start in range(0, len(frame), rows):
        yield X.iloc[start : start + rows], y.iloc[start : start + rows]


def _reader(source: Any, rows: int) -> Any:
    """Rows of a query that is run batch by batch, or of any frame that Arrow can read."""
    if hasattr(source, "collect_batches"):  # a LazyFrame of polars
        schema = source.head(0).collect().to_arrow().schema
        frames = source.collect_batches(chunk_size=rows, maintain_order=True)
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


def _record_batches(source: Any, settings: BatchSettings) -> Iterator[Any]:
    from pyarrow import concat_batches

    if hasattr(source, "get_fragments"):  # a dataset
        source = source.to_batches(
            batch_size=settings.read_rows,
            fragment_scan_options=_scan_options(source),
            batch_readahead=1,
            fragment_readahead=1,
        )
    elif hasattr(source, "to_batches"):  # a table, in memory or mapped
        return map(_checked, source.to_batches(max_chunksize=settings.arrow_rows))
    return gathered(map(_checked, source), len, lambda: settings.arrow_rows, concat_batches)


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
