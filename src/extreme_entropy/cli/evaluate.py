"""`eem evaluate`: how good a model is on rows with known labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from ..errors import InputError
from ..tables.model import TableModel
from ..tables.reading import Source, open_table
from ..tables.scores import confusion, judge
from .output import TABLE, echo_json, json_option, shown
from .progress import watched

Array = np.ndarray[Any, Any]
TITLES = {
    "gmean": "GMean",
    "balanced_accuracy": "Balanced accuracy",
    "auc": "AUC",
    "brier": "Brier score",
}
METHODS = "95 % intervals: bootstrap over rows for the first two, normal for AUC and Brier"


@click.command()
@click.argument("model", type=TABLE)
@click.argument("data", type=TABLE)
@json_option
def evaluate(model: Path, data: Path, as_json: bool) -> None:
    """Judge MODEL by the rows of DATA, which it should not have seen.

    Prints the confusion matrix, GMean, balanced accuracy, AUC and the Brier score.
    """
    fitted, source = TableModel.load(model), open_table(data)
    matrix, labels, probabilities, gone = _gather(fitted, source)
    scores = judge(matrix, labels, probabilities)
    if as_json:
        echo_json(
            {
                "rows": len(labels),
                "rows_without_label": gone,
                "classes": fitted.label_names,
                "confusion": matrix.tolist(),
                **scores,
                "intervals": METHODS,
            }
        )
        return
    left_out = f" ({gone:,} without one left out)" if gone else ""
    click.echo(f"Rows: {len(labels):,} with a label in {shown(fitted.target)}{left_out}\n")
    _tell_matrix(fitted.label_names, matrix)
    for name, score in scores.items():
        if score["value"] is None:
            click.echo(f"{TITLES[name]:20}not defined: some class has no rows")
        else:
            between = f"({score['low']:.3f} to {score['high']:.3f})"
            click.echo(f"{TITLES[name]:20}{score['value']:.3f}  {between}")
    click.echo(f"\n{METHODS}")


def _gather(fitted: TableModel, source: Source) -> tuple[Array, Array, Array, int]:
    """The confusion matrix, positions of labels, probabilities, and rows without a label."""
    columns = fitted.require(source)
    classes = fitted.classifier.classes_
    matrix = np.zeros((len(classes), len(classes)), dtype=np.int64)
    labels: list[Array] = []
    probabilities: list[Array] = []
    gone = 0
    for batch in fitted.pieces(watched(source.batches(columns), "evaluating", source)):
        there = fitted.labelled(batch)
        gone += batch.num_rows - there.num_rows
        if not there.num_rows:
            continue
        X = fitted.encode(there)
        y = np.searchsorted(classes, fitted.labels(there))
        matrix += confusion(y, np.searchsorted(classes, fitted.classifier.predict(X)), len(classes))
        labels.append(y.astype(np.int8))
        probabilities.append(fitted.classifier.predict_proba(X))
    if not labels:
        raise InputError(
            f"{source.name!r} must have rows with a label in {fitted.target!r} to judge by; "
            "it has none."
        )
    return matrix, np.concatenate(labels), np.concatenate(probabilities), gone


def _tell_matrix(names: list[str], matrix: Array) -> None:
    words = [shown(name) for name in names]
    width = max(10, *(len(word) + 2 for word in words), len(f"{matrix.max():,}") + 2)
    click.echo(f"{'':{width}}{'predicted':>{width}}")
    click.echo(f"{'true':{width}}" + "".join(f"{word:>{width}}" for word in words))
    for word, row in zip(words, matrix.tolist(), strict=True):
        click.echo(f"{word:{width}}" + "".join(f"{n:>{width},}" for n in row))
    click.echo()
