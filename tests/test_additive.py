"""Columns as codes between knots, and layers of unequal sizes side by side."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from extreme_entropy import EEKMClassifier, EEMClassifier, load
from extreme_entropy.estimators.fitted import Learned
from extreme_entropy.estimators.inputs import columns_of, fitted_columns
from extreme_entropy.estimators.schema import check
from extreme_entropy.features.additive import Codes, codes_between
from extreme_entropy.features.codes import knots_by_rank, on_knots
from extreme_entropy.features.feature_map import FeatureMap
from extreme_entropy.features.kernels import Laplacian, whitening
from extreme_entropy.features.layers import Features, Part
from extreme_entropy.features.neurons import draw_neurons, draw_radial
from extreme_entropy.moments.summary import FoldMoments, Summary

D = 5
SIZES = np.array([0.5, 2.0, 1.0, 3.0, 0.0])
KNOTS = [
    np.array([-1.0, -0.4, 0.1, 0.2, 1.5]),
    np.array([0.0, 1.0]),
    np.array([0.3]),  # a column of one value
    np.array([0.0, 0.25, 0.5, 1.0]),
    np.array([-2.0, 2.0]),  # of no size
]


@pytest.fixture
def codes():
    return codes_between(KNOTS, SIZES)


@pytest.fixture
def rows(rng):
    """Within the knots, beyond them, and on them."""
    on = np.array([[k[i % len(k)] for k in KNOTS] for i in range(8)])
    return np.vstack([rng.uniform(-2, 2, (60, D)), on])


def away_from_kinks(Z, apart):
    return np.all([abs(Z[:, [j]] - k).min(axis=1) > apart for j, k in enumerate(KNOTS)], axis=0)


# -------------------------------------------------------------------- codes


def test_a_code_is_a_line_from_one_knot_to_the_next(codes, rows):
    """As np.interp draws it: 0 up to the knot, the size of the column from the next one on."""
    pairs = [(j, k[b : b + 2]) for j, k in enumerate(KNOTS) for b in range(len(k) - 1)]
    expected = [np.interp(rows[:, j], ends, [0.0, SIZES[j]]) for j, ends in pairs]
    np.testing.assert_allclose(codes(rows), np.array(expected).T, rtol=1e-14, atol=1e-15)
    assert codes.column.tolist() == [j for j, _ in pairs]
    assert codes.size == len(pairs) == 9


def test_codes_are_any_function_that_is_straight_between_knots(codes, rows, rng):
    """Its values at the knots are the running sums of its coefficients."""
    beta = rng.normal(size=codes.size)
    expected = np.zeros(len(rows))
    for j, k in enumerate(KNOTS):
        rises = SIZES[j] * beta[codes.column == j]
        expected += np.interp(rows[:, j], k, np.cumsum([0.0, *rises]))
    np.testing.assert_allclose(codes(rows) @ beta, expected, atol=1e-13)


def test_the_result_is_in_the_first_rows_of_the_buffer(codes, rows):
    """For chunks of rows whose memory is used again, and for the first codes alone."""
    out = np.full((100, codes.size), np.nan)
    H = codes(rows, out)
    assert np.shares_memory(H, out)
    np.testing.assert_array_equal(H, codes(rows))
    assert np.isnan(out[len(rows) :]).all()
    np.testing.assert_array_equal(codes.first(4)(rows), H[:, :4])


def test_knots_that_are_nearly_one_value_make_finite_codes():
    """A step between them, in single precision too."""
    codes = codes_between([np.array([0.0, 5e-324, 1.0])], np.ones(1))
    for dtype in (np.float64, np.float32):
        layer = Part(codes).in_precision(np.dtype(dtype)).layer
        H = layer(np.array([[-1.0], [0.0], [0.5], [1e9]], dtype))
        np.testing.assert_array_equal(H, [[0, 0], [0, 0], [1, 0.5], [1, 1]])


def test_columns_without_knots_make_an_empty_layer(rows):
    empty = codes_between([k[:1] for k in KNOTS], SIZES)
    assert empty(rows).shape == (len(rows), 0)
    assert not empty.gradient(rows, np.empty((0, 2))).any()


# -------------------------------------------------------------------- gradients


def test_the_gradient_is_the_derivative(codes, rows, rng):
    """Against central differences, away from kinks; beyond the knots it is 0."""
    A, step = rng.normal(size=(codes.size, 3)), 1e-6
    Z = rows[away_from_kinks(rows, 2 * step)]
    gradient = codes.gradient(Z, A)
    assert gradient.shape == (3, len(Z), D)
    for column in range(D):
        e = step * (np.arange(D) == column)
        theirs = ((codes(Z + e) - codes(Z - e)) @ A).T / (2 * step)
        np.testing.assert_allclose(gradient[:, :, column], theirs, atol=1e-8)
    assert not gradient[:, :, [2, 4]].any()
    assert not gradient[:, Z[:, 1] < 0, 1].any()


def test_on_a_knot_the_slope_is_the_mean_of_both_sides(codes, rng):
    A = rng.normal(size=(codes.size, 2))
    Z = np.array([k[0] for k in KNOTS])[np.newaxis]
    sides = [codes.gradient(Z + side * 1e-6, A) for side in (1, -1)]
    np.testing.assert_allclose(codes.gradient(Z, A), (sides[0] + sides[1]) / 2)


@pytest.mark.parametrize("length", [1e-4, 0.3, 20.0])
def test_with_half_the_gradient_is_the_difference_quotient(codes, rows, rng, length):
    """Whatever kinks the segment crosses; the sign of its half does not matter."""
    A = rng.normal(size=(codes.size, 3))
    half = length * rng.uniform(0.5, 1, rows.shape) * rng.choice([-1, 1], rows.shape)
    gradient = codes.gradient(rows, A, half)
    for column in range(D):
        e = np.zeros_like(rows)
        e[:, column] = half[:, column]
        rise = codes(rows + e) @ A - codes(rows - e) @ A
        theirs = rise.T / (2 * half[:, column])
        np.testing.assert_allclose(gradient[:, :, column], theirs, rtol=1e-10, atol=1e-10)


def test_a_segment_of_no_length_counts_as_a_short_one(codes, rows, rng):
    A = rng.normal(size=(codes.size, 2))
    plain, none = codes.gradient(rows, A), codes.gradient(rows, A, np.zeros_like(rows))
    np.testing.assert_allclose(none, plain, rtol=1e-6, atol=1e-6)
    tiny = codes.gradient(rows, A, np.full_like(rows, 1e-300))
    np.testing.assert_array_equal(tiny, none)


# -------------------------------------------------------------------- knots


def test_landmarks_stay_on_the_knots_that_they_had(rng):
    """`on_knots` has no use for ends: a heap may leave one knot."""
    typical = np.zeros((1000, 24))
    typical[:2, 0] = 1.0, 2.0
    typical[:, 1:] = rng.random((1000, 23))
    moved = on_knots(typical[:5], typical)
    assert not moved[:, 0].any()


# -------------------------------------------------------------------- parts of unequal sizes


def parts_of(sizes, seed=0):
    """Codes, whitened landmarks on weighted columns, and neurons; as many of each."""
    rng = np.random.default_rng(seed)
    rows, parts = rng.random((60, D)), []
    knots = [np.linspace(0, 1, 9)] * D
    kinds = [
        Part(codes_between(knots, np.ones(D))),
        Part(
            Laplacian(rows[:40, 1:4] * 2.0, np.ones(40)),
            np.arange(1, 4),
            np.full(3, 2.0),
            whitening(Laplacian(rows[:40, 1:4] * 2.0, np.ones(40))(rows[:40, 1:4] * 2.0), FLOAT),
        ),
        Part(draw_radial(40, rows, rows, seed)),
        Part(draw_neurons("relu", 40, rows, seed)),
    ]
    for part, size in zip(kinds, sizes, strict=False):
        parts.append(part.first(size))
    return Features(tuple(parts))


def in_order(features, Z):
    """The features of each part, put in the order of (number, part) one by one."""
    outputs = []
    for part in features.parts:
        H = part.layer(part.seen(Z))
        outputs.append(H if part.whitening is None else H @ part.whitening)
    numbered = [(j, i) for i, H in enumerate(outputs) for j in range(H.shape[1])]
    return np.column_stack([outputs[i][:, j] for j, i in sorted(numbered)])


FLOAT = np.dtype(np.float64)
UNEQUAL = [(40, 7), (7, 40), (3, 25, 11), (1, 1, 30, 2), (12, 40, 12, 30)]
EQUAL = [(6,), (6, 6), (6, 5), (6, 6, 5), (5, 5, 5, 5)]
unequal = pytest.mark.parametrize("sizes", UNEQUAL, ids=str)


@pytest.mark.parametrize("sizes", UNEQUAL + EQUAL, ids=str)
def test_parts_take_turns_while_they_last(sizes, rows):
    """In the memory of the chunk before, too."""
    features = parts_of(sizes)
    expected = in_order(features, rows)
    np.testing.assert_allclose(features(rows), expected, rtol=1e-12, atol=1e-12)
    buffers = features.buffers(100, FLOAT)
    np.testing.assert_array_equal(features(rows, buffers), features(rows))
    places = [np.arange(features.h)[place] for place in features.places()]
    assert sorted(np.concatenate(places)) == list(range(sum(sizes)))
    assert [len(place) for place in places] == list(sizes)


@pytest.mark.parametrize("sizes", EQUAL, ids=str)
def test_parts_of_equal_size_lie_in_slices(sizes):
    """Which are quicker, and leave the bits of fitted models what they were."""
    p = len(sizes)
    assert parts_of(sizes).places() == [slice(i, None, p) for i in range(p)]


@unequal
@pytest.mark.parametrize(("dtype", "close"), [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_projections_are_features_times_operators(sizes, dtype, close, rows, rng):
    """With whitening folded into the operators, and in single precision."""
    features = parts_of(sizes)
    operators = rng.normal(size=(3, features.h))
    expected = features(rows) @ operators.T
    hidden = Features(tuple(replace(part, whitening=None) for part in features.parts))
    Z, dtype = rows.astype(dtype), np.dtype(dtype)
    ours = hidden.in_precision(dtype).project(Z, features.folded(operators, dtype))
    assert ours.dtype == dtype
    np.testing.assert_allclose(ours, expected, atol=close * abs(expected).max())


@unequal
def test_gradients_of_all_parts_add_up(sizes, rng):
    """Against central differences of the projections, away from kinks."""
    features = parts_of(sizes)
    operators, step = rng.normal(size=(2, features.h)), 1e-6
    Z = 0.05 + 0.9 * rng.random((30, D))
    Z = Z[(abs(Z * 8 - np.round(Z * 8)) > 1e-3).all(axis=1)]
    gradient = features.gradient(Z, operators)
    for column in range(D):
        e = step * (np.arange(D) == column)
        theirs = ((features(Z + e) - features(Z - e)) @ operators.T).T / (2 * step)
        size = abs(gradient).max()
        np.testing.assert_allclose(gradient[:, :, column], theirs, atol=1e-6 * size)


@pytest.mark.parametrize("sizes", UNEQUAL + EQUAL, ids=str)
def test_a_smaller_map_is_the_prefix_of_a_larger_one(sizes, rows):
    """For each number of features, also beyond all there are; and of a prefix again."""
    features = parts_of(sizes)
    whole = features(rows)
    for k in range(1, features.h + 3):
        first = features.first(k)
        assert first.h == min(k, features.h)
        np.testing.assert_allclose(first(rows), whole[:, :k], rtol=1e-9, atol=1e-9)
        again = first.first(k // 2 + 1)(rows)
        np.testing.assert_allclose(again, whole[:, : min(k, k // 2 + 1)], rtol=1e-9, atol=1e-9)


@unequal
def test_single_precision_stays_single(sizes, rows):
    """Each number of each layer, and all features; close to those in double precision."""
    features = parts_of(sizes)
    single = features.in_precision(np.dtype(np.float32))
    H = single(rows.astype(np.float32))
    assert H.dtype == np.float32
    np.testing.assert_allclose(H, features(rows), atol=1e-3)
    layer = single.parts[0].layer
    assert isinstance(layer, Codes)
    assert layer(rows.astype(np.float32)).dtype == np.float32
    for name in ("low", "gain", "height"):
        assert getattr(layer, name).dtype == np.float32
    assert layer.column.dtype.kind == "i"


# -------------------------------------------------------------------- whole classifiers


def table(n_classes=2, n=200):
    rng = np.random.default_rng(4)
    y = np.arange(n) % n_classes
    return np.round(rng.exponential(size=(n, D)) + 0.8 * y[:, None], 2), y


def with_codes(classifier, X, y, most=12, first=True):
    """The classifier with codes beside its layers, fitted on the rows again."""
    classifier = clone(classifier).fit(X, y)
    phi = classifier.feature_map_
    Z = phi.scaled(X)
    knots = [knots_by_rank(values, most, most) for values in Z.T]
    codes = Part(codes_between(knots, np.full(D, 0.4)))
    [leaf] = phi.leaves
    parts = (codes, *leaf.parts) if first else (*leaf.parts, codes)
    phi = replace(phi, leaves=(Features(parts),))
    classes, n_folds = classifier.classes_, classifier.summary_.n_folds
    moments = FoldMoments.empty(len(classes), n_folds, phi.h)
    learned = Learned(classes, phi, Summary((moments,)), True)
    columns = columns_of(fitted_columns(classifier), phi.encoding.kinds)
    return classifier.set_fitted(columns, learned).fit(X, y)


CLASSIFIERS = [
    EEMClassifier(20, random_state=0),
    EEMClassifier(150, activation="sig", scale=None, random_state=0),
    EEKMClassifier(15, relevance="learned", random_state=0),
    EEKMClassifier(30, kernel="cosine", scale="standard", random_state=0),
]
every = pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: type(c).__name__)


@every
@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_are_those_of_features_in_order(classifier, n_classes):
    """βᵀφ by the whole classifier, and from features that are put in order one by one."""
    X, y = table(n_classes)
    fitted = with_codes(classifier, X, y)
    features = fitted.feature_map_.only()
    expected = in_order(features, fitted.feature_map_.scaled(X)) @ np.atleast_2d(fitted.beta_).T
    ours = fitted.project(X).reshape(len(X), -1)
    np.testing.assert_allclose(ours, expected, atol=1e-9 * abs(expected).max())
    assert not isinstance(features.places()[0], slice)


@every
def test_contributions_are_the_integrals_of_the_slopes(classifier):
    """Of the log-odds, from the typical row to the row; by many small differences."""
    X, y = table()
    fitted = with_codes(classifier, X, y)
    phi, [leaf] = fitted.feature_map_, fitted.machine_.leaves
    start, end, n = phi.typical, phi.scaled(X[:4]), 1000
    points = start + (np.arange(n)[:, np.newaxis, np.newaxis] + 0.5) / n * (end - start)
    half, expected = (end - start) / (2 * n), np.empty((4, D))

    def log_odds(Z):
        projections = in_order(phi.only(), Z.reshape(-1, D)) @ leaf.operators.T
        return fitted.machine_.scores(projections + leaf.constants).reshape(Z.shape[:2])

    for column in range(D):
        e = half * (np.arange(D) == column)
        expected[:, column] = (log_odds(points + e) - log_odds(points - e)).sum(axis=0)
    ours = fitted.explain(X[:4])
    np.testing.assert_allclose(ours, expected, atol=0.01 * abs(expected).max())


@every
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("first", [True, False])
def test_onnx_gives_the_same(classifier, dtype, first, tmp_path):
    """Probabilities to 1e-6 of ours in double precision, and to 1e-4 in single."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="the extra test has onnxruntime")
    X, y = table(3)
    X = X.astype(np.float32).astype(np.float64)
    fitted = with_codes(classifier, X, y, first=first)
    fitted.to_onnx(tmp_path / "m.onnx", dtype=dtype)
    new = np.concatenate([X, 2 * X, X - 3]).astype(dtype)
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    labels, p = session.run(None, {"X": new})
    ours = fitted.predict_proba(new.astype(np.float64))
    assert abs(p - ours).max() < {"float64": 1e-6, "float32": 1e-4}[dtype]
    assert (labels == fitted.predict(new.astype(np.float64))).mean() > 0.99


