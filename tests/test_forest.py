"""A forest is a sum over its rows, and its leaves, curves and sets are what they claim to be."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from laws import assert_same_decisions, assert_same_machine
from scipy.optimize import minimize
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from extreme_entropy import (
    EEKMClassifier,
    ExtremeEntropyClassifier,
    gmean_score,
    load,
    persistence,
)
from extreme_entropy.drawing.growing import ForestSpec
from extreme_entropy.drawing.settings import DRAWING, HeldSettings
from extreme_entropy.errors import (
    DegenerateWarning,
    FewRowsWarning,
    FileFormatError,
    ForgetError,
    InputError,
    MergeError,
)
from extreme_entropy.estimators.saving import pack
from extreme_entropy.features.content import first_of
from extreme_entropy.features.feature_map import Tree, same
from extreme_entropy.machine.calibration import CALIBRATION, HeldOdds, fit_slopes
from extreme_entropy.machine.decision import GaussianPair
from extreme_entropy.machine.explanation import visits_of

SIZES = {"one leaf": 1, "five leaves": 5}
every_size = pytest.mark.parametrize("n_leaves", SIZES.values(), ids=SIZES)
few_and_many = pytest.mark.parametrize("n_classes", [2, 3])


def new(n_leaves=5, **parameters):
    return ExtremeEntropyClassifier(n_leaves=n_leaves, n_landmarks=20, random_state=3, **parameters)


def table(n_classes=2, n=900, seed=5):
    """Classes that differ in another way on either side of a column, with zeros among the rest."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = np.where(X[:, 0] > 0, X[:, 1], -X[:, 2]) + 0.4 * rng.normal(size=n)
    y = np.digitize(score, [0.4, 1.0][: n_classes - 1])
    X[:, 3] *= rng.random(n) < 0.4
    return X, y


def parts_of(n, k=4):
    """Uneven batches that follow no order of the rows."""
    return np.array_split(np.random.default_rng(k).permutation(n), [n // 2, n // 2 + 70, n - 200])


# -------------------------------------------------------------------- equal to one fit


@every_size
@few_and_many
def test_batches_equal_one_fit(n_leaves, n_classes):
    """After any partial_fits the classifier is that of one fit on all rows with its forest."""
    X, y = table(n_classes)
    ours = new(n_leaves)
    for rows in parts_of(len(y)):
        ours.partial_fit(X[rows], y[rows], classes=range(n_classes))
    assert_same_machine(ours, ours.twin().fit(X, y), X)


@every_size
@few_and_many
def test_merging_and_forgetting_equal_one_fit(n_leaves, n_classes):
    """Twins fitted apart and merged, less rows forgotten, are the classifier of what is left."""
    X, y = table(n_classes)
    first, *others = parts_of(len(y))
    drawn = new(n_leaves).fit(X[first], y[first])
    added = drawn
    for rows in others:
        added = added + drawn.twin().fit(X[rows], y[rows])
    assert_same_machine(added, drawn.twin().fit(X, y), X)
    gone = others[-1]
    added.forget(X[gone], y[gone])
    left = np.concatenate([first, *others[:-1]])
    assert_same_machine(added, drawn.twin().fit(X[left], y[left]), X)


@every_size
def test_weights_count_as_repetition(n_leaves):
    """A weight of 2 is the row twice, for the tree as for the sums."""
    X, y = table()
    weight = np.random.default_rng(1).choice([1, 2, 3], len(y))
    again = np.repeat(np.arange(len(y)), weight)
    ours = new(n_leaves).fit(X, y, sample_weight=weight)
    assert_same_decisions(ours, new(n_leaves).fit(X[again], y[again]), X)


@every_size
def test_the_order_of_rows_threads_and_storage_change_nothing(n_leaves):
    """Any number of threads gives the same bits; sparse and shuffled rows the same classifier."""
    X, y = table()
    one = new(n_leaves).fit(X, y)
    two = new(n_leaves, n_jobs=2).fit(X, y)
    assert same(one.feature_map_, two.feature_map_)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    order = np.random.default_rng(0).permutation(len(y))
    for other in (new(n_leaves).fit(X[order], y[order]), new(n_leaves).fit(sp.csr_array(X), y)):
        assert_same_machine(other, one, X)
    np.testing.assert_allclose(one.predict_proba(sp.csr_array(X)), one.predict_proba(X), atol=1e-9)


@every_size
@few_and_many
def test_a_saved_forest_comes_back_to_the_last_bit(n_leaves, n_classes, tmp_path):
    X, y = table(n_classes)
    fitted = new(n_leaves).fit(X, y)
    fitted.save(tmp_path / "a.eem")
    for other in (load(tmp_path / "a.eem"), pickle.loads(pickle.dumps(fitted))):  # noqa: S301
        np.testing.assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))
        np.testing.assert_array_equal(other.predict_set(X), fitted.predict_set(X))
        other.partial_fit(X[:50], y[:50])
        more = fitted.twin().fit(X[:50], y[:50])
        expected = copy.copy(fitted).merge(more, force=True)
        np.testing.assert_array_equal(other.predict_proba(X), expected.predict_proba(X))


