"""Priors and costs move the thresholds, never the fit."""

from functools import partial

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import brier_score_loss

from extreme_entropy import EEKMClassifier, EEMClassifier, ExtremeEntropyClassifier, load
from extreme_entropy.errors import InputError

EQUAL = {"priors": "balanced", "costs": None}
MACHINES = [
    EEMClassifier(30, random_state=0, **EQUAL),
    EEMClassifier(30, activation="rbf", scale="minmax", decision="paper", random_state=0, **EQUAL),
    EEKMClassifier(30, random_state=0, **EQUAL),
]
every_machine = pytest.mark.parametrize("machine", MACHINES, ids=["EEM", "EEM paper", "EEKM"])
STAKES = [
    ({"priors": "balanced"}, 1.0),
    ({"priors": [0.2, 0.8]}, 4.0),
    ({"priors": {"no": 0.9, "yes": 0.1}}, 1 / 9),
    ({"priors": "empirical"}, 1 / 3),
    ({"costs": "balanced"}, 3.0),
    ({"priors": "empirical", "costs": "balanced"}, 1.0),
    ({"costs": {"yes": 5.0}}, 5.0),
    ({"costs": {"no": 2.5}}, 1 / 2.5),
    ({"costs": {"yes": 3, "no": 12}, "priors": (0.25, 0.75)}, 3 * 3 / 12),
]
every_stake = pytest.mark.parametrize(("stakes", "odds"), STAKES)


def binary():
    """Three `no` to one `yes`, overlapping."""
    rng = np.random.default_rng(7)
    y = np.repeat(["no", "yes"], [150, 50])
    return rng.normal(size=(200, 4)) + 1.2 * (y == "yes")[:, None], y


def ternary():
    rng = np.random.default_rng(7)
    y = np.repeat([10, 20, 30], [80, 50, 30])
    return rng.normal(size=(160, 3)) + y[:, None] / 15, y


@every_machine
@every_stake
def test_stakes_add_their_log_ratio_to_the_log_odds(machine, stakes, odds):
    """decision_function moves by exactly ln(π₊C₊ / π₋C₋)."""
    X, y = binary()
    plain = clone(machine).fit(X, y).decision_function(X)
    staked = clone(machine).set_params(**stakes).fit(X, y).decision_function(X)
    np.testing.assert_allclose(staked - plain, np.log(odds), rtol=0, atol=1e-12 * abs(plain).max())


@every_machine
@every_stake
def test_predict_is_the_sign_of_the_decision(machine, stakes, odds):
    """A positive log-odds is the second class; thresholds, probabilities and labels agree."""
    X, y = binary()
    fitted = clone(machine).set_params(**stakes).fit(X, y)
    decision = fitted.decision_function(X)
    np.testing.assert_array_equal(fitted.predict(X), np.where(decision > 0, "yes", "no"))
    (_, no), (yes, _) = fitted.machine_.costs
    p = fitted.predict_proba(X)
    expected = np.log(p[:, 1] / p[:, 0]) + np.log(yes / no)
    np.testing.assert_allclose(decision, expected, atol=1e-6)


@every_machine
def test_costs_leave_probabilities_alone(machine):
    """What is likely does not depend on what is dear; priors do count."""
    X, y = binary()
    plain = clone(machine).fit(X, y)
    dear = clone(machine).set_params(costs={"yes": 40}).fit(X, y)
    rare = clone(machine).set_params(priors=[0.9, 0.1]).fit(X, y)
    np.testing.assert_array_equal(dear.predict_proba(X), plain.predict_proba(X))
    assert (dear.predict(X) == "yes").sum() > (plain.predict(X) == "yes").sum()
    assert (rare.predict_proba(X)[:, 1] < plain.predict_proba(X)[:, 1]).all()


