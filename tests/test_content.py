"""Randomness by content: hashes, folds and samples follow from the values of rows alone."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, chisquare

from extreme_entropy.features.content import ContentHash, RowSample


def sampled_from(content, k, chunks):
    """The rows sampled from chunks of rows."""
    sample = RowSample.empty(k, len(content.low))
    for X in chunks:
        sample = sample.with_rows(content(X), X)
    return sample.rows


def _hash(X, seed=7):
    return ContentHash.between(seed, X.min(axis=0), X.max(axis=0))


def _sparse_looking(rng, n, d):
    """Rows with about half of their entries zero."""
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5) + 0.0


def _same_draw(a, b):
    return a.k == b.k and np.array_equal(a.hashes, b.hashes) and np.array_equal(a.rows, b.rows)


# ------------------------------------------------------------------ the hash


@pytest.mark.parametrize("d", [1, 3, 40])
def test_dense_and_sparse_rows_have_the_same_hash(rng, d):
    """CSR, other sparse formats and explicit zeros say what the dense rows say."""
    X = _sparse_looking(rng, 300, d)
    content = _hash(X)
    dense = content(X)
    assert len(np.unique(dense)) > 100
    for format_ in ("csr", "csc", "coo"):
        assert np.array_equal(content(sp.coo_array(X).asformat(format_)), dense)
    assert np.array_equal(content(sp.csr_matrix(X)), dense)
    every_entry = sp.csr_array((X.ravel(), np.tile(np.arange(d), 300), np.arange(301) * d), X.shape)
    assert every_entry.nnz == X.size
    assert np.array_equal(content(every_entry), dense)


def test_zero_has_no_sign(rng):
    """−0.0 is 0.0, dense or stored in CSR."""
    X = _sparse_looking(rng, 200, 3)
    content = _hash(X)
    signed = np.where(X == 0, -0.0, X)
    assert np.signbit(signed[X == 0]).all()
    assert np.array_equal(content(signed), content(X))
    stored = sp.csr_array((signed.ravel(), np.tile(np.arange(3), 200), np.arange(201) * 3), X.shape)
    assert np.array_equal(content(stored), content(X))
    assert not np.signbit(
        sampled_from(content, 50, [signed])[sampled_from(content, 50, [X]) == 0]
    ).any()


def test_entries_stored_in_parts_are_their_sum(rng):
    """Two halves in one place of a CSR matrix are one entry."""
    X = _sparse_looking(rng, 50, 3)
    tidy = sp.csr_array(X)
    halves = np.repeat(tidy.data / 2, 2), np.repeat(tidy.indices, 2), tidy.indptr * 2
    content = _hash(X)
    assert np.array_equal(content(sp.csr_array(halves, X.shape)), content(X))


def test_single_precision_rows_have_the_hash_of_their_values(rng):
    """A float32 row and the float64 row of the same values are one row."""
    X = _sparse_looking(rng, 20_000, 4).astype(np.float32)
    content = _hash(X.astype(np.float64))
    assert np.array_equal(content(X), content(X.astype(np.float64)))
    assert np.array_equal(content(sp.csr_array(X)), content(X))


def test_a_hash_belongs_to_its_row_alone(rng):
    """Neither the order of rows nor the batch they come in matters."""
    X = _sparse_looking(rng, 400, 3)
    content, order = _hash(X), rng.permutation(400)
    assert np.array_equal(content(X[order]), content(X)[order])
    for rows in (X, sp.csr_array(X)):
        parts = [content(rows[a:b]) for a, b in ((0, 1), (1, 1), (1, 170), (170, 400))]
        assert np.array_equal(np.concatenate(parts), content(X))


def test_the_hash_hears_every_column_and_its_place(rng):
    """Changing one entry, swapping two columns' values or another seed gives another hash."""
    X = rng.random((200, 6))
    content = _hash(X)
    hashes = content(X)
    for j in range(6):
        changed = X.copy()
        changed[:, j] = (changed[:, j] + 0.3) % 1
        assert (content(changed) != hashes).all()
    unit = ContentHash.between(7, np.zeros(6), np.ones(6))
    assert (unit(X[:, ::-1].copy()) != unit(X)).all()
    assert (_hash(X, seed=8)(X) != hashes).all()


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 0.3, 7.0, 1e8])
@pytest.mark.parametrize("shift", [0.0, 0.1, -3.0, 1e3])
def test_units_and_origins_of_columns_do_not_matter(rng, scale, shift):
    """An affine change of columns leaves hashes, folds and drawn rows as they were."""
    X = rng.normal(size=(1500, 3)) * [1.0, 20.0, 0.01]
    X[:, 2] = np.round(X[:, 2], 2)  # a lattice, whose values must not lie on a cell's edge
    spans = np.ptp(X, axis=0)
    factors = scale * np.array([1.0, 1.7, 0.2])
    moved = X * factors + shift * factors * spans * np.array([1.0, -1.0, 0.5])
    before, after = _hash(X)(X), _hash(moved)(moved)
    assert np.array_equal(before, after)
    drawn = sampled_from(_hash(X), 40, [X])
    places = [np.flatnonzero(np.equal(X, row).all(axis=1))[0] for row in drawn]
    assert np.array_equal(sampled_from(_hash(moved), 40, [moved]), moved[places])


