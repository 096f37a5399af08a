"""Called from any thread, several at once: the same bits, no lost rows, BLAS left alone."""

import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from laws import assert_same_decisions, assert_same_sums
from threadpoolctl import threadpool_info, threadpool_limits

from extreme_entropy import EEKMClassifier, EEMClassifier, ExtremeEntropyClassifier
from extreme_entropy.engines.threads import OneBlasThread, one_blas_thread
from extreme_entropy.estimators import base, tables
from extreme_entropy.moments.sketch import RowSketch


def blas_threads():
    """The number of threads of each copy of BLAS."""
    return [
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    ]


@pytest.fixture
def rows(rng):
    """A table of two overlapping classes."""
    y = (rng.random(700) < 0.3).astype(int)
    return rng.normal(size=(700, 4)) + y[:, None], y


# -------------------------------------------------------------------- real fits in workers

SCRIPT = """
import hashlib
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from threadpoolctl import threadpool_info

from extreme_entropy import EEKMClassifier, EEMClassifier, ExtremeEntropyClassifier

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(900, 15))
y = (X[:, 0] * X[:, 1] + rng.normal(size=900) > 0.5).astype(int)


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def answers(unfitted):
    classifier = clone(unfitted).set_params(random_state=0).fit(X[:600], y[:600])
    twin = classifier.twin().partial_fit(X[:300], y[:300]).partial_fit(X[300:], y[300:])
    found = []
    for one in (classifier, classifier + twin.forget(X[:600], y[:600])):
        found += [one.predict_proba(X), one.decision_function(X[:1]), one.project(X[:40])]
        found += [one.predict(X), one.predict_log_proba(X[:3]), one.explain(X[:50])]
        if hasattr(one, "transform"):
            found += [one.transform(X[:5]), one.transform(X)]
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in found)).hexdigest()


def all_answers():
    kinds = EEMClassifier(200), EEKMClassifier(200), ExtremeEntropyClassifier(n_landmarks=60)
    return [answers(unfitted) for unfitted in kinds]


if __name__ == "__main__":
    before, expected = blas_threads(), all_answers()
    with ThreadPoolExecutor(2) as pool:
        workers = [pool.submit(all_answers) for _ in range(2)]
        assert all_answers() == expected, "the main thread, beside workers"
        assert all(future.result() == expected for future in workers), "workers"
    assert blas_threads() == before, (before, blas_threads())
    for backend in ("threading", "loky"):
        nested = Parallel(2, backend=backend)(delayed(all_answers)() for _ in range(2))
        assert nested == [expected] * 2, backend
    assert blas_threads() == before, (before, blas_threads())
    print(*expected)
"""


