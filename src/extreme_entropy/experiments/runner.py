"""Runs jobs on processes and keeps their rows: resumable, within a budget, skips with a reason."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread

from .jobs import Job
from .store import Row, Store

PACKAGES = ("extreme-entropy", "numpy", "scipy", "scikit-learn", "imbalanced-learn", "lightgbm")


def run(
    path: Path,
    plan: Iterable[tuple[Job, str | None]],
    work: Callable[[Job], list[Row]],
    *,
    budget: float = float("inf"),
    n_jobs: int | None = None,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> bool:
    """Do what is not done yet of a plan; whether all of it is done.

    A plan is jobs, and for each why not to try it, or None. `work` makes the rows of a job in a
    process of its own. No job is begun once the budget (seconds) is used up.
    """
    deadline = time.monotonic() + budget
    with Store(path) as store:
        store.append(_facts())
        waiting = [(job.without(store.done), reason) for job, reason in plan]
        waiting = [(job, reason) for job, reason in waiting if job.settings]
        total, done = len(waiting), 0
        for job, reason in waiting:
            if reason:
                for setting in job.settings:
                    store.append({**job.about(setting), "skipped": reason})
                done += 1
        jobs = iter([job for job, reason in waiting if not reason])
        watch(done, total)
        workers = n_jobs or os.cpu_count() or 1
        context = get_context("spawn")  # a fork would inherit threads of BLAS in mid-air
        with ProcessPoolExecutor(workers, context, initializer=_die_with_parent) as pool:
            running: dict[Future[list[Row]], Job] = {}
            while True:
                while len(running) < 2 * workers and time.monotonic() < deadline:
                    following = next(jobs, None)
                    if following is None:
                        break
                    running[pool.submit(work, following)] = following
                if not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    job = running.pop(future)
                    try:
                        found = future.result()
                    except Exception as error:
                        error.add_note(f"This was {job.model} on {job.dataset}, fold {job.fold}.")
                        raise
                    for row in found:
                        store.append(row)
                    done += 1
                    watch(done, total)
        return done == total


def _die_with_parent() -> None:
    """Let a worker end when the run that started it is killed; it would wait for ever."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _facts() -> Row:
    """When, from which commit, with which versions and where the rows that follow were made."""
    return {
        "run": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "versions": _versions(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}",
    }


def _versions() -> dict[str, str]:
    """Of all packages that have a part in rows and are installed."""
    found = {}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _commit() -> str | None:
    """The commit of the source tree, where there is one."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()
