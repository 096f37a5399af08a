"""An exported model gives the labels and probabilities of Python, whatever the classifier."""

import json
import os
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from extreme_entropy import (
    EEKMClassifier,
    EEKMClassifierCV,
    EEMClassifier,
    EEMClassifierCV,
    ExtremeEntropyClassifier,
    register_skl2onnx,
)
from extreme_entropy.cli.root import root
from extreme_entropy.errors import IdentifierWarning, InputError
from extreme_entropy.features.kernels import KERNELS
from extreme_entropy.features.neurons import FROM_ROWS, UNIFORM

onnxruntime = pytest.importorskip("onnxruntime", reason="the extra test has onnxruntime")
onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")

DATA = os.environ.get("EXTREME_ENTROPY_DATA")
CLOSE = {"float64": 1e-6, "float32": 1e-4}
SCALES = ("quantile", "minmax", "standard", None)


def run(model, inputs):
    """Labels and probabilities by onnxruntime, of a file or a model."""
    given = model.SerializeToString() if hasattr(model, "SerializeToString") else model
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(given, options).run(None, inputs)


def exported(classifier, folder, **options):
    """The file of a classifier, which ONNX's own checks find right."""
    path = folder / "model.onnx"
    classifier.to_onnx(path, **options)
    onnx.checker.check_model(str(path), full_check=True)
    return path


def assert_same(classifier, X, folder):
    """Python and ONNX agree on rows of a matrix, in both precisions."""
    for dtype, close in CLOSE.items():
        rows = X.astype(dtype)
        labels, p = run(exported(classifier, folder, dtype=dtype), {"X": rows})
        wide = rows.astype(np.float64)  # the same values, of which Python's answer is exact
        ours = classifier.predict_proba(wide)
        assert p.dtype == dtype
        assert abs(p - ours).max() < close
        assert abs(p.sum(axis=1) - 1).max() < 1e-6
        differ = labels != classifier.predict(wide)
        assert not differ.any() if dtype == "float64" else differ.mean() < 0.01
        assert labels.shape == (len(X),)


def table(n_classes, n=150, d=5, seed=0):
    """Rows in which classes overlap; one column has a heap at zero and a long tail."""
    X, y = make_classification(
        n, d, n_informative=4, n_redundant=0, n_classes=n_classes, class_sep=0.7, random_state=seed
    )
    X[:, 0] = np.where(X[:, 0] > 0, np.exp(3 * X[:, 0]), 0.0)
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("activation", [*UNIFORM, *FROM_ROWS])
def test_every_activation(activation, n_classes, tmp_path):
    X, y = table(n_classes)
    assert_same(EEMClassifier(25, activation=activation, random_state=0).fit(X, y), X, tmp_path)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel(kernel, n_classes, tmp_path):
    X, y = table(n_classes)
    assert_same(EEKMClassifier(25, kernel=kernel, random_state=0).fit(X, y), X, tmp_path)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", [EEMClassifier, EEKMClassifier])
def test_every_scaling(kind, scale, tmp_path):
    """Beyond the range that was seen, too; a constant column stays out."""
    X, y = table(3)
    X[:, 3] = 7.0
    classifier = kind(25, scale=scale, random_state=0).fit(X, y)
    assert_same(classifier, np.concatenate([X, 1.5 * X, X - 9.0]), tmp_path)


@pytest.mark.parametrize("scale", ["minmax", "standard"])
def test_columns_far_off_are_cut(scale, tmp_path):
    """Which turns the direction of a row, that the cosine sees."""
    X, y = table(3)
    classifier = EEKMClassifier(25, scale=scale, kernel="cosine", random_state=0).fit(X, y)
    assert_same(classifier, X * [1e3, 1e2, 10.0, 1e4, 1e3], tmp_path)


def test_columns_without_a_scale_keep_their_digits_in_single_precision(tmp_path):
    """Squared distances between rows of thousands, with tenths that matter."""
    X, y = load_breast_cancer(return_X_y=True)
    classifier = EEKMClassifier(60, scale=None, random_state=0).fit(X, y)
    assert_same(classifier, X, tmp_path)


