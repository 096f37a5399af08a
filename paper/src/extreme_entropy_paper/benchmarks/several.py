"""More than two classes: the default beside boosting and logistic regression; docs/several.md.

Real tables of 3 to 21 classes, three stratified splits below 2000 rows and one of larger tables,
70 % of the rows to learn; made-up ones of 5 to 50 classes with 200 rows of each, for times and
memory, and reports of two of them; and TF-IDF of texts, sparse. One thread, default parameters,
CatBoost with 300 trees.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import click
import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from extreme_entropy import gmean_score
from extreme_entropy.report import build_report

from ..baselines import Given, make, missing
from ..datasets.several import FEWEST_TEXTS, SEVERAL, TEXTS, WIDE, load_several, load_texts
from ..places import DOCS
from ..store import Row, add_run, measured_on, newest, rows_of
from .field import logistic, prepared
from .field_page import OURS
from .measure import exponent, peak_megabytes
from .tables import TEST, echoed

Array = np.ndarray[Any, Any]

SMALL, SPLITS = 2000, 3  # tables below so many rows have so many splits
MADE = (5, 10, 20, 50)  # classes of made-up tables
ROWS_OF_CLASS, COLUMNS = 200, 30
REPEATS = 3
REPORTED = (20, 50)  # classes of made-up tables that a report is written about
OF_TEXTS = ("ours", "LightGBM", "LogisticRegression")  # HistGradientBoosting takes no sparse rows
MODELS = {
    OURS: "ExtremeEntropyClassifier",
    "LightGBM": "LightGBM, at the prior",
    "CatBoost": "CatBoost, at the prior",
    "HistGradientBoosting": "HistGradientBoosting, at the prior",
    "LogisticRegression": "",
}
MEASURES = {
    "balanced_accuracy": ("balanced accuracy", ".2f", True),
    "gmean": ("GMean", ".2f", True),
    "log_loss": ("log-loss", ".4f", False),
}


def unfitted(model: str, frame: Any, seed: int) -> Any:
    """A model for frames like this one, which is prepared already."""
    if not MODELS[model]:
        return logistic()
    made = make(MODELS[model], Given(len(frame), seed))
    if model == "CatBoost":
        catboost = made.estimator.set_params(cat_features=list(frame.select_dtypes("object")))
        catboost.__sklearn_clone__ = lambda: catboost  # it cannot be cloned with a list
    return made


def measure(name: str, models: tuple[str, ...], label: str | None) -> Iterator[Row]:
    """One row for each split and model."""
    X, y = load_several(name)
    for split in range(SPLITS if len(y) < SMALL else 1):
        parts = train_test_split(X, y, test_size=TEST, stratify=y, random_state=split)
        for model in models:
            yield {
                "dataset": name,
                "rows": len(y),
                "columns": X.shape[1],
                "classes": int(y.max()) + 1,
                "split": split,
                "model": f"{model}, {label}" if label and model == OURS else model,
                **scores(model, split, *parts),
            }


def scores(name: str, seed: int, X: Any, X_test: Any, y: Array, y_test: Array) -> Row:
    """Balanced accuracy and GMean in percent, log-loss, and seconds of one core."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few rows in a class, and constant columns
        X, X_test = prepared(name, X, X_test)
        model = unfitted(name, X, seed)
        start = time.process_time()
        model.fit(X, y)
        fitted = time.process_time()
        labels = np.asarray(model.predict(X_test)).ravel()
        predicted = time.process_time()
        if name == OURS:
            model = model.with_costs(priors="empirical")
        p = model.predict_proba(X_test)
    return {
        "balanced_accuracy": round(100 * balanced_accuracy_score(y_test, labels), 2),
        "gmean": round(100 * gmean_score(y_test, labels), 2),
        "log_loss": round(log_loss(y_test, np.clip(p, 1e-12, 1), labels=model.classes_), 5),
        "fit_seconds": round(fitted - start, 4),
        "predict_seconds": round(predicted - fitted, 5),
    }


def made_up(n_classes: int) -> tuple[Any, Array]:
    """Rows of so many classes."""
    import pandas as pd

    n = n_classes * ROWS_OF_CLASS
    X, y = make_classification(
        n, COLUMNS, n_informative=20, n_classes=n_classes, n_clusters_per_class=1, random_state=0
    )
    return pd.DataFrame(X, columns=[f"c{i}" for i in range(COLUMNS)]), y


def cost(model: str, n_classes: int) -> Row:
    """The best processor time of some fits, and the memory of one; in a process of its own."""
    X, y = made_up(n_classes)
    times = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, _ = prepared(model, X, X)
        unfitted(model, X, 0).fit(X[: 5 * n_classes], y[: 5 * n_classes])
        peak = peak_megabytes(lambda: unfitted(model, X, 0).fit(X, y))
        for _ in range(REPEATS if n_classes < MADE[-1] else 1):
            start = time.process_time()
            unfitted(model, X, 0).fit(X, y)
            times.append(time.process_time() - start)
    found = {"classes": n_classes, "model": model, "megabytes": round(peak, 1)}
    return {**found, "fit_seconds": round(min(times), 3)}


