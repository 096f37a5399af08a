"""Only learnt rows are forgotten; what a model keeps to know them adds up as its sums do."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from laws import assert_same_decisions
from sklearn.base import clone

from extreme_entropy import EEKMClassifier, EEMClassifier, EEMClassifierCV, ExtremeEntropyClassifier
from extreme_entropy.errors import ForcedWarning, ForgetError
from extreme_entropy.moments.sketch import RowSketch, SketchSettings

CLASSIFIERS = {
    "EEM": EEMClassifier(8, relevance="uniform", random_state=0),
    "paper": EEMClassifier.paper(n_hidden=8, random_state=0),
    "EEKM": EEKMClassifier(8, relevance="uniform", random_state=0),
    "leaves": ExtremeEntropyClassifier(n_leaves=2, n_landmarks=8, random_state=0),
}


def rows(n=200, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int)


def sketch_by_counting(keys, weights, most):
    """The definition, row by row: the least level at which no more than `most` keys are kept."""
    total: dict[int, float] = {}
    for key, weight in zip(keys.tolist(), weights.tolist(), strict=True):
        total[key] = total.get(key, 0.0) + weight
    level = 0
    while sum(key < 2 ** (64 - level) for key in total) > most:
        level += 1
    return level, {key: w for key, w in total.items() if key < 2 ** (64 - level)}


def as_counted(found: RowSketch):
    return found.level, dict(zip(found.keys.tolist(), found.weights.tolist(), strict=True))


def sketch_of_at_most(most):
    """The empty sketch of a kind that keeps so many keys."""

    class Sketch(RowSketch):
        settings = SketchSettings(most_keys=most)

    return Sketch.empty()


@pytest.mark.parametrize("most", [1, 16, 10_000])
def test_sketches_of_parts_add_up_to_that_of_all_rows(rng, most):
    """In any order and any parts it is the sketch by its definition, and some can be taken out."""
    nothing = sketch_of_at_most(most)
    keys = rng.integers(0, 2**64, 300, dtype=np.uint64)[rng.integers(0, 300, 1000)]
    weights = rng.integers(1, 4, 1000).astype(float)
    whole = nothing.with_rows(keys, weights)
    assert as_counted(whole) == sketch_by_counting(keys, weights, most)
    order = rng.permutation(1000)
    parts = [
        nothing.with_rows(keys[some], weights[some])
        for some in np.split(order, [10, 11, 400, 1000])
    ]
    added = nothing
    for part in parts:
        added = added + part
    assert as_counted(added) == as_counted(whole)
    assert not whole.lacks(parts[2])
    rest = order[np.r_[0:11, 400:1000]]
    _, left = as_counted(whole - parts[2])
    bound = 2 ** (64 - whole.level)
    _, expected = sketch_by_counting(keys[rest], weights[rest], 10_000)
    assert left == {key: w for key, w in expected.items() if key < bound}


def test_the_share_of_strange_rows_that_is_noticed_is_that_of_the_rows_kept(rng):
    """Beyond the capacity a strange row is noticed with the probability that its key is kept."""
    nothing = sketch_of_at_most(1000)
    learnt, strange = rng.integers(0, 2**64, (2, 20_000), dtype=np.uint64)
    known = nothing.with_rows(learnt)
    share = 2.0**-known.level
    assert 500 <= len(known.keys) <= 1000
    assert known.lacks(nothing.with_rows(strange)) <= 1000
    noticed = np.mean([known.lacks(nothing.with_rows(strange[i : i + 1])) for i in range(4000)])
    assert abs(noticed - share) < 4 * np.sqrt(share / 4000)
    in_tens = np.mean(
        [known.lacks(nothing.with_rows(strange[i : i + 10])) > 0 for i in range(0, 20_000, 10)]
    )
    assert abs(in_tens - (1 - (1 - share) ** 10)) < 0.05


@pytest.mark.parametrize("classifier", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_a_month_that_was_never_learnt_is_refused(classifier):
    """Two months learnt, a third forgotten: an error, and the model is as it was."""
    X, y = rows(300)
    fitted = clone(classifier).fit(X[:200], y[:200])
    before = fitted.decision_function(X)
    for strange in (slice(200, 300), slice(200, 201), slice(199, 201)):
        with pytest.raises(ForgetError, match="never learnt"):
            fitted.forget(X[strange], y[strange])
    with pytest.raises(ForgetError, match="never learnt"):
        fitted.forget(X[:1], 1 - y[:1])  # with another label
    assert np.array_equal(fitted.decision_function(X), before)
    with pytest.warns(ForcedWarning, match="At least 1 of these rows"):
        fitted.forget(X[200:201], y[200:201], force=True)
    assert not np.array_equal(fitted.decision_function(X), before)


@pytest.mark.parametrize("classifier", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_what_was_learnt_is_known_wherever_it_was_learnt(classifier, tmp_path):
    """By partial_fit, by a twin, sparse, in single precision, in a file: and only once."""
    from extreme_entropy import load

    X, y = rows(240)
    fitted = clone(classifier).fit(X[:120], y[:120])
    fitted.partial_fit(X[120:180], y[120:180])
    fitted.merge(fitted.twin().fit(sp.csr_array(X[180:]), y[180:]))
    fitted.save(tmp_path / "a.eem")
    fitted = load(tmp_path / "a.eem")
    for some in (slice(170, 200), slice(0, 20)):
        fitted.forget(X[some], y[some])
        with pytest.raises(ForgetError, match="never learnt"):
            fitted.forget(X[some], y[some])


def test_repeats_and_weights_are_counted(rng):
    """A row can be forgotten as often as it was learnt, in the parts in which it came."""
    X, y = rows(100)
    weight = rng.integers(1, 4, 100) / 10
    fitted = EEMClassifier(8, random_state=0).fit(X, y, sample_weight=weight)
    fitted.partial_fit(X[:10], y[:10], sample_weight=np.full(10, 0.3))
    fitted.forget(X[:10], y[:10], sample_weight=np.full(10, 0.3))
    with pytest.raises(ForgetError, match="never learnt"):
        fitted.forget(X[:10], y[:10], sample_weight=weight[:10] + 0.1)
    fitted.forget(X[:10], y[:10], sample_weight=weight[:10])


def test_the_best_of_a_search_knows_its_rows():
    """Its sums come from the folds of the search."""
    X, y = rows(300)
    best = EEMClassifierCV((4, 8), cv=5, random_state=0).fit(X, y).best_estimator_
    with pytest.raises(ForgetError, match="never learnt"):
        best.forget(X[:30] + 0.5, y[:30])
    best.forget(X[:30], y[:30])


@pytest.mark.parametrize("classifier", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_redraw_leaves_nothing_of_other_rows(classifier):
    """It equals a new classifier fitted on these rows, for a twin too."""
    X, y = rows(300)
    X[200] = 1e3  # which stretches every range
    fitted = clone(classifier).fit(X, y)
    fresh = clone(classifier).fit(X[:200], y[:200]).decision_function(X[:50])
    for old in (fitted, fitted.twin().fit(X, y)):
        again = old.redraw(X[:200], y[:200])
        assert again is old
        assert np.array_equal(again.decision_function(X[:50]), fresh)


@pytest.mark.parametrize("scale", ["quantile", "minmax", "standard"])
@pytest.mark.parametrize(
    "classifier",
    [
        EEMClassifier(12, relevance="uniform", random_state=0),
        EEMClassifier(12, activation="sig", random_state=0),
        EEMClassifier(12, activation="relu", random_state=0),
        EEKMClassifier(12, kernel="linear", random_state=0),
        EEKMClassifier(12, kernel="rbf", random_state=0),
    ],
    ids=["mixed", "sig", "relu", "linear kernel", "rbf kernel"],
)
def test_a_far_off_row_leaves_no_trace(classifier, scale):
    """Its sums are bounded, so that taking them out leaves the digits of the others."""
    X, y = rows()
    fitted = clone(classifier).set_params(scale=scale).fit(X, y)
    before = fitted.decision_function(X)
    far = np.array([[1e9, -1e12, 3e5]])
    fitted.partial_fit(far, [1]).forget(far, [1])
    np.testing.assert_allclose(fitted.decision_function(X), before, atol=1e-6 * abs(before).max())


def test_a_part_of_a_row_that_never_came_alone_is_refused(rng):
    """Σ min(w, w²) of the rest would be that of no rows; whole-number parts have no such sums."""
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] > 0.3).astype(int)
    drawn = EEMClassifier(20, random_state=0).fit(X, y)

    def learnt(*weights):
        classifier = drawn.twin()
        for weight in weights:
            classifier.partial_fit(X, y, sample_weight=np.full(120, weight))
        return classifier

    for weights, gone in (((1.0,), 0.9), ((0.1, 0.1, 0.1), 0.3), ((0.5, 0.5), 1.0)):
        before = learnt(*weights)
        with pytest.raises(ForgetError, match="weights"):
            before.forget(X, y, sample_weight=np.full(120, gone))
        assert_same_decisions(before, learnt(*weights), X)
    exact = (((0.5, 0.25), 0.5, 0.25), ((3.0,), 1.0, 2.0), ((0.4, 2.0), 2.0, 0.4))
    for weights, gone, left in exact:
        rest, alone = learnt(*weights).forget(X, y, np.full(120, gone)), learnt(left)
        assert_same_decisions(rest, alone, X)
        np.testing.assert_allclose(rest.summary_.effective_rows, alone.summary_.effective_rows)


def test_a_row_that_outweighs_all_others_is_not_taken_out_of_their_sums(rng):
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] > 0.3).astype(int)
    classifier = EEMClassifier(20, random_state=0).fit(X, y)
    heavy = {"X": X[:1] + 0.01, "y": y[:1], "sample_weight": [1e15]}
    classifier.partial_fit(**heavy)
    before = classifier.predict_proba(X)
    with pytest.raises(ForgetError, match=r"lost a weight of [0-9]+ of the others"):
        classifier.forget(**heavy)
    np.testing.assert_array_equal(classifier.predict_proba(X), before)
    light = {"X": X[:1] + 0.02, "y": y[:1], "sample_weight": [1e4]}
    other = EEMClassifier(20, random_state=0).fit(X, y)
    assert other.partial_fit(**light).forget(**light).summary_.counts.sum() == pytest.approx(300)


def test_rows_can_be_forgotten_after_others_were_taken_out_by_force(rng):
    """Sums and the list of rows differ then by what was forced, and by nothing more later."""
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] > 0.3).astype(int)
    classifier = EEMClassifier(10, random_state=0).fit(X, y)
    with pytest.warns(ForcedWarning):
        classifier.forget(X[:9].round(2), y[:9], force=True)
    classifier.forget(X[20:30], y[20:30])
    assert classifier.summary_.counts.sum() == pytest.approx(101)


def test_rows_that_weigh_a_half_are_counted_as_rows(rng):
    """The error counts rows, not their weight."""
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    classifier = EEMClassifier(10, random_state=0).fit(X[:50], y[:50])
    with pytest.raises(ForgetError, match="at least 10 of the rows passed"):
        classifier.forget(X[50:], y[50:], np.full(10, 0.5))
