"""Rows ↦ summary: h = φ(x), then Σu, Σuuᵀ, Σ‖u‖²u, Σ‖u‖⁴ for each class and fold.

Rows are taken group by group (class and fold), in pieces for threads and within a piece in chunks
whose features stay in the processor's cache; each chunk is one product, one activation and one
?syrk. The pieces of a class are summed about one pilot mean, so that they add up number by number.
Pieces follow from the rows alone, never from the number of threads: any number gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from ..features.chunks import chunk_rows, chunks, dense, lanes, spans
from ..features.feature_map import FeatureMap
from .class_moments import ClassMoments, from_sums
from .gram import add_gram
from .summary import Summary

Array = np.ndarray[Any, Any]
T = TypeVar("T")

SINGLE_ROWS = 8192  # rows summed in single precision before they join the double sum
FEW_ROWS = 1024  # a piece that is summed in double precision at once
PILOT_ROWS = 64  # of a class, whose mean is near enough to the final one that no digits are lost


class Run(Protocol):
    """Results of tasks, in their order."""

    def __call__(self, tasks: Iterable[Callable[[], T]], /) -> Iterable[T]: ...


def one_by_one(tasks: Iterable[Callable[[], T]], /) -> Iterable[T]:
    """The simplest engine."""
    return (task() for task in tasks)


class Features(Protocol):
    """One φ, or several that share work, ready for many rows."""

    @property
    def d(self) -> int: ...

    @property
    def width(self) -> int:
        """The most numbers a row becomes on its way."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Dimensions of each φ(x)."""

    def worker(self, n: int, dtype: np.dtype[Any]) -> Callable[[Array], Iterable[Array]]:
        """What turns at most n dense rows into each φ of them, with room of its own."""


# The features that a smaller machine has: a few stretches of those of the largest.
Block = tuple[slice, ...]
ALL: Block = (slice(None),)


def summarise(
    phi: FeatureMap,
    X: Any,
    labels: Array,
    weight: Array | None,
    n_classes: int,
    n_folds: int,
    run: Run = one_by_one,
) -> Summary:
    """The summary of rows with labels 0 … n_classes − 1, in folds by their content."""
    phi = phi.in_precision(X.dtype)

    def folds(span: slice) -> Array | int:
        return _content_folds(phi, X[span], n_folds, run) if n_folds > 1 else 0

    ((summary,),) = _summarise(phi, X, labels, weight, folds, n_classes, n_folds, [[ALL]], run)
    return summary


def summarise_path(
    features: Features,
    X: Any,
    labels: Array,
    weight: Array | None,
    folds: Array,
    n_classes: int,
    n_folds: int,
    blocks: list[list[Block]],
    run: Run = one_by_one,
) -> list[list[Summary]]:
    """For each φ and each block of its features the summary of rows in given folds: one pass.

    S and m of a block are parts of the whole; Σ‖u‖²u and Σ‖u‖⁴ are not, and are carried along.
    """
    return _summarise(
        features, X, labels, weight, folds.__getitem__, n_classes, n_folds, blocks, run
    )


def _summarise(
    features: Features,
    X: Any,
    labels: Array,
    weight: Array | None,
    folds: Callable[[slice], Array | int],
    n_classes: int,
    n_folds: int,
    blocks: list[list[Block]],
    run: Run,
) -> list[list[Summary]]:
    totals: list[list[Summary]] = []
    for span in spans(len(labels), features.d):
        group = labels[span] * n_folds + folds(span)
        w = None if weight is None else weight[span]
        parts = _summarise_span(features, X[span], group, w, n_classes, n_folds, blocks, run)
        totals = (
            [
                [a + b for a, b in zip(*pair, strict=True)]
                for pair in zip(totals, parts, strict=True)
            ]
            if totals
            else parts
        )
        del parts  # or they would stay while the next ones are made
    return totals


def _summarise_span(
    features: Features,
    X: Any,
    group: Array,
    weight: Array | None,
    n_classes: int,
    n_folds: int,
    blocks: list[list[Block]],
    run: Run,
) -> list[list[Summary]]:
    """The summaries of rows that are few enough to keep their order in memory."""
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(n_classes * n_folds + 1))
    owners, tasks = [], []
    for c in range(n_classes):
        pilots = _pilots(features, X, order[ends[c * n_folds] : ends[(c + 1) * n_folds]])
        for cell in range(c * n_folds, (c + 1) * n_folds):
            for rows in _pieces(order[ends[cell] : ends[cell + 1]], len(group)):
                owners.append(cell)
                tasks.append(partial(_add_up, features, X, rows, weight, pilots, blocks))
    sums: dict[int, list[_Sums]] = {}
    for cell, parts in zip(owners, run(tasks), strict=True):
        if cell in sums:
            for mine, part in zip(sums[cell], parts, strict=True):
                mine.join(part)
        else:
            sums[cell] = parts
        del parts  # or they would stay while the next ones are made
    nothing = [
        [ClassMoments.empty(_length(block, h)) for block in sizes]
        for h, sizes in zip(features.sizes, blocks, strict=True)
    ]
    moments = [
        dict(zip(sums, run([parts[i].moments for parts in sums.values()]), strict=True))
        for i in range(len(features.sizes))
    ]
    return [
        [
            Summary(
                tuple(
                    tuple(moments[i].get(c * n_folds + k, nothing[i])[b] for k in range(n_folds))
                    for c in range(n_classes)
                )
            )
            for b in range(len(blocks[i]))
        ]
        for i in range(len(features.sizes))
    ]


