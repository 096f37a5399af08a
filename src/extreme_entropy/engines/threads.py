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
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from operator import call
from threading import RLock
from typing import Any, NamedTuple, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from ..shapes import Array

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RowCuts:
    """How long chunks, slices and batches are, and how many rows are summed at once."""

    chunk_numbers: int = 2**19  # 4 MiB of float64
    chunk_rows: tuple[int, int] = (64, 4096)  # at the least and at the most
    slice_rows: int = 8192  # a slice shorter than this costs more to merge than it saves
    few_slices: int = 16  # are enough for the threads of most computers
    longest_slice: int = 2**17  # rows
    batch_numbers: int = 2**25  # of X that are visited group by group: 256 MiB of float64
    longest_batch: int = 2**20  # rows, since a batch keeps a few numbers for each of them
    # Rows summed in single precision before they join a double sum; rows of a task so few that they
    # are summed in double precision at once; rows of a class whose mean is so near the final one
    # that no digits are lost.
    single_rows: int = 8192
    few_rows: int = 1024
    pilot_rows: int = 64


CUTS = RowCuts()


def chunks(n: int, *widths: int) -> list[slice]:
    """Consecutive chunks of n rows, none longer than the first.

    `widths` are how many numbers a row becomes, one stage after another.
    """
    least, most = CUTS.chunk_rows
    rows = min(max(CUTS.chunk_numbers // max(*widths, 1), least), most)
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def row_slices(n: int) -> list[slice]:
    """The rows of each task, from the number of rows alone."""
    count = max(1, min(n // CUTS.slice_rows, CUTS.few_slices), -(-n // CUTS.longest_slice))
    return [slice(n * i // count, n * (i + 1) // count) for i in range(count)]


def row_batches(n: int, d: int) -> list[slice]:
    """Rows short enough to be sorted in memory and read more than once."""
    rows = min(max(CUTS.batch_numbers // d, CUTS.slice_rows), CUTS.longest_batch)
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def unseen(rows: int) -> None:
    """Takes the number of further rows that are done, when nobody is watching."""


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Which class, fold and leaf each row belongs to, and what it weighs."""

    labels: Array  # 0, 1, …
    folds: Array | None  # 0, 1, …; one fold without it
    weight: Array | None
    shape: tuple[int, int]  # classes and folds
    leaves: Array | None = None  # 0, 1, …; one leaf without it

    def rows(self, n_leaves: int = 1) -> list[Array]:
        """The rows of each group: leaf after leaf, class after class, fold after fold."""
        n_classes, n_folds = self.shape
        group = self.labels.astype(np.intp) * n_folds + (0 if self.folds is None else self.folds)
        if self.leaves is not None:
            group += self.leaves.astype(np.intp) * (n_classes * n_folds)
        order = np.argsort(group, kind="stable")
        ends = np.searchsorted(group[order], np.arange(n_leaves * n_classes * n_folds + 1))
        return [order[start:end] for start, end in pairwise(ends)]


def dense(rows: Any) -> Array:
    """A chunk of rows as a dense array."""
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


def width_of(X: Any, scaled: Callable[[Any], Any]) -> int:
    """How many numbers a row becomes once scaled: of sparse ones that stay so, their entries."""
    if sp.issparse(X) and X.shape[0] and sp.issparse(scaled(X[:1])):
        return int(X.nnz // X.shape[0]) + 1
    return int(X.shape[1])


class Executor(Protocol):
    """Runs tasks, and gives their results in the order of the tasks."""

    def __call__(self, tasks: Iterable[Callable[[], T]], /) -> Iterable[T]: ...


def serial(tasks: Iterable[Callable[[], T]], /) -> Iterable[T]:
    """The simplest executor: one task after another, each when its result is asked for."""
    return map(call, tasks)


def filled(out: Array, work: Callable[[slice], Any], execute: Executor, *widths: int) -> Array:
    """`out` with work(rows) written to each chunk of rows, by tasks of slices."""

    def fill(rows: slice) -> None:
        for chunk in chunks(rows.stop - rows.start, *widths):
            part = slice(rows.start + chunk.start, rows.start + chunk.stop)
            out[part] = work(part)

    for _ in execute(partial(fill, rows) for rows in row_slices(len(out)) if len(out)):
        pass
    return out


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


class OneBlasThread:
    """BLAS on one thread inside, as before outside: from any thread, and in several at once.

    BLAS's own threads wait busily for each other, which next to other work can cost many times
    what they save, and their number changes the last bits of a product. Where all threads share
    one setting, the first user in keeps what it was, and the last one out puts it back.
    """

    def __init__(self, controllers: Callable[[], Iterable[Any]]) -> None:
        self.controllers = controllers  # of libraries, by threadpoolctl
        # Garbage collection may end an abandoned use while this thread holds the lock.
        self.lock: Any = RLock()
        self.users: int = 0
        self.before: list[int] = []  # threads of each shared library when the first user came

    @cached_property
    def libraries(self) -> tuple[list[Any], list[Any]]:
        """Copies of BLAS whose setting holds for all threads, and (OpenMP) for one thread."""
        groups: tuple[list[Any], list[Any]] = [], []
        for library in self.controllers():
            if library.user_api == "blas":
                groups[getattr(library, "threading_layer", "") == "openmp"].append(library)
        return groups

    @contextmanager
    def __call__(self) -> Iterator[None]:
        shared, by_thread = self.libraries
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
            _set_threads(self.libraries[0], self.before)

    def for_good(self) -> None:
        """The same until the calling thread ends, where the setting is its own."""
        _set_threads(self.libraries[1], [1] * len(self.libraries[1]))


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


# NumPy's and SciPy's, looked up once.
one_blas_thread: OneBlasThread = OneBlasThread(lambda: ThreadpoolController().lib_controllers)


# Kept apart from the classifiers, which are copied and pickled; locks cannot be.
_turns: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_finding_turn = RLock()  # garbage collection may end a classifier, and so look here, meanwhile


def _after_fork() -> None:
    """In a new process nobody has a turn: other threads of its parent are not in it."""
    global _turns, _finding_turn
    _turns, _finding_turn = WeakKeyDictionary(), RLock()


@contextmanager
def in_turn(classifier: Any) -> Iterator[None]:
    """Where no other thread is changing the same classifier, and BLAS has one thread.

    Calls that change a classifier take turns, so that several threads can learn into one.
    """
    with _finding_turn:
        turn = _turns.setdefault(classifier, RLock())
    with turn, one_blas_thread():
        yield


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=one_blas_thread.after_fork)
    os.register_at_fork(after_in_child=_after_fork)
