"""A machine is a sum over its rows: batches, merging and forgetting equal one fit."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import assert_same_decisions, assert_same_machine
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier

from extreme_entropy import (
    EEKMClassifier,
    EEKMClassifierCV,
    EEMClassifier,
    EEMClassifierCV,
    ExtremeEntropyClassifier,
)
from extreme_entropy.errors import (
    DegenerateWarning,
    ExtremeEntropyWarning,
    FewRowsWarning,
    ForgetError,
    IncompleteError,
    InputError,
    MergeError,
)
from extreme_entropy.features.feature_map import same

KINDS = {
    "EEM mixed": EEMClassifier(24, activation="mixed", random_state=3),
    "EEM rbf": EEMClassifier(24, activation="rbf", scale="minmax", random_state=3),
    "EEM tanimoto": EEMClassifier(24, activation="tanimoto", random_state=3),
    "EEM relu": EEMClassifier(24, activation="relu", scale="standard", random_state=3),
    "EEKM rbf": EEKMClassifier(24, kernel="rbf", random_state=3),
    "EEKM linear": EEKMClassifier(24, kernel="linear", scale="standard", random_state=3),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
every_decision = pytest.mark.parametrize("decision", ["paper", "cross-fitted"])
few_and_many = pytest.mark.parametrize("n_classes", [2, 3])


def new(kind="EEM mixed", decision="cross-fitted", **parameters):
    return clone(KINDS[kind]).set_params(decision=decision, **parameters)


def table(n_classes=2, n=240, seed=5):
    """Overlapping classes of unequal size, with zeros for sparse storage to leave out."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n, p=np.array([4, 2, 2])[:n_classes] / sum([4, 2, 2][:n_classes]))
    X = rng.exponential(size=(n, 5)) + y[:, None] * np.array([0.8, 0.4, 0.0, -0.2, 0.6])
    X[:, 3] *= rng.random(n) < 0.4
    return X, y


