"""Mutated workbooks: each is read as a table, or refused in one sentence.

    python -m fuzz.excel --seconds 60 --seed 0
    python -m fuzz.excel --seed 0 --case 17    one case again

A case follows from the seed and its number: bytes are flipped, documents dropped, renamed, swapped
or altered, flags and compression changed, sheets made huge, of charts, encrypted. Cases run in a
child process of limited memory, which serves many of them: a traceback, an end by a signal, a
message of several lines and a hang are findings, printed with what to give for a replay.
"""

from __future__ import annotations

import io
import re
import sys
import warnings
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from . import main
from .serving import replay, run, serve

Rng = np.random.Generator
Parts = dict[str, bytes]

MEMORY = 3 * 2**30  # bytes of addresses
SECONDS = 60  # that a case may take, on a busy computer too
CELLS: list[Any] = [1, 2.5, -3, 1e300, True, None, "a", "é😀", "x\ny", "#N/A", "=1+1", "\x1b[31m"]
XML: list[bytes] = [
    b'<row r="999999999999"><c><v>1</v></c></row>',
    b'<row r="-1"><c r="A1"><v>1</v></c></row>',
    b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
    b'<row r="1e400"/><row r="nan"/><row r=""/>',
    b'<row><c r="ZZZ1"><v>1</v></c><c r="A1"><v>2</v></c></row>',
    b'<row><c r="A0" t="s"><v>-1</v></c><c t="s"><v>x</v></c></row>',
    b'<row><c t="d"><v>2020-13-45</v></c><c t="b"><v>2</v></c><c t="e"><v>#X</v></c></row>',
    b'<row><c t="inlineStr"><is><t>' + b"x" * 100_000 + b"</t></is></c></row>",
    b"<row><c><v>" + b"9" * 5000 + b"</v></c><c><v>1e999</v></c><c><v>nan</v></c></row>",
    b'<row><c s="9999"><v>1</v></c><c s="-1"><v>1</v></c><c s="x"><v>1</v></c></row>',
    b'<row r="2">' + b"<c/>" * 50_000 + b"</row>",
    b"<c><v>1</v></c><v/><f/><sheetData/>",
    b'<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>',
]
ENTITIES = (
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(9))
    + b"]>"
)


@cache
def _books() -> list[Parts]:
    """Workbooks as openpyxl writes them: a table, several sheets, charts, charts only, styles."""
    import openpyxl

    books = []
    for kind in ("table", "sheets", "chart", "charts only", "far", "styled"):
        book = openpyxl.Workbook()
        sheet = book.active
        for i in range(8):
            sheet.append(["x", "y", "z"] if not i else [i, f"town {i % 3}", CELLS[i]])
        if kind == "sheets":
            book.create_sheet("other")
        if kind.startswith("chart"):
            book.create_chartsheet("picture")
        if kind == "charts only":
            book.remove(sheet)
        if kind == "far":
            sheet["XFD1048576"] = 1
        if kind == "styled":
            for i, form in enumerate(("yyyy-mm-dd", "0.00%", "[h]:mm", "@", "General"), 2):
                sheet.cell(i, 1).number_format = form
        file = io.BytesIO()
        book.save(file)
        with zipfile.ZipFile(file) as archive:
            books.append({name: archive.read(name) for name in archive.namelist()})
    return books


