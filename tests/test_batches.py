"""Rows in batches and blocks: what `fit` makes of all rows, whatever types carry their values."""

import copy
import warnings
from datetime import date, datetime
from decimal import Decimal
from itertools import chain, permutations, product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from laws import assert_same_machine

from extreme_entropy import EEMClassifier, ExtremeEntropyClassifier
from extreme_entropy.errors import FewRowsWarning, InputError, PrecisionWarning, UnseenWarning

N = 240
# Types that carry the same cells: True, 0, 1, 2 and 3, as far as they can, and words.
NUMBERS = {
    "object": lambda x: pd.Series(x.tolist(), dtype=object),
    "int64": lambda x: pd.Series(x),
    "uint8": lambda x: pd.Series(x.astype(np.uint8)),
    "float32": lambda x: pd.Series(x.astype(np.float32)),
    "float64": lambda x: pd.Series(x.astype(float)),
    "bool": lambda x: pd.Series(x % 2 == 1),
    "Int64": lambda x: pd.Series(x, dtype="Int64"),
    "boolean": lambda x: pd.Series(x % 2 == 1, dtype="boolean"),
    "pyarrow": lambda x: pd.Series(x, dtype="int64[pyarrow]"),
    "category": lambda x: pd.Series(pd.Categorical(x)),
}
WORDS = {
    "object": lambda x: pd.Series(x, dtype=object),
    "str": lambda x: pd.Series(x.tolist(), dtype="str"),
    "pyarrow": lambda x: pd.Series(x.tolist(), dtype="string[pyarrow]"),
    "category": lambda x: pd.Series(pd.Categorical(x)),
}


def new(**options):
    return EEMClassifier(30, relevance="uniform", random_state=0, **options)


def parts(numbers="int64", words="object", mixed=False):
    """Two batches: words (with a number among them, perhaps), and numbers."""
    rng = np.random.default_rng(0)
    of_words = np.array(["a", "b", 2 if mixed else "c"], dtype=object)[rng.integers(0, 3, N)]
    of_numbers = rng.integers(0, 6, N)
    frames = [
        pd.DataFrame({"code": WORDS[words](of_words), "x": rng.normal(size=N)}),
        pd.DataFrame({"code": NUMBERS[numbers](of_numbers), "x": rng.normal(size=N)}),
    ]
    rows = [np.isin(of_words, ["a", 2]), of_numbers % 2 == 1]
    return [(frame, y.astype(int)) for frame, y in zip(frames, rows, strict=True)]


# -------------------------------------------------------------------- columns of several types


@pytest.mark.parametrize("reverse", [False, True], ids=["words first", "numbers first"])
@pytest.mark.parametrize(
    ("numbers", "words", "mixed"),
    [
        *product(NUMBERS, WORDS, [False]),
        *product(NUMBERS, ["object", "category"], [True]),
    ],
)
def test_a_value_is_one_category_whatever_type_carries_it(numbers, words, mixed, reverse):
    """Batches of words and of numbers are one column of both, in any order, as for `fit`."""
    batches = parts(numbers, words, mixed)[:: -1 if reverse else 1]
    ours = new().fit_batches(batches)
    frame = pd.concat([X.astype({"code": object}) for X, _ in batches], ignore_index=True)
    y = np.concatenate([y for _, y in batches])
    theirs = new().fit(frame, y)
    assert theirs.score(frame, y) == 1
    assert_same_machine(ours, theirs, frame)


@pytest.mark.parametrize("order", list(permutations(["pandas", "polars", "arrow"])))
def test_frames_of_several_libraries_are_batches_of_one_column(order):
    """Text of one library, whole numbers of another and numbers of a third."""
    rng = np.random.default_rng(0)
    cells = {
        "pandas": rng.choice(["a", "b"], N).tolist(),
        "polars": rng.integers(0, 4, N).tolist(),
        "arrow": rng.integers(0, 4, N).astype(float).tolist(),
    }
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
    y = rng.integers(0, 2, N)
    batches = [(make[name]({"code": cells[name], "x": rng.normal(size=N)}), y) for name in order]
    frame = pd.DataFrame({"code": [*chain(*(cells[name] for name in order))]}, dtype=object)
    frame["x"] = np.concatenate([np.asarray(X["x"]) for X, _ in batches])
    assert_same_machine(new().fit_batches(batches), new().fit(frame, np.tile(y, 3)), frame)


