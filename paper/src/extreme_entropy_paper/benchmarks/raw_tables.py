"""Mixed tables as `read_csv` returns them: one reading in all ways, and scores beside others.

Each table is written to a file. Ours is fitted to what pandas and polars read from it, unchanged,
and by `eem fit` to the file. LightGBM gets a frame that is prepared by hand (`ForTrees`), logistic
regression what skrub's `TableVectorizer` makes of the frame of pandas.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from extreme_entropy import ExtremeEntropyClassifier
from extreme_entropy.features.feature_map import same
from extreme_entropy.tables.fitting import FitRequest, fit_table
from extreme_entropy.tables.reading import open_table

from ..baselines import Given, make
from ..datasets.raw import RAW, load_raw
from ..store import Row, add_run, newest, rows_of
from .markdown import cell
from .tables import TEST, ForTrees, echoed, rows_at_most

Array = np.ndarray[Any, Any]

MOST_ROWS = 8000
SMALL, SPLITS = 2000, 3
LABEL = "label_"
WORDS, COMPONENTS = 3, 30  # of a text on average, from which on it is not just left out for trees
OURS, LIGHTGBM, LOGISTIC = "ExtremeEntropyClassifier", "LightGBM", "LogisticRegression, skrub"
SCORES = {"auc": "AUC", "pr_auc": "PR-AUC"}


def measure(name: str) -> Iterator[Row]:
    """How a table is read in three ways, and scores of each model and split."""
    raw, y = rows_at_most(*load_raw(name), MOST_ROWS)
    typed, _ = rows_at_most(*load_raw(name, typed=True), MOST_ROWS)
    about = {"dataset": name, "rows": len(y), "columns": raw.shape[1]}
    for split in range(SPLITS if len(y) < SMALL else 1):
        rows, test = train_test_split(
            np.arange(len(y)), test_size=TEST, stratify=y, random_state=split
        )
        with threadpool_limits(1), warnings.catch_warnings(), TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")
            files = Files(Path(folder), raw.iloc[rows], raw.iloc[test], y[rows])
            classifier, p = files.by_pandas()
            predicted = {
                OURS: p,
                LIGHTGBM: of_trees(typed.iloc[rows], typed.iloc[test], y[rows], split),
                LOGISTIC: of_skrub(*files.pandas(), y[rows]),
            }
            if not split:
                yield {"check": "reading", **about, **readings(files, classifier, p)}
        for model, p in predicted.items():
            yield {
                **{"check": "scores", **about, "split": split, "model": model},
                "auc": round(100 * roc_auc_score(y[test], p), 3),
                "pr_auc": round(100 * average_precision_score(y[test], p), 3),
            }


class Files:
    """Rows to learn and to predict, in files."""

    def __init__(self, folder: Path, X: Any, X_test: Any, y: Array) -> None:
        self.rows, self.test = folder / "rows.csv", folder / "test.csv"
        X.assign(**{LABEL: np.where(y == 1, "yes", "no")}).to_csv(self.rows, index=False)
        X_test.to_csv(self.test, index=False)

    def pandas(self) -> tuple[Any, Any]:
        """Both as pandas reads them, without labels."""
        import pandas as pd

        return pd.read_csv(self.rows).drop(columns=LABEL), pd.read_csv(self.test)

    def by_pandas(self) -> tuple[Any, Array]:
        """A classifier of what pandas reads, and its probabilities."""
        import pandas as pd

        frame, test = pd.read_csv(self.rows), pd.read_csv(self.test)
        classifier = ExtremeEntropyClassifier(random_state=0)
        classifier.fit(frame.drop(columns=LABEL), frame[LABEL])
        return classifier, classifier.predict_proba(test)[:, 1]

    def by_polars(self) -> tuple[Any, Array, bool]:
        """The same of what polars reads; and whether it had to look at all rows for the types."""
        import polars as pl

        whole = False
        try:
            frame, test = pl.read_csv(self.rows), pl.read_csv(self.test)
        except pl.exceptions.ComputeError:
            whole = True
            frame, test = (pl.read_csv(f, infer_schema_length=None) for f in (self.rows, self.test))
        classifier = ExtremeEntropyClassifier(random_state=0).fit(frame.drop(LABEL), frame[LABEL])
        return classifier, classifier.predict_proba(test)[:, 1], whole

    def by_eem(self) -> tuple[Any, Array]:
        """The same by the command."""
        model = fit_table(open_table(self.rows), FitRequest(target=LABEL))
        batches = model.batches(open_table(self.test))
        p = [model.classifier.predict_proba(model.read(batch))[:, 1] for batch in batches]
        return model.classifier, np.concatenate(p)


def readings(files: Files, classifier: Any, p: Array) -> Row:
    """Whether columns are read, and rows are answered, as by way of pandas."""
    by_polars, p_polars, whole = files.by_polars()
    by_eem, p_eem = files.by_eem()
    return {
        "polars_same_model": same(classifier.feature_map_, by_polars.feature_map_),
        "polars_same_answers": bool(np.array_equal(p, p_polars)),
        "polars_all_rows": whole,
        "file_differs": differences(classifier, by_eem),
        "file_same_answers": bool(np.array_equal(p, p_eem)),
        "file_largest": float(f"{abs(p - p_eem).max():.1e}"),
    }


def differences(classifier: Any, other: Any) -> dict[str, str]:
    """Columns that another classifier has otherwise, and what it makes of them."""
    mine, theirs = kinds_of(classifier), kinds_of(other)
    return {
        name: f"{kind.title}: {theirs[name].title if name in theirs else 'left out'}"
        for name, kind in mine.items()
        if kind != theirs.get(name)
    }


def kinds_of(classifier: Any) -> dict[str, Any]:
    kinds = classifier.feature_map_.encoding.table_kinds
    return dict(zip(classifier.feature_names_in_, kinds, strict=True))


def of_trees(X: Any, X_test: Any, y: Array, seed: int) -> Array:
    """LightGBM's probabilities, from columns that were typed by hand, and from words of texts."""
    known = X.columns[X.notna().any()]
    trees = ForTrees().fit(X[known])
    frames = [trees.transform(frame[known]) for frame in (X, X_test)]
    words = {name: X[name].astype(str).str.split().str.len().mean() for name in trees.left_out_}
    texts = [name for name, mean in words.items() if mean > WORDS]
    for name in texts:
        parts = make_pipeline(TfidfVectorizer(), TruncatedSVD(COMPONENTS, random_state=seed))
        parts.fit(X[name].fillna(""))
        for i, rows in enumerate((X, X_test)):
            values = parts.transform(rows[name].fillna(""))
            for j in range(COMPONENTS):
                frames[i][f"{name} {j}"] = values[:, j]
    for frame in frames:
        frame.columns = [f"c{i}" for i in range(frame.shape[1])]  # it refuses some names
    model = make("LightGBM, at the prior", Given(len(y), seed)).estimator
    return model.fit(frames[0], y).predict_proba(frames[1])[:, 1]


