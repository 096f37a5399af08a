"""What does a cluster cost? Dask workers beside threads, and the cost model beside both.

    python benchmarks/cluster.py            200 000 rows, h = 200
    python benchmarks/cluster.py --full     2 000 000 rows, h = 500
    python benchmarks/cluster.py --render   docs/internet-scale.md from the rows on disk

Rows are made up on the workers and kept there (`persist`), as they would be read from files, before
time is taken; workers keep freed memory (see docs/cluster.md). Threads fit the same rows in memory.
The model has six constants, all measured here on one core: see `constants`.
"""

from __future__ import annotations

import argparse
import os
import pickle
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import rows
from measure import best_seconds

from extreme_entropy import EEMClassifier

PAGE = Path(__file__).parent.parent / "docs" / "internet-scale.md"
BEGIN, END = "<!-- {}: made by benchmarks/cluster.py -->", "<!-- end of {} -->"
D, SEED = 20, 0
PASSES = 3  # ranges, drawn rows, sums
WORKERS = (1, 2, 4)
# Dask has its workers give freed memory back at once, and taking it anew takes long: keep it.
ENVIRONMENT = "distributed.nanny.pre-spawn-environ"
KEPT = {"MALLOC_TRIM_THRESHOLD_": 2**28, "MALLOC_MMAP_THRESHOLD_": 2**25}


def block(start: int, n: int) -> tuple[Any, Any]:
    """Rows of a block, one class in twenty."""
    rng = np.random.default_rng([SEED, start])
    y = (rng.random(n) < 0.05).astype(int)
    return rng.normal(size=(n, D)) + 0.7 * y[:, None], y


def in_memory(n: int, size: int) -> tuple[Any, Any]:
    parts = [block(start, size) for start in range(0, n, size)]
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


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
    solve, add = best_seconds(small._solve, lambda: summary + summary, repeats=3)
    packed = pickle.dumps(summary, protocol=5)
    (send,) = best_seconds(partial(round_trip, summary), repeats=3)
    return {
        "row_seconds": (many - few) / 150_000,
        "add_seconds": add,
        "send_seconds": send,
        "solve_seconds": solve,
        "summary_bytes": len(packed),
        "task_seconds": task_seconds(),
    }