def costs(models: tuple[str, ...]) -> Iterator[Row]:
    """Each in a process of its own, so that none has memory that another left."""
    for n_classes in MADE:
        for model in models:
            code = (
                "import json; from extreme_entropy_paper.benchmarks.several import cost;"
                f" print(json.dumps(cost({model!r}, {n_classes})))"
            )
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
            yield json.loads(done.stdout)


def text_scores(name: str, models: tuple[str, ...]) -> Iterator[Row]:
    """AUC in percent, seconds of a fit, and rows predicted in a second, of sparse rows."""
    X, y = load_texts(name)
    X, X_test, y, y_test = train_test_split(X, y, test_size=TEST, stratify=y, random_state=0)
    for model in (m for m in OF_TEXTS if m in models):
        classifier = (
            make(MODELS[model], Given(len(y), 0))
            if MODELS[model]
            else LogisticRegression(max_iter=1000)
        )
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.process_time()
            classifier.fit(X, y)
            fitted = time.process_time()
            for _ in range(REPEATS):
                classifier.predict(X_test)
            predicted = (time.process_time() - fitted) / REPEATS
            p = classifier.predict_proba(X_test)[:, 1]
        yield {
            "texts": name,
            "rows": X.shape[0] + X_test.shape[0],
            "columns": X.shape[1],
            "model": model,
            "auc": round(100 * roc_auc_score(y_test, p), 2),
            "fit_seconds": round(fitted - start, 3),
            "rows_a_second": round(X_test.shape[0] / predicted),
        }


def report_seconds(n_classes: int) -> Row:
    """Processor time of a report on a made-up table, of rows that were not learnt."""
    X, y = made_up(n_classes)
    parts = train_test_split(X, y, test_size=TEST, stratify=y, random_state=0)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = unfitted(OURS, X, 0).fit(parts[0], parts[2])
        start = time.process_time()
        build_report(model, parts[1], parts[3])
        seconds = round(time.process_time() - start, 2)
    return {"classes": n_classes, "model": OURS, "report_seconds": seconds}


def render() -> str:
    """docs/several.md from the newest rows."""
    found = newest("several", "model")
    measured = rows_of(found)
    real = [row for row in measured if "dataset" in row]
    names = list(dict.fromkeys(row["model"] for row in real))
    names.sort(key=lambda name: name.split(",")[0] != OURS)
    quick = [name for name in names if name != "CatBoost"]
    trees = " (CatBoost has 300 trees)" if "CatBoost" in names else ""
    lines = [
        "# More than two classes: the default and others",
        "",
        "*Made by `eem-paper bench several` from `paper/rows/several.jsonl`; do not edit by hand.*",
        "",
        f"{len({row['dataset'] for row in real})} tables of 3 to "
        f"{max(row['classes'] for row in real)} classes. {SPLITS} stratified splits below {SMALL} "
        "rows, one of larger tables, 70 % of the rows to learn, one thread. All parameters are "
        f"defaults{trees}. Each model predicts the class whose probability is "
        "largest for its share in training; log-loss is that of its own probabilities, ours with "
        '`priors="empirical"`. GMean is 0 as soon as one class is never found. Times are processor '
        "times.",
        "",
        "## Means, and mean ranks",
        "",
        *_means(real, quick),
        *_not_of_all(real, quick),
        *(_beside_catboost(real, names) if "CatBoost" in names else ()),
        "## Wide tables",
        "",
        *_means([row for row in real if row["dataset"] in WIDE], quick),
        "## Table by table: balanced accuracy, and log-loss in brackets",
        "",
        *_tables(real, names),
        f"## Time and memory: {ROWS_OF_CLASS} rows a class, {COLUMNS} columns",
        "",
        *_costs([row for row in measured if "megabytes" in row]),
        *_reports([row for row in measured if "report_seconds" in row]),
        "## Texts: TF-IDF of their words, sparse",
        "",
        *_texts([row for row in measured if "texts" in row]),
        *measured_on(found),
    ]
    return "\n".join(lines)


def _of_all(rows: list[Row], names: list[str]) -> set[str]:
    """Tables on which each model was measured."""
    tables = [{row["dataset"] for row in rows if row["model"] == name} for name in names]
    return set.intersection(*tables)


def _beside_catboost(rows: list[Row], names: list[str]) -> list[str]:
    """Means of the tables that CatBoost, which takes long with categories, was measured on."""
    n = len(_of_all(rows, names))
    return [f"## Beside CatBoost, on {n} tables", "", *_means(rows, names)]


def _not_of_all(rows: list[Row], names: list[str]) -> list[str]:
    missing = sorted({row["dataset"] for row in rows} - _of_all(rows, names))
    if not missing:
        return []
    return [f"Means and ranks leave out tables that not all models have: {', '.join(missing)}.", ""]


