"""Bars on stderr with rows and time left; silent where stderr is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import click

from ..tables.reading import Source

PARTS = 1000  # of a pass over a table whose rows only a pass can count


def watched(steps: Iterable[Any], label: str, source: Source | None) -> Iterator[Any]:
    """The same steps, with a bar: batches of a table, or steps of a list."""
    if not sys.stderr.isatty():
        yield from steps
    elif source is None:
        yield from _steps(list(steps), label)
    else:
        yield from _batches(steps, label, source)


def _steps(steps: list[Any], label: str) -> Iterator[Any]:
    with click.progressbar(length=len(steps), label=label, file=sys.stderr, show_pos=True) as bar:
        for step in steps:
            yield step
            bar.update(1)


def _batches(batches: Iterable[Any], label: str, source: Source) -> Iterator[Any]:
    rows = 0
    bar: Any = click.progressbar(
        length=PARTS,
        label=label,
        file=sys.stderr,
        item_show_func=lambda _: f"{rows:,} rows",
    )
    with bar:
        for batch in batches:
            yield batch
            rows += batch.num_rows
            share = rows / max(source.rows, 1) if source.rows is not None else source.share
            bar.update(int(PARTS * share) - bar.pos)
        bar.update(PARTS - bar.pos)
