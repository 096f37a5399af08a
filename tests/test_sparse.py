"""Wide sparse tables: rows stay sparse until they are multiplied; answers are as of dense ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from laws import assert_same_decisions, assert_same_machine

from extreme_entropy import ExtremeEntropyClassifier
from extreme_entropy.columns.statistics import MOST_FILLED, ColumnStats
from extreme_entropy.drawing.settings import DRAWING
from extreme_entropy.engines.threads import width_of
from extreme_entropy.features import feature_map
from extreme_entropy.features.kernels import Laplacian, Polynomial

D = DRAWING.effects.wide + 200


def words(n=700, seed=0):
    """Texts as counts of words, of which every other one belongs to a class."""
    rng = np.random.default_rng(seed)
    X = sp.random_array(
        (n, D), density=0.01, rng=rng, data_sampler=lambda size: 1 + rng.poisson(1, size)
    )
    X = X.tocsr().astype(float)
    score = X @ np.where(np.arange(D) % 2, 1.0, -1.0) + 0.5 * rng.normal(size=n)
    return X, (score > np.median(score)).astype(int)


@pytest.fixture(scope="module")
def fitted():
    return ExtremeEntropyClassifier(random_state=0).fit(*words())


def test_scaled_rows_stay_sparse_and_are_those_of_dense_ones(fitted):
    X, _ = words(seed=1)
    phi = fitted.feature_map_
    assert phi.keeps_sparse
    scaled = phi.scaled(X)
    assert sp.issparse(scaled)
    np.testing.assert_allclose(scaled.toarray(), phi.scaled(X.toarray()), atol=1e-14)
    assert width_of(X, phi.scaled) == X.nnz // X.shape[0] + 1
    assert width_of(X.toarray(), phi.scaled) == D


def test_entries_that_are_stored_twice_or_as_gaps_are_read_as_dense_ones_are(fitted):
    X, _ = words(seed=1)
    X.data[::7] = np.nan
    phi = fitted.feature_map_
    parts = np.column_stack([X.data + 3, np.full(X.nnz, -3.0)]).ravel()
    rows, columns = (np.repeat(x, 2) for x in X.tocoo().coords)
    both = sp.csr_array(X.shape)
    both.data, both.indices = parts, columns.astype(np.int32)
    both.indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=len(X.indptr) - 1)))
    for rows in (X, both, X.tocsr().astype(np.float32)):
        np.testing.assert_allclose(
            phi.scaled(rows).toarray(), phi.scaled(X.toarray()), atol=1e-6 * (rows.dtype != float)
        )


def test_a_fit_on_sparse_rows_is_that_on_dense_ones(fitted):
    X, y = words()
    dense = ExtremeEntropyClassifier(random_state=0).fit(X.toarray(), y)
    assert_same_machine(fitted, dense, X.toarray())
    new, _ = words(seed=1)
    np.testing.assert_allclose(
        fitted.predict_proba(new), dense.predict_proba(new.toarray()), atol=1e-8
    )
    for rows in (new[:1], new[:30]):  # few rows are projected at once
        np.testing.assert_allclose(
            fitted.predict_proba(rows), fitted.predict_proba(rows.toarray()), atol=1e-10
        )


def test_log_odds_are_those_of_the_features(fitted):
    """The product with landmarks and the operator on it are one product when rows are predicted."""
    X, _ = words(seed=1)
    [leaf], phi = fitted.machine_.leaves, fitted.feature_map_
    np.testing.assert_allclose(
        fitted.project(X), phi(X) @ leaf.operators[0] + leaf.constants[0], atol=1e-9
    )


def test_learning_and_predicting_make_no_dense_rows(fitted, monkeypatch):
    """Of all columns: those that the kernel sees are few."""
    X, y = words(seed=1)
    learner = fitted.twin()

    def refuse(rows):
        raise AssertionError(f"{rows.shape} were made dense")

    monkeypatch.setattr(feature_map, "dense", refuse)
    learner.partial_fit(X, y)
    learner.predict_proba(X)
    with pytest.raises(AssertionError, match="made dense"):
        learner.feature_map_.scaled(X.toarray())


def test_merging_and_forgetting_are_exact(fitted):
    X, y = words(seed=1)
    there = fitted.twin().partial_fit(X, y)
    merged = fitted.merge(there)
    assert_same_decisions(merged.forget(X, y), fitted, X)
    one_go = fitted.twin().partial_fit(*words()).partial_fit(X, y)
    assert_same_decisions(fitted.merge(there), one_go, X)


def test_the_kernel_of_a_wide_table_sees_few_columns(fitted):
    straight, kernel = fitted.feature_map_.leaves[0].parts
    assert isinstance(straight.layer, Polynomial)
    assert straight.columns is None
    assert isinstance(kernel.layer, Laplacian)
    assert 0 < len(kernel.columns) <= DRAWING.dual.wide_columns


def test_rows_below_zero_are_made_dense_and_answered_alike():
    """Zeros of such a column are not the least value, so that they are not scaled to zero."""
    X, y = words()
    X = sp.hstack([X[:, :3], X[:, [3]].toarray() - 1, X[:, 4:]], format="csr")
    classifier = ExtremeEntropyClassifier(random_state=0).fit(X, y)
    assert not classifier.feature_map_.keeps_sparse
    np.testing.assert_allclose(
        classifier.predict_proba(X), classifier.predict_proba(X.toarray()), atol=1e-10
    )


@pytest.mark.parametrize("weights", [None, "counts", "light"])
def test_statistics_of_sparse_columns_are_those_of_dense_ones(weights, rng):
    """Of columns without zeros, without entries, without values, with gaps and below zero, too."""
    n = 200
    X = rng.normal(10, 5, (n, 40)) * (rng.random((n, 40)) < 0.02)
    X[:, 1] = 1 + rng.random(n)
    X[:, 2] = 0
    X[:, 3] = np.nan
    X[::9, 4] = np.nan
    X[::7, 5] = -rng.random(29)
    weight = {"counts": rng.integers(1, 4, n).astype(float), "light": rng.random(n)}.get(weights)
    assert sp.csr_array(X).nnz < MOST_FILLED * X.size
    sparse, dense = (ColumnStats.of(rows, weight) for rows in (sp.csr_array(X), X))
    for name in ("n", "low", "high", "above", "deviation", "missing", "squares"):
        np.testing.assert_allclose(getattr(sparse, name), getattr(dense, name), atol=1e-10)