def test_empirical_priors_count_weight_and_follow_the_rows_learnt():
    """Shares are of total weight, and change as rows come and go."""
    X, y = binary()
    weight = np.where(y == "yes", 6.0, 1.0)
    machine = EEMClassifier(20, priors="empirical", random_state=0)
    machine.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(np.exp(machine.machine_.log_priors), [150 / 450, 300 / 450])
    machine.forget(X[:50], y[:50])
    np.testing.assert_allclose(np.exp(machine.machine_.log_priors), [100 / 400, 300 / 400])


# -------------------------------------------------------------------- with_costs


@every_machine
@every_stake
def test_with_costs_equals_a_new_fit_with_them(machine, stakes, odds):
    """The new machine is that of a fit under the same stakes, to the last bit."""
    X, y = binary()
    ours = clone(machine).fit(X, y).with_costs(stakes.get("costs"), priors=stakes.get("priors"))
    theirs = clone(machine).set_params(**stakes).fit(X, y)
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(ours.thresholds_, theirs.thresholds_)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.get_params() == theirs.get_params()


def test_with_costs_leaves_the_original_alone():
    """The first machine keeps its costs, decisions and rows, whatever the second does."""
    X, y = binary()
    machine = EEMClassifier(30, costs={"yes": 2}, random_state=0).fit(X, y)
    before = machine.decision_function(X), machine.get_params()
    other = machine.with_costs({"yes": 9}, priors="empirical")
    other.forget(X[:20], y[:20])
    np.testing.assert_array_equal(machine.decision_function(X), before[0])
    assert machine.get_params() == before[1]


def test_stakes_survive_more_rows():
    """A machine made by with_costs goes on learning under its own costs."""
    X, y = binary()
    half = np.arange(len(y)) % 2 == 0
    ours = EEMClassifier(30, random_state=0).fit(X[half], y[half]).with_costs({"yes": 7})
    ours.partial_fit(X[~half], y[~half])
    theirs = ours.twin().fit(X, y)
    assert theirs.costs == {"yes": 7}
    b = theirs.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), b, atol=1e-6 * abs(b).max())


@every_machine
def test_with_costs_works_on_a_machine_from_disk(machine, tmp_path):
    """No data are needed, so a loaded machine can change its stakes."""
    X, y = binary()
    fitted = clone(machine).fit(X, y)
    fitted.save(tmp_path / "m.eem")
    ours = load(tmp_path / "m.eem").with_costs({"no": 3}, priors=[0.3, 0.7])
    theirs = fitted.with_costs({"no": 3}, priors=[0.3, 0.7])
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))


def test_with_costs_warns_of_nothing_and_needs_a_fit():
    """It is cheap and silent, but an unfitted machine has nothing to change."""
    with pytest.raises(NotFittedError):
        EEMClassifier().with_costs({0: 1})


# -------------------------------------------------------------------- thresholds


@every_machine
@every_stake
def test_thresholds_are_where_the_log_odds_vanish(machine, stakes, odds):
    """At a threshold the decision is zero, with opposite signs on its two sides."""
    X, y = binary()
    fitted = clone(machine).set_params(**stakes).fit(X, y)
    t = fitted.thresholds_
    assert 1 <= len(t) <= 2
    step = 1e-5
    at, below, above = (
        fitted.machine_.scores(s[:, None]) for s in (t, t * 1.0 - step, t * 1.0 + step)
    )
    np.testing.assert_allclose(at, 0, atol=1e-8)
    assert (below * above < 0).all()


@every_machine
@every_stake
def test_labels_change_at_thresholds_and_nowhere_else(machine, stakes, odds):
    """Sorted along the line, neighbours differ in label exactly where a threshold is between."""
    X, y = binary()
    fitted = clone(machine).set_params(**stakes).fit(X, y)
    line = fitted.project(X)
    order = np.argsort(line)
    labels, line = fitted.predict(X)[order], line[order]
    region = np.searchsorted(fitted.thresholds_, line)
    np.testing.assert_array_equal(labels[1:] != labels[:-1], (region[1:] - region[:-1]) % 2 == 1)


