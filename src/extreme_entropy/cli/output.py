"""What commands print and write: one file, one object of JSON, and names from the data."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

WRITTEN = "eem.written"  # the file that a command writes, in the context of click
NOTES = "eem.notes"  # all notes so far, there too


def prepare_output(path: str | Path, *tables: str | Path) -> None:
    """Raise unless the output of a command can be written, and is none of the tables."""
    from ..files import check_writable

    check_writable(path, *tables)
    click.get_current_context().meta[WRITTEN] = str(path)


def note(text: str) -> None:
    """Say on stderr what to know of a result, and remember it for a report."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta.setdefault(NOTES, []).append(text)
    click.echo(f"Note: {text}", err=True)


def notes_so_far() -> list[str]:
    """The notes of this command."""
    return list(click.get_current_context().meta.get(NOTES, []))


def echo_json(values: dict[str, Any]) -> None:
    """One object on stdout."""
    click.echo(json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False))


def printable(name: str) -> str:
    """A name from the data in one line, in quotes where its end could not be seen otherwise."""
    return name if name.isprintable() and name.strip() == name and name else repr(name)


def quoted(name: str) -> str:
    """A label in quotes, so that it cannot be taken for a number of rows."""
    return f'"{name}"' if name.isprintable() and '"' not in name else repr(name)


def counts_text(counts: Mapping[str, int], most: int) -> str:
    """Columns with their counts, as in "age 242, city 58"; of very many the first ones."""
    names = [f"{printable(name)} {n:,}" for name, n in counts.items()]
    return ", ".join(names[:most]) + rest(len(names) - most)


def rest(n: int) -> str:
    return f" and {n} more" if n > 0 else ""


def rows_text(rows: int, target: str, without_label: int) -> str:
    """The line that says how many rows were read."""
    left_out = f" ({without_label:,} without one left out)" if without_label else ""
    return f"Rows: {rows:,} with a label in {printable(target)}{left_out}"


def command_line() -> str:
    """The command as it was given."""
    words = click.get_current_context().meta.get("eem.words", [])
    return shlex.join(["eem", *words])
