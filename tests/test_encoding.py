"""Categories, dates and gaps: the same wherever rows lie, and as if encoded by hand."""

import warnings
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from extreme_entropy import (
    EEKMClassifier,
    EEKMClassifierCV,
    EEMClassifier,
    EEMClassifierCV,
    ExtremeEntropyClassifier,
    load,
)
from extreme_entropy.columns.category import CategorySettings
from extreme_entropy.columns.encoding import plain_encoding
from extreme_entropy.columns.number import Number
from extreme_entropy.columns.statistics import N_FOLDS, ColumnStats
from extreme_entropy.errors import IdentifierWarning, InputError, MergeError
from extreme_entropy.estimators.inputs import check_x
from extreme_entropy.features.feature_map import same
from extreme_entropy.tables.fitting import FitRequest, fit_table
from extreme_entropy.tables.reading import open_table

CLASSIFIERS = [
    EEMClassifier(30, relevance="uniform", random_state=0),
    EEMClassifier(30, relevance="learned", random_state=0),
    EEKMClassifier(30, relevance="uniform", random_state=0),
    ExtremeEntropyClassifier(n_landmarks=30, random_state=0),
    ExtremeEntropyClassifier(n_landmarks=30, n_leaves=3, random_state=0),
]
every = pytest.mark.parametrize(
    "classifier", CLASSIFIERS, ids=lambda c: f"{type(c).__name__}-{c.relevance}"
)


def patients(n=600, seed=0, n_towns=60):
    """A frame with gaps, a few and many categories, a date, and labels that need all of them."""
    rng = np.random.default_rng(seed)
    town, effects = rng.integers(0, n_towns, n), np.random.default_rng(1).normal(size=n_towns)
    group = rng.choice(["a", "b", "c"], n)
    age = rng.normal(50, 10, n)
    when = np.datetime64("2020-01-01T00:00") + rng.integers(0, 700 * 24, n).astype("m8[h]")
    z = effects[town] + (group == "a") * (age - 50) / 5 + 0.3 * rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.2, np.nan, age),
            "smoker": rng.random(n) < 0.3,
            "group": pd.Categorical(np.where(rng.random(n) < 0.1, None, group)),
            "town": [f"town {t}" for t in town],
            "when": when.astype("M8[us]"),
        }
    )
    return frame, np.where(z > 0, "ill", "well")


def encoded_by_hand(frame):
    """Numbers with the median and an indicator; a column for each category."""
    age = frame["age"].to_numpy()
    columns = [np.where(np.isnan(age), np.nanmedian(age), age), np.isnan(age).astype(float)]
    group = frame["group"].astype(object)
    columns += [(group == label).astype(float) for label in "abc"]
    columns += [group.isna().astype(float)]
    return np.column_stack(columns)


# -------------------------------------------------------------------- what the columns become


def test_a_frame_is_encoded_as_by_hand():
    """The median and an indicator for gaps, one column for each category and for none."""
    frame, y = patients()
    ours = EEMClassifier(30, random_state=0).fit(frame[["age", "group"]], y)
    theirs = EEMClassifier(30, random_state=0).fit(encoded_by_hand(frame), y)
    Z = ours.feature_map_.scaled(np.column_stack([frame["age"], frame["group"].cat.codes]))
    missing = frame["group"].isna().to_numpy()
    expected = theirs.feature_map_.scaled(encoded_by_hand(frame))
    # Ranks are those of sampled rows, and which rows count as repetitions follows from all columns.
    np.testing.assert_allclose(Z[~missing], expected[~missing], atol=0.02)
    np.testing.assert_array_equal(Z[~missing, 1:], expected[~missing, 1:])