@pytest.mark.parametrize("costs", [None, {1: 1.2}, {0: 30}])
def test_a_row_put_on_either_side_of_a_threshold_changes_its_label(costs):
    """On one column and a linear kernel the threshold is a value of the column itself."""
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], 60)
    X = (rng.normal(size=120) * np.where(y, 2.0, 0.7) + 1.5 * y)[:, None]
    machine = EEKMClassifier(1, kernel="linear", scale="standard", costs=costs, random_state=0)
    machine.fit(X, y)
    origin, one = machine.project([[0.0], [1.0]])
    at = (machine.thresholds_ - origin) / (one - origin)
    assert len(at) == 2
    for x in at:
        assert len(set(machine.predict([[x - 1e-6], [x + 1e-6]]))) == 2


@pytest.mark.parametrize(("dear", "cheap"), [("yes", "no"), ("no", "yes")])
def test_where_the_spread_favours_it_a_dear_class_wins_everywhere(dear, cheap):
    """Some cost leaves no threshold, and then one class is the answer to everything."""
    rng = np.random.default_rng(3)
    y = np.repeat(["no", "yes"], 100)
    X = rng.normal(size=(200, 1)) * np.where(y == dear, 3.0, 1.0)[:, None] + (y == dear)[:, None]
    machine = EEKMClassifier(1, kernel="linear", scale="standard", random_state=0).fit(X, y)
    assert len(machine.thresholds_) == 2
    sure = machine.with_costs({dear: 1e6})
    assert sure.thresholds_.shape == (0,)
    far = np.linspace(-1e3, 1e3, 401)[:, None]
    assert set(sure.predict(far)) == {dear}
    assert cheap in machine.predict(far)


# -------------------------------------------------------------------- more than two classes


@pytest.mark.parametrize("machine", [MACHINES[0], MACHINES[2]], ids=["EEM", "EEKM"])
def test_more_classes_decide_by_cost_times_probability(machine):
    """decision_function is ln C + ln p as shares of a row, and the largest wins."""
    X, y = ternary()
    fitted = clone(machine).fit(X, y)
    costs = np.array([1.0, 8.0, 0.25])
    dear = fitted.with_costs({20: 8.0, 30: 0.25})
    p = fitted.predict_proba(X)
    np.testing.assert_array_equal(dear.predict_proba(X), p)
    expected = log_softmax(np.log(costs) + np.log(p), axis=1)
    np.testing.assert_allclose(dear.decision_function(X), expected, atol=1e-10)
    np.testing.assert_array_equal(dear.predict(X), fitted.classes_[(costs * p).argmax(axis=1)])
    again = clone(machine).set_params(costs={20: 8.0, 30: 0.25}).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), dear.decision_function(X))
    assert (dear.predict(X) == 20).sum() > (fitted.predict(X) == 20).sum()


def test_priors_of_more_classes_favour_the_likelier():
    """A prior raises the probability of its class on every row that leaves it room."""
    X, y = ternary()
    machine = EEMClassifier(30, random_state=0).fit(X, y)
    p = machine.predict_proba(X)[:, 2]
    q = machine.with_costs(priors={10: 0.1, 20: 0.1, 30: 0.8}).predict_proba(X)
    np.testing.assert_allclose(q.sum(axis=1), 1)
    assert (q[:, 2] >= p - 1e-9).all()
    assert q[:, 2].mean() > p.mean() + 0.01


# -------------------------------------------------------------------- matrices of costs

MATRIX = np.array([[0.0, 1.0, 9.0], [2.0, 0.0, 1.0], [1.0, 30.0, 0.0]])


