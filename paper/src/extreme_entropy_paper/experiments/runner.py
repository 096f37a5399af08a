"""Runs jobs on processes and keeps their rows: resumable, within a budget, skips with a reason."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import active_children, get_context, parent_process
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
        with _pool(workers) as pool:
            running: dict[Future[list[Row]], Job] = {}
            while True:
                while len(running) < 2 * workers and time.monotonic() < deadline:
                    following = next(jobs, None)
                    if following is None:
                        break
                    with _deaf():  # a submission may start a worker
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


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes for jobs; whatever goes wrong ends them at once, in the middle of a job too."""
    others = set(active_children())
    context = get_context("spawn")  # a fork would inherit threads of BLAS in mid-air
    with ProcessPoolExecutor(workers, context, initializer=_die_with_parent) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(active_children()) - others:
                child.kill()
            raise


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes started here never hear Ctrl-C: it is for their run, which hears it after."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
