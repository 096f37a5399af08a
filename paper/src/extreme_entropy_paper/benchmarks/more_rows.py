"""Do more rows help? GMean and fit time of ours and LightGBM against the number of rows.

On forest cover, and on made-up rows with local structure: sixteen fields in two columns, and in
each field another direction in five other columns tells the classes apart; three columns are noise.
The rows to predict are always the same.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import click
import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from extreme_entropy import gmean_score

from ..baselines import Given, make, missing
from ..places import DOCS
from ..store import Row, add_run, measured_on, newest, rows_of
from .measure import exponent
from .samples import paper_rows
from .tables import echoed

Array = np.ndarray[Any, Any]

THREADS = os.cpu_count() or 1
MODELS = ("ExtremeEntropyClassifier", "EEKM-default", "LightGBM, at the prior")
SIZES = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
TEST = 50_000
MANY = 30_000  # rows, from which on the growth of time is judged


def local_structure(n: int, seed: int = 0) -> tuple[Array, Array]:
    """Made-up rows: one in five of the rarer class."""
    directions = np.random.default_rng(12).normal(size=(16, 5))
    rng = np.random.default_rng([34, seed])
    X = rng.random((n, 10))
    field = (4 * X[:, 0]).astype(int) * 4 + (4 * X[:, 1]).astype(int)
    score = np.einsum("ij,ij->i", X[:, 2:7] - 0.5, directions[field])
    return X, (score + 0.1 * rng.normal(size=n) > 0.55).astype(int)


def load(name: str) -> tuple[Array, Array, Array, Array]:
    """Rows to learn and to predict, and their labels."""
    if name == "local structure":
        X, y = local_structure(SIZES[-1])
        return X, *local_structure(TEST, 1)[:1], y, local_structure(TEST, 1)[1]
    X, y = paper_rows(name)
    parts = train_test_split(X, y == y.max(), test_size=0.2, stratify=y, random_state=0)
    return parts[0], parts[1], parts[2].astype(int), parts[3].astype(int)


def measure(name: str, most: int) -> Iterator[Row]:
    X, X_test, y, y_test = load(name)
    order = np.random.default_rng(0).permutation(len(y))
    sizes = [n for n in SIZES if n <= min(most, len(y))]
    for n in [*sizes, len(y)] if len(y) < most and len(y) not in sizes else sizes:
        rows = order[:n]
        for model in MODELS:
            if missing(model):
                continue
            made = make(model, Given(n, 0, threads=THREADS))
            start = time.perf_counter()
            made.fit(X[rows], y[rows])
            seconds = time.perf_counter() - start
            leaves = [len(made.feature_map_.leaves)] if hasattr(made, "feature_map_") else []
            yield {
                "dataset": name,
                "rows": n,
                "model": model,
                "gmean": round(100 * gmean_score(y_test, made.predict(X_test)), 2),
                "auc": round(100 * roc_auc_score(y_test, made.predict_proba(X_test)[:, 1]), 3),
                "fit_seconds": round(seconds, 2),
                "leaves": leaves,
            }


def render() -> str:
    """docs/more-rows.md."""
    runs = newest("more_rows")
    found = rows_of(runs)
    lines = INTRODUCTION.splitlines()
    for name in dict.fromkeys(row["dataset"] for row in found):
        own = [row for row in found if row["dataset"] == name]
        models = list(dict.fromkeys(row["model"] for row in own))
        lines += ["", f"## {name.replace('_', ' ')}", ""]
        heads = [f"{model}: GMean | AUC | s" for model in models]
        lines += ["| rows | leaves | " + " | ".join(heads) + " |"]
        lines += ["|---" * (2 + 3 * len(models)) + "|"]
        for n in dict.fromkeys(row["rows"] for row in own):
            at = {row["model"]: row for row in own if row["rows"] == n}
            leaves = max(at[models[0]]["leaves"])
            cells = [
                f"{r['gmean']:.1f} | {r['auc']:.2f} | {r['fit_seconds']:.1f}" for r in at.values()
            ]
            lines.append(f"| {n:,} | {leaves} | " + " | ".join(cells) + " |")
        ours = [row for row in own if row["model"] == models[0] and row["rows"] >= MANY]
        if len(ours) > 2:
            power = exponent([r["rows"] for r in ours], [r["fit_seconds"] for r in ours])
            lines += [
                "",
                f"From {MANY:,} rows on, our time grows as rows to the power {power:.2f}: "
                "adding up rows is linear, and drawing φ is a fixed cost.",
            ]
    return "\n".join([*lines, "", *measured_on(runs)])


INTRODUCTION = """# More rows

*Made by `eem-paper bench more-rows` from `paper/rows/more_rows.jsonl`; do not edit by hand.*

GMean, AUC and fit time against the number of rows, on two threads, each fitted once. The rows to
predict are always the same. Our leaves stop at some fifty, which is what their sums have room for.
*Local structure* is made up: two columns divide the plane into 16 squares, in each square a
different linear rule on five other columns decides the class, and three columns are noise."""


@click.command(name="more-rows")
@click.option("--render", "only_render", is_flag=True, help="Only make the page from the rows.")
@click.option("--most", default=SIZES[-1], show_default=True, help="Rows.")
def more_rows(only_render: bool, most: int) -> None:
    """Score and time fits of more and more rows; docs/more-rows.md, five minutes."""
    if not only_render:
        names = ("local structure", "forest_cover")
        add_run("more_rows", (echoed(row) for name in names for row in measure(name, most)))
    (DOCS / "more-rows.md").write_text(render())