def _content_folds(phi: FeatureMap, X: Any, n_folds: int, run: Run) -> Array:
    """The fold of each row, from its content."""

    def look(lane: slice) -> Array:
        part = X[lane]
        folds = np.empty(part.shape[0], dtype=np.intp)
        for s in chunks(len(folds), phi.d):
            folds[s] = phi.content(part[s]) % np.uint64(n_folds)
        return folds

    return np.concatenate(list(run([partial(look, lane) for lane in lanes(X.shape[0])])))


def _pieces(rows: Array, n: int) -> list[Array]:
    """The rows of one group in as many pieces as lanes of that length would make."""
    longest = max(lane.stop - lane.start for lane in lanes(n))
    return np.array_split(rows, max(round(len(rows) / longest), 1)) if len(rows) else []


def _pilots(features: Features, X: Any, rows: Array) -> list[Array]:
    """For each φ the mean of a class's first rows, about which its sums are taken."""
    if not len(rows):
        return [np.zeros(h) for h in features.sizes]
    first = dense(X[rows[:PILOT_ROWS]])
    return [H.mean(axis=0) for H in features.worker(len(first), first.dtype)(first)]


def _add_up(
    features: Features,
    X: Any,
    rows: Array,
    weight: Array | None,
    pilots: list[Array],
    blocks: list[list[Block]],
) -> list[_Sums]:
    """The sums of these rows of X, for each φ: the work of one task."""
    work = features.worker(min(chunk_rows(features.width), len(rows)), X.dtype)
    dtype = X.dtype if len(rows) > FEW_ROWS else np.dtype(np.float64)
    sums = [_Sums(*each, dtype) for each in zip(pilots, blocks, strict=True)]
    for stretch in chunks(len(rows), features.width):
        chosen = rows[stretch]
        w = None if weight is None else weight[chosen]
        for part, H in zip(sums, work(dense(X[chosen])), strict=True):
            part.add(H, w)
    for part in sums:
        part.flush()
    return sums


def _length(block: Block, h: int) -> int:
    return sum(len(range(*stretch.indices(h))) for stretch in block)


class _Sums:
    """Running sums of one group about a pilot mean, in double precision."""

    def __init__(self, pilot: Array, blocks: list[Block], dtype: np.dtype[Any]) -> None:
        h = len(pilot)
        self.pilot, self.blocks = pilot, blocks
        self.n, self.q = 0.0, np.zeros(len(blocks))
        self.s, self.t = np.zeros(h), np.zeros((len(blocks), h))
        self.S = np.zeros((h, h))  # its lower triangle
        # Single precision is summed apart, and joins the double sum before it loses digits.
        self.single = None if dtype == np.float64 else np.zeros((h, h), dtype)
        self.single_rows = 0

    def add(self, H: Array, weight: Array | None) -> None:
        """Add the rows of H, which is overwritten."""
        H -= self.pilot
        squares = np.stack([_squares(H, block) for block in self.blocks])
        both = np.vstack([np.ones_like(squares[:1]), squares])
        if weight is not None:
            both *= weight
        sums = both.astype(H.dtype, copy=False) @ H  # Σu and Σ‖u‖²u in one reading of H
        self.s += sums[0]
        self.t += sums[1:]
        self.q += np.vecdot(both[1:].astype(np.float64), squares)
        if weight is None:
            self.n += len(H)
        else:
            self.n += float(weight.sum())
            H *= np.sqrt(weight)[:, None].astype(H.dtype)
        self._add_gram(np.ascontiguousarray(H))

    def _add_gram(self, H: Array) -> None:
        if self.single is None:
            add_gram(H.astype(np.float64, copy=False), self.S)
            return
        add_gram(H, self.single)
        self.single_rows += len(H)
        if self.single_rows >= SINGLE_ROWS:
            self.S += self.single
            self.single[:] = 0
            self.single_rows = 0

    def flush(self) -> None:
        """Bring what is left in single precision to the double sum."""
        if self.single is not None:
            self.S += self.single
            self.single = None

    def join(self, other: _Sums) -> None:
        """Add sums about the same pilot."""
        self.n += other.n
        self.q += other.q
        for mine, theirs in ((self.s, other.s), (self.t, other.t), (self.S, other.S)):
            mine += theirs

    def moments(self) -> list[ClassMoments]:
        """The summary of all rows added, for each block; the sums are used up."""
        pilot = self.pilot.astype(np.float64)
        return [
            from_sums(self.n, pilot, self.s, self.S, self.t[i], self.q[i])
            if block == ALL
            else self._part(pilot, block, i)
            for i, block in enumerate(self.blocks)
        ]

    def _part(self, pilot: Array, block: Block, i: int) -> ClassMoments:
        chosen = np.r_[block]
        S = np.block([[self.S[rows, columns] for columns in block] for rows in block])
        return from_sums(self.n, pilot[chosen], self.s[chosen], S, self.t[i, chosen], self.q[i])


def _squares(H: Array, block: Block) -> Array:
    """‖u‖² of each row over the features of a block."""
    first, *others = (np.vecdot(H[:, stretch], H[:, stretch]) for stretch in block)
    return sum(others, first)