@pytest.mark.parametrize("reverse", [False, True], ids=["words first", "numbers first"])
@pytest.mark.parametrize("numbers", NUMBERS)
def test_blocks_of_several_types_are_one_column(numbers, reverse):
    """Partitions of a Dask frame need not have the types that it announces."""
    dd = pytest.importorskip("dask.dataframe")
    dask = pytest.importorskip("dask")
    batches = parts(numbers, mixed=True)[:: -1 if reverse else 1]
    frame = pd.concat([X.astype({"code": object}) for X, _ in batches], ignore_index=True)
    y = np.concatenate([y for _, y in batches])
    with dask.config.set({"dataframe.convert-string": False}):
        X_ = dd.from_delayed(
            [dask.delayed(X) for X, _ in batches], meta=frame[:0], verify_meta=False
        )
        y_ = dd.from_delayed([dask.delayed(pd.Series(y)) for _, y in batches], verify_meta=False)
        ours = new().fit(X_, y_)
    theirs = new().fit(frame, y)
    assert theirs.score(frame, y) == 1
    assert_same_machine(ours, theirs, frame)


@pytest.mark.parametrize(
    "cells", [[1, 2.5, None], [Decimal(1), Decimal(2), None], [date(2020, 1, 1), None]]
)
def test_blocks_of_objects_that_are_no_text_are_learnt_as_in_memory(cells, rng):
    """Dask makes up cells of its own for such columns."""
    dd = pytest.importorskip("dask.dataframe")
    dask = pytest.importorskip("dask")
    codes = rng.integers(0, len(cells), N)
    frame = pd.DataFrame({"x": rng.normal(size=N)})
    frame["code"] = pd.Series([cells[i] for i in codes], dtype=object)
    y = pd.Series((codes == 0).astype(int))
    with dask.config.set({"dataframe.convert-string": False}):
        X_, y_ = (dd.from_pandas(part, npartitions=3) for part in (frame, y))
        ours = new().fit(X_, y_)
        answers = ours.predict_proba(X_).compute()
    assert_same_machine(ours, new().fit(frame, y), frame)
    np.testing.assert_allclose(answers, ours.predict_proba(frame), atol=1e-12)


def test_large_whole_numbers_among_words_stay_apart():
    """As objects, as 64-bit integers and as categories, in any batch."""
    ids = 2**60 + np.arange(N) % 4
    y = np.arange(N) % 2
    columns = [
        pd.Series(["a", "b"] * (N // 2), dtype=object),
        pd.Series(ids),
        pd.Series(ids.tolist(), dtype=object),
        pd.Series(ids, dtype="int64[pyarrow]"),
        pd.Series(pd.Categorical(ids)),
    ]
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 1]):
        batches = [(pd.DataFrame({"id": columns[i]}), y) for i in order]
        fitted = new().fit_batches(batches)
        assert len(fitted.feature_map_.encoding.kinds[0].labels) == 6
        assert all(fitted.score(*batch) == 1 for batch in batches)


@pytest.mark.parametrize("other", [["2024-01-01", "later"], [1.5, 2.5]], ids=["text", "numbers"])
@pytest.mark.parametrize("reverse", [False, True], ids=["dates first", "dates last"])
def test_dates_beside_something_else_are_refused_by_name(other, reverse):
    """Whichever comes first."""
    dates = [datetime(2024, 1, 1), datetime(2024, 5, 1)]
    batches = [(pd.DataFrame({"when": cells * 30}), np.arange(60) % 2) for cells in (dates, other)]
    with pytest.raises(InputError, match=r"'when' holds dates in some rows and .* in others"):
        new().fit_batches(batches[:: -1 if reverse else 1])


def test_categories_that_come_late_are_named_where_they_are_most_of_a_batch():
    """Kinds and categories are those of the first rows; what is not kept is not kept silently."""
    (words, y), (numbers, z) = parts(mixed=True)
    first = pd.concat([words] * 70), np.tile(y, 70)
    with pytest.warns(UnseenWarning, match=r"'code'.*shuffle"):
        fitted = new().fit_batches([first, (numbers, z)])
    assert fitted.feature_map_.encoding.kinds[0].labels == (2, "a", "b")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnseenWarning)  # of rows to be forgotten it is no news
        copy.copy(fitted).forget(numbers, z)
    twos = numbers.assign(code=2)
    np.testing.assert_array_equal(
        fitted.predict_proba(twos), fitted.predict_proba(twos.astype({"code": object}))
    )


def test_what_only_the_first_batch_numbers_is_no_identifier(rng):
    """All of the first rows decide, not the first batch."""
    X = pd.DataFrame({"number": np.arange(60), "x": rng.normal(size=60)})
    y = (X["number"] > 30).astype(int)
    ours = new().fit_batches([(X, y), (X, y)])
    theirs = new().fit(pd.concat([X, X], ignore_index=True), np.tile(y, 2))
    assert_same_machine(ours, theirs, X)


