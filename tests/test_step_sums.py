"""Sums of a Newton step are those of their definition, row by row, however they were added up."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from laws import arrays_in
from scipy.special import softmax
from sklearn.datasets import make_classification

from extreme_entropy import ExtremeEntropyClassifier
from extreme_entropy.columns.encoding import plain_encoding
from extreme_entropy.columns.statistics import N_FOLDS
from extreme_entropy.drawing.sampling import Columns
from extreme_entropy.errors import ForcedWarning, ForgetError
from extreme_entropy.estimators.tables import InMemory
from extreme_entropy.features.content import ContentHash, folds_of
from extreme_entropy.features.feature_map import FeatureMap, HeldRows, Tree, same
from extreme_entropy.features.layers import Features, Part
from extreme_entropy.features.neurons import Custom
from extreme_entropy.features.scaling import Identity
from extreme_entropy.moments import step_sums as step_sums_module
from extreme_entropy.moments.logistic import (
    log_losses,
    probabilities,
    targets_of,
    weights_of,
)
from extreme_entropy.moments.step_sums import StepSums

few_and_many = pytest.mark.parametrize("n_classes", [2, 4])
D = 3
INSIDE = Tree(np.array([0]), np.array([0.0]), np.array([[-1, -2]]))  # z_0 ≤ 0, and z_0 > 0


def features_of(width, shift):
    """tanh of a few directions."""
    rng = np.random.default_rng(width)
    layer = Custom(_tanh, rng.normal(size=(width, D)), rng.normal(size=width) + shift)
    return Features((Part(layer),))


def _tanh(Z, weights, biases):
    return np.tanh(Z @ weights.T + biases)


def map_of(leaves, n_classes, seed=0):
    """φ on rows as they are, with pilots that are nowhere near anything."""
    rng = np.random.default_rng(seed)
    outputs = 1 if n_classes == 2 else n_classes
    return FeatureMap(
        ContentHash.between(0, np.full(D, -5.0), np.full(D, 5.0)),
        plain_encoding(D),
        Identity(D),
        INSIDE if len(leaves) == 2 else Tree.uncut(),
        tuple(leaves),
        HeldRows.none(D),
        pilots=tuple(rng.normal(size=(leaf.h + 1, outputs)) for leaf in leaves),
    )


@pytest.fixture
def table(rng):
    X = rng.normal(size=(500, D))
    X[:, 2] *= rng.random(500) < 0.3
    return X, rng.integers(0, 4, 500), rng.choice([0.25, 1.0, 3.0], 500)


def summed(phi, X, y, weight=None, *, n_classes, n_folds=N_FOLDS, n_jobs=1):
    rows = InMemory(Columns(D, None), X, y, weight, n_jobs)
    return rows.learn(phi, np.arange(n_classes), n_folds)


def by_definition(phi, X, y, weight, n_classes, n_folds):
    """G, b and counts, one row after another, of each leaf."""
    outputs = 1 if n_classes == 2 else n_classes
    found = []
    for features in phi.leaves:
        size = features.h + 1
        found.append(
            (
                np.zeros((n_folds, size, size)),
                np.zeros((n_folds, size, outputs)),
                np.zeros((n_classes, n_folds)),
            )
        )
    folds = folds_of(phi.content(X), n_folds)
    for x, c, k, n in zip(X, y, folds, weight, strict=True):
        leaf = int(x[0] > 0) if len(phi.leaves) == 2 else 0
        gram, target, counts = found[leaf]
        row = np.append(phi.leaves[leaf](x[np.newaxis])[0], 1.0)
        odds = row @ phi.pilots[leaf]
        if n_classes == 2:
            p, label = 1 / (1 + np.exp(-odds)), np.array([float(c == 1)])
            w = float(p[0] * (1 - p[0]))
        else:
            p, label = np.exp(odds) / np.exp(odds).sum(), np.eye(n_classes)[c]
            w = min(float(sum(p[j] * (1 - p[j]) for j in range(n_classes))), float(p.max()))
        gram[k] += n * w * np.outer(row, row)
        target[k] += n * np.outer(row, w * odds + label - p)
        counts[c, k] += n
    return found


# -------------------------------------------------------------------- the definition


@few_and_many
@pytest.mark.parametrize("widths", [(6,), (4, 7)], ids=["one leaf", "two leaves"])
@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
@pytest.mark.parametrize("n_folds", [1, N_FOLDS])
def test_sums_are_those_of_their_definition(table, n_classes, widths, weighted, n_folds):
    """G = Σ n w φ̃φ̃ᵀ and b = Σ n φ̃ (w f₀ + y − p), in each leaf and fold."""
    X, y, weight = table
    y, weight = y % n_classes, weight if weighted else np.ones(len(y))
    phi = map_of([features_of(h, h / 10) for h in widths], n_classes)
    given_weight = weight if weighted else None
    summary = summed(phi, X, y, given_weight, n_classes=n_classes, n_folds=n_folds)
    expected = by_definition(phi, X, y, weight, n_classes, n_folds)
    for ours, (gram, target, counts) in zip(summary.leaves, expected, strict=True):
        np.testing.assert_allclose(ours.gram, gram, atol=1e-12 * np.trace(gram.sum(axis=0)))
        np.testing.assert_allclose(ours.target, target, atol=1e-12 * abs(target).max())
        np.testing.assert_allclose(ours.counts, counts, rtol=1e-14)
        np.testing.assert_array_equal(ours.gram, ours.gram.swapaxes(1, 2))
    squares = np.bincount(y, weight * np.minimum(weight, 1), n_classes)
    total = sum(leaf.squares for leaf in summary.leaves)
    np.testing.assert_allclose(total, squares, rtol=1e-14)


@few_and_many
def test_b_is_g_times_the_pilot_and_the_gradient(table, n_classes):
    """b = Gθ₀ + Σ φ̃(y − p), so that a pilot at the optimum stays where it is."""
    X, y, _ = table
    phi = map_of([features_of(5, 0)], n_classes)
    [sums] = summed(phi, X, y % n_classes, n_classes=n_classes, n_folds=1).leaves
    H = np.column_stack([phi(X), np.ones(len(X))])
    odds = H @ phi.pilots[0]
    p = 1 / (1 + np.exp(-odds)) if n_classes == 2 else softmax(odds, axis=1)
    gradient = H.T @ (targets_of(y % n_classes, n_classes) - p)
    np.testing.assert_allclose(sums.target[0], sums.gram[0] @ phi.pilots[0] + gradient, rtol=1e-10)


@few_and_many
def test_weights_and_losses_are_those_of_the_log_odds(n_classes, rng):
    """The loss is −ln p, and w bounds its curvature −∂² ln p by the trace and by the largest p."""
    odds = rng.normal(size=(20, 1 if n_classes == 2 else n_classes))
    y = rng.integers(0, n_classes, 20)
    targets = targets_of(y, n_classes)
    outputs, step = np.eye(odds.shape[1]), 1e-3
    curvature = np.empty((20, len(outputs), len(outputs)))
    for (c, one), (d, other) in product(enumerate(outputs), repeat=2):
        ends = [
            s * t * log_losses(odds + step * (s * one + t * other), targets)
            for s, t in product((-1, 1), repeat=2)
        ]
        curvature[:, c, d] = sum(ends) / (4 * step**2)
    w, p = weights_of(probabilities(odds)), probabilities(odds)
    trace = np.trace(curvature, axis1=1, axis2=2)
    expected = trace if n_classes == 2 else np.minimum(trace, p.max(axis=1))
    np.testing.assert_allclose(w, expected, atol=1e-5)
    assert (np.linalg.eigvalsh(curvature)[:, -1] <= w + 1e-5).all()
    if n_classes > 2:  # each bound is the better one of some rows
        assert 0 < (w < trace - 1e-3).sum() < 20
    full = np.column_stack([np.zeros(20), odds]) if n_classes == 2 else odds
    p = softmax(full, axis=1)[np.arange(20), y]
    np.testing.assert_allclose(log_losses(odds, targets), -np.log(p), rtol=1e-12)


def test_two_classes_have_half_the_curvature_of_their_two_logits(table):
    """With a third class that has no probability, w is 2 p(1 − p), and b those of both logits."""
    X, y, _ = table
    features = features_of(4, 0)
    two = map_of([features], 2)
    none, constant = np.zeros(5), np.append(np.zeros(4), 1.0)
    theta = np.column_stack([none, two.pilots[0][:, 0], -1e3 * constant])
    three = replace(two, pilots=(theta,))
    [a] = summed(two, X, y % 2, n_classes=2, n_folds=1).leaves
    [b] = summed(three, X, y % 2, n_classes=3, n_folds=1).leaves
    np.testing.assert_allclose(2 * a.gram, b.gram, rtol=1e-12)
    gradient = a.target[0] - a.gram[0] @ two.pilots[0]
    np.testing.assert_allclose(
        (b.target[0] - b.gram[0] @ theta)[:, :2], gradient * [-1, 1], atol=1e-9
    )


def test_single_precision_loses_nothing_but_its_digits(table):
    X, y, weight = table
    phi = map_of([features_of(6, 0)], 2)
    X = X.astype(np.float32)
    [single] = summed(phi, X, y % 2, weight, n_classes=2).leaves
    [double] = summed(phi, X.astype(float), y % 2, weight, n_classes=2).leaves
    assert all(array.dtype == np.float64 for array in arrays_in(single))
    scale = np.trace(double.gram.sum(axis=0))
    np.testing.assert_allclose(single.gram, double.gram, atol=2e-6 * scale)
    np.testing.assert_allclose(single.target, double.target, atol=2e-6 * scale)


def test_sparse_rows_have_the_sums_of_dense_ones(table):
    X, y, _ = table
    phi = map_of([features_of(4, 0), features_of(5, 0)], 2)
    dense, sparse = (summed(phi, rows, y % 2, n_classes=2) for rows in (X, sp.csr_array(X)))
    assert all(same(a, b) for a, b in zip(dense.leaves, sparse.leaves, strict=True))


# -------------------------------------------------------------------- a commutative monoid


@st.composite
def sums(draw, parts):
    """Sums of a few rows each, made up, some of none."""
    h, n_classes = draw(st.integers(1, 3)), draw(st.sampled_from([2, 3]))
    result = []
    for _ in range(parts):
        empty = StepSums.empty(n_classes, 2, h)
        if draw(st.integers(0, 3)):
            values = st.floats(-8, 8, width=32)
            H = draw(arrays(np.float64, (2, 4, h + 1), elements=values))
            gram = H.swapaxes(1, 2) @ H
            target = draw(arrays(np.float64, empty.target.shape, elements=values))
            counts = draw(
                arrays(np.float64, empty.counts.shape, elements=st.integers(0, 5).map(float))
            )
            empty = StepSums(gram, target, counts, counts.sum(axis=1), empty.errors)
        result.append(empty)
    return result


def assert_alike(ours, theirs):
    for a, b in zip(arrays_in(ours), arrays_in(theirs), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-11)


@given(sums(3))
def test_the_order_of_adding_does_not_matter(parts):
    a, b, c = parts
    whole = (a + b) + c
    for other in (a + (b + c), (c + a) + b, c + (b + a)):
        assert_alike(other, whole)
    assert same(a + b, b + a)


@given(sums(1))
def test_sums_of_no_rows_are_the_identity(parts):
    """To the last bit, and they can be taken out, too."""
    [a] = parts
    nothing = a.emptied()
    assert same(a + nothing, a)
    assert same(nothing + a, a)
    rest = a - nothing
    left = a.counts.any(axis=0)
    np.testing.assert_array_equal(rest.gram[left], a.gram[left])
    np.testing.assert_array_equal(rest.counts, a.counts)
    assert same(nothing - nothing, nothing)


@given(sums(2))
def test_taking_out_undoes_adding(parts):
    a, b = parts
    rest = a + b - b
    left = a.counts.any(axis=0)
    np.testing.assert_allclose(rest.counts, a.counts)
    np.testing.assert_allclose(rest.gram[left], a.gram[left], atol=1e-11)
    np.testing.assert_allclose(rest.target[left], a.target[left], atol=1e-11)


@given(sums(2))
def test_nothing_is_left_of_sums_less_themselves(parts):
    """Not even rounding."""
    a, b = parts
    third = replace(a, gram=a.gram / 3, target=a.target / 3)
    assert same(a - a, a.emptied())
    assert same(third + b - third - b, a.emptied())


def test_a_light_class_is_not_taken_for_rounding_of_a_heavy_one():
    """Weights of classes may differ by any factor."""
    empty = StepSums.empty(2, 1, 1)
    counts = np.array([[1e15], [1e-3]])
    heavy = StepSums(empty.gram + 1, empty.target, counts, counts[:, 0], empty.errors)
    one = StepSums(empty.gram, empty.target, counts * [[0.5], [0.0]], counts[:, 0], empty.errors)
    assert (heavy - one).counts[1, 0] == 1e-3


# -------------------------------------------------------------------- of the classifier


def rows_of(n_classes=2, n=900, seed=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = np.where(X[:, 0] > 0, X[:, 1], -X[:, 2]) + 0.4 * rng.normal(size=n)
    return X, np.digitize(score, [0.4, 0.8, 1.2][: n_classes - 1])


def new(n_leaves=1, **parameters):
    return ExtremeEntropyClassifier(n_leaves=n_leaves, n_landmarks=20, random_state=3, **parameters)


@few_and_many
@pytest.mark.parametrize("n_leaves", [1, 4])
def test_any_number_of_threads_gives_the_same_bits(n_classes, n_leaves, monkeypatch):
    """Of rows in many tasks, too."""
    few = replace(step_sums_module.CUTS, single_rows=100)
    monkeypatch.setattr(step_sums_module, "CUTS", few)
    for dtype in (np.float64, np.float32):
        X, y = rows_of(n_classes, 5000)
        X = X.astype(dtype)
        one, two = (new(n_leaves, n_jobs=k).fit(X, y) for k in (1, 2))
        assert same(one.summary_.leaves, two.summary_.leaves)
        assert same(one.machine_, two.machine_)


@few_and_many
@pytest.mark.parametrize("n_leaves", [1, 4])
def test_what_is_forgotten_leaves_no_trace_in_sums(n_classes, n_leaves):
    """To 1e-10 of their scale, they are those of a classifier that never had the rows."""
    X, y = rows_of(n_classes)
    weight = np.random.default_rng(0).uniform(0.5, 40, len(y))
    gone = np.random.default_rng(1).random(len(y)) < 0.7
    ours = new(n_leaves).fit(X, y, sample_weight=weight)
    theirs = ours.twin().partial_fit(X[~gone], y[~gone], sample_weight=weight[~gone])
    ours.forget(X[gone], y[gone], sample_weight=weight[gone])
    for a, b in zip(ours.summary_.leaves, theirs.summary_.leaves, strict=True):
        scale = np.trace(b.gram.sum(axis=0))
        np.testing.assert_allclose(a.gram, b.gram, rtol=0, atol=1e-10 * scale)
        np.testing.assert_allclose(a.target, b.target, rtol=0, atol=1e-10 * b.counts.sum())
        np.testing.assert_allclose(a.counts, b.counts, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(a.squares, b.squares, rtol=1e-10)
    odds = theirs.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), odds, atol=1e-8 * abs(odds).max())


def test_rows_that_were_never_learnt_are_refused_or_forced():
    """And nothing changes, unless it is forced."""
    X, y = rows_of()
    classifier = new(4).fit(X, y)
    before = classifier.summary_
    for strange in ((X + 1e-3, y), (X[:5], 1 - y[:5])):
        with pytest.raises(ForgetError, match="learnt"):
            classifier.forget(*strange)
    with pytest.raises(ForgetError, match="not with that weight"):
        classifier.forget(X[:5], y[:5], sample_weight=np.full(5, 2.0))
    assert classifier.summary_ is before
    with pytest.warns(ForcedWarning):
        classifier.forget(X[:5] + 1e-3, y[:5], force=True)
    assert classifier.summary_.counts.sum() == len(y) - 5


@few_and_many
def test_weight_two_is_the_row_twice(n_classes):
    """In the pilot and the choice as in the sums, and in any order."""
    X, y = rows_of(n_classes, 400)
    weight = np.random.default_rng(1).choice([1, 2, 3], len(y))
    again = np.repeat(np.arange(len(y)), weight)
    again = np.random.default_rng(2).permutation(again)
    for n_leaves in (1, 4):
        weighted = new(n_leaves).fit(X, y, sample_weight=weight)
        repeated = new(n_leaves).fit(X[again], y[again])
        a, b = weighted.decision_function(X), repeated.decision_function(X)
        np.testing.assert_allclose(a, b, atol=1e-6 * abs(b).max())


@pytest.mark.parametrize("size", [1e-44, 1e14])
def test_weights_of_any_size_count_alike_in_single_precision(size):
    """Where single precision could not hold their squares, sums are in double."""
    X, y = make_classification(400, 5, random_state=0)
    new = ExtremeEntropyClassifier(n_landmarks=20, random_state=0)
    weight = np.full(400, size)
    X = X.astype(np.float32)
    single = new.fit(X, y, weight).predict_proba(X)
    X = X.astype(np.float64)
    np.testing.assert_allclose(single, new.fit(X, y, weight).predict_proba(X), atol=2e-3)
