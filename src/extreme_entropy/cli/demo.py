"""`eem demo`: fit, evaluate and report on a data set that ships with scikit-learn."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from .options import FILE
from .output import prepare_output

BESIDE = ("train.csv", "new.csv", "model.eem")
RARE = 40  # malignant tumours kept, so that the demo has a rare class


@click.command()
@click.option(
    "--out",
    type=FILE,
    default=Path("eem-demo-report.html"),
    show_default=True,
    metavar="PAGE",
    help="The HTML file to write the report to. The tables and the model are written beside it.",
)
def demo(out: Path) -> None:
    """Fit a model to breast-cancer data with a rare class, evaluate it, and report on it."""
    from ..tables.writing import write_table
    from .root import root

    prepare_output(out)
    train, new, model = (out.with_name(f"{out.stem}-{name}") for name in BESIDE)
    for path, table in zip((train, new), _tumours(), strict=True):
        write_table(path, table.to_batches(), table.schema)
    for words in (
        ["fit", train, "--target", "diagnosis", "-o", model],
        ["evaluate", model, new],
        ["report", model, new, "-o", out],
    ):
        click.echo(f"\n$ eem {shlex.join(map(str, words))}")
        root.main([str(word) for word in words], prog_name="eem", standalone_mode=False)


def _tumours() -> tuple[Any, Any]:
    """Rows to fit and rows to evaluate, every other one."""
    import numpy as np
    import pyarrow as pa
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    rows = np.random.default_rng(0).permutation(
        [*np.flatnonzero(data.target == 0)[:RARE], *np.flatnonzero(data.target == 1)]
    )
    columns = dict(zip(map(str, data.feature_names), data.data[rows].T, strict=True))
    diagnosis = np.array(["malignant", "benign"])[data.target[rows]]
    table = pa.table({**columns, "diagnosis": diagnosis})
    return table.take(np.arange(0, len(rows), 2)), table.take(np.arange(1, len(rows), 2))
