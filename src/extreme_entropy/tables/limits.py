"""How much of a table is in memory at a time, and how much is read of files that anybody wrote."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Bounds of what is read at once, and of what is read at all."""

    block_bytes: int = 2**20  # of separated text, which are parsed together
    header_letters: int = 2**20  # of the line of names
    batch_rows: int = 2**14  # of Parquet and Arrow, as long as they are short
    batch_bytes: int = 2**26
    most_bytes: int = 2**30  # of rows that a file has put together; more are refused
    held_cells: int = 2**23  # that a model reads and learns at once: 64 MB as numbers
    fewest_rows: int = 256  # of these, however many columns
    # Of an Excel file, which is a zip archive of XML documents:
    sheet_bytes: int = 2**29  # of a sheet or of the texts that cells share, read as a stream
    document_bytes: int = 2**24  # of any other document, held in memory as a whole
    sheet_rows: int = 2**20  # as in Excel
    sheet_cells: int = 2**26  # rows times columns of the table, empty cells included
