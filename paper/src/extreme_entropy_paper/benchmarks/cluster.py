"""What does a cluster cost? Dask workers beside threads, and the cost model beside both; Spark.

Rows are made up on the workers and kept there (`persist`), as they would be read from files, before
time is taken; workers keep freed memory (see docs/guide/clusters.md). Threads fit the same rows in
memory.
The model has six constants, all measured here on one core: see `constants`.

`--spark` times fits of each engine on the same rows, one engine after another. Spark keeps them in
its executors' memory (`cache`). Rows say how busy the computer was, also with other work (`load`),
and how much time processors spent on the fit (`cpu_seconds`), which other work changes less. Two
more sizes on Spark tell apart what a row, a block and a fit cost: see `spark_constants`.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import itemgetter
from typing import Any

import click
import numpy as np

from extreme_entropy import EEMClassifier

from ..places import ROOT
from ..store import Row, Run, add_run, measured_on, runs
from .markdown import cell, embed
from .measure import best_seconds
from .samples import two_classes

PAGE = ROOT / "docs" / "guide" / "clusters.md"
D, SEED = 20, 0
PASSES = 4  # statistics, sampled rows, those of each class, sums
WORKERS = (1, 2, 4)
# Dask has its workers give freed memory back at once, and taking it anew takes long: keep it.
ENVIRONMENT = "distributed.nanny.pre-spawn-environ"
KEPT = {"MALLOC_TRIM_THRESHOLD_": 2**28, "MALLOC_MMAP_THRESHOLD_": 2**25}


def block(start: int, n: int) -> tuple[Any, Any]:
    """Rows of a block, one class in twenty."""
    X, y = two_classes(n, D, 0.05, 0.7, [SEED, start])
    return X, y


def in_memory(n: int, size: int) -> tuple[Any, Any]:
    parts = [block(start, size) for start in range(0, n, size)]
    X, y = (np.concatenate(side) for side in zip(*parts, strict=True))
    return X, y


def on_workers(n: int, size: int) -> tuple[Any, Any]:
    """The same rows in blocks, made where they are needed and kept there."""
    import dask.array as da
    from dask import delayed, persist
    from distributed import wait

    parts = [delayed(block, nout=2)(start, size) for start in range(0, n, size)]
    X = da.concatenate([da.from_delayed(part[0], (size, D), float) for part in parts])
    y = da.concatenate([da.from_delayed(part[1], (size,), int) for part in parts])
    X, y = persist(X, y)
    wait([X, y])
    return X, y


# -------------------------------------------------------------------- the model


def constants(h: int) -> dict[str, float]:
    """What one core needs: for a row, to add two summaries, to send one; and to solve."""
    X, y = in_memory(200_000, 50_000)
    small = EEMClassifier(h, random_state=SEED)
    few, many = best_seconds(
        partial(small.fit, X[:50_000], y[:50_000]), partial(small.fit, X, y), repeats=3
    )
    summary = small.summary_

    def solve() -> None:
        small.partial_fit(X[:1], y[:1])  # so that there is something new to solve
        _ = small.machine_

    solved, add = best_seconds(solve, lambda: summary + summary, repeats=3)
    packed = pickle.dumps(summary, protocol=5)
    (send,) = best_seconds(partial(round_trip, summary), repeats=3)
    return {
        "row_seconds": (many - few) / 150_000,
        "add_seconds": add,
        "send_seconds": send,
        "solve_seconds": solved,
        "summary_bytes": len(packed),
        "task_seconds": task_seconds(),
    }


def task_seconds(n_tasks: int = 400) -> float:
    """What Dask's scheduler needs for a task that does nothing."""
    import dask
    from distributed import Client, LocalCluster

    settings = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**settings) as cluster, Client(cluster):
        tasks = [dask.delayed(nothing, pure=False)(number) for number in range(n_tasks)]
        dask.compute(*tasks)  # once before it counts
        return best_seconds(partial(dask.compute, *tasks))[0] / n_tasks


def nothing(number: int) -> int:
    return 0


def round_trip(summary: Any) -> None:
    """A summary as bytes through a socket of this computer and back into arrays."""
    import socket
    import threading

    ours, theirs = socket.socketpair()
    packed = pickle.dumps(summary, protocol=5)

    def receive() -> None:
        left, parts = len(packed), []
        while left:
            parts.append(theirs.recv(min(left, 2**20)))
            left -= len(parts[-1])
        pickle.loads(b"".join(parts))  # noqa: S301 (our own bytes)

    thread = threading.Thread(target=receive)
    thread.start()
    ours.sendall(packed)
    thread.join()
    ours.close()
    theirs.close()


