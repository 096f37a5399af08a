"""`eem merge`: several models of parts become the model of all rows."""

from __future__ import annotations

from pathlib import Path

import click

from ..tables.model import TableModel
from .output import TABLE, check_place, command_line, echo_json, json_option, shown


@click.command()
@click.argument("models", nargs=-1, type=TABLE, metavar="MODEL MODEL...")
@click.option("-o", "--output", required=True, type=TABLE, metavar="MODEL", help="Where to write.")
@json_option
def merge(models: tuple[Path, ...], output: Path, as_json: bool) -> None:
    """Add up models: the result is what one fit on all their rows would have given.

    They must read their columns alike: fit one, and the others with --like it.
    """
    if len(models) < 2:
        raise click.UsageError("Give two models or more.")
    check_place(output)
    first, *others = (TableModel.load(path) for path in models)
    merged = first.merged(others)
    merged.facts["command"] = command_line()
    merged.facts["merged"] = [str(path) for path in models]
    merged.save(output)
    if as_json:
        echo_json({"model_file": str(output), **merged.facts})
        return
    counts = (f"{shown(label)} {n:,}" for label, n in merged.facts["class_counts"].items())
    click.echo(f"Rows: {merged.facts['rows']:,} from {len(models)} models")
    click.echo(f"Classes: {', '.join(counts)}")
    click.echo(f"Written: {output}\nNext: eem evaluate {output} NEW_ROWS")