@every_size
def test_batches_of_any_size_with_a_checkpoint_give_the_same_bits(n_leaves, tmp_path):
    """A fit over batches that was stopped ends with the bits of one that was not."""
    X, y = table(n=2000)

    def batches(stop=None):
        for i, start in enumerate(range(0, 2000, 100)):
            if i == stop:
                raise KeyboardInterrupt
            yield X[start : start + 100], y[start : start + 100]

    whole = new(n_leaves).fit_batches(batches())
    stopped = new(n_leaves)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit_batches(batches(15), checkpoint=tmp_path / "c", every=5)
    stopped.fit_batches(batches(), checkpoint=tmp_path / "c", every=5)
    np.testing.assert_array_equal(stopped.predict_proba(X), whole.predict_proba(X))


def test_what_does_not_fit_is_refused():
    X, y = table()
    a, b = new().fit(X, y), new().set_params(random_state=4).fit(X, y)
    with pytest.raises(MergeError, match="share"):
        a.merge(b)
    with pytest.raises(ForgetError):
        a.forget(np.concatenate([X, X]), np.concatenate([y, y]))
    for coverage in (0, 1, 95, "0.9", True):
        with pytest.raises(InputError, match="between 0 and 1"):
            a.predict_set(X, coverage)


def test_rows_forgotten_twice_are_refused_though_other_leaves_have_enough():
    """Counts of every leaf are kept apart, and nothing changes."""
    X, y = table()
    classifier = new(4).fit(X, y)
    at = classifier.feature_map_.leaves_of(X)[-1]
    own = at == at.min()
    classifier.forget(X[own], y[own])
    before = classifier.summary_
    with pytest.raises(ForgetError):
        classifier.forget(X[own], y[own])
    assert classifier.summary_ is before


@pytest.mark.parametrize("n_leaves", [1, 4])
def test_warnings_do_not_depend_on_cuts(n_leaves):
    """A class of one row is named, whether the table is cut or not."""
    X, y = table()
    X, y = np.vstack([X, X[:1] + 0.1]), np.append(y, 9)
    with pytest.warns(FewRowsWarning, match=r"\[9\] has one row"):
        new(n_leaves).fit(X, y)