def test_codes_and_labels_are_the_same_categories():
    """A matrix of codes with a mask, a frame of codes with names, and a frame of labels."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), rng.integers(0, 4, 400)])
    y = (X[:, 0] + (X[:, 1] == 2) > 0.4).astype(int)
    frame = pd.DataFrame({"x": X[:, 0], "code": X[:, 1].astype(int)})
    words = frame.assign(code=pd.Categorical(np.array(["p", "q", "r", "s"])[frame["code"]]))
    classifier = EEKMClassifier(40, random_state=0)
    expected = clone(classifier).fit(words, y).predict_proba(words)
    for features, given in [
        ([False, True], X),
        ([1], X),
        ([-1], X),
        ([1], sp.csr_array(X)),
        (["code"], frame),
        ([False, True], frame),
    ]:
        ours = clone(classifier).set_params(categorical_features=features).fit(given, y)
        np.testing.assert_allclose(ours.predict_proba(given), expected, atol=1e-9)
    as_numbers = clone(classifier).fit(X, y).predict_proba(X)
    assert not np.allclose(as_numbers, expected, atol=1e-3)


def test_log_odds_of_a_category_leave_out_the_rows_own_fold():
    """Two routes: the table in φ, and counts of rows of the other folds."""
    frame, y = patients(n=2000)
    fitted = EEMClassifier(30, relevance="uniform", random_state=0).fit(frame[["age", "town"]], y)
    phi = fitted.feature_map_
    X = check_x(fitted, frame[["age", "town"]])
    folds = (phi.content(X) % np.uint64(N_FOLDS)).astype(int)
    encoded = phi.encoding(np.column_stack([X, folds]))[:, -1]
    compared = 0
    for i in range(0, 2000, 23):
        town, others = X[:, 1] == X[i, 1], folds != folds[i]
        if np.sum(town & ~others) > 2 * town.sum() / N_FOLDS + 1:
            continue  # of which only some are left out
        prior = (np.array([np.sum(others & (y == c)) for c in fitted.classes_]) + 1.0) / (
            others.sum() + 2.0
        )
        counts = np.array([np.sum(town & others & (y == c)) for c in fitted.classes_])
        counts = counts * min(town.sum() / counts.sum(), 2)
        ill, well = np.log((counts + CategorySettings().smoothing * prior) / prior)
        assert encoded[i] == pytest.approx(well - ill, abs=0.05)
        compared += 1
    assert compared > 50


def test_equal_rows_do_not_hide_their_category():
    """They share a fold, and where they are all of a category that is not left out whole."""
    rng = np.random.default_rng(0)
    shop = np.repeat(np.arange(100), 20)
    y = (rng.random(2000) < rng.choice([0.1, 0.9], 100)[shop]).astype(int)
    frame = pd.DataFrame({"shop": [f"shop {i}" for i in shop]})
    test = np.arange(2000) % 3 == 0
    for classifier in CLASSIFIERS:
        fitted = clone(classifier).fit(frame[~test], y[~test])
        assert fitted.score(frame[test], y[test]) > 0.85


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([Decimal("1.5"), None, Decimal("2.5")] * 20, "number"),
        ([date(2020, 1, 1), None, date(2021, 1, 1)] * 20, "date"),
        (pd.array([1, None, 3] * 20, dtype="Int64"), "number"),
        (pd.array([True, None, False] * 20, dtype="boolean"), "number"),
        (pd.array(["a", None, "b"] * 20, dtype="string"), "category"),
        (pd.array([1, None, 3] * 20, dtype="int64[pyarrow]"), "number"),
        (pd.array(["a", None, "b"] * 20, dtype="string[pyarrow]"), "category"),
        (pd.to_timedelta([1, None, 3] * 20, unit="h"), "number"),
        (pd.array([None] * 60, dtype=object), "empty"),
        (pd.to_datetime(["2020-01-01", None, "2021-01-01"] * 20).tz_localize("Asia/Tokyo"), "date"),
    ],
)
def test_every_type_of_pandas_is_understood(column, kind):
    """Numbers, dates and text, however they are kept."""
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame({"x": column, "z": rng.normal(size=60)}), np.arange(60) % 2
    fitted = EEMClassifier(10, random_state=0).fit(X, y)
    kinds = fitted.feature_map_.encoding.kinds or [Number(), Number()]
    assert kinds[0].name == kind
    assert np.isfinite(fitted.predict_proba(X)).all()


def test_a_frame_column_that_was_empty_is_never_used():
    """Whatever comes there later."""
    X, y = pd.DataFrame({"x": [None] * 60, "z": np.arange(60) % 7 * 1.0}), np.arange(60) % 2
    fitted = EEMClassifier(10, random_state=0).fit(X, y)
    expected = fitted.predict_proba(X)
    for later in ("text", 3.5, None):
        np.testing.assert_array_equal(fitted.predict_proba(X.assign(x=later)), expected)


def test_many_categories_without_meaning_do_not_mislead():
    """Labels that have nothing to do with 300 categories are not learnt from them."""
    rng = np.random.default_rng(0)
    n = 1500
    frame = pd.DataFrame({"x": rng.normal(size=n), "shop": rng.integers(0, 300, n).astype(str)})
    y = (frame["x"] + rng.normal(size=n) > 0).astype(int)
    for classifier in CLASSIFIERS:
        both = np.mean(cross_val_predict(clone(classifier), frame, y, cv=3) == y)
        alone = np.mean(cross_val_predict(clone(classifier), frame[["x"]], y, cv=3) == y)
        assert both > alone - 0.03


def test_many_categories_with_a_meaning_are_learnt():
    """60 towns that differ are told apart."""
    frame, y = patients(n=1500)
    for classifier in CLASSIFIERS:
        with_towns = np.mean(cross_val_predict(clone(classifier), frame, y, cv=3) == y)
        without = cross_val_predict(clone(classifier), frame.drop(columns="town"), y, cv=3)
        assert with_towns > np.mean(without == y) + 0.1


def test_statistics_of_columns_with_gaps_add_up(rng):
    """Chunks give the same as the whole, and the whole as NumPy's nan-functions."""
    X = rng.normal(size=(300, 5)) * [1, 10, 1, 1, 1] + 1000
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 3] = np.nan
    X[:100, 4] = np.nan
    weight = rng.integers(1, 4, 300).astype(float)
    whole = ColumnStats.of(X, weight)
    repeated = np.repeat(X, weight.astype(int), axis=0)
    parts = ColumnStats.empty(5)
    for start in range(0, 300, 50):
        parts += ColumnStats.of(X[start : start + 50], weight[start : start + 50])
    some = [0, 1, 2, 4]
    for stats in (whole, parts):
        np.testing.assert_allclose(stats.mean[some], np.nanmean(repeated[:, some], axis=0))
        np.testing.assert_array_equal(stats.low[some], np.nanmin(X[:, some], axis=0))
        np.testing.assert_array_equal(stats.high[some], np.nanmax(X[:, some], axis=0))
        np.testing.assert_allclose(stats.missing, np.isnan(repeated).sum(axis=0))
        present = (~np.isnan(repeated)).sum(axis=0)
        variance = np.nanvar(repeated[:, some], axis=0)
        np.testing.assert_allclose(stats.deviation[some], variance * present[some], rtol=1e-9)
    values = np.full(5, 1003.0)
    filled = whole.filled(values)
    by_hand = ColumnStats.of(np.where(np.isnan(X), values, X), weight)
    for name in ("low", "high", "mean", "deviation"):
        np.testing.assert_allclose(getattr(filled, name), getattr(by_hand, name), rtol=1e-9)


