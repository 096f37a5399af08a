"""The default is a sum over its rows; leaves, probabilities and sets are what they claim to be."""

import copy
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from laws import assert_same_decisions, assert_same_machine
from scipy.special import expit, log_softmax
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from extreme_entropy import (
    ExtremeEntropyClassifier,
    gmean_score,
    load,
    persistence,
)
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
from extreme_entropy.machine.coupling import couple
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
    """After any partial_fits the classifier is that of one fit on all rows with its leaves."""
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
def test_a_saved_classifier_comes_back_to_the_last_bit(n_leaves, n_classes, tmp_path):
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
    at = classifier.feature_map_.leaves_of(X)
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


def test_many_classes_are_held_out_in_bounded_memory():
    """Fewer rows of each class are kept where there are many classes."""

    class Small(ExtremeEntropyClassifier):
        settings = replace(DRAWING, held=HeldSettings(numbers=7**2 * 10, fewest=5))

    rng = np.random.default_rng(0)
    y = np.arange(560) % 7
    X = rng.normal(size=(560, 3)) + y[:, None]
    classifier = Small(n_leaves=1, n_landmarks=20, random_state=3).fit(X, y)
    assert set(np.bincount(classifier.feature_map_.held.labels)) == {10}
    assert classifier.score(X, y) > 0.3


# -------------------------------------------------------------------- several classes


@every_size
@pytest.mark.parametrize("priors", ["balanced", "empirical"])
def test_probabilities_of_several_classes_are_the_softmax(n_leaves, priors):
    """One log-odds for each class but the first tells the same as coupling those of all pairs."""
    X, y = table(3)
    classifier = new(n_leaves, priors=priors).fit(X, y)
    t, machine = classifier.project(X), classifier.machine_
    assert t.shape == (len(y), 2)
    logits = np.column_stack([np.zeros(len(y)), t]) + machine.log_priors
    log_p = classifier.predict_log_proba(X)
    np.testing.assert_allclose(log_p, log_softmax(logits, axis=1), atol=1e-12)
    pairs = ((0, 1), (0, 2), (1, 2))
    odds = np.column_stack([logits[:, j] - logits[:, i] for i, j in pairs])
    np.testing.assert_allclose(np.exp(couple(odds, pairs, 3)), np.exp(log_p), atol=1e-8)


def test_what_separates_any_two_of_several_classes():
    """Scores of two classes are equal where the value that separates them is at its threshold."""
    X, y = table(3)
    costs = {0: 2.0, 1: 0.5, 2: 3.0}
    classifier = new(1, priors="empirical", costs=costs).fit(X, y)
    t, scores, machine = classifier.project(X), classifier.decision_function(X), classifier.machine_
    for i, j in ((0, 1), (0, 2), (1, 2)):
        contrast = machine.contrast(i, j)
        values = t @ contrast.weights
        between = contrast.curve.log_ratio(values) + contrast.bias
        np.testing.assert_allclose(between, scores[:, j] - scores[:, i], atol=1e-9)
        (threshold,) = contrast.thresholds
        np.testing.assert_array_equal(values > threshold, scores[:, j] > scores[:, i])


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
    tree = new().fit(X, y).feature_map_.tree
    Z = rng.random((300, 5))
    for j, threshold in zip(tree.columns, tree.thresholds, strict=True):
        Z[rng.random(300) < 0.1, j] = threshold
    assert tree.n_leaves > 2
    np.testing.assert_array_equal(tree(Z), [walk(tree, z) for z in Z])
    assert not Tree.uncut()(Z).any()


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