def test_weights_that_sum_to_little_switch_no_model_off():
    """A class has all its rows in a table that is not cut, whatever rounding takes away."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(60, 3))
        at = rng.integers(0, 60, 20000)
        X, y = rows[at], (rows[:, 0] > 0).astype(int)[at]
        weight = rng.random(20000) / 20000 * 4
        classifier = new(1, n_jobs=2).fit(X, y, sample_weight=weight)
        assert all(len(leaf.columns) for leaf in classifier.machine_.leaves)


def test_many_classes_are_held_out_in_bounded_memory():
    """Fewer rows of each class are kept where there are many pairs of classes."""

    class Small(ExtremeEntropyClassifier):
        settings = replace(DRAWING, held=HeldSettings(numbers=7**3 * 10, fewest=5))

    rng = np.random.default_rng(0)
    y = np.arange(560) % 7
    X = rng.normal(size=(560, 3)) + y[:, None]
    classifier = Small(n_leaves=1, n_landmarks=20, random_state=3).fit(X, y)
    assert set(np.bincount(classifier.feature_map_.held.labels)) == {2 * 7**3 * 10 // (49 * 6)}
    assert classifier.score(X, y) > 0.3


# -------------------------------------------------------------------- trees


def walk(tree, z):
    """The leaf of one row, node by node."""
    node = 0 if len(tree.columns) else -1
    while node >= 0:
        node = tree.children[node, int(z[tree.columns[node]] > tree.thresholds[node])]
    return -1 - node


def test_a_tree_sends_each_row_to_its_leaf(rng):
    """All rows at once as one by one, on thresholds too; a tree without nodes has one leaf."""
    X, y = table()
    tree = new().fit(X, y).feature_map_.trees[-1]
    Z = rng.random((300, 5))
    for j, threshold in zip(tree.columns, tree.thresholds, strict=True):
        Z[rng.random(300) < 0.1, j] = threshold
    assert tree.n_leaves > 2
    np.testing.assert_array_equal(tree(Z), [walk(tree, z) for z in Z])
    assert not Tree.uncut()(Z).any()


def test_leaves_follow_the_structure_of_the_table():
    """Where two halves of a table have different rules, the column between them is cut."""
    X, y = table(n=4000)
    cut = new(4).fit(X, y).feature_map_.trees[-1]
    assert 0 in cut.columns


def test_more_leaves_learn_more_of_a_table_with_local_structure():
    """A checkerboard of many fields, of which twenty landmarks see little."""
    rng = np.random.default_rng(0)
    X = rng.random((20000, 4))
    y = ((np.floor(4 * X[:, 0]) + np.floor(4 * X[:, 1])) % 2).astype(int)
    scores = []
    for n_leaves in (1, 16):
        classifier = new(n_leaves).fit(X[:15000], y[:15000])
        scores.append(gmean_score(y[15000:], classifier.predict(X[15000:])))
    assert scores[1] > scores[0] + 0.1


def test_the_number_of_leaves_follows_from_rows_and_memory():
    """One for each so many rows, but never more than their sums have room for."""
    spec = ForestSpec(500, "auto")
    leaves = [spec.size(10.0**k, 2).leaves for k in range(2, 10)]
    assert leaves[:2] == [1, 1]
    assert leaves == sorted(leaves)
    assert leaves[3] > 20
    assert leaves[-1] == leaves[-2]
    assert (leaves[-1] + 1) * 2 * 5 * 500**2 * 8 <= 2**29
    assert spec.size(1e9, 20).leaves < leaves[-1]
    assert ForestSpec(500, 7).size(100, 2).leaves == 7
    few, many = (ForestSpec(400, k).size(10_000, 2).very_many for k in (4, 32))
    assert (few, many) == (False, True)


def test_rows_sampled_at_once_are_those_with_the_smallest_hashes(rng):
    """However often hashes repeat."""
    for repeats in (1, 50, 5000):
        hashes = rng.integers(0, 20000 // repeats, 20000).astype(np.uint64)
        for k in (0, 1, 30, 10**6):
            distinct = np.unique(hashes)[:k]
            np.testing.assert_array_equal(
                first_of(hashes, k), np.flatnonzero(np.isin(hashes, distinct))
            )


# -------------------------------------------------------------------- what leaves answer


def log_ratio(t, means, variances):
    """ln N(m₊,S₊)[t] − ln N(m₋,S₋)[t], from the densities."""
    from scipy.stats import norm

    low, high = (norm.logpdf(t, m, np.sqrt(s)) for m, s in zip(means, variances, strict=True))
    return high - low


@every_size
def test_projections_are_log_odds_of_leaves_averaged(n_leaves):
    """Row by row: φ, operator and Gaussians of its leaf in each tree, and its counts."""
    X, y = table()
    classifier = new(n_leaves).fit(X, y)
    forest, machine = classifier.feature_map_, classifier.machine_
    n = np.bincount(y)
    at = forest.leaves_of(X)
    counts = [np.bincount(y[tree == i], minlength=2) for tree in at for i in np.unique(tree)]
    np.testing.assert_array_equal(classifier.summary_.cells.sum(axis=2), counts)
    expected = np.zeros(len(X))
    for row in range(0, len(X), 7):
        for leaves, (share,) in zip(at, machine.shares, strict=True):
            i = leaves[row]
            leaf, own = machine.leaves[i], classifier.summary_.cells[i].sum(axis=1)
            smoothed = own + CALIBRATION.smoothing * n / n.sum()
            odds = np.log(smoothed[1] / smoothed[0]) - np.log(n[1] / n[0])
            if len(leaf.columns):
                t = forest.leaves[i](forest.scaled(X[[row]])) @ leaf.operators[0]
                pair = leaf.curves[0]
                odds += log_ratio(t[0], pair.means, pair.variances)
            expected[row] += share * odds
    np.testing.assert_allclose(classifier.project(X)[::7], expected[::7], atol=1e-8)


def test_classes_whose_rows_are_all_alike_tie_exactly():
    """A leaf that holds all rows shifts no odds, so that no label is decided by rounding."""
    X, y = np.full((56, 1), 7.0), np.repeat([0, 1, 2], [2, 28, 26])
    with pytest.warns(DegenerateWarning):
        classifier = ExtremeEntropyClassifier(n_landmarks=8, random_state=0).fit(X, y)
    assert all(not leaf.shifts.any() for leaf in classifier.machine_.leaves)
    with pytest.warns(DegenerateWarning):
        weighted = classifier.twin().fit(X, y, np.full(56, 1 / 56))
    np.testing.assert_array_equal(weighted.predict(X), classifier.predict(X))


def test_a_leaf_without_a_class_answers_from_smoothed_counts():
    """Odds there are finite, and speak against the class that is missing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = ((X[:, 0] > 0) & (X[:, 1] + 0.5 * rng.normal(size=3000) > 0)).astype(int)
    classifier = new(6).fit(X, y)
    *others, at = classifier.feature_map_.leaves_of(X)
    emptied = len(others) + np.bincount(at[y == 1])[len(others) :].argmin()
    gone = (at == emptied) & (y == 1)
    assert gone.sum() > 10
    classifier.forget(X[gone], y[gone])
    leaf = classifier.machine_.leaves[emptied]
    assert not len(leaf.columns)
    rows, share = (at == emptied) & ~gone, y[~gone].mean()
    smoothed = CALIBRATION.smoothing * share / (rows.sum() + CALIBRATION.smoothing * (1 - share))
    expected = np.log(smoothed) - np.log(share / (1 - share))
    np.testing.assert_allclose(leaf.projections(np.empty((3, 0))), expected)
    assert np.isfinite(classifier.decision_function(X)).all()
    assert rows.any()


