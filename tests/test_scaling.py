"""Scaling by rank: a monotone curve near the ranks, found by cells or by knots."""

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.base import clone

from extreme_entropy import EEKMClassifier, EEMClassifier, ExtremeEntropyClassifier
from extreme_entropy.columns.statistics import ColumnStats
from extreme_entropy.features.content import ContentHash
from extreme_entropy.features.feature_settings import FEATURES
from extreme_entropy.features.scaling import fit_scaling


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
    assert abs(z - ranks)[inner].max() < FEATURES.bin_error + 1e-3
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


def test_single_values_are_scaled_as_in_rows(rng):
    """In any order of columns, beyond their ends too."""
    X = columns(rng)
    scaling, asked = by_rank(X), X * 1.5 - 0.5
    rows, at = rng.integers(0, len(X), 5000), rng.integers(0, X.shape[1], 5000)
    for dtype in (np.float64, np.float32):
        single = scaling.entries(asked.astype(dtype)[rows, at], at)
        np.testing.assert_array_equal(single, scaling(asked.astype(dtype))[rows, at])
        assert single.dtype == dtype
    assert not scaling.keeps_zeros  # the first column has values on both sides
    positive = by_rank(X[:, 1:])
    assert positive.keeps_zeros
    assert not positive(np.zeros((1, 5))).any()


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


@pytest.mark.parametrize("largest", [1e15, -1e15, 2.0**53 - 3])
@pytest.mark.parametrize("name", ["minmax", "standard", "quantile"])
def test_whole_numbers_that_are_exact_are_never_taken_for_rounding(name, largest):
    """1e15 and the number after it are fourteen units of rounding apart, and two values."""
    x = largest + np.arange(60) % 4
    X = np.column_stack([x, np.where(np.arange(60) % 4 < 2, x.min(), x.min() + 1)])
    Z = fit_scaling(name, ColumnStats.of(X), X)(X)
    assert [len(np.unique(column)) for column in Z.T] == [4, 2]
    assert len(np.unique(ContentHash.between(0, X.min(axis=0), X.max(axis=0))(X))) == 4


@pytest.mark.parametrize(
    "classifier",
    [
        EEMClassifier(20, random_state=0),
        EEKMClassifier(20, random_state=0),
        ExtremeEntropyClassifier(n_landmarks=20, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_column_of_large_whole_numbers_predicts_the_class(classifier, rng):
    """Where the last digit of a number of sixteen digits is the class."""
    y = rng.integers(0, 2, 200)
    X = np.column_stack([1e15 + y, rng.normal(size=200)])
    assert classifier.fit(X, y).score(X, y) == 1


@pytest.mark.parametrize("name", ["minmax", "standard", "quantile", None])
def test_the_scaling_of_large_whole_numbers_does_not_depend_on_how_rows_are_cut(name, rng):
    """Their mean has few digits after the point, and must not move with the order of sums."""
    X = 1e15 + rng.integers(0, 3, (200, 2))
    cuts = [X[:7], X[7:80], X[80:]]
    whole, parts = ColumnStats.of(X), [ColumnStats.of(part) for part in cuts]
    expected = fit_scaling(name, whole, X, by_distance=True)(X)
    for first, second, third in ((0, 1, 2), (2, 0, 1)):
        stats = parts[first] + (parts[second] + parts[third])
        np.testing.assert_allclose(stats.deviation, whole.deviation, rtol=1e-12)
        found = fit_scaling(name, stats, X, by_distance=True)(X)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
