"""What does a call cost outside the main thread, relative to the same call in it?

Two calls at once are timed each by itself, from its own start to its own end; the slower of the two
counts. Each has its own classifier, since calls that change one wait for each other. Loky's times
are taken inside its processes, without the transport of rows. BLAS has its default threads: unset
OPENBLAS_NUM_THREADS before you run this.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from threading import Barrier
from typing import Any

import click
import numpy as np
from joblib import Parallel, delayed

from extreme_entropy import EEKMClassifier, EEMClassifier, ExtremeEntropyClassifier

from ..store import Row, add_run
from .samples import two_classes

ROWS, COLUMNS, EXPLAINED = 3000, 10, 100
MANY = 40_000  # rows: enough that a call spends its time outside Python's interpreter
MODELS = {
    "EEMClassifier(200)": EEMClassifier(200, random_state=0),
    "EEKMClassifier(200)": EEKMClassifier(200, random_state=0),
    "ExtremeEntropyClassifier(n_landmarks=100)": ExtremeEntropyClassifier(
        n_landmarks=100, random_state=0
    ),
}
# A call of a model with rows and labels, and how often it is made in a row to be timed at all.
CALLS: dict[str, tuple[Callable[[Any, Any, Any], Any], int]] = {
    "fit": (lambda model, X, y: model.fit(X, y), 1),
    "partial_fit": (lambda model, X, y: model.partial_fit(X, y), 3),
    "predict_proba": (lambda model, X, y: model.predict_proba(X), 10),
    "predict_proba of one row": (lambda model, X, y: model.predict_proba(X[:1]), 100),
    f"explain of {EXPLAINED} rows": (lambda model, X, y: model.explain(X[:EXPLAINED]), 5),
    f"partial_fit of {MANY} rows": (
        lambda model, X, y: model.partial_fit(np.resize(X, (MANY, COLUMNS)), np.resize(y, MANY)),
        1,
    ),
    f"explain of {ROWS} rows": (lambda model, X, y: model.explain(X), 1),
}


def seconds(call: str, model: Any, X: Any, y: Any, barrier: Barrier | None = None) -> float:
    """Seconds of a call of a fitted model, after its threshold and ridge are known."""
    work, times = CALLS[call]
    model.predict_proba(X[:1])
    if barrier is not None:
        barrier.wait()
    start = time.perf_counter()
    for _ in range(times):
        work(model, X, y)
    return (time.perf_counter() - start) / times


def measure(name: str, call: str, X: Any, y: Any, repeats: int) -> list[Row]:
    """A row for each place that makes the call; places take turns, and the best of each counts."""
    first = deepcopy(MODELS[name]).fit(X, y)
    second, barrier = deepcopy(first), Barrier(2)
    with (
        ThreadPoolExecutor(2) as pool,
        Parallel(2, backend="threading") as threads,
        Parallel(2, backend="loky") as processes,
    ):

        def pair(parallel: Parallel) -> float:
            return max(parallel(delayed(seconds)(call, model, X, y) for model in (first, second)))

        def at_once() -> float:
            both = [pool.submit(seconds, call, m, X, y, barrier) for m in (first, second)]
            return max(future.result() for future in both)

        places: dict[str, Callable[[], float]] = {
            "main thread": lambda: seconds(call, first, X, y),
            "worker thread": lambda: pool.submit(seconds, call, first, X, y).result(),
            "two worker threads": at_once,
            "joblib, threading": lambda: pair(threads),
            "joblib, loky": lambda: pair(processes),
        }
        taken = np.array([[place() for place in places.values()] for _ in range(repeats)])
    best = taken.min(axis=0)
    return [
        {
            "model": name,
            "call": call,
            "place": place,
            "milliseconds": round(1e3 * time_taken, 3),
            "x_main": round(time_taken / best[0], 2),
        }
        for place, time_taken in zip(places, best.tolist(), strict=True)
    ]


@click.command("thread-calls")
@click.option("--repeats", default=9, show_default=True, help="Of each call in each place.")
def thread_calls(repeats: int) -> None:
    """Time calls in worker threads and processes beside the main thread."""
    X, y = two_classes(ROWS, COLUMNS, 0.3, 0.7)
    measured = [
        row for name in MODELS for call in CALLS for row in measure(name, call, X, y, repeats)
    ]
    for row in measured:
        click.echo("  ".join(f"{name}: {value}" for name, value in row.items()))
    add_run("thread_calls", measured)
