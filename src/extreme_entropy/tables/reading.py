"""Tables as files hold them: CSV, TSV (also gzipped), Excel, Parquet, Arrow, or a folder of such.

Rows come in record batches, so that memory does not grow with the table. Parquet and Arrow files
know the types of their columns. Separated text does not: pyarrow would take the type of a column
from the first block of the file and fail at a later one, so here its cells stay strings until the
whole column is known.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from ..columns.number_text import MISSING
from ..columns.text import LONGEST, shortened
from ..errors import InputError
from ..progress import with_progress
from ..terminal import harmless
from .decoding import UTF_8, checked, find_encoding
from .excel import excel_sheet
from .limits import ReadingLimits
from .spooled import Spool, standard_input

# The kind of table behind the end of a file's name.
KINDS = {
    **{".csv": "csv", ".csv.gz": "csv", ".tsv": "tsv", ".tsv.gz": "tsv"},
    **{".parquet": "parquet", ".pq": "parquet"},
    **{".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc"},
    **{".xlsx": "excel", ".xlsm": "excel"},
}
TITLES = {"csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "ipc": "Arrow", "excel": "Excel"}
SEPARATORS = ",;\t|"
CODED = "codes"  # in the metadata of a field: its text is stored as codes, as categories are


def open_table(
    path: str | Path, *, encoding: str | None = None, limits: ReadingLimits | None = None
) -> TableSource:
    """Open a table; its rows are read when asked for.

    It is a .csv, .tsv, .csv.gz, .tsv.gz, .xlsx, .parquet, .arrow or .feather file, or a folder of
    parts of one such kind; "-" is CSV from standard input. Separated text is UTF-8 unless its
    encoding is given or can be guessed, which a warning tells.

    Examples
    --------
    >>> import tempfile
    >>> from extreme_entropy.tables.reading import open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.csv").write_text("age,ill\\n42,yes\\n,no\\n")
    ...     table = open_table(folder + "/a.csv")
    ...     rows = [row for batch in table.batches() for row in batch.to_pylist()]
    >>> table.schema.names, rows
    (['age', 'ill'], [{'age': '42', 'ill': 'yes'}, {'age': None, 'ill': 'no'}])
    """
    encoding, limits = encoding and checked(encoding), limits or ReadingLimits()
    if str(path) == "-":
        spooled = [TextPart.spooled("standard input", standard_input())]
        return TextSource("standard input", spooled, "csv", encoding, limits)
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    if not path.is_dir() and not path.is_file():
        raise InputError(
            f"A table must be a file or folder, which can be read twice; {str(path)!r} is a device "
            "or a pipe. Write its rows to a file, or name - to read standard input."
        )
    parts = _parts(path) if path.is_dir() else [path]
    kind = _common_kind(path, parts)
    if kind in ("parquet", "ipc"):
        return TypedSource(path, parts, kind, limits)
    if kind == "excel":
        sheets = [TextPart.spooled(str(part), excel_sheet(part, limits)) for part in parts]
        source = TextSource(str(path), sheets, "csv", UTF_8, limits)
        source.style = TextStyle(mark=True)
        return source
    texts = [TextPart(str(part), part) for part in parts]
    return TextSource(str(path), texts, kind, encoding, limits)


@dataclass(frozen=True, slots=True)
class TextStyle:
    """How separated text is written, so that the program that reads one table reads the other."""

    separator: str = ","
    mark: bool = False  # a byte order mark, without which Excel does not take text for UTF-8
    decimal_comma: bool = False


class TableSource:
    """A table in one file or several, read as often as one likes."""

    name: str
    schema: pa.Schema
    limits: ReadingLimits
    typed: bool  # whether the types of columns are the file's own
    rows: int | None  # None where only a pass could tell
    decimal_commas: bool = False  # whether commas in numbers are more likely decimal signs
    style: TextStyle | None = None  # of separated text, and of predictions for it
    share: float = 0.0  # of the table that the present pass has read, where rows is None

    def __init__(
        self, name: str, schema: pa.Schema, limits: ReadingLimits, rows: int | None = None
    ) -> None:
        self.name, self.schema, self.limits, self.rows = name, schema, limits, rows

    def is_coded(self, name: str) -> bool:
        """Whether a column holds text that its type calls categories."""
        return CODED.encode() in (self.schema.field(name).metadata or {})

    def batches(
        self,
        columns: Sequence[str] | None = None,
        *,
        target: str | None = None,
        progress: str | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """All rows in their order, batch by batch; of some columns only, if named.

        In the column `target` of separated text only an empty cell is missing. With `progress`, a
        bar of that label is shown where stderr is a terminal.
        """
        names = self.schema.names
        for name in set(columns or ()).difference(names):
            self.require(name)
        batches = self._read(names if columns is None else list(columns), target)
        if progress is None:
            return batches
        return with_progress(
            batches,
            total=self.rows,
            unit=" rows",
            label=progress,
            amount=lambda batch: batch.num_rows,
            share=(lambda: self.share) if self.rows is None else None,
            terminal_only=True,
        )

    def require(self, name: str) -> None:
        """Raise unless the table has the column; suggest the nearest one otherwise."""
        names = self.schema.names
        if name in names:
            return
        near = difflib.get_close_matches(name, names, 1, 0.5) or [
            column for column in names if column.lower() == name.lower()
        ]
        hint = (
            f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(map(repr, names[:10]))}."
        )
        raise InputError(f"{self.name!r} must have a column {name!r}; it has none. {hint}")

    def _read(self, columns: list[str], target: str | None) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError


@dataclass(frozen=True)
class TextPart:
    """A file of separated text."""

    name: str  # for messages
    path: Path
    spool: Spool | None = None  # the temporary file that it is, which goes with it

    @classmethod
    def spooled(cls, name: str, spool: Spool) -> TextPart:
        """A table that was copied to a temporary file."""
        return cls(name, spool.path, spool)

    @property
    def is_gzipped(self) -> bool:
        """Whether its name says so."""
        return self.path.suffix.lower() == ".gz"


@dataclass(frozen=True)
class Header:
    """What is known of a part before its rows are read."""

    names: list[str]
    separator: str
    rows: int  # up to the data
    encoding: str
    mark: bool  # whether it begins with a byte order mark


class TextSource(TableSource):
    """Separated text, whose cells are strings, or null where they say that a value is missing."""

    typed = False

    def __init__(
        self,
        name: str,
        parts: list[TextPart],
        kind: str,
        encoding: str | None,
        limits: ReadingLimits,
    ) -> None:
        self._kind = kind
        longest = limits.header_letters
        self._parts = [(part, _read_header(part, kind, encoding, longest)) for part in parts]
        names = _common_names({part.name: header.names for part, header in self._parts})
        super().__init__(name, pa.schema([(name, pa.string()) for name in names]), limits)
        # The semicolon is chosen where the comma is the decimal sign.
        self.decimal_commas: bool = any(header.separator == ";" for _, header in self._parts)
        first = self._parts[0][1]
        self.style = TextStyle(first.separator, first.mark or first.encoding != UTF_8)

    def _read(self, columns: list[str], target: str | None) -> Iterator[pa.RecordBatch]:
        sizes = [part.path.stat().st_size for part, _ in self._parts]
        missing, empty = pa.array(MISSING), pa.array([""])
        for i, (part, header) in enumerate(self._parts):
            with _readable(part.name, self._kind), pa.OSFile(str(part.path)) as file:
                reader = pa_csv.open_csv(
                    pa.CompressedInputStream(file, "gzip") if part.is_gzipped else file,
                    # The number of a bad row is known only without threads.
                    pa_csv.ReadOptions(
                        block_size=self.limits.block_bytes,
                        use_threads=False,
                        column_names=header.names,
                        skip_rows_after_names=header.rows,
                        encoding=header.encoding,
                    ),
                    pa_csv.ParseOptions(delimiter=header.separator, newlines_in_values=True),
                    pa_csv.ConvertOptions(
                        column_types=dict.fromkeys(header.names, pa.string()),
                        include_columns=columns,
                    ),
                )
                for batch in reader:
                    self.share: float = (sum(sizes[:i]) + file.tell()) / max(1, sum(sizes))
                    cells = [
                        _nulls_for_missing(array, empty)
                        if name == target
                        else shortened(_nulls_for_missing(array, missing))
                        for name, array in zip(columns, batch.columns, strict=True)
                    ]
                    yield pa.RecordBatch.from_arrays(cells, columns)


class TypedSource(TableSource):
    """Parquet or Arrow parts."""

    typed = True

    def __init__(self, path: Path, parts: list[Path], kind: str, limits: ReadingLimits) -> None:
        self._kind = kind
        options: dict[str, Any] = {"format": kind}
        # Folders named column=value are a column.
        if path.is_dir() and any("=" in str(part.relative_to(path).parent) for part in parts):
            options |= {"partitioning": "hive", "partition_base_dir": str(path)}
        files = [str(part) for part in parts]
        with _readable(parts[0], kind):
            dataset = ds.dataset(files, **options)
        schemas = {}
        for fragment in dataset.get_fragments():
            with _readable(Path(fragment.path), kind):
                schemas[Path(fragment.path)] = fragment.physical_schema
        _common_names({str(part): schema.names for part, schema in schemas.items()})
        with _readable(path, kind):
            if len(parts) > 1:  # their types are the widest of them
                widest = pa.unify_schemas(list(schemas.values()), promote_options="permissive")
                folders = [field for field in dataset.schema if field.name not in widest.names]
                dataset = ds.dataset(files, pa.schema([*widest, *folders]), **options)
            self._data = dataset
            schema = pa.schema([_field(field) for field in dataset.schema])
            super().__init__(str(path), schema, limits, dataset.count_rows())

    def _read(self, columns: list[str], target: str | None) -> Iterator[pa.RecordBatch]:
        for part in self._data.get_fragments():
            with _readable(Path(part.path), self._kind):
                folders = ds.get_partition_keys(part.partition_expression)
                names = [c for c in columns if c not in folders]
                for batch in self._decoded_batches(part, names, target):
                    arrays = [
                        pa.repeat(pa.scalar(folders[name], kind), batch.num_rows)
                        if name in folders
                        else batch.column(name).cast(kind)
                        for name, kind in ((c, self.schema.field(c).type) for c in columns)
                    ]
                    yield pa.RecordBatch.from_arrays(
                        [
                            shortened(array)
                            if pa.types.is_string(array.type) and name != target
                            else array
                            for name, array in zip(columns, arrays, strict=True)
                        ],
                        columns,
                    )

    def _decoded_batches(
        self, part: Any, columns: list[str], target: str | None
    ) -> Iterator[pa.RecordBatch]:
        """Rows of one file, with values in the place of codes for them.

        A file may state a long text once and refer to it in each row. Such texts are shortened
        before they are repeated, and rows are as many as take about `limits.batch_bytes`.
        """
        for batch in self._part_batches(part, columns):
            batch.validate(full=True)  # offsets of a damaged file lead out of memory
            coded = {
                name: _short_values(batch.column(name), name == target)
                for name in columns
                if pa.types.is_dictionary(batch.column(name).type)
            }
            sizes = sum(map(_value_bytes, coded.values()), start=np.zeros(batch.num_rows))
            most = self.limits.most_bytes
            if batch.nbytes > most or sizes.max(initial=0) > most:
                raise InputError(
                    f"Rows must take at most {most >> 30} GiB at a time in memory; some of "
                    f"{part.path!r} take more. Leave out columns of long text or images, or write "
                    "the file with smaller row groups."
                )
            if not coded:
                yield batch
                continue
            ends = np.flatnonzero(np.diff(np.cumsum(sizes) // self.limits.batch_bytes)) + 1
            for start, end in pairwise([0, *ends.tolist(), batch.num_rows]):
                piece = batch.slice(start, end - start)
                arrays = [
                    _decode(coded[name].slice(start, end - start))
                    if name in coded
                    else piece.column(name)
                    for name in columns
                ]
                yield pa.RecordBatch.from_arrays(arrays, columns)

    def _part_batches(self, part: Any, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Rows of one file. A row group of Parquet may be large: its pages are read one by one."""
        limits = self.limits
        if self._kind == "parquet":
            schema = part.physical_schema
            texts = [c for c in columns if _is_bytes(_decoded(schema.field(c).type))]
            options = {"pre_buffer": False, "buffer_size": 2**18, "read_dictionary": texts}
            with pq.ParquetFile(part.path, **options) as file:
                for i in range(file.num_row_groups):
                    group = file.metadata.row_group(i)
                    bytes_of_rows = limits.batch_bytes * max(1, group.num_rows)
                    rows = bytes_of_rows // max(1, group.total_byte_size)
                    yield from file.iter_batches(min(limits.batch_rows, max(1, rows)), [i], columns)
        else:
            yield from part.to_batches(
                columns=columns,
                batch_size=limits.batch_rows,
                batch_readahead=2,
                fragment_readahead=1,
            )


