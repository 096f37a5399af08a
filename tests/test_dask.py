"""Rows in Dask's blocks: the same machine as from gathered rows, wherever the work is done."""

import os
import re
import signal
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from dask.sizeof import sizeof
from laws import assert_same_sums
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_info, threadpool_limits

from extreme_entropy import (
    EEKMClassifier,
    EEKMClassifierCV,
    EEMClassifier,
    EEMClassifierCV,
    ExtremeEntropyClassifier,
)
from extreme_entropy.engines import blocks as seam
from extreme_entropy.engines.blocks import Block, add_in_turn, on_block, tree
from extreme_entropy.errors import ForgetError, InputError, TooLargeError
from extreme_entropy.moments.sketch import RowSketch
from extreme_entropy.selection.one_pass import CrossValidation

ROOT = Path(__file__).parent.parent
N, D = 6_000, 4
KINDS = {
    "EEM": EEMClassifier(20, relevance="uniform", random_state=1),
    "EEM rbf": EEMClassifier(20, activation="rbf", scale="minmax", random_state=1),
    "EEM standard": EEMClassifier(20, relevance="uniform", scale="standard", random_state=1),
    "EEM paper": EEMClassifier.paper("sig", 20, random_state=1),
    "EEKM": EEKMClassifier(20, random_state=1),
    "forest": ExtremeEntropyClassifier(n_landmarks=20, n_leaves=4, random_state=3),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def new(kind="EEM", **parameters):
    return clone(KINDS[kind]).set_params(**parameters)


@pytest.fixture(scope="module")
def rows():
    """Rows sorted by class, so that some blocks have one class only."""
    rng = np.random.default_rng(7)
    y = np.sort((rng.random(N) < 0.2).astype(int))
    return rng.normal(size=(N, D)) + 0.8 * y[:, None], y


def in_blocks(X, y, *others, size=1_000):
    """Everything in blocks of so many rows."""
    return [da.from_array(part, chunks=(size, *part.shape[1:])) for part in (X, y, *others)]


def unknown(array):
    """The same blocks, whose lengths Dask does not know."""
    return array[
        array.map_blocks(
            lambda b: np.ones(len(b), bool), dtype=bool, drop_axis=[*range(1, array.ndim)]
        )
    ]


def close(ours, theirs, tolerance=1e-6):
    np.testing.assert_allclose(ours, theirs, atol=tolerance * np.abs(theirs).max())


def bits(machine):
    """All that was learnt and solved, to the last bit."""
    cells = [cell for row in machine.summary_.leaves[0].cells for cell in row]
    return [machine.beta_.tobytes(), *(c.scatter.tobytes() + c.cubic.tobytes() for c in cells)]


@contextmanager
def within(seconds):
    """Whatever hangs is an error."""

    def late(*_):
        raise TimeoutError(f"not done within {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# -------------------------------------------------------------------- equal to gathered rows


@every_kind
def test_blocks_without_rows_are_predicted(kind, rows):
    """As a filter leaves them."""
    X, y = rows
    fitted = new(kind).fit(X, y)
    X_ = da.from_array(X, chunks=(700, D))
    some = X_[X_[:, 0] > np.quantile(X[:700, 0], 0.9999)]
    assert fitted.predict(some).compute().shape == (
        int((X[:, 0] > np.quantile(X[:700, 0], 0.9999)).sum()),
    )
    assert fitted.predict_proba(X_[X_[:, 0] > 1e9]).compute().shape == (0, 2)


@every_kind
def test_blocks_equal_gathered_rows(kind, rows):
    """Also where blocks hold one class only."""
    X, y = rows
    assert_same_sums(new(kind).fit(*in_blocks(X, y)), new(kind).fit(X, y), X)


@every_kind
def test_weights_count_as_in_memory(kind, rows, rng):
    """Among them zeros, and a block without any weight."""
    X, y = rows
    weight = rng.integers(0, 4, N).astype(float)
    weight[1_000:2_000] = 0
    X_, y_, weight_ = in_blocks(X, y, weight)
    assert_same_sums(new(kind).fit(X_, y_, weight_), new(kind).fit(X, y, weight), X)


def test_more_than_two_classes_with_names(rows):
    """Labels may be strings, in blocks that lack some of them."""
    X = rows[0]
    names = np.array(["well", "ill", "unsure"])[np.arange(N) * 3 // N]
    ours, theirs = new().fit(*in_blocks(X, names)), new().fit(X, names)
    assert ours.classes_.tolist() == ["ill", "unsure", "well"]
    assert_same_sums(ours, theirs, X)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_blocks_of_every_sort_work(scheduler, rows):
    """Empty, of unknown length, with columns apart, with labels in other blocks or in memory."""
    X, y = rows
    expected = new().fit(X, y)
    X_, y_ = in_blocks(X, y)
    lengths = (0, 2_500, 0, 3_499, 1, 0)
    with dask.config.set(scheduler=scheduler):
        assert_same_sums(new().fit(X_.rechunk({0: lengths}), y_), expected, X)
        assert_same_sums(new().fit(X_.rechunk({1: 3}), y_.rechunk(700)), expected, X)
        assert_same_sums(new().fit(unknown(X_), unknown(y_)), expected, X)
        assert_same_sums(new().fit(unknown(X_), y_), expected, X)
        assert_same_sums(new().fit(X_, y), expected, X)
        assert_same_sums(new().fit(X_, y_.reshape(-1, 1).rechunk((700, 1))[:, 0]), expected, X)
        assert_same_sums(new().fit(X_, pd.Series(y)), expected, X)


def test_sparse_blocks_work(rows):
    """SciPy's matrices in blocks."""
    X = rows[0] * (rows[0] > 0.5)
    X_, y_ = in_blocks(X, rows[1])
    X_ = X_.map_blocks(sp.csr_array, dtype=float, meta=sp.csr_array((0, 0)))
    machine = new().fit(X_, y_)
    assert_same_sums(machine, new().fit(sp.csr_array(X), rows[1]), X)
    close(machine.decision_function(X_).compute(), machine.decision_function(X))


def test_single_precision_stays_single(rows):
    """The blocks' precision is that of the collection, and decides as in memory."""
    X, y = rows[0].astype(np.float32), rows[1]
    ours, theirs = new().fit(*in_blocks(X, y)), new().fit(X, y)
    close(ours.decision_function(X), theirs.decision_function(X), 1e-3)
    looked = {X_block.dtype for X_block in seen_by_phi(X, y)}
    assert looked == {np.dtype(np.float32)}


def seen_by_phi(X, y):
    """What an activation of one's own is shown."""
    shown = []

    def activation(Z, weights, biases):
        shown.append(Z)
        return Z @ weights.T + biases

    new(activation=activation, scale=None).fit(*in_blocks(X, y))
    return shown


def test_whole_numbers_are_taken(rows):
    """As in memory, in double precision."""
    X, y = np.round(10 * rows[0]).astype(int), rows[1]
    assert_same_sums(new().fit(*in_blocks(X, y)), new().fit(X, y), X)


# -------------------------------------------------------------------- frames


@pytest.fixture(scope="module")
def frame(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcd")).astype({"b": np.float32})
    return frame.assign(y=np.array(["no", "yes"])[y])


def test_frames_keep_names(frame):
    """Names are kept and checked; labels may be strings in Arrow's format."""
    given = dd.from_pandas(frame, npartitions=5)
    X, X_ = frame[list("abcd")], given[list("abcd")]
    ours, theirs = new().fit(X_, given.y), new().fit(X, frame.y)
    assert_same_sums(ours, theirs, X)
    assert ours.feature_names_in_.tolist() == list("abcd")
    found = ours.predict(X_)
    assert isinstance(found, da.Array)
    assert np.isnan(found.shape[0])
    np.testing.assert_array_equal(found.compute(), theirs.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        ours.predict(given[list("dcba")])


def test_empty_partitions_say_nothing_of_labels(frame):
    """A partition without rows may have lost the type of its labels: whole numbers stay whole."""
    frame = frame.assign(y=(frame.y == "yes").astype(int))
    parts = [frame.iloc[:0].astype({"y": float}), frame.iloc[::2], frame.iloc[1::2]]
    X_, y_ = (
        dd.from_map(lambda i, c=columns: parts[i][c], range(3), meta=frame[columns].iloc[:0])
        for columns in (list("abcd"), "y")
    )
    machine = new().fit(X_, y_)
    assert machine.classes_.dtype == int
    assert machine.predict(X_).dtype == int
    assert_same_sums(machine, new().fit(frame[list("abcd")], frame.y), frame[list("abcd")])


def test_small_files_stay_beside_their_labels(frame, tmp_path):
    """Dask reads small files of one column together; rows and labels must not part."""
    for i, part in enumerate(np.array_split(np.arange(N), 12)):
        frame.iloc[part].to_parquet(tmp_path / f"{i:02}.parquet")
    given = dd.read_parquet(tmp_path)
    machine, X = new().fit(given.drop(columns="y"), given.y), frame[list("abcd")]
    assert_same_sums(machine, new().fit(X, frame.y), X)
    ours = machine.score(given.drop(columns="y"), given.y)
    assert ours == pytest.approx(machine.score(X, frame.y))


# -------------------------------------------------------------------- the same bits


def test_schedulers_and_threads_do_not_change_a_bit(rows):
    """For the same blocks; and BLAS is left as it was found."""
    given = in_blocks(*rows)
    before = threadpool_info()
    machines = []
    for settings in (
        {"scheduler": "synchronous"},
        {"scheduler": "threads", "num_workers": 1},
        {"scheduler": "threads", "num_workers": 4},
    ):
        with dask.config.set(**settings):
            machines.append(new().fit(*given))
    assert bits(machines[0]) == bits(machines[1]) == bits(machines[2])
    assert threadpool_info() == before


def test_blas_stays_on_one_thread_until_the_last_block_is_done(rows):
    """Blocks on threads come and go in any order; the limit is the whole process's."""

    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    seen = set()

    def activation(Z, weights, biases):
        seen.update(threads())
        return np.tanh(Z @ weights.T + biases)

    with threadpool_limits(2, "blas"), dask.config.set(scheduler="threads", num_workers=4):
        new(activation=activation).fit(*in_blocks(*rows, size=100))
        assert threads() == {2}
    assert seen == {1}


def test_dask_can_tell_the_size_of_a_sum(rows):
    """Summaries are spilled and moved by their size, not by that of a pointer."""
    with dask.config.set(scheduler="synchronous"):
        machine = new().fit(*in_blocks(*rows))
    assert sizeof(machine.summary_) >= 2 * 5 * 20 * 20 * 8


def test_a_tree_follows_from_the_number_of_parts():
    """Neighbours first, whoever is left over at the end."""

    def join(a, b):
        return f"({a}{b})"

    assert tree("a", join) == "a"
    assert tree("abc", join) == "((ab)c)"
    assert tree("abcdefg", join) == "(((ab)(cd))((ef)g))"
    for n in (1, 2, 3, 7, 8, 13):  # the same, without all of them at a time
        letters = "abcdefghijklm"[:n]
        assert add_in_turn(iter(letters), join) == tree(letters, join)


# -------------------------------------------------------------------- answers


METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "project")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_answers_are_lazy_and_equal(method, n_classes, rows):
    """A Dask array with the right type and blocks, and nothing computed before it is asked for."""
    X, y = rows[0], np.arange(N) % n_classes
    machine = new().fit(X, y)
    computed = []

    def block(part):
        computed.append(len(part))
        return part

    X_ = da.from_array(X, chunks=((0, 2_500, 0, 3_500), D))
    X_ = X_.map_blocks(block, dtype=float, meta=np.empty((0, 0)))
    answer, expected = getattr(machine, method)(X_), getattr(machine, method)(X)
    assert computed == []
    assert (answer.dtype, answer.shape) == (expected.dtype, expected.shape)
    assert answer.chunks[0] == X_.chunks[0]
    found = answer.compute()
    assert sum(computed) == N
    assert found.dtype == expected.dtype
    if method == "predict":
        np.testing.assert_array_equal(found, expected)
    else:
        close(found, expected, 1e-12)
    np.testing.assert_array_equal(answer[2_500:2_600].compute(), found[2_500:2_600])
    assert machine.score(X_, y) == pytest.approx(machine.score(X, y))


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_equal_those_of_gathered_rows(weighted, rows, rng):
    """The share of rows, or of weight, whose class is predicted."""
    X, y = rows
    weight = [rng.integers(0, 3, N).astype(float)] if weighted else []
    machine = new().fit(X, y)
    expected = machine.score(X, y, *weight)
    assert machine.score(*in_blocks(X, y, *weight)) == pytest.approx(expected, abs=1e-14)
    assert expected == pytest.approx(
        np.average(machine.predict(X) == y, weights=weight[0] if weight else None)
    )


# -------------------------------------------------------------------- learning on


def test_rows_in_blocks_are_learnt_and_forgotten(rows):
    """partial_fit equals one fit with that φ; forget takes the rows out again."""
    X, y = rows
    half = np.arange(N) % 2 == 0
    machine = new().fit(X[half], y[half])
    before = machine.decision_function(X)
    others = in_blocks(X[~half], y[~half])
    machine.partial_fit(*others)
    assert_same_sums(machine, machine.twin().fit(X, y), X)
    close(machine.forget(*others).decision_function(X), before)
    with pytest.raises(ForgetError):
        machine.forget(*others).forget(*others)


def test_the_first_partial_fit_draws_from_all_blocks(rows):
    """As `fit` does; labels to come may be named."""
    X, y = rows
    assert_same_sums(new().partial_fit(*in_blocks(X, y)), new().fit(X, y), X)
    machine = new().partial_fit(*in_blocks(X, y), classes=[0, 1, 2])
    assert machine.classes_.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match=r"Block 1 .*among the classes"):
        new().fit(X, y).partial_fit(*in_blocks(X[:2_000], np.repeat([0, 5], 1_000)))


def test_twins_fit_on_blocks_can_be_merged(rows):
    """A twin keeps φ, and may see one class."""
    X, y = rows
    machine = new().fit(X, y)
    parts = [machine.twin().fit(*in_blocks(X[y == c], y[y == c])) for c in (0, 1)]
    assert_same_sums(parts[0] + parts[1], machine, X)


# -------------------------------------------------------------------- choice


SEARCHES = {
    "EEM": EEMClassifierCV((5, 15), activation=("mixed", "sig"), cv=3, random_state=0),
    "EEM paper": EEMClassifierCV(
        (5, 15), relevance="uniform", cv=3, ridge=0.0, decision="paper", random_state=0
    ),
    "EEKM": EEKMClassifierCV((5, 15), cv=3, random_state=0),
}


def assert_same_choice(ours, theirs, X):
    close(ours.path_.scores, theirs.path_.scores, 1e-12)
    close(ours.path_.divergences, theirs.path_.divergences)
    assert ours.best_params_ == theirs.best_params_
    assert_same_sums(ours.best_estimator_, theirs.best_estimator_, X)
    close(ours.decision_function(X), theirs.decision_function(X))
    np.testing.assert_array_equal(ours.folds_.compute(), theirs.folds_)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("search", SEARCHES)
def test_searches_choose_as_on_gathered_rows(search, weighted, rows, rng):
    """Scores of every fold and size, the winner, and the machine of all rows."""
    X, y = rows
    weight = [rng.integers(0, 3, N).astype(float)] if weighted else []
    ours = clone(SEARCHES[search]).fit(*in_blocks(X, y, *weight))
    theirs = clone(SEARCHES[search]).fit(X, y, *weight)
    assert_same_choice(ours, theirs, X)
    assert ours.score(*in_blocks(X, y)) == pytest.approx(theirs.score(X, y))
    assert isinstance(ours.predict_proba(in_blocks(X, y)[0]), da.Array)


def test_where_rows_are_few_phi_is_drawn_anew_in_each_fold(rows):
    """The training sets are then parts of blocks."""
    X, y = rows
    ours, theirs = (clone(SEARCHES["EEKM"]) for _ in range(2))
    ours._cross_validation = theirs._cross_validation = CrossValidation(left=2.0)
    assert_same_choice(ours.fit(*in_blocks(X, y)), theirs.fit(X, y), X)


def test_three_classes_and_other_scores(rows):
    """Any score of labels can be taken from counts."""
    X, y = rows[0], np.digitize(rows[0][:, 0], [0.0, 1.0])
    for scoring in ("f1_macro", "balanced_accuracy", "accuracy"):
        search = EEMClassifierCV(
            (5, 15), activation=("sig",), cv=3, scoring=scoring, random_state=0
        )
        ours, theirs = clone(search).fit(*in_blocks(X, y)), clone(search).fit(X, y)
        assert_same_choice(ours, theirs, X)


def test_what_blocks_cannot_be_asked_is_refused_before_they_are_read(rows):
    """Folds by position, and scores that need more than labels."""

    def never(part):
        raise AssertionError("read")

    X_, y_ = in_blocks(*rows)
    X_ = X_.map_blocks(never, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(InputError, match="by their content"):
        EEMClassifierCV(cv=StratifiedKFold(3)).fit(X_, y_)
    with pytest.raises(InputError, match="by their content"):
        EEMClassifierCV(cv=3).fit(X_, y_, groups=np.zeros(N))
    with pytest.raises(InputError, match="labels alone"):
        EEMClassifierCV(scoring="roc_auc").fit(X_, y_)
    with pytest.raises(InputError, match="sample_weight"):
        EEMClassifierCV(scoring=make_scorer(lambda a, b: 1.0)).fit(X_, y_)


def test_a_class_too_rare_for_the_folds_is_told(rows):
    """In memory there are stratified folds; blocks cannot have them."""
    X, y = rows[0], (np.arange(N) < 60).astype(int)
    with pytest.raises(InputError, match="the rarest class has 60 rows"):
        EEMClassifierCV((5,), cv=10).fit(*in_blocks(X, y))


# -------------------------------------------------------------------- errors


@pytest.mark.parametrize("value", [-np.inf, np.inf])
def test_what_is_not_a_number_is_found_in_its_block(value, rows):
    """In fits and in answers, as an error of ours."""
    X, y = rows[0].copy(), rows[1]
    machine = new().fit(X, y)
    X[3_456, 2] = value
    X_, y_ = in_blocks(X, y)
    with pytest.raises(InputError, match=r"Block 3 .*infinity"):
        new().fit(X_, y_)
    with pytest.raises(InputError, match=r"Block 3 .*infinity"):
        machine.predict(X_).compute()
    assert len(machine.predict(X_)[:3_000].compute()) == 3_000


def test_labels_and_weights_are_checked_in_their_block(rows):
    """Missing labels, numbers that are no labels, negative weights."""
    X, y = rows
    for strange, said in ((np.nan, "NaN"), (0.5, "continuous")):
        spoilt = y.astype(float)
        spoilt[2_345] = strange
        with pytest.raises(InputError, match=rf"Block 2 .*{said}"):
            new().fit(*in_blocks(X, spoilt))
    weight = np.ones(N)
    weight[4_321] = -1
    with pytest.raises(InputError, match=r"Block 4 .*negative"):
        new().fit(*in_blocks(X, y, weight))


def test_lengths_that_differ_are_named_with_their_block(rows):
    """Known beforehand, or found in the block."""
    X, y = rows
    X_, y_ = in_blocks(X, y)
    with pytest.raises(InputError, match="differ in block 5"):
        new().fit(X_, y_[:-1])
    shorter = da.concatenate([y_[:2_000], y_[2_000:2_999], y_[3_000:]])
    with pytest.raises(InputError, match=r"Block 2 .*inconsistent numbers"):
        new().fit(unknown(X_), unknown(shorter))
    with pytest.raises(InputError, match="same blocks; X has 6, `y` 3"):
        new().fit(unknown(X_), y_.rechunk(2_000))
    with pytest.raises(InputError, match="must be a Dask collection"):
        new().fit(unknown(X_), y)
    with pytest.raises(InputError, match="sample_weight"):
        new().fit(X_, y_, np.ones(3))


def test_tables_that_are_none_are_refused(rows):
    """No columns, other columns, no rows, one class."""
    X, y = rows
    X_, y_ = in_blocks(X, y)
    with pytest.raises(InputError, match="two dimensions"):
        new().fit(y_, y_)
    with pytest.raises(ValueError, match="3 features"):
        new().fit(X, y).predict(X_[:, :3])
    with pytest.raises(InputError, match="must be rows"):
        new().fit(X_[:0], y_[:0])
    with pytest.raises(InputError, match="must be rows"):
        new().fit(X_, y_, da.zeros_like(y_))
    with pytest.raises(InputError, match="only one class"):
        new().fit(X_, da.zeros_like(y_))


def test_a_failed_fit_changes_nothing(rows):
    """The machine stays what it was."""
    X, y = rows
    machine = new().fit(X, y)
    before = machine.predict_proba(X)
    with pytest.raises(InputError):
        machine.partial_fit(*in_blocks(np.where(np.arange(N)[:, None] == 9, np.inf, X), y))
    np.testing.assert_array_equal(machine.predict_proba(X), before)


class DiskError(Exception):
    """What only the reader of the rows knows."""


def broken(part, block_info=None):
    if block_info[0]["chunk-location"][0] == 4:
        raise DiskError("sector 7")
    return part


def test_an_error_where_rows_come_from_names_the_block(rows):
    """It stays what it is, with a note."""
    X_, y_ = in_blocks(*rows)
    with pytest.raises(DiskError, match="sector 7") as error:
        new().fit(X_.map_blocks(broken, dtype=float), y_)
    assert "block 4 " in error.value.__notes__[0]


def test_an_error_in_the_work_names_the_block():
    """Ours stay ours, what cannot be used is an InputError, all else has a note."""

    def fail(error, block):
        raise error

    with pytest.raises(ForgetError, match="Block 7"):
        on_block(7, partial(fail, ForgetError("no")), Block(None))
    with pytest.raises(InputError, match="Block 7"):
        on_block(7, partial(fail, TypeError("no")), Block(None))
    with pytest.raises(ZeroDivisionError) as error:
        on_block(7, partial(fail, ZeroDivisionError("no")), Block(None))
    assert error.value.__notes__ == ["This was block 7 (the first is 0)."]


# -------------------------------------------------------------------- a cluster of processes


@pytest.fixture(scope="module")
def cluster():
    """Two workers that are processes of their own, with one thread each."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    from distributed import Client

    with within(90), Client(cluster) as client:
        yield client


@pytest.mark.parametrize("kind", ["EEM", "EEM standard", "EEKM"])
def test_a_cluster_gives_the_bits_of_one_thread(kind, client, rows):
    """And the machine of gathered rows."""
    X, y = rows
    given = in_blocks(X, y)
    ours = new(kind).fit(*given)
    with dask.config.set(scheduler="synchronous"):
        assert bits(ours) == bits(new(kind).fit(*given))
    assert_same_sums(ours, new(kind).fit(X, y), X)
    close(ours.predict_proba(given[0]).compute(), ours.predict_proba(X), 1e-12)


def test_a_search_on_a_cluster_gives_the_bits_of_one_thread(client, rows):
    """φ for several γ, sums by fold and counts all travel."""
    given = in_blocks(*rows)
    ours = clone(SEARCHES["EEKM"]).fit(*given)
    with dask.config.set(scheduler="synchronous"):
        theirs = clone(SEARCHES["EEKM"]).fit(*given)
    np.testing.assert_array_equal(ours.path_.scores, theirs.path_.scores)
    assert bits(ours.best_estimator_) == bits(theirs.best_estimator_)


def test_rows_kept_on_workers_are_used_there(client, rows, frame):
    """Collections that were persisted, arrays and frames."""
    X, y = rows
    X_, y_ = client.persist(in_blocks(X, y))
    machine = new().fit(X_, y_)
    assert_same_sums(machine, new().fit(X, y), X)
    close(machine.predict_proba(X_).compute(), machine.predict_proba(X), 1e-12)
    given = client.persist(dd.from_pandas(frame, npartitions=3))
    machine = new().fit(given[list("abcd")], given.y)
    assert_same_sums(machine, new().fit(frame[list("abcd")], frame.y), frame[list("abcd")])


def test_rows_never_come_to_the_client(client, rows, monkeypatch):
    """Ranges of columns and one summary, with the hashes of some rows, whatever their number."""
    came = []
    gather = type(client).gather

    def watched(self, *args, **kwargs):
        found = gather(self, *args, **kwargs)
        came.append(sizeof(found))
        return found

    monkeypatch.setattr(type(client), "gather", watched)
    X_ = da.random.default_rng(0).normal(size=(400_000, D), chunks=(100_000, -1))
    new("EEM rbf").fit(X_, (X_[:, 0] > 1).astype(int))
    assert len(came) == 2
    assert sum(came) < 0.05 * X_.nbytes + 24 * RowSketch.settings.most_keys


def killed_once(part, folder, visit, block_info=None):
    """Rows of a block; on its given visit to block 4 the worker is killed."""
    if block_info[0]["chunk-location"][0] == 4:
        number = 1 + len(list(Path(folder).iterdir()))
        (Path(folder) / str(number)).touch()
        if number == visit:
            os.kill(os.getpid(), signal.SIGKILL)
    return part


@pytest.mark.parametrize("visit", [1, 3], ids=["first pass", "summing up"])
def test_a_worker_killed_in_mid_fit_costs_nothing(visit, client, rows, tmp_path):
    """Its tasks are run again elsewhere: the same bits."""
    X_, y_ = in_blocks(*rows)
    dying = X_.map_blocks(
        killed_once, folder=str(tmp_path), visit=visit, dtype=float, meta=np.empty((0, 0))
    )
    ours = new().fit(dying, y_)
    assert len(list(tmp_path.iterdir())) > visit
    with dask.config.set(scheduler="synchronous"):
        assert bits(ours) == bits(new().fit(X_, y_))


def test_a_cluster_that_is_gone_is_not_asked_again(rows, monkeypatch):
    """Its own error is raised at once; to look for the block would wait for it forever."""
    lost = type("FutureCancelledError", (Exception,), {"__module__": "distributed.client"})
    asked = []

    def compute(*args, **kwargs):
        asked.append(args)
        raise lost("cancelled for reason: scheduler-connection-lost")

    monkeypatch.setattr(dask.base.DaskMethodsMixin, "compute", compute)
    with pytest.raises(lost, match="connection-lost"):
        new().fit(*in_blocks(*rows))
    assert len(asked) == 1


def test_errors_in_blocks_cross_processes(client, rows):
    """Ours and theirs, with the block's number."""
    X, y = rows[0].copy(), rows[1]
    X_, y_ = in_blocks(X, y)
    with pytest.raises(DiskError, match="sector 7") as error:
        new().fit(X_.map_blocks(broken, dtype=float, meta=np.empty((0, 0))), y_)
    assert "block 4 " in error.value.__notes__[0]
    X[1_234] = np.inf
    with pytest.raises(InputError, match=r"Block 1 .*infinity"):
        new().fit(*in_blocks(X, y))


def test_too_little_memory_is_told(rows):
    """What fits is fitted; else there is an error which names the block, and never a hang."""
    from distributed import Client, LocalCluster

    settings = {"distributed.scheduler.allowed-failures": 0}
    with (
        within(90),
        dask.config.set(settings),
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit="500MiB",
            silence_logs=50,
        ) as cluster,
        Client(cluster),
    ):
        X_, y_ = in_blocks(*rows, size=3_000)
        assert_same_sums(new("EEM rbf").fit(X_, y_), new("EEM rbf").fit(*rows), rows[0])
        with pytest.raises(TooLargeError, match=r"died on block \d .*smaller blocks"):
            new("EEM rbf", n_hidden=3_000).fit(X_, y_)


# -------------------------------------------------------------------- the seam


def test_without_dask_the_extra_is_named(rows, monkeypatch):
    """Where a collection comes from a part of Dask that is there."""
    monkeypatch.delitem(sys.modules, "extreme_entropy.engines.dask", raising=False)
    monkeypatch.setitem(sys.modules, "dask.delayed", None)
    with pytest.raises(ImportError, match=r"extreme-entropy\[dask\]"):
        new().fit(*in_blocks(*rows))


def test_the_page_on_engines_is_true(rows, tmp_path, monkeypatch):
    """The engine that it adds fits the same machine."""
    page = (ROOT / "docs" / "guide" / "clusters.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"`npz_folder.py`:\n\n```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "npz_folder.py").write_text(example)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(seam.ENGINES, "npz_folder", "npz_folder")
    X, y = rows
    (tmp_path / "rows").mkdir()
    for i, part in enumerate(np.array_split(np.arange(N), 5)):
        np.savez(tmp_path / "rows" / f"{i}.npz", X=X[part], y=y[part])
    folder = __import__("npz_folder").Folder(tmp_path / "rows")
    try:
        machine = new().fit(folder, folder)
        assert_same_sums(machine, new().fit(X, y), X)
        close(np.concatenate(list(machine.predict_proba(folder))), machine.predict_proba(X))
        assert machine.score(folder, folder) == pytest.approx(machine.score(X, y))
    finally:
        sys.modules.pop("npz_folder")
