"""The summary of rows is a commutative monoid, and however it is reached it is the definition's."""

from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from extreme_entropy import EEKMClassifier, EEMClassifier
from extreme_entropy.columns.encoding import plain_encoding
from extreme_entropy.drawing.sampling import Columns
from extreme_entropy.engines import threads
from extreme_entropy.engines.threads import RowCuts, row_batches, row_slices
from extreme_entropy.estimators.tables import InMemory
from extreme_entropy.features.content import ContentHash
from extreme_entropy.features.feature_map import FeatureMap, HeldRows, Tree, same
from extreme_entropy.features.layers import Features, Part
from extreme_entropy.features.neurons import Custom
from extreme_entropy.features.scaling import Identity
from extreme_entropy.moments.summary import ClassMoments, FoldMoments, from_sums

N_FOLDS = 5


def summarise(phi, X, y, weight, n_classes, n_folds):
    """The summary of rows in memory with labels 0, 1, …, in folds by their content."""
    rows = InMemory(Columns(X.shape[1], None), X, y, weight)
    [moments] = rows.summarise(phi, np.arange(n_classes), n_folds).values
    return moments


def assert_alike(ours, theirs, rows, tolerance=1e-9):
    """Equal but for rounding, measured by how far the rows lie from each other and the origin."""
    far = np.abs(rows).max(initial=0.0)
    n = max(len(rows), 1)
    reach = np.linalg.norm(rows - rows.mean(axis=0), axis=1).max() if len(rows) else 0.0
    reach += 1e-8 * (1 + far)
    assert ours.n == pytest.approx(theirs.n, rel=1e-12)
    np.testing.assert_allclose(ours.mean, theirs.mean, rtol=0, atol=1e-13 * (reach + far) * n)
    for power, name in ((2, "scatter"), (3, "cubic"), (4, "quartic")):
        np.testing.assert_allclose(
            getattr(ours, name),
            getattr(theirs, name),
            rtol=0,
            atol=tolerance * n * reach**power,
            err_msg=name,
        )


def assert_summaries_alike(ours, theirs, rows):
    """Cell by cell."""
    for mine, yours in zip(ours.cells, theirs.cells, strict=True):
        for a, b in zip(mine, yours, strict=True):
            assert_alike(a, b, rows)


@st.composite
def row_sets(draw, parts):
    """Parts of one data set: some empty, some of one row, some of one row repeated; far off."""
    h = draw(st.integers(1, 4))
    offset = draw(st.sampled_from([0.0, 1.0, -300.0, 1e4]))
    values = st.floats(-8, 8, width=32)
    result = []
    for _ in range(parts):
        rows = draw(arrays(np.float64, (draw(st.integers(0, 6)), h), elements=values))
        result.append(np.repeat(rows, draw(st.sampled_from([1, 1, 3])), axis=0) + offset)
    return result


@given(row_sets(3))
def test_the_order_of_merging_does_not_matter(parts):
    """(a + b) + c, a + (b + c) and any other order give the definition's moments of all rows."""
    a, b, c = map(ClassMoments.of, parts)
    rows = np.concatenate(parts)
    whole = ClassMoments.of(rows)
    for merged in ((a + b) + c, a + (b + c), (c + a) + b, c + (b + a), reduce(add, [b, a, c])):
        assert_alike(merged, whole, rows)


@given(row_sets(1))
def test_the_empty_summary_is_the_identity(parts):
    """Adding or subtracting no rows changes nothing, not even the last bit."""
    moments = ClassMoments.of(parts[0])
    nothing = ClassMoments.empty(parts[0].shape[1])
    assert same(moments + nothing, moments)
    assert same(nothing + moments, moments)
    assert same(moments - nothing, moments)


def test_nothing_plus_nothing_is_nothing():
    """Clusters send empty partitions; two of them are still empty, and hold numbers, not NaN."""
    nothing = ClassMoments.empty(3)
    assert same(nothing + nothing, nothing)
    assert same(nothing - nothing, nothing)
    assert same(ClassMoments.of(np.empty((0, 3))), nothing)
    assert not nothing.scatter.any()
    table = FoldMoments.empty(2, N_FOLDS, 3)
    assert same(table + table, table)
    assert np.array_equal(table.counts, np.zeros((2, N_FOLDS)))


@given(row_sets(2))
def test_subtraction_undoes_addition(parts):
    """(a + b) − b is a: forgetting rows is as if they had never come."""
    a, b = map(ClassMoments.of, parts)
    assert_alike((a + b) - b, a, np.concatenate(parts))