def test_an_array_after_frames_of_words_is_refused():
    """Its numbers would be taken for codes of the words."""
    X, y = parts()[0]
    with pytest.raises(InputError, match="must be a data frame"):
        new().fit_batches([(X, y), (np.zeros((N, 2)), y)])


def test_a_frame_with_a_column_of_words_and_numbers_is_read_in_batches():
    """Although Arrow has no type for it."""
    (words, y), _ = parts(mixed=True)
    ours = new().fit_batches(words.assign(y=y), target="y")
    assert_same_machine(ours, new().fit(words, y), words)
    with pytest.raises(InputError, match="`target` must name the column"):
        new().fit_batches(words, target="z")


# -------------------------------------------------------------------- labels


LABELS = {
    "text": np.array(["0", "1"]),
    "objects": np.array(["0", "1"], dtype=object),
    "whole": np.array([0, 1]),
    "floats": np.array([0.0, 1.0]),
    "flags": np.array([False, True]),
}


@pytest.mark.parametrize(("one", "other"), permutations(LABELS, 2))
@pytest.mark.parametrize("way", ["batches", "Dask"])
def test_labels_of_text_are_no_numbers(way, one, other, rng):
    """They are joined where they are equal, and refused where partial_fit refuses them."""
    X, at = rng.normal(size=(N, 2)), np.arange(N) % 2
    labels = [LABELS[one][at], LABELS[other][at]]

    def fit():
        if way == "batches":
            return new().fit_batches([(X, y) for y in labels])
        da = pytest.importorskip("dask.array")
        y = da.concatenate([da.from_array(part, chunks=N) for part in labels])
        # Dask would convert one to the type of the other.
        keys = {(y.name, i): part for i, part in enumerate(labels)}
        y = da.Array(keys, y.name, chunks=((N, N),), dtype=object)
        return new().fit(da.from_array(np.concatenate([X, X]), chunks=(N, 2)), y)

    if len({"text", "objects"} & {one, other}) == 1:
        with pytest.raises(InputError, match="Labels must be"):
            fit()
        with pytest.raises(InputError, match="Labels must be"):
            new().partial_fit(X, labels[0]).partial_fit(X, labels[1])
    else:
        fitted = fit()
        assert fitted.classes_.tolist() == LABELS[one].tolist()
        assert fitted.summary_.counts.sum(axis=1).tolist() == [N, N]


@pytest.mark.parametrize("way", ["batches", "Dask"])
@pytest.mark.parametrize(
    "types", [*permutations([np.int64, np.uint64]), *permutations([np.int64, np.float64])]
)
def test_large_labels_of_several_types_stay_apart(way, types, rng):
    """As floats, 2⁵³ and the number after it would be one."""
    X, at = rng.normal(size=(N, 2)), np.arange(N) % 2
    large = np.array([2**53, 2**53 + 1])
    labels = [large.astype(t)[at * (t != np.float64)] for t in types]
    if way == "batches":
        fitted = new().fit_batches([(X, y) for y in labels])
    else:
        da = pytest.importorskip("dask.array")
        y = da.Array(
            {("y", i): part for i, part in enumerate(labels)}, "y", ((N, N),), dtype=object
        )
        fitted = new().fit(da.from_array(np.concatenate([X, X]), chunks=(N, 2)), y)
    assert fitted.classes_.tolist() == large.tolist()
    assert fitted.summary_.counts.sum() == 2 * N
    fitted.partial_fit(X, labels[1])
    assert fitted.summary_.counts.sum(axis=1)[1] == N // 2 * sum(t != np.float64 for t in types) + (
        N // 2 if types[1] != np.float64 else 0
    )


def test_labels_of_text_and_numbers_are_refused_in_one_array_too(rng):
    y = np.array(["0", 1], dtype=object)[np.arange(N) % 2]
    with pytest.raises(InputError, match=r"some are text, such as '0', .* such as 1"):
        new().fit(rng.normal(size=(N, 2)), y)


def test_labels_that_no_type_can_hold_together_are_refused(rng):
    """Negative numbers and those above 2⁶³."""
    X = rng.normal(size=(N, 2))
    labels = [np.array([-1, 1])[np.arange(N) % 2], np.full(N, 2**64 - 1, np.uint64)]
    with pytest.raises(InputError, match="Labels must be"):
        new().fit_batches([(X, y) for y in labels])


# -------------------------------------------------------------------- rows of several forms


@pytest.mark.parametrize("order", [[0, 1], [1, 0], [0, 1, 0], [1, 1, 0]])
def test_dense_and_sparse_batches_are_put_together(order, rng):
    """As all of them dense."""
    X = rng.normal(size=(N, 4)) * (rng.random((N, 4)) < 0.4)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    forms = X, sp.csr_array(X)
    ours = new().fit_batches([(forms[i], y) for i in order])
    theirs = new().fit(np.concatenate([X] * len(order)), np.tile(y, len(order)))
    assert_same_machine(ours, theirs, X)


