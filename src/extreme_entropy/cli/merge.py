"""`eem merge`: several models of parts become the model of all rows."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import click

from .output import FILE, command_line, counts_text, echo_json, json_option, model_output


@click.command()
@click.argument("models", nargs=-1, type=FILE, metavar="MODEL MODEL...")
@model_output
@json_option
def merge(models: tuple[Path, ...], output: Path, as_json: bool) -> None:
    """Add up models: the result is what one fit on all their rows would have given.

    They must read the same columns in the same way: fit one, and the others with --like it.
    """
    from ..files import check_writable
    from ..tables.model import TableModel

    if len(models) < 2:
        raise click.UsageError("Give two models or more.")
    if len({path.resolve() for path in models}) < len(models):
        raise click.UsageError("Give each model once: rows that come twice would count twice.")
    check_writable(output)
    first, *others = (TableModel.load(path) for path in models)
    merged = first.merged(others)
    before = [first.classifier.summary_.rows]
    for path, other in zip(models[1:], others, strict=True):
        rows = other.classifier.summary_.rows
        if share := max(known.share_of(rows) for known in before):
            click.echo(
                f"Note: {100 * share:.0f} % of the rows of {str(path)!r} are among those of a "
                "model before it, too; they count twice.",
                err=True,
            )
        before.append(rows)
    facts = replace(merged.facts, command=command_line(), merged=tuple(map(str, models)))
    replace(merged, facts=facts).save(output)
    if as_json:
        echo_json({"model_file": str(output), **asdict(facts)})
        return
    click.echo(f"Rows: {facts.rows:,} from {len(models)} models")
    click.echo(f"Classes: {counts_text(facts.class_counts)}")
    click.echo(f"Written: {output}\nNext: eem evaluate {output} NEW_ROWS")
