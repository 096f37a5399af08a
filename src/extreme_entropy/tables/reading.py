"""Tables as files hold them: CSV, TSV (also gzipped), Parquet, Arrow, or a folder of such parts.

Rows come in record batches, so that memory does not grow with the table. Parquet and Arrow files
know the types of their columns; separated text does not, and its columns come as strings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from ..errors import InputError
from .separated import read_names, read_text

BATCH_ROWS = 2**14
# The kind of table behind the end of a file's name.
KINDS = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "tsv",
    ".tsv.gz": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}
TITLES = {"csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "ipc": "Arrow"}


class Source:
    """A table in one file or several, read as often as one likes."""

    typed: bool  # whether the types of columns are the file's own

    def __init__(self, name: str, schema: pa.Schema, rows: int | None) -> None:
        self.name = name
        self.schema = schema
        self.rows = rows  # None where only a pass could tell
        self.share = 0.0  # of the table that the present pass has read, where rows is None
        _refuse_twins(name, schema.names)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """All rows in their order, batch by batch; of some columns only, if named."""
        for name in columns or ():
            if name not in self.schema.names:
                raise InputError(f"{self.name} must have a column {name!r}; it has none.")
        yield from self._read(self.schema.names if columns is None else list(columns))

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError


class Separated(Source):
    """CSV or TSV parts. Nothing in such a file says what a column is, so all are strings."""

    typed = False

    def __init__(self, name: str, parts: list[Path], kind: str) -> None:
        self._parts, self._kind = parts, kind
        names = self._names(parts[0])
        super().__init__(name, pa.schema([(column, pa.string()) for column in names]), None)
        for part in parts[1:]:
            _refuse_others(part, self._names(part), names)

    def _names(self, part: Path) -> list[str]:
        with _readable(part, self._kind):
            return read_names(part, self._kind)

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        size, before = max(1, sum(part.stat().st_size for part in self._parts)), 0
        for part in self._parts:
            with _readable(part, self._kind):
                for batch, position in read_text(part, self._kind):
                    self.share = (before + position) / size
                    yield batch.select(columns)
            before += part.stat().st_size


class Stored(Source):
    """Parquet or Arrow parts."""

    typed = True

    def __init__(self, name: str, parts: list[Path], kind: str, base: Path) -> None:
        self._kind = kind
        schemas = []
        for part in parts:
            with _readable(part, kind):
                schemas.append(ds.dataset(part, format=kind).schema)
            _refuse_twins(str(part), schemas[-1].names)
            _refuse_others(part, schemas[-1].names, schemas[0].names)
        with _readable(Path(name), kind):
            self._data = _dataset(parts, kind, base, schemas)
            super().__init__(name, _decoded(self._data.schema), self._data.count_rows())

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([self.schema.field(name) for name in columns])
        for part in self._data.get_fragments():
            with _readable(Path(part.path), self._kind):
                folders = ds.get_partition_keys(part.partition_expression)
                inside = [name for name in columns if name not in folders]
                for batch in _batches(part, inside):
                    yield _completed(batch, folders, schema)


def _batches(part: Any, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Rows of one file. A row group of Parquet may be large: its pages are read one by one."""
    if part.format.default_extname == "parquet":
        with pq.ParquetFile(part.path, pre_buffer=False, buffer_size=2**18) as file:
            yield from file.iter_batches(BATCH_ROWS, columns=columns)
    else:
        yield from part.to_batches(
            columns=columns, batch_size=BATCH_ROWS, batch_readahead=2, fragment_readahead=1
        )


