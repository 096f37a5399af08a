"""Rows of a table with a column of labels, for tests of engines that take such tables."""

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
from laws import assert_same_sums
from sklearn.base import clone

from extreme_entropy import (
    EEKMClassifier,
    EEKMClassifierCV,
    EEMClassifier,
    EEMClassifierCV,
    ExtremeEntropyClassifier,
)

N = 1_200
X = ["a", "b", "c", "d"]
KINDS = {
    "EEM": EEMClassifier(20, random_state=1),
    "EEKM": EEKMClassifier(20, random_state=1),
    "forest": ExtremeEntropyClassifier(n_landmarks=20, n_leaves=4, random_state=3),
    "kernel search": EEKMClassifierCV((5, 15), relevance="uniform", cv=3, random_state=0),
    "search": EEMClassifierCV(
        (5, 15), activation=("sig",), relevance="uniform", cv=3, random_state=0
    ),
}
ANSWERS = {
    "prediction": "predict",
    "probability": "predict_proba",
    "log_probability": "predict_log_proba",
    "decision": "decision_function",
    "projection": "project",
    "contributions": "explain",
    "features": "transform",
}


def new(kind="EEM", **parameters):
    return clone(KINDS[kind]).set_params(**parameters)


def all_rows():
    """Rows sorted by class, so that some partitions have one class only; with text and gaps."""
    rng = np.random.default_rng(7)
    y = np.sort((rng.random(N) < 0.2).astype(int))
    numbers = rng.normal(size=(N, 4)) + 0.8 * y[:, None]
    cities = np.array(["Bonn", "Rome", "Oslo"])[(rng.random(N) * (2 + y)).astype(int)]
    days = [date(2026, 1, 1) + timedelta(int(n)) for n in rng.integers(0, 90, N)]
    gap = rng.random((3, N)) < 0.1
    return pa.table(
        {
            "key": np.arange(N) + 500,
            **dict(zip(X, numbers.T, strict=True)),
            "label": np.array(["no", "yes"])[y],
            "three": np.arange(N) % 3,
            "weight": rng.integers(0, 3, N).astype(float),
            "city": pa.array(cities, mask=gap[0]),
            "day": pa.array(days, mask=gap[1]),
            "dotted.name": pa.array(numbers[:, 0], mask=gap[2]),
        }
    )


ROWS = all_rows()


def gathered(*columns):
    return ROWS.select(columns).to_pandas()


def on_gathered(kind, *weight):
    """A classifier fitted on the numbers, in memory."""
    return new(kind).fit(gathered(*X), gathered("label")["label"], *map(ROWS.__getitem__, weight))


def assert_as_gathered(ours, kind, *weight):
    """The names, sums and decisions that gathered rows give."""
    assert ours.feature_names_in_.tolist() == X
    assert ours.classes_.tolist() == ["no", "yes"]
    assert_same_sums(ours, on_gathered(kind, *weight), gathered(*X))


def assert_search_as_gathered(ours, folds, kind="search"):
    """The scores and the choice that gathered rows give, in the same folds."""
    theirs = on_gathered(kind)
    np.testing.assert_allclose(ours.path_.scores, theirs.path_.scores, atol=1e-12)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_array_equal(folds, theirs.folds_)


def assert_answers_as_gathered(fitted, column):
    """Each column of answers is what the classifier says of gathered rows."""
    for name, method in ANSWERS.items():
        ours, theirs = np.array(column(name)), getattr(fitted, method)(gathered(*X))
        if name == "prediction":
            np.testing.assert_array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(ours, theirs, atol=1e-9, err_msg=name)