def parts_of(n, k=4):
    """Uneven batches that follow no order of the rows."""
    return np.array_split(np.random.default_rng(k).permutation(n), [n // 2, n // 2 + 7, n - 20])


# -------------------------------------------------------------------- equal to one fit


@every_kind
@every_decision
@few_and_many
def test_batches_equal_one_fit(kind, decision, n_classes):
    """After any partial_fits the machine is that of one fit on all rows with its φ."""
    X, y = table(n_classes)
    ours = new(kind, decision)
    for rows in parts_of(len(y)):
        ours.partial_fit(X[rows], y[rows], classes=range(n_classes))
    assert_same_machine(ours, ours.twin().fit(X, y), X)


@every_kind
@every_decision
@few_and_many
def test_merged_parts_equal_one_fit(kind, decision, n_classes):
    """Twins fitted apart and merged, by merge or by +, are the machine of all rows."""
    X, y = table(n_classes)
    first, *others = parts_of(len(y))
    drawn = new(kind, decision).fit(X[first], y[first])
    parts = [drawn.twin().fit(X[rows], y[rows]) for rows in others[:2]]
    parts += [drawn.twin().partial_fit(X[rows], y[rows]) for rows in others[2:]]
    whole = drawn.twin().fit(X, y)
    added = drawn
    for part in parts:
        added = added + part
    assert_same_machine(added, whole, X)
    merged = drawn.twin()
    for part in [*parts, drawn]:
        merged.merge(part)
    assert_same_machine(merged, whole, X)


@every_kind
@every_decision
@few_and_many
def test_forgetting_equals_never_having_learnt(kind, decision, n_classes):
    """Forgotten rows leave the machine of one fit on the rows that remain."""
    X, y = table(n_classes)
    gone, *left = parts_of(len(y))
    left = np.concatenate(left)
    ours = new(kind, decision).fit(X, y)
    ours.forget(X[gone], y[gone])
    assert_same_machine(ours, ours.twin().fit(X[left], y[left]), X)


@every_kind
@every_decision
def test_weighted_rows_add_up_too(kind, decision):
    """Weights take part in learning, merging and forgetting as the rows do."""
    X, y = table()
    weight = np.random.default_rng(8).choice([0.5, 1.0, 2.0, 3.25], len(y))
    a, b, c, d = parts_of(len(y))
    ours = new(kind, decision).fit(X[a], y[a], sample_weight=weight[a])
    for rows in (b, c):
        ours.partial_fit(X[rows], y[rows], sample_weight=weight[rows])
    ours.merge(ours.twin().fit(X[d], y[d], sample_weight=weight[d]))
    ours.forget(X[a], y[a], sample_weight=weight[a])
    left = np.concatenate([b, c, d])
    theirs = ours.twin().fit(X[left], y[left], sample_weight=weight[left])
    assert_same_machine(ours, theirs, X)


@every_kind
@every_decision
def test_sparse_batches_equal_one_dense_fit(kind, decision):
    """A machine may learn some rows sparse and others dense."""
    X, y = table()
    sparse = sp.csr_array(X)
    a, b, c, d = parts_of(len(y))
    ours = new(kind, decision).fit(sparse[a], y[a])
    ours.partial_fit(X[b], y[b]).partial_fit(sparse[c], y[c])
    ours.merge(ours.twin().fit(sparse[d], y[d])).forget(sparse[b], y[b])
    left = np.concatenate([a, c, d])
    theirs = new(kind, decision).fit(X[a], y[a]).twin().fit(X[left], y[left])
    assert_same_machine(ours, theirs, X)
    np.testing.assert_array_equal(ours.predict(sparse), theirs.predict(X))


@pytest.mark.filterwarnings("ignore::extreme_entropy.errors.ExtremeEntropyWarning")
@settings(max_examples=25)
@given(st.lists(st.integers(0, 3), min_size=60, max_size=60), st.sampled_from(sorted(KINDS)))
def test_any_partition_gives_the_same_machine(batch_of_row, kind):
    """However rows fall into batches, empty and one-class ones included, nothing changes."""
    X, y = table(n=60)
    drawn = new(kind, "paper").fit(X, y)
    ours = drawn.twin()
    for batch in range(4):
        rows = np.flatnonzero(np.array(batch_of_row) == batch)
        part = drawn.twin()
        ours.merge(part.fit(X[rows], y[rows]) if len(rows) else part)
    assert_same_machine(ours, drawn, X)


def test_single_precision_batches_equal_one_fit_in_single_precision():
    """float32 rows add up as well, to the digits that float32 has."""
    X, y = table()
    X = X.astype(np.float32)
    ours = new()
    for rows in parts_of(len(y)):
        ours.partial_fit(X[rows], y[rows], classes=[0, 1])
    a, b = ours.decision_function(X), ours.twin().fit(X, y).decision_function(X)
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-3 * abs(b).max())


# -------------------------------------------------------------------- order and repetition


@every_kind
@every_decision
def test_order_of_rows_does_not_matter(kind, decision):
    """A shuffled table gives the same φ, the same folds and the same decisions."""
    X, y = table(3)
    mixed = np.random.default_rng(1).permutation(len(y))
    ours, theirs = new(kind, decision).fit(X[mixed], y[mixed]), new(kind, decision).fit(X, y)
    assert np.array_equal(ours.summary_.counts, theirs.summary_.counts)
    if ours.scale != "standard":  # whose means are sums, equal but for rounding
        assert same(ours.feature_map_, theirs.feature_map_)
    assert_same_decisions(ours, theirs, X)


@every_kind
@every_decision
def test_a_weight_is_a_repetition(kind, decision):
    """Every row twice is every row with weight 2; a row of weight 0 is not there."""
    X, y = table()
    twice = new(kind, decision).fit(np.concatenate([X, X]), np.concatenate([y, y]))
    stray = X[:9] + 50.0
    weight = np.r_[np.full(len(y), 2.0), np.zeros(9)]
    weighted = new(kind, decision).fit(
        np.concatenate([X, stray]), np.concatenate([y, y[:9]]), sample_weight=weight
    )
    assert np.array_equal(twice.summary_.counts, weighted.summary_.counts)
    assert_same_decisions(twice, weighted, X)


@every_kind
def test_balanced_repetition_keeps_phi_and_beta_of_the_rows(kind):
    """Each row said twice leaves φ, β and thresholds of an unshrunk machine as they were."""
    X, y = table()
    once = new(kind, "paper", shrinkage=0.1).fit(X, y)
    twice = new(kind, "paper", shrinkage=0.1).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    assert_same_decisions(twice, once, X)


@pytest.mark.parametrize("kind", ["EEM mixed", "EEKM rbf"])
def test_threads_do_not_change_a_bit(kind):
    """One thread and two give the same summaries and decisions to the last bit."""
    X, y = table(n=24_000)
    size = {"n_hidden": 8} if kind.startswith("EEM") else {"n_landmarks": 8}
    one, two = (new(kind, **size, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert same(one.summary_, two.summary_)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


# -------------------------------------------------------------------- parts without some classes


@every_kind
@few_and_many
def test_parts_of_one_class_each_make_up_the_whole(kind, n_classes):
    """Twins that saw a single class cannot decide, but merged they are the machine of all."""
    X, y = table(n_classes)
    whole = new(kind).fit(X, y)
    parts = [whole.twin().fit(X[y == c], y[y == c]) for c in range(n_classes)]
    for part in parts:
        with pytest.raises(IncompleteError, match="needs rows"):
            part.predict(X)
    assert_same_machine(sum(parts[1:], parts[0]), whole, X)


@every_decision
def test_an_empty_twin_is_the_identity(decision):
    """Adding a machine of no rows, on either side, changes nothing."""
    X, y = table()
    machine = new(decision=decision).fit(X, y)
    expected = machine.decision_function(X)
    for sum_ in (machine + machine.twin(), machine.twin() + machine):
        np.testing.assert_array_equal(sum_.decision_function(X), expected)
    with pytest.raises(IncompleteError):
        machine.twin().predict(X)


@every_kind
def test_a_forgotten_class_makes_the_machine_undecided_until_it_is_learnt_again(kind):
    """Without rows of a class predicting is an error; learning them again restores it."""
    X, y = table(3)
    machine = new(kind).fit(X, y)
    before = clone(machine).fit(X, y)
    gone = y == 2
    machine.forget(X[gone], y[gone])
    for ask in (machine.predict, machine.predict_proba, machine.decision_function):
        with pytest.raises(IncompleteError, match=r"\[2\]"):
            ask(X)
    machine.partial_fit(X[gone], y[gone])
    assert_same_machine(machine, before, X)


def test_the_first_batch_may_lack_a_class_that_is_announced():
    """`classes` of the first call are waited for."""
    X, y = table()
    zeros = y == 0
    machine = new().partial_fit(X[zeros], y[zeros], classes=[0, 1])
    with pytest.raises(IncompleteError, match=r"\[1\]"):
        machine.predict(X)
    machine.partial_fit(X[~zeros], y[~zeros])
    assert_same_machine(machine, machine.twin().fit(X, y), X)


def test_a_sum_changes_neither_of_its_terms():
    """a + b is a new machine."""
    X, y = table()
    a = new().fit(X[:120], y[:120])
    b = a.twin().fit(X[120:], y[120:])
    before = [m.decision_function(X) for m in (a, b)]
    total = a + b
    assert np.abs(total.decision_function(X) - before[0]).max() > 1e-6
    for machine, expected in zip((a, b), before, strict=True):
        np.testing.assert_array_equal(machine.decision_function(X), expected)


@every_kind
def test_what_was_answered_before_does_not_linger(kind):
    """A machine asked between batches answers for all rows so far, each time."""
    X, y = table()
    machine = new(kind).fit(X[:120], y[:120])
    for verb, rows in (("partial_fit", slice(120, None)), ("forget", slice(0, 60))):
        before = machine.decision_function(X)
        getattr(machine, verb)(X[rows], y[rows])
        left = slice(0, None) if verb == "partial_fit" else slice(60, None)
        assert_same_machine(machine, machine.twin().fit(X[left], y[left]), X)
        assert np.abs(machine.decision_function(X) - before).max() > 1e-3


def test_fitting_a_twin_again_starts_anew_with_the_same_phi():
    """A twin's fit keeps φ and drops the rows it held."""
    X, y = table()
    twin = new().fit(X, y).twin().fit(X[:100], y[:100])
    twin.fit(X, y)
    assert_same_machine(twin, new().fit(X, y), X)


# -------------------------------------------------------------------- errors change nothing


def fitted(seed=5, **parameters):
    X, y = table(seed=seed)
    machine = new(**parameters).fit(X, y)
    machine.predict(X)
    return machine, X, y


def three_classes():
    X, y = table(3)
    return new().fit(X, y)


def refused(call, machine, error, match):
    """The call raises and the machine stays as it was, to the last byte."""
    before = pickle.dumps(machine)
    with pytest.raises(error, match=match):
        call(machine)
    assert pickle.dumps(machine) == before


@pytest.mark.parametrize(
    ("other", "match"),
    [
        (lambda: fitted(seed=6)[0], "share φ"),
        (lambda: fitted(random_state=4)[0], "share φ"),
        (lambda: fitted(kind="EEKM rbf")[0], "share φ"),
        (lambda: fitted(scale="minmax")[0], "share φ"),
        (three_classes, "share φ|same classes"),
    ],
)
def test_machines_that_do_not_share_phi_are_not_merged(other, match):
    """The error says what must be shared and how; nothing changes."""
    machine, other = fitted()[0], other()
    refused(lambda m: m.merge("a file"), machine, MergeError, "fitted classifier.*got str")
    refused(lambda m: m.merge(other), machine, MergeError, match)
    refused(lambda m: m + other, machine, MergeError, match)


def test_machines_of_other_classes_are_not_merged():
    """The same φ is not enough: the classes must be the same."""
    machine, X, y = fitted()
    other = new().fit(X, np.array(["no", "yes"])[y])
    refused(lambda m: m.merge(other), machine, MergeError, "same classes.*'no'.*Pass all")


def test_machines_of_other_decisions_are_not_merged():
    """Summaries with and without folds do not add up."""
    machine, X, y = fitted(ridge=0.0)
    other = new(decision="paper", ridge=0.0).fit(X, y)
    refused(lambda m: m.merge(other), machine, MergeError, "same `decision`")


def test_a_machine_is_not_merged_with_something_else():
    """Adding a number is a TypeError, as for any object."""
    machine, _, _ = fitted()
    with pytest.raises(TypeError):
        machine + 1


@every_decision
def test_rows_never_learnt_cannot_be_forgotten(decision):
    """Where a count would become negative, forgetting is an error and changes nothing."""
    machine, X, y = fitted(decision=decision)
    for rows, labels in [
        (np.tile(X, (2, 1)), np.tile(y, 2)),
        (X[y == 0], y[y == 0] + 1),
    ]:
        refused(lambda m, r=rows, c=labels: m.forget(r, c), machine, ForgetError, "never learnt")
    heavy = np.full(len(y), 1.5)
    refused(lambda m: m.forget(X, y, sample_weight=heavy), machine, ForgetError, "never learnt")
    twin = machine.twin()
    refused(lambda m: m.forget(X[:1], y[:1]), twin, ForgetError, "never learnt")


@pytest.mark.parametrize("verb", ["partial_fit", "forget"])
@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda X, y: (X, y + 1), r"among the classes \[0, 1\].*\[2\]"),
        (lambda X, y: (X[:, :3], y), "3 features"),
        (lambda X, y: (np.where(X > 2, np.inf, X), y), "infinity"),
        (lambda X, y: (X, y[:-1]), "inconsistent"),
        (lambda X, y: (X[:0], y[:0]), "0 sample"),
    ],
    ids=["unseen label", "columns", "inf", "lengths", "no rows"],
)
def test_a_bad_batch_changes_nothing(verb, change, match):
    """Rows that cannot be used are refused whole."""
    machine, X, y = fitted()
    rows, labels = change(X, y)
    refused(lambda m: getattr(m, verb)(rows, labels), machine, ValueError, match)