def test_rows_sampled_at_once_are_those_with_the_smallest_hashes(rng):
    """However often hashes repeat."""
    for repeats in (1, 50, 5000):
        hashes = rng.integers(0, 20000 // repeats, 20000).astype(np.uint64)
        for k in (0, 1, 30, 10**6):
            distinct = np.unique(hashes)[:k]
            np.testing.assert_array_equal(
                first_of(hashes, k), np.flatnonzero(np.isin(hashes, distinct))
            )


# -------------------------------------------------------------------- the curve


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
    real, equal = (classifier.with_costs(priors=priors) for priors in ("empirical", "balanced"))
    for other in (classifier, classifier.with_costs({1: 7.0}), real, equal):
        (threshold,) = other.thresholds_
        np.testing.assert_array_equal(other.predict(X) == 1, other.project(X) > threshold)
    equal = equal.predict_proba(X)
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


@few_and_many
def test_contributions_are_those_of_a_fine_integral(n_classes):
    """A thousand plain steps of central differences of the scores, to a few percent."""
    X, y = table(n_classes)
    classifier = new(1).fit(X, y)
    phi, [leaf] = classifier.feature_map_, classifier.machine_.leaves
    ours, step = classifier.explain(X[:10]).reshape(10, -1, 5), 1e-6
    line, theirs = phi.scaled(X[:10]) - phi.typical, np.zeros_like(ours)
    t = (np.arange(1000) + 0.5) / 1000
    Z = (phi.typical + t[:, None, None] * line).reshape(-1, 5)

    def scores(Z):
        projections = phi.only()(Z) @ leaf.operators.T + leaf.constants
        return classifier.machine_.scores(projections).reshape(1000, 10, -1)

    for column in range(5):
        e = step * (np.arange(5) == column)
        slopes = (scores(Z + e) - scores(Z - e)).mean(axis=0) / (2 * step)
        theirs[:, :, column] = slopes * line[:, [column]]
    error = abs(ours - theirs).max(axis=(1, 2)) / abs(theirs).sum(axis=2).max(axis=1)
    assert np.median(error) < 0.005
    assert error.max() < 0.03


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
    phi = new(6).fit(X, y).feature_map_
    tree, typical = phi.tree, phi.typical
    line = phi.scaled(X[:30]) - typical
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
        with pytest.raises(AttributeError, match="the weights of each leaf are"):
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
    assert classifier.feature_map_.tree.n_leaves == 2
    values, arrays = pack(classifier)
    for name, array in change.items():
        arrays[f"feature_map_.tree.{name}"] = array
    persistence.write(tmp_path / "a.eem", values, arrays)
    with pytest.raises(FileFormatError, match="does not understand"):
        load(tmp_path / "a.eem")


def test_constants_of_another_shape_are_not_loaded(tmp_path):
    X, y = table()
    values, arrays = pack(new(2).fit(X, y))
    assert arrays["machine.leaves.1.constants"].shape == (1,)
    arrays["machine.leaves.1.constants"] = np.ones(2)
    persistence.write(tmp_path / "a.eem", values, arrays)
    with pytest.raises(FileFormatError, match="does not understand"):
        load(tmp_path / "a.eem")


# -------------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("feature_map_.pilots.0", lambda a: a[:-1]),
        ("feature_map_.pilots.0", lambda a: a * np.nan),
        ("feature_map_.pilots.0", lambda a: np.hstack([a, a])),
        ("summary_.leaves.0.gram", lambda a: a[:2]),
        ("summary_.leaves.0.gram", lambda a: a[:, :-3]),
        ("summary_.leaves.0.gram", lambda a: a * np.inf),
        ("summary_.leaves.0.target", lambda a: a[:, :-1]),
        ("summary_.leaves.0.target", lambda a: np.concatenate([a, a], axis=2)),
        ("summary_.leaves.0.counts", lambda a: a[:1]),
        ("summary_.leaves.0.counts", lambda a: -a),
        ("summary_.leaves.0.squares", lambda a: a[:1]),
        ("feature_map_.leaves.0.parts.0.layer.column", lambda a: a[::-1].copy()),
    ],
)
def test_sums_pilots_and_codes_of_another_shape_are_not_loaded(name, change, tmp_path):
    X, y = table()
    values, arrays = pack(new(1).fit(X, y))
    with np.errstate(invalid="ignore"):
        arrays[name] = change(arrays[name])
    persistence.write(tmp_path / "a.eem", values, arrays)
    with pytest.raises(FileFormatError, match="does not understand"):
        load(tmp_path / "a.eem")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sums_and_pilots_go_together(n_classes, tmp_path):
    """A file that has the one without the other is none of ours."""
    X, y = table(n_classes)
    values, arrays = pack(new(1).fit(X, y))
    fields = values["fitted"]["feature_map_"]["fields"]
    fields["pilots"] = {"tuple": []}
    del arrays["feature_map_.pilots.0"]
    persistence.write(tmp_path / "a.eem", values, arrays)
    with pytest.raises(FileFormatError, match="does not understand"):
        load(tmp_path / "a.eem")


# -------------------------------------------------------------------- odd tables


def odd_tables():
    """Name ↦ rows, labels and weights."""
    rng = np.random.default_rng(0)
    half = np.arange(100) % 2
    normal = rng.normal(size=(100, 3))
    gaps = np.where(rng.random((100, 3)) < 0.5, np.nan, normal)
    return {
        "a constant column": (np.column_stack([normal, np.ones(100)]), half, None),
        "one row in a class": (normal[:50], np.append(np.zeros(49, int), 1), None),
        "a row of each class": (np.arange(3.0)[:, np.newaxis], np.arange(3), None),
        "fewer rows than features": (rng.normal(size=(12, 4)), half[:12], None),
        "rows repeated": (np.repeat(normal[:5], 40, axis=0), np.arange(200) % 2, None),
        "one binary column": (half[:, np.newaxis] * 1.0, rng.permutation(half), None),
        "more columns than codes": (rng.normal(size=(60, 400)), half[:60], None),
        "three classes, many columns": (rng.normal(size=(60, 400)), np.arange(60) % 3, None),
        "gaps": (gaps, half, None),
        "an empty column": (np.column_stack([normal, np.full(100, np.nan)]), half, None),
        "classes far apart": (normal + 1e3 * half[:, np.newaxis], half, None),
        "heavy tails": (rng.standard_cauchy(size=(100, 3)) ** 5, half, None),
        "huge numbers": (normal * 1e150, half, None),
        "tiny numbers": (normal * 1e-280, half, None),
        "single precision": (normal.astype(np.float32), half, None),
        "sparse": (sp.random_array((100, 50), density=0.05, rng=rng).tocsr(), half, None),
        "thirty classes": (rng.normal(size=(300, 3)), np.arange(300) % 30, None),
        "one heavy row": (normal, half, np.append(1e15, np.ones(99))),
        "light rows": (normal, half, rng.random(100) * 1e-12),
    }


