"""One file by HTTP: taken up again where it was cut, with a bar, or an error that says why not.

What has come is kept in PATH.part beside a tag of the server's version, so that the rest is asked
for (`Range`) only while the server still has that version (`If-Range`).
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from tqdm import tqdm

from ..errors import DatasetError

ATTEMPTS = 4
PAUSE = 0.5  # seconds before the second attempt; doubled before each further one
TIMEOUT = 30.0
CHUNK = 1 << 16
PASSING = {408, 425, 429, 500, 502, 503, 504}
UNSATISFIABLE = 416


def fetch(url: str, path: Path, *, progress: bool = False) -> None:
    """Put the file of `url` at `path`, whole or not at all."""
    url = located(url)
    part = path.with_name(f"{path.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    failure = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE * 2 ** (attempt - 1))
        try:
            if _take(url, part, progress):
                os.replace(part, path)
                _tag(part).unlink(missing_ok=True)
                return
            failure = "the connection was cut"
        except HTTPError as error:
            failure = f"the server answered {error.code} {error.reason}"
            if error.code == UNSATISFIABLE:
                _forget(part)
            elif error.code not in PASSING:
                break
        except (URLError, HTTPException, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            failure = str(reason) or type(reason).__name__
            if isinstance(reason, (socket.gaierror, ConnectionRefusedError, ValueError)):
                break
    raise DatasetError(f"{url}: {failure}")


def located(url: str) -> str:
    """The address to ask: on the mirror, HOST/PATH of the original, if there is a mirror."""
    mirror = os.environ.get("EXTREME_ENTROPY_MIRROR")
    parts = urlsplit(url)
    return f"{mirror.rstrip('/')}/{parts.netloc}{parts.path}" if mirror else url


def _take(url: str, part: Path, progress: bool) -> bool:
    """Add to `part` what comes; whether that is all."""
    have = part.stat().st_size if part.exists() else 0
    with urlopen(Request(url, headers=_headers(part, have)), timeout=TIMEOUT) as answer:
        resumed = answer.status == 206
        if resumed:
            given = answer.headers["Content-Range"] or ""
            span, _, size = given.removeprefix("bytes ").partition("/")
            if span.partition("-")[0] != str(have):
                _forget(part)
                raise HTTPException(f"asked for byte {have} on, got {given or 'no range'}")
        else:
            have, size = 0, answer.headers["Content-Length"] or "*"
        total = None if size == "*" else int(size)
        # Unbuffered, and read as it comes: what has come survives a kill.
        with part.open("ab" if resumed else "wb", buffering=0) as file:
            if not resumed:
                # Only now, with the old part gone: a tag must never name another part's version.
                _tag(part).write_text(_version(answer.headers))
            with _bar(part, have, total, progress) as bar:
                while chunk := answer.read1(CHUNK):
                    file.write(chunk)
                    bar(len(chunk))
    return total is None or part.stat().st_size == total


def _headers(part: Path, have: int) -> dict[str, str]:
    headers = {"User-Agent": "extreme-entropy"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if _tag(part).exists() and (version := _tag(part).read_text()):
            headers["If-Range"] = version
    return headers


def _version(headers: Any) -> str:
    """What `If-Range` may name: a strong ETag, else the date of the last change."""
    etag = headers["ETag"] or ""
    return etag if etag.startswith('"') else headers["Last-Modified"] or ""


def _tag(part: Path) -> Path:
    return part.with_name(f"{part.name}.tag")


def _forget(part: Path) -> None:
    part.unlink(missing_ok=True)
    _tag(part).unlink(missing_ok=True)


@contextmanager
def _bar(part: Path, have: int, total: int | None, progress: bool) -> Iterator[Any]:
    """A function that counts bytes, on a bar if one is wanted and stderr is a terminal."""
    # disable=None: shown on terminals only.
    with tqdm(
        desc=part.stem,
        initial=have,
        total=total,
        unit="B",
        unit_scale=True,
        disable=None if progress else True,
    ) as bar:
        yield bar.update
