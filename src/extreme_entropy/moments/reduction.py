"""Rows ↦ summary, chunk by chunk: h = φ(x), then Σu, Σuuᵀ, Σ‖u‖²u, Σ‖u‖⁴ for each class and fold.

A lane is a stretch of rows that one thread adds up in order. How many lanes there are depends on
the number of rows, never on the number of threads, so that any number of threads gives the same
bits. Within a chunk, rows are brought together by class and fold before φ sees them, so that each
group is one product.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..features.feature_map import FeatureMap
from .class_moments import from_sums
from .summary import Summary

Array = np.ndarray[Any, Any]

CHUNK_NUMBERS = 2**22  # numbers in a chunk of features: 32 MiB of float64
LANE_ROWS = 8192  # a lane shorter than this costs more to merge than it saves
MOST_LANES = 8


def chunks(n: int, width: int) -> Iterator[slice]:
    """Consecutive stretches of n rows whose features stay small."""
    rows = int(np.clip(CHUNK_NUMBERS // max(width, 1), 64, 16384))
    return (slice(start, min(start + rows, n)) for start in range(0, n, rows))


def lanes(n: int) -> list[slice]:
    """The rows of each lane, from the number of rows alone."""
    count = int(np.clip(n // LANE_ROWS, 1, MOST_LANES))
    bounds = [n * i // count for i in range(count + 1)]
    return [slice(a, b) for a, b in pairwise(bounds)]


def dense(rows: Any) -> Array:
    """A chunk of rows as a dense array."""
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


def summarise(
    phi: FeatureMap,
    X: Any,
    labels: Array,
    weight: Array | None,
    n_classes: int,
    n_folds: int,
) -> Summary:
    """The summary of rows with labels 0 … n_classes − 1: the work of one lane."""
    phi = phi.in_precision(X.dtype)
    sums = [[_Sums(phi.h) for _ in range(n_folds)] for _ in range(n_classes)]
    for stretch in chunks(len(labels), max(phi.d, phi.h, phi.layer.size)):
        rows = X[stretch]
        folds = (phi.content(rows) % np.uint64(n_folds)).astype(np.intp)
        group = labels[stretch] * n_folds + folds
        order = np.argsort(group, kind="stable")
        H = phi(dense(rows)[order])
        w = None if weight is None else weight[stretch][order]
        ends = np.searchsorted(group[order], np.arange(n_classes * n_folds + 1))
        for g, (a, b) in enumerate(pairwise(ends)):
            if b > a:
                sums[g // n_folds][g % n_folds].add(H[a:b], None if w is None else w[a:b])
    return Summary(tuple(tuple(cell.moments() for cell in row) for row in sums))


class _Sums:
    """Running sums of one group about a pilot mean, in double precision."""

    def __init__(self, h: int) -> None:
        self.n = 0.0
        self.h = h

    def add(self, H: Array, weight: Array | None) -> None:
        """Add the rows of H, which is overwritten."""
        if not self.n:
            # About the first rows' mean: near enough to the final one that no digits are lost.
            self.pilot = H.mean(axis=0)
            self.s, self.t, self.q = np.zeros(self.h), np.zeros(self.h), 0.0
            self.S = np.zeros((self.h, self.h))
        H -= self.pilot
        squares = np.einsum("ij,ij->i", H, H)
        if weight is None:
            self.n += len(H)
            self.s += H.sum(axis=0, dtype=np.float64)
            self.t += squares @ H
            self.q += float(np.dot(squares, squares))
        else:
            self.n += float(weight.sum())
            self.s += weight @ H
            self.t += (weight * squares) @ H
            self.q += float(weight @ np.square(squares, dtype=np.float64))
            H *= np.sqrt(weight)[:, None].astype(H.dtype)
        self.S += H.T @ H

    def moments(self) -> Any:
        if not self.n:
            return from_sums(0.0, np.zeros(self.h), *(np.zeros(0),) * 3, 0.0)
        return from_sums(self.n, self.pilot.astype(np.float64), self.s, self.S, self.t, self.q)