# -------------------------------------------------------------------- the curve


def odds_of(values, counts=None, total=None):
    """ℓ of rows in each tree, how often each came, and how many rows there are in all."""
    counts = np.ones(len(values)) if counts is None else counts
    return HeldOdds(values, counts, float(len(values) if total is None else total))


def test_slopes_are_those_of_a_logistic_regression(rng):
    """With many rows the prior counts for little, and scikit-learn finds the same slopes."""
    negative, positive = rng.normal(-1, 2, (40000, 2)), rng.normal(1, 1.5, (40000, 2))
    labels, x = np.repeat([0, 1], 40000), np.concatenate([negative, positive])
    theirs = LogisticRegression(C=np.inf, fit_intercept=False).fit(x, labels).coef_[0]
    given = odds_of(negative), odds_of(positive)
    np.testing.assert_allclose(fit_slopes(*given, free=True), theirs, rtol=1e-3)
    mean = x.mean(axis=1, keepdims=True)
    theirs = LogisticRegression(C=np.inf, fit_intercept=False).fit(mean, labels).coef_[0, 0]
    np.testing.assert_allclose(fit_slopes(*given, free=False), theirs / 2, rtol=1e-3)


@pytest.mark.parametrize("free", [True, False])
def test_slopes_minimise_their_penalised_loss(rng, free):
    """By a general minimiser: few rows, with counts and classes of unequal size."""
    negative, positive = rng.normal(-1, 1, (12, 2)), rng.normal(1, 3, (7, 2))
    counts = rng.integers(1, 4, 12).astype(float), rng.integers(1, 4, 7).astype(float)
    found = fit_slopes(
        odds_of(negative, counts[0], 900), odds_of(positive, counts[1], 100), free=free
    )

    def loss(slopes):
        slopes = slopes if free else np.repeat(slopes / 2, 2)
        share = np.array([3, 1]) / 4  # √900 and √100
        weight = [19 * s * part / part.sum() for s, part in zip(share, counts, strict=True)]
        t = [part @ slopes - np.log(3) for part in (negative, positive)]
        fit = weight[0] @ np.logaddexp(0, t[0]) + weight[1] @ np.logaddexp(0, -t[1])
        prior = slopes - 0.5 if free else slopes.sum() - 1
        return fit + CALIBRATION.precision / 2 * np.square(prior).sum()

    best = minimize(loss, np.full(2 if free else 1, 0.5), tol=1e-12).x
    np.testing.assert_allclose(found, best if free else np.repeat(best / 2, 2), atol=1e-5)