def _kind(path: Path) -> str:
    """The format that the end of a file's name stands for, or nothing."""
    name = path.name.lower()
    ending = max((ending for ending in KINDS if name.endswith(ending)), key=len, default="")
    return KINDS.get(ending, "")


def _common_kind(path: Path, parts: list[Path]) -> str:
    """The format of a table, which all its parts have."""
    kinds = sorted({_kind(part) for part in parts})
    if not kinds[0]:
        raise InputError(
            f"The name of a table must show its format; {str(path)!r} ends in none of "
            f"{', '.join(KINDS)}. Rename it."
        )
    if len(kinds) > 1:
        raise InputError(
            f"The parts of {str(path)!r} must be of one kind; there are "
            f"{' and '.join(TITLES[kind] for kind in kinds)} files. Keep one kind in the folder."
        )
    return kinds[0]


def _parts(folder: Path) -> list[Path]:
    """The tables in a folder and its folders, by name; hidden and _marked ones are no parts."""
    tables = [
        part
        for part in sorted(folder.rglob("*"))
        if part.is_file() and _kind(part) and not part.name.startswith((".", "_"))
    ]
    if not tables:
        raise InputError(
            f"The folder {str(folder)!r} must hold tables; it has none. "
            f"A table ends in {', '.join(KINDS)}."
        )
    for part in tables:
        if _kind(part) in ("csv", "tsv", "excel") and "=" in str(part.relative_to(folder).parent):
            raise InputError(
                f"Folders named column=value must hold Parquet or Arrow files; {str(part)!r} "
                "is none. Move its parts into one folder."
            )
    return tables


