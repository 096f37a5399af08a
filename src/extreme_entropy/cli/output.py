"""What commands print and write: one file, one object of JSON, and names from the data."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

WRITTEN = "eem.written"  # the file that a command writes, in the context of click


def prepare_output(path: str | Path, *tables: str | Path) -> None:
    """Raise unless the output of a command can be written, and is none of the tables."""
    from ..files import check_writable

    check_writable(path, *tables)
    click.get_current_context().meta[WRITTEN] = str(path)


def echo_json(values: dict[str, Any]) -> None:
    """One object on stdout."""
    click.echo(json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False))


def printable(name: str) -> str:
    """A name from the data in one line, in quotes where its end could not be seen otherwise."""
    return name if name.isprintable() and name.strip() == name and name else repr(name)


def counts_text(counts: Mapping[str, int], most: int | None = None) -> str:
    """Names with their counts, as in "no 242, yes 58"; of very many the first ones."""
    names = [f"{printable(name)} {n:,}" for name, n in counts.items()]
    more = f" and {len(names) - most} more" if most and len(names) > most else ""
    return ", ".join(names[:most]) + more


def rows_text(rows: int, target: str, without_label: int) -> str:
    """The line that says how many rows were read."""
    left_out = f" ({without_label:,} without one left out)" if without_label else ""
    return f"Rows: {rows:,} with a label in {printable(target)}{left_out}"


def command_line() -> str:
    """The command as it was given."""
    words = click.get_current_context().meta.get("eem.words", [])
    return shlex.join(["eem", *words])