def test_flags_may_have_other_values_later(tmp_path):
    """Laplacian features take columns of two values by a product, and others one by one."""
    X, y = table(3)
    X[:, 1:4] = X[:, 1:4] > 0.2
    for kind in ("minmax", None):
        given = {"scale": kind, "kernel": "laplacian", "relevance": "uniform", "random_state": 0}
        classifier = EEKMClassifier(25, **given).fit(X, y)
        new = X.copy()
        new[::3, 1], new[1::3, 2], new[2::3, 3] = 1.7, -0.6, 0.4
        assert_same(classifier, new, tmp_path)
    only = EEKMClassifier(25, kernel="laplacian", random_state=0).fit(X[:, 1:4], y)
    assert_same(only, X[:, 1:4], tmp_path)


@pytest.mark.parametrize("kernel", ["cosine", "tanimoto", "polynomial"])
def test_rows_of_zeros(kernel, tmp_path):
    """They have no direction, and are like other empty rows."""
    rng = np.random.default_rng(0)
    X = (rng.random((90, 6)) < 0.3).astype(float)
    X[:9] = 0.0
    y = (X[:, 0] + X[:, 1] + rng.normal(0, 0.3, 90) > 0.5).astype(int)
    classifier = EEKMClassifier(40, kernel=kernel, scale=None, random_state=0).fit(X, y)
    assert_same(classifier, X, tmp_path)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine, load_digits])
def test_real_data(load, tmp_path):
    X, y = load(return_X_y=True)
    kept = np.flatnonzero(y < 5)[::3]  # ten digits are many pairs to fit
    X, y = X[kept], y[kept]
    for classifier in (
        EEMClassifier(40, random_state=0),
        EEKMClassifier(40, random_state=0),
        ExtremeEntropyClassifier(n_landmarks=40, random_state=0),
    ):
        assert_same(classifier.fit(X, y), X, tmp_path)


@pytest.mark.skipif(not DATA, reason="EXTREME_ENTROPY_DATA is not set")
@pytest.mark.parametrize("name", ["sonar", "diabetes", "heart", "car_evaluation", "oil_spill"])
def test_data_sets_of_the_paper(name, tmp_path):
    with np.load(Path(DATA, f"{name}.npz")) as data:
        X, y = data["X"].astype(np.float64), data["y"]
    classifier = ExtremeEntropyClassifier(n_landmarks=50, random_state=0)
    assert_same(classifier.fit(X, y), X, tmp_path)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_trees_with_leaves(n_classes, tmp_path):
    """One row alone, too, which leaves all leaves but one empty."""
    X, y = table(n_classes, n=1200)
    classifier = ExtremeEntropyClassifier(n_leaves=4, n_landmarks=25, random_state=0).fit(X, y)
    assert len(classifier.feature_map_.leaves) > 1
    assert_same(classifier, X, tmp_path)
    for row in X[:5]:
        assert_same(classifier, row[np.newaxis], tmp_path)


def test_leaves_that_lack_classes(tmp_path):
    """One has rows of one class, and another lost a class."""
    X, y = table(3, n=1200)
    classifier = ExtremeEntropyClassifier(n_leaves=4, n_landmarks=25, random_state=0).fit(X, y)
    leaf = classifier.feature_map_.leaves_of(X)
    lost = ((leaf == leaf.max()) & (y > 0)) | ((leaf == leaf.max() - 1) & (y == 0))
    classifier = classifier.twin().fit(X[~lost], y[~lost])
    have = [(leaf.counts.sum(axis=1) > 0).sum() for leaf in classifier.summary_.leaves]
    assert {1, 2} <= {*have}
    assert_same(classifier, X, tmp_path)