def test_slopes_are_never_negative(rng):
    """A tree that misleads is left out, and the other gets the slope it has alone."""
    good = rng.normal(-1, 1, (500, 1)), rng.normal(1, 1, (500, 1))
    both = [np.hstack([part, -0.3 * part + rng.normal(0, 1, part.shape)]) for part in good]
    slopes = fit_slopes(*map(odds_of, both), free=True)
    assert slopes[1] == 0
    assert slopes[0] == pytest.approx(fit_slopes(*map(odds_of, good), free=True)[0], abs=0.02)


def test_without_rows_odds_stay_as_they_are():
    """And one row of each class hardly moves them."""
    nothing = odds_of(np.empty((0, 2)))
    np.testing.assert_array_equal(fit_slopes(nothing, nothing, free=True), [0.5, 0.5])
    one = odds_of(np.array([[2.0]])), odds_of(np.array([[-2.0]]))
    assert 0.6 < fit_slopes(*one, free=False)[0] < 1


def test_the_curve_changes_no_label_at_equal_priors():
    """It passes through zero: what is decided there are the log-odds of the leaves alone."""
    X, y = table()
    for n_leaves in SIZES.values():
        classifier = new(n_leaves).fit(X, y)
        assert classifier.thresholds_ == pytest.approx(0, abs=1e-12)
        np.testing.assert_array_equal(classifier.predict(X) == 1, classifier.project(X) > 0)


def test_a_straight_curve_is_exact_however_far_odds_reach():
    """Squares would cancel where odds are small beside the variance of all."""
    pair = GaussianPair((-1e12, 1e12), (1e22, 1e22))
    t = np.array([-1e4, -1.0, 0.0, 3.0, 1e11])
    np.testing.assert_allclose(pair.log_ratio(t), 2e-10 * t, rtol=1e-14)
    np.testing.assert_allclose(pair.slope(t), 2e-10, rtol=1e-14)
    near = GaussianPair((-1.0, 1.0), (2.0, 2.0 + 1e-13))
    np.testing.assert_allclose(near.log_ratio(t[:4] / 1e3), t[:4] / 1e3, atol=1e-9)


@pytest.mark.parametrize("seed", [105, 7, 31, 90])
def test_tables_of_few_distinct_rows_keep_their_labels(seed):
    """Odds are huge there, and the sign of the decision is that of the projection."""
    rng = np.random.default_rng(seed)
    distinct = rng.integers(0, 3, size=(4, 2)).astype(float)
    at = np.concatenate([np.arange(4), rng.integers(0, 4, 60)])
    X, y = distinct[at], np.array([1, 0, 0, 1])[at]
    classifier = ExtremeEntropyClassifier(n_leaves=1, n_landmarks=8, random_state=seed).fit(X, y)
    np.testing.assert_array_equal(classifier.predict(X) == 1, classifier.project(X) > 0)