def _completed(batch: pa.RecordBatch, folders: dict[str, Any], schema: pa.Schema) -> pa.RecordBatch:
    """A batch with the columns that its folders name, in the types of the whole table."""
    arrays = [
        pa.repeat(pa.scalar(folders[field.name], field.type), batch.num_rows)
        if field.name in folders
        else batch.column(field.name).cast(field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def open_table(path: str | Path) -> Source:
    """Look at a table; its rows are read when asked for.

    Parameters
    ----------
    path : path-like
        A .csv, .tsv, .csv.gz, .tsv.gz, .parquet, .arrow or .feather file, or a folder of parts of
        one such kind.

    Returns
    -------
    Source
        With `name`, `schema`, `rows` and `batches()`.

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
    path = Path(path)
    if path.is_dir():
        parts = _parts(path)
    elif path.exists():
        parts = [path]
    else:
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    kinds = sorted({_kind(part) for part in parts})
    if len(kinds) > 1:
        raise InputError(
            f"The parts of {str(path)!r} must be of one kind; there are "
            f"{' and '.join(TITLES[kind] for kind in kinds)} files. Keep one kind in the folder."
        )
    if kinds[0] in ("csv", "tsv"):
        return Separated(str(path), parts, kinds[0])
    return Stored(str(path), parts, kinds[0], path)


def _parts(folder: Path) -> list[Path]:
    """The tables in a folder and its folders, by name; hidden and _marked ones are no parts."""
    found = []
    for part in sorted(folder.rglob("*")):
        inside = part.relative_to(folder)
        if part.is_file() and _ending(part) and not inside.name.startswith((".", "_")):
            found.append(part)
            if _ending(part) in (".csv", ".tsv", ".csv.gz", ".tsv.gz") and "=" in str(
                inside.parent
            ):
                raise InputError(
                    f"Folders named column=value must hold Parquet or Arrow files; {str(part)!r} "
                    "is separated text. Move its parts into one folder."
                )
    if not found:
        raise InputError(
            f"The folder {str(folder)!r} must hold tables; it has none. "
            f"A table ends in {', '.join(KINDS)}."
        )
    return found


def _ending(path: Path) -> str:
    """The end of a file's name that says what it is, or nothing."""
    name = path.name.lower()
    return max((ending for ending in KINDS if name.endswith(ending)), key=len, default="")


def _kind(path: Path) -> str:
    if not _ending(path):
        raise InputError(
            f"The name of a table must say what it is; {str(path)!r} ends in none of "
            f"{', '.join(KINDS)}. Rename it."
        )
    return KINDS[_ending(path)]


def _decoded(schema: pa.Schema) -> pa.Schema:
    """Columns stored as codes are what these stand for, and all text is of one type."""
    return pa.schema([(field.name, _plain(field.type)) for field in schema])


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    is_text = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return pa.string() if is_text else kind


def _dataset(parts: list[Path], kind: str, base: Path, schemas: list[pa.Schema]) -> Any:
    """Parts as one; folders named column=value are a column, and types are the widest."""
    options: dict[str, Any] = {"format": kind}
    if base.is_dir() and any("=" in str(part.relative_to(base).parent) for part in parts):
        options |= {"partitioning": "hive", "partition_base_dir": str(base)}
    names = [str(part) for part in parts]
    found = ds.dataset(names, **options)
    if len(parts) == 1:
        return found
    widest = pa.unify_schemas(schemas, promote_options="permissive")
    folders = [field for field in found.schema if field.name not in widest.names]
    return ds.dataset(names, pa.schema([*widest, *folders]), **options)


@contextmanager
def _readable(path: Path, kind: str) -> Iterator[None]:
    """What cannot be read is said in one line, with the file's name."""
    try:
        yield
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        raise InputError(f"{str(path)!r} cannot be opened ({error.strerror}).") from error
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        said = " ".join(str(error).split()).removeprefix("CSV parse error: ").rstrip(".")
        if kind in ("parquet", "ipc"):  # the last of several reports, each in front of another
            said = said.rsplit(": ", 1)[-1]
        raise InputError(
            f"{str(path)!r} cannot be read as {TITLES[kind]} ({said[:300]}). "
            "It is damaged, cut short, or another kind of file."
        ) from error


def _refuse_twins(name: str, columns: list[str]) -> None:
    twins = sorted({column for column in columns if columns.count(column) > 1})
    if twins:
        raise InputError(
            f"The columns of {name!r} must have different names; {twins[0]!r} comes "
            f"{columns.count(twins[0])} times. Rename one of them."
        )


def _refuse_others(part: Path, columns: list[str], first: list[str]) -> None:
    strange = sorted(set(columns) ^ set(first))
    if strange:
        raise InputError(
            f"All parts of a table must have the same columns; {str(part)!r} differs from the "
            f"first part in {strange[0]!r}."
        )