def _read_header(part: TextPart, kind: str, encoding: str | None, longest: int) -> Header:
    """Names without spaces around them, what separates them, and the rows up to the data.

    The separator of CSV is the most frequent of , ; | and tab. A quoted name may hold line ends.
    """
    opened: Any = gzip.open if part.is_gzipped else open
    with _readable(part.name, kind), opened(part.path, "rb") as binary:
        encoding = encoding or find_encoding(part.name, binary)
        binary.seek(0)
        mark = binary.read(3) == codecs.BOM_UTF8
        binary.seek(0)
        codec = "utf-8-sig" if encoding == UTF_8 else encoding
        file = io.TextIOWrapper(binary, encoding=codec, newline="")
        rows, header = 1, file.readline(longest)
        while header and not header.strip("\r\n"):  # empty lines before it
            rows, header = rows + 1, file.readline(longest)
        if not header:
            raise pa.ArrowInvalid("Empty CSV file")
        while header.count('"') % 2 and len(header) < longest:
            line = file.readline(longest)
            header += line or '"'
        unquoted = re.sub(r'"[^"]*"', "", header)
        separator = "\t" if kind == "tsv" else max(SEPARATORS, key=unquoted.count)
        names = next(csv.reader(io.StringIO(header.strip("\r\n"), newline=""), delimiter=separator))
    return Header([name.strip() for name in names], separator, rows, encoding, mark)


