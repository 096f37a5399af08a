"""Dask: blocks of `dask.array` and partitions of `dask.dataframe`, worked on where they lie.

Every block becomes one task, every sum of two another; workers pass sums to each other, and only
the last one comes back. A worker that dies takes nothing along: its tasks are run again elsewhere,
and give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import count
from operator import add
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np

from ..errors import InputError, TooLargeError
from ..progress import advance
from ..shapes import Array
from .blocks import Block, on_block, tree
from .threads import one_blas_thread

try:
    import dask.array as da
    from dask.base import is_dask_collection, optimize
    from dask.callbacks import Callback
    from dask.core import flatten
    from dask.delayed import Delayed
    from dask.sizeof import sizeof
    from dask.task_spec import DataNode, Task, TaskRef
except ImportError as _error:
    raise ImportError("Dask input needs dask: pip install 'extreme-entropy[dask]'") from _error

T = TypeVar("T")
Graph = dict[Any, Any]  # key ↦ task or value


class DaskBlocks:
    """Rows in blocks that Dask can compute."""

    def __init__(
        self, graph: Graph, keys: list[Block], like: Any, lengths: tuple[float, ...]
    ) -> None:
        self.graph: Graph = graph
        self.keys: list[Block] = keys
        self.like: Any = like
        self.lengths: tuple[float, ...] = lengths

    @property
    def extent(self) -> tuple[int, str]:
        """How many units all blocks have: rows, or blocks of unknown length."""
        if np.isnan(self.lengths).any():
            return len(self.lengths), " blocks"
        return int(sum(self.lengths)), " rows"

    def add_up(self, work: Callable[[Block], T]) -> T:
        """Σ work(block), in a tree of tasks."""
        name = _new_name(work)
        graph = self._tasks(name, work)
        numbers = count()

        def add_tasks(a: Any, b: Any) -> Any:
            key = (f"add-{name}", next(numbers))
            graph[key] = Task(key, _add, TaskRef(a), TaskRef(b))
            return key

        leaves: list[Any] = [(name, i) for i in range(len(self.keys))]
        return self._computed(name, tree(leaves, add_tasks), graph)

    def each(self, work: Callable[[Block], Array], *, like: Array, name: str) -> Any:
        """A lazy array of work(block), block after block."""
        name = f"{name}-{uuid4().hex}"
        tail, chunks = (0,) * (like.ndim - 1), tuple((n,) for n in like.shape[1:])
        graph = self._tasks(name, work, tail)
        return da.Array(graph, name, chunks=(self.lengths, *chunks), meta=like)

    def _tasks(self, name: str, work: Callable[[Block], Any], tail: tuple[int, ...] = ()) -> Graph:
        """One task for each block, beside those that the blocks come from."""
        # Under a key of its own, work is sent to each worker once and not with each task.
        once = f"work-{name}"
        graph = {**self.graph, once: DataNode(once, work)}
        for i, block in enumerate(self.keys):
            key = (name, i, *tail)
            X, y, weight = (None if part is None else TaskRef(part) for part in block)
            graph[key] = Task(key, _on_parts, i, TaskRef(once), X, y, weight)
        return graph

    def _computed(self, name: str, key: Any, graph: Graph) -> Any:
        try:
            # Held from here to the end: threads of this process that come and go would give BLAS
            # its own threads back while others still work.
            with one_blas_thread(), Callback(posttask=partial(self._advance, name)):
                return Delayed(key, graph).compute()
        except Exception as error:
            if hasattr(error, "block"):
                raise
            if type(error).__name__ == "KilledWorker":  # distributed may not be there
                raise self._too_large(getattr(error, "task", None), name) from error
            # A cluster that is gone or too slow would not answer which block failed, either.
            of_cluster = type(error).__module__.partition(".")[0] in ("distributed", "concurrent")
            late = isinstance(error, TimeoutError)
            number = None if of_cluster or late else self._first_failing()
            if number is not None:
                error.add_note(f"This was block {number} (the first is 0), while it was computed.")
            raise

    def _advance(self, name: str, key: Any, *_: Any) -> None:
        """Dask calls this after each task, but for tasks of a cluster."""
        if isinstance(key, tuple) and key[0] == name:
            advance(1 if np.isnan(self.lengths).any() else int(self.lengths[key[1]]))

    def _too_large(self, key: Any, name: str) -> TooLargeError:
        """What to do about a task that no worker survived."""
        known = {(name, i): i for i in range(len(self.keys))}
        known |= {part: i for i, block in enumerate(self.keys) for part in block if part}
        which = f"block {known[key]} (the first is 0)" if key in known else f"the task {key}"
        return TooLargeError(
            f"Workers must survive their work; they died on {which}, most likely for lack of "
            "memory. Use smaller blocks (X.rechunk, X.repartition), a smaller model, or workers "
            "with more memory and fewer threads."
        )

    def _first_failing(self) -> int | None:
        """The first block that cannot even be computed, found by halves; None if all can."""
        low, high = 0, len(self.keys)
        if not self._fails(low, high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._fails(low, middle) else (middle, high)
        return low

    def _fails(self, start: int, stop: int) -> bool:
        name, graph = _new_name(_nothing), dict(self.graph)
        keys = [(name, i) for i in range(start, stop)]
        for key in keys:  # each where it lies: no worker holds them all
            parts = [TaskRef(part) for part in self.keys[key[1]] if part]
            graph[key] = Task(key, _nothing, *parts)
        graph[name] = Task(name, _nothing, *map(TaskRef, keys))
        try:
            Delayed(name, graph).compute()
        except Exception:
            return True
        return False


def blocks(X: Any, y: Any = None, weight: Any = None) -> DaskBlocks:
    """The blocks of rows, with labels and weights that may come in other blocks or from memory."""
    if X.ndim != 2:
        raise InputError(f"X must be a table, with two dimensions; it has {X.ndim}.")
    if isinstance(X, da.Array):
        X = _in_row_blocks(X)
        like, lengths = np.zeros((2, X.shape[1]), X.dtype), X.chunks[0]
    else:
        like, lengths = X._meta_nonempty, (np.nan,) * X.npartitions
    y = None if y is None else _beside(lengths, y, "y")
    weight = None if weight is None else _beside(lengths, weight, "sample_weight")
    graph: Graph = {}
    keys = []
    for part in _simplified([X, y, weight]):
        if part is None:
            keys.append([None] * len(lengths))
        else:
            graph.update(part.__dask_graph__())
            keys.append(list(flatten(part.__dask_keys__())))
    parts = [Block(X, y, weight) for X, y, weight in zip(*keys, strict=True)]
    return DaskBlocks(graph, parts, like, lengths)


def _simplified(parts: list[Any]) -> list[Any]:
    """Collections with fewer tasks, but the same blocks.

    Frames are only simplified: in full, Dask would put small partitions of few columns together,
    and labels would no longer lie beside their rows.
    """
    arrays = iter(optimize(*(part for part in parts if isinstance(part, da.Array))))
    return [
        part if part is None else next(arrays) if isinstance(part, da.Array) else part.simplify()
        for part in parts
    ]


def _in_row_blocks(X: Any) -> Any:
    """The array with all columns in each block."""
    if X.ndim == 2 and np.isnan(X.shape[1]):
        raise InputError(
            "The number of columns must be known; call compute_chunk_sizes() on the array first."
        )
    return X.rechunk({1: -1}) if X.ndim == 2 and X.numblocks[1] > 1 else X


def _beside(lengths: tuple[float, ...], values: Any, name: str) -> Any:
    """Labels or weights in the same blocks as the rows."""
    unknown = bool(np.isnan(lengths).any())
    if not is_dask_collection(values):
        if unknown:
            raise InputError(
                f"Where the lengths of X's blocks are unknown, `{name}` must be a Dask collection "
                f"in the same blocks; it is {type(values).__name__}. "
                "Or call X.compute_chunk_sizes() on a Dask array."
            )
        values = da.from_array(np.asarray(values), chunks=-1)
    if isinstance(values, da.Array):
        values = _in_row_blocks(values)
        theirs = values.chunks[0]
        if not unknown and not np.isnan(theirs).any():
            _check_lengths(lengths, theirs, name)
            return values.rechunk({0: lengths})
    number = values.numblocks[0] if isinstance(values, da.Array) else values.npartitions
    if number != len(lengths):
        raise InputError(
            f"X and `{name}` must be in the same blocks; X has {len(lengths)}, `{name}` {number}. "
            "Take both from one frame, or repartition one like the other."
        )
    return values


def _check_lengths(ours: tuple[float, ...], theirs: tuple[float, ...], name: str) -> None:
    if sum(ours) == sum(theirs):
        return
    differ = (i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b)
    number = next(differ, min(len(ours), len(theirs)))
    raise InputError(
        f"X and `{name}` must be of one length; X has {sum(ours)} rows, `{name}` {sum(theirs)}. "
        f"They first differ in block {number} (the first is 0)."
    )


def _on_parts(number: int, work: Callable[[Block], T], X: Any, y: Any, weight: Any) -> T:
    return _weighed(on_block(number, work, Block(X, y, weight)))


def _add(a: T, b: T) -> T:
    return _weighed(add(a, b))


def _weighed(result: T) -> T:
    """The result, with its size made known to Dask, which decides where it is kept by that."""
    if is_dataclass(result):
        sizeof.register(type(result), _bytes)
    return result


def _bytes(value: Any) -> int:
    """The size of all arrays within."""
    if is_dataclass(value):
        value = [getattr(value, field.name) for field in fields(value)]
    if isinstance(value, list | tuple):
        return sum(map(_bytes, value))
    return int(getattr(value, "nbytes", 0))


def _nothing(*_: Any) -> None:
    """What is asked of a block to see whether it can be computed."""


def _new_name(work: Callable[..., Any]) -> str:
    return f"{getattr(work, '__name__', type(work).__name__).strip('_')}-{uuid4().hex}"
