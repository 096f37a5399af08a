"""`eem evaluate`: how good a model is on rows with known labels."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..metrics import confusion_counts, scores_with_intervals
from ..tables.model import LabelledRows, TableModel
from ..tables.reading import open_table
from .output import FILE, echo_json, json_option, printable, rows_text

Array = np.ndarray[Any, Any]
TITLES = {
    "gmean": "GMean",
    "balanced_accuracy": "Balanced accuracy",
    "auc": "AUC",
    "brier": "Brier score",
}
METHODS = "95 % intervals: bootstrap over rows for the first two, normal for AUC and Brier"


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@json_option
def evaluate(model: Path, data: Path, as_json: bool) -> None:
    """Evaluate MODEL on the rows of DATA, which should be held out from the fit.

    Prints the confusion matrix, GMean, balanced accuracy, AUC and the Brier score.
    """
    fitted = TableModel.load(model)
    rows = LabelledRows(fitted, open_table(data), "evaluate on", progress="evaluating")
    classifier = fitted.classifier
    k = len(classifier.classes_)
    matrix = np.zeros((k, k), dtype=np.int64)
    labels, probabilities = [], []
    for X, y in rows:
        true, predicted = np.searchsorted(classifier.classes_, (y, classifier.predict(X)))
        matrix += confusion_counts(true, predicted, k)
        labels.append(true.astype(np.int8))
        probabilities.append(classifier.predict_proba(X))
    scores = scores_with_intervals(matrix, np.concatenate(labels), np.concatenate(probabilities))
    if as_json:
        echo_json(
            {
                "rows": rows.rows,
                "rows_without_label": rows.rows_without_label,
                "classes": fitted.label_names,
                "confusion": matrix.tolist(),
                **{name: asdict(score) for name, score in scores.items()},
                "intervals": METHODS,
            }
        )
        return
    click.echo(rows_text(rows.rows, fitted.target, rows.rows_without_label) + "\n")
    click.echo(_matrix_text([printable(name) for name in fitted.label_names], matrix) + "\n")
    for name, score in scores.items():
        if score.value is None:
            click.echo(f"{TITLES[name]:20}not defined: some class has no rows")
        else:
            interval = f"({score.low:.3f} to {score.high:.3f})"
            click.echo(f"{TITLES[name]:20}{score.value:.3f}  {interval}")
    click.echo(f"\n{METHODS}")


def _matrix_text(names: list[str], matrix: Array) -> str:
    width = max(10, *(len(name) + 2 for name in names), len(f"{matrix.max():,}") + 2)
    lines = [["", "predicted"], ["true", *names]]
    lines += [[name, *(f"{n:,}" for n in row)] for name, row in zip(names, matrix, strict=True)]
    return "\n".join(
        f"{first:{width}}" + "".join(f"{cell:>{width}}" for cell in cells)
        for first, *cells in lines
    )