def _nulls_for_missing(texts: pa.Array, missing: pa.Array) -> pa.Array:
    texts = pc.utf8_trim_whitespace(texts)
    return pc.if_else(pc.is_in(texts, value_set=missing), pa.scalar(None, pa.string()), texts)


def _is_bytes(kind: pa.DataType) -> bool:
    """Whether values of a type have any length."""
    return pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def _short_values(array: pa.Array, is_target: bool) -> pa.Array:
    """The same codes, of values that are as long as a column needs them."""
    values = array.dictionary.cast(_decoded(array.type))
    if pa.types.is_string(values.type):
        # A label that is too long stays too long.
        values = pc.utf8_slice_codeunits(values, 0, LONGEST) if is_target else shortened(values)
    return pa.DictionaryArray.from_arrays(array.indices, values)


def _value_bytes(array: pa.Array) -> Any:
    """How many bytes the value of each row has, if values differ in that."""
    if not _is_bytes(array.type.value_type):
        return 0
    sizes = pc.binary_length(array.dictionary).take(array.indices)
    return pc.fill_null(sizes, 0).to_numpy(zero_copy_only=False).astype(float)


def _decode(array: pa.Array) -> pa.Array:
    """Values in the place of codes for them."""
    return array.dictionary.take(array.indices)