def test_a_constant_column_says_nothing_until_another_value_comes(rng):
    """It leaves folds alone whatever its value, rounding included."""
    X = rng.random((100, 2))
    for value in (0.0, 1e8, -0.1):
        wide = np.column_stack([X, np.full(100, value)])
        content = _hash(wide)
        again = wide.copy()
        wide[::2, 2] = np.nextafter(value, 9e9)
        assert np.array_equal(content(wide), content(again))
        wide[::2, 2] += max(1.0, abs(value))
        other = content(wide) != content(again)
        assert other[::2].all()
        assert not other[1::2].any()


# ------------------------------------------------------------------ folds

CHANCE = 1e-4  # a fair hash fails a test at this level once in ten thousand seeds; ours is fixed


@pytest.mark.parametrize("kind", ["normal", "binary", "counts"])
def test_folds_are_even(rng, kind):
    """Hash modulo 5 fills five folds alike, also where columns hold few values."""
    X = {
        "normal": rng.normal(size=(20_000, 3)),
        "binary": rng.integers(0, 2, (20_000, 40)).astype(float),
        "counts": rng.poisson(3, (20_000, 8)).astype(float),
    }[kind]
    hashes = np.unique(_hash(X)(X))  # distinct rows: repetitions share a fold by design
    assert len(hashes) > 15_000
    assert chisquare(np.bincount((hashes % np.uint64(5)).astype(int), minlength=5)).pvalue > CHANCE
    high_bits = (hashes >> np.uint64(60)).astype(int)
    assert chisquare(np.bincount(high_bits, minlength=16)).pvalue > CHANCE


def test_folds_are_independent_of_the_label_and_of_each_other(rng):
    """A label read off the columns says nothing of the fold; nor does another seed's fold."""
    X = rng.normal(size=(20_000, 3))
    folds = _hash(X)(X) % np.uint64(5)
    others = _hash(X, seed=8)(X) % np.uint64(5)
    for label in (X[:, 0] > 0, X.sum(axis=1) > 2, np.round(X[:, 1]), others):
        table = [
            np.bincount(folds[label == value].astype(int), minlength=5)
            for value in np.unique(label)
            if (label == value).sum() > 100
        ]
        assert len(table) > 1
        assert chi2_contingency(table).pvalue > CHANCE


def test_repetitions_never_straddle_folds(rng):
    """A row said twice is in one fold."""
    X = rng.random((50, 2))
    hashes = _hash(X)(np.repeat(X, 3, axis=0)).reshape(50, 3)
    assert (hashes == hashes[:, :1]).all()


# ------------------------------------------------------------------ drawn rows


