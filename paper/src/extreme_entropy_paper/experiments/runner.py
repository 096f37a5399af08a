"""Runs jobs on processes and keeps their rows: resumable, within a budget, skips with a reason."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from threading import Thread, current_thread, main_thread
from types import FrameType

from .. import facts
from ..errors import WorkerError
from ..store import Row, Store
from .jobs import Job

POLL = 0.1  # seconds until an interrupt is noticed


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
        store.append(facts.gather())
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
        with _pool(workers) as pool, _deferred_interrupts() as raise_interrupt:
            running: dict[Future[list[Row]], Job] = {}
            while True:
                raise_interrupt()
                while len(running) < 2 * workers and time.monotonic() < deadline:
                    following = next(jobs, None)
                    if following is None:
                        break
                    with _without_interrupts():  # a submission may start a worker
                        running[pool.submit(work, following)] = following
                if not running:
                    break
                for future in wait(running, POLL, return_when=FIRST_COMPLETED).done:
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
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(active_children()) - others:
                child.kill()
            if isinstance(error, BrokenProcessPool):
                raise WorkerError(
                    "A process that measures was ended from outside, for want of memory perhaps. "
                    "All finished rows are kept; run the same command again to go on, with fewer "
                    "--jobs."
                ) from error
            raise


@contextmanager
def _deferred_interrupts() -> Iterator[Callable[[], None]]:
    """Hold back SIGINT and SIGTERM until the function that this yields is called, which raises.

    An exception raised while the pool holds one of its own locks would leave it locked; the pool's
    thread would then wait for it forever, and the interpreter with it, when it exits.
    """
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)

    def raise_interrupt() -> None:
        if received:
            raise KeyboardInterrupt

    before = {}
    if current_thread() is main_thread():  # only there may handlers be set
        both = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        before = {number: handler for number, handler in both.items() if callable(handler)}
    for number in before:
        signal.signal(number, note)
    try:
        yield raise_interrupt
    except BrokenProcessPool:
        raise_interrupt()  # the signal reached the workers too, and they ended first
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes started here ignore Ctrl-C: the run that started them gets it and ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
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