@pytest.mark.parametrize("classes", [[0, 1, 2], [0, 2], ["a", "b"]])
def test_classes_cannot_change_later(classes):
    """partial_fit with other `classes` than at first is refused."""
    machine, X, y = fitted()
    refused(lambda m: m.partial_fit(X, y, classes=classes), machine, InputError, "stay what it was")


def test_negative_weights_are_refused_by_learning_and_forgetting():
    """Taking rows out is forget's work, not a negative weight's."""
    machine, X, y = fitted()
    for verb in ("partial_fit", "forget"):
        refused(
            lambda m, v=verb: getattr(m, v)(X, y, sample_weight=-np.ones(len(y))),
            machine,
            InputError,
            "negative.*forget",
        )


def test_a_decision_changed_after_the_fit_goes_on_with_the_same_folds():
    """Folds are fixed by the first rows; without them deciding, the machine is the paper's."""
    X, y = table()
    machine = new(ridge=0.0).fit(X[:120], y[:120]).set_params(decision="paper")
    machine.partial_fit(X[120:], y[120:]).forget(X[:60], y[:60])
    assert_same_machine(machine, machine.twin().fit(X[60:], y[60:]), X)
    theirs = new(decision="paper", ridge=0.0).fit(X[:120], y[:120]).twin().fit(X[60:], y[60:])
    assert_same_decisions(machine, theirs, X)


