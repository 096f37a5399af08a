"""Large tables: ours beside boosting and a balanced forest, with all rows, in one run.

Tables of 40 000 rows and more, some with text, dates and gaps: 80 % of the rows to learn, 20 % to
predict, one split, all parameters at their defaults, as many threads as there are cores. A label is
decided at the classes' shares in training, which balances the classes without tuning. Each fit is
timed once: compare times of one run only, and small differences not at all.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import click
import numpy as np
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from extreme_entropy import ExtremeEntropyClassifier, gmean_score

from ..baselines import Given, make, missing
from ..datasets.tables import load_table
from ..places import DOCS
from ..store import Row, add_run, measured_on, newest, rows_of
from .bare import map_limit
from .measure import best_seconds, peak_megabytes
from .samples import paper_rows
from .tables import TREES as WITH_CATEGORIES
from .tables import ForTrees, echoed

Array = np.ndarray[Any, Any]

THREADS = os.cpu_count() or 1
OURS, LIGHTGBM = "ExtremeEntropyClassifier", "LightGBM, at the prior"
MODELS = (
    *(OURS, "EEKM-default", LIGHTGBM, "XGBoost, at the prior", "CatBoost, at the prior"),
    *("HistGradientBoosting, at the prior", "BalancedRandomForest"),
)
TREES: dict[str, int | None] = {**WITH_CATEGORIES, "CatBoost, at the prior": 0}
ARRAYS = ("forest_cover", "protein_homology")
FRAMES = ("flights", "wages", "movies", "stops", "diamonds")
MEASURES = {
    "gmean": ("GMean in percent", ".1f", True),
    "auc": ("AUC in percent", ".2f", True),
    "pr_auc": ("PR-AUC in percent, of two classes", ".1f", True),
    "log_loss": ("Log-loss", ".4f", False),
    "fit_seconds": ("Seconds of a fit", ".1f", False),
    "rows_per_second": ("Rows predicted in a second", ",.0f", True),
}


def load(name: str) -> tuple[Any, Array]:
    """Rows, and the position of each label."""
    if name in FRAMES:
        return load_table(name)
    X, y = paper_rows(name)
    return X, np.unique(y, return_inverse=True)[1]


def measure(name: str, models: tuple[str, ...], seed: int = 0) -> Iterator[Row]:
    """One row for each model."""
    X, y = load(name)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)
    for model in models:
        if missing(model):
            continue
        given = Given(len(y), seed, threads=THREADS)
        made = make(model, given)
        if name in FRAMES and model in TREES:
            made = make_pipeline(ForTrees(TREES[model]), made)
        yield {
            "dataset": name,
            "rows": len(y) + len(y_test),
            "columns": X.shape[1],
            "classes": int(y.max()) + 1,
            "model": model,
            "seed": seed,
            "threads": THREADS,
            **scores(made, X, X_test, y, y_test),
        }


def scores(model: Any, X: Any, X_test: Any, y: Array, y_test: Array) -> Row:
    """GMean, AUC and PR-AUC in percent, log-loss, and wall-clock times."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of identifiers
        start = time.perf_counter()
        model.fit(X, y)
        fitted = time.perf_counter()
        probabilities = model.predict_proba(X_test)
        seconds = time.perf_counter() - fitted
        labels = model.predict(X_test)
        if hasattr(model, "with_costs"):
            probabilities = model.with_costs(priors="empirical").predict_proba(X_test)
    p = np.clip(probabilities, 1e-12, 1)
    p /= p.sum(axis=1, keepdims=True)
    two = p.shape[1] == 2
    return {
        "gmean": round(100 * gmean_score(y_test, labels), 2),
        "auc": round(100 * roc_auc_score(y_test, p[:, 1] if two else p, multi_class="ovr"), 3),
        "pr_auc": round(100 * average_precision_score(y_test, p[:, 1]), 2) if two else None,
        "log_loss": round(log_loss(y_test, p), 5),
        "fit_seconds": round(fitted - start, 2),
        "rows_per_second": round(len(y_test) / seconds),
    }


def limits(repeats: int) -> Iterator[Row]:
    """Our fit on forest cover beside LightGBM's and beside the bare operations it consists of."""
    X, y = load("forest_cover")
    X, X_test, y, _ = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    for dtype in (np.float32, np.float64):
        rows, to_predict = X.astype(dtype), X_test.astype(dtype)
        given = Given(len(y), 0, threads=THREADS)
        ours, theirs = make(OURS, given), make(LIGHTGBM, given)
        model: ExtremeEntropyClassifier = make(OURS, given).fit(rows, y)
        bare = map_limit(model.feature_map_, rows, THREADS)
        times = best_seconds(
            partial(ours.fit, rows, y),
            partial(theirs.fit, rows, y),
            bare,
            partial(model.twin().fit, rows, y),
            partial(model.predict_proba, to_predict),
            repeats=repeats,
        )
        fit, lightgbm, limit, twin, predict = times
        yield {
            "dataset": "forest_cover",
            "model": "limits",
            "rows": len(y),
            "dtype": np.dtype(dtype).name,
            "leaves": [len(model.feature_map_.leaves)],
            "fit_seconds": round(fit, 2),
            "lightgbm_seconds": round(lightgbm, 2),
            "times_lightgbm": round(fit / lightgbm, 2),
            "limit_seconds": round(limit, 2),
            "times_limit": round(fit / limit, 2),
            "grown_already_seconds": round(twin, 2),
            "grown_already_times_limit": round(twin / limit, 2),
            "rows_per_second": round(len(to_predict) / predict),
            "peak_mb_beyond_x": round(peak_megabytes(partial(make(OURS, given).fit, rows, y))),
        }