def test_one_row_that_is_left_does_not_vary(rng):
    """Even if those taken out were not quite what was learnt: φ is rounded, too."""
    rows = rng.normal(size=(3, 4))
    learnt = ClassMoments.of(rows)
    two = learnt - ClassMoments.of(rows[:1] + 1e-6)
    one = two - ClassMoments.of(rows[1:2] - 1e-6)
    assert two.scatter.any()
    assert not one.scatter.any()
    assert not one.cubic.any()
    assert one.quartic == 0
    np.testing.assert_allclose(one.mean, rows[2], atol=1e-5)


def test_two_rows_of_half_the_weight_are_not_one_row(rng):
    """Their weight is one in all."""
    rows = rng.normal(size=(3, 4))
    whole = [replace(ClassMoments.of(row[np.newaxis]), n=0.5, squares=0.25) for row in rows]
    left = reduce(add, whole) - whole[0]
    assert left.n == 1
    assert_alike(left, whole[1] + whole[2], rows)


@given(row_sets(2))
def test_subtracting_everything_leaves_exactly_nothing(parts):
    """No rounding survives the last row."""
    a, b = map(ClassMoments.of, parts)
    nothing = ClassMoments.empty(parts[0].shape[1])
    assert same((a + b) - ClassMoments.of(np.concatenate(parts)), nothing)
    assert same((a + b) - (b + a), nothing)


@given(row_sets(4), st.integers(0, 3))
def test_a_table_of_monoids_is_a_monoid(parts, lone):
    """Summaries of parts, some of one class only, add up to the summary of all rows."""
    labels = [np.arange(len(part)) % 2 * (i != lone) for i, part in enumerate(parts)]
    tables = [_by_definition(part, label) for part, label in zip(parts, labels, strict=True)]
    a, b, c, d = tables
    rows = np.concatenate(parts)
    whole = _by_definition(rows, np.concatenate(labels))
    for merged in (((a + b) + c) + d, (d + c) + (b + a)):
        assert_summaries_alike(merged, whole, rows)
    assert_summaries_alike(whole - d, (a + b) + c, rows)
    assert same(whole - whole, FoldMoments.empty(2, 1, rows.shape[1]))
    assert_alike(whole.totals[0], ClassMoments.of(rows[np.concatenate(labels) == 0]), rows)


def _by_definition(H, labels, folds=None, n_classes=2, n_folds=1):
    """The summary of features, class by class and fold by fold."""
    folds = np.zeros(len(H), dtype=int) if folds is None else folds
    return FoldMoments(
        tuple(
            tuple(ClassMoments.of(H[(labels == c) & (folds == k)]) for k in range(n_folds))
            for c in range(n_classes)
        )
    )


def test_the_rows_outside_a_fold_are_the_sum_of_the_other_folds(rng):
    """A class without one fold is its total less that fold."""
    H, labels, folds = rng.normal(size=(90, 3)), rng.integers(0, 2, 90), rng.integers(0, 5, 90)
    table = _by_definition(H, labels, folds, n_folds=N_FOLDS)
    for c in range(2):
        for k in range(N_FOLDS):
            rows = H[(labels == c) & (folds != k)]
            assert_alike(table.totals[c] - table.cells[c][k], ClassMoments.of(rows), rows)


# ------------------------------------------------------------------ through φ


def _data(rng, n=700, d=4):
    """Rows with zeros in them and three labels."""
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6) * [1.0, 5.0, 0.1, 2.0] + 0.0
    return X, rng.integers(0, 3, n)


def feature_map_(kind, X, y):
    if kind == "kernel":
        return EEKMClassifier(9, random_state=0).fit(X, y).feature_map_
    return EEMClassifier(9, activation=kind, random_state=0).fit(X, y).feature_map_


@pytest.mark.parametrize("kind", ["rbf", "sig", "relu", "kernel"])
@pytest.mark.parametrize("chunk", [1, 2**22])
def test_the_reduction_is_the_definition(rng, monkeypatch, kind, chunk):
    """However rows are chunked, each class and fold gets the moments of its own φ(x)."""
    X, y = _data(rng)
    phi = feature_map_(kind, X, y)
    monkeypatch.setattr(threads, "CUTS", RowCuts(chunk_numbers=chunk))  # 1: chunks of 64 rows
    H, folds = phi(X.copy()), phi.content(X) % np.uint64(N_FOLDS)
    ours = summarise(phi, X, y, None, 3, N_FOLDS)
    assert_summaries_alike(ours, _by_definition(H, y, folds, 3, N_FOLDS), H)


