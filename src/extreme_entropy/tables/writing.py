"""Tables to files, whole or not at all."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from pyarrow import parquet as pq

from ..errors import InputError, WriteError
from ..files import written_whole
from ..terminal import Harmless, harmless
from .excel import SheetWriter
from .reading import TextStyle

# How a cell begins that Excel, LibreOffice or Google Sheets take for a formula, or may after they
# have removed a blank; the wide forms of the signs count in some languages.
FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"
DIGITS_ONLY = r"(?i)^[+-]?([\d.,]+(e[+-]?\d+)?|inf(inity)?|nan)$"  # which run nothing

# What opens a writer for the end of a file's name.
Opener = Callable[[Any, pa.Schema], Any]


def _separated(separator: str, sink: Any, schema: pa.Schema) -> Any:
    return csv.CSVWriter(sink, schema, write_options=csv.WriteOptions(delimiter=separator))


OPENERS: dict[str, Opener] = {
    **dict.fromkeys((".csv", ".csv.gz"), partial(_separated, ",")),
    **dict.fromkeys((".tsv", ".tsv.gz"), partial(_separated, "\t")),
    **dict.fromkeys((".parquet", ".pq"), pq.ParquetWriter),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), pa.ipc.new_file),
    ".xlsx": SheetWriter,
}


def write_table(
    path: str | Path,
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    style: TextStyle | None = None,
) -> None:
    """Write batches to a file in the format of its name; "-" is CSV to standard output.

    `style` is that of separated text. Files of tab-separated values have tabs whatever it says.

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
    style, ending = style or TextStyle(), "-" if str(path) == "-" else check_output(path)
    is_csv = ending.startswith((".csv", "-"))
    if style.decimal_comma and (is_csv or ending.startswith(".tsv")):
        schema, batches = _with_decimal_commas(schema, batches)
    opener = partial(_separated, style.separator) if is_csv else OPENERS[ending]
    if ending == "-":
        _write_to_stdout(opener, batches, schema)
        return
    with written_whole(path) as temporary, pa.OSFile(str(temporary), "wb") as file:
        if style.mark and ending in (".csv", ".tsv"):
            file.write(codecs.BOM_UTF8)
        if str(path).lower().endswith(".gz"):
            with pa.CompressedOutputStream(file, "gzip") as stream:
                _write(opener(stream, schema), batches)
        else:
            _write(opener(file, schema), batches)


def _write_to_stdout(opener: Opener, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
    """CSV: the very bytes for a program, and nothing that acts on a terminal for people."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        raise WriteError("Standard output cannot be written (closed). Name a file with -o.")
    if sys.stdout.isatty():
        stream = _Shown()
    elif isinstance(stream, io.RawIOBase):  # unbuffered: it may write less than it is given
        stream = io.BufferedWriter(io.FileIO(stream.fileno(), "wb", closefd=False))
    try:
        _write(opener(stream, schema), batches)
        stream.flush()  # now, so that a closed pipe is noticed
    except OSError as error:
        if isinstance(sys.stdout, Harmless):
            sys.stdout.lose(error)
        if isinstance(error, BrokenPipeError):
            raise
        raise WriteError(
            f"Standard output cannot be written ({error.strerror}). Name a file with -o."
        ) from error


class _Shown(io.RawIOBase):
    """Bytes of text, for people."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        sys.stdout.write(harmless(self._decoder.decode(bytes(content))))
        return len(content)

    def flush(self) -> None:
        sys.stdout.flush()


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


def for_people(path: str | Path) -> bool:
    """Whether people read a table of this name: text, a sheet, or standard output."""
    return str(path) == "-" or is_text(path) or check_output(path) == ".xlsx"


def is_text(path: str | Path) -> bool:
    """Whether a table of this name is separated text."""
    return check_output(path).startswith((".csv", ".tsv"))


def _with_decimal_commas(
    schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The same table with numbers that are not whole as text, such as 2,5."""
    fields = [f.with_type(pa.string()) if pa.types.is_floating(f.type) else f for f in schema]

    def rows() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = [
                pc.replace_substring(array.cast(pa.string()), ".", ",")
                if pa.types.is_floating(array.type)
                else array
                for array in batch.columns
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))

    return pa.schema(fields), rows()


def with_escaped_formulas(
    schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The same table with an apostrophe before each text that a spreadsheet would run.

    Columns of another type stay as they are, and so do numbers in text.
    """
    names = _escaped(pa.array(schema.names, pa.string())).to_pylist()
    escaped = pa.schema([field.with_name(n) for field, n in zip(schema, names, strict=True)])

    def rows() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = [_escaped(a) if pa.types.is_string(a.type) else a for a in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, schema=escaped)

    return escaped, rows()


def _escaped(texts: pa.Array) -> pa.Array:
    runs = pc.match_substring_regex(texts, FORMULA)
    runs = pc.and_not(runs, pc.match_substring_regex(texts, DIGITS_ONLY))
    return pc.if_else(runs, pc.binary_join_element_wise("'", texts, ""), texts)


def _write(writer: Any, batches: Iterable[pa.RecordBatch]) -> None:
    with writer:
        for batch in batches:
            writer.write_batch(batch)
