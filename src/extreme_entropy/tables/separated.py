"""Separated text (CSV, TSV), block by block, as strings.

pyarrow would take the type of a column from the first block of the file and stumble over a later
one. Here every cell stays the text it is until the whole column is known.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

BLOCK_BYTES = 2**20
LONGEST_HEADER = 2**20
# Cells that mean nothing is known.
MISSING = (
    *("", "?", "NA", "N/A", "n/a", "na", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan"),
    *("null", "NULL", "Null", "None"),
)
SEPARATORS = ",;\t|"


def read_names(path: Path, kind: str) -> list[str]:
    """The names of the columns, without spaces around them."""
    return [name.strip() for name in _written_names(path, _separator(path, kind))]


def read_text(path: Path, kind: str) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Batches of strings, null where nothing is known, and how many bytes were read so far."""
    separator = _separator(path, kind)
    names = _written_names(path, separator)
    missing = pa.array(MISSING)
    file = pa.OSFile(str(path))
    with _reader(path, file, separator, dict.fromkeys(names, pa.string())) as reader:
        for batch in reader:
            columns = [_known(column, missing, separator) for column in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, [n.strip() for n in names]), file.tell()


def _known(texts: pa.Array, missing: pa.Array, separator: str) -> pa.Array:
    texts = pc.utf8_trim_whitespace(texts)
    if separator == ";":  # chosen where the comma is the decimal sign
        texts = pc.replace_substring_regex(texts, r"^([+-]?\d+),(\d+)$", r"\1.\2")
    return pc.if_else(pc.is_in(texts, value_set=missing), pa.scalar(None, pa.string()), texts)


def _written_names(path: Path, separator: str) -> list[str]:
    with _reader(path, pa.OSFile(str(path)), separator, {}) as reader:
        return list(reader.schema.names)


def _reader(path: Path, file: Any, separator: str, types: dict[str, Any]) -> Any:
    """A streaming reader; the number of a bad row is known only without threads."""
    return csv.open_csv(
        pa.CompressedInputStream(file, "gzip") if _is_packed(path) else file,
        csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
        csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        csv.ConvertOptions(column_types=types),
    )


def _is_packed(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _separator(path: Path, kind: str) -> str:
    """What the header of a CSV is separated by: the most frequent of , ; | and tab."""
    if kind == "tsv":
        return "\t"
    opened: Any = gzip.open if _is_packed(path) else open
    with opened(path, "rt", encoding="utf-8", errors="replace", newline="") as file:
        header = _unquoted(file.read(LONGEST_HEADER))
    return max(SEPARATORS, key=header.count)


def _unquoted(text: str) -> str:
    """The first line without what is in quotes, where a line may go on."""
    kept, quoted = [], False
    for letter in text:
        if letter == '"':
            quoted = not quoted
        elif not quoted and letter in "\r\n":
            break
        elif not quoted:
            kept.append(letter)
    return "".join(kept)
