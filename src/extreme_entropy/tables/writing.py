"""Tables to files, whole or not at all."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv
from pyarrow import parquet as pq

from ..errors import InputError
from ..files import written_whole

# What opens a writer for the end of a file's name.
Opener = Callable[[Any, pa.Schema], Any]


def _separated(separator: str, sink: Any, schema: pa.Schema) -> Any:
    return csv.CSVWriter(sink, schema, write_options=csv.WriteOptions(delimiter=separator))


OPENERS: dict[str, Opener] = {
    **dict.fromkeys((".csv", ".csv.gz"), partial(_separated, ",")),
    **dict.fromkeys((".tsv", ".tsv.gz"), partial(_separated, "\t")),
    **dict.fromkeys((".parquet", ".pq"), pq.ParquetWriter),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), pa.ipc.new_file),
}


def write_table(path: str | Path, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
    """Write batches to a file in the format of its name; "-" is CSV to standard output.

    Parameters
    ----------
    path : path-like
        Ends in .csv, .tsv, .csv.gz, .tsv.gz, .parquet, .arrow or .feather.
    batches : iterable of pyarrow.RecordBatch
        Taken one by one.
    schema : pyarrow.Schema
        Of each of them.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> from extreme_entropy.tables.writing import write_table
    >>> batch = pa.record_batch({"age": [42, 7]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(folder + "/a.tsv", [batch], batch.schema)
    ...     Path(folder, "a.tsv").read_text()
    '"age"\\n42\\n7\\n'
    """
    if str(path) == "-":
        if sys.stdout is None:
            raise BrokenPipeError
        stream = sys.stdout.buffer
        if isinstance(stream, io.RawIOBase):  # unbuffered: it may write less than it is given
            stream = io.BufferedWriter(io.FileIO(stream.fileno(), "wb", closefd=False))
        _write(_separated(",", stream, schema), batches)
        stream.flush()  # now, so that a closed pipe is noticed
        return
    opener = OPENERS[check_output(path)]
    with written_whole(path) as temporary, pa.OSFile(str(temporary), "wb") as file:
        if str(path).lower().endswith(".gz"):
            with pa.CompressedOutputStream(file, "gzip") as stream:
                _write(opener(stream, schema), batches)
        else:
            _write(opener(file, schema), batches)


def check_output(path: str | Path) -> str:
    """The end of the name, which is the format."""
    name = str(path).lower()
    ending = max((end for end in OPENERS if name.endswith(end)), key=len, default="")
    if not ending:
        raise InputError(
            f"The name of an output table must show its format; {str(path)!r} ends in none of "
            f"{', '.join(OPENERS)}."
        )
    return ending


def _write(writer: Any, batches: Iterable[pa.RecordBatch]) -> None:
    with writer:
        for batch in batches:
            writer.write_batch(batch)