def of_skrub(X: Any, X_test: Any, y: Array) -> Array:
    """Those of logistic regression behind a `TableVectorizer`, as skrub builds the pipeline."""
    from skrub import tabular_pipeline

    model = tabular_pipeline(LogisticRegression(max_iter=1000))
    return model.fit(X, y).predict_proba(X_test)[:, 1]


def run(names: tuple[str, ...]) -> None:
    """Add rows of these tables, or of all."""
    add_run("raw_tables", (echoed(row) for name in names or RAW for row in measure(name)))


# ------------------------------------------------------------------ the page


def sections() -> list[str]:
    """What docs/tables.md says of the newest rows; nothing where there are none."""
    rows = rows_of(newest("raw_tables", by="dataset"))
    if not rows:
        return []
    return [
        *(*INTRODUCTION.splitlines(), ""),
        *scores([row for row in rows if row["check"] == "scores"]),
        *same_reading([row for row in rows if row["check"] == "reading"]),
    ]


def scores(rows: list[Row]) -> list[str]:
    """A line for each table, and the means."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    values = {
        (name, model, score): np.mean(
            [r[score] for r in rows if r["dataset"] == name and r["model"] == model]
        )
        for name in names
        for model in models
        for score in SCORES
    }
    heads = [f"{title}, {model}" for title in SCORES.values() for model in models]
    lines = ["| table | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    columns = [(model, score) for score in SCORES for model in models]
    for name in names:
        cells = [cell(values[name, model, score], ".1f") for model, score in columns]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    means = [np.mean([values[name, m, s] for name in names]) for m, s in columns]
    lines.append("| **mean** | " + " | ".join(cell(mean, ".2f") for mean in means) + " |")
    behind = [
        f"{name} ({title} {values[name, OURS, s]:.1f} against {values[name, LOGISTIC, s]:.1f})"
        for name in names
        for s, title in SCORES.items()
        if values[name, OURS, s] < values[name, LOGISTIC, s] - 1
    ]
    text = "Ours is more than a point behind logistic regression on: " + (
        ", ".join(behind) or "no table"
    )
    return [*lines, "", f"{text}.", ""]


def same_reading(rows: list[Row]) -> list[str]:
    """How polars and `eem fit` compare with pandas."""
    alike = sum(row["polars_same_model"] and row["polars_same_answers"] for row in rows)
    whole = [row["dataset"] for row in rows if row["polars_all_rows"]]
    lines = [
        f"From polars the model and all probabilities are those from pandas to the last bit on "
        f"{alike} of {len(rows)} tables. `polars.read_csv` refuses {', '.join(whole) or 'none'} "
        "unless `infer_schema_length=None`.",
        "",
        *CAUSES.splitlines(),
        "",
        "| table | columns of the file read otherwise: in a frame, in a file "
        "| largest difference of a probability |",
        "|---|---|---|",
    ]
    for row in rows:
        told = "; ".join(f"{name}: {both}" for name, both in row["file_differs"].items())
        lines.append(f"| {row['dataset']} | {told or 'none'} | {row['file_largest']:.1e} |")
    return [*lines, ""]


CAUSES = """`eem fit` leaves identifiers and columns with one value out before rows are hashed,
so that other rows are sampled: the model is another draw, as with another seed. Dates come as dates
from a file and as text from `read_csv`; they become the same numbers, but in another order of
columns, which changes the last digits of a sum. In loan-rate the cells of the file are also
stripped of spaces, which joins categories that a frame keeps apart."""

INTRODUCTION = f"""## As they are read

*From `paper/rows/raw_tables.jsonl`.* Tables with dates as text, free text, codes and missing
values, none of them of the half of the [field](field.md) that is set aside, at most {MOST_ROWS}
rows of each; one stratified split, {SPLITS} of tables below {SMALL} rows. Each is written to a
file. `ExtremeEntropyClassifier()` gets what `pandas.read_csv` returns. For LightGBM columns are
typed and prepared by hand as above, and free text becomes {COMPONENTS} components of TF-IDF.
Logistic regression stands behind skrub's `TableVectorizer` (`tabular_pipeline`). Scores in
percent."""
