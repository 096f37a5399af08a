"""By default probabilities are those of the frequencies, and labels treat all classes alike."""

import inspect
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_score, train_test_split

from extreme_entropy import (
    EEKMClassifier,
    EEKMClassifierCV,
    EEMClassifier,
    EEMClassifierCV,
    ExtremeEntropyClassifier,
    load,
)
from extreme_entropy.errors import ChangedDefaultWarning, warn_once

FORMER = {"priors": "balanced", "costs": None}
KINDS = {
    "EEM": EEMClassifier(40, random_state=0),
    "EEKM": EEKMClassifier(40, random_state=0),
    "forest": ExtremeEntropyClassifier(n_landmarks=40, random_state=0),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
few_and_many = pytest.mark.parametrize("k", [2, 3])
METHODS = ["sigmoid", "isotonic"]
if "temperature" in inspect.getdoc(CalibratedClassifierCV):
    METHODS.append("temperature")


def table(k=2, n=2000):
    """Rows of which one in twenty is of the second class, or fewer of the last ones."""
    X, y = make_classification(
        n,
        n_informative=6,
        n_classes=k,
        weights=[0.94, 0.04][: k - 1],
        class_sep=0.8,
        random_state=1,
    )
    return train_test_split(X, y, stratify=y, random_state=0)


def by_hand(kind, y):
    """The same with priors and costs as numbers."""
    shares = np.bincount(y) / len(y)
    costs = dict(enumerate((shares.max() / shares).tolist()))
    return clone(kind).set_params(priors=shares.tolist(), costs=costs)


def assert_same_answers(ours, theirs, X, atol=1e-9):
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=atol)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


# -------------------------------------------------------------------- what it answers