def test_a_failed_first_batch_can_be_followed_by_a_good_one():
    """An error in the first partial_fit leaves the machine unfitted and usable."""
    X, y = table()
    machine = new()
    with pytest.raises(InputError, match="one class"):
        machine.partial_fit(X[y == 0], y[y == 0])
    machine.partial_fit(X[:, :4], y)
    assert_same_machine(machine, new().fit(X[:, :4], y), X[:, :4])


@pytest.mark.filterwarnings("error")
def test_learning_warns_of_nothing_until_the_machine_is_asked():
    """Batches with a row of a class do not warn: the summary is not yet the whole."""
    X, y = table()
    one = np.r_[np.flatnonzero(y == 0)[:30], np.flatnonzero(y == 1)[:1]]
    with pytest.warns(FewRowsWarning, match="drawn from the 31 rows"):
        machine = new().partial_fit(X[one], y[one])
    machine.partial_fit(X, y)
    with np.testing.assert_no_warnings():
        machine.predict(X)


def test_the_unfinished_machine_warns_once_when_asked():
    """A class of one row is warned about on the first question, not on each."""
    X, y = table()
    one = np.r_[np.flatnonzero(y == 0)[:30], np.flatnonzero(y == 1)[:1]]
    machine = new().partial_fit(X[one], y[one])
    with pytest.warns(ExtremeEntropyWarning) as warned:
        machine.predict(X)
    assert len(warned) == 1
    with np.testing.assert_no_warnings():
        machine.predict(X)


