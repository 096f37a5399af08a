"""A field of tables: ours as it comes beside boosting, a balanced forest and logistic regression.

Three stratified splits of tables below 2000 rows, one of larger ones, 70 % of the rows to learn and
30 % to predict, one thread, all parameters defaults but for CatBoost's 300 trees. Ours gets the
frame. For the others it is prepared, which is not part of their times. A label is decided at the
share of positives in training, which balances the classes without tuning.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import click
import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from extreme_entropy import gmean_score

from ..baselines import Given, make, missing
from ..datasets.field import FIELDS, is_aside, load_field, names_of
from ..places import DOCS
from ..store import Row, add_run, runs
from .field_checks import MIXED, PARTS, checked
from .field_page import FRONT_PAGES, OURS, pictures, render, with_table
from .tables import TEST, ForTrees, echoed

Array = np.ndarray[Any, Any]

SMALL, SPLITS = 2000, 3  # tables below so many rows have so many splits
# Model → its name in the list of baselines, and what it can do with categories (`ForTrees`).
MODELS: dict[str, tuple[str, int | None]] = {
    OURS: ("ExtremeEntropyClassifier", None),
    "LightGBM": ("LightGBM, at the prior", None),
    "CatBoost": ("CatBoost, at the prior", None),
    "XGBoost": ("XGBoost, at the prior", None),
    "HistGradientBoosting": ("HistGradientBoosting, at the prior", 255),
    "BalancedRandomForest": ("BalancedRandomForest", 0),
    "LogisticRegression": ("", None),
}

CHECKED = (OURS, "LightGBM", "CatBoost")  # whose calibration is measured
BALANCED = (OURS, "BalancedRandomForest")  # these decide as if both classes had the same size


def unfitted(model: str, frame: Any, seed: int) -> Any:
    """A model for frames like this one, which is prepared already."""
    name = MODELS[model][0]
    if not name:
        return logistic()
    made = make(name, Given(len(frame), seed))
    if model == "CatBoost":
        made.estimator.set_params(cat_features=list(frame.select_dtypes("object")))
    return getattr(made, "estimator", made) if model not in BALANCED else made


def logistic() -> Any:
    numbers = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
        remainder=numbers,
    )
    return make_pipeline(columns, LogisticRegression(C=1.0, max_iter=1000))


def prepared(model: str, X: Any, X_test: Any) -> tuple[Any, Any]:
    """Rows to learn and to predict as a model wants them; ours takes the frames as they are."""
    if model == OURS:
        return X, X_test
    known = X.columns[X.notna().any()]  # HistGradientBoosting refuses columns without a value
    trees = ForTrees(MODELS[model][1]).fit(X[known])
    frames = [trees.transform(frame[known]) for frame in (X, X_test)]
    for frame in frames:
        frame.columns = [f"c{i}" for i in range(frame.shape[1])]  # some refuse some names
    if model == "CatBoost":
        frames = [_as_strings(frame) for frame in frames]
    if model == "BalancedRandomForest":
        medians = SimpleImputer(strategy="median", keep_empty_features=True).fit(frames[0])
        frames = [medians.transform(frame) for frame in frames]
    return frames[0], frames[1]


def _as_strings(frame: Any) -> Any:
    names = frame.select_dtypes("category")
    texts = {name: frame[name].astype(object).fillna("missing").astype(str) for name in names}
    return frame.assign(**texts)


def measure(name: str, models: tuple[str, ...], label: str | None, done: set[Any]) -> Iterator[Row]:
    """One row for each split and model of which there is none yet."""
    X, y = load_field(name)
    for split in range(SPLITS if len(y) < SMALL else 1):
        parts = train_test_split(X, y, test_size=TEST, stratify=y, random_state=split)
        for model in models:
            shown = f"{model}, {label}" if label and model == OURS else model
            if (name, split, shown) in done:
                continue
            yield {
                "dataset": name,
                "half": "aside" if is_aside(name) else "open",
                "rows": len(y),
                "columns": X.shape[1],
                "positives": int(y.sum()),
                "split": split,
                "model": model,
                "label": shown,
                **scores(model, split, *parts),
            }


def scores(name: str, seed: int, X: Any, X_test: Any, y: Array, y_test: Array) -> Row:
    """GMean, AUC and PR-AUC in percent, log-loss, and seconds of one core."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of identifiers, few rows in a class, and constant columns
        X, X_test = prepared(name, X, X_test)
        model = unfitted(name, X, seed)
        start = time.process_time()
        model.fit(X, y)
        fitted = time.process_time()
        p = model.predict_proba(X_test)
        predicted = time.process_time()
        labels = model.predict(X_test) if name in BALANCED else p[:, 1] > np.mean(y)
        if name == OURS:
            p = model.with_costs(priors="empirical").predict_proba(X_test)
    p = p[:, 1]
    return {
        "gmean": round(100 * gmean_score(y_test, np.asarray(labels).astype(int)), 2),
        "auc": round(100 * roc_auc_score(y_test, p), 3),
        "pr_auc": round(100 * average_precision_score(y_test, p), 3),
        "log_loss": round(log_loss(y_test, np.clip(p, 1e-12, 1 - 1e-12)), 5),
        "fit_seconds": round(fitted - start, 4),
        "predict_seconds": round(predicted - fitted, 5),
    }


