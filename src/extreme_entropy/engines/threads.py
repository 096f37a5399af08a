"""Rows on the threads of one computer: how they are cut, and what runs the tasks.

Rows are cut three times, each cut with a word of its own: a *batch* is short enough that its order
can be kept in memory, a *slice* is what one task works on, and a *chunk* stays in the processor's
cache. All follow from the number of rows, never from the number of threads, so that any number of
threads gives the same bits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from operator import call
from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from .buffers import libraries, threads_with_buffers

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
    rows = int(np.clip(CHUNK_NUMBERS // max(*widths, 1), 64, 4096))
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
        workers = threads_with_buffers(effective_n_jobs(self.n_jobs))
        with one_blas_thread():
            if workers <= 1:
                for task in tasks:
                    yield task()
                return
            with ThreadPoolExecutor(workers) as pool:
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


class _BlasThreads:
    """BLAS on so many threads inside, as before outside, whichever thread asks in between.

    All threads share BLAS, so that the last one out puts back what the first one found.
    """

    def __init__(self) -> None:
        self.lock, self.limits = Lock(), dict[object, int]()  # of those inside, the latest last
        self.found: Any = None

    @contextmanager
    def __call__(self, n: int) -> Iterator[None]:
        user, n = object(), threads_with_buffers(n)
        with self.lock:
            before = libraries().limit(limits=n, user_api="blas")
            self.found = self.found if self.limits else before
            self.limits[user] = n
        try:
            yield
        finally:
            with self.lock:
                del self.limits[user]
                if self.limits:
                    libraries().limit(limits=list(self.limits.values())[-1], user_api="blas")
                else:
                    self.found.restore_original_limits()


blas_threads: Callable[[int], AbstractContextManager[None]] = _BlasThreads()


def one_blas_thread() -> AbstractContextManager[None]:
    """BLAS on one thread inside. Its own threads wait busily for each other, which on a computer
    with other work can cost many times what they save.
    """
    return blas_threads(1)