@st.composite
def rows_in_parts(draw):
    """Rows with repetitions and neighbours in the same cell, cut into non-empty parts."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d = draw(st.integers(1, 60)), draw(st.integers(1, 3))
    X = rng.integers(0, draw(st.sampled_from([2, 5, 1000])), (n, d)) / 7.0
    X += rng.choice([0.0, 1e-9], size=X.shape)  # in one cell with its neighbour
    cuts = draw(st.lists(st.integers(1, max(n - 1, 1)), max_size=4, unique=True))
    bounds = [0, *sorted(cut for cut in cuts if cut < n), n]
    return X, list(pairwise(bounds)), draw(st.integers(1, 20))


@given(rows_in_parts())
def test_every_repeat_of_a_drawn_row_is_counted(example):
    """Whatever the parts; a weight counts as repetition."""
    X, parts, k = example
    content, drawn, weighted = (
        _hash(X),
        RowSample.empty(k, X.shape[1]),
        RowSample.empty(k, X.shape[1]),
    )
    for a, b in parts:
        drawn = drawn.with_rows(content(X[a:b]), X[a:b])
        weighted = weighted.with_rows(content(X[a:b]), X[a:b], np.full(b - a, 2.0))
    hashes, counts = np.unique(content(X), return_counts=True)
    np.testing.assert_array_equal(drawn.hashes, hashes[:k])
    np.testing.assert_array_equal(drawn.counts, counts[:k])
    np.testing.assert_array_equal(weighted.counts, 2 * counts[:k])


@given(rows_in_parts())
def test_the_draw_merges(example):
    """The draw of the whole is the draw of the parts' draws, in any order, dense or sparse."""
    X, parts, k = example
    content = _hash(X)
    nothing = RowSample.empty(k, X.shape[1])
    whole = nothing.with_rows(content(X), X)
    draws = [nothing.with_rows(content(X[a:b]), X[a:b]) for a, b in parts]
    for order in (draws, draws[::-1]):
        merged = nothing
        for part in order:
            merged = merged + part
        assert _same_draw(merged, whole)
    after_another = nothing
    for a, b in reversed(parts):
        rows = sp.csr_array(X[a:b])
        after_another = after_another.with_rows(content(rows), rows)
    assert _same_draw(after_another, whole)
    assert _same_draw(whole + whole, whole)
    assert np.array_equal(sampled_from(content, k, [X[a:b] for a, b in parts]), whole.rows)


@given(rows_in_parts())
def test_the_sample_is_the_smallest_hashes_of_distinct_rows(example):
    """No row twice, none missed: the k smallest distinct hashes, each with a row that has it."""
    X, _, k = example
    content = _hash(X)
    draw = RowSample.empty(k, X.shape[1]).with_rows(content(X), X)
    assert np.array_equal(draw.hashes, np.unique(content(X))[:k])
    assert np.array_equal(content(draw.rows), draw.hashes)
    for row, value in zip(draw.rows, draw.hashes, strict=True):
        sharing = X[content(X) == value]
        assert tuple(row) == min(map(tuple, sharing))


def test_repeated_rows_are_sampled_once(rng):
    """A row repeated a thousand times is no likelier to be drawn, and never drawn twice."""
    X = rng.random((30, 2))
    repeated = np.repeat(X, rng.integers(1, 1000, 30), axis=0)[::-1]
    content = _hash(X)
    assert np.array_equal(sampled_from(content, 10, [repeated]), sampled_from(content, 10, [X]))
    assert len(sampled_from(content, 100, [repeated])) == 30


@pytest.mark.parametrize("case", ["nothing + nothing", "an empty batch first", "no rows wanted"])
def test_nothing_can_be_sampled_from_nothing(rng, case):
    """Clusters send empty partitions: they draw nothing and change nothing."""
    X = rng.random((9, 2))
    content = _hash(X)
    nothing = RowSample.empty(3, 2)
    if case == "nothing + nothing":
        assert _same_draw(nothing + nothing, nothing)
    elif case == "an empty batch first":
        expected = sampled_from(content, 3, [X])
        assert np.array_equal(sampled_from(content, 3, [X[:0], X]), expected)
    else:
        assert sampled_from(content, 0, [X]).shape == (0, 2)
