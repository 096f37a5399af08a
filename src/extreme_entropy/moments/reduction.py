"""Rows ↦ summary: h = φ(x), then Σu, Σuuᵀ, Σ‖u‖²u, Σ‖u‖⁴ for each class and fold.

Rows are taken group by group (class and fold). A task sums some rows of one group, in chunks
whose features stay in the processor's cache; each chunk is one product, one activation and one
?syrk. The tasks of a class sum about one pilot mean, so that their sums add up number by number.
Tasks follow from the rows alone, never from the number of threads: any number gives the same bits.

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
from ..engines.threads import CUTS, Executor, RowGroups, chunks, dense, row_slices, serial, unseen
from ..features.layers import Features
from ..shapes import Array
from .summary import ClassMoments, FoldMoments, from_sums


def summarise(
    features: Features,
    X: Any,
    groups: RowGroups,
    execute: Executor = serial,
    *,
    scaled: Callable[[Array], Array] = np.asarray,
    sizes: Sequence[int] | None = None,
    advance: Callable[[int], object] = unseen,
) -> list[FoldMoments]:
    """The moments of rows under the first features, for each size; by default under all of them.

    `scaled` makes of dense rows what features are made from. Features have the precision of X. The
    rows must be few enough to be sorted in memory (`engines.threads.row_batches`). `advance` is
    called with the number of further rows that are done.
    """
    (n_classes, n_folds), rows, sizes = groups.shape, groups.rows(), sizes or [features.h]
    longest = max(s.stop - s.start for s in row_slices(len(groups.labels)))
    work = Reduction(X, groups.weight, scaled, features, sizes)

    def tasks() -> Iterator[Callable[[], tuple[int, int, _Sums | list[ClassMoments]]]]:
        for c in range(n_classes):
            pilot = work.pilot(rows[c * n_folds : (c + 1) * n_folds])
            for g in range(c * n_folds, (c + 1) * n_folds):
                n_tasks = max(round(len(rows[g]) / longest), 1)
                for part in np.array_split(rows[g], n_tasks) if len(rows[g]) else ():
                    yield partial(work, g, part, pilot, whole=n_tasks == 1)

    sums: dict[int, _Sums] = {}
    moments: dict[int, list[ClassMoments]] = {}
    for g, n, result in execute(tasks()):
        advance(n)
        if isinstance(result, list):
            moments[g] = result
        elif g in sums:
            sums[g].join(result)
        else:
            sums[g] = result
        del result  # or it would stay while the next one is made
    moments |= zip(sums, execute([group.moments for group in sums.values()]), strict=True)
    nothing = [ClassMoments.empty(k) for k in sizes]
    of_groups = np.arange(n_classes * n_folds).reshape(groups.shape).tolist()
    of_size = (
        tuple(tuple(moments.get(g, nothing)[i] for g in folds) for folds in of_groups)
        for i in range(len(sizes))
    )
    return [FoldMoments(cells) for cells in of_size]


@dataclass(frozen=True, slots=True)
class Reduction:
    """What all tasks share."""

    X: Any
    weight: Array | None
    scaled: Callable[[Array], Array]
    features: Features
    sizes: Sequence[int]

    def pilot(self, groups: Sequence[Array]) -> Array:
        """The mean features of the first rows of a class."""
        most = CUTS.pilot_rows
        rows = np.concatenate([group[:most] for group in groups])[:most]
        if not len(rows):
            return np.zeros(self.features.h)
        return self.features(self.scaled(dense(self.X[rows]))).mean(axis=0)

    def __call__(
        self, g: int, rows: Array, pilot: Array, *, whole: bool
    ) -> tuple[int, int, _Sums | list[ClassMoments]]:
        """The sums of n rows of group g, or its moments where these are the whole of it."""
        X, features = self.X, self.features
        parts = chunks(len(rows), X.shape[1], features.h)
        buffers = features.buffers(parts[0].stop, X.dtype)
        single = X.dtype != np.float64 and len(rows) > CUTS.few_rows
        sums = _Sums(pilot, self.sizes, CUTS.single_rows if single else 0)
        for chunk in parts:
            part = rows[chunk]
            H = features(self.scaled(dense(X[part])), buffers)
            sums.add(H, None if self.weight is None else self.weight[part])
        if single:
            sums.settle()
            sums.single = None  # whose memory is not needed any more
        return g, len(rows), sums.moments() if whole else sums


class _Sums:
    """Running sums of one group about a pilot mean, in double precision.

    Up to `single_rows` rows are first summed in single precision, if that is not zero.
    """

    def __init__(self, pilot: Array, sizes: Sequence[int], single_rows: int) -> None:
        h = len(pilot)
        self.pilot, self.sizes = pilot, sizes
        self.n, self.squares, self.q = 0.0, 0.0, np.zeros(len(sizes))
        self.s, self.t = np.zeros(h), np.zeros((len(sizes), h))
        self.S = np.zeros((h, h))  # its lower triangle
        # Single precision is summed apart, and joins the double sum before it loses digits.
        self.single_rows, self.unsettled = single_rows, 0
        self.single = np.zeros((h, h), np.float32) if single_rows else None

    def add(self, H: Array, weight: Array | None) -> None:
        """Add the rows of H, which is overwritten."""
        if self.single is None:  # sums are in double precision from the start
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
        self.n += len(H) if weight is None else float(weight.sum())
        self.squares += len(H) if weight is None else squares_of(weight)
        if weight is not None:
            H *= np.sqrt(weight)[:, None].astype(H.dtype)
        add_gram(np.ascontiguousarray(H), self.S if self.single is None else self.single)
        self.unsettled += len(H)
        if self.single is not None and self.unsettled >= self.single_rows:
            self.settle()

    def settle(self) -> None:
        """Bring what was summed in single precision to the double sum."""
        if self.single is not None:
            self.S += self.single
            self.single[:], self.unsettled = 0, 0

    def join(self, other: _Sums) -> None:
        """Add settled sums about the same pilot."""
        self.n += other.n
        self.squares += other.squares
        self.q += other.q
        self.s += other.s
        self.t += other.t
        self.S += other.S

    def moments(self) -> list[ClassMoments]:
        """The summary of all rows added, for each size; the sums are used up."""
        pilot, moments = self.pilot.astype(np.float64), []
        for i, k in enumerate(self.sizes):
            # The last size may use up S itself; the others need a copy.
            whole = i == len(self.sizes) - 1 and k == len(pilot)
            S = self.S if whole else self.S[:k, :k].copy()
            s, t, q = self.s[:k], self.t[i, :k], self.q[i]
            moments.append(from_sums(self.n, pilot[:k], s, S, t, q, self.squares))
        return moments
