"""One classifier in many threads: learning, merging, forgetting and predicting at the same time.

    python -m fuzz.threads --seconds 60 --seed 0
    python -m fuzz.threads --seed 0 --case 17    one case again, with its traceback

What the threads do follows from the seed and the number of the case; in which order they do it does
not. Whatever the order: no row is lost, no prediction fails, BLAS is left as it was, nothing hangs.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

from . import main_of_checks
from .estimators import assert_same, at, classifier, table

SECONDS = 60  # until threads that wait for each other are a finding


def blas() -> list[int]:
    """The number of threads of each copy of BLAS."""
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def check(rng: np.random.Generator) -> None:
    """One case: steps that change a classifier, shared among threads, beside predictions."""
    X, y = table(rng)
    drawn = classifier(rng).fit(X, y)
    order = rng.permutation(len(y))
    parts = np.array_split(order, int(rng.integers(2, 8)))
    shared, gone = drawn.twin().fit(X, y), parts[0]
    steps: list[tuple[Any, ...]] = []
    for start in range(0, len(gone), 3):
        few = gone[start : start + 3]
        steps.append((shared.forget, at(X, few), y[few]))
    # Another classifier learns the other rows from nothing.
    other = drawn.twin()
    for part in parts[1:]:
        if rng.random() < 0.5:
            steps.append((other.partial_fit, at(X, part), y[part]))
        else:
            twin = drawn.twin().partial_fit(at(X, part), y[part])
            steps.append((_merge, other, twin))
    done = threading.Event()

    def predict() -> None:
        while not done.is_set():
            if shared.summary_.counts.any(axis=1).all():
                assert np.isfinite(shared.predict_proba(X)).all(), "a prediction is not finite"

    before = int(rng.integers(1, 4))
    with threadpool_limits(before, user_api="blas"):
        with ThreadPoolExecutor(int(rng.integers(2, 6))) as pool:
            asking = pool.submit(predict)
            working = [pool.submit(*steps[i]) for i in rng.permutation(len(steps))]
            try:
                for future in working:
                    future.result(SECONDS)
            finally:
                done.set()
            asking.result(SECONDS)
        assert set(blas()) == {before}, f"BLAS has {blas()} threads instead of {before}"
    rest = np.concatenate(parts[1:])
    for found in (shared, other):
        assert found.summary_.counts.sum() == len(rest), "rows were lost"
    if len(np.unique(y[rest])) == len(drawn.classes_):
        expected = drawn.twin().fit(at(X, rest), y[rest])
        assert_same(shared, expected, X, "forget in threads")
        assert_same(other, expected, X, "learning in threads")
    p = drawn.predict_proba(X)
    again = Parallel(3, backend="threading")(delayed(_fit_anew)(drawn, X, y) for _ in range(3))
    for found in again:
        np.testing.assert_array_equal(found, p, "bits in joblib's threads")


def _merge(classifier: Any, twin: Any) -> None:
    classifier.merge(twin, force=True)  # rows may be equal


def _fit_anew(drawn: Any, X: Any, y: Any) -> Any:
    return drawn.__class__(**drawn.get_params()).fit(X, y).predict_proba(X)


if __name__ == "__main__":
    main_of_checks(__doc__, check)