@every_kind
@few_and_many
def test_labels_and_decisions_are_those_of_equal_priors(kind, k):
    """A prior times a cost in inverse proportion to it is the same for all classes."""
    X, X_new, y, _ = table(k)
    ours, former = clone(kind).fit(X, y), clone(kind).set_params(**FORMER).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X_new), former.predict(X_new))
    for answer in ("decision_function", "explain"):
        a, b = (getattr(c, answer)(X_new) for c in (ours, former))
        np.testing.assert_allclose(a, b, atol=1e-12 * abs(b).max())
    for a, b in zip(ours.thresholds_, former.thresholds_, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    np.testing.assert_array_equal(ours.with_costs(priors="balanced").predict(X), former.predict(X))


@every_kind
@few_and_many
def test_probabilities_are_those_of_bayes_at_the_frequencies(kind, k):
    """π times the probabilities at equal priors; their mean is near the frequency."""
    X, X_new, y, y_new = table(k)
    ours, former = clone(kind).fit(X, y), clone(kind).set_params(**FORMER).fit(X, y)
    shares = np.bincount(y) / len(y)
    p = ours.predict_proba(X_new)
    expected = softmax(np.log(shares) + former.predict_log_proba(X_new), axis=1)
    np.testing.assert_allclose(p, expected, atol=1e-9)
    np.testing.assert_allclose(p.mean(axis=0), shares, atol=0.02)
    assert abs(former.predict_proba(X_new).mean(axis=0) - shares).max() > 0.1
    assert log_loss(y_new, p) < log_loss(y_new, np.tile(shares, (len(y_new), 1)))
    if k == 2:
        constant = brier_score_loss(y_new, np.full(len(y_new), shares[1]))
        assert brier_score_loss(y_new, p[:, 1]) < constant


@every_kind
@few_and_many
def test_the_default_is_that_of_priors_and_costs_by_hand(kind, k):
    X, X_new, y, _ = table(k)
    ours, theirs = clone(kind).fit(X, y), by_hand(kind, y).fit(X, y)
    assert_same_answers(ours, theirs, X_new)
    a, b = (c.decision_function(X_new) for c in (ours, theirs))
    np.testing.assert_allclose(a, b, atol=1e-9)


def test_frequencies_and_balanced_costs_follow_the_rows():
    """Weights count; rows that come or go change both, and labels are those of equal priors."""
    X, X_new, y, _ = table()
    weight = np.where(y == 1, 3.0, 1.0)
    ours = EEMClassifier(30, random_state=0).fit(X, y, sample_weight=weight)

    def assert_follows(counts):
        machine, shares = ours.machine_, counts / counts.sum()
        np.testing.assert_allclose(np.exp(machine.log_priors), shares)
        np.testing.assert_array_equal(machine.log_priors + machine.log_costs, 0)
        equal = ours.with_costs(priors="balanced")
        np.testing.assert_array_equal(ours.predict(X_new), equal.predict(X_new))

    counts = np.bincount(y, weight)
    assert_follows(counts)
    ours.forget(X[:300], y[:300], sample_weight=weight[:300])
    assert_follows(counts - np.bincount(y[:300], weight[:300]))
    ours.partial_fit(X[:100], y[:100])
    assert_follows(counts - np.bincount(y[:300], weight[:300]) + np.bincount(y[:100]))


def test_shares_may_be_as_far_apart_as_weights():
    """10⁻¹⁵⁰ of 10¹⁵⁰ rounds to no share at all; its logarithm does not."""
    X, _, y, _ = table()
    weight = np.where(y == 1, 1e-170, 1e150)
    ours = EEKMClassifier(20, random_state=0).fit(X, y, sample_weight=weight)
    assert np.isfinite(ours.predict_log_proba(X)).all()
    equal = ours.with_costs(priors="balanced")
    np.testing.assert_array_equal(ours.predict(X), equal.predict(X))


@pytest.mark.parametrize("paper", [EEMClassifier.paper(), EEKMClassifier.paper()])
def test_the_papers_classifiers_have_equal_priors(paper):
    assert (paper.priors, paper.costs) == ("balanced", None)
    X, X_new, y, _ = table()
    machine = paper.set_params(random_state=0).fit(X, y).machine_
    np.testing.assert_array_equal(machine.log_priors, -np.log(2))
    chosen = paper.predict_proba(X_new).argmax(axis=1)
    np.testing.assert_array_equal(paper.predict(X_new), chosen)


# -------------------------------------------------------------------- with_costs


@every_kind
@few_and_many
def test_costs_replace_the_balanced_ones(kind, k):
    """Real costs at real frequencies; "balanced" returns to the default, None is no costs."""
    X, X_new, y, _ = table(k)
    ours = clone(kind).fit(X, y)
    p = ours.predict_proba(X_new)
    costs = np.where(np.arange(k) == 1, 10.0, 1.0)
    costly = ours.with_costs({1: 10})
    np.testing.assert_array_equal(costly.predict(X_new), (costs * p).argmax(axis=1))
    np.testing.assert_array_equal(costly.predict_proba(X_new), p)
    likely = ours.with_costs()
    np.testing.assert_array_equal(likely.predict(X_new), p.argmax(axis=1))
    assert (likely.predict(X_new) == 0).sum() > (ours.predict(X_new) == 0).sum()
    for other in (costly, likely, ours.with_costs(priors="balanced")):
        again = other.with_costs("balanced", priors="empirical")
        assert again.get_params() == ours.get_params()
        np.testing.assert_array_equal(again.decision_function(X_new), ours.decision_function(X_new))


def test_a_cost_flags_fewer_rows_than_on_top_of_equal_priors_and_pays_less():
    """Costs at the real frequencies are what mistakes cost in all."""
    X, X_new, y, y_new = table()
    ours = ExtremeEntropyClassifier(n_landmarks=40, random_state=0).fit(X, y)

    def paid(classifier):
        flagged = classifier.predict(X_new) == 1
        return 5 * (~flagged & (y_new == 1)).sum() + (flagged & (y_new == 0)).sum()

    costly, former = ours.with_costs({1: 5}), ours.with_costs({1: 5}, priors="balanced")
    assert former.predict(X_new).mean() > 2 * costly.predict(X_new).mean()
    assert paid(costly) < min(paid(former), paid(ours))


@pytest.mark.parametrize("costs", ["equal", "balance"])
def test_other_words_are_refused(costs):
    X, _, y, _ = table()
    with pytest.raises(ValueError, match="'balanced'"):
        EEMClassifier(10, costs=costs).fit(X, y)


# -------------------------------------------------------------------- scikit-learn's tools


@every_kind
def test_log_loss_is_that_of_probabilities_by_hand(kind):
    X, _, y, _ = table()
    scores = {
        name: cross_val_score(other, X, y, cv=3, scoring="neg_log_loss")
        for name, other in {
            "ours": kind,
            "hand": by_hand(kind, y),
            "former": clone(kind).set_params(**FORMER),
        }.items()
    }
    np.testing.assert_allclose(scores["ours"], scores["hand"], atol=1e-4)
    assert (scores["ours"] > scores["former"] + 0.05).all()


@every_kind
@pytest.mark.parametrize("method", METHODS)
def test_calibration_is_that_of_probabilities_by_hand(kind, method):
    """Temperatures have no constant: they need the decisions of probabilities."""
    X, X_new, y, y_new = table()
    equal = {"costs": None} if method == "temperature" else {}
    both = [
        CalibratedClassifierCV(one.set_params(**equal), method=method, cv=3)
        .fit(X, y)
        .predict_proba(X_new)
        for one in (clone(kind), by_hand(kind, y))
    ]
    np.testing.assert_allclose(*both, atol=1e-3)
    assert abs(both[0][:, 1].mean() - y.mean()) < 0.02
    assert log_loss(y_new, both[0]) < log_loss(y_new, np.full(len(y_new), y.mean()))


@every_kind
def test_votes_are_those_of_probabilities_by_hand(kind):
    """A vote of calibrated probabilities is one."""
    X, X_new, y, y_new = table()
    votes = [
        VotingClassifier([("one", one), ("other", LogisticRegression())], voting="soft").fit(X, y)
        for one in (kind, by_hand(kind, y))
    ]
    assert_same_answers(*votes, X_new)
    p = votes[0].predict_proba(X_new)
    assert abs(p[:, 1].mean() - y.mean()) < 0.02
    assert log_loss(y_new, p) < log_loss(y_new, np.full(len(y_new), y.mean()))


@every_kind
def test_stacks_are_those_of_probabilities_by_hand(kind):
    X, X_new, y, _ = table()
    stacks = [
        StackingClassifier([("one", one)], cv=3).fit(X, y) for one in (kind, by_hand(kind, y))
    ]
    assert_same_answers(*stacks, X_new, atol=1e-2)
    assert abs(stacks[0].predict_proba(X_new)[:, 1].mean() - y.mean()) < 0.02


@every_kind
def test_tuned_thresholds_are_those_of_probabilities_by_hand(kind):
    """Thresholds are on probabilities; the best for balanced accuracy is near the frequency."""
    X, X_new, y, _ = table()
    tuned = [TunedThresholdClassifierCV(one, cv=3).fit(X, y) for one in (kind, by_hand(kind, y))]
    a, b = (one.best_threshold_ for one in tuned)
    assert a == pytest.approx(b, abs=1e-3)
    assert a < 0.25
    assert (tuned[0].predict(X_new) == tuned[1].predict(X_new)).mean() > 0.99


@pytest.mark.parametrize("search", [EEMClassifierCV([20], cv=3), EEKMClassifierCV([20], cv=3)])
def test_searches_have_the_same_default(search):
    X, X_new, y, _ = table()
    search.set_params(random_state=0).fit(X, y)
    p = search.predict_proba(X_new)
    assert abs(p[:, 1].mean() - y.mean()) < 0.02
    best = search.best_estimator_
    assert (best.priors, best.costs) == ("empirical", "balanced")
    np.testing.assert_array_equal(search.with_costs().predict(X_new), p.argmax(axis=1))


# -------------------------------------------------------------------- files


@every_kind
@few_and_many
def test_files_and_onnx_give_the_same_answers(kind, k, tmp_path):
    """Whole and slim, and other costs after loading."""
    X, X_new, y, _ = table(k)
    ours = clone(kind).fit(X, y)
    for sums in (True, False):
        ours.save(tmp_path / "m.eem", sums=sums)
        loaded = load(tmp_path / "m.eem")
        assert (loaded.priors, loaded.costs) == ("empirical", "balanced")
        assert_same_answers(loaded, ours, X_new, atol=0)
        again = loaded.with_costs({1: 3}).with_costs("balanced")
        assert_same_answers(again, ours, X_new, atol=0)
    onnxruntime = pytest.importorskip("onnxruntime", reason="the extra test has onnxruntime")
    for other in (ours, ours.with_costs({1: 3}), ours.with_costs(priors="balanced")):
        other.to_onnx(tmp_path / "m.onnx")
        session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
        labels, p = session.run(None, {"X": X_new})
        np.testing.assert_array_equal(labels, other.predict(X_new))
        np.testing.assert_allclose(p, other.predict_proba(X_new), atol=1e-6)


# -------------------------------------------------------------------- the warning


@pytest.fixture
def untold():
    """As in a process that has given no warning."""
    warn_once.cache_clear()
    yield
    warn_once.cache_clear()


def told(work):
    """What is told of the change, in words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    return [str(w.message) for w in caught if w.category is ChangedDefaultWarning]


@pytest.mark.usefixtures("untold")
@pytest.mark.parametrize("costs", [{1: 10}, [[0, 1], [10, 0]]], ids=["dict", "matrix"])
def test_where_costs_replace_balanced_ones_a_warning_says_so_once(costs):
    X, _, y, _ = table()
    (words,) = told(lambda: EEMClassifier(10, costs=costs).fit(X, y))
    assert "replace balanced" in words
    assert "priors='balanced'" in words
    assert not told(lambda: EEMClassifier(10, costs=costs).fit(X, y))
    warn_once.cache_clear()
    ours = EEMClassifier(10, random_state=0).fit(X, y)
    assert len(told(lambda: ours.with_costs(costs))) == 1
    assert not told(lambda: ours.with_costs(costs))
    warn_once.cache_clear()
    assert len(told(lambda: EEMClassifierCV([5], cv=3, costs=costs).fit(X, y))) == 1


@pytest.mark.usefixtures("untold")
def test_where_balanced_costs_join_other_priors_a_warning_says_so():
    """Who has set equal priors meant equal costs."""
    X, _, y, _ = table()
    (words,) = told(lambda: EEMClassifier(10, priors="balanced").fit(X, y))
    assert "costs=None" in words


@pytest.mark.usefixtures("untold")
def test_nothing_is_told_of_defaults_or_where_both_are_given(tmp_path):
    X, _, y, _ = table()

    def work():
        for kind in KINDS.values():
            ours = clone(kind).fit(X, y).partial_fit(X[:50], y[:50])
            ours.with_costs().with_costs("balanced").predict(X)
            ours.with_costs(priors="balanced").with_costs({1: 9}, priors="empirical").predict(X)
            ours.with_costs({1: 9}, priors="empirical").save(tmp_path / "m.eem")
            load(tmp_path / "m.eem").predict(X)
        EEMClassifier.paper().fit(X, y)
        EEMClassifier(10, costs={1: 3}, priors=[0.5, 0.5]).fit(X, y)

    assert not told(work)


def test_a_process_tells_it_at_the_line_of_the_user(tmp_path):
    """Once in a process, however often and wherever it happens."""
    script = tmp_path / "script.py"
    script.write_text(
        "from sklearn.datasets import load_iris\n"
        "from extreme_entropy import EEMClassifier\n"
        "ours = EEMClassifier(10).fit(*load_iris(return_X_y=True))\n"
        "for cost in (2, 3):\n"
        "    ours.with_costs({1: cost})\n"
        "ours.with_costs({2: 9})\n"
    )
    run = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert run.stderr.count("ChangedDefaultWarning") == 1
    assert f"{script}:5:" in run.stderr
