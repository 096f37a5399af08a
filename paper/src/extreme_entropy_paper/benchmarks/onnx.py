"""What does a model cost that was exported to ONNX? Its file and its predictions, beside Python's.

Forest cover has 54 columns, digits 64 and ten classes. Both sides have one thread, since a service
answers many requests at a time.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
import onnxruntime
from sklearn.datasets import load_digits

from ..baselines import Given, make
from ..places import ROOT
from ..store import Row, add_run, newest, rows_of
from .front_page import measured_on
from .markdown import embed
from .measure import best_seconds
from .samples import shuffled

PAGE = ROOT / "docs" / "guide" / "onnx.md"
H, FEW, MANY = 500, 5000, 20_000  # neurons or landmarks, and rows that are learnt
PRECISIONS = ("float64", "float32")
LEAVES = "ExtremeEntropyClassifier"  # cuts many rows into leaves
SHOWN = {"EEM-default": "EEMClassifier", "EEKM-default": "EEKMClassifier", LEAVES: LEAVES}


def measured(name: str, data: str, X: Any, y: Any, folder: Path) -> list[Row]:
    """A classifier fitted on all rows but the last thousand, in each precision."""
    X, asked, y = X[:-1000], np.ascontiguousarray(X[-1000:]), y[:-1000]
    model = make(name, Given(len(X), 0, H, 1)).fit(X, y)
    model.save(folder / "model.eem")
    found = []
    for dtype in PRECISIONS:
        path = folder / f"{dtype}.onnx"
        model.to_onnx(path, dtype=dtype)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(path, options)
        row: Row = {"model": name, "data": data, "rows": len(X), "dtype": dtype}
        row |= {"classes": len(model.classes_), "onnx_kb": round(path.stat().st_size / 1e3)}
        row["saved_kb"] = round((folder / "model.eem").stat().st_size / 1e3)
        for n, repeats in ((1, 300), (1000, 8)):
            rows = asked[:n].astype(dtype)
            works = (partial(session.run, None, {"X": rows}), partial(model.predict_proba, rows))
            onnx, python = best_seconds(*works, repeats=repeats)
            row |= {f"onnx_ms_{n}": round(1e3 * onnx, 3), f"python_ms_{n}": round(1e3 * python, 3)}
        theirs = session.run(None, {"X": rows})[1]
        row["difference"] = float(f"{np.abs(theirs - model.predict_proba(asked)).max():.1e}")
        found.append(row)
    return found


def table() -> list[str]:
    """The newest rows, and where they were measured."""
    runs = newest("onnx")
    lines = [
        "| classifier | learnt | precision | ONNX file, kB | one row: ONNX, ms | Python, ms "
        "| 1000 rows: ONNX, ms | Python, ms | largest difference |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows_of(runs):
        lines.append(
            f"| {SHOWN[row['model']]} "
            f"| {row['data']}, {row['rows']:,} rows, {row['classes']} classes "
            f"| {'double' if row['dtype'] == 'float64' else 'single'} | {row['onnx_kb']:,} "
            f"| {row['onnx_ms_1']:.2f} | {row['python_ms_1']:.2f} "
            f"| {row['onnx_ms_1000']:.0f} | {row['python_ms_1000']:.0f} | {row['difference']:.0e} |"
        )
    return [*lines, "", measured_on(runs)]


def page(text: str) -> str:
    """The page about ONNX with its table made anew."""
    return embed(text, "onnx", table())


@click.command()
def onnx() -> None:
    """Measure file and predictions of exported models, and make the table of docs/guide/onnx.md."""
    cover, labels = shuffled("forest_cover", MANY + 1000)
    few = slice(-FEW - 1000, None)
    images, digits = load_digits(return_X_y=True)
    with tempfile.TemporaryDirectory() as name:
        folder, rows = Path(name), []
        for model in SHOWN:
            rows += measured(model, "forest cover", cover[few], labels[few], folder)
        rows += measured(LEAVES, "forest cover", cover, labels, folder)
        rows += measured("EEM-default", "digits", images, digits, folder)
    for row in rows:
        click.echo("  ".join(f"{key}: {value}" for key, value in row.items()))
    add_run("onnx", rows)
    PAGE.write_text(page(PAGE.read_text()))