# -------------------------------------------------------------------- rounding decides nothing


def assert_same_labels(ours, theirs, X):
    """Labels are equal wherever a decision is more than rounding."""
    a, b = ours.decision_function(X), theirs.decision_function(X)
    sure = (abs(a) > 1e-8 * abs(a).max()) | (abs(b) > 1e-8 * abs(b).max())
    np.testing.assert_array_equal(ours.predict(X)[sure], theirs.predict(X)[sure])


def few_distinct(seed, d=4, share=0.1, n=60):
    rng = np.random.default_rng(seed)
    return (rng.random((n, d)) < share).astype(float), (rng.random(n) < 0.4).astype(int)


@pytest.mark.filterwarnings("ignore::extreme_entropy.errors.ExtremeEntropyWarning")
@pytest.mark.parametrize("seed", [2, 5, 13, 15, 16, 25])
@pytest.mark.parametrize(
    "machine",
    [
        EEMClassifier(20, random_state=0),
        EEKMClassifier.paper(20, random_state=0),
        EEMClassifier(20, shrinkage=None, ridge=0.0, random_state=0),
    ],
    ids=["EEM", "EEKM paper", "unshrunk"],
)
def test_forgetting_all_but_a_few_rows_is_a_fit_on_those(machine, seed):
    """What is left of larger sums is not taken for a covariance: one, two or five rows a class."""
    X, y = few_distinct(seed)
    drawn = clone(machine).fit(X, y)
    for k in (1, 2, 5):
        kept = np.r_[np.flatnonzero(y == 0)[:k], np.flatnonzero(y == 1)[:k]]
        gone = np.setdiff1d(np.arange(len(y)), kept)
        ours = drawn.twin().fit(X, y).forget(X[gone], y[gone])
        assert_same_labels(ours, drawn.twin().fit(X[kept], y[kept]), X)