def task_seconds(n_tasks: int = 400) -> float:
    """What Dask's scheduler needs for a task that does nothing."""
    import dask.array as da
    from distributed import Client, LocalCluster

    from extreme_entropy.engines.dask import blocks

    settings = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**settings) as cluster, Client(cluster):
        given = blocks(da.zeros((n_tasks // 4, 1), chunks=(1, 1)))
        given.add_up(nothing)
        # Of each block, one task makes it, one works on it, and its sum is another.
        return best_seconds(partial(given.add_up, nothing))[0] / (3 * n_tasks // 4)


def nothing(block: Any) -> int:
    return 0


def round_trip(summary: Any) -> None:
    """A summary as bytes through a socket of this machine and back into arrays."""
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
    machine = EEMClassifier(h, n_jobs=n_jobs, random_state=SEED)
    return best_seconds(partial(machine.fit, X, y), repeats=repeats)[0]


def on_cluster(n: int, size: int, h: int, workers: int, repeats: int) -> tuple[float, float]:
    """The best time of a fit, and bytes that workers sent each other in one."""
    import dask
    from distributed import Client, LocalCluster

    settings = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    named = {f"{ENVIRONMENT}.{name}": value for name, value in KEPT.items()}
    with (
        dask.config.set(named),
        LocalCluster(**settings) as cluster,
        Client(cluster) as client,
    ):
        X, y = on_workers(n, size)
        machine = EEMClassifier(h, random_state=SEED)
        machine.fit(X, y)  # once before it counts: workers import what they need
        before = sent(client)
        (first,) = best_seconds(partial(machine.fit, X, y), repeats=1)
        moved = sent(client) - before
        others = (
            best_seconds(partial(machine.fit, X, y), repeats=repeats - 1) if repeats > 1 else []
        )
        return min(first, *others) if others else first, moved


def sent(client: Any) -> float:
    """Bytes of results that workers have sent to others so far."""

    def count(dask_worker: Any) -> float:
        return float(dask_worker.transfer_outgoing_bytes_total)

    return sum(client.run(count).values())


def measure(n: int, h: int, size: int, repeats: int) -> list[dict[str, Any]]:
    c = constants(h)
    print("  ".join(f"{name}: {value:.4g}" for name, value in c.items()), flush=True)
    cores = os.cpu_count() or 1
    common = {"rows": n, "columns": D, "h": h, "blocks": n // size}
    measured = []

    def note(engine: str, workers: int, seconds: float, moved: float | str, model: float) -> None:
        measured.append(
            {
                **common,
                "engine": engine,
                "workers": workers,
                "fit_seconds": f"{seconds:.3f}",
                "model_seconds": f"{model:.3f}",
                "moved_mb": moved if isinstance(moved, str) else f"{moved / 1e6:.1f}",
                **{name: f"{value:.6g}" for name, value in c.items()},
                "cores": cores,
            }
        )
        print("  ".join(f"{k}: {measured[-1][k]}" for k in list(measured[-1])[4:9]), flush=True)

    for workers in WORKERS:
        seconds = on_threads(n, size, h, workers, repeats)
        note("threads", workers, seconds, "", threads_model(c, n, workers, cores))
        time.sleep(1)
        seconds, moved = on_cluster(n, size, h, workers, repeats)
        note("dask", workers, seconds, moved, modelled(c, n, n // size, workers, cores))
    return measured


def threads_model(c: dict[str, float], n: int, n_jobs: int, cores: int) -> float:
    return n * c["row_seconds"] / min(n_jobs, cores) + c["solve_seconds"]


# -------------------------------------------------------------------- the page


def cluster_table(measured: list[dict[str, str]]) -> list[str]:
    """Threads and workers, measured and modelled."""
    first = measured[0]
    threads = {r["workers"]: float(r["fit_seconds"]) for r in measured if r["engine"] == "threads"}
    return [
        f"{int(first['rows']):,} rows of {first['columns']} columns in {first['blocks']} blocks, "
        f"h = {first['h']}, on {first['cores']} cores, which more workers than that must share.",
        "",
        "| engine | threads or workers | fit, s | model, s | measured / model | × threads "
        "| moved, MB |",
        "|---|--:|--:|--:|--:|--:|--:|",
        *(
            f"| {r['engine']} | {r['workers']} | {float(r['fit_seconds']):.2f} "
            f"| {float(r['model_seconds']):.2f} "
            f"| {float(r['fit_seconds']) / float(r['model_seconds']):.2f} "
            f"| {float(r['fit_seconds']) / threads[r['workers']]:.2f} | {r['moved_mb']} |"
            for r in measured
        ),
        "",
        *rows.measured_on(measured, level=3)[:-1],
    ]


def model_table(measured: list[dict[str, str]]) -> list[str]:
    """What an hour would fit, by the model."""
    first = measured[0]
    c = {name: float(first[name]) for name in ("row_seconds", "add_seconds", "send_seconds")}
    c["solve_seconds"] = float(first["solve_seconds"])
    h = int(first["h"])
    lines = [
        f"Constants at h = {h}, {first['columns']} columns, on one core: "
        f"{1e6 * c['row_seconds']:.2f} µs a row; a summary is "
        f"{float(first['summary_bytes']) / 1e6:.1f} MB, takes {1e3 * c['add_seconds']:.0f} ms to "
        f"add and {1e3 * c['send_seconds']:.0f} ms to send within a machine; "
        f"{c['solve_seconds']:.2f} s to solve; {1e3 * float(first['task_seconds']):.1f} ms for a "
        "task of Dask's scheduler.",
        "",
        "| workers | rows in an hour | of it: sums between workers, s | blocks to each worker |",
        "|--:|--:|--:|--:|",
    ]
    for workers in (1, 10, 100, 1000):
        n, between, own = in_an_hour(c, workers)
        lines.append(f"| {workers:,} | {n:.1e} | {between:.1f} | {own:,} |")
    return lines


def in_an_hour(c: dict[str, float], workers: int, size: int = 200_000) -> tuple[float, float, int]:
    """Rows that fit into an hour in blocks of 200 000; seconds of sums between; blocks each."""
    between = float(np.ceil(np.log2(workers)) * (c["send_seconds"] + c["add_seconds"]))
    left = 3600 - between - c["solve_seconds"]
    own = int(left / (size * c["row_seconds"] + c["add_seconds"]))
    return float(own) * workers * size, between, own


def page(text: str) -> str:
    """docs/internet-scale.md with its tables made anew."""
    measured = rows.read("cluster")
    for name, table in (("cluster", cluster_table), ("model", model_table)):
        begin, end = BEGIN.format(name), END.format(name)
        before, rest = text.split(begin)
        after = rest.split(end)[1]
        text = before + "\n".join([begin, "", *table(measured), "", end]) + after
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="2 000 000 rows, h = 500")
    parser.add_argument("--render", action="store_true", help="only write docs/internet-scale.md")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if not options.render:
        n, h = (2_000_000, 500) if options.full else (200_000, 200)
        rows.append("cluster", measure(n, h, n // 20, options.repeats))
    PAGE.write_text(page(PAGE.read_text()))


if __name__ == "__main__":
    main()