def modelled(c: dict[str, float], n: int, n_blocks: int, workers: int, cores: int) -> float:
    """Seconds of a fit: rows shared by the cores, sums within and between workers, tasks, a solve.

    Every worker adds up its blocks; then log₂(workers) steps of one send and one sum remain.
    """
    busy = min(workers, cores)
    within = max(n_blocks / busy - 1, 0) * c["add_seconds"]
    between = np.ceil(np.log2(workers)) * (c["send_seconds"] + c["add_seconds"])
    tasks = PASSES * 2 * n_blocks * c["task_seconds"]
    return n * c["row_seconds"] / busy + within + between + tasks + c["solve_seconds"]


# -------------------------------------------------------------------- measured


def on_threads(n: int, size: int, h: int, n_jobs: int, repeats: int) -> float:
    X, y = in_memory(n, size)
    model = EEMClassifier(h, n_jobs=n_jobs, random_state=SEED)
    return best_seconds(partial(model.fit, X, y), repeats=repeats)[0]


def on_cluster(n: int, size: int, h: int, workers: int, repeats: int) -> tuple[float, float]:
    """The best time of a fit, and bytes that workers sent each other in one."""
    model = EEMClassifier(h, random_state=SEED)
    with dask_client(workers) as client:
        X, y = on_workers(n, size)
        model.fit(X, y)  # once before it counts: workers import what they need
        before = sent(client)
        (first,) = best_seconds(partial(model.fit, X, y), repeats=1)
        moved = sent(client) - before
        others = best_seconds(partial(model.fit, X, y), repeats=repeats - 1) if repeats > 1 else []
        return min(first, *others) if others else first, moved