def test_thresholds_priors_and_costs_are_exact():
    """The decision changes at the threshold, whatever priors and costs are."""
    X, y = table()
    classifier = new().fit(X, y)
    for other in (
        classifier,
        classifier.with_costs({1: 7.0}),
        classifier.with_costs(priors="empirical"),
    ):
        (threshold,) = other.thresholds_
        np.testing.assert_array_equal(other.predict(X) == 1, other.project(X) > threshold)
    equal, real = classifier.predict_proba(X), classifier.with_costs(priors="empirical")
    odds = np.log(real.predict_proba(X)[:, 1] / real.predict_proba(X)[:, 0])
    shift = np.log(y.mean() / (1 - y.mean()))
    np.testing.assert_allclose(odds, np.log(equal[:, 1] / equal[:, 0]) + shift, atol=1e-9)


def test_probabilities_are_calibrated_with_empirical_priors():
    """Heavy tails, on which two Gaussians are far off, do not make them overconfident."""
    rng = np.random.default_rng(0)
    n = 20000
    y = (rng.random(n) < 0.2).astype(int)
    X = rng.standard_t(2, size=(n, 3)) + y[:, None] * 1.2
    learnt, rest = slice(0, 6000), slice(6000, None)
    classifier = ExtremeEntropyClassifier(n_landmarks=60, priors="empirical", random_state=0)
    p = classifier.fit(X[learnt], y[learnt]).predict_proba(X[rest])[:, 1]
    order = np.argsort(p)
    for own in np.array_split(order, 8):
        assert abs(p[own].mean() - y[rest][own].mean()) < 0.04


# -------------------------------------------------------------------- sets


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sets_hold_the_class_as_often_as_promised(n_classes):
    """For each class separately, a rare one among them, on new rows."""
    X, y = make_classification(
        30000,
        6,
        n_informative=4,
        n_redundant=0,
        n_classes=n_classes,
        weights=[0.7, 0.25][: n_classes - 1],
        flip_y=0.15,
        class_sep=0.7,
        random_state=0,
    )
    classifier = ExtremeEntropyClassifier(n_landmarks=50, random_state=0).fit(X[:8000], y[:8000])
    for coverage in (0.8, 0.95):
        sets = classifier.predict_set(X[8000:], coverage)
        for c in range(n_classes):
            own = y[8000:] == c
            held = len(classifier.machine_.held_out[c])
            error = 3 * np.sqrt(coverage * (1 - coverage) * (1 / own.sum() + 1 / held))
            assert abs(sets[own, c].mean() - coverage) < error + 0.01
        assert sets.sum(axis=1).mean() < n_classes - 0.3


def test_rows_that_come_often_are_counted_as_often():
    """One row in a third of the table: sets hold still, which a sample of distinct rows misses."""
    rng = np.random.default_rng(2)
    y = (rng.random(9000) < 0.3).astype(int)
    X = rng.normal(size=(9000, 3)) + y[:, None]
    X[(rng.random(9000) < 0.5) & (y == 0)] = [0.2, -0.1, 0.3]
    classifier = ExtremeEntropyClassifier(n_landmarks=40, random_state=0).fit(X[:6000], y[:6000])
    sets = classifier.predict_set(X[6000:], 0.8)
    assert sets[y[6000:] == 0, 0].mean() > 0.77


def test_a_class_with_few_rows_is_never_ruled_out():
    """Ten rows cannot show what happens once in twenty."""
    X, y = table(n=400)
    rare = np.flatnonzero(y == 1)[:10]
    rows = np.concatenate([np.flatnonzero(y == 0), rare])
    sets = new(1).fit(X[rows], y[rows]).predict_set(X, 0.95)
    assert sets[:, 1].all()
    weight = np.where(y[rows] == 1, 100.0, 1.0)  # the same ten rows, however often they come
    sets = new(1).fit(X[rows], y[rows], sample_weight=weight).predict_set(X, 0.95)
    assert sets[:, 1].all()


# -------------------------------------------------------------------- explanations


@every_size
@few_and_many
def test_contributions_add_up_to_the_score(n_leaves, n_classes):
    """Across leaves: the sum is the decision less that of the typical row, for every row."""
    X, y = table(n_classes)
    classifier = new(n_leaves).fit(X, y)
    rows = X[:40]
    contributions = classifier.explain(rows)
    typical = classifier.feature_map_.encoding.typical[None]
    expected = classifier.decision_function(rows) - classifier.decision_function(typical)
    np.testing.assert_allclose(contributions.sum(axis=-1), expected, atol=1e-8)