@pytest.mark.parametrize(
    "kind",
    [
        partial(EEMClassifier, 20, **EQUAL),
        partial(ExtremeEntropyClassifier, n_landmarks=20, **EQUAL),
    ],
    ids=["EEM", "forest"],
)
def test_a_matrix_of_costs_decides_for_the_least_expected_cost(kind, tmp_path):
    """Counted row by row from the probabilities; as an array, as dicts, refitted and loaded."""
    X, y = ternary()
    fitted = kind(random_state=0).fit(X, y)
    by_hand = fitted.classes_[
        [int(np.argmin([sum(p[i] * MATRIX[i, j] for i in range(3)) for j in range(3)]))
         for p in fitted.predict_proba(X)]
    ]  # fmt: skip
    assert (by_hand != fitted.predict(X)).any()
    by_label = {
        a: {b: MATRIX[i, j] for j, b in enumerate((10, 20, 30)) if i != j}
        for i, a in enumerate((10, 20, 30))
    }
    costly = fitted.with_costs(MATRIX)
    refitted = kind(random_state=0, costs=MATRIX.tolist()).fit(X, y)
    costly.save(tmp_path / "m.eem")
    for other in (costly, fitted.with_costs(by_label), refitted, load(tmp_path / "m.eem")):
        np.testing.assert_array_equal(other.predict(X), by_hand)
        np.testing.assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))
        np.testing.assert_allclose(other.machine_.costs, MATRIX)
    np.testing.assert_array_equal(costly.with_costs().predict(X), fitted.predict(X))


def test_costs_left_out_of_dicts_are_one_and_rows_of_equal_costs_are_those_of_a_class():
    X, y = ternary()
    fitted = EEMClassifier(30, random_state=0).fit(X, y)
    by_class = fitted.with_costs({20: 7})
    for same in ({20: {10: 7, 30: 7}}, [[0, 1, 1], [7, 0, 7], [1, 1, 0]]):
        np.testing.assert_array_equal(
            fitted.with_costs(same).decision_function(X), by_class.decision_function(X)
        )
    np.testing.assert_allclose(
        fitted.with_costs({20: {10: 7}}).machine_.costs, [[0, 1, 1], [7, 0, 1], [1, 1, 0]]
    )


def test_a_matrix_for_two_classes_is_a_cost_for_each():
    X, y = binary()
    fitted = EEMClassifier(20, random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        fitted.with_costs([[0, 3], [12, 0]]).decision_function(X),
        fitted.with_costs({"no": 3, "yes": 12}).decision_function(X),
    )


def test_thresholds_of_a_pair_follow_from_the_matrix():
    """Where the log-odds of the pair cross the ratio of its two costs."""
    X, y = ternary()
    fitted = EEMClassifier(30, random_state=0).fit(X, y).with_costs(MATRIX, priors="balanced")
    for (i, j), gaussian, found in zip(
        fitted.machine_.pairs, fitted.machine_.curves, fitted.thresholds_, strict=True
    ):
        np.testing.assert_allclose(
            gaussian.log_ratio(found), np.log(MATRIX[i, j] / MATRIX[j, i]), atol=1e-9
        )


@pytest.mark.parametrize(
    ("costs", "match"),
    [
        (np.ones((2, 2)), "row and a column for each of 3 classes.*\\(2, 2\\)"),
        (np.ones((3, 3)), "zeros on its diagonal"),
        (np.zeros((3, 3)), "positive and finite"),
        ([[0, 1, "a"], [1, 0, 1], [1, 1, 0]], "positive and finite"),
        ({10: {40: 2}}, "may name only the classes.*40"),
        ({10: {20: -2}}, "positive and finite"),
    ],
)
def test_impossible_matrices_are_refused(costs, match):
    X, y = ternary()
    with pytest.raises(InputError, match=match):
        EEMClassifier(10, random_state=0, costs=costs).fit(X, y)


# -------------------------------------------------------------------- what is refused

