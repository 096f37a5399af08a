"""Numbers as text: read in the form that most cells have, in frames and files, or pointed out."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_same_decisions
from onnxruntime import InferenceSession

from extreme_entropy import ExtremeEntropyClassifier, load
from extreme_entropy.cli.root import root
from extreme_entropy.columns.category import Category
from extreme_entropy.columns.number_text import NumberTally, form_of, is_gap, number_of
from extreme_entropy.columns.text_number import TextNumber
from extreme_entropy.errors import NumberWarning
from extreme_entropy.tables.model import TableModel
from extreme_entropy.tables.reading import open_table

N = 300
ignore_notes = pytest.mark.filterwarnings("ignore::extreme_entropy.errors.NumberWarning")


def swapped(text):
    """The same number as some countries write it."""
    return text.translate(str.maketrans(",.", ".,"))


FORMS = {
    "${:,.2f}": TextNumber(unit="$"),
    "{:.2f} %": TextNumber(unit="%"),
    "{:.2f}%": TextNumber(unit="%"),
    "{:.2f} kg": TextNumber(unit="kg"),
    "€{:.2f}": TextNumber(unit="€"),
    ">{:.2f}": TextNumber(),
    "{:.6e}": TextNumber(),
    "{:,.2f}": TextNumber(),
    "swapped {:,.2f}": TextNumber("comma"),
    "swapped {:.2f} €": TextNumber("comma", "€"),
}


def written(form, value):
    text = form.removeprefix("swapped ").format(value)
    return swapped(text) if form.startswith("swapped") else text


def amounts(n=N, seed=0):
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(2000, 900, n), 2)
    return values, (values + rng.normal(0, 300, n) > 2000).astype(int)


def table(cells):
    return pd.DataFrame({"a": np.arange(len(cells)) % 7 * 1.0, "x": pd.Series(list(cells))})


def fitted(X, y, **parameters):
    return ExtremeEntropyClassifier(n_landmarks=30, random_state=0, **parameters).fit(X, y)


def kind_of(classifier, j=1):
    return classifier.feature_map_.encoding.kinds[j]


@given(st.floats(-1e12, 1e12).map(lambda value: round(value, 2)))
def test_a_number_is_read_as_it_was_written(value):
    for form, kind in FORMS.items():
        text = written(form, value)
        expected = float(f"{value:.6e}") if "e}" in form else value
        assert number_of(text, kind.decimal, kind.unit) == expected
    assert number_of(f"({abs(value):,.2f})", "point", "") == -abs(value)
    assert number_of(f"${abs(value):,.2f}".replace("$", "-$"), "point", "$") == -abs(value)


@pytest.mark.parametrize(
    "text",
    ["12:30", "5-10", "1.2.3", "1,23,4", "12 Main St", "A5", "--5", "(5", "$5 %", "1st"],
)
def test_other_text_is_no_number(text):
    assert not any(form_of(text)[:2])
    assert number_of(text, "point", "") is None


@given(st.from_regex(r"[-(<$]{0,2}\d{0,4}[.,' ]?\d{0,4}[.,]?\d{0,3}[ %)kg]{0,3}", fullmatch=True))
def test_a_cell_is_counted_as_a_number_if_it_is_read_as_one(text):
    form = form_of(text.strip())
    for decimal in ("point", "comma"):
        for unit in ("", "$", "%"):
            counted = form.fits(decimal, unit) or is_gap(text.strip())
            assert (number_of(text, decimal, unit) is not None) == counted


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_text_gives_the_model_of_the_numbers_it_holds(form, library):
    values, y = amounts()
    texts = table([written(form, value) for value in values])
    numbers = table([float(f"{value:.6e}") if "e}" in form else value for value in values])
    X = {"pandas": lambda: texts, "polars": lambda: pl.from_pandas(texts)}.get(
        library, lambda: pa.Table.from_pandas(texts)
    )()
    if form == "{:.6e}":  # as programs write numbers: there is nothing to tell
        ours = fitted(X, y)
    else:
        with pytest.warns(NumberWarning, match="'x' is read as numbers, such as '.*' as "):
            ours = fitted(X, y)
    theirs = fitted(numbers, y)
    assert kind_of(ours) == FORMS[form]
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(numbers))
    np.testing.assert_array_equal(ours.predict_proba(numbers), theirs.predict_proba(numbers))


@pytest.mark.parametrize("form", FORMS)
def test_files_give_the_same_numbers(form, tmp_path):
    values, y = amounts()
    texts = table([written(form, value) for value in values]).assign(y=y)
    texts.to_csv(tmp_path / "a.csv", index=False)
    texts.to_parquet(tmp_path / "a.parquet")
    expected = [float(f"{value:.6e}") if "e}" in form else value for value in values]
    for name in ("a.csv", "a.parquet"):
        words = ["fit", tmp_path / name, "--target", "y", "-o", tmp_path / "m.eem", "--no-baseline"]
        result = CliRunner().invoke(root, list(map(str, words)))
        assert result.exit_code == 0
        assert ("'x' is read as numbers" in result.stderr) == (form != "{:.6e}")
        model = TableModel.load(tmp_path / "m.eem")
        [batch] = open_table(tmp_path / name).batches()
        assert model.read(batch)["x"].to_pylist() == expected


@ignore_notes
def test_it_is_kept_by_a_file_later_batches_blocks_and_onnx(tmp_path):
    (values, y), (more, labels) = amounts(), amounts(seed=1)
    texts, later = (table([f"${v:,.2f}" for v in x]) for x in (values, more))
    texts.loc[::9, "x"] = None
    classifier = fitted(texts, y)
    classifier.save(tmp_path / "a.eem")
    both = load(tmp_path / "a.eem").partial_fit(later, labels)
    assert kind_of(both) == kind_of(classifier)
    merged = classifier.twin().fit(texts, y).merge(classifier.twin().fit(later, labels))
    assert_same_decisions(merged, both, later)
    assert_same_decisions(both.forget(later, labels), classifier, texts)
    blocks = dd.from_pandas(texts, npartitions=3)
    in_blocks = fitted(blocks, dd.from_pandas(pd.Series(y), npartitions=3))
    assert kind_of(in_blocks) == kind_of(classifier)
    np.testing.assert_allclose(
        in_blocks.predict_proba(texts), classifier.predict_proba(texts), atol=1e-8
    )
    classifier.to_onnx(tmp_path / "a.onnx")
    numbers = values.copy()
    numbers[::9] = np.nan
    session = InferenceSession(tmp_path / "a.onnx")
    inputs = {"a": texts[["a"]].to_numpy(), "x": numbers[:, np.newaxis]}
    np.testing.assert_allclose(
        session.run(None, inputs)[1], classifier.predict_proba(texts), atol=1e-9
    )


@ignore_notes
def test_dates_and_numbers_as_text_stand_anywhere_in_a_table(tmp_path):
    """A text column before one of the same kind by type: the file is read again."""
    values, y = amounts()
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) * 37 % 300, "D")
    X = pd.DataFrame({"t": days.strftime("%Y-%m-%d"), "x": [f"${v}" for v in values]})
    X = X.assign(day=days[::-1], number=values[::-1])
    classifier = fitted(X, y)
    classifier.save(tmp_path / "a.eem")
    again = load(tmp_path / "a.eem")
    np.testing.assert_array_equal(again.predict_proba(X), classifier.predict_proba(X))
    typed = X.assign(t=days, x=values)
    np.testing.assert_array_equal(fitted(typed, y).predict_proba(typed), again.predict_proba(X))


@ignore_notes
def test_new_cells_of_another_unit_or_without_a_number_are_missing():
    values, y = amounts()
    classifier = fitted(table([f"${v:,.2f}" for v in values]), y)
    new = table(["$1,500.00", "1500", "€1,500.00", "soon", None, "?"])
    known = table([1500.0, 1500.0, None, None, None, None])
    np.testing.assert_array_equal(classifier.predict_proba(new), classifier.predict_proba(known))


@pytest.mark.parametrize("strays", [["unknown"], ["n. a.", "soon"]])
def test_odd_cells_are_missing_and_named(strays):
    values, y = amounts()
    cells, numbers = [str(v) for v in values], values.copy()
    cells[3 : 3 + len(strays)], numbers[3 : 3 + len(strays)] = strays, np.nan
    told = f"'x' holds numbers, but {len(strays)} cell.*'{strays[0]}'.*count as missing"
    with pytest.warns(NumberWarning, match=told):
        classifier = fitted(table(cells), y)
    np.testing.assert_array_equal(
        classifier.predict_proba(table(cells)), classifier.predict_proba(table(numbers))
    )


@pytest.mark.filterwarnings("error::extreme_entropy.errors.NumberWarning")
def test_spellings_of_missing_values_are_no_odd_cells():
    """As in files, however few values there are."""
    cells = ["?" if i == 5 else str(i % 9) for i in range(N)]
    classifier = fitted(table(cells), amounts()[1])
    assert kind_of(classifier) == TextNumber()


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([str(1000 + i % 90) for i in range(N)], None),  # somebody made them text
        ([f"{i % 90:05}" if i else "?" for i in range(N)], None),
        (["98121-3032", *(str(98000 + i % 90) for i in range(N - 1))], "1 cell is not: '98121-"),
        ([str(i % 90) if i % 3 else f"word {i % 8}" for i in range(N)], "100 cells are not"),
        ([f"{i % 90} {'kg' if i % 3 else 'lb'}" for i in range(N)], "100 cells are not"),
        (["small", "5", "10"] * 100, None),
    ],
)
def test_codes_and_mixtures_stay_categories_and_mixtures_are_named(cells, message, recwarn):
    classifier = fitted(table(cells), amounts()[1])
    assert isinstance(kind_of(classifier), Category)
    told = [str(w.message) for w in recwarn if w.category is NumberWarning]
    assert len(told) == (message is not None)
    assert all(message in text and "is not read as numbers" in text for text in told)


@pytest.mark.parametrize(
    ("cells", "decimal", "doubted"),
    [
        (["1,234", "5"], "point", "1,234"),  # nothing tells: as programs have it
        (["1,234", "5.5"], "point", ""),
        (["1,234", "5,5"], "comma", ""),
        (["1,234,567", "5,555"], "point", ""),
        (["1.234", "5"], "point", ""),  # as programs write numbers
        (["1.234", "5,5"], "comma", ""),
        (["0,123", "5,123"], "comma", ""),
    ],
)
def test_the_decimal_sign_is_the_one_that_makes_numbers_of_most_cells(cells, decimal, doubted):
    reading = NumberTally().with_texts((cell, 1) for cell in cells).reading(len(cells))
    assert (reading.decimal, reading.doubted, reading.strays) == (decimal, doubted, 0)
    assert ("It could also be" in reading.told("x")) == bool(doubted)


@pytest.mark.filterwarnings("error::extreme_entropy.errors.NumberWarning")
def test_what_a_user_or_a_type_calls_categories_is_no_number():
    values, y = amounts()
    X = table([f"${v // 100}" for v in values])
    assert isinstance(kind_of(fitted(X, y, categorical_features=["x"])), Category)
    assert isinstance(kind_of(fitted(X.astype({"x": "category"}), y)), Category)


def test_the_command_reads_numbers_as_text_where_it_is_told_to(tmp_path):
    values, y = amounts()
    table([f"${v // 100:g}" for v in values]).assign(y=y).to_csv(tmp_path / "a.csv", index=False)
    words = ["fit", tmp_path / "a.csv", "--target", "y", "--text", "x", "-o", tmp_path / "m.eem"]
    assert CliRunner().invoke(root, list(map(str, words))).exit_code == 0
    assert isinstance(kind_of(load(tmp_path / "m.eem")), Category)


def test_numbers_among_text_have_no_decimal_sign(rng):
    """1.234 is not a thousand and more because the text beside it has decimal commas."""
    values = rng.uniform(1, 5, 200).round(3)
    texts = [f"{value:.4f}".replace(".", ",") for value in values]
    y = (values > 3).astype(int)
    classifier = ExtremeEntropyClassifier(n_landmarks=10, random_state=0)
    classifier.fit(pd.DataFrame({"price": texts}), y)
    mixed = [*values[:100].tolist(), *texts[100:]]
    np.testing.assert_array_equal(
        classifier.predict_proba(pd.DataFrame({"price": pd.Series(mixed, dtype=object)})),
        classifier.predict_proba(pd.DataFrame({"price": texts})),
    )