@pytest.mark.parametrize(("dtype", "close"), [(np.float64, 1e-13), (np.float32, 1e-6)])
def test_the_operators_of_the_layer_are_its_codes(codes, rows, dtype, close):
    """In the precision of the model, to its last digit but one."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="the extra test has onnxruntime")
    pytest.importorskip("onnx", reason="the extra onnx is not installed")
    from extreme_entropy.export.features import LAYERS
    from extreme_entropy.export.graph import ROWS, Graph, Tensor

    g = Graph(dtype, taken=["Z"])
    H = LAYERS[Codes](g, codes, "Z")
    model = g.model([Tensor("Z", dtype, (ROWS, D))], [Tensor(H, dtype, (ROWS, codes.size))])
    session = onnxruntime.InferenceSession(model.SerializeToString())
    [theirs] = session.run(None, {"Z": rows.astype(dtype)})
    ours = Part(codes).in_precision(np.dtype(dtype)).layer(rows.astype(dtype))
    assert theirs.dtype == ours.dtype == dtype
    np.testing.assert_allclose(theirs, ours, atol=close)


def test_a_saved_classifier_with_codes_is_the_same(tmp_path):
    """Codes alone, and as many as there are landmarks beside them."""
    X, y = table()
    fitted = with_codes(EEKMClassifier(10, kernel="rbf", random_state=0), X, y, most=3)
    [leaf] = fitted.feature_map_.leaves
    assert [part.layer.size for part in leaf.parts] == [10, 10]
    fitted.save(tmp_path / "m.eem")
    again = load(tmp_path / "m.eem")
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert isinstance(again.feature_map_.only().parts[0].layer, Codes)


@pytest.mark.parametrize(
    "fault",
    [{"column": np.arange(1, 11)}, {"d": 6}, {"gain": -np.ones(10)}, {"low": np.zeros(9)}],
    ids=lambda fault: next(iter(fault)),
)
def test_codes_of_other_columns_are_refused_in_a_file(fault):
    """A layer says how many columns it sees, and of which its codes are."""
    X, y = table()
    fitted = with_codes(EEKMClassifier(10, kernel="rbf", random_state=0), X, y, most=3)
    [leaf], phi = fitted.feature_map_.leaves, fitted.feature_map_
    check(FeatureMap, phi, {}, "phi")
    codes = leaf.parts[0].layer
    for part in (Part(replace(codes, **fault)), Part(replace(codes, **fault), np.arange(D))):
        spoilt = replace(phi, leaves=(Features((part, leaf.parts[1])),))
        with pytest.raises(ValueError, match=r"phi\.leaves\[0\]\.parts\[0\]"):
            check(FeatureMap, spoilt, {}, "phi")
