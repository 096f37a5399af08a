"""`eem predict`: labels, and probabilities if wanted, for each row of a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pyarrow as pa

from ..files import check_writable
from ..metrics import label_text
from ..tables.model import TableModel
from ..tables.reading import Source, open_table
from ..tables.writing import check_output, write_table
from .output import FILE, counts_text, echo_json, json_option


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="TABLE",
    help="The table to write, in the format of its name. [default: CSV to stdout]",
)
@click.option("--proba", is_flag=True, help="Add the probability of each class.")
@json_option
def predict(model: Path, data: Path, output: str, proba: bool, as_json: bool) -> None:
    """Predict the label of each row of the table DATA, in the order of its rows.

    The column `prediction` holds the labels; with --proba, a column p(LABEL) for each class.
    """
    if output == "-" and as_json:
        raise click.UsageError("--json prints a summary to stdout: write the table with -o TABLE.")
    if output != "-":
        check_output(output)
        check_writable(output)
    fitted, source = TableModel.load(model), open_table(data)
    counts = dict.fromkeys(fitted.label_names, 0)
    columns = [("prediction", fitted.label_type)]
    columns += [(f"p({name})", pa.float64()) for name in fitted.label_names if proba]
    schema = pa.schema(columns)
    write_table(output, _predictions(fitted, source, schema, counts), schema)
    if as_json:
        echo_json({"output": output, "rows": sum(counts.values()), "predicted": counts})
    elif output != "-":
        click.echo(f"Rows: {sum(counts.values()):,}\nPredicted: {counts_text(counts)}")
        click.echo(f"Written: {output}")


def _predictions(
    fitted: TableModel, source: Source, schema: pa.Schema, counts: dict[str, int]
) -> Iterator[pa.RecordBatch]:
    for batch in fitted.batches(source, target=False, progress="predicting"):
        X = fitted.read(batch)
        labels = fitted.classifier.predict(X)
        for label, n in zip(*np.unique(labels, return_counts=True), strict=True):
            counts[label_text(label)] += int(n)
        answers = [labels, *(fitted.classifier.predict_proba(X).T if len(schema) > 1 else ())]
        arrays = [pa.array(a, field.type) for a, field in zip(answers, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)