def test_the_reduction_forgets_order_and_batches(rng, monkeypatch):
    """Shuffled rows, and rows in batches of any sizes (one of them empty), sum to the same."""
    X, y = _data(rng)
    phi = feature_map_("rbf", X, y)
    monkeypatch.setattr(threads, "CUTS", RowCuts(chunk_numbers=1))
    whole = summarise(phi, X, y, None, 3, N_FOLDS)
    order = rng.permutation(len(X))
    assert_summaries_alike(summarise(phi, X[order], y[order], None, 3, N_FOLDS), whole, phi(X))
    cuts = [0, 1, 1, 130, 400, len(X)]
    merged = FoldMoments.empty(3, N_FOLDS, phi.h)
    for a, b in pairwise(cuts):
        rows = order[a:b]
        merged = merged + summarise(phi, X[rows], y[rows], None, 3, N_FOLDS)
    assert_summaries_alike(merged, whole, phi(X))


def test_a_weight_is_a_repetition(rng, monkeypatch):
    """Weights 1, 2, 3 equal the rows once, twice, thrice; fractions scale every moment."""
    X, y = _data(rng, 300)
    phi = feature_map_("rbf", X, y)
    monkeypatch.setattr(threads, "CUTS", RowCuts(chunk_numbers=1))
    weight = rng.integers(1, 4, len(X))
    repeated = np.repeat(np.arange(len(X)), weight)
    ours = summarise(phi, X, y, weight.astype(float), 3, N_FOLDS)
    theirs = summarise(phi, X[repeated], y[repeated], None, 3, N_FOLDS)
    assert_summaries_alike(ours, theirs, phi(X[repeated]))
    halved = summarise(phi, X, y, weight / 2, 3, N_FOLDS)
    for half, full in zip(halved.cells, ours.cells, strict=True):
        for a, b in zip(half, full, strict=True):
            twice = ClassMoments(
                2 * a.n, a.mean, 2 * a.scatter, 2 * a.cubic, 2 * a.quartic, 2 * a.n
            )
            assert_alike(twice, b, phi(X[repeated]))