@pytest.mark.parametrize("name", odd_tables())
@pytest.mark.filterwarnings("ignore::extreme_entropy.errors.FewRowsWarning")
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_all_answers_are_numbers_whatever_the_table(name):
    """Never NaN, and probabilities sum to one; on rows far from those learnt, too."""
    X, y, weight = odd_tables()[name]
    classifier = ExtremeEntropyClassifier(n_landmarks=30, random_state=0)
    classifier.fit(X, y, sample_weight=weight)
    for rows in (X, X * 3):
        p = classifier.predict_proba(rows)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert np.isfinite(classifier.decision_function(rows)).all()
        assert classifier.predict_set(rows).shape == p.shape
    assert np.isfinite(classifier.explain(X[:10])).all()
    assert classifier.feature_importances_.sum() == pytest.approx(1)
    rows = X.toarray() if sp.issparse(X) else X
    assert_same_decisions(classifier, classifier.twin().fit(rows, y, sample_weight=weight), rows)


def test_constant_answers_of_a_table_that_tells_nothing():
    """With a warning, the frequencies as probabilities, and columns that all count alike."""
    for y in (np.arange(60) % 2, np.arange(60) % 3, (np.arange(60) < 9).astype(int)):
        with pytest.warns(DegenerateWarning):
            classifier = new(1).fit(np.ones((60, 3)), y)
        p = classifier.predict_proba(np.random.default_rng(0).normal(size=(9, 3)))
        np.testing.assert_array_equal(p, p[:1].repeat(9, axis=0))
        np.testing.assert_allclose(p[0], np.bincount(y) / len(y))
        np.testing.assert_allclose(classifier.feature_importances_, 1 / 3)


@pytest.mark.parametrize("weight", [1e14, 1e16, 1e30, None], ids=str)
def test_weights_may_be_large_or_far_apart(weight):
    """Rounding of their sums is more than a penalty then; a column stands twice, besides."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    X = np.column_stack([X, X[:, 0]])
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    weights = 10.0 ** rng.uniform(-20, 20, 300) if weight is None else np.full(300, weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        p = new(1).fit(X, y, weights).predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


@pytest.mark.parametrize("weight", [1e9, 1e10, 1e17])
def test_rows_that_all_weigh_much_are_learnt_as_if_they_came_often(weight):
    X, y = make_classification(400, 8, n_informative=4, random_state=0)
    heavy = new(1).fit(X[:300], y[:300], np.full(300, weight)).decision_function(X[300:])
    often = new(1).fit(X[:300], y[:300], np.full(300, 1e5)).decision_function(X[300:])
    a, b = (roc_auc_score(y[300:], odds) for odds in (heavy, often))
    assert a > b - 0.05


def test_a_table_without_values_is_refused():
    with pytest.raises(InputError, match="There must be a column to learn from"):
        new(1).fit(pd.DataFrame({"a": [None] * 20}), [0, 1] * 10)


def test_single_precision_answers_as_double():
    X, y = table()
    X = X.astype(np.float32)
    for n_leaves in SIZES.values():
        single, double = new(n_leaves).fit(X, y), new(n_leaves).fit(X.astype(float), y)
        a, b = single.decision_function(X), double.decision_function(X.astype(float))
        np.testing.assert_allclose(a, b, atol=1e-3 * abs(b).max())


# -------------------------------------------------------------------- what it learns


def test_additive_columns_are_learnt_nearly_as_well_as_by_a_logistic_regression():
    """Forty columns that each tell a little, in a straight line; ours allows for much else."""
    rng = np.random.default_rng(0)
    X = rng.random((4000, 40))
    y = (rng.random(4000) < expit((X - 0.5) @ rng.normal(size=40))).astype(int)
    theirs = LogisticRegression().fit(X[:2000], y[:2000])
    ours = ExtremeEntropyClassifier(random_state=0).fit(X[:2000], y[:2000])
    a, b = (roc_auc_score(y[2000:], c.decision_function(X[2000:])) for c in (ours, theirs))
    assert a > b - 0.015


def test_interactions_are_learnt():
    """Of two of ten columns, each of which tells nothing alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 10))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    classifier = ExtremeEntropyClassifier(random_state=0).fit(X[:2000], y[:2000])
    assert roc_auc_score(y[2000:], classifier.decision_function(X[2000:])) > 0.95
    assert set(np.argsort(classifier.feature_importances_)[-2:]) == {0, 1}