# ------------------------------------------------------------------ the page


def render() -> str:
    """docs/large.md: of each table the newest rows."""
    runs = newest("large", by="dataset")
    found = rows_of(runs)
    scored = [row for row in found if row["model"] != "limits"]
    last = newest("large_limits")
    names = [name for name in (*ARRAYS, *FRAMES) if any(row["dataset"] == name for row in scored)]
    models = [name for name in MODELS if any(row["model"] == name for row in scored)]
    lines = [
        *INTRODUCTION.splitlines(),
        "",
        "| table | rows | columns | classes |",
        "|---" * 4 + "|",
    ]
    for name in names:
        row = next(row for row in scored if row["dataset"] == name)
        lines.append(f"| {name} | {row['rows']:,} | {row['columns']} | {row['classes']} |")
    for measure, (title, form, largest) in MEASURES.items():
        lines += ["", f"## {title}", "", "| table | " + " | ".join(models) + " |"]
        lines.append("|---" * (len(models) + 1) + "|")
        for name in names:
            of_table = [r for r in scored if r["dataset"] == name and r.get(measure) is not None]
            if not of_table:
                continue
            cells = {r["model"]: r[measure] for r in of_table}
            best = (max if largest else min)(cells.values())
            shown = [_cell(cells.get(model), best, form) for model in models]
            lines.append(f"| {name} | " + " | ".join(shown) + " |")
    lines += ["", "## How close to the limit", "", *LIMITS.splitlines(), ""]
    names = [name for name in rows_of(last)[0] if name not in ("dataset", "model")] if last else []
    lines += (
        ["| " + " | ".join(names).replace("_", " ") + " |", "|---" * len(names) + "|"]
        if names
        else []
    )
    lines += ["| " + " | ".join(str(row[name]) for name in names) + " |" for row in rows_of(last)]
    return "\n".join([*lines, "", *measured_on([*runs, *last])])


def _cell(value: float | None, best: float, form: str) -> str:
    if value is None:
        return ""
    text = format(value, form)
    return f"**{text}**" if text == format(best, form) else text


INTRODUCTION = """# Large tables

*Made by `eem-paper bench large` from `paper/rows/large.jsonl`; do not edit by hand.*

These are tables of 40 000 rows and more, with all their rows. Models are fitted on 80 % of the rows
and predict 20 %, in one stratified split and one run on two threads. All parameters are defaults
(CatBoost has 300 trees). `ExtremeEntropyClassifier()` and `EEKMClassifier()` get arrays and frames
as they are. For the trees, text becomes categories and dates become numbers ([how](tables.md)).

"At the prior" means that a row is called positive if its probability exceeds the share of the class
in training, which is what ours do by default. Log-loss is that of the probabilities, ours with
`priors="empirical"`; those of BalancedRandomForest are for classes of equal size. Each time is that
of one fit. The best figure of each line is bold, however small its lead: with one split,
differences of less than a point may be chance.

These tables are not new to our classifier. Some of its settings were chosen by looking at the rows
to predict of this very split: when a table is split, how many rows a leaf has, that leaves choose
widths and penalties again, that landmarks are taken from all classes alike, and on how many rows
smoothness is chosen. So ours may look better here than on your tables."""

LIMITS = """Forest cover, best of several: our fit beside LightGBM's, and beside its limit: the bare
distances, exponentials, products and sums of squares (?syrk) of its leaves, on rows that are scaled
and sorted already. "Grown already" is the fit of a twin, which only adds up and solves; the rest is
sampling rows, choosing what leaves see and fitting pilots, which grows with leaves but not with
rows. The last column is the peak of memory in a fit, beyond X."""


@click.command()
@click.option("--render", "only_render", is_flag=True, help="Only make the page from the rows.")
@click.option("--dataset", "names", multiple=True, help="Only this table; may be repeated.")
@click.option("--limits", "only_limits", is_flag=True, help="Only time forest cover.")
@click.option("--repeats", default=3, show_default=True)
def large(only_render: bool, names: tuple[str, ...], only_limits: bool, repeats: int) -> None:
    """Score and time ours and trees on tables of 40 000 rows and more; docs/large.md.

    About fifteen minutes.
    """
    if not only_render:
        if not only_limits:
            tables = names or (*ARRAYS, *FRAMES)
            add_run("large", (echoed(row) for name in tables for row in measure(name, MODELS)))
        if not names:
            add_run("large_limits", (echoed(row) for row in limits(repeats)))
    (DOCS / "large.md").write_text(render())