@pytest.mark.filterwarnings("ignore::extreme_entropy.errors.ExtremeEntropyWarning")
@pytest.mark.parametrize(("seed", "d", "share"), [(20, 2, 0.04), (23, 2, 0.04), (29, 2, 0.04)])
def test_few_distinct_rows_give_one_machine_in_batches_and_with_weights(seed, d, share):
    """Rounding chooses neither a direction nor a ridge where rows hardly differ."""
    X, y = few_distinct(seed, d, share)
    weight = np.random.default_rng(seed).integers(1, 4, len(y))
    for machine in (EEMClassifier(20, random_state=0), EEKMClassifier(20, random_state=0)):
        drawn = machine.fit(X, y)
        ours = drawn.twin()
        for rows in parts_of(len(y)):
            ours.partial_fit(X[rows], y[rows])
        assert_same_labels(ours, drawn, X)
        weighted = drawn.twin().fit(X, y, sample_weight=weight)
        repeated = drawn.twin().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        assert_same_labels(weighted, repeated, X)


def test_learnt_fractions_can_be_forgotten_in_any_order():
    """A count is wrong by the rounding of what was learnt, not of what is left."""
    X, y = table(n=40)
    machine = new().fit(X, y)
    for _ in range(3):
        machine.partial_fit(X[:4], y[:4], sample_weight=np.full(4, 0.1))
    machine.partial_fit(X[:4], y[:4], sample_weight=np.full(4, 1e6 / 3))
    machine.forget(X[:4], y[:4], sample_weight=np.full(4, 1e6 / 3)).forget(X, y)
    for _ in range(3):
        machine.forget(X[:4], y[:4], sample_weight=np.full(4, 0.1))
    assert not machine.summary_.counts.any()


@pytest.mark.filterwarnings("error::extreme_entropy.errors.DegenerateWarning")
@pytest.mark.parametrize(
    "machine",
    [
        *(EEMClassifier(20, random_state=0), EEKMClassifier(20, random_state=0)),
        ExtremeEntropyClassifier(n_landmarks=20, random_state=0),
        EEMClassifierCV([10, 20], random_state=0),
        EEKMClassifierCV([10, 20], random_state=0),
    ],
    ids=lambda machine: type(machine).__name__,
)
def test_a_fit_that_fails_at_its_very_end_changes_nothing(machine):
    """Where a warning is an error, the machine of the rows before stays, with its columns."""
    X, y = table()
    machine = clone(machine).fit(pd.DataFrame(X, columns=list("abcde")), y)
    alike = np.ones((len(y), 2))
    refused(lambda m: m.fit(alike, y), machine, DegenerateWarning, "same mean")
    if hasattr(machine, "fit_batches"):
        refused(lambda m: m.fit_batches([(alike, y)]), machine, DegenerateWarning, "same mean")


