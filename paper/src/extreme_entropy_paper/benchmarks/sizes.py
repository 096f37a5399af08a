"""How large is a saved classifier? With its sums, without them, and as arrays written whole.

The former format wrote each square array whole; the bytes of those are what it took at least.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from io import BytesIO
from typing import Any

import click
import numpy as np

from extreme_entropy import EEKMClassifier, EEMClassifier, ExtremeEntropyClassifier

from ..places import ROOT
from ..store import Row, add_run, newest, rows_of
from .front_page import measured_on as where
from .markdown import embed

CLASSES, COLUMNS = (2, 10, 20), 20
PAGE = ROOT / "docs" / "guide" / "deploying.md"


def bytes_of(value: Any) -> int:
    """The bytes of all arrays in a value, each written whole."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, tuple | list):
        return sum(map(bytes_of, value))
    if isinstance(value, dict):
        return sum(map(bytes_of, value.values()))
    return (
        sum(bytes_of(getattr(value, f.name)) for f in fields(value)) if is_dataclass(value) else 0
    )


def measure(model: Any, n: int, n_classes: int) -> Row:
    """The sizes of a classifier fitted on so many rows and classes."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, COLUMNS)) + 2 * rng.normal(size=(n_classes, COLUMNS))[y]
    fitted, whole, slim = model.fit(X, y), BytesIO(), BytesIO()
    fitted.save(whole)
    fitted.save(slim, sums=False)
    return {
        "model": type(model).__name__,
        "classes": n_classes,
        "rows": n,
        "columns": COLUMNS,
        "whole_arrays_bytes": bytes_of(fitted.fitted_parts()),
        "saved_bytes": len(whole.getvalue()),
        "slim_bytes": len(slim.getvalue()),
    }


def table() -> list[str]:
    """The sizes, in MB."""
    runs = newest("sizes")
    measured = rows_of(runs)
    first = measured[0]
    lines = [
        f"Default classifiers on {first['rows']:,} rows of {first['columns']} columns, in MB:",
        "",
        "| classifier | classes | arrays written whole | `save` | `save(sums=False)` |",
        "|---|--:|--:|--:|--:|",
    ]
    for row in measured:
        sizes = (row[f"{name}_bytes"] / 1e6 for name in ("whole_arrays", "saved", "slim"))
        cells = " | ".join(f"{size:.1f}" for size in sizes)
        lines.append(f"| `{row['model']}` | {row['classes']} | {cells} |")
    return [*lines, "", where(runs)]


def page(text: str) -> str:
    """The page about deploying with its table made anew."""
    return embed(text, "sizes", table())


@click.command()
@click.option("--rows", default=4000, show_default=True, help="Of the table.")
def sizes(rows: int) -> None:
    """Save classifiers of 2, 10 and 20 classes, with and without their sums."""
    measured = []
    for kind in (EEMClassifier, EEKMClassifier, ExtremeEntropyClassifier):
        for n_classes in CLASSES:
            measured.append(measure(kind(random_state=0), rows, n_classes))
            click.echo("  ".join(f"{name}: {value}" for name, value in measured[-1].items()))
    add_run("sizes", measured)
    PAGE.write_text(page(PAGE.read_text()))
