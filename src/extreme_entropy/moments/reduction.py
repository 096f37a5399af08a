"""Rows ↦ summary: h = φ(x), then Σu, Σuuᵀ, Σ‖u‖²u, Σ‖u‖⁴ for each class and fold.

Rows are taken group by group (class and fold). A task sums some rows of one group, in chunks whose
features stay in the processor's cache; each chunk is one product, one activation and one ?syrk.
The tasks of a class sum about one pilot mean, so that their sums add up number by number. Tasks
follow from the rows alone, never from the number of threads: any number gives the same bits.

A smaller φ is the first features of a larger one, and m and S of its rows are parts of the whole.
Σ‖u‖²u and Σ‖u‖⁴ are not, and are carried along for each size, so that all sizes cost one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..engines.blas import add_gram
from ..engines.threads import Executor, chunks, dense, row_slices, serial
from ..features.content import squares_of
from ..features.feature_map import FeatureMap
from .summary import ClassMoments, Summary, from_sums

Array = np.ndarray[Any, Any]

SINGLE_ROWS = 8192  # rows summed in single precision before they join the double sum
FEW_ROWS = 1024  # rows of a task that are summed in double precision at once
PILOT_ROWS = 64  # of a class, whose mean is near enough to the final one that no digits are lost


def summarise(
    phi: FeatureMap,
    X: Any,
    labels: Array,
    folds: Array | None,
    weight: Array | None,
    shape: tuple[int, int],
    sizes: Sequence[int],
    execute: Executor = serial,
) -> list[Summary]:
    """The summary of rows under the first features of φ, for each size.

    φ has the precision of X. Labels are 0, 1, …, and so are folds; `shape` says how many of each
    there are. The rows must be few enough to be sorted in memory (`engines.threads.row_batches`).
    """
    return summarise_leaves([phi], None, X, labels, folds, weight, shape, execute, sizes)[0]


def summarise_leaves(
    maps: Sequence[FeatureMap],
    leaves: Array | None,
    X: Any,
    labels: Array,
    folds: Array | None,
    weight: Array | None,
    shape: tuple[int, int],
    execute: Executor = serial,
    sizes: Sequence[int] | None = None,
) -> list[list[Summary]]:
    """The same where each row has a φ of its own among several: for each of them, by size."""
    n_classes, n_folds = shape
    group = labels.astype(np.intp) * n_folds + (0 if folds is None else folds)
    if leaves is not None:
        group += leaves.astype(np.intp) * (n_classes * n_folds)
    longest = max(s.stop - s.start for s in row_slices(len(group)))
    order = np.argsort(group, kind="stable")
    n_groups = len(maps) * n_classes * n_folds
    ends = np.searchsorted(group[order], np.arange(n_groups + 1))
    owners: list[int] = []

    def tasks() -> Iterator[Callable[[], _Sums | list[ClassMoments]]]:
        for c in range(len(maps) * n_classes):
            phi = maps[c // n_classes]
            first = order[ends[c * n_folds] : ends[(c + 1) * n_folds]][:PILOT_ROWS]
            pilot = phi(dense(X[first])).mean(axis=0) if len(first) else np.zeros(phi.h)
            for g in range(c * n_folds, (c + 1) * n_folds):
                rows = order[ends[g] : ends[g + 1]]
                n_tasks = max(round(len(rows) / longest), 1) if len(rows) else 0
                for some in np.array_split(rows, n_tasks) if n_tasks else ():
                    owners.append(g)
                    given = phi, X, some, weight, pilot, [phi.h] if sizes is None else sizes
                    yield partial(_add_up if n_tasks > 1 else _moments_of, *given)

    sums: dict[int, _Sums] = {}
    moments: dict[int, list[ClassMoments]] = {}
    for i, more in enumerate(execute(tasks())):
        g = owners[i]
        if isinstance(more, list):
            moments[g] = more
        elif g in sums:
            sums[g].join(more)
        else:
            sums[g] = more
        del more  # or it would stay while the next one is made
    moments |= zip(sums, execute([part.moments for part in sums.values()]), strict=True)
    found = []
    for leaf, phi in enumerate(maps):
        nothing = [ClassMoments.empty(k) for k in ([phi.h] if sizes is None else sizes)]
        cells = np.arange(n_classes * n_folds).reshape(shape) + leaf * n_classes * n_folds
        groups = [[moments.get(g, nothing) for g in own] for own in cells.tolist()]
        by_size = range(len(nothing))
        found.append([Summary(tuple(tuple(p[i] for p in own) for own in groups)) for i in by_size])
    return found


def _moments_of(*given: Any) -> list[ClassMoments]:
    """The moments of all rows of a group, for each size: the work of its only task."""
    return _add_up(*given).moments()


def _add_up(
    phi: FeatureMap,
    X: Any,
    rows: Array,
    weight: Array | None,
    pilot: Array,
    sizes: Sequence[int],
) -> _Sums:
    """The sums of these rows of X: the work of one task."""
    parts = chunks(len(rows), X.shape[1], phi.h)
    room = phi.room(parts[0].stop, X.dtype)
    sums = _Sums(pilot, sizes, X.dtype if len(rows) > FEW_ROWS else np.dtype(np.float64))
    for chunk in parts:
        some = rows[chunk]
        sums.add(phi(dense(X[some]), room), None if weight is None else weight[some])
    if sums.single is not None:  # bring the rest to the double sum
        sums.S += sums.single
        sums.single = None
    return sums


class _Sums:
    """Running sums of one group about a pilot mean, in double precision."""

    def __init__(self, pilot: Array, sizes: Sequence[int], dtype: np.dtype[Any]) -> None:
        h = len(pilot)
        self.pilot, self.sizes = pilot, sizes
        self.n, self.squares, self.q = 0.0, 0.0, np.zeros(len(sizes))
        self.s, self.t = np.zeros(h), np.zeros((len(sizes), h))
        self.S = np.zeros((h, h))  # its lower triangle
        # Single precision is summed apart, and joins the double sum before it loses digits.
        self.single = None if dtype == np.float64 else np.zeros((h, h), dtype)
        self.single_rows = 0

    def add(self, H: Array, weight: Array | None) -> None:
        """Add the rows of H, which is overwritten."""
        if self.single is None:  # few rows, whose sums are in double precision from the start
            H = H.astype(np.float64, copy=False)
        H -= self.pilot
        squares = np.stack([np.vecdot(H[:, :k], H[:, :k]) for k in self.sizes])
        both = np.vstack([np.ones_like(squares[:1]), squares])
        if weight is not None:
            both *= weight
        sums = both.astype(H.dtype, copy=False) @ H  # Σu and Σ‖u‖²u in one pass over H
        self.s += sums[0]
        self.t += sums[1:]
        self.q += np.vecdot(both[1:].astype(np.float64), squares)
        if weight is None:
            self.n += len(H)
            self.squares += len(H)
        else:
            self.n += float(weight.sum())
            self.squares += squares_of(weight)
            H *= np.sqrt(weight)[:, None].astype(H.dtype)
        if self.single is None:
            add_gram(np.ascontiguousarray(H), self.S)
            return
        add_gram(np.ascontiguousarray(H), self.single)
        self.single_rows += len(H)
        if self.single_rows >= SINGLE_ROWS:
            self.S += self.single
            self.single[:] = 0
            self.single_rows = 0

    def join(self, other: _Sums) -> None:
        """Add sums about the same pilot."""
        self.n += other.n
        self.squares += other.squares
        self.q += other.q
        for mine, theirs in ((self.s, other.s), (self.t, other.t), (self.S, other.S)):
            mine += theirs

    def moments(self) -> list[ClassMoments]:
        """The summary of all rows added, for each size; the sums are used up."""
        pilot, found = self.pilot.astype(np.float64), []
        for i, k in enumerate(self.sizes):
            # The last size may use up S itself; the others need a copy.
            whole = i == len(self.sizes) - 1 and k == len(pilot)
            S = self.S if whole else self.S[:k, :k].copy()
            sums = self.s[:k], S, self.t[i, :k], self.q[i], self.squares
            found.append(from_sums(self.n, pilot[:k], *sums))
        return found