# -------------------------------------------------------------------- weights below one


@pytest.mark.parametrize(
    "machine",
    [
        *(EEMClassifier(20, random_state=0), EEKMClassifier(20, shrinkage="oas", random_state=0)),
        ExtremeEntropyClassifier(n_landmarks=20, random_state=0),
    ],
    ids=lambda machine: type(machine).__name__,
)
@pytest.mark.filterwarnings("error::extreme_entropy.errors.ExtremeEntropyWarning")
@pytest.mark.parametrize("unit", [2.0**-8, 1 / 240, 1e-12])
def test_equal_weights_below_one_are_weights_of_one(machine, unit):
    """Weights that sum to one say how rows count beside each other, not that there are few."""
    X, y = table()
    X = pd.DataFrame(X, columns=list("vwxyz")).assign(
        kind=np.array(["a", "b", "c"])[np.arange(len(y)) * y % 3]
    )
    ours = clone(machine).fit(X, y, sample_weight=np.full(len(y), unit))
    theirs = clone(machine).fit(X, y)
    np.testing.assert_allclose(ours.summary_.effective_rows, theirs.summary_.effective_rows)
    a, b = ours.decision_function(X), theirs.decision_function(X)
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-6 * abs(b).max())


def test_weights_below_one_add_up():
    """Learnt in parts, merged and forgotten, they are worth as many rows as in one fit."""
    X, y = table()
    weight = np.random.default_rng(1).random(len(y)) / 500
    a, b, c, d = parts_of(len(y))
    ours = new().fit(X[a], y[a], sample_weight=weight[a])
    ours.partial_fit(X[b], y[b], sample_weight=weight[b])
    ours.merge(ours.twin().fit(X[c], y[c], sample_weight=weight[c]))
    ours.partial_fit(X[d], y[d], sample_weight=weight[d]).forget(X[a], y[a], weight[a])
    left = np.concatenate([b, c, d])
    theirs = ours.twin().fit(X[left], y[left], sample_weight=weight[left])
    assert_same_machine(ours, theirs, X)
    by_class = [weight[left][y[left] == k] for k in (0, 1)]
    kish = [own.sum() ** 2 / (own**2).sum() for own in by_class]
    np.testing.assert_allclose(ours.summary_.effective_rows, kish)


def test_boosting_begins_with_the_classifier_itself():
    """AdaBoost's first weights are all 1/n, which say nothing."""
    X, y = table()
    boosted = AdaBoostClassifier(EEMClassifier(30), n_estimators=1, random_state=0).fit(X, y)
    [first] = boosted.estimators_
    assert_same_decisions(first, clone(first).fit(X, y), X)


@pytest.mark.parametrize("kind", [EEMClassifier, EEKMClassifier, ExtremeEntropyClassifier])
def test_the_same_part_is_not_merged_twice_unless_forced(kind, rng):
    """Its rows would count twice; nothing changes."""
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 3)) + y[:, None]
    classifier = kind(random_state=0).fit(X[:200], y[:200])
    part = classifier.twin().fit(X[200:], y[200:])
    classifier.merge(part)
    with pytest.raises(MergeError, match=r"^100 % .* force=True"):
        classifier.merge(part)
    with pytest.raises(MergeError, match="would count twice"):
        classifier + classifier
    assert classifier.summary_.counts.sum() == 400
    assert classifier.merge(part, force=True).summary_.counts.sum() == 600