def _reports(rows: list[Row]) -> list[str]:
    if not rows:
        return []
    each = " and ".join(f"{row['report_seconds']:.1f} s with {row['classes']}" for row in rows)
    return [f"A report on 30 % of the rows takes {each} classes.", ""]


def _texts(rows: list[Row]) -> list[str]:
    lines = [
        f"Words in at least {FEWEST_TEXTS} texts; one split. Of `tweets` the device is predicted, "
        "of `reviews` whether the score is the best. All models get the same sparse matrix.",
        "",
        "| texts (rows × columns) | model | AUC | fit, seconds | rows predicted in a second |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        about = f"{row['texts']} ({row['rows']} × {row['columns']}) | {row['model']}"
        figures = f"{row['auc']:.2f} | {row['fit_seconds']:.2f} | {row['rows_a_second']:,}"
        lines.append(f"| {about} | {figures} |")
    return [*lines, ""]


def _of_tables(rows: list[Row], name: str, measure: str) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for row in rows:
        if row["model"] == name:
            values.setdefault(row["dataset"], []).append(row[measure])
    return {table: float(np.mean(found)) for table, found in sorted(values.items())}


def _means(rows: list[Row], names: list[str]) -> list[str]:
    common = _of_all(rows, names)
    rows = [row for row in rows if row["dataset"] in common]
    heads, columns = ["model"], []
    for measure, (title, form, largest) in MEASURES.items():
        values = np.array([list(_of_tables(rows, name, measure).values()) for name in names])
        ranks = rankdata(-values if largest else values, axis=0).mean(axis=1)
        heads += [title, "rank"]
        columns += [[format(v, form) for v in values.mean(axis=1)], [f"{r:.2f}" for r in ranks]]
    seconds = [list(_of_tables(rows, name, "fit_seconds").values()) for name in names]
    heads.append("fit, seconds")
    columns.append([f"{np.mean(part):.2f}" for part in seconds])
    lines = [f"| {' | '.join(line)} |" for line in zip(names, *columns, strict=True)]
    return [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *lines, ""]


def _tables(rows: list[Row], names: list[str]) -> list[str]:
    sizes = {r["dataset"]: f"{r['rows']} × {r['columns']}, {r['classes']}" for r in rows}
    lines = [
        f"| table (rows × columns, classes) | {' | '.join(names)} |",
        "|---" * (len(names) + 1) + "|",
    ]
    accuracy, loss = (
        {name: _of_tables(rows, name, m) for name in names}
        for m in ("balanced_accuracy", "log_loss")
    )
    for table in sorted(sizes):
        cells = [
            f"{accuracy[name][table]:.1f} ({loss[name][table]:.3f})"
            if table in accuracy[name]
            else ""
            for name in names
        ]
        lines.append(f"| {table} ({sizes[table]}) | {' | '.join(cells)} |")
    return [*lines, ""]


def _costs(rows: list[Row]) -> list[str]:
    names = list(dict.fromkeys(row["model"] for row in rows))
    lines = [f"| classes | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for k in MADE:
        of = {row["model"]: row for row in rows if row["classes"] == k}
        cells = [
            f"{of[n]['fit_seconds']:.2f} s, {of[n]['megabytes']:.0f} MB" if n in of else ""
            for n in names
        ]
        lines.append(f"| {k} | {' | '.join(cells)} |")
    powers = []
    for name in names:
        seconds = [row["fit_seconds"] for row in rows if row["model"] == name]
        powers.append(f"{exponent(list(map(float, MADE)), seconds):.2f}")
    lines.append(f"| time grows with classes to the power of | {' | '.join(powers)} |")
    return [*lines, ""]


@click.command()
@click.option("--model", "models", multiple=True, type=click.Choice(list(MODELS)))
@click.option("--label", help="Added to the name of ours, to tell its versions apart.")
@click.option("--table", "names", multiple=True, type=click.Choice(list(SEVERAL)))
@click.option("--costs/--no-costs", "with_costs", default=True, help="Also times and memory.")
@click.option("--render", "only_render", is_flag=True, help="Only make the page from the rows.")
def several(
    models: tuple[str, ...],
    label: str | None,
    names: tuple[str, ...],
    with_costs: bool,
    only_render: bool,
) -> None:
    """Score and time ours and others on tables of many classes; docs/several.md, ten minutes."""
    if not only_render:
        models = tuple(m for m in models or MODELS if not MODELS[m] or not missing(MODELS[m]))

        def rows() -> Iterator[Row]:
            for name in names or SEVERAL:
                yield from measure(name, models, label)
            if with_costs:
                yield from costs(models)
                yield from map(report_seconds, REPORTED if OURS in models else ())
                for name in TEXTS:
                    yield from text_scores(name, models)

        add_run("several", map(echoed, rows()))
    (DOCS / "several.md").write_text(render())