def _field(field: pa.Field) -> pa.Field:
    """A column as it is read; text that is stored as codes says so."""
    kind = _decoded(field.type)
    coded = pa.types.is_dictionary(field.type) and pa.types.is_string(kind)
    return pa.field(field.name, kind, metadata={CODED: ""} if coded else None)


def _decoded(kind: pa.DataType) -> pa.DataType:
    """Columns stored as codes are what these stand for; text and short numbers are of one type."""
    if pa.types.is_dictionary(kind):
        return _decoded(kind.value_type)
    if pa.types.is_float16(kind):
        return pa.float32()  # half precision cannot be counted by older versions of pyarrow
    is_text = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return pa.string() if is_text else kind


def _common_names(columns: dict[str, list[str]]) -> list[str]:
    """The names of the columns, which must differ within a part and agree between parts."""
    first = next(iter(columns.values()))
    for part, names in columns.items():
        twice = sorted(name for name, n in Counter(names).items() if n > 1)
        if twice:
            raise InputError(
                f"The columns of {part!r} must have different names; {twice[0]!r} comes "
                f"{names.count(twice[0])} times. Rename one of them."
            )
        strange = sorted(set(names) ^ set(first))
        if strange:
            raise InputError(
                f"All parts of a table must have the same columns; {part!r} differs from the "
                f"first part in {strange[0]!r}."
            )
    return first


@contextmanager
def _readable(path: Path | str, kind: str) -> Iterator[None]:
    """What cannot be read becomes an error of one line with the file's name."""
    try:
        yield
    except MemoryError:  # which Arrow's is, too
        raise
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        raise InputError(f"{str(path)!r} cannot be opened ({error.strerror}).") from error
    except (pa.ArrowException, csv.Error, OSError, EOFError, UnicodeDecodeError) as error:
        reason = harmless(" ".join(str(error).split()))  # which may repeat cells
        reason = reason.removeprefix("CSV parse error: ").rstrip(".")
        if kind in ("parquet", "ipc"):  # the last of several reports, each in front of another
            reason = reason.rsplit(": ", 1)[-1]
        raise InputError(
            f"{str(path)!r} cannot be read as {TITLES[kind]} ({reason[:300]}). "
            "It is damaged, cut short, or another kind of file."
        ) from error
