"""`eem forget`: take rows out of a model, as if it had never learnt them."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import click

from .options import FILE, encoding_option, json_option, model_output, require_model_first
from .output import command_line, echo_json, prepare_output, printable


@click.command()
@click.argument("model", type=FILE)
@click.argument("rows", type=FILE)
@click.option(
    "--force",
    is_flag=True,
    help="Also remove rows that are not found among those learnt; use with care.",
)
@model_output
@encoding_option
@json_option
def forget(
    model: Path, rows: Path, force: bool, output: Path, encoding: str | None, as_json: bool
) -> None:
    """Remove the rows of the table ROWS, which MODEL was fitted on, from MODEL.

    What MODEL computes from all its rows becomes what it would be without these. The feature map
    stays as drawn when MODEL was fitted; a model without any trace of the rows is fitted anew, with
    eem fit on the rows that are left.
    """
    from ..errors import ForgetError
    from ..tables.model import LabelledRows, TableModel
    from ..tables.reading import open_table
    from .outcomes import classes_text

    require_model_first(model, rows)
    prepare_output(output, rows)
    fitted = TableModel.load(model)
    source = open_table(rows, encoding=encoding)
    forgotten = LabelledRows(fitted, source, "forget", progress="forgetting")
    for X, y in forgotten:
        try:
            fitted.classifier.forget(X, y, force=force)
        except ForgetError as error:
            remedy = (
                "There are more rows of a class than the model has learnt of it."
                if force
                else "If they were learnt with slightly different values, --force takes them out "
                "all the same."
            )
            raise ForgetError(
                f"Only rows that were learnt can be forgotten; some of {str(rows)!r} were never "
                f"learnt, or not so often. Nothing was written. {remedy}"
            ) from error
    counts = {
        name: n - forgotten.class_counts[name] for name, n in fitted.facts.class_counts.items()
    }
    facts = replace(
        fitted.facts,
        command=command_line(),
        rows=sum(counts.values()),
        class_counts=counts,
        estimate=None,
    )
    replace(fitted, facts=facts).save(output)
    if as_json:
        echo_json({"model_file": str(output), "forgotten": forgotten.rows, **asdict(facts)})
        return
    click.echo(f"Forgotten: {forgotten.rows:,} rows; {facts.rows:,} are left")
    click.echo(f"Classes: {classes_text(counts)}")
    click.echo(f"Written: {output}")
    empty = [printable(name) for name, n in counts.items() if not n]
    if empty:
        click.echo(
            f"No rows of {', '.join(empty)} are left: the model predicts nothing until merged "
            f"with one that has some (eem fit MORE_ROWS --like {output}, then eem merge)."
        )
    else:
        click.echo(f"Next: eem evaluate {output} NEW_ROWS")
