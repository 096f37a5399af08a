"""Laplacian layers by codes: SciPy's distances, for landmarks that were moved to knots."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone

from extreme_entropy import EEKMClassifier, EEMClassifier, load
from extreme_entropy.features.codes import Coded, on_knots
from extreme_entropy.features.feature_settings import FEATURES
from extreme_entropy.features.kernels import Laplacian

D = 40
WIDE = [
    EEMClassifier(60, relevance="learned", random_state=0),
    EEMClassifier(60, activation="laplacian", scale=None, random_state=0),
    EEKMClassifier(60, kernel="mixed", relevance="learned", random_state=0),
    EEKMClassifier(60, kernel="laplacian", scale="standard", random_state=0),
]
every = pytest.mark.parametrize("classifier", WIDE, ids=lambda c: type(c).__name__)


def mixed_columns(rng, n=1000):
    """Bells of unlike spread, a heap at zero, few values, one value, and flags, some rare."""
    X = rng.normal(size=(n, D)) * rng.random(D)
    X[:, 1] = np.maximum(X[:, 1], 0.0)
    X[:, 2] = rng.integers(0, 4, n)
    X[:, 3] = 7.0
    X[:, 10:] = rng.random((n, D - 10)) < rng.random(D - 10)
    return X


def moving_landmarks(classifier):
    """The classifier, which takes 500 rows for so many that landmarks are moved to knots."""
    classifier.settings = replace(type(classifier).settings, many_rows=500)
    return classifier


@pytest.mark.parametrize(("dtype", "close"), [(np.float64, 1e-12), (np.float32, 1e-5)])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_codes_measure_as_scipy_does(rng, dtype, close, offset):
    """Within and far beyond the knots, on them, and far from the origin."""
    rows = (mixed_columns(rng) + offset).astype(dtype)
    landmarks = on_knots(rows[:50], rows)
    Z = np.vstack([rows, 3 * (rows - offset) + offset, landmarks]).astype(dtype)
    rates = rng.uniform(0.01, 0.1, 50)
    layer = Laplacian(landmarks, rates.astype(dtype), 0.5).quickest()
    assert isinstance(layer, Coded)
    theirs = np.exp(0.5 - rates * cdist(Z, landmarks, "cityblock"))
    ours = layer(Z)
    assert ours.dtype == dtype
    np.testing.assert_allclose(ours, theirs, rtol=close)
    np.testing.assert_allclose(layer.first(20)(Z), theirs[:, :20], rtol=close)


def test_a_landmark_far_off_costs_digits_but_never_overflows(rng):
    """Distances to those near by are lost in rounding; a kernel is no larger than its height."""
    rows = mixed_columns(rng)
    landmarks = on_knots(rows[:50], rows)
    landmarks[0, 0] = -1e30
    layer = Laplacian(landmarks, np.full(50, 0.1), 0.5).quickest()
    assert isinstance(layer, Coded)
    assert layer(rows).max() <= np.exp(0.5)


def test_landmarks_stay_near_their_rows(rng):
    """Columns of few values are not moved at all; all others by a fraction of their spread."""
    rows = mixed_columns(rng)
    moved = abs(on_knots(rows, rows) - rows)
    assert not moved[:, 2:4].any()
    assert not moved[:, 10:].any()
    assert (moved.mean(axis=0) <= 0.5 * rows.std(axis=0)).all()
    few = rows[:, : FEATURES.few_columns - 1]
    assert on_knots(few, few) is few


def test_landmarks_on_many_knots_are_measured(rng):
    """A product with a code for each of hundreds of values would be slower."""
    rows = rng.random((300, 5))
    layer = Laplacian(rows, np.ones(300))
    assert layer.quickest() is layer


@every
def test_both_routes_predict_the_same(classifier, rng, tmp_path):
    """φ is frozen with the moved landmarks: by codes or measured, saved or not, it is one φ."""
    X = mixed_columns(rng, 600)
    y = (X[:, 0] + X[:, 12] + 0.3 * rng.normal(size=600) > 0.5).astype(int)
    ours = moving_landmarks(classifier).fit(X, y)
    phi = ours.feature_map_
    assert any(isinstance(p.layer, Coded) for p in phi.only().in_precision(X.dtype).parts)
    ours.save(tmp_path / "m.eem")
    again = load(tmp_path / "m.eem")
    assert np.array_equal(again.predict_proba(X), ours.predict_proba(X))
    single = ours.decision_function(X.astype(np.float32))
    expected = ours.decision_function(X)
    np.testing.assert_allclose(single, expected, atol=1e-3 * abs(expected).max())
    measured = again.feature_map_.only()
    assert not any(isinstance(p.layer, Coded) for p in measured.parts)
    projections = measured(phi.scaled(X)) @ again.machine_.leaves[0].operators.T
    theirs = again.machine_.scores(projections)
    np.testing.assert_allclose(expected, theirs, atol=1e-9 * abs(theirs).max())


@every
def test_a_smaller_layer_is_the_first_part_of_one_beyond_all_sampled_rows(classifier, rng):
    """More landmarks are more sampled rows, and neither knots nor widths may depend on those."""
    X = mixed_columns(rng, 1300)
    y = (X[:, 0] + X[:, 12] > 0.5).astype(int)
    name = "n_hidden" if isinstance(classifier, EEMClassifier) else "n_landmarks"
    smaller, larger = (
        moving_landmarks(clone(classifier).set_params(**{name: k})).partial_fit(X, y).feature_map_
        for k in (60, 1200)
    )
    expected = smaller(X[:50])
    np.testing.assert_allclose(
        larger.first(60)(X[:50]), expected, rtol=1e-9, atol=1e-9 * abs(expected).max()
    )
