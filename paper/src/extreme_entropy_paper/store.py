"""Rows on disk, one line of JSON each: every published number is computed from such rows.

A line with the field "run" says what the rows after it were measured with (`facts`). A line is
appended and forced to disk before it counts as finished, so a run that was killed goes on where it
was; what a kill in the middle of a write has left of a line is cut off when the file is opened
again. One process writes at a time.

`rows/NAME.jsonl` holds the runs of a benchmark; `rows/NAME.jsonl.gz`, older ones, packed.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from filelock import FileLock, Timeout

from extreme_entropy.errors import InputError

from . import facts
from .places import ROWS

Row = dict[str, Any]
Key = tuple[str, str, str, int, int]


def name_of(setting: dict[str, Any]) -> str:
    """A setting as text, whatever the order of its parameters."""
    return _name(tuple(sorted(setting.items())))


@cache
def _name(items: tuple[tuple[str, Any], ...]) -> str:
    return json.dumps(dict(items))


def key_of(row: Row) -> Key | None:
    """What a row of an experiment is about: data set, model, setting, repetition and fold."""
    if "setting" not in row:
        return None
    return row["dataset"], row["model"], name_of(row["setting"]), row["repeat"], row["fold"]


class Store:
    """A file of rows, open for appending by this process alone."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(path.with_name(f".{path.name}.lock"))
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise InputError(
                f"Only one run may write to {path} at a time; another one has it open. "
                "Wait for it, or choose another place."
            ) from None
        self._file = path.open("a+b")
        self._cut_off_torn_line()
        self.done = {key_of(row) for row in read(path)}

    def append(self, row: Row) -> None:
        """Add a row; once this returns, it survives anything."""
        line = json.dumps(row, ensure_ascii=False) + "\n"
        self._file.write(line.encode())
        self._file.flush()
        os.fsync(self._file.fileno())
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
        self._lock.release()


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


# ------------------------------------------------------------------ runs of a benchmark


@dataclass(frozen=True, slots=True)
class Run:
    """Rows that were measured together, and with what."""

    facts: Row
    rows: list[Row]


def add_run(name: str, rows: Iterable[Row], about: Row | None = None) -> None:
    """Add a run of a benchmark to its file."""
    with Store(ROWS / f"{name}.jsonl") as store:
        store.append(about or facts.gather())
        for row in rows:
            store.append(row)


def runs(name: str) -> list[Run]:
    """All runs of a benchmark, oldest first."""
    found: list[Run] = []
    for ending in (".jsonl.gz", ".jsonl"):
        for row in read(ROWS / f"{name}{ending}"):
            if "run" in row:
                found.append(Run(row, []))
            else:
                found[-1].rows.append(row)
    return found


def newest(name: str, by: str | None = None) -> list[Run]:
    """The newest run of a benchmark; or, for each value of a column, the newest that has it."""
    found = [run for run in runs(name) if run.rows]
    last = {row[by] if by else "": i for i, run in enumerate(found) for row in run.rows}
    kept = [
        Run(run.facts, [row for row in run.rows if last[row[by] if by else ""] == i])
        for i, run in enumerate(found)
    ]
    return [run for run in kept if run.rows]


def rows_of(measured: Iterable[Run]) -> list[Row]:
    """The rows of some runs."""
    return [row for run in measured for row in run.rows]


def measured_on(measured: Iterable[Run], level: int = 2) -> list[str]:
    """Lines of Markdown that say where rows come from."""
    lines = [line for run in measured for line in _listed(run.facts)]
    return ["#" * level + " Measured on", "", *dict.fromkeys(lines), ""]


def _listed(about: Row) -> list[str]:
    named = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return [
        f"- date: {about['run'][:10]}",
        f"- commit: {about['commit']}",
        f"- versions: {named}",
        f"- computer: {about['computer']}",
    ]
