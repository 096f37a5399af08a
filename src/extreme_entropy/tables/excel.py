"""The first sheet of an Excel file, as CSV in a temporary file; and rows as such a file.

Such a file is a zip archive of XML documents, and anything may be wrong with it. openpyxl reads it
within `ReadingLimits`, and whatever it raises becomes one sentence.
"""

from __future__ import annotations

import csv
import datetime
import errno
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from ..errors import ExtremeEntropyWarning, InputError, warn
from ..terminal import harmless
from .limits import ReadingLimits
from .spooled import Spool

ERRORS = {"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"}  # of formulas
COMPOUND_FILE = b"\xd0\xcf\x11\xe0"  # how files begin that are encrypted, or older than .xlsx
PLAIN_NUMBER = re.compile(r"^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$", re.ASCII)  # 007 stays text
EXCEL_DATES = (datetime.datetime, datetime.date)
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def excel_sheet(path: Path, limits: ReadingLimits) -> Spool:
    """The first sheet of an Excel file. Its first row that is not empty has the names."""
    spool = Spool()
    with _one_sentence(path), _opened(path, limits) as book:
        if not book.worksheets:
            raise InputError(
                f"{str(path)!r} must have a sheet with rows; it has none, or charts only."
            )
        sheet = book.worksheets[0]
        if len(book.worksheets) > 1:
            warn(
                f"{str(path)!r} has {len(book.worksheets)} sheets; the first, {sheet.title!r}, is "
                "read.",
                ExtremeEntropyWarning,
            )
        sheet.reset_dimensions()  # what a file says of its size need not be true
        with spool.path.open("w", encoding="utf-8", newline="") as text:
            writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerows(_table(str(path), sheet.iter_rows(values_only=True), limits))
    return spool


def _table(
    path: str, rows: Iterator[tuple[Any, ...]], limits: ReadingLimits
) -> Iterator[list[str]]:
    """The names, then as many cells in each row."""
    names: list[str] = []
    blank = 0  # rows, which count as rows if others follow
    for i, row in enumerate(rows, 1):
        if i > limits.sheet_rows or i * len(names) > limits.sheet_cells:
            raise InputError(
                f"A sheet may have up to {limits.sheet_rows:,} rows, and {limits.sheet_cells:,} "
                f"cells below its names; that of {path!r} has more. Clear cells far below the "
                "table, or save it as CSV."
            )
        cells = [_text(value) for value in row]
        if not any(cells):
            blank += bool(names)
            continue
        if not names:
            names = _without_empty_end(cells)
            cells = names
        elif any(cells[len(names) :]):
            raise InputError(
                f"Every column of {path!r} must have a name; row {i} has a cell beyond "
                f"the last named column, {names[-1]!r}. Name its column, or clear the cell."
            )
        yield from ([""] * len(names) for _ in range(blank))
        yield (cells + [""] * len(names))[: len(names)]
        blank = 0


class _BoundedArchive(zipfile.ZipFile):
    """A zip file whose documents are opened only if they are not too large to be read."""

    def __init__(self, path: Path, limits: ReadingLimits) -> None:
        self._limits = limits
        super().__init__(path)

    def read(self, name: str | zipfile.ZipInfo, pwd: bytes | None = None) -> bytes:
        self._check(name, self._limits.document_bytes)
        return super().read(name, pwd)

    def open(
        self,
        name: str | zipfile.ZipInfo,
        mode: Literal["r", "w"] = "r",
        pwd: bytes | None = None,
        *,
        force_zip64: bool = False,
    ) -> IO[bytes]:
        self._check(name, self._limits.sheet_bytes)
        return super().open(name, mode, pwd, force_zip64=force_zip64)

    def _check(self, name: str | zipfile.ZipInfo, most: int) -> None:
        document = name if isinstance(name, zipfile.ZipInfo) else self.getinfo(name)
        if document.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # The others take what memory they like for a few bytes.
            raise ValueError(f"{document.filename!r} is compressed in another way than in Excel")
        if document.file_size > most:  # zipfile gives no more than that
            raise InputError(
                f"{document.filename!r} in an Excel file may have at most {most:,} bytes without "
                f"compression; in {self.filename!r} it has {document.file_size:,}. Save the sheet "
                "as CSV."
            )


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ImportError as error:
        raise InputError(
            "Excel files need openpyxl: pip install 'extreme-entropy[excel]'. Or use CSV."
        ) from error
    return openpyxl


class SheetWriter:
    """Writes record batches to the only sheet of an Excel file; no text becomes a formula."""

    def __init__(self, sink: Any, schema: Any) -> None:
        openpyxl = _openpyxl()
        self._sink, self._book = sink, openpyxl.Workbook(write_only=True)
        self._sheet, self._cell = self._book.create_sheet(), openpyxl.cell.WriteOnlyCell
        self._illegal = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE
        self._most, self._rows = ReadingLimits().sheet_rows, 0
        self._append(schema.names)

    def __enter__(self) -> SheetWriter:
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        if kind is None:
            self._book.save(self._sink)

    def write_batch(self, batch: Any) -> None:
        """Add the rows of a batch below those before."""
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            self._append(row)

    def _append(self, values: Iterable[Any]) -> None:
        self._rows += 1
        if self._rows > self._most:
            raise InputError(
                f"A sheet of Excel may have up to {self._most:,} rows; there are more. Write CSV."
            )
        self._sheet.append([self._written(value) for value in values])

    def _written(self, value: Any) -> Any:
        if isinstance(value, str) and PLAIN_NUMBER.match(value):
            return float(value) if "." in value else int(value)
        if isinstance(value, int | float | None) or type(value) in EXCEL_DATES:
            return value if getattr(value, "tzinfo", None) is None else value.replace(tzinfo=None)
        cell = self._cell(self._sheet, self._illegal.sub("", str(value)))
        cell.data_type = "s"  # also what begins with an equals sign
        return cell


@contextmanager
def _opened(path: Path, limits: ReadingLimits) -> Iterator[Any]:
    """A workbook, read as a stream."""
    openpyxl = _openpyxl()
    with path.open("rb") as file:
        if file.read(4) == COMPOUND_FILE:
            raise ValueError("it has a password, or the format of old .xls files")
    # As `openpyxl.load_workbook`, which opens the archive itself.
    reader = openpyxl.reader.excel.ExcelReader(
        path, read_only=True, data_only=True, keep_links=False
    )
    reader.read_chartsheet = lambda *chart: None  # openpyxl cannot, in a workbook that it streams
    reader.archive.close()
    with _BoundedArchive(path, limits) as reader.archive:
        reader.read()
        yield reader.wb


@contextmanager
def _one_sentence(path: Path) -> Iterator[None]:
    """Whatever goes wrong with a file that anybody may have written."""
    try:
        yield
    except (InputError, MemoryError, Warning):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL:  # of the temporary file
            raise
        cause = error.__cause__ or error  # openpyxl puts a paragraph in front of it
        if isinstance(cause, InputError):
            raise cause from None
        reason = harmless(" ".join(str(cause).split()))[:200] or type(cause).__name__
        raise InputError(
            f"{str(path)!r} cannot be read as an Excel file ({reason}). It is damaged, protected, "
            "or another kind of file."
        ) from error


def _without_empty_end(cells: list[str]) -> list[str]:
    last = max(i for i, cell in enumerate(cells) if cell)
    return cells[: last + 1]


def _text(value: Any) -> str:
    """A cell as CSV has it: whole numbers without a point, dates as ISO has them."""
    if value is None or value in ERRORS:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, datetime.timedelta):
        return repr(value.total_seconds())
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return str(value).strip()