def _flip(rng: Rng, content: bytes) -> bytes:
    """A few bytes changed, doubled or cut out."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 6)):
        at = int(rng.integers(len(data) or 1))
        how = rng.integers(4)
        if how == 0:
            data[at : at + 1] = bytes([int(rng.integers(256))])
        elif how == 1:
            del data[at : at + int(rng.integers(1, 60))]
        elif how == 2:
            data[at:at] = data[at : at + int(rng.integers(1, 200))]
        else:
            del data[at : None if rng.random() < 0.1 else at + 1]
    return bytes(data)


def _numbers(rng: Rng, content: bytes) -> bytes:
    """One number of a document, replaced by another."""
    places = list(re.finditer(rb"\d+", content))
    if not places:
        return content
    place = places[rng.integers(len(places))]
    other = rng.choice([b"0", b"-1", b"2147483648", b"99999999999999999999", b"1.5", b"x", b""])
    return content[: place.start()] + bytes(other) + content[place.end() :]


def _mutate_parts(rng: Rng, parts: Parts) -> Parts:
    """Documents that are gone, renamed, swapped, empty, or altered."""
    parts = dict(parts)
    name, other = (str(n) for n in rng.choice(list(parts), 2))
    sheets = [n for n in parts if "worksheets/sheet" in n] or [name]
    ways: list[Callable[[], Any]] = [
        lambda: parts.pop(name),
        lambda: parts.update({name.upper(): parts.pop(name)}),
        lambda: parts.update({name: parts[other], other: parts[name]}),
        lambda: parts.update({name: b""}),
        lambda: parts.update({name: _flip(rng, parts[name])}),
        lambda: parts.update({name: _numbers(rng, parts[name])}),
        lambda: parts.update({name: parts[name].replace(b"?>", b"?>" + ENTITIES, 1)}),
        lambda: parts.update({name: ENTITIES + b"<x>&j;</x>"}),
        lambda: parts.update({name: b"<a>" * 20_000}),
        lambda: parts.update({name: parts[name].decode("latin-1").encode("utf-16")}),
        *[
            lambda: parts.update(
                {n: _with_row(rng, parts[n]) for n in sheets if b"</sheetData>" in parts[n]}
            )
        ]
        * 4,
    ]
    ways[rng.integers(len(ways))]()
    return parts


def _with_row(rng: Rng, content: bytes) -> bytes:
    """A sheet with something odd among its rows."""
    odd = XML[rng.integers(len(XML))]
    if rng.random() < 0.5:
        return content.replace(b"</sheetData>", odd + b"</sheetData>", 1)
    return content.replace(b"<sheetData>", b"<sheetData>" + odd, 1)


def _zipped(rng: Rng, parts: Parts) -> bytes:
    """The archive, in which a document may come twice."""
    file = io.BytesIO()
    ways = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA]
    how = int(rng.choice(ways, p=[0.45, 0.45, 0.1]))
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", how) as archive:
        warnings.simplefilter("ignore")
        for name, content in parts.items():
            archive.writestr(name, content)
            if rng.random() < 0.02:
                archive.writestr(name, _flip(rng, content))
    return file.getvalue()


def _tamper(rng: Rng, content: bytes) -> bytes:
    """Flags, compression, sizes and offsets of one entry, or any bytes."""
    data = bytearray(content)
    entries = [m.start() for m in re.finditer(rb"PK\x01\x02", content)]
    if rng.random() < 0.3 or not entries:
        return _flip(rng, content)
    entry = entries[rng.integers(len(entries))]
    offset, width = [(8, 2), (10, 2), (20, 4), (24, 4), (28, 2), (42, 4)][rng.integers(6)]
    value = int(rng.choice([0, 1, 8, 99, 2**16 - 1, 2**31, 2**32 - 1])) % 256**width
    data[entry + offset : entry + offset + width] = value.to_bytes(width, "little")
    return bytes(data)


def run_case(seed: int, case: int, folder: Path) -> str:
    """One case; how it ended. AssertionError is a finding."""
    from extreme_entropy.errors import InputError
    from extreme_entropy.tables.reading import open_table

    rng = np.random.default_rng([seed, case])
    books = _books()
    parts = books[rng.integers(len(books))]
    for _ in range(rng.integers(3)):
        parts = _mutate_parts(rng, parts)
    content = _zipped(rng, parts)
    if rng.random() < 0.5:
        content = _tamper(rng, content)
    if rng.random() < 0.02:
        content = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + content
    path = folder / f"a.{rng.choice(['xlsx', 'xlsm'])}"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            rows = sum(batch.num_rows for batch in open_table(path).batches())
        except InputError as error:
            said = str(error)
            assert "\n" not in said, said
            assert said.isprintable(), said
            return "refused"
    return "read" if rows else "empty"


if __name__ == "__main__":
    if "--serve" in sys.argv:  # the child of a run
        serve(run_case, MEMORY)
    else:
        main(__doc__, partial(run, "excel", SECONDS), partial(replay, run_case))
