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
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..columns.statistics import squares_of
from ..engines.blas import add_gram
from ..engines.threads import Executor, chunks, dense, row_slices, serial
from ..features.layers import Features
from .summary import ClassMoments, FoldMoments, from_sums

Array = np.ndarray[Any, Any]

SINGLE_ROWS = 8192  # rows summed in single precision before they join the double sum
FEW_ROWS = 1024  # rows of a task that are summed in double precision at once
PILOT_ROWS = 64  # of a class, whose mean is near enough to the final one that no digits are lost


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Which class, fold and leaf each row belongs to, and what it weighs."""

    labels: Array  # 0, 1, …
    folds: Array | None  # 0, 1, …; one fold without it
    weight: Array | None
    shape: tuple[int, int]  # classes and folds
    leaves: Array | None = None  # 0, 1, …; one leaf without it

    @property
    def numbers(self) -> Array:
        """The group of each row: leaf after leaf, class after class, fold after fold."""
        n_classes, n_folds = self.shape
        group = self.labels.astype(np.intp) * n_folds + (0 if self.folds is None else self.folds)
        if self.leaves is not None:
            group += self.leaves.astype(np.intp) * (n_classes * n_folds)
        return group


def summarise(
    leaves: Sequence[Features],
    X: Any,
    groups: RowGroups,
    execute: Executor = serial,
    *,
    scaled: Callable[[Array], Array] = np.asarray,
    sizes: Sequence[int] | None = None,
) -> list[list[FoldMoments]]:
    """The moments of the rows in each leaf under its first features, for each size.

    `scaled` makes of dense rows what features are made from. Features have the precision of X. The
    rows must be few enough to be sorted in memory (`engines.threads.row_batches`).
    """
    (n_classes, n_folds), group = groups.shape, groups.numbers
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(len(leaves) * n_classes * n_folds + 1))
    longest = max(s.stop - s.start for s in row_slices(len(group)))

    def tasks() -> Iterator[Callable[[], tuple[int, _Sums | list[ClassMoments]]]]:
        for c in range(len(leaves) * n_classes):
            features = leaves[c // n_classes]
            work = _Work(X, groups.weight, scaled, features, sizes or [features.h])
            pilot = work.mean(order[ends[c * n_folds] : ends[(c + 1) * n_folds]][:PILOT_ROWS])
            for g in range(c * n_folds, (c + 1) * n_folds):
                rows = order[ends[g] : ends[g + 1]]
                n_tasks = max(round(len(rows) / longest), 1) if len(rows) else 0
                for some in np.array_split(rows, n_tasks) if n_tasks else ():
                    yield partial(work, g, some, pilot, whole=n_tasks == 1)

    sums: dict[int, _Sums] = {}
    moments: dict[int, list[ClassMoments]] = {}
    for g, more in execute(tasks()):
        if isinstance(more, list):
            moments[g] = more
        elif g in sums:
            sums[g].join(more)
        else:
            sums[g] = more
        del more  # or it would stay while the next one is made
    moments |= zip(sums, execute([part.moments for part in sums.values()]), strict=True)
    summaries = []
    for leaf, features in enumerate(leaves):
        nothing = [ClassMoments.empty(k) for k in sizes or [features.h]]
        cells = np.arange(n_classes * n_folds).reshape(groups.shape) + leaf * n_classes * n_folds
        by_cell = [[moments.get(g, nothing) for g in folds] for folds in cells.tolist()]
        summaries.append(
            [
                FoldMoments(tuple(tuple(cell[i] for cell in folds) for folds in by_cell))
                for i in range(len(nothing))
            ]
        )
    return summaries


@dataclass(frozen=True, slots=True)
class _Work:
    """What tasks of a class in a leaf share."""

    X: Any
    weight: Array | None
    scaled: Callable[[Array], Array]
    features: Features
    sizes: Sequence[int]

    def mean(self, rows: Array) -> Array:
        """The mean features of some rows."""
        if not len(rows):
            return np.zeros(self.features.h)
        return self.features(self.scaled(dense(self.X[rows]))).mean(axis=0)

    def __call__(
        self, group: int, rows: Array, pilot: Array, *, whole: bool
    ) -> tuple[int, _Sums | list[ClassMoments]]:
        """The sums of some rows of a group, or its moments where these are the whole of it."""
        X, features = self.X, self.features
        parts = chunks(len(rows), X.shape[1], features.h)
        room = features.room(parts[0].stop, X.dtype)
        dtype = X.dtype if len(rows) > FEW_ROWS else np.dtype(np.float64)
        sums = _Sums(pilot, self.sizes, dtype)
        for chunk in parts:
            some = rows[chunk]
            H = features(self.scaled(dense(X[some])), room)
            sums.add(H, None if self.weight is None else self.weight[some])
        if sums.single is not None:  # bring the rest to the double sum
            sums.S += sums.single
            sums.single = None
        return group, sums.moments() if whole else sums


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
