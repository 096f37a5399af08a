"""Tables that cannot be read twice, as CSV in a temporary file: standard input and Excel sheets.

The file goes when the last reference to its `Spool` does, or with the process.
"""

from __future__ import annotations

import csv
import datetime
import os
import shutil
import sys
import tempfile
import weakref
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import ExtremeEntropyWarning, InputError, warn

ERRORS = {"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"}  # of formulas


class Spool:
    """A temporary file, which some systems can open again only after it was closed."""

    def __init__(self) -> None:
        handle, name = tempfile.mkstemp(prefix="eem-", suffix=".csv")
        os.close(handle)
        self.path: Path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)


def standard_input() -> Spool:
    """All of standard input."""
    spool = Spool()
    if sys.stdin is not None:
        with spool.path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, 2**20)
    return spool


def excel_sheet(path: Path) -> Spool:
    """The first sheet of an Excel file. Its first row that is not empty has the names."""
    spool = Spool()
    with _opened(path) as book, spool.path.open("w", encoding="utf-8", newline="") as text:
        sheet = book.worksheets[0]
        if len(book.worksheets) > 1:
            warn(
                f"{str(path)!r} has {len(book.worksheets)} sheets; the first, {sheet.title!r}, is "
                "read.",
                ExtremeEntropyWarning,
            )
        writer, names = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL), None
        blank = 0  # rows, which count as rows if others follow
        for i, row in enumerate(sheet.iter_rows(values_only=True), 1):
            cells = [_text(value) for value in row]
            if not any(cells):
                blank += names is not None
                continue
            if names is None:
                names = _without_empty_end(cells)
                cells = names
            elif any(cells[len(names) :]):
                raise InputError(
                    f"Every column of {str(path)!r} must have a name; row {i} has a cell beyond "
                    f"the last named column, {names[-1]!r}. Name its column, or clear the cell."
                )
            writer.writerows([[""] * len(names)] * blank)
            writer.writerow((cells + [""] * len(names))[: len(names)])
            blank = 0
    return spool


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A workbook, read as a stream."""
    try:
        import openpyxl
    except ImportError as error:
        raise InputError(
            "Excel files need openpyxl: pip install 'extreme-entropy[excel]'. Or save the sheet "
            "as CSV."
        ) from error
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            yield book
        finally:
            book.close()
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, SyntaxError, EOFError) as error:
        if isinstance(error, InputError):
            raise
        reason = " ".join(str(error).split())[:200]
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
