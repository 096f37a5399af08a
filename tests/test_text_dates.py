"""Dates as text in data frames: read in the order that the first rows show, or pointed out."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from laws import assert_same_decisions

from extreme_entropy import ExtremeEntropyClassifier, load
from extreme_entropy.cli.root import root
from extreme_entropy.columns import text_date
from extreme_entropy.columns.date import Date
from extreme_entropy.columns.frames import MEANT
from extreme_entropy.columns.text_date import TextDate
from extreme_entropy.errors import DateWarning
from extreme_entropy.tables.fitting import FitRequest, fit_table
from extreme_entropy.tables.reading import open_table

N = 300
FORMS = {
    "ymd": ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y/%m/%d"],
    "dmy": ["%d.%m.%Y", "%d/%m/%Y", "%d.%m.%Y %H:%M"],
    # Where months have names, the order does not matter.
    "mdy": ["%m/%d/%Y", "%m/%d/%Y %I:%M %p", "%b %d, %Y", "%d-%b-%Y"],
}


def days(n=N, seed=0):
    rng = np.random.default_rng(seed)
    days = rng.integers(0, 700, n).astype("timedelta64[D]")
    return pd.Series(np.datetime64("2023-01-01") + days + np.timedelta64(9, "h"))


def labels(dates):
    return dates.dt.month.isin([5, 6, 7, 8]).astype(int).to_numpy()


def table(dates):
    return pd.DataFrame({"a": np.arange(len(dates)) % 7 * 1.0, "day": dates})


def fitted(X, y, **parameters):
    return ExtremeEntropyClassifier(n_landmarks=30, random_state=0, **parameters).fit(X, y)


def kind_of(classifier, j=1):
    return classifier.feature_map_.encoding.kinds[j]


@pytest.mark.parametrize(("order", "form"), [(o, f) for o, forms in FORMS.items() for f in forms])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.filterwarnings("error::extreme_entropy.errors.ExtremeEntropyWarning")
def test_text_gives_the_model_of_the_dates_it_holds(order, form, library):
    dates = days()
    y = labels(dates)
    texts = table(dates.dt.strftime(form))
    read = table(pd.to_datetime(texts["day"], format=form))
    as_text = {"pandas": lambda: texts, "polars": lambda: pl.from_pandas(texts)}
    X = as_text.get(library, lambda: pa.Table.from_pandas(texts))()
    ours, theirs = fitted(X, y), fitted(read, y)
    assert kind_of(ours) == TextDate(order)
    assert isinstance(kind_of(theirs), Date)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(read))
    np.testing.assert_array_equal(ours.predict_proba(read), theirs.predict_proba(read))


@pytest.mark.parametrize(("order", "form"), [("dmy", "%d/%m/%Y"), ("mdy", "%b %d, %Y %H:%M")])
def test_iso_dates_among_others_are_understood(order, form, tmp_path):
    """Mixed forms of one order, in frames and files; day and month follow from all cells."""
    dates = days()
    forms = [dates.dt.strftime(f) for f in (form, "%Y-%m-%d %H:%M", form.replace("/", "."))]
    texts = table(pd.Series([forms[i % 3][i] for i in range(N)]))
    y = labels(dates)
    classifier = fitted(texts, y)
    assert kind_of(classifier) == TextDate(order)
    hours = dates if "H" in form else dates.where(np.arange(N) % 3 == 1, dates.dt.floor("D"))
    np.testing.assert_array_equal(
        classifier.predict_proba(texts), classifier.predict_proba(table(hours))
    )
    texts.assign(y=y).to_csv(tmp_path / "a.csv", index=False)
    model = fit_table(open_table(tmp_path / "a.csv"), FitRequest("y", model="eem", size=10))
    [batch] = open_table(tmp_path / "a.csv").batches()
    assert model.read(batch)["day"].to_pylist() == hours.tolist()


def test_new_dates_are_dates_and_other_text_is_missing():
    dates = days()
    classifier = fitted(table(dates.dt.strftime("%d.%m.%Y")), labels(dates))
    new = table(pd.Series(["01.06.2031", "soon", None, "31.04.2023"]))
    known = table(pd.Series(pd.to_datetime(["2031-06-01", None, None, None])))
    np.testing.assert_array_equal(classifier.predict_proba(new), classifier.predict_proba(known))


def test_it_is_kept_by_a_file_and_by_later_batches(tmp_path):
    dates, more = days(), days(seed=1)
    texts, later = (table(d.dt.strftime("%d/%m/%Y")) for d in (dates, more))
    classifier = fitted(texts, labels(dates))
    classifier.save(tmp_path / "a.eem")
    both = load(tmp_path / "a.eem").partial_fit(later, labels(more))
    np.testing.assert_array_equal(kind_of(both), kind_of(classifier))
    assert_same_decisions(both.forget(later, labels(more)), classifier, texts)


def test_a_few_odd_cells_are_missing_and_named():
    dates = days()
    texts = dates.dt.strftime("%Y-%m-%d")
    texts[[3, 50]] = ["unknown", "2023-02-30"]
    with pytest.warns(
        DateWarning, match="'day' holds dates as text, but 2 of its cells.*'unknown'"
    ):
        classifier = fitted(table(texts), labels(dates))
    dates[[3, 50]] = pd.NaT
    assert kind_of(classifier) == TextDate("ymd")
    np.testing.assert_array_equal(
        classifier.predict_proba(table(texts)), classifier.predict_proba(table(dates.dt.floor("D")))
    )


def test_day_and_month_that_nothing_tells_apart_are_named():
    dates = days()
    dates = dates[dates.dt.day <= 12].reset_index(drop=True)
    with pytest.warns(DateWarning, match="could have the day or the month first"):
        classifier = fitted(table(dates.dt.strftime("%m/%d/%Y")), labels(dates))
    assert kind_of(classifier) == TextDate("mdy")
    dotted = fitted(table(dates.dt.strftime("%d.%m.%Y")), labels(dates))
    assert kind_of(dotted) == TextDate("dmy")


def test_text_that_only_looks_like_dates_is_named():
    dates = days()
    texts = dates.dt.strftime("%d/%m/%Y").where(
        np.arange(N) % 2 == 0, dates.dt.strftime("%m/%d/%Y")
    )
    with pytest.warns(DateWarning, match="'day' looks like dates, such as '.*', but is not read"):
        classifier = fitted(table(texts), labels(dates))
    assert not isinstance(kind_of(classifier), Date)


def test_two_odd_values_among_few_are_categories():
    texts = pd.Series((["2023-01-01", "2023-01-02", "later"] * N)[:N])
    with pytest.warns(DateWarning, match="looks like dates"):
        classifier = fitted(table(texts), np.arange(N) % 2)
    assert kind_of(classifier).labels == ("2023-01-01", "2023-01-02", "later")


@pytest.mark.parametrize("how", ["named", "pandas", "polars", "arrow", "a field of Arrow"])
@pytest.mark.filterwarnings("error::extreme_entropy.errors.DateWarning")
def test_what_a_user_or_a_type_calls_categories_is_no_date(how):
    dates = days()
    months = table(dates.dt.strftime("%Y-%m-01"))
    if how == "named":
        classifier = fitted(months, labels(dates), categorical_features=["day"])
    elif how == "pandas":
        classifier = fitted(months.astype({"day": "category"}), labels(dates))
    elif how == "arrow":
        table_ = pa.Table.from_pandas(months)
        table_ = table_.set_column(1, "day", table_["day"].dictionary_encode())
        classifier = fitted(table_, labels(dates))
    elif how == "a field of Arrow":
        fields = [
            pa.field("a", pa.float64()),
            pa.field("day", pa.string(), metadata={MEANT: "text"}),
        ]
        classifier = fitted(pa.Table.from_pandas(months, pa.schema(fields)), labels(dates))
    else:
        frame = pl.from_pandas(months).with_columns(pl.col("day").cast(pl.Categorical))
        classifier = fitted(frame, labels(dates))
    assert "2023-06-01" in kind_of(classifier).labels


@pytest.mark.parametrize("texts", [["20230101", "20230102"], ["1.5b", "2.25"], ["a", "b"]])
@pytest.mark.filterwarnings("error::extreme_entropy.errors.DateWarning")
def test_digits_and_words_are_no_dates(texts):
    classifier = fitted(table(pd.Series((texts * N)[:N])), np.arange(N) % 2)
    assert kind_of(classifier).labels == tuple(texts)


def test_times_with_offsets_are_told_apart_by_greenwich():
    times = pd.Series(pd.date_range("2023-01-01", periods=N, freq="7h"))
    y = (times.dt.hour < 12).astype(int).to_numpy()
    z, ahead = times.dt.strftime("%Y-%m-%dT%H:%M:%SZ"), times + pd.Timedelta("2h")
    classifier = fitted(table(z), y)
    np.testing.assert_array_equal(
        classifier.predict_proba(table(z)),
        classifier.predict_proba(table(ahead.dt.strftime("%Y-%m-%dT%H:%M:%S+02:00"))),
    )


def test_periods_of_pandas_are_dates():
    dates = days()
    periods = table(dates.dt.to_period("M"))
    starts = table(dates.dt.to_period("M").dt.to_timestamp())
    y = labels(dates)
    np.testing.assert_array_equal(
        fitted(periods, y).predict_proba(periods), fitted(starts, y).predict_proba(starts)
    )


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_durations_are_seconds(library):
    waits = pd.to_timedelta(np.arange(N) * 37 % 300, "min").to_series().reset_index(drop=True)
    waits[::17] = pd.NaT
    y = (waits.dt.total_seconds() > 9000).to_numpy().astype(int)
    X = {"pandas": lambda x: x, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}[library]
    lengths, numbers = X(table(waits)), table(waits.dt.total_seconds())
    np.testing.assert_array_equal(
        fitted(lengths, y).predict_proba(lengths), fitted(numbers, y).predict_proba(numbers)
    )


def test_the_command_names_dates_that_are_not_read_however_few_they_are(tmp_path):
    cells = pd.Series((["2023-01-01", "2023-01-02", "later"] * N)[:N])
    table(cells).assign(y=np.arange(N) % 2).to_csv(tmp_path / "a.csv", index=False)
    model = fit_table(open_table(tmp_path / "a.csv"), FitRequest("y", model="eem", size=10))
    assert any("'day' looks like dates" in note for note in model.facts.warnings)


def test_without_pyarrow_iso_is_understood_and_other_forms_are_named(monkeypatch):
    monkeypatch.setattr(text_date, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "extreme_entropy.columns.date_text", None)
    dates = days()
    y = labels(dates)
    assert kind_of(fitted(table(dates.dt.strftime("%Y-%m-%dT%H:%M")), y)) == TextDate("ymd")
    with pytest.warns(DateWarning, match="pyarrow is not installed"):
        fitted(table(dates.dt.strftime("%d.%m.%Y")), y)


def test_a_command_reads_dates_as_text_where_it_is_told_to(tmp_path):
    """By `--text`; without it the column of the file is one of dates."""
    dates = days()
    frame = table(dates.dt.strftime("%Y-%m-01")).assign(label=labels(dates))
    frame.to_csv(tmp_path / "a.csv", index=False)
    for option, kind in (["--text", "day"], "Category"), ([], "Date"):
        words = ["fit", tmp_path / "a.csv", "--target", "label", *option, "-o", tmp_path / "m.eem"]
        assert CliRunner().invoke(root, list(map(str, words))).exit_code == 0
        assert type(kind_of(load(tmp_path / "m.eem"))).__name__ == kind


@pytest.mark.parametrize("sentinel", ["9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+05:00"])
def test_a_sentinel_at_the_end_of_the_calendar_is_no_error(sentinel, rng):
    """Which in universal time would be beyond it."""
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 300), "D")
    texts = (days.strftime("%Y-%m-%dT%H:%M:%S") + "-05:00").to_list()
    X = pd.DataFrame({"a": rng.normal(size=300), "day": [*texts[:-1], sentinel]})
    classifier = ExtremeEntropyClassifier(n_landmarks=10, random_state=0)
    p = classifier.fit(X, np.arange(300) % 2).predict_proba(X)
    assert np.isfinite(p).all()
