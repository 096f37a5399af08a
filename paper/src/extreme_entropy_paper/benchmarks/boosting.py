"""Is AdaBoost over our classifier better than the classifier itself?

AdaBoost lowers the error over all rows, which favours the frequent class, unless the weights that
it begins with are balanced; and its steps are made for weak classifiers, unless they are short. It
refuses a classifier that errs in most rows, as one that is fair to a rare class may. Each of the
paper's 24 data sets is split in two halves three times, at most 4000 rows of it.
"""

from __future__ import annotations

import warnings
from typing import Any

import click
import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.utils.class_weight import compute_sample_weight
from threadpoolctl import threadpool_limits

from extreme_entropy import EEMClassifier

from ..datasets import list_datasets
from ..places import ROOT
from ..store import Row, add_run, newest, rows_of
from .front_page import measured_on as where
from .markdown import embed
from .samples import paper_rows

PAGE = ROOT / "docs" / "guide" / "rare-class.md"
MOST, SPLITS, ROUNDS, SIZE = 4000, 3, 10, 100
ALONE = "the classifier alone"
# Name: whether weights are balanced, and the learning rate.
WAYS: dict[str, tuple[bool, float]] = {
    "AdaBoost": (False, 1.0),
    "AdaBoost, balanced weights": (True, 1.0),
    "AdaBoost, balanced weights, `learning_rate=0.1`": (True, 0.1),
}


def measure(dataset: str, split: int) -> list[Row]:
    """One row for the classifier and one for each way to boost it."""
    X, y = paper_rows(dataset)
    if len(y) > MOST:
        X, _, y, _ = train_test_split(X, y, train_size=MOST, stratify=y, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=split)
    base = EEMClassifier(SIZE, relevance="uniform", random_state=0)
    balanced = compute_sample_weight("balanced", y)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted: dict[str, Any] = {ALONE: base.fit(X, y)}
        for way, (is_balanced, rate) in WAYS.items():
            boosted = AdaBoostClassifier(base, n_estimators=ROUNDS, learning_rate=rate)
            boosted.set_params(random_state=0)
            try:
                fitted[way] = boosted.fit(X, y, sample_weight=balanced if is_balanced else None)
            except ValueError as error:
                if "worse than random" not in str(error):
                    raise
        predicted = {way: model.predict(X_test) for way, model in fitted.items()}
    about = {"dataset": dataset, "split": split, "hidden": SIZE, "rounds": ROUNDS}
    return [{**about, "way": way, **scores(y_test, predicted.get(way))} for way in (ALONE, *WAYS)]


def scores(y: Any, predicted: Any) -> Row:
    """Both scores, in percent; none where AdaBoost refused the classifier."""
    functions = {"balanced_accuracy": balanced_accuracy_score, "accuracy": accuracy_score}
    return {
        name: None if predicted is None else round(100 * score(y, predicted), 2)
        for name, score in functions.items()
    }


def table() -> list[str]:
    """Mean differences from the classifier alone, and on how many data sets it is better."""
    runs = newest("boosting")
    measured = rows_of(runs)
    names = list(dict.fromkeys(row["dataset"] for row in measured))

    def means(way: str, score: str) -> Any:
        """By data set; not a number where AdaBoost refused a split."""
        return np.array(
            [
                np.mean(
                    [
                        np.nan if row[score] is None else row[score]
                        for row in measured
                        if (row["dataset"], row["way"]) == (name, way)
                    ]
                )
                for name in names
            ]
        )

    lines = [
        f"| {len(names)} data sets, against {ALONE} | balanced accuracy | better by over a point | "
        "worse by over a point | refused |",
        "|---|--:|--:|--:|--:|",
    ]
    for way in WAYS:
        gain = means(way, "balanced_accuracy") - means(ALONE, "balanced_accuracy")
        counts = ((gain > 1).sum(), (gain < -1).sum(), np.isnan(gain).sum())
        lines.append(f"| {way} | {np.nanmean(gain):+.1f} | {' | '.join(map(str, counts))} |")
    return [*lines, "", where(runs)]


def page(text: str) -> str:
    """The page about rare classes with its table made anew."""
    return embed(text, "boosting", table())


@click.command()
@click.option("--render", "only_render", is_flag=True, help="Only make the table from the rows.")
def boosting(only_render: bool) -> None:
    """Compare AdaBoost over a classifier with the classifier alone."""
    if not only_render:
        names = [dataset.name for dataset in list_datasets()]
        tasks = [delayed(measure)(name, split) for name in names for split in range(SPLITS)]
        add_run("boosting", [row for rows in Parallel(2)(tasks) for row in rows])
    PAGE.write_text(page(PAGE.read_text()))