def test_coupling_of_twenty_classes(tmp_path):
    """Elimination without pivots is exact, also where pairs are certain."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(20), 12)
    X = rng.normal(0, 1, (240, 4)) + rng.normal(0, 4, (20, 4))[y]
    classifier = EEMClassifier(30, random_state=0).fit(X, y)
    assert_same(classifier, X, tmp_path)
    p = run(exported(classifier, tmp_path), {"X": X})[1]
    assert abs(p - classifier.predict_proba(X)).max() < 1e-11


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("costs", "priors"),
    [
        ({0: 5.0}, "balanced"),
        (None, "empirical"),
        ({0: {1: 9.0}, 1: {0: 0.2}}, "empirical"),
    ],
)
def test_priors_and_costs_are_those_of_the_fit(n_classes, costs, priors, tmp_path):
    X, y = table(n_classes)
    kept = (y != 0) | (np.arange(len(y)) % 3 == 0)
    X, y = X[kept], y[kept]
    plain = EEMClassifier(25, random_state=0).fit(X, y)
    classifier = plain.with_costs(costs, priors=priors)
    assert (classifier.predict(X) != plain.predict(X)).any()
    assert_same(classifier, X, tmp_path)


def test_cross_validated_classifiers_export_the_best(tmp_path):
    X, y = table(2)
    for search in (
        EEMClassifierCV([10, 20], cv=2, random_state=0),
        EEKMClassifierCV([10, 20], gamma=[0.5, 1.0], cv=2, random_state=0),
    ):
        assert_same(search.fit(X, y), X, tmp_path)


@pytest.mark.parametrize(
    ("names", "dtype"),
    [
        (["no", "yes", "who knows"], np.str_),
        (np.array(["a", "b", "ü"], object), object),
        ([10, -3, 7], np.int64),
        ([1.0, 2.0, 4.0], np.float64),
        ([False, True], np.bool_),
    ],
)
def test_labels_are_of_their_own_type(names, dtype, tmp_path):
    X, y = table(len(names))
    classifier = EEMClassifier(20, random_state=0).fit(X, np.asarray(names)[y])
    labels, _ = run(exported(classifier, tmp_path), {"X": X})
    assert labels.tolist() == classifier.predict(X).tolist()
    assert labels.dtype == (object if dtype is np.str_ else dtype)


def frame(n=240, seed=0):
    """Text, many categories, codes, flags, dates before and after 1970, and gaps in all of them."""
    rng = np.random.default_rng(seed)
    days = rng.integers(-9000, 20_000, n)
    dates = np.datetime64("1970-01-01T00:00:00") + days * np.timedelta64(86_400, "s")
    dates = dates + rng.integers(0, 86_400, n) * np.timedelta64(1, "s")
    X = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "label": rng.exponential(1.0, n) * (rng.random(n) < 0.5),
            "city": rng.choice(["Rome", "Ulm", "Kraków", "Oslo"], n, p=[0.5, 0.3, 0.19, 0.01]),
            "shop": rng.choice([f"shop {i}" for i in range(30)], n),
            "grade": pd.Categorical(rng.integers(1, 4, n)),
            "member": rng.random(n) < 0.5,
            "seen": dates.astype("datetime64[us]"),
        }
    )
    gaps = rng.random((n, 5)) < 0.15
    for column, missing in zip(["age", "city", "shop", "grade", "seen"], gaps.T, strict=True):
        X.loc[missing, column] = None
    score = X["age"].fillna(40) / 10 + 2 * (X["city"] == "Rome") + 2 * X["member"]
    y = pd.qcut(score + rng.normal(0, 0.7, n), 3, labels=["low", "mid", "top"]).astype(str)
    return X, np.asarray(y)


def as_inputs(X, session):
    """A frame as ONNX takes it: a column for each input, with gaps in text as empty strings."""
    found = {}
    for one in session.get_inputs():
        column = X[one.name]
        if one.type == "tensor(string)":
            values = column.astype(object).where(column.notna(), "").to_numpy(object)
        elif column.dtype.kind == "M":
            seconds = column.to_numpy("datetime64[us]")
            values = np.where(np.isnat(seconds), np.nan, seconds.astype(np.int64) / 1e6)
        else:
            values = column.astype(object).where(column.notna(), np.nan).to_numpy(np.float64)
        dtype = {"tensor(float)": np.float32, "tensor(double)": np.float64}.get(one.type, object)
        found[one.name] = values.astype(dtype).reshape(-1, 1)
    return found


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize(
    "classifier",
    [
        EEMClassifier(30, random_state=0),
        EEKMClassifier(30, scale="standard", random_state=0),
        ExtremeEntropyClassifier(n_landmarks=30, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_frames_with_text_dates_and_gaps(classifier, dtype, tmp_path):
    """Values that were never seen, too; and a column may be called like an output."""
    X, y = frame()
    X["age"] = X["age"].astype(np.float32).astype(np.float64)
    X["label"] = X["label"].astype(np.float32).astype(np.float64)
    classifier.fit(X, y)
    new = frame(seed=1)[0].copy()
    new[["age", "label"]] = new[["age", "label"]].astype(np.float32).astype(np.float64)
    new.loc[::7, "city"] = "Lima"
    new.loc[::5, "shop"] = "elsewhere"
    path = exported(classifier, tmp_path, dtype=dtype)
    session = onnxruntime.InferenceSession(path)
    labels, p = session.run(None, as_inputs(new, session))
    assert abs(p - classifier.predict_proba(new)).max() < CLOSE[dtype]
    assert (labels == classifier.predict(new)).mean() > (0.999 if dtype == "float64" else 0.99)
    types = {one.name: one.type for one in session.get_inputs()}
    assert types["city"] == "tensor(string)"
    assert types["seen"] == "tensor(double)"
    assert [one.name for one in session.get_outputs()] == ["label_", "probabilities"]


def test_an_empty_text_that_is_a_category_is_refused(tmp_path):
    """ONNX has no other way to say that a text is missing."""
    word = np.array(["", None, "a"], dtype=object)[np.arange(90) % 3]
    X = pd.DataFrame({"word": word, "x": np.arange(90) % 7 * 1.0})
    y = np.where(X["word"].isna(), 1, 0)
    classifier = EEMClassifier(20, random_state=0).fit(X, y)
    with pytest.raises(InputError, match=r"'word' holds the empty string as a category.*Replace"):
        classifier.to_onnx(tmp_path / "model.onnx")
    classifier.fit(X.assign(word=X["word"].replace("", "none")), y)
    exported(classifier, tmp_path)


@pytest.mark.parametrize("dtype", CLOSE)
def test_categories_of_large_whole_numbers_are_told_apart_or_refused(dtype, tmp_path):
    """An input of the model is a float, which may be one number for several categories."""
    codes = np.arange(80) % 8
    for first, exact in ((2**24, True), (2**53 - 7, True), (2**53, False)):
        X = pd.DataFrame({"id": first + codes, "x": np.arange(80) % 7 * 1.0})
        classifier = EEMClassifier(30, categorical_features=["id"], random_state=0)
        classifier.fit(X, codes % 2)
        if not exact:
            with pytest.raises(InputError, match=r"'id' .* 9007199254740993"):
                classifier.to_onnx(tmp_path / "model.onnx", dtype=dtype)
            continue
        session = onnxruntime.InferenceSession(exported(classifier, tmp_path, dtype=dtype))
        _, p = session.run(None, as_inputs(X, session))
        assert abs(p - classifier.predict_proba(X)).max() < CLOSE[dtype]


def test_months_of_dates_are_those_of_the_calendar():
    """Every day of 800 years, and the last second of each."""
    from extreme_entropy.columns.date import PARTS as OURS
    from extreme_entropy.export.encoded import PARTS
    from extreme_entropy.export.graph import Graph, Tensor

    days = np.arange(-146_097, 146_097, dtype=float) * 86_400
    for x in (days, days + 86_399.0):
        for part, of in PARTS.items():
            g = Graph(taken=["x"])
            found = of(g, "x")
            ends = [[Tensor(name, np.float64, ("rows", 1))] for name in ("x", found)]
            model = g.model(inputs=ends[0], outputs=ends[1])
            theirs = run(model, {"x": x[:, np.newaxis]})[0][:, 0]
            np.testing.assert_allclose(theirs, OURS[part](x), atol=1e-9, rtol=1e-12)


def test_gaps_in_a_matrix(tmp_path):
    """Also in columns that had none."""
    X, y = table(2)
    X[::5, 0] = np.nan
    classifier = EEMClassifier(25, random_state=0).fit(X, y)
    X[::7, 1] = np.nan
    assert_same(classifier, X, tmp_path)


def test_codes_in_a_matrix(tmp_path):
    """Categories that are numbers: few with columns of their own, many with log-odds."""
    X, y = table(3)
    X[:, 3] = np.arange(len(X)) % 4
    X[:, 4] = np.arange(len(X)) * 7 % 31
    X[::9, 4] = np.nan
    classifier = EEMClassifier(25, categorical_features=[3, 4], random_state=0).fit(X, y)
    X[::8, 3:] = 99.0
    assert_same(classifier, X, tmp_path)


def test_columns_as_inputs_are_the_same_as_a_matrix(tmp_path):
    """Their names are those of the frame; columns that only number rows are no inputs."""
    X, y = table(2)
    X = pd.DataFrame(X, columns=list("abcde"))
    X.insert(0, "row", np.arange(len(X)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifierWarning)
        classifier = EEMClassifier(25, random_state=0).fit(X, y)
    together = run(exported(classifier, tmp_path), {"X": X.to_numpy(np.float64)})[1]
    path = exported(classifier, tmp_path, columns=True)
    session = onnxruntime.InferenceSession(path)
    assert [one.name for one in session.get_inputs()] == list("abcde")
    apart = session.run(None, as_inputs(X, session))[1]
    np.testing.assert_array_equal(together, apart)


def test_what_cannot_be_exported_is_refused(tmp_path):
    X, y = table(2)
    path = tmp_path / "model.onnx"
    own = EEMClassifier(10, activation=lambda Z, w, b: np.tanh(Z @ w.T + b), random_state=0)
    with pytest.raises(InputError, match=r"a function of your own.*named activation or kernel"):
        own.fit(X, y).to_onnx(path)
    kernel = EEKMClassifier(10, kernel=lambda a, b: float(a @ b), random_state=0)
    with pytest.raises(InputError, match="a function of your own"):
        kernel.fit(X, y).to_onnx(path)
    plain = EEMClassifier(10, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="'float64' or 'float32'; it is 'float16'"):
        plain.to_onnx(path, dtype="float16")
    rows, labels = frame()
    with pytest.raises(InputError, match="text or dates cannot be part of one matrix"):
        EEMClassifier(10, random_state=0).fit(rows, labels).to_onnx(path, columns=False)
    rows["grade"] = pd.Series([1, "one"] * (len(rows) // 2), dtype=object)
    mixed = EEMClassifier(10, random_state=0).fit(rows, labels)
    with pytest.raises(InputError, match=r"'grade' holds both\. Convert it to text"):
        mixed.to_onnx(path)
    days = np.array(["2026-01-01", "2026-01-02"], "datetime64[D]")
    for strange in (days, np.array([1, 2**63], np.uint64)):
        with pytest.raises(InputError, match="Labels must be text, numbers below 2⁶³ or booleans"):
            EEMClassifier(10, random_state=0).fit(X, strange[y]).to_onnx(path)
    assert not path.exists()


def test_an_unfitted_classifier_is_refused_and_a_file_stays_what_it_was(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_text("before")
    with pytest.raises(ValueError, match="not fitted"):
        EEMClassifier().to_onnx(path)
    with pytest.raises(ValueError, match="not fitted"):
        EEMClassifierCV().to_onnx(path)
    assert path.read_text() == "before"


def test_a_model_of_single_precision_is_about_half_as_large(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    classifier = EEMClassifier(200, random_state=0).fit(X, y)
    wide = exported(classifier, tmp_path).stat().st_size
    single = exported(classifier, tmp_path, dtype="float32").stat().st_size
    assert 0.45 < single / wide < 0.6


def test_another_runtime_gives_the_same(tmp_path):
    """ONNX's own reference implementation, operator by operator in NumPy."""
    from onnx.reference import ReferenceEvaluator

    X, y = table(3, n=600)
    classifier = ExtremeEntropyClassifier(n_leaves=4, n_landmarks=20, random_state=0).fit(X, y)
    path = exported(classifier, tmp_path)
    labels, p = ReferenceEvaluator(str(path)).run(None, {"X": X})
    assert abs(p - classifier.predict_proba(X)).max() < 1e-9
    assert (labels == classifier.predict(X)).all()
    X, y = frame()
    classifier = EEMClassifier(20, random_state=0).fit(X, y)
    path = exported(classifier, tmp_path)
    inputs = as_inputs(X, onnxruntime.InferenceSession(path))
    labels, p = ReferenceEvaluator(str(path)).run(None, inputs)
    assert abs(p - classifier.predict_proba(X)).max() < 1e-9
    assert (labels == classifier.predict(X)).all()


