"""`eem merge`: several models of parts become the model of all rows."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import click

from .options import FILE, json_option, model_output
from .output import command_line, echo_json, note, prepare_output


@click.command()
@click.argument("models", nargs=-1, type=FILE, metavar="MODEL MODEL...")
@click.option(
    "--force",
    is_flag=True,
    help="Merge even if the same rows are in several models; they then count several times.",
)
@model_output
@json_option
def merge(models: tuple[Path, ...], force: bool, output: Path, as_json: bool) -> None:
    """Add up models: the result is what one fit on all their rows would have given.

    They must read the same columns in the same way: fit one, and the others with --like it.
    """
    from ..errors import MergeError
    from ..tables.model import TableModel
    from .outcomes import classes_text

    if len(models) < 2:
        raise click.UsageError("Give two models or more.")
    if len({path.resolve() for path in models}) < len(models) and not force:
        raise click.UsageError("Give each model once: its rows would count twice. Or use --force.")
    prepare_output(output)
    merged = TableModel.load(models[0])
    for path in models[1:]:
        part = TableModel.load(path)
        rows = part.classifier.summary_.rows
        share = merged.classifier.summary_.rows.share_of(rows, certain=True)
        merged = merged.merged(part)
        if share and not force:
            raise MergeError(
                f"{100 * share:.3g} % of the rows of {str(path)!r} are also in the models before "
                "it and would count twice. Nothing was written. Give each part once; if these are "
                "different rows that happen to be equal, use --force."
            )
        if share:
            note(
                f"{100 * share:.3g} % of the rows of {str(path)!r} are also in the models before "
                "it; they count twice."
            )
    facts = replace(merged.facts, command=command_line(), merged=tuple(map(str, models)))
    replace(merged, facts=facts).save(output)
    if as_json:
        echo_json({"model_file": str(output), **asdict(facts)})
        return
    click.echo(f"Rows: {facts.rows:,} from {len(models)} models")
    click.echo(f"Classes: {classes_text(facts.class_counts)}")
    click.echo(f"Written: {output}\nNext: eem evaluate {output} NEW_ROWS")