def queries():
    """A polars LazyFrame and a DuckDB relation, with their rows."""
    duckdb = pytest.importorskip("duckdb")
    frame = pd.DataFrame({"a": np.arange(120) % 7 * 0.5, "b": ["u", "v", "w"] * 40})
    yield pl.from_pandas(frame).lazy(), frame
    yield duckdb.from_df(frame), frame


@pytest.mark.filterwarnings("error")
def test_queries_are_run_where_rows_are_needed():
    """By fit, partial_fit, predict and as a batch: as the rows that they give."""
    y = np.arange(120) % 7 % 2
    for query, frame in queries():
        expected = new().fit(frame, y)
        assert_same_machine(new().fit(query, y), expected, frame)
        assert_same_machine(new().partial_fit(query, y), expected, frame)
        assert_same_machine(new().fit_batches([(query, y)]), expected, frame)
        np.testing.assert_array_equal(expected.predict(query), expected.predict(frame))
        assert expected.score(query, y) == expected.score(frame, y)


def test_a_query_without_labels_says_how_to_name_them():
    """A column of the query itself is a target of fit_batches."""
    for query, frame in queries():
        for rows in (query, frame, pl.from_pandas(frame)):
            with pytest.raises(InputError, match=r"fit_batches\(.*target='b'\)"):
                new().fit(rows, "b")
            with pytest.raises(InputError, match="`target` must name the column"):
                new().fit_batches(rows)
        assert new().fit_batches(query, target="b").classes_.tolist() == ["u", "v", "w"]


# -------------------------------------------------------------------- numbers beyond 2⁵³


LARGE = {
    "array": lambda x: x[:, None],
    "unsigned": lambda x: x[:, None].astype(np.uint64),
    "sparse": lambda x: sp.csr_array(x[:, None]),
    "list": lambda x: x[:, None].tolist(),
    "pandas": lambda x: pd.DataFrame({"x": x}),
    "objects": lambda x: pd.DataFrame({"x": x.tolist()}, dtype=object),
    "nullable": lambda x: pd.DataFrame({"x": pd.array(x, dtype="Int64")}),
    "polars": lambda x: pl.DataFrame({"x": x}),
    "arrow": lambda x: pa.table({"x": x}),
    "decimal": lambda x: pa.table({"x": pa.array(x).cast(pa.decimal128(38, 0))}),
    "Dask": lambda x: pytest.importorskip("dask.array").from_array(x[:, None], chunks=(30, 1)),
}


@pytest.mark.filterwarnings("ignore::extreme_entropy.errors.DegenerateWarning")
@pytest.mark.parametrize("form", LARGE)
def test_whole_numbers_beyond_floats_are_named_with_what_to_do(form):
    """Numbers that differ by one become one float, which nobody would notice."""
    y = np.arange(60) % 2
    with pytest.warns(PrecisionWarning, match=r"2⁵³.*Subtract") as caught:
        new().fit(LARGE[form](2**60 + y), y)
    assert caught[0].filename == __file__
    fitted = new().fit(LARGE[form](2**60 + y - 2**60), y)
    assert fitted.score(LARGE[form](y), y) == 1


@pytest.mark.filterwarnings("error::extreme_entropy.errors.PrecisionWarning")
def test_numbers_that_floats_hold_are_not_warned_about():
    """Whole numbers up to 2⁵³, floats however large, and categories of any number."""
    y = np.arange(60) % 2
    new().fit((2**53 - 1 - y)[:, None], y)
    new().fit(1e100 * y[:, None], y)
    new().fit(pd.DataFrame({"x": 1e100 * y}, dtype=object), y)
    new(categorical_features=["x"]).fit(pd.DataFrame({"x": 2**60 + y}), y)


def test_first_rows_without_a_class_are_pointed_out(rng):
    """The default's features and its first fit are drawn from rows of all classes."""
    X, y = rng.normal(size=(600, 3)), np.repeat([0, 1], 300)
    sorted_rows = [(X[:300], y[:300]), (X[300:], y[300:])]
    new = ExtremeEntropyClassifier(n_landmarks=10, random_state=0)
    with pytest.warns(FewRowsWarning, match=r"no row of class \[1\].*shuffle"):
        new.partial_fit(*sorted_rows[0], classes=[0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new.partial_fit(*sorted_rows[1])  # pointed out once
        ExtremeEntropyClassifier(n_landmarks=10).partial_fit(X[::2], y[::2], classes=[0, 1])