def test_statistics_of_encoded_columns_are_those_of_encoded_rows():
    """Indicators, dates and categories: derived statistics against those of the encoded rows."""
    frame, y = patients()
    fitted = EEMClassifier(30, scale="standard", random_state=0).fit(frame, y)
    phi = fitted.feature_map_
    encoded = phi.encoding(check_x(fitted, frame))
    Z = phi.scaling(encoded)
    exact = np.ones(Z.shape[1], dtype=bool)
    dates = 3 + np.arange(len(phi.encoding.parts[2].parts))  # whose statistics are the sample's
    exact[dates] = False
    np.testing.assert_allclose(Z[:, exact].mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(Z[:, exact].std(axis=0), 1, rtol=1e-9)


# -------------------------------------------------------------------- wherever rows lie


@every
def test_all_ways_to_the_same_rows_give_the_same_classifier(classifier, tmp_path):
    """pandas, polars, Arrow, Dask, batches, threads, a file: one prediction."""
    dd = pytest.importorskip("dask.dataframe")
    frame, y = patients()
    later, _ = patients(seed=5)
    fitted = clone(classifier).fit(frame, y)
    expected = fitted.predict_proba(later)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    groups = table.column("group").cast(pa.string()).dictionary_encode()
    encoded = table.set_column(2, "group", groups)
    labels = pd.Series(y, index=frame.index)
    both = table.append_column("y", pa.array(y))
    ours = {
        "polars": clone(classifier).fit(pl.from_pandas(frame), y),
        "arrow": clone(classifier).fit(table, y),
        "dictionary": clone(classifier).fit(encoded, y),
        "text": clone(classifier).fit(frame.astype({"group": object}), y),
        "threads": clone(classifier).set_params(n_jobs=2).fit(frame, y),
        "batches": clone(classifier).fit_batches(
            (frame[i : i + 70], y[i : i + 70]) for i in range(0, 600, 70)
        ),
        "record batches": clone(classifier).fit_batches(both, target="y"),
        "dask": clone(classifier).fit(
            dd.from_pandas(frame, npartitions=4), dd.from_pandas(labels, npartitions=4)
        ),
    }
    fitted.save(tmp_path / "a.eem")
    ours["file"] = load(tmp_path / "a.eem")
    for way, other in ours.items():
        tolerance = 1e-6 if way == "dask" else 0
        np.testing.assert_allclose(
            other.predict_proba(later), expected, atol=tolerance, err_msg=way
        )
        if way != "dask":
            assert same(other.feature_map_, fitted.feature_map_), way
    for rows in (pl.from_pandas(later), pa.Table.from_pandas(later, preserve_index=False)):
        np.testing.assert_array_equal(fitted.predict_proba(rows), expected)
    lazily = fitted.predict_proba(dd.from_pandas(later, npartitions=3)).compute()
    np.testing.assert_allclose(lazily, expected, atol=1e-12)
    assert fitted.score(dd.from_pandas(frame, npartitions=4), labels_in_dask(dd, labels)) == (
        pytest.approx(fitted.score(frame, y))
    )


def labels_in_dask(dd, labels):
    return dd.from_pandas(labels, npartitions=4)


@every
def test_sums_of_encoded_rows_add_up(classifier):
    """partial_fit, merge and forget equal one fit with the same φ."""
    frame, y = patients(n=900)
    first = clone(classifier).partial_fit(frame[:500], y[:500])
    learnt = clone(classifier).partial_fit(frame[:500], y[:500]).partial_fit(frame[500:], y[500:])
    twin = first.twin().fit(frame[500:], y[500:])
    merged = first + twin
    expected = learnt.decision_function(frame)
    scale = abs(expected).max()
    np.testing.assert_allclose(merged.decision_function(frame), expected, atol=1e-6 * scale)
    learnt.forget(frame[500:], y[500:])
    expected = first.decision_function(frame)
    np.testing.assert_allclose(
        learnt.decision_function(frame), expected, atol=1e-5 * abs(expected).max()
    )
    with pytest.raises(MergeError):
        _ = first + clone(classifier).fit(frame[500:], y[500:])


@every
def test_weights_are_repetition_for_encoded_rows(classifier):
    """A weight of 2 is the row twice, for counts of categories and medians too."""
    frame, y = patients()
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = clone(classifier).fit(frame, y, sample_weight=weight)
    repeated = clone(classifier).fit(
        frame.loc[np.repeat(frame.index, weight)], np.repeat(y, weight)
    )
    expected = repeated.decision_function(frame)
    np.testing.assert_allclose(
        weighted.decision_function(frame), expected, atol=1e-6 * abs(expected).max()
    )


@pytest.mark.parametrize("classifier", CLASSIFIERS[:3:2], ids=lambda c: type(c).__name__)
def test_single_precision_stays_single(classifier):
    """Frames of float32 and categories are worked on in single precision."""
    frame, y = patients()
    frame = frame[["age", "group", "town"]].astype({"age": np.float32})
    fitted = clone(classifier).fit(frame, y)
    assert check_x(fitted, frame).dtype == np.float32
    double = clone(classifier).fit(frame.astype({"age": np.float64}), y)
    np.testing.assert_allclose(fitted.predict_proba(frame), double.predict_proba(frame), atol=2e-2)


@pytest.mark.parametrize(
    "search",
    [
        EEMClassifierCV((10, 30), relevance="learned", cv=3, random_state=0),
        EEKMClassifierCV((10, 30), cv=3, random_state=0),
    ],
    ids=lambda s: type(s).__name__,
)
def test_searches_take_frames(search):
    """Cross-validation over a mixed frame, and its best classifier fitted alone."""
    frame, y = patients(n=900)
    search.fit(frame, y)
    alone = clone(search.best_estimator_).fit(frame, y)
    expected = alone.decision_function(frame)
    np.testing.assert_allclose(
        search.decision_function(frame), expected, atol=1e-6 * abs(expected).max()
    )


def test_cross_validation_does_not_score_by_labels_of_the_scored():
    """With nothing but meaningless categories, the score of a search stays near one half."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"shop": rng.integers(0, 200, 1500).astype(str)})
    y = rng.integers(0, 2, 1500)
    search = EEKMClassifierCV((50,), cv=3, scoring="accuracy", random_state=0).fit(frame, y)
    assert abs(search.best_score_ - 0.5) < 0.06


# -------------------------------------------------------------------- gaps and strangers


@every
def test_gaps_in_matrices(classifier):
    """NaN is taken as it is; where none was learnt it stands for the median."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    gappy = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    fitted = clone(classifier).fit(gappy, y)
    assert fitted.score(gappy, y) > 0.8
    assert np.isfinite(fitted.predict_proba(np.full((1, 4), np.nan))).all()
    np.testing.assert_allclose(
        clone(classifier).fit(sp.csr_array(gappy), y).predict_proba(gappy),
        fitted.predict_proba(gappy),
        atol=1e-8,
    )
    without = clone(classifier).fit(X, y)
    row = X[:1].copy()
    row[0, 2] = np.nan
    median = np.where(np.isnan(row), without.feature_map_.encoding.typical, row)
    np.testing.assert_array_equal(without.predict_proba(row), without.predict_proba(median))


def test_a_gap_itself_may_tell_the_class():
    """Where values are missing for one class alone, the indicator finds it."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = rng.normal(size=(500, 2))
    X[(y == 1) & (rng.random(500) < 0.9), 0] = np.nan
    assert EEMClassifier(30, random_state=0).fit(X, y).score(X, y) > 0.9


@every
def test_a_column_without_values_changes_nothing(classifier):
    """All missing in training: whatever comes there later is not used."""
    frame, y = patients()
    frame = frame.drop(columns="when")
    empty = frame.assign(nothing=np.nan)
    fitted = clone(classifier).fit(empty, y)
    expected = fitted.predict_proba(empty)
    np.testing.assert_array_equal(fitted.predict_proba(empty.assign(nothing=7.0)), expected)


@every
def test_categories_that_were_never_learnt_share_a_meaning(classifier):
    """Unseen categories are all alike, and finite; so they are in batches."""
    frame, y = patients()
    fitted = clone(classifier).fit(frame, y)
    one = frame[:5].assign(town="Ur", group=None)
    other = frame[:5].assign(town="Nineveh", group=None)
    np.testing.assert_array_equal(fitted.predict_proba(one), fitted.predict_proba(other))
    again = clone(classifier).partial_fit(frame, y)
    again.partial_fit(frame[:50].assign(town="Babylon"), y[:50])
    assert "Babylon" not in again.feature_map_.encoding.kinds[3].labels
    assert np.isfinite(again.predict_proba(frame)).all()


def test_identifiers_are_left_out_with_a_warning():
    """Row numbers and text that always differs; but not floats, nor what is named."""
    frame, y = patients()
    n = len(y)
    named = frame.assign(number=np.arange(n)[::-1], name=[f"patient {i}" for i in range(n)])
    with pytest.warns(IdentifierWarning, match=r"'number'.*'name'") as caught:
        fitted = EEMClassifier(30, random_state=0).fit(named, y)
    assert caught[0].filename == __file__
    kinds = [kind.name for kind in fitted.feature_map_.encoding.kinds]
    assert kinds == ["number", "number", "category", "category", "date", "identifier", "identifier"]
    others = named.assign(number=0, name="nobody")
    np.testing.assert_array_equal(fitted.predict_proba(named), fitted.predict_proba(others))
    with warnings.catch_warnings():
        warnings.simplefilter("error", IdentifierWarning)
        EEMClassifier(30, random_state=0).fit(frame.assign(number=np.arange(n) * 1.0), y)
        EEMClassifier(30, random_state=0, categorical_features=["name"]).fit(
            frame.assign(name=named["name"]), y
        )
    with pytest.raises(InputError, match="identifier"):
        EEMClassifier().fit(named[["number", "name"]], y)


def test_importances_are_those_of_the_columns_given():
    """One share for each column of the frame, not for each encoded one."""
    frame, y = patients(n=1500)
    fitted = EEKMClassifier(kernel="mixed", relevance="learned", random_state=0).fit(frame, y)
    shares = pd.Series(fitted.feature_importances_, fitted.feature_names_in_)
    assert shares.sum() == pytest.approx(1)
    assert set(shares.nlargest(3).index) >= {"town", "age"}
    assert shares["smoker"] < 0.1


# -------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.assign(age="old"), "'age' must hold numbers.*'old'"),
        (lambda frame: frame.assign(when=3.5), "'when' must hold dates"),
        (lambda frame: frame.assign(town=7), "'town' must hold text.*7"),
        (lambda frame: frame.to_numpy(), "must be a data frame"),
        (lambda frame: frame.assign(age=[[1]] * len(frame)), "'age'"),
        (lambda frame: frame.assign(age=np.inf), "infinity"),
    ],
)
def test_columns_of_another_kind_are_refused_by_name(change, message):
    """Nothing is silently taken for something else."""
    frame, y = patients()
    fitted = EEMClassifier(30, random_state=0).fit(frame, y)
    with pytest.raises((InputError, ValueError), match=message):
        fitted.predict(change(frame))


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["nobody"], "'nobody' is none of"),
        ([9], "9 is none of"),
        ([True], "one for each of 5 columns"),
        ([[1]], "must be 'from_dtype'"),
        (["x", None], "none of"),
    ],
)
def test_what_is_no_column_cannot_be_categorical(features, message):
    """Names, positions and masks are checked."""
    frame, y = patients()
    with pytest.raises((InputError, ValueError), match=message):
        EEMClassifier(30, categorical_features=features).fit(frame, y)


def test_without_categories_text_is_refused_by_name():
    """categorical_features=None: all columns must be numbers."""
    frame, y = patients()
    with pytest.raises(InputError, match="'group'"):
        EEMClassifier(30, categorical_features=None).fit(frame, y)


def test_numbers_pay_nothing():
    """Rows without categories and gaps reach the scaling as they are, uncopied."""
    X = np.random.default_rng(0).normal(size=(100, 3))
    fitted = EEMClassifier(10, random_state=0).fit(X, X[:, 0] > 0)
    assert fitted.feature_map_.encoding(X) is X


def test_frames_through_a_pipeline():
    """A transformer that returns frames may stand before."""
    frame, y = patients()
    pipeline = make_pipeline(FunctionTransformer(lambda f: f), EEMClassifier(30, random_state=0))
    assert pipeline.fit(frame, y).score(frame, y) > 0.6


def test_large_numbers_are_no_gaps():
    """Sums that overflow give no warning, and single precision stays single."""
    encoding = plain_encoding(2)
    X = np.array([[3e38, 1.0], [3e38, -1.0], [np.nan, 0.0]], np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(encoding(X[:2]), X[:2])
        filled = encoding(X)
    assert filled.dtype == np.float32
    assert filled[2, 0] == 0


@pytest.mark.parametrize("cells", [[[1, 2], [3]], [b"\xff", b"a"]], ids=["lists", "bytes"])
@pytest.mark.parametrize("table", [pl.DataFrame, pa.table], ids=["polars", "arrow"])
def test_columns_that_cannot_be_read_are_refused_by_name(table, cells):
    """Whatever error their library raises."""
    X = table({"x": np.arange(40) % 7 / 2, "odd": cells * 20})
    with pytest.raises(InputError, match="'odd'"):
        EEMClassifier(10).fit(X, np.arange(40) % 2)


def test_models_merge_where_most_of_a_text_column_is_missing(tmp_path, rng):
    """The typical value of such a column is no value, and equals itself."""
    from extreme_entropy import load

    words = np.where(rng.random(200) < 0.8, None, rng.choice(["a", "b"], 200).astype(object))
    frame = pd.DataFrame({"x": rng.normal(size=200), "word": words})
    y = np.arange(200) % 2
    ours = EEMClassifier(8, relevance="uniform", random_state=0).fit(frame, y)
    ours.save(tmp_path / "a.eem")
    part = load(tmp_path / "a.eem").twin().fit(frame.assign(x=-frame["x"]), y)
    assert np.isnan(ours.feature_map_.encoding.typical).any()
    assert ours.merge(part).summary_.counts.sum() == 400


# -------------------------------------------------------------------- the model of the command


def test_a_model_of_the_command_predicts_frames_with_text_gaps_and_dates_as_text(tmp_path):
    """As pandas and polars read the same CSV file: dates are text there, unless one asks."""
    rng, n = np.random.default_rng(0), 300
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 70, n).astype(float),
            "city": rng.choice(["Rome", "Oslo", "Bern"], n),
            "seen": pd.date_range("2025-01-01", periods=n, freq="D").strftime("%Y-%m-%d"),
        }
    )
    frame["ill"] = np.where((frame["age"] > 45) & (frame["city"] != "Oslo"), "yes", "no")
    frame.loc[::11, "age"], frame.loc[::13, "city"], frame.loc[::17, "seen"] = np.nan, None, None
    frame = frame.sample(frac=1, random_state=0)
    frame.to_csv(tmp_path / "a.csv", index=False)
    fit_table(open_table(tmp_path / "a.csv"), FitRequest("ill", size=20)).save(tmp_path / "m.eem")
    model = load(tmp_path / "m.eem")
    read = pd.read_csv(tmp_path / "a.csv").drop(columns="ill")
    typed = read.assign(seen=pd.to_datetime(read["seen"]))
    expected = model.predict_proba(typed)
    assert (model.predict(typed) == frame["ill"]).mean() > 0.9
    by_polars = pl.read_csv(tmp_path / "a.csv").drop("ill")
    with_zone = read.assign(seen=read["seen"] + "T00:00:00+02:00")  # local time, as typed ones
    for rows in (read, by_polars, by_polars.to_arrow(), with_zone):
        np.testing.assert_array_equal(model.predict_proba(rows), expected)
    for day in ("soon", "2025-02-30", "20250230", "2025-02"):
        strange = read.assign(seen=[day, *read["seen"][1:]])
        with pytest.raises(InputError, match="'seen' must hold dates"):
            model.predict(strange)


@pytest.mark.parametrize("change", ["order", "rounding"])
def test_log_odds_that_are_equal_stay_equal(change):
    """Ranks of quantiles would otherwise hang on the last digit of a sum of weights."""
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.3).astype(int)
    towns = np.char.add("s", rng.integers(0, 60, 400).astype(str))
    frame = pd.DataFrame({"x": rng.normal(size=400) + y, "town": towns})
    weight = rng.choice([0.1, 0.2, 0.3], 400)
    classifier = EEMClassifier(40, random_state=0)
    expected = clone(classifier).fit(frame, y, weight).predict_proba(frame)
    for seed in range(4):
        order, other = np.arange(400), weight
        if change == "order":
            order = np.random.default_rng(seed).permutation(400)
        else:
            other = weight * (1 + 1e-15 * np.random.default_rng(seed).normal(size=400))
        fitted = clone(classifier).fit(frame.iloc[order], y[order], other[order])
        np.testing.assert_allclose(fitted.predict_proba(frame), expected, atol=1e-6)