@pytest.mark.parametrize("kind", ["rbf", "relu", "kernel"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dense_and_sparse_rows_have_the_same_summary(rng, kind, dtype):
    """CSR rows with the same values, weighted or not, give the same bits."""
    X, y = _data(rng)
    X, weight = X.astype(dtype), rng.random(len(X))
    phi = feature_map_(kind, X, y)
    for w in (None, weight):
        dense = summarise(phi, X, y, w, 3, N_FOLDS)
        assert same(dense, summarise(phi, sp.csr_array(X), y, w, 3, N_FOLDS))


def test_single_precision_rows_are_added_in_double_precision(rng, monkeypatch):
    """Moments of float32 rows differ from those of float64 rows by single rounding only."""
    X, y = _data(rng, 4000)
    X = X.astype(np.float32)
    phi = feature_map_("rbf", X, y)
    monkeypatch.setattr(threads, "CUTS", RowCuts(chunk_numbers=1))
    single = summarise(phi, X, y, None, 3, 1)
    double = summarise(phi, X.astype(np.float64), y, None, 3, 1)
    for (a,), (b,) in zip(single.cells, double.cells, strict=True):
        assert a.scatter.dtype == np.float64
        np.testing.assert_allclose(a.mean, b.mean, atol=2e-7)
        np.testing.assert_allclose(a.scatter, b.scatter, atol=2e-6 * np.trace(b.scatter))
        np.testing.assert_allclose(a.quartic, b.quartic, rtol=2e-6)


def test_any_number_of_threads_gives_the_same_bits(rng):
    """Slices follow from the number of rows alone, so threads cannot change a bit."""
    X = rng.normal(size=(40_000, 3))
    X = X[X[:, 0].argsort()]  # slices that differ, or the order of merging would hardly show
    y = (X[:, 0] + rng.normal(size=len(X)) > 1).astype(int)
    assert len(row_slices(len(X))) > 2
    machines = [
        EEMClassifier(8, activation="rbf", random_state=0, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2, 3)
    ]
    for other in machines[1:]:
        assert same(other.summary_, machines[0].summary_)
        assert np.array_equal(other.beta_, machines[0].beta_)
    H, folds = machines[0].feature_map_(X), machines[0].feature_map_.content(X) % np.uint64(N_FOLDS)
    expected = _by_definition(H, y, folds, 2, N_FOLDS)
    assert_summaries_alike(machines[0].summary_.leaves[0], expected, H)


@pytest.mark.parametrize(
    "cut", [row_slices, lambda n: row_batches(n, 3), lambda n: row_batches(n, 10_000)]
)
def test_slices_and_batches_cover_every_row_once(cut):
    """For any number of rows, they follow one another from the first row to the last."""
    for n in (0, 1, 8191, 16_384, 16_385, 100_000, 1_000_003, 3_000_000):
        covered = [(part.start, part.stop) for part in cut(n)] or [(0, 0)]
        assert covered[0][0] == 0
        assert covered[-1][1] == n
        assert all(a[1] == b[0] for a, b in pairwise(covered))


@pytest.mark.parametrize("weighted", [False, True])
def test_batches_and_tasks_sum_to_the_definition(rng, monkeypatch, weighted):
    """Rows in several batches, each class in several tasks, drifting away from the first rows."""
    X, y = _data(rng, 3000)
    X += np.linspace(0, 30, len(X))[:, np.newaxis]
    phi = feature_map_("rbf", X, y)
    weight = rng.integers(1, 3, len(X)).astype(float) if weighted else None
    rows = np.repeat(np.arange(len(X)), 1 if weight is None else weight.astype(int))
    H, folds = phi(X[rows]), phi.content(X[rows]) % np.uint64(2)
    monkeypatch.setattr(threads, "CUTS", RowCuts(longest_batch=1100, slice_rows=60))
    assert len(row_batches(len(X), 4)) == 3
    assert len(row_slices(1000)) > 10
    ours = summarise(phi, X, y, weight, 3, 2)
    assert_summaries_alike(ours, _by_definition(H, y[rows], folds, 3, 2), H)


# ------------------------------------------------------------------ far from the origin


@pytest.mark.parametrize("distance", [0.0, 1.0, 30.0])
def test_sums_about_any_pilot_give_the_moments_about_the_mean(rng, distance):
    """`from_sums` moves Σu, Σuuᵀ, Σ‖u‖²u, Σ‖u‖⁴ from a pilot far off to the mean."""
    rows = rng.gamma(2.0, size=(80, 4))  # skewed, so that Σ‖u‖²u is not zero
    pilot = rows.mean(axis=0) + distance * rng.normal(size=4)
    theirs = ClassMoments.of(rows)
    ours = from_sums(*_sums_about(rows, pilot))
    assert np.linalg.norm(theirs.cubic) > 1.0
    size = (1 + distance) ** 4 * 1e-12
    np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-12)
    np.testing.assert_allclose(ours.scatter, theirs.scatter, atol=size * 80)
    np.testing.assert_allclose(ours.cubic, theirs.cubic, atol=size * 80)
    np.testing.assert_allclose(ours.quartic, theirs.quartic, atol=size * 80)


def _sums_about(rows, pilot):
    U = rows - pilot
    squares = (U**2).sum(axis=1)
    return len(rows), pilot, U.sum(axis=0), U.T @ U, squares @ U, float(squares @ squares)


def _exact_quartic(rows):
    """Σ‖u‖⁴ in rational arithmetic."""
    exact = [[Fraction(float(value)) for value in row] for row in rows]
    mean = [sum(column) / len(exact) for column in zip(*exact, strict=True)]
    lengths = (sum((x - m) ** 2 for x, m in zip(row, mean, strict=True)) for row in exact)
    return float(sum(length**2 for length in lengths))


def test_the_quartic_survives_an_offset_that_raw_sums_do_not(rng):
    """At an offset of 10⁴ raw sums lose q altogether; merged summaries keep ten digits of it."""
    rows = rng.normal(size=(120, 8)) + 1e4
    exact = _exact_quartic(rows)
    raw = from_sums(*_sums_about(rows, np.zeros(8))).quartic
    assert abs(raw / exact - 1) > 0.5
    for size in (1, 7, 120):
        parts = [ClassMoments.of(rows[i : i + size]) for i in range(0, len(rows), size)]
        assert reduce(add, parts).quartic == pytest.approx(exact, rel=1e-10)


def test_the_reduction_keeps_its_digits_far_from_the_origin(rng, monkeypatch):
    """Features at an offset of 10⁴, chunk by chunk: q to nine digits."""
    X = rng.normal(size=(150, 8)) + 1e4
    layer = Custom(lambda Z, weights, biases: Z, np.zeros((8, 8)), np.zeros(8))
    content = ContentHash.between(0, X.min(axis=0), X.max(axis=0))
    monkeypatch.setattr(threads, "CUTS", RowCuts(chunk_numbers=1))
    for weight in (None, np.ones(150)):
        features = Features((Part(layer),))
        phi = FeatureMap(
            *(content, plain_encoding(8), Identity(8), Tree.uncut(), (features,)), HeldRows.none(8)
        )
        ((moments,),) = summarise(phi, X, np.zeros(150, dtype=int), weight, 1, 1).cells
        assert moments.quartic == pytest.approx(_exact_quartic(X), rel=1e-9)