def test_parts_of_a_table_in_which_rows_repeat_are_merged_without_force(rng):
    """Equal rows in two parts are what chance gives, and are no reason to refuse."""
    X, y = rng.integers(0, 6, size=(600, 3)).astype(float), rng.integers(0, 2, 600)
    classifier = EEMClassifier(10, random_state=0).fit(X[:300], y[:300])
    classifier.merge(classifier.twin().fit(X[300:], y[300:]))
    assert classifier.summary_.counts.sum() == 600


def test_a_feature_map_of_very_few_first_rows_is_warned_about(rng):
    """It stays as it is, however many rows come later."""
    y = np.arange(1000) % 2
    X = rng.normal(size=(1000, 3)) + y[:, None]
    with pytest.warns(FewRowsWarning, match="drawn from the 10 rows"):
        classifier = EEMClassifier(10, random_state=0).partial_fit(X[:10], y[:10])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier.partial_fit(X[10:20], y[10:20])
        EEMClassifier(10, random_state=0).partial_fit(X, y)
        batches = ((X[i : i + 10], y[i : i + 10]) for i in range(0, 1000, 10))
        EEMClassifier(10, random_state=0).fit_batches(batches)


@pytest.mark.parametrize("verb", ["partial_fit", "fit_batches"])
def test_first_rows_of_one_class_name_the_argument_that_is_missing(verb, rng):
    X, y = rng.normal(size=(20, 2)), np.zeros(20, int)
    given = (X, y) if verb == "partial_fit" else ([(X, y)],)
    with pytest.raises(InputError, match=r"only one class, 0.*`classes=`"):
        getattr(EEMClassifier(10), verb)(*given)


def test_what_was_learnt_is_shown_in_a_line(rng):
    """Sums are half a million numbers; nobody wants to read them."""
    X, y = rng.normal(size=(100, 2)), np.arange(100) % 2
    summary = EEMClassifier(10, random_state=0).fit(X, y).summary_
    text = "Summary(rows_by_class=[50.0, 50.0], n_folds=5, n_leaves=1, n_features=10)"
    assert repr(summary) == text
    summary = ExtremeEntropyClassifier(n_landmarks=10, random_state=0).fit(X, y).summary_
    assert repr(summary).startswith("Summary(rows_by_class=[50.0, 50.0], n_folds=5, n_leaves=1")


def test_small_parts_of_equal_rows_may_have_equal_counts(rng):
    """Two flips of a coin often show what two others did."""
    X, y = np.tile([[0.0], [1.0]], (50, 1)), np.tile([0, 1, 1, 1], 25)
    classifier = EEMClassifier(5, random_state=0).fit(X, y)
    part = classifier.twin().fit(X[:4], y[:4])
    assert (part + classifier.twin().fit(X[4:8], y[4:8])).summary_.counts.sum() == 8


@pytest.mark.parametrize("weight", [2.0, 1 / 178, "floats", "fractions"])
def test_the_same_part_with_weights_is_not_merged_twice(weight, rng):
    """Weights that are not one do not hide that rows are the same."""
    X, y = rng.normal(size=(178, 4)), np.arange(178) % 3
    w = {"floats": rng.uniform(0.5, 3, 178), "fractions": rng.uniform(0, 1, 178)}.get(weight)
    w = np.full(178, weight) if w is None else w
    classifier = EEMClassifier(10, random_state=0).fit(X, y)
    ours, part = (classifier.twin().fit(X[i::2], y[i::2], w[i::2]) for i in (0, 1))
    ours.merge(part)
    with pytest.raises(MergeError, match="would count twice"):
        ours.merge(part)
    with pytest.raises(MergeError, match="would count twice"):
        ours.merge(ours)


@pytest.mark.parametrize("batches", [lambda X, y: (X, y), lambda X, y: [(X,)], lambda X, y: X])
def test_batches_that_are_no_pairs_are_refused_in_a_sentence(batches, rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(InputError, match=r"must be \(X, y\) or \(X, y, sample_weight\)"):
        EEMClassifier(5).fit_batches(batches(X, y))