def test_workers_beside_the_main_thread_give_the_same_bits(tmp_path):
    """Fits, sums and predictions, whether BLAS has one thread or as many as there are cores."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    bits = []
    for threads in ("1", "64"):
        done = subprocess.run(
            [sys.executable, str(script)],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        bits.append(done.stdout)
    assert bits[0] == bits[1]


def test_blas_has_one_thread_while_a_worker_fits(rows):
    """Also if the main thread has asked for more, and owns the setting."""
    seen = []

    def activation(Z, W, b):
        seen.append(blas_threads())
        return np.tanh(Z @ W.T + b)

    classifier = EEMClassifier(10, activation=activation, random_state=0)
    with threadpool_limits(3, user_api="blas"), ThreadPoolExecutor(1) as pool:
        pool.submit(classifier.fit, *rows).result()
        pool.submit(classifier.predict, rows[0][:1]).result()
        assert {n for numbers in seen for n in numbers} == {1}
        assert set(blas_threads()) == {3}


def test_blas_is_restored_when_users_in_several_threads_leave_in_any_order():
    """The setting is shared by all threads: the last one out puts back what the first one found."""
    with threadpool_limits(3, user_api="blas"), ThreadPoolExecutor(2) as pool:
        users = [one_blas_thread() for _ in range(3)]
        for user in users:
            pool.submit(user.__enter__).result()
        for user in users[:2]:
            pool.submit(user.__exit__, None, None, None).result()
            assert set(blas_threads()) == {1}
        users[2].__exit__(None, None, None)
        assert set(blas_threads()) == {3}


def test_a_number_that_somebody_else_sets_in_the_meantime_stays():
    """What was found is not put back over a later decision."""
    before = blas_threads()
    try:
        with one_blas_thread():
            threadpool_limits(2, user_api="blas")
        assert set(blas_threads()) == {2}
    finally:
        threadpool_limits(before[0], user_api="blas")


class OwnedByThread:
    """A BLAS on OpenMP, as threadpoolctl shows it: the setting belongs to the calling thread."""

    user_api, threading_layer = "blas", "openmp"

    def __init__(self):
        self.numbers = threading.local()

    @property
    def num_threads(self):
        return getattr(self.numbers, "n", 8)

    def set_num_threads(self, n):
        self.numbers.n = n


def test_where_the_setting_belongs_to_a_thread_each_thread_has_its_own():
    """Two users overlap in two threads; each finds its own number again."""
    library = OwnedByThread()
    limited = OneBlasThread(lambda: [library])

    def enter_and_leave(inside, leave):
        library.set_num_threads(5)
        with limited():
            inside.wait()
            numbers = [library.num_threads]
            leave.wait()
        return [*numbers, library.num_threads]

    inside, leave = threading.Barrier(2), threading.Barrier(2)
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(enter_and_leave, inside, leave)
        with limited():
            inside.wait()
            assert library.num_threads == 1
        assert library.num_threads == 8
        leave.wait()
        assert other.result() == [1, 5]
    with ThreadPoolExecutor(1, initializer=limited.for_good) as pool:
        assert pool.submit(lambda: library.num_threads).result() == 1


# -------------------------------------------------------------------- one classifier, many threads


def test_a_prediction_during_partial_fit_leaves_no_stale_machine(rows, monkeypatch):
    """What was solved from the old sums is not taken for what the new ones give."""
    X, y = rows
    classifier = EEMClassifier(20, random_state=0).fit(X[:300], y[:300])
    expected = classifier.twin().fit(X, y)
    classifier.partial_fit(X[300:400], y[300:400])
    solving, learned = threading.Event(), threading.Event()
    solve = base.solve

    def slow(*args, **kwargs):
        solving.set()
        assert learned.wait(60)
        return solve(*args, **kwargs)

    with monkeypatch.context() as patch, ThreadPoolExecutor(1) as pool:
        patch.setattr(base, "solve", slow)
        answer = pool.submit(classifier.predict_proba, X)
        assert solving.wait(60)
        classifier.partial_fit(X[400:], y[400:])
        learned.set()
        between = answer.result()
    assert_same_decisions(classifier, expected, X)
    assert not np.array_equal(between, classifier.predict_proba(X))
    # The answer that was under way is that of the rows before.
    before = classifier.twin().fit(X[:400], y[:400])
    np.testing.assert_allclose(between, before.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("kind", [EEMClassifier, EEKMClassifier, ExtremeEntropyClassifier])
def test_concurrent_partial_fits_lose_no_rows(kind, rows):
    """The first ones too, of which only one may draw φ; predictions go on meanwhile."""
    X, y = rows
    size = {"n_landmarks": 30} if kind is not EEMClassifier else {"n_hidden": 30}
    classifier = kind(**size, random_state=0)
    parts = np.array_split(np.arange(len(y)), 14)
    ready = threading.Barrier(7)

    def learn(some):
        ready.wait()
        for part in some:
            classifier.partial_fit(X[part], y[part], classes=[0, 1])
            assert np.isfinite(classifier.predict_proba(X[:5])).all()

    with pytest.warns(), ThreadPoolExecutor(7) as pool:
        list(pool.map(learn, [parts[i::7] for i in range(7)]))
    assert classifier.summary_.counts.sum() == len(y)
    assert_same_sums(classifier, classifier.twin().fit(X, y), X)


def test_forgetting_and_merging_in_threads_lose_no_rows(rows):
    """All that changes a classifier takes turns, whichever order they come in."""
    X, y = rows
    classifier = EEMClassifier(20, random_state=0).fit(X[:500], y[:500])
    more = [classifier.twin().fit(X[i : i + 50], y[i : i + 50]) for i in range(500, 700, 50)]
    with ThreadPoolExecutor(4) as pool:
        gone = [slice(i, i + 25) for i in range(0, 200, 25)]
        tasks = [pool.submit(classifier.forget, X[s], y[s]) for s in gone]
        tasks += [pool.submit(classifier.merge, part) for part in more]
        for task in tasks:
            task.result()
    assert_same_sums(classifier, classifier.twin().fit(X[200:], y[200:]), X)


def test_a_merge_takes_the_other_classifier_as_it_was_at_one_moment(rows, monkeypatch):
    """What is compared with the rows already learnt is what is added, and nothing else."""
    X, y = rows
    ours = EEMClassifier(20, random_state=0).fit(X[:300], y[:300])
    theirs = ours.twin().fit(X[300:500], y[300:500])
    share_of = RowSketch.share_of

    def meanwhile(self, other, **options):
        monkeypatch.undo()
        theirs.merge(ours)  # as another thread might, right after the comparison
        return share_of(self, other, **options)

    monkeypatch.setattr(RowSketch, "share_of", meanwhile)
    ours.merge(theirs)
    assert ours.summary_.counts.sum() == theirs.summary_.counts.sum() == 500


def test_a_prediction_during_a_refit_is_of_one_classifier(rows, monkeypatch):
    """Columns are checked as the classifier that answers knows them."""
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcd"))
    classifier = EEMClassifier(20, random_state=0).fit(frame, y)
    expected = classifier.predict_proba(frame)
    check_x = tables.check_x

    def meanwhile(estimator, X):
        monkeypatch.undo()
        classifier.fit(frame[list("dcb")], y)  # as another thread might, before rows are checked
        return check_x(estimator, X)

    monkeypatch.setattr(tables, "check_x", meanwhile)
    np.testing.assert_array_equal(classifier.predict_proba(frame), expected)
    assert classifier.predict_proba(frame[list("dcb")]).shape == (700, 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_process_forked_during_a_fit_can_learn_and_has_its_blas_threads(rows):
    """Threads that held a turn or a limit are not in the new process."""
    X, y = rows
    inside, leave = threading.Event(), threading.Event()

    def activation(Z, W, b):
        inside.set()
        assert leave.wait(60)
        return np.tanh(Z @ W.T + b)

    classifier = EEMClassifier(10, activation=activation, random_state=0)
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as pool:
        fitting = pool.submit(classifier.fit, X, y)
        assert inside.wait(60)
        child = os.fork()
        if not child:
            signal.alarm(30)  # a deadlock ends the child
            leave.set()
            right = set(blas_threads()) == {2}
            right &= classifier.fit(X, y).summary_.counts.sum() == len(y)
            os._exit(0 if right and set(blas_threads()) == {2} else 1)
        leave.set()
        fitting.result()
        assert os.waitpid(child, 0)[1] == 0
        assert set(blas_threads()) == {2}


def test_an_abandoned_use_that_ends_while_the_lock_is_held_ends():
    """As garbage collection may have it: in the thread that holds the lock."""
    library = OwnedByThread()
    library.threading_layer = "pthreads"
    limited = OneBlasThread(lambda: [library])
    abandoned = limited()
    abandoned.__enter__()
    set_num_threads = library.set_num_threads

    def collect(n):
        library.set_num_threads = set_num_threads
        set_num_threads(n)
        abandoned.__exit__(None, None, None)

    library.set_num_threads(5)
    library.set_num_threads = collect
    with ThreadPoolExecutor(1) as pool:

        def work():
            with limited():
                return library.num_threads

        # In one thread, whose number this library keeps.
        assert pool.submit(work).result(30) == 1
    with limited():
        assert library.num_threads == 1
    assert limited.users == 0


def test_the_limit_is_sent_to_workers_by_name():
    """Ray pickles functions with what they refer to; a lock cannot be pickled."""
    assert pickle.loads(pickle.dumps(one_blas_thread)) is one_blas_thread  # noqa: S301
