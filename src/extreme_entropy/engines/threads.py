"""Threads on one machine, each running its own tasks with BLAS held to one thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, reduce
from operator import add
from typing import TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

T = TypeVar("T")


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS on one thread inside, as before outside. Its own threads wait busily for each other,
    which on a machine with other work can cost many times what they save.
    """
    with _pools().limit(limits=1):
        yield


def run(tasks: Iterable[Callable[[], T]], n_jobs: int | None, ahead: int = 0) -> Iterator[T]:
    """The results of the tasks, in their order.

    No more results are held than there are threads, and `ahead` more. Where results are small, some
    ahead keep every thread busy; where they are large, memory counts for more.
    """
    workers = effective_n_jobs(n_jobs)
    with one_blas_thread():
        if workers <= 1:
            yield from (task() for task in tasks)
            return
        with ThreadPoolExecutor(workers) as pool:
            waiting: deque[Future[T]] = deque()
            try:
                for task in tasks:
                    if len(waiting) == workers + ahead:
                        yield waiting.popleft().result()
                    waiting.append(pool.submit(task))
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()


def add_up(parts: Iterable[T]) -> T:
    """The sum of the parts, one after another: the same bits whichever thread made which."""
    return reduce(add, parts)