def probabilities_of(model: str, seed: int, X: Any, X_test: Any, y: Array) -> Array:
    """Those of the positive class."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, X_test = prepared(model, X, X_test)
        return unfitted(model, X, seed).fit(X, y).predict_proba(X_test)[:, 1]


def warm_up(models: tuple[str, ...]) -> None:
    """Fit each model once, so that no time holds what is loaded at the first fit."""
    import pandas as pd

    y = np.arange(200) % 2
    X = pd.DataFrame({"a": np.sin(np.arange(200.0)), "b": np.where(np.arange(200) % 3, "u", "v")})
    for model in models:
        scores(model, 0, X[:150], X[150:], y[:150], y[150:])


@click.command()
@click.option("--half", type=click.Choice(["open", "aside", "all"]), default="open")
@click.option("--model", "models", multiple=True, type=click.Choice(list(MODELS)))
@click.option("--label", help="Added to the name of ours, to tell its versions apart.")
@click.option("--table", "names", multiple=True, type=click.Choice(list(FIELDS)))
@click.option("--missing", "only_missing", is_flag=True, help="Only what has no row yet.")
@click.option(
    *("--check", "checks"),
    multiple=True,
    type=click.Choice(list(PARTS)),
    help="Only this check on mixed tables; may be repeated.",
)
@click.option("--render", "only_render", is_flag=True, help="Only make the page from the rows.")
def field(
    half: str,
    models: tuple[str, ...],
    label: str | None,
    names: tuple[str, ...],
    only_missing: bool,
    checks: tuple[str, ...],
    only_render: bool,
) -> None:
    """Score and time ours and others on a hundred tables: docs/field.md and the front pages' table.

    Of the same table, split and label, the newest row counts.
    """
    if checks:
        predicting = {model: partial(probabilities_of, model) for model in CHECKED}
        tables = names or MIXED
        add_run(
            "field_checks", (echoed(row) for n in tables for row in checked(n, checks, predicting))
        )
    elif not only_render:
        models = tuple(m for m in models or MODELS if not MODELS[m][0] or not missing(MODELS[m][0]))
        done = {
            (row["dataset"], row["split"], row["label"])
            for run in runs("field")
            for row in run.rows
            if only_missing
        }
        sizes = {name: len(load_field(name)[1]) for name in names or names_of(half)}
        warm_up(models)
        tables = tuple(sorted(sizes, key=lambda name: sizes[name]))  # small ones first
        add_run("field", (echoed(row) for n in tables for row in measure(n, models, label, done)))
    (DOCS / "field.md").write_text(render())
    for name, picture in pictures().items():
        (DOCS / name).write_text(picture)
    for page in FRONT_PAGES:
        page.write_text(with_table(page.read_text()))
