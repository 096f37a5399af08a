"""`eem forget`: take rows out of a model, as if it had never learnt them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import click

from ..errors import InputError
from ..tables.labels import told
from ..tables.model import TableModel
from ..tables.reading import open_table
from .output import TABLE, check_place, command_line, echo_json, json_option, shown
from .progress import watched


@click.command()
@click.argument("model", type=TABLE)
@click.argument("rows", type=TABLE)
@click.option("-o", "--output", required=True, type=TABLE, metavar="MODEL", help="Where to write.")
@json_option
def forget(model: Path, rows: Path, output: Path, as_json: bool) -> None:
    """Take the rows of the table ROWS, which MODEL has learnt, out of it again."""
    check_place(output)
    fitted, source = TableModel.load(model), open_table(rows)
    columns, gone = fitted.require(source), Counter[str]()
    for batch in fitted.pieces(watched(source.batches(columns), "forgetting", source)):
        there = fitted.labelled(batch)
        if there.num_rows:
            y = fitted.labels(there)
            fitted.classifier.forget(fitted.encode(there), y)
            gone.update(map(told, y.tolist()))
    if not gone:
        raise InputError(
            f"{source.name!r} must have rows with a label in {fitted.target!r} to forget; "
            "it has none."
        )
    counts = {name: n - gone[name] for name, n in fitted.facts["class_counts"].items()}
    facts = dict(
        fitted.facts,
        command=command_line(),
        rows=sum(counts.values()),
        class_counts=counts,
        estimate=None,
    )
    replace(fitted, facts=facts).save(output)
    if as_json:
        echo_json({"model_file": str(output), "forgotten": sum(gone.values()), **facts})
        return
    left = ", ".join(f"{shown(label)} {n:,}" for label, n in counts.items())
    click.echo(f"Forgotten: {sum(gone.values()):,} rows; {facts['rows']:,} are left")
    click.echo(f"Classes: {left}")
    click.echo(f"Written: {output}\nNext: eem evaluate {output} NEW_ROWS")
