"""Rows on disk, one line of JSON each, written whole: a run that was killed goes on where it was.

A line is appended and forced to disk before it counts as finished. What a kill in the middle of a
write has left of a line is cut off when the file is opened again. One process writes at a time.
"""

from __future__ import annotations

import fcntl
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..errors import InputError

Row = dict[str, Any]
Key = tuple[str, str, str, int, int]


def name_of(setting: dict[str, Any]) -> str:
    """A setting as text, whatever the order of its parameters."""
    return json.dumps(setting, sort_keys=True)


def key_of(row: Row) -> Key:
    """What a row is about: data set, model, setting, repetition and fold."""
    setting = name_of(row["setting"])
    return row["dataset"], row["model"], setting, row["repeat"], row["fold"]


class Store:
    """A file of rows, open for appending by this process alone."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise InputError(
                f"Only one run may write to {path} at a time; another one has it open. "
                "Wait for it, or choose another --out."
            ) from None
        self._cut_off_torn_line()
        self.done = {key_of(row) for row in read(path) if "dataset" in row}

    def append(self, row: Row) -> None:
        """Add a row; once this returns, it survives anything."""
        line = json.dumps(row, ensure_ascii=False) + "\n"
        self._file.write(line.encode())
        self._file.flush()
        os.fsync(self._file.fileno())
        if "dataset" in row:
            self.done.add(key_of(row))

    def _cut_off_torn_line(self) -> None:
        self._file.seek(0)
        data = self._file.read()
        end = data.rfind(b"\n") + 1
        if end < len(data):
            self._file.truncate(end)
        self._file.seek(0, os.SEEK_END)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


def read(path: Path) -> Iterator[Row]:
    """All whole rows of a file, which may be packed (.gz)."""
    if not path.exists():
        return
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return  # torn by a kill, or still being written
            try:
                yield json.loads(line)
            except ValueError as error:
                raise InputError(
                    f"Line {number} of {path} is not a row of ours ({error}). The file was "
                    "damaged or edited; mend or remove that line."
                ) from error
