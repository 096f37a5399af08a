"""A file is written beside its place and renamed: it is there whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place once everything has been written."""
    beside = path.with_name(f".{path.name}.part")
    try:
        with beside.open("wb") as file:
            yield file
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