REFUSED = [
    ({"costs": {"maybe": 2}}, r"may name only the classes \['no', 'yes'\].*maybe"),
    ({"costs": {"yes": 0}}, "positive and finite.*'yes': 0"),
    ({"costs": {"yes": -1}}, "positive and finite.*-1"),
    ({"costs": {"yes": np.inf}}, "positive and finite.*inf"),
    ({"costs": {"yes": np.nan}}, "positive and finite.*nan"),
    ({"priors": [0.5, 0.6]}, r"sum to one.*\[0\.5, 0\.6\].*'balanced'"),
    ({"priors": [1.0, 0.0]}, "positive numbers.*0.0"),
    ({"priors": [1.5, -0.5]}, "positive numbers.*-0.5"),
    ({"priors": [0.5, np.nan]}, "positive numbers.*nan"),
    ({"priors": [0.2, 0.3, 0.5]}, "2 positive numbers"),
    ({"priors": {"yes": 1.0}}, "each class once.*'no', 'yes'"),
    ({"priors": {"yes": 0.5, "no": 0.4, "maybe": 0.1}}, "each class once.*maybe"),
    ({"priors": {"yes": 0.5, "no": 0.4}}, "sum to one"),
    ({"costs": {"yes": "much"}}, "positive and finite|number"),
    ({"priors": ["a", "b"]}, "positive numbers"),
]


@pytest.mark.parametrize(("stakes", "match"), REFUSED)
def test_impossible_stakes_are_refused_by_fit(stakes, match):
    """The error says what must hold and what came."""
    X, y = binary()
    for verb in ("fit", "partial_fit"):
        with pytest.raises(InputError, match=match):
            getattr(EEMClassifier(10, random_state=0, **stakes), verb)(X, y)


@pytest.mark.parametrize(("stakes", "match"), REFUSED)
def test_impossible_stakes_are_refused_by_with_costs(stakes, match):
    """with_costs checks as fit does, and leaves the machine alone."""
    X, y = binary()
    machine = EEMClassifier(10, random_state=0).fit(X, y)
    with pytest.raises(InputError, match=match):
        machine.with_costs(stakes.get("costs"), priors=stakes.get("priors"))
    assert machine.costs == "balanced"
    assert machine.priors == "empirical"


def test_where_a_class_is_rare_only_empirical_priors_beat_a_constant_brier_score():
    """What the docstring of `predict_proba` says: a class of 3 %, hard to find."""
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.03).astype(int)
    X = rng.normal(size=(2000, 2)) + 1.5 * y[:, None]
    classifier = ExtremeEntropyClassifier(n_landmarks=30, random_state=0).fit(X[:1000], y[:1000])
    new, truth = X[1000:], y[1000:]
    brier = {
        priors: brier_score_loss(
            truth, classifier.with_costs(priors=priors).predict_proba(new)[:, 1]
        )
        for priors in ("balanced", "empirical")
    }
    constant = brier_score_loss(truth, np.full(1000, y[:1000].mean()))
    assert brier["empirical"] < constant < brier["balanced"]


def test_costs_keep_the_priors_that_decide(rng):
    """Not those that set_params has named for the next fit."""
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 1).astype(int)
    classifier = EEMClassifier(20, random_state=0).fit(X, y)
    p = classifier.predict_proba(X)
    classifier.set_params(priors="balanced")
    np.testing.assert_array_equal(classifier.with_costs(None).predict_proba(X), p)
    again = classifier.fit(X, y)
    np.testing.assert_array_equal(again.with_costs(None).predict_proba(X), again.predict_proba(X))
    assert abs(again.predict_proba(X) - p).max() > 0.01


def test_log_probabilities_rank_rows_whose_probability_rounds_to_one(rng):
    """Doubles end at 1 − 1.1e-16; logarithms go on, in the order of the decision function."""
    y = np.arange(600) % 2
    X = rng.normal(size=(600, 3)) + 6 * y[:, None]
    classifier = EEKMClassifier(60, random_state=0).fit(X, y)
    certain = X[classifier.predict_proba(X)[:, 1] == 1.0]
    assert len(certain) > 10
    decision = classifier.decision_function(certain)
    log_probability = classifier.predict_log_proba(certain)[:, 1]
    np.testing.assert_array_equal(np.argsort(log_probability), np.argsort(decision))
    assert len(np.unique(log_probability)) == len(np.unique(decision))
