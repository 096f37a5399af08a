"""`eem predict`: labels, and probabilities if wanted, for each row of a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa

from ..tables.model import TableModel
from ..tables.reading import Source, open_table
from ..tables.writing import check_output, write_table
from .output import TABLE, check_place, echo_json, json_option, shown
from .progress import watched


@click.command()
@click.argument("model", type=TABLE)
@click.argument("data", type=TABLE)
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="TABLE",
    help="Where to write, in the format its name says; CSV to stdout without it.",
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
        check_place(output)
    fitted, source = TableModel.load(model), open_table(data)
    counts = dict.fromkeys(fitted.label_names, 0)
    names = ["prediction", *(f"p({name})" for name in fitted.label_names if proba)]
    types = [fitted.label_type, *([pa.float64()] * (len(names) - 1))]
    schema = pa.schema(list(zip(names, types, strict=True)))
    write_table(output, _predictions(fitted, source, schema, counts), schema)
    if as_json:
        echo_json({"output": output, "rows": sum(counts.values()), "predicted": counts})
    elif output != "-":
        told = ", ".join(f"{shown(name)} {n:,}" for name, n in counts.items())
        click.echo(f"Rows: {sum(counts.values()):,}\nPredicted: {told}\nWritten: {output}")


def _predictions(
    fitted: TableModel, source: Source, schema: pa.Schema, counts: dict[str, int]
) -> Iterator[pa.RecordBatch]:
    columns = fitted.require(source, target=False)
    classifier, names = fitted.classifier, fitted.label_names
    for batch in fitted.pieces(watched(source.batches(columns), "predicting", source)):
        X = fitted.encode(batch)
        labels = classifier.predict(X)
        for position, n in zip(*np.unique(labels, return_counts=True), strict=True):
            counts[names[int(np.searchsorted(classifier.classes_, position))]] += int(n)
        answers: list[Any] = [labels]
        if len(schema) > 1:
            answers += list(classifier.predict_proba(X).T)
        arrays = [pa.array(a, field.type) for a, field in zip(answers, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)
