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

from ..features.chunks import chunk_rows, chunks, dense, lanes, spans, width_of
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


def summarise(
    phi: FeatureMap,
    X: Any,
    labels: Array,
    weight: Array | None,
    n_classes: int,
    n_folds: int,
    run: Run = one_by_one,
) -> Summary:
    """The summary of rows with labels 0 … n_classes − 1."""
    phi = phi.in_precision(X.dtype)
    return Summary.total(
        _summarise_span(
            phi,
            X[span],
            labels[span],
            None if weight is None else weight[span],
            n_classes,
            n_folds,
            run,
        )
        for span in spans(len(labels), phi.d)
    )


def _summarise_span(
    phi: FeatureMap,
    X: Any,
    labels: Array,
    weight: Array | None,
    n_classes: int,
    n_folds: int,
    run: Run,
) -> Summary:
    """The summary of rows that are few enough to keep their order in memory."""
    group = labels * n_folds + _folds(phi, X, n_folds, run)
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(n_classes * n_folds + 1))
    owners, tasks = [], []
    for c in range(n_classes):
        pilot = _pilot(phi, X, order[ends[c * n_folds] : ends[(c + 1) * n_folds]])
        for cell in range(c * n_folds, (c + 1) * n_folds):
            for rows in _pieces(order[ends[cell] : ends[cell + 1]], len(labels)):
                owners.append(cell)
                tasks.append(partial(_add_up, phi, X, rows, weight, pilot))
    sums: dict[int, _Sums] = {}
    for cell, part in zip(owners, run(tasks), strict=True):
        if cell in sums:
            sums[cell].join(part)
        else:
            sums[cell] = part
        del part  # or it would stay while the next one is made
    nothing = ClassMoments.empty(phi.h)
    moments = dict(zip(sums, run([part.moments for part in sums.values()]), strict=True))
    cells = [moments.get(cell, nothing) for cell in range(n_classes * n_folds)]
    return Summary(tuple(tuple(cells[c * n_folds : (c + 1) * n_folds]) for c in range(n_classes)))


def _folds(phi: FeatureMap, X: Any, n_folds: int, run: Run) -> Array | int:
    """The fold of each row, from its content."""
    if n_folds == 1:
        return 0

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


def _pilot(phi: FeatureMap, X: Any, rows: Array) -> Array:
    """The mean of a class's first rows, about which its sums are taken."""
    return phi(dense(X[rows[:PILOT_ROWS]])).mean(axis=0) if len(rows) else np.zeros(phi.h)


def _add_up(phi: FeatureMap, X: Any, rows: Array, weight: Array | None, pilot: Array) -> _Sums:
    """The sums of these rows of X: the work of one task."""
    room = phi.room(min(chunk_rows(width_of(phi)), len(rows)), X.dtype)
    sums = _Sums(pilot, X.dtype if len(rows) > FEW_ROWS else np.dtype(np.float64))
    for stretch in chunks(len(rows), width_of(phi)):
        chosen = rows[stretch]
        sums.add(phi(dense(X[chosen]), room), None if weight is None else weight[chosen])
    sums.flush()
    return sums


class _Sums:
    """Running sums of one group about a pilot mean, in double precision."""

    def __init__(self, pilot: Array, dtype: np.dtype[Any]) -> None:
        h = len(pilot)
        self.pilot = pilot
        self.n, self.q = 0.0, 0.0
        self.s, self.t = np.zeros(h), np.zeros(h)
        self.S = np.zeros((h, h))  # its lower triangle
        # Single precision is summed apart, and joins the double sum before it loses digits.
        self.single = None if dtype == np.float64 else np.zeros((h, h), dtype)
        self.single_rows = 0

    def add(self, H: Array, weight: Array | None) -> None:
        """Add the rows of H, which is overwritten."""
        H -= self.pilot
        squares = np.vecdot(H, H)
        both = np.vstack([np.ones_like(squares), squares])
        if weight is not None:
            both *= weight
        s, t = both.astype(H.dtype, copy=False) @ H  # Σu and Σ‖u‖²u in one reading of H
        self.s += s
        self.t += t
        self.q += float(both[1].astype(np.float64) @ squares)
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

    def moments(self) -> ClassMoments:
        """The summary of all rows added; the sums are used up."""
        return from_sums(self.n, self.pilot.astype(np.float64), self.s, self.S, self.t, self.q)
