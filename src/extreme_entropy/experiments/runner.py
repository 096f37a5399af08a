"""Runs jobs on processes and keeps their rows: resumable, within a budget, skips with a reason."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from datetime import UTC, datetime
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ..datasets import list_datasets
from .protocol import N_FOLDS, Setting, obstacle, settings_of
from .store import Store, key_of
from .trials import Job, skip_rows, try_job

PACKAGES = ("extreme-entropy", "numpy", "scipy", "scikit-learn")
SETTINGS_AT_ONCE = 11  # of a job, so that rows come often


def plan(
    datasets: Sequence[str], models: Sequence[str], repeats: int, done: set[Any]
) -> Iterator[tuple[Job, str | None]]:
    """Jobs that are not done yet, and why not to try one. Quick ones come first."""
    about = {dataset.name: dataset for dataset in list_datasets()}
    quick = sorted(models, key=lambda model: len(settings_of(model)))
    for repeat in range(repeats):
        for model in quick:
            for name in sorted(datasets, key=lambda name: about[name].rows):
                for reason, settings in _by_obstacle(model, about[name]).items():
                    for fold in range(N_FOLDS):
                        for some in _parts(settings):
                            job = Job(name, model, repeat, fold, some)
                            left = tuple(s for s in some if _key(job, s) not in done)
                            if left:
                                yield Job(name, model, repeat, fold, left), reason


def _by_obstacle(model: str, about: Any) -> dict[str | None, list[Setting]]:
    found: dict[str | None, list[Setting]] = {}
    for setting in settings_of(model):
        reason = obstacle(model, about.rows, about.columns, setting)
        found.setdefault(reason, []).append(setting)
    return found


def _parts(settings: list[Setting]) -> Iterator[tuple[Setting, ...]]:
    for start in range(0, len(settings), SETTINGS_AT_ONCE):
        yield tuple(settings[start : start + SETTINGS_AT_ONCE])


def _key(job: Job, setting: Setting) -> Any:
    (row,) = skip_rows(Job(job.dataset, job.model, job.repeat, job.fold, (setting,)), "")
    return key_of(row)


def run(
    path: Path,
    datasets: Sequence[str],
    models: Sequence[str],
    *,
    repeats: int = 1,
    budget: float = float("inf"),
    n_jobs: int | None = None,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> bool:
    """Try what is not done yet, until done or out of budget (seconds); whether all is done."""
    deadline = time.monotonic() + budget
    with Store(path) as store:
        store.append(_facts())
        waiting = list(plan(datasets, models, repeats, store.done))
        total, done = len(waiting), 0
        for job, reason in waiting:
            if reason:
                for row in skip_rows(job, reason):
                    store.append(row)
                done += 1
        jobs = iter([job for job, reason in waiting if not reason])
        watch(done, total)
        workers = n_jobs or os.cpu_count() or 1
        context = get_context("spawn")  # a fork would inherit threads of BLAS in mid-air
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            running: dict[Future[list[dict[str, Any]]], Job] = {}
            while True:
                while len(running) < 2 * workers and time.monotonic() < deadline:
                    following = next(jobs, None)
                    if following is None:
                        break
                    running[pool.submit(try_job, following)] = following
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


def _facts() -> dict[str, Any]:
    """When, from which commit, with which versions and where the rows that follow were made."""
    return {
        "run": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "versions": {package: version(package) for package in PACKAGES},
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}",
    }


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
