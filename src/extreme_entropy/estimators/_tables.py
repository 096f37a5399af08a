"""Rows to learn from, in memory or in blocks elsewhere, and what can be added up over them.

Work on rows is a function of (rows, run, *shared): X, y and weights, checked; what runs tasks; and
whatever else all of it needs. It returns something that adds up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol, TypeVar

import numpy as np

from ..engines.blocks import Block, Blocks, engine_of
from ..engines.threads import add_up, run
from ..errors import InputError
from ..features.chunks import chunks, lanes
from ..features.content import ContentHash, Draw, draw_rows
from ..features.feature_map import FeatureMap
from ..features.scaling import ColumnStats, scan
from ..moments.reduction import Run, summarise
from ..moments.summary import Summary
from ._rows import Rows, check_block, check_rows, check_x, encode

Array = np.ndarray[Any, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a first pass over rows finds: labels, and statistics of the columns. A monoid."""

    labels: Array
    stats: ColumnStats

    def __add__(self, other: Seen) -> Seen:
        return Seen(_united(self.labels, other.labels), self.stats + other.stats)


class Table(Protocol):
    """Rows, labels and weights, wherever they lie."""

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def seen(self) -> Seen: ...

    def add_up(self, work: Callable[..., T], *shared: Any) -> T:
        """work(rows, run, *shared), added up over all rows."""


@dataclass(frozen=True)
class InMemory:
    """Checked rows; threads share the work."""

    X: Any
    y: Array | None
    weight: Array | None
    n_jobs: int | None

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.X.dtype

    @cached_property
    def seen(self) -> Seen:
        return self.add_up(look_at)

    def add_up(self, work: Callable[..., T], *shared: Any) -> T:
        engine = partial(run, n_jobs=self.n_jobs, ahead=2)
        return work((self.X, self.y, self.weight), engine, *shared)


@dataclass(frozen=True)
class InBlocks:
    """Rows that are checked where they lie, block by block, on one thread each."""

    blocks: Blocks
    dtype: np.dtype[Any]
    d: int
    keep: Callable[[Rows], Array] | None = None  # which rows; all without it

    @cached_property
    def seen(self) -> Seen:
        seen = self.add_up(look_at)
        if not seen.stats.n:
            raise InputError(
                "There must be rows to learn from; all blocks are empty, or all weights are zero."
            )
        return seen

    def add_up(self, work: Callable[..., T], *shared: Any) -> T:
        return self.blocks.add_up(_OnRows(work, self.dtype, self.d, self.keep), *shared)

    def where(self, keep: Callable[[Rows], Array]) -> InBlocks:
        """Some of the rows."""
        return replace(self, keep=keep)


class _OnRows:
    """Work on rows as work on a block."""

    def __init__(
        self,
        work: Callable[..., Any],
        dtype: np.dtype[Any],
        d: int,
        keep: Callable[[Rows], Array] | None,
    ) -> None:
        self.work, self.dtype, self.d, self.keep = work, dtype, d, keep
        self.__name__ = work.__name__

    def __call__(self, block: Block, *shared: Any) -> Any:
        rows = check_block(block, self.dtype, self.d)
        if self.keep is not None:
            chosen = self.keep(rows)
            X, y, weight = rows
            rows = X[chosen], y[chosen], None if weight is None else weight[chosen]
        return self.work(rows, partial(run, n_jobs=1), *shared)


def table_of(estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Table:
    """What a user gives to learn from, as a table."""
    engine = engine_of(X)
    if engine is None:
        return InMemory(
            *check_rows(estimator, X, y, sample_weight, reset=reset), n_jobs=estimator.n_jobs
        )
    return in_blocks(estimator, engine(X, y, sample_weight), reset=reset)


def in_blocks(estimator: Any, blocks: Blocks, *, reset: bool) -> InBlocks:
    """Blocks whose columns are those that the estimator knows, or shall know."""
    like = check_x(estimator, blocks.like, reset=reset)
    return InBlocks(blocks, like.dtype, like.shape[1])


# -------------------------------------------------------------------- work


def look_at(rows: Rows, run: Run) -> Seen:
    """Labels and the range of each column."""
    X, y, weight = rows
    n, d = X.shape
    labels = np.empty(0) if y is None else np.unique(y)
    if not n:
        return Seen(labels, ColumnStats.empty(d))

    def look(lane: slice) -> ColumnStats:
        part, w = X[lane], None if weight is None else weight[lane]
        pieces = chunks(part.shape[0], d)
        # Ranges that are too wide become infinite here, and are refused when all are known.
        with np.errstate(over="ignore", invalid="ignore"):
            return scan(((part[s], None if w is None else w[s]) for s in pieces), d)

    with np.errstate(over="ignore", invalid="ignore"):
        return Seen(labels, _each_lane(look, n, run))


def draw_from(rows: Rows, run: Run, content: ContentHash, k: int) -> Draw:
    """The k rows with the smallest hashes."""
    X, (n, d) = rows[0], rows[0].shape
    if not n:
        return Draw.nothing(k, d)

    def draw(lane: slice) -> Draw:
        part = X[lane]
        return draw_rows(content, k, (part[s] for s in chunks(part.shape[0], d)))

    return _each_lane(draw, n, run)


def sum_up(rows: Rows, run: Run, phi: FeatureMap, classes: Array, n_folds: int) -> Summary:
    """The summary of rows under φ."""
    X, y, weight = rows
    labels = encode(y, classes)
    if not len(labels):
        return Summary.empty(len(classes), n_folds, phi.h)
    return summarise(phi, X, labels, weight, len(classes), n_folds, run)


def _each_lane(work: Callable[[slice], T], n: int, run: Run) -> T:
    """Add up what `work` makes of each lane of n rows."""
    return add_up(run(partial(work, lane) for lane in lanes(n)))


def _united(a: Array, b: Array) -> Array:
    """Labels of both; the dtype of none counts for nothing."""
    return np.union1d(a, b) if len(a) and len(b) else a if len(a) else b
