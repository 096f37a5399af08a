"""Scaling by rank: a monotone curve near the ranks, found by cells or by knots."""

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.base import clone

from extreme_entropy import EEKMClassifier, EEMClassifier
from extreme_entropy.features.scaling import CLOSE, ColumnStats, fit_scaling


def by_rank(X):
    """The scaling of rows that are their own sample."""
    return fit_scaling("quantile", ColumnStats.of(X), X)


def columns(rng, n=1000):
    """Bell, uniform, few values, a long tail, a heap at zero with a long tail, two values."""
    tail = rng.lognormal(sigma=4.0, size=n)
    return np.column_stack(
        [
            rng.normal(size=n),
            rng.random(n),
            rng.integers(0, 5, n),
            tail,
            tail * (rng.random(n) < 0.5),
            rng.random(n) < 0.3,
        ]
    ).astype(float)


def test_cells_serve_most_columns_and_knots_the_crowded_ones(rng):
    """Columns with long tails keep knots; two values need neither."""
    scaling = by_rank(columns(rng))
    assert scaling.even.tolist() == [0, 1, 2]
    assert scaling.uneven.tolist() == [3, 4]


@pytest.mark.parametrize("j", range(5))
def test_a_value_becomes_its_rank(rng, j):
    """Within what cells may differ from ranks, and 254 knots from all of them."""
    X = columns(rng)
    x = X[:, j]
    ranks = (rankdata(x) - 1) / (len(x) - 1)
    z = by_rank(X)(X)[:, j]
    inner = (x > x.min()) & (x < x.max())
    assert abs(z - ranks)[inner].max() < CLOSE + 1e-3
    assert z[x == x.min()].max() == pytest.approx(0, abs=1e-9)
    assert z[x == x.max()].min() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("j", range(6))
def test_the_curve_is_monotone_and_flat_beyond_its_ends(rng, j):
    """Also between the values seen, and far outside them."""
    X = columns(rng)
    low, high = X[:, j].min(), X[:, j].max()
    asked = np.zeros((20_001, 6))
    asked[:, j] = np.concatenate([np.linspace(low - 1, high + 1, 19_999), [high + 1e6, np.inf]])
    z = by_rank(X)(asked)[:, j]
    assert (np.diff(z) >= -1e-12).all()
    assert abs(z[asked[:, j] <= low]).max() < 1e-9
    assert abs(z[asked[:, j] >= high] - 1).max() < 1e-9


def test_scaled_values_forget_unit_and_origin(rng):
    """z of a·x + b is z of x, far from the origin too."""
    X = columns(rng)
    z = by_rank(X)(X)
    moved = X * [1e6, 1e-3, 7.0, 0.1, 3.0, 2.0] + [1e7, -3.0, 1e5, 0.5, 2.0, -1.0]
    np.testing.assert_allclose(by_rank(moved)(moved), z, atol=1e-9)


def test_single_precision_stays_single(rng):
    """float32 rows are scaled to float32, and to the same values."""
    X = columns(rng).astype(np.float32)
    z = by_rank(X)(X)
    assert z.dtype == np.float32
    np.testing.assert_allclose(z, by_rank(X.astype(float))(X.astype(float)), atol=1e-6)


def test_a_constant_column_is_zero_ever_after(rng):
    """And its neighbours do not notice it."""
    X = columns(rng)
    wide = np.insert(X, 2, 5.0, axis=1)
    scaling = by_rank(wide)
    wide[:, 2] = rng.normal(size=len(X))
    z = scaling(wide)
    assert not z[:, 2].any()
    np.testing.assert_allclose(np.delete(z, 2, axis=1), by_rank(X)(X), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "classifier",
    [
        EEMClassifier(20, scale=None, relevance="uniform", random_state=0),
        EEKMClassifier(20, scale=None, kernel="rbf", random_state=0),
        EEKMClassifier(20, scale=None, kernel="laplacian", relevance="uniform", random_state=0),
    ],
    ids=["mixed", "rbf kernel", "laplacian kernel"],
)
def test_unscaled_rows_far_from_the_origin_keep_their_distances(classifier, dtype, rng):
    """Steps of 1/64 near 2000 are exact in both precisions, so that nothing else may be lost."""
    X = np.round(rng.normal(size=(200, 3)) * 64) / 64
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    near = clone(classifier).fit(X, y).decision_function(X)
    far = clone(classifier).fit((X + 2048).astype(dtype), y)
    found = far.decision_function((X + 2048).astype(dtype))
    tolerance = 1e-3 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(found, near, atol=tolerance * abs(near).max())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["minmax", "standard", "quantile"])
def test_values_near_the_largest_number_are_far_off_and_no_warning(name, rng):
    X = rng.normal(size=(50, 2)) * 1e-3
    scaling = fit_scaling(name, ColumnStats.of(X), X)
    Z = scaling(np.array([[1e308, -1e308]]))
    assert np.isfinite(Z).all()
    assert Z[0, 0] > Z[0, 1]
