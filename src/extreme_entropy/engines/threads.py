"""Rows on the threads of one computer: how they are cut, and what runs the tasks.

Rows are cut three times, each cut with a word of its own: a *batch* is short enough that its order
can be kept in memory, a *slice* is what one task works on, and a *chunk* stays in the processor's
cache. All follow from the number of rows, never from the number of threads, so that any number of
threads gives the same bits.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from operator import call
from threading import RLock
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

Array = np.ndarray[Any, Any]
T = TypeVar("T")

CHUNK_NUMBERS = 2**19  # numbers in a chunk: 4 MiB of float64
SLICE_ROWS = 8192  # a slice shorter than this costs more to merge than it saves
FEW_SLICES = 16  # are enough for the threads of most computers
LONGEST_SLICE = 2**17  # rows
BATCH_NUMBERS = 2**25  # of X that are visited group by group: 256 MiB of float64
LONGEST_BATCH = 2**20  # rows, since a batch keeps a few numbers for each of them


def chunks(n: int, *widths: int) -> list[slice]:
    """Consecutive chunks of n rows, none longer than the first.

    On its way a row becomes so many numbers, and then so many.
    """
    rows = min(max(CHUNK_NUMBERS // max(*widths, 1), 64), 4096)
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def row_slices(n: int) -> list[slice]:
    """The rows of each task, from the number of rows alone."""
    count = max(1, min(n // SLICE_ROWS, FEW_SLICES), -(-n // LONGEST_SLICE))
    return [slice(n * i // count, n * (i + 1) // count) for i in range(count)]


def row_batches(n: int, d: int) -> list[slice]:
    """Rows short enough to be sorted in memory and read more than once."""
    rows = min(max(BATCH_NUMBERS // d, SLICE_ROWS), LONGEST_BATCH)
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def dense(rows: Any) -> Array:
    """A chunk of rows as a dense array."""
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


class Executor(Protocol):
    """Runs tasks, and gives their results in the order of the tasks."""

    def __call__(self, tasks: Iterable[Callable[[], T]], /) -> Iterable[T]: ...


def serial(tasks: Iterable[Callable[[], T]], /) -> Iterable[T]:
    """The simplest executor: one task after another, each when its result is asked for."""
    return map(call, tasks)


class Threads(NamedTuple):
    """An executor on `n_jobs` threads, with BLAS held to one thread in each.

    No more results are held than there are threads, and `ahead` more. Where results are small, some
    ahead keep every thread busy; where they are large, memory counts for more.
    """

    n_jobs: int | None = 1
    ahead: int = 2

    def __call__(self, tasks: Iterable[Callable[[], T]], /) -> Iterator[T]:
        workers = effective_n_jobs(self.n_jobs)
        with one_blas_thread():
            if workers <= 1:
                for task in tasks:
                    yield task()
                return
            with ThreadPoolExecutor(workers, initializer=one_blas_thread.for_good) as pool:
                waiting: deque[Future[T]] = deque()
                try:
                    for task in tasks:
                        if len(waiting) == workers + self.ahead:
                            yield waiting.popleft().result()
                        waiting.append(pool.submit(task))
                    while waiting:
                        yield waiting.popleft().result()
                finally:
                    for future in waiting:
                        future.cancel()


class BlasLibraries(NamedTuple):
    """The copies of BLAS in this process, by whom a number of threads that is set holds for."""

    shared: list[Any]  # the whole process
    by_thread: list[Any]  # the thread that sets it, as with OpenMP

    @classmethod
    def of(cls, libraries: Iterable[Any]) -> BlasLibraries:
        """The BLAS libraries among those that threadpoolctl controls."""
        groups = cls([], [])
        for library in libraries:
            if library.user_api == "blas":
                on_openmp = getattr(library, "threading_layer", "") == "openmp"
                groups[on_openmp].append(library)
        return groups


class OneBlasThread:
    """BLAS on one thread inside, as before outside: from any thread, and in several at once.

    BLAS's own threads wait busily for each other, which next to other work can cost many times
    what they save, and their number changes the last bits of a product. Where all threads share
    one setting, the first user in keeps what it was, and the last one out puts it back.
    """

    def __init__(self, libraries: Callable[[], BlasLibraries]) -> None:
        self.libraries = libraries
        # Garbage collection may end an abandoned use while this thread holds the lock.
        self.lock = RLock()
        self.users: int = 0
        self.before: list[int] = []  # threads of each shared library when the first user came

    @contextmanager
    def __call__(self) -> Iterator[None]:
        shared, by_thread = self.libraries()
        before = _set_threads(by_thread, [1] * len(by_thread))
        with self.lock:
            self.users += 1
            numbers = _set_threads(shared, [1] * len(shared))
            self.before = self.before if self.users > 1 else numbers
        try:
            yield
        finally:
            with self.lock:
                self.users -= 1
                # Any other number is the decision of somebody else, made in the meantime.
                if not self.users and all(library.num_threads == 1 for library in shared):
                    _set_threads(shared, self.before)
            _set_threads(by_thread, before)

    def __reduce__(self) -> str:
        """By name: functions that are sent to workers refer to it, and each process has its own."""
        return "one_blas_thread"

    def after_fork(self) -> None:
        """In a new process nobody is inside: other threads of its parent are not in it."""
        self.lock = RLock()
        if self.users:
            self.users = 0
            _set_threads(self.libraries().shared, self.before)

    def for_good(self) -> None:
        """The same until the calling thread ends, where the setting is its own."""
        _set_threads(self.libraries().by_thread, [1] * len(self.libraries().by_thread))


def _set_threads(libraries: list[Any], numbers: list[int]) -> list[int]:
    """Set the number of threads of each library, and return what it was.

    From version 3.8 on threadpoolctl lets the first thread that sets a number own OpenBLAS, and
    ignores all others; so nobody owns it before and after.
    """
    before = [library.num_threads for library in libraries]
    for library, number, current in zip(libraries, numbers, before, strict=True):
        if number != current:
            _disown(library)
            library.set_num_threads(number)
            _disown(library)
    return before


def _disown(library: Any) -> None:
    if hasattr(library, "clear_controlling_thread"):
        library.clear_controlling_thread(force=True)


@cache
def _blas_libraries() -> BlasLibraries:
    """NumPy's and SciPy's, looked up once."""
    return BlasLibraries.of(ThreadpoolController().lib_controllers)


one_blas_thread: OneBlasThread = OneBlasThread(_blas_libraries)
if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=one_blas_thread.after_fork)
