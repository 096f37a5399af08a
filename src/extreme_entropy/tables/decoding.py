"""How the text of a file is encoded: UTF-8 where all its bytes can be, otherwise a guess.

    byte order mark                UTF-8, UTF-16 or UTF-32, as it says
    every other byte is zero       UTF-16
    all bytes are UTF-8            UTF-8
    some are not                   Windows-1252, which is Latin-1 with more signs

A file that is mostly good UTF-8 beyond ASCII is damaged, not in another encoding; one with control
characters is no text.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from ..errors import ExtremeEntropyWarning, InputError, warn

UTF_8 = "utf-8"
PIECE = 2**20  # bytes
MARKS = {
    codecs.BOM_UTF8: UTF_8,
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # in Windows-1252
ESCAPED = re.compile("[\udc80-\udcff]")


def find_encoding(name: str, file: Any) -> str:
    """The encoding of an open binary file, from all its bytes; a note names it if not UTF-8."""
    start = file.read(PIECE)
    encoding = next((kind for mark, kind in MARKS.items() if start.startswith(mark)), "")
    encoding = encoding or _by_zeros(start) or _by_bytes(name, file)
    if encoding != UTF_8:
        title = "Windows-1252 (Western European)" if encoding == "cp1252" else encoding.upper()
        warn(
            f"{name!r} is not UTF-8; it is read as {title}. If that is not right, name its "
            "encoding with --encoding.",
            ExtremeEntropyWarning,
        )
    return encoding


def checked(encoding: str) -> str:
    """The name of an encoding of text that Python knows."""
    try:
        codec = codecs.lookup(encoding)
        if not isinstance("".encode(encoding), bytes):
            raise LookupError
    except (LookupError, ValueError) as error:
        raise InputError(
            f"An encoding must be one that Python knows, such as utf-8, latin-1, cp1252, utf-16 or "
            f"shift_jis; got {encoding!r}."
        ) from error
    return UTF_8 if codec.name == "utf-8" else codec.name


def _by_zeros(start: bytes) -> str:
    """UTF-16 without a mark, by the zeros beside the letters of a header; or nothing."""
    first = start[:4096]
    for encoding, zeros, letters in (
        ("utf-16-le", first[1::2], first[::2]),
        ("utf-16-be", first[::2], first[1::2]),
    ):
        if len(first) > 3 and zeros.count(0) > 0.7 * len(zeros) and not letters.count(0):
            return encoding
    return ""


def _by_bytes(name: str, file: Any) -> str:
    """UTF-8, or Windows-1252 where some bytes are not UTF-8; InputError if it can be neither."""
    good, bad = _count_beyond_ascii(_pieces(file))
    if not bad:
        return UTF_8
    strange = any(CONTROL.search(piece) or UNDEFINED.search(piece) for piece in _pieces(file))
    if strange or good >= bad:
        raise InputError(
            f"{name!r} must be text in UTF-8; it is damaged, another kind of file, or in another "
            "encoding. If so, name it with --encoding, such as latin-1, cp437 or shift_jis."
        )
    return "cp1252"


def _count_beyond_ascii(pieces: Iterable[bytes]) -> tuple[int, int]:
    """Bytes beyond the first of a character that are good UTF-8, and bytes that are not."""
    decoder = codecs.getincrementaldecoder(UTF_8)("surrogateescape")
    good = bad = 0
    for piece in chain(pieces, [b""]):
        text = decoder.decode(piece, final=not piece)
        if text.isascii():
            continue
        bad += len(ESCAPED.findall(text)) if _has_escaped(text) else 0
        good += len(text.encode(UTF_8, "surrogateescape")) - len(text)
    return good, bad


def _has_escaped(text: str) -> bool:
    try:
        text.encode(UTF_8)  # far quicker than a search
    except UnicodeEncodeError:
        return True
    return False


def _pieces(file: Any) -> Iterator[bytes]:
    file.seek(0)
    yield from iter(lambda: file.read(PIECE), b"")
