"""`eem predict`: labels, and probabilities if wanted, for each row of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from .options import ModelOnTable, columns_option, on_table
from .output import echo_json, prepare_output

if TYPE_CHECKING:
    import pyarrow as pa

    from ..shapes import Array
    from ..tables.model import TableModel
    from ..tables.reading import TableSource, TextStyle


@click.command()
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="TABLE",
    help="The table to write, in the format of its name. [default: CSV to stdout]",
)
@click.option("--proba", is_flag=True, help="Add the probability of each class.")
@columns_option("--keep", "Copy from DATA")
@click.option("--keep-all", is_flag=True, help="Copy all columns of DATA.")
@click.option(
    "--escape-formulas",
    is_flag=True,
    help="Put an apostrophe before text that a spreadsheet would run, such as =1+1. For CSV and "
    "TSV.",
)
@on_table
def predict(
    use: ModelOnTable,
    output: str,
    proba: bool,
    keep: tuple[str, ...],
    keep_all: bool,
    escape_formulas: bool,
    as_json: bool,
) -> None:
    """Predict the label of each row of the table DATA, in the order of its rows.

    DATA may be - for CSV from standard input. Costs and priors change without refitting.

    The column `prediction` holds the labels; with --proba, a column p(LABEL) for each class.
    Probabilities match the frequencies of the classes in the training table. In text and Excel they
    are rounded to the digits that matter. A miss of a rare class costs more by default, so that the
    label need not be the most probable one; with --priors empirical it is.
    """
    from ..tables.writing import (
        check_output,
        for_people,
        is_text,
        with_escaped_formulas,
        write_table,
    )
    from .outcomes import classes_text

    if output == "-" and as_json:
        raise click.UsageError("--json prints a summary to stdout: write the table with -o TABLE.")
    if output != "-":
        check_output(output)
        if escape_formulas and not is_text(output):
            raise click.UsageError("--escape-formulas is for CSV and TSV.")
        prepare_output(output, use.data)
    fitted, source = use.open()
    copies = list(source.schema.names if keep_all else dict.fromkeys(keep))
    counts = dict.fromkeys(fitted.label_names, 0)
    schema = _schema(fitted, source, copies, proba)
    batches = fitted.batches(source, also=copies, progress="predicting")
    digits = rounded if for_people(output) else lambda p: p
    predictions = _predictions(fitted, batches, copies, schema, counts, digits)
    if escape_formulas:
        schema, predictions = with_escaped_formulas(schema, predictions)
    write_table(output, predictions, schema, _style(fitted, source))
    if as_json:
        echo_json({"output": output, "rows": sum(counts.values()), "predicted": counts})
    elif output != "-":
        click.echo(f"Rows: {sum(counts.values()):,}\nPredicted: {classes_text(counts)}")
        click.echo(f"Written: {output}")


def _schema(fitted: TableModel, source: TableSource, copies: list[str], proba: bool) -> pa.Schema:
    """The columns that are copied, then the answers."""
    import pyarrow as pa

    from ..errors import InputError

    answers = {"prediction": fitted.label_type}
    answers |= {f"p({name})": pa.float64() for name in fitted.label_names if proba}
    for name in copies:
        source.require(name)
        if name in answers:
            raise InputError(
                f"Columns of the output must have different names; {source.name!r} has a column "
                f"{name!r} too. Rename it, or name others in --keep."
            )
    return pa.schema([*(source.schema.field(name) for name in copies), *answers.items()])


def _style(fitted: TableModel, source: TableSource) -> TextStyle | None:
    """Separator, decimal sign and byte order mark as in the table that is read."""
    comma = any(column.decimal_comma for column in fitted.columns.used)
    return source.style and replace(source.style, decimal_comma=comma and source.decimal_commas)


def rounded(p: Array) -> Array:
    """Probabilities to three digits more than the smaller of p and 1 − p begins with zeros."""
    import numpy as np

    least = np.maximum(np.minimum(p, 1 - p), 1e-12)
    places = 3 + np.ceil(-np.log10(least))
    return np.round(p * 10**places) / 10**places


def _predictions(
    fitted: TableModel,
    batches: Iterator[pa.Table],
    copies: list[str],
    schema: pa.Schema,
    counts: dict[str, int],
    digits: Callable[[Array], Array],
) -> Iterator[pa.RecordBatch]:
    import numpy as np
    import pyarrow as pa

    from ..metrics import label_text

    unread = fitted.unread()
    types = schema.types[len(copies) :]
    proba = len(types) > 1
    for batch in batches:
        X = fitted.read(batch)
        unread.add(batch, X)
        labels = fitted.classifier.predict(X)
        for label, n in zip(*np.unique(labels, return_counts=True), strict=True):
            counts[label_text(label)] += int(n)
        answers = [labels, *(digits(fitted.classifier.predict_proba(X)).T if proba else ())]
        arrays = [pa.array(a, kind) for a, kind in zip(answers, types, strict=True)]
        copied = [batch.column(name) for name in copies]
        yield from pa.Table.from_arrays([*copied, *arrays], schema=schema).to_batches()
    unread.point_out()