@contextmanager
def dask_client(workers: int) -> Iterator[Any]:
    """A client of workers with one thread each."""
    import dask
    from distributed import Client, LocalCluster

    settings = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    named = {f"{ENVIRONMENT}.{name}": value for name, value in KEPT.items()}
    with (
        dask.config.set(named),
        LocalCluster(**settings) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def spark_session(workers: int) -> Iterator[Any]:
    """A session with executors of one core each."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master(f"local-cluster[{workers},1,2048]")
    for name, value in {
        "spark.executor.memory": "2g",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(sys.path),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def on_executors(session: Any, n: int, size: int) -> Any:
    """The same rows in partitions, made where they are needed and kept there."""

    def make(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for number in batch.column(0).to_pylist():
                X, y = block(number * size, size)
                columns = {f"x{j}": X[:, j] for j in range(D)}
                yield from pa.table({**columns, "label": y}).to_batches(10_000)

    schema = ", ".join(f"x{j} double" for j in range(D)) + ", label long"
    rows = session.range(0, n // size, 1, n // size).mapInArrow(make, schema).cache()
    rows.count()
    return rows


def sent(client: Any) -> float:
    """Bytes of results that workers have sent to others so far."""

    def count(dask_worker: Any) -> float:
        return float(dask_worker.transfer_outgoing_bytes_total)

    return sum(client.run(count).values())


def measure(n: int, h: int, size: int, repeats: int) -> list[Row]:
    c = constants(h)
    click.echo("  ".join(f"{name}: {value:.4g}" for name, value in c.items()))
    cores = os.cpu_count() or 1
    common = {"rows": n, "columns": D, "h": h, "blocks": n // size}
    measured: list[Row] = []

    def note(engine: str, workers: int, seconds: float, moved: float | None, model: float) -> None:
        measured.append(
            {
                **common,
                "engine": engine,
                "workers": workers,
                "fit_seconds": round(seconds, 3),
                "model_seconds": round(model, 3),
                "moved_mb": None if moved is None else round(moved / 1e6, 1),
                **{name: float(f"{value:.6g}") for name, value in c.items()},
                "cores": cores,
            }
        )
        click.echo("  ".join(f"{k}: {measured[-1][k]}" for k in list(measured[-1])[4:9]))

    for workers in WORKERS:
        seconds = on_threads(n, size, h, workers, repeats)
        note("threads", workers, seconds, None, threads_model(c, n, workers, cores))
        time.sleep(1)
        seconds, moved = on_cluster(n, size, h, workers, repeats)
        note("dask", workers, seconds, moved, modelled(c, n, n // size, workers, cores))
    return measured


def measure_engines(n: int, h: int, workers: int, repeats: int) -> list[Row]:
    """Fits of each engine on the same rows; then Spark's on fewer rows, and in more blocks."""
    common = {"columns": D, "h": h, "workers": workers, "repeats": repeats}
    cores, few = os.cpu_count() or 1, n // 4
    measured: list[Row] = []

    def note(engine: str, rows: int, blocks: int, *given: Any) -> None:
        # Once before it counts, with few neurons: processes import what they need.
        EEMClassifier(10, random_state=SEED).fit(*given)
        model = EEMClassifier(h, n_jobs=workers, random_state=SEED)
        timed = [timed_fit(partial(model.fit, *given)) for _ in range(repeats)]
        best = min(timed, key=itemgetter("fit_seconds"))
        case = {"rows": rows, "blocks": blocks, "engine": engine}
        measured.append({**case, **common, **best, "cores": cores})
        if engine == "spark":
            measured[-1]["sum_bytes"] = sum_bytes(rows // blocks, h)
        click.echo("  ".join(f"{k}: {v}" for k, v in measured[-1].items()))

    note("threads", n, 20, *in_memory(n, n // 20))
    with dask_client(workers):
        note("dask", n, 20, *on_workers(n, n // 20))
    with spark_session(workers) as session:
        for rows, blocks in ((n, 20), (few, 20), (few, 80)):
            kept = on_executors(session, rows, rows // blocks)
            note("spark", rows, blocks, kept, "label")
    return measured


def timed_fit(fit: Callable[[], Any]) -> Row:
    """Seconds of a fit, by the clock and of all processors, and how busy the computer was."""
    cpu, start = processor_seconds(), time.perf_counter()
    fit()
    return {
        "fit_seconds": round(time.perf_counter() - start, 3),
        "cpu_seconds": round(processor_seconds() - cpu, 2),
        "load": round(os.getloadavg()[0], 1),
    }


def processor_seconds() -> float:
    """Time that processors have spent on this process and all that it started, ended ones too."""
    import psutil  # comes with Dask's workers

    this = psutil.Process()
    times = [process.cpu_times() for process in (this, *this.children(recursive=True))]
    return float(sum(t.user + t.system + t.children_user + t.children_system for t in times))


def sum_bytes(size: int, h: int) -> int:
    """What the engine for Spark sends of a block."""
    from extreme_entropy.engines.spark import packed

    return len(packed(EEMClassifier(h, random_state=SEED).fit(*block(0, size)).summary_))


def threads_model(c: dict[str, float], n: int, n_jobs: int, cores: int) -> float:
    return n * c["row_seconds"] / min(n_jobs, cores) + c["solve_seconds"]


# -------------------------------------------------------------------- the page


def cluster_table(run: Run) -> list[str]:
    """Threads and workers, measured and modelled."""
    first = run.rows[0]
    threads = {r["workers"]: r["fit_seconds"] for r in run.rows if r["engine"] == "threads"}
    return [
        f"{first['rows']:,} rows of {first['columns']} columns in {first['blocks']} blocks, "
        f"h = {first['h']}, on {first['cores']} cores, which more workers than that must share.",
        "",
        "| engine | threads or workers | fit, s | model, s | measured / model | × threads "
        "| moved, MB |",
        "|---|--:|--:|--:|--:|--:|--:|",
        *(
            f"| {r['engine']} | {r['workers']} | {r['fit_seconds']:.2f} "
            f"| {r['model_seconds']:.2f} | {r['fit_seconds'] / r['model_seconds']:.2f} "
            f"| {r['fit_seconds'] / threads[r['workers']]:.2f} | {cell(r['moved_mb'], '.1f')} |"
            for r in run.rows
        ),
        "",
        *measured_on([run], level=3)[:-1],
    ]


def spark_table(run: Run) -> list[str]:
    """Threads, Dask and Spark on the same rows; Spark on fewer rows and in more blocks."""
    first = run.rows[0]
    return [
        f"Rows of {first['columns']} columns, h = {first['h']}, {first['workers']} threads, "
        f"workers or executors on {first['cores']} cores; fits counted: {first['repeats']}, "
        "the best is shown. Processor time is that of all processes. The load is that of "
        "the whole computer, other work included: compare only within this table.",
        "",
        "| engine | rows | blocks | fit, s | processor time, s | load |",
        "|---|--:|--:|--:|--:|--:|",
        *(
            f"| {r['engine']} | {r['rows']:,} | {r['blocks']} | {r['fit_seconds']:.1f} "
            f"| {r['cpu_seconds']:.1f} | {r['load']:.1f} |"
            for r in run.rows
        ),
        "",
        *measured_on([run], level=3)[2:-1],
    ]


def spark_constants(run: Run) -> tuple[float, float, float]:
    """Processor time for a row, for a block and for a fit on Spark, from its three sizes."""
    measured = [r for r in run.rows if r["engine"] == "spark"]
    sizes = [[r["rows"], r["blocks"], 1] for r in measured]
    row, part, fit = np.linalg.solve(sizes, [r["cpu_seconds"] for r in measured])
    return float(row), float(part), float(fit)


def spark_plan(run: Run, n: float = 1e9, size: int = 200_000) -> list[str]:
    """What a billion rows would take on executors of one core, by these constants."""
    row, part, fit = spark_constants(run)
    threads, spark = (run.rows[i]["cpu_seconds"] / run.rows[i]["rows"] for i in (0, 2))
    sent, blocks = run.rows[2]["sum_bytes"], int(n / size)
    chain = 3 * blocks**0.5 * part
    lines = [
        f"Processor time at h = {run.rows[0]['h']}, {run.rows[0]['columns']} columns: "
        f"{1e6 * row:.1f} µs a row, {part:.2f} s a block and {fit:.1f} s a fit (threads: "
        f"{1e6 * threads:.1f} µs a row in all, Spark with {run.rows[2]['blocks']} blocks: "
        f"{1e6 * spark:.1f}). A block sends {sent / 1e6:.1f} MB.",
        "",
        f"For {n:,.0f} rows in {blocks:,} blocks of {size:,}, which send "
        f"{blocks * sent / 1e9:.0f} GB to {int(blocks**0.5)} groups, and these "
        f"{blocks**0.5 * sent / 1e9:.1f} GB to one task:",
        "",
        "| executors of one core | rows, min | blocks, min | sums in turn, at most, min "
        "| in all, min |",
        "|--:|--:|--:|--:|--:|",
    ]
    for workers in (10, 100, 1000):
        minutes = np.array([n * row / workers, blocks * part / workers, chain]) / 60
        cells = " | ".join(f"{part:.1f}" for part in (*minutes, minutes.sum() + fit / 60))
        lines.append(f"| {workers:,} | {cells} |")
    return lines


def model_table(run: Run) -> list[str]:
    """What an hour would fit, by the model."""
    first = run.rows[0]
    lines = [
        f"Constants at h = {first['h']}, {first['columns']} columns, on one core: "
        f"{1e6 * first['row_seconds']:.2f} µs a row; a summary is "
        f"{first['summary_bytes'] / 1e6:.1f} MB, takes {1e3 * first['add_seconds']:.0f} ms to "
        f"add and {1e3 * first['send_seconds']:.0f} ms to send within a computer; "
        f"{first['solve_seconds']:.2f} s to solve; {1e3 * first['task_seconds']:.1f} ms for a "
        f"task of Dask's scheduler, which keeps up with {keeps_up(first):.0f} workers on blocks of "
        f"200,000 rows in {PASSES} passes.",
        "",
        "| workers | rows in an hour | of it: sums between workers, s | blocks to each worker |",
        "|--:|--:|--:|--:|",
    ]
    for workers in (1, 10, 100, 1000):
        n, between, own = in_an_hour(first, workers)
        lines.append(f"| {workers:,} | {n:.1e} | {between:.1f} | {own:,} |")
    return lines


def in_an_hour(c: Row, workers: int, size: int = 200_000) -> tuple[float, float, int]:
    """Rows that fit into an hour in blocks of 200 000; seconds of sums between; blocks each."""
    between = float(np.ceil(np.log2(workers)) * (c["send_seconds"] + c["add_seconds"]))
    left = 3600 - between - c["solve_seconds"]
    own = int(left / (size * c["row_seconds"] + c["add_seconds"]))
    return float(own) * workers * size, between, own


def keeps_up(c: Row, size: int = 200_000) -> float:
    """How many workers Dask's scheduler can keep busy with blocks of so many rows."""
    return float(size * c["row_seconds"] / (2 * PASSES * c["task_seconds"]))


def page(text: str) -> str:
    """docs/guide/clusters.md with its tables made anew."""
    found = [run for run in runs("cluster") if run.rows]
    scaling = [run for run in found if "model_seconds" in run.rows[0]][-1]
    engines = [run for run in found if "cpu_seconds" in run.rows[0]][-1]
    text = embed(text, "cluster", cluster_table(scaling))
    text = embed(text, "model", model_table(scaling))
    text = embed(text, "spark", spark_table(engines))
    return embed(text, "spark plan", spark_plan(engines))


@click.command()
@click.option("--full", is_flag=True, help="2 000 000 rows and h = 500.")
@click.option("--render", "only_render", is_flag=True, help="Only make the tables from the rows.")
@click.option("--repeats", default=3, show_default=True)
@click.option("--spark", is_flag=True, help="Spark beside Dask and threads, h = 500.")
@click.option("--rows", default=2_000_000, show_default=True, help="With --spark.")
def cluster(full: bool, only_render: bool, repeats: int, spark: bool, rows: int) -> None:
    """Time Dask workers beside threads; tables in docs/guide/clusters.md."""
    n, h = (2_000_000, 500) if full else (200_000, 200)
    if spark and not only_render:
        add_run("cluster", measure_engines(rows, 500, 2, repeats))
    elif not only_render:
        add_run("cluster", measure(n, h, n // 20, repeats))
    PAGE.write_text(page(PAGE.read_text()))
