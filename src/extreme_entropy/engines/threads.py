"""Threads on one machine, each running its own tasks with BLAS held to one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
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


def run(tasks: Sequence[Callable[[], T]], n_jobs: int | None) -> Iterator[T]:
    """The results of the tasks, in their order."""
    with one_blas_thread():
        workers = min(effective_n_jobs(n_jobs), len(tasks))
        if workers <= 1:
            yield from (task() for task in tasks)
            return
        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(task) for task in tasks]
            try:
                while futures:
                    yield futures.pop(0).result()
            finally:
                for future in futures:
                    future.cancel()


def add_up(parts: Iterable[T]) -> T:
    """The sum of parts in a fixed tree that depends on their number alone.

    Like carrying in binary: only about log₂ of the parts are held at a time, and the same bits come
    out whichever thread made which part.
    """
    stack: list[tuple[int, T]] = []
    for part in parts:
        stack.append((0, part))
        while len(stack) > 1 and stack[-1][0] == stack[-2][0]:
            level, right = stack.pop()
            stack[-1] = (level + 1, stack[-1][1] + right)  # type: ignore[operator]  # any monoid
    result = stack.pop()[1]
    while stack:
        result = stack.pop()[1] + result  # type: ignore[operator]  # any monoid
    return result
