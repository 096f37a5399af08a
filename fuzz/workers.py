"""Workers killed in mid-fit: the same model to the last bit or a sentence, and never a hang.

    python -m fuzz.workers --seconds 60 --seed 0
    python -m fuzz.workers --seed 0 --case 17    one case again

A case follows from the seed and its number, but for the very moment of a kill. Cases take turns: on
Dask, one or two workers of a cluster of processes are killed from outside; on Spark and Ray, the
process that works on a block kills itself once, while it computes features. What is not installed
is skipped, and said.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from extreme_entropy import EEKMClassifier, EEMClassifier, ExtremeEntropyClassifier
from extreme_entropy.errors import ExtremeEntropyError

from . import main

Array = np.ndarray[Any, Any]

ROWS, COLUMNS = 3000, 4
SECONDS = 120  # that a fit may take, though workers have to be started again
BLOCK_SECONDS = 0.02  # that it takes to read a block, so that there is time to be killed in
COUNTS: Counter[str] = Counter()  # fits whose workers were killed, and what became of them


def rows() -> tuple[Array, Array]:
    """Rows sorted by class, so that some blocks have one class only."""
    rng = np.random.default_rng(0)
    y = np.sort((rng.random(ROWS) < 0.3).astype(int))
    return rng.normal(size=(ROWS, COLUMNS)) + 0.8 * y[:, None], y


def classifier(rng: np.random.Generator) -> Any:
    """A random small classifier."""
    kinds = [
        EEMClassifier(15, relevance="uniform", random_state=0),
        EEMClassifier(15, scale="standard", random_state=0),
        EEKMClassifier(15, random_state=0),
        ExtremeEntropyClassifier(n_landmarks=10, n_leaves=2, random_state=0),
    ]
    return kinds[rng.integers(len(kinds))]


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Whatever hangs is an error."""

    def late(*_: Any) -> None:
        raise AssertionError(f"a fit hung for {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def fitted_or_refused(fit: Callable[[], Any]) -> Any:
    """A fitted classifier, or the error of ours; all else is a finding."""
    with within(SECONDS):
        try:
            return fit()
        except ExtremeEntropyError as error:
            return error


def check_same(ours: Any, theirs: Any, law: str) -> None:
    """The same bits, unless it was refused."""
    if isinstance(ours, ExtremeEntropyError):
        COUNTS[f"{law}: refused"] += 1
        return
    COUNTS[f"{law}: same bits"] += 1
    X, _ = rows()
    counts = [model.summary_.counts.tolist() for model in (ours, theirs)]
    assert counts[0] == counts[1], f"{law}: rows were lost, or counted twice"
    same = ours.decision_function(X).tobytes() == theirs.decision_function(X).tobytes()
    assert same, f"{law}: other bits"


# -------------------------------------------------------------------- Dask


def slowly(part: Array) -> Array:
    """A block that takes some time to be read."""
    time.sleep(BLOCK_SECONDS)
    return part


class Killer(threading.Thread):
    """Kills workers of a cluster, each after some seconds."""

    def __init__(self, client: Any, delays: list[float]) -> None:
        super().__init__(daemon=True)
        self.client, self.delays, self.done = client, delays, threading.Event()

    def run(self) -> None:
        for delay in self.delays:
            if self.done.wait(delay):
                return
            with suppress(OSError):  # the worker, or the way to it, may be gone by itself
                os.kill(next(iter(self.client.run(os.getpid).values())), signal.SIGKILL)
                COUNTS["Dask: workers killed"] += 1


@contextmanager
def dask_cluster() -> Iterator[Any]:
    """Two workers that are processes, and come again when they die."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(silence_logs=50, **options) as cluster, Client(cluster) as client:
        yield client


def check_dask(rng: np.random.Generator) -> None:
    """A fit while workers are killed, and one in this process alone.

    Each case has a cluster of its own, since one whose workers are killed as they start may be left
    with fewer.
    """
    import dask
    import dask.array as da

    X, y = rows()
    size, model = int(rng.integers(150, 700)), classifier(rng)
    X_ = da.from_array(X, chunks=(size, -1)).map_blocks(slowly, dtype=float, meta=X[:0])
    y_ = da.from_array(y, chunks=size)
    with dask.config.set(scheduler="synchronous"):
        begin = time.monotonic()
        theirs = clone(model).fit(X_, y_)
        seconds = time.monotonic() - begin
    with dask_cluster() as client:
        if rng.random() < 0.3:  # rows that lie on the workers die with them
            X_, y_ = client.persist([X_, y_])
        killer = Killer(client, rng.uniform(0, 0.8 * seconds, rng.integers(1, 3)).tolist())
        killer.start()
        try:
            ours = fitted_or_refused(lambda: model.fit(X_, y_))
        finally:
            killer.done.set()
            killer.join()
    check_same(ours, theirs, "Dask")


# -------------------------------------------------------------------- Spark and Ray


def deadly(Z: Array, weights: Array, biases: Array, *, folder: str, driver: int, at: int) -> Array:
    """An activation that kills its process once, unless that is the driver."""
    if os.getpid() != driver:
        number = len(os.listdir(folder))
        (Path(folder) / f"{number}-{os.getpid()}").touch()
        if number == at:
            os.kill(os.getpid(), signal.SIGKILL)
    return np.tanh(Z @ weights.T + biases)


def check_self_killed(law: str, table: Any, rng: np.random.Generator) -> None:
    """A fit whose workers kill themselves, and one whose workers live."""

    def fit(at: int) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            function = partial(deadly, folder=folder, driver=os.getpid(), at=at)
            model = EEMClassifier(15, activation=function, relevance="uniform", random_state=0)
            fitted = fitted_or_refused(lambda: model.fit(table, "y"))
            COUNTS[f"{law}: workers killed"] += 0 <= at < len(os.listdir(folder))
            return fitted

    check_same(fit(int(rng.integers(0, 5))), fit(-1), law)


@contextmanager
def spark_table() -> Iterator[Any]:
    """The rows as a Spark DataFrame, on two executors of this computer."""
    import pandas as pd  # type: ignore[import-untyped]
    from pyspark.sql import SparkSession

    X, y = rows()
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS)]).assign(y=y)
    builder = SparkSession.builder.master("local-cluster[2,1,512]")
    settings = {
        "spark.executor.memory": "512m",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "spark.task.maxFailures": 3,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session.createDataFrame(frame).repartitionByRange(6, "x0").cache()
    finally:
        session.stop()


@contextmanager
def ray_table() -> Iterator[Any]:
    """The rows as a Ray Dataset of six blocks, on two workers of this computer."""
    import pyarrow as pa
    import ray
    from ray import data

    X, y = rows()
    columns = {f"x{j}": X[:, j] for j in range(COLUMNS)} | {"y": y}
    parts = np.array_split(np.arange(ROWS), 6)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    data.DataContext.get_current().enable_progress_bars = False
    try:
        yield data.from_arrow(
            [pa.table({name: cells[part] for name, cells in columns.items()}) for part in parts]
        )
    finally:
        ray.shutdown()


TABLES = {"pyspark": ("Spark", spark_table), "ray": ("Ray", ray_table)}


# -------------------------------------------------------------------- all of it


@contextmanager
def engines() -> Iterator[dict[str, Callable[[np.random.Generator], None]]]:
    """What can be killed here, by name; what cannot is said."""
    logging.disable(logging.CRITICAL)  # each engine has much to say about a worker that died
    with ExitStack() as stack:
        checks: dict[str, Callable[[np.random.Generator], None]] = {}
        if not hasattr(signal, "SIGALRM"):
            print("Skipped: processes are killed by signals, which this system does not have.")
        elif find_spec("distributed") is None:
            print("Skipped: Dask, since `distributed` is not installed.")
        else:
            checks["Dask"] = check_dask
        for module, (name, table) in TABLES.items():
            if find_spec(module) is None:
                print(f"Skipped: {name}, since `{module}` is not installed.")
            elif hasattr(signal, "SIGALRM"):
                checks[name] = partial(check_self_killed, name, stack.enter_context(table()))
        yield checks


def run(seconds: float, seed: int) -> int:
    """Cases for so many seconds; how many there were. Findings are printed, and are an error."""
    case = findings = 0
    with engines() as checks:
        end = time.monotonic() + seconds
        while checks and (time.monotonic() < end or not case):
            try:
                run_check(checks, seed, case)
            except Exception as error:
                findings += 1
                print(f"--seed {seed} --case {case}: {type(error).__name__}: {str(error)[:300]}")
            case += 1
    print("; ".join(f"{name} {n}" for name, n in sorted(COUNTS.items())))
    print(f"{case} cases: {findings} findings")
    if findings:
        raise AssertionError(f"{findings} findings")
    return case


def run_check(checks: dict[str, Any], seed: int, case: int) -> None:
    """One case on one of the engines, in turn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        list(checks.values())[case % len(checks)](np.random.default_rng([seed, case]))


def run_case(seed: int, case: int) -> None:
    """One case, which follows from the seed and its number."""
    with engines() as checks:
        run_check(checks, seed, case)


if __name__ == "__main__":
    main(__doc__, run, run_case)