def test_a_jump_between_leaves_belongs_to_the_column_that_is_cut():
    """A row that differs in one column only owes all to that column."""
    X, y = table(n=3000)
    classifier = new(6).fit(X, y)
    typical = classifier.feature_map_.encoding.typical
    for column in range(5):
        row = typical.copy()
        row[column] = X[:, column].max()
        (found,) = classifier.explain(row[None])
        assert abs(np.delete(found, column)).max() < 1e-9


def test_visits_are_the_leaves_along_the_way():
    """In order, and as walking in small steps finds them."""
    X, y = table(n=3000)
    forest = new(6).fit(X, y).feature_map_
    tree, typical = forest.trees[-1], forest.typical
    line = forest.scaled(X[:30]) - typical
    leaves, edges, _ = visits_of(tree, typical, line)
    for t in np.linspace(0.001, 0.999, 200):
        k = (edges[:, 1:] >= t).argmax(axis=1)
        near = abs(edges - t).min(axis=1) < 1e-9
        expected = tree(typical + t * line)
        found = leaves[np.arange(30), k]
        assert ((found == expected) | near).all()


def test_importances_name_the_columns_that_matter():
    """Columns of noise get little, whether the table is cut or not."""
    X, y = table(n=4000)
    X = np.column_stack([X, np.random.default_rng(1).normal(size=(len(X), 4))])
    for n_leaves in SIZES.values():
        importances = new(n_leaves).fit(X, y).feature_importances_
        assert importances.sum() == pytest.approx(1)
        assert set(np.argsort(importances)[-3:]) == {0, 1, 2}


def test_what_belongs_to_leaves_is_said_to():
    X, y = table()
    classifier = new().fit(X, y)
    for name in ("beta_", "shrinkage_", "ridge_"):
        assert not hasattr(classifier, name)
        with pytest.raises(AttributeError, match="each leaf has"):
            getattr(classifier, name)


@pytest.mark.parametrize(
    "change",
    [
        {"children": np.array([[0, 0]])},
        {"children": np.array([[-1, -5]])},
        {"columns": np.array([7])},
        {"thresholds": np.empty(0)},
    ],
    ids=["itself", "no leaf", "no column", "no threshold"],
)
def test_a_tree_that_is_none_is_not_loaded(change, tmp_path):
    """A file whose checksum is right cannot make a prediction run for ever."""
    X, y = table()
    classifier = new(2).fit(X, y)
    trees = classifier.feature_map_.trees
    assert trees[-1].n_leaves == 2
    values, arrays = pack(classifier)
    for name, array in change.items():
        arrays[f"feature_map_.trees.{len(trees) - 1}.{name}"] = array
    persistence.write(tmp_path / "a.eem", values, arrays)
    with pytest.raises(FileFormatError, match="does not understand"):
        load(tmp_path / "a.eem")


def test_shares_of_another_shape_are_not_loaded(tmp_path):
    X, y = table()
    values, arrays = pack(new(2).fit(X, y))
    arrays["machine.shares"] = np.ones((1, 1))
    persistence.write(tmp_path / "a.eem", values, arrays)
    with pytest.raises(FileFormatError, match="does not understand"):
        load(tmp_path / "a.eem")


# -------------------------------------------------------------------- beside one machine


def test_a_small_table_is_learnt_at_least_as_well_as_by_one_machine():
    """On a table of few rows, averaged over splits."""
    X, y = make_classification(600, 12, n_informative=5, weights=[0.85], random_state=4)
    ours, theirs = [], []
    for k in range(3):
        rows = np.random.default_rng(k).permutation(600)
        learnt, rest = rows[:400], rows[400:]
        for scores, classifier in (
            (ours, ExtremeEntropyClassifier(n_landmarks=200, random_state=0)),
            (theirs, EEKMClassifier(200, random_state=0)),
        ):
            classifier.fit(X[learnt], y[learnt])
            scores.append(gmean_score(y[rest], classifier.predict(X[rest])))
    assert np.mean(ours) > np.mean(theirs) - 0.01