def test_old_runtimes_can_read_the_file(tmp_path):
    """Operators and file format are those of 2020."""
    X, y = frame()
    classifier = EEMClassifier(10, random_state=0).fit(X, y)
    model = onnx.load(exported(classifier, tmp_path))
    assert {one.domain: one.version for one in model.opset_import} == {"": 13, "ai.onnx.ml": 2}
    assert model.ir_version == 7
    assert not any(node.op_type == "ZipMap" for node in model.graph.node)


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize(
    "classifier",
    [
        EEMClassifier(20, random_state=0),
        EEKMClassifier(20, random_state=0),
        ExtremeEntropyClassifier(n_leaves=4, n_landmarks=20, random_state=0),
        EEMClassifierCV([10, 20], cv=2, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_pipelines_convert(classifier, dtype):
    skl2onnx = pytest.importorskip("skl2onnx", reason="the extra test has skl2onnx")
    X, y = table(3, n=600)
    X[:, 0] = np.arcsinh(X[:, 0])  # no steep curve, which would magnify rounding of the scaler
    X = X.astype(dtype)
    pipeline = make_pipeline(StandardScaler(), classifier).fit(X, np.array(["a", "b", "c"])[y])
    register_skl2onnx()
    model = skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False})
    labels, p = run(model, {"X": X})
    assert p.dtype == dtype
    assert abs(p - pipeline.predict_proba(X)).max() < CLOSE[dtype]
    assert (labels == pipeline.predict(X)).mean() > (0.999 if dtype == "float64" else 0.99)


def test_a_pipeline_for_a_runtime_that_is_too_old_is_refused():
    skl2onnx = pytest.importorskip("skl2onnx", reason="the extra test has skl2onnx")
    X, y = table(2)
    register_skl2onnx()
    pipeline = make_pipeline(StandardScaler(), EEMClassifier(10, random_state=0)).fit(X, y)
    with pytest.raises(InputError, match="`target_opset` must be 13 or more"):
        skl2onnx.to_onnx(pipeline, X[:1], target_opset=12)


def test_columns_of_text_come_one_by_one_with_skl2onnx():
    skl2onnx = pytest.importorskip("skl2onnx", reason="the extra test has skl2onnx")
    types = skl2onnx.common.data_types
    X, y = frame()
    X = X[["age", "city"]]
    classifier = EEMClassifier(20, random_state=0).fit(X, y)
    register_skl2onnx()
    with pytest.raises(InputError, match="each of its 2 columns as an input"):
        skl2onnx.convert_sklearn(classifier, "m", [("X", types.DoubleTensorType([None, 2]))])
    kinds = [
        ("age", types.DoubleTensorType([None, 1])),
        ("city", types.StringTensorType([None, 1])),
    ]
    model = skl2onnx.convert_sklearn(classifier, "m", kinds)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    labels, p = session.run(None, as_inputs(X, session))
    assert abs(p - classifier.predict_proba(X)).max() < 1e-6
    assert (labels == classifier.predict(X)).all()


def test_without_the_extra_its_name_is_said(monkeypatch, tmp_path):
    X, y = table(2)
    classifier = EEMClassifier(10, random_state=0).fit(X, y)
    monkeypatch.setitem(sys.modules, "onnx", None)
    for name in [name for name in sys.modules if name.startswith("extreme_entropy.export")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r"extreme-entropy\[onnx\]"):
        classifier.to_onnx(tmp_path / "model.onnx")


# -------------------------------------------------------------------- eem export


def eem(*words, code=0):
    """Run a command in this process."""
    done = CliRunner().invoke(root, [str(word) for word in words], prog_name="eem")
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder with a table of all kinds of columns, and a model of it."""
    folder = tmp_path_factory.mktemp("export")
    X, y = frame()
    X.drop(columns="grade").assign(answer=y).to_parquet(folder / "rows.parquet")
    options = ["--model", "eem", "--size", 20, "--target", "answer"]
    eem("fit", folder / "rows.parquet", *options, "-o", folder / "m.eem")
    return folder


@pytest.mark.parametrize("dtype", CLOSE)
def test_eem_export_predicts_what_eem_predict_does(fitted, dtype, tmp_path):
    options = ["--float32"] if dtype == "float32" else []
    path, predicted = tmp_path / "m.onnx", tmp_path / "p.parquet"
    done = eem("export", fitted / "m.eem", "-o", path, *options, "--json")
    told = json.loads(done.stdout)
    assert told == {
        "onnx_file": str(path),
        "model_file": str(fitted / "m.eem"),
        "bytes": path.stat().st_size,
        "dtype": dtype,
        "classes": ["low", "mid", "top"],
    }
    eem("predict", fitted / "m.eem", fitted / "rows.parquet", "--proba", "-o", predicted)
    theirs = pd.read_parquet(predicted)
    session = onnxruntime.InferenceSession(path)
    labels, p = session.run(None, as_inputs(pd.read_parquet(fitted / "rows.parquet"), session))
    columns = [f"p({name})" for name in told["classes"]]
    assert abs(p - theirs[columns].to_numpy()).max() < CLOSE[dtype]
    assert (labels == theirs["prediction"].to_numpy()).mean() > 0.99


def test_eem_export_says_what_it_wrote_and_refuses_other_files(fitted, tmp_path):
    done = eem("export", fitted / "m.eem", "-o", tmp_path / "m.onnx")
    assert done.stdout.startswith(f"Written: {tmp_path / 'm.onnx'} (")
    refused = eem("export", fitted / "m.eem", "-o", tmp_path / "m.pmml", code=1)
    assert "whose files end in .onnx; the output is 'm.pmml'" in refused.stderr
    eem("export", fitted / "none.eem", "-o", tmp_path / "n.onnx", code=1)
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parent.parent / "docs" / "guide" / "onnx.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    names = {}
    exec("\n".join(blocks), names)  # noqa: S102 (our own page)
    ours = names["classifier"].predict_proba(names["X"])
    assert abs(names["probabilities"] - ours).max() < 1e-6
    labels, _ = run(names["model"], {"X": names["X"]})
    assert (labels == names["pipeline"].predict(names["X"])).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibrated_and_searched_classifiers_convert(n_classes):
    """The first ask for what decides instead of probabilities."""
    skl2onnx = pytest.importorskip("skl2onnx", reason="the extra test has skl2onnx")
    X, y = table(n_classes)
    register_skl2onnx()
    classifier = EEMClassifier(20, costs={0: 3.0}, random_state=0)
    for model in (
        CalibratedClassifierCV(classifier, cv=2),
        GridSearchCV(make_pipeline(StandardScaler(), classifier), {}, cv=2),
    ):
        model.fit(X, y)
        p = run(skl2onnx.to_onnx(model, X[:1], options={"zipmap": False}), {"X": X})[1]
        assert abs(p - model.predict_proba(X)).max() < 1e-6
