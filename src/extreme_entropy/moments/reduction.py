"""Rows ↦ summary: h = φ(x), then Σu, Σuuᵀ, Σ‖u‖²u, Σ‖u‖⁴ for each class and fold.

Within a lane rows are taken group by group (class and fold), in chunks whose features stay in the
processor's cache; each chunk is one product, one activation and one ?syrk into its group's sum.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..features.chunks import chunk_rows, chunks, dense, width_of
from ..features.feature_map import FeatureMap
from .class_moments import ClassMoments, from_sums
from .gram import add_gram
from .summary import Summary

Array = np.ndarray[Any, Any]

SINGLE_ROWS = 8192  # rows summed in single precision before they join the double sum
FEW_ROWS = 1024  # a group that is summed in double precision at once


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
    group = labels * n_folds + _folds(phi, X, n_folds)
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(n_classes * n_folds + 1))
    room = phi.room(chunk_rows(width_of(phi)), X.dtype)
    cells = [_summarise_group(phi, X, order[a:b], weight, room) for a, b in pairwise(ends)]
    return Summary(tuple(tuple(cells[c * n_folds : (c + 1) * n_folds]) for c in range(n_classes)))


def _folds(phi: FeatureMap, X: Any, n_folds: int) -> Array:
    """The fold of each row, from its content."""
    folds = np.zeros(X.shape[0], dtype=np.intp)
    if n_folds > 1:
        for stretch in chunks(len(folds), phi.d):
            folds[stretch] = phi.content(X[stretch]) % np.uint64(n_folds)
    return folds


def _summarise_group(
    phi: FeatureMap, X: Any, rows: Array, weight: Array | None, room: Array | None
) -> ClassMoments:
    """The summary of these rows of X."""
    if not len(rows):
        return ClassMoments.empty(phi.h)
    sums = _Sums(phi.h, X.dtype if len(rows) > FEW_ROWS else np.dtype(np.float64))
    for stretch in chunks(len(rows), width_of(phi)):
        chosen = rows[stretch]
        sums.add(phi(dense(X[chosen]), room), None if weight is None else weight[chosen])
    return sums.moments()


class _Sums:
    """Running sums of one group about a pilot mean, in double precision."""

    def __init__(self, h: int, dtype: np.dtype[Any]) -> None:
        self.n, self.q = 0.0, 0.0
        self.s, self.t = np.zeros(h), np.zeros(h)
        self.S = np.zeros((h, h))
        # Single precision is summed apart, and joins the double sum before it loses digits.
        self.single = None if dtype == np.float64 else np.zeros((h, h), dtype)
        self.single_rows = 0
        self.pilot: Array | None = None

    def add(self, H: Array, weight: Array | None) -> None:
        """Add the rows of H, which is overwritten."""
        if self.pilot is None:
            # About the first rows' mean: near enough to the final one that no digits are lost.
            self.pilot = H.mean(axis=0)
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
            self._flush()

    def _flush(self) -> None:
        if self.single is not None:
            self.S += self.single
            self.single[:] = 0
            self.single_rows = 0

    def moments(self) -> ClassMoments:
        self._flush()
        assert self.pilot is not None
        pilot = self.pilot.astype(np.float64)
        return from_sums(self.n, pilot, self.s, self.S, self.t, self.q)
