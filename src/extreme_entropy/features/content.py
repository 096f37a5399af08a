"""Randomness by content: a row's fold, and whether it is sampled, follow from its values.

Each column is cut into bins between the least and largest value first seen. A row's hash is
mix(Σ_j key_j · bin_j) modulo 2⁶⁴ with odd keys drawn from the seed (a universal hash of the bins,
then every bit stirred), so that nothing depends on the order of rows, on batches, on repetition, on
dense or sparse storage, or on the unit and origin of a column. Rows in the same bins count as
repetitions of one row. Missing values (NaN) share a bin. Where far-off values leave few bins to
most rows, so that they would seem to be repetitions, bins are finer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp

from ..columns.statistics import varies
from ..shapes import Array, Indices, Numbers, Unscaled


@dataclass(frozen=True, slots=True)
class ContentHash:
    """A seeded 64-bit hash of the bins a row falls into."""

    seed: Annotated[int, Indices(most=2**64 - 1)]
    low: Annotated[Array, Unscaled("d")]  # least value of each column
    per_unit: Annotated[Array, Numbers("d", least=0, most=np.inf)]  # bins per unit of a column

    @classmethod
    def between(cls, seed: int, low: Array, high: Array, *, fine: bool = False) -> ContentHash:
        """Bins between the least and largest value of each column.

        They are `fine` where a far-off value would put most others into few of them.
        """
        # 64 bits over all columns, but 8 to 16 in each: few bins, so that rounding (a column
        # far from its origin has lost digits) hardly ever moves a value into another.
        bits = 32 if fine else int(np.clip(-(-64 // len(low)), 8, 16))
        low = np.where(low <= high, low, 0.0)  # a column without values
        width = np.where(low <= high, high - low, 0.0)
        # Of a constant column only values that are truly others lie in other bins.
        size = np.maximum(abs(low), abs(high), where=low <= high, out=np.zeros(len(low)))
        unit = np.where(varies(low, high), width, np.where(size > 0, size, 1.0))
        with np.errstate(over="ignore"):
            per_unit = 2.0**bits / unit
        return cls(seed, low, np.where(np.isfinite(per_unit), per_unit, 0.0))

    def __call__(self, X: Any) -> Array:
        """The hash of each row                  (n,) uint64."""
        keys = splitmix(np.arange(len(self.low), dtype=np.uint64), self.seed) | np.uint64(1)
        if not sp.issparse(X):
            return mixed(_bins(X, self.low, self.per_unit) @ keys)
        # Σ over all columns of the term at zero, corrected where an entry is not zero.
        X = X.tocsr()
        if not X.has_canonical_format:  # an entry may be stored in parts
            X = X.copy()
            X.sum_duplicates()
        zeros = _bins(np.zeros(len(self.low)), self.low, self.per_unit)
        j = X.indices
        change = (_bins(X.data, self.low[j], self.per_unit[j]) - zeros[j]) * keys[j]
        running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(change, dtype=np.uint64)])
        return mixed(running[X.indptr[1:]] - running[X.indptr[:-1]] + zeros @ keys)


def _bins(x: Array, low: Array, per_unit: Array) -> Array:
    bins = np.subtract(x, low, dtype=np.float64)
    bins *= per_unit
    # Bins begin at an irrational part of a step, so that values on a lattice (0, 1, 2, …) never
    # lie on a boundary, where rounding alone would decide.
    bins += 0.3819660112501051
    np.floor(bins, out=bins)
    np.fmax(bins, -(2.0**62), out=bins)  # which takes NaN for the least
    np.fmin(bins, 2.0**62, out=bins)
    return bins.astype(np.int64).view(np.uint64)


def splitmix(numbers: Array, seed: int = 0) -> Array:
    """Which numbers splitmix64 gives in these places, from a seed."""
    return mixed(numbers * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed))


def mixed(z: Array) -> Array:
    """The finaliser of splitmix64: every input bit moves every output bit."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def folds_of(hashes: Array, n_folds: int) -> Array:
    """The fold of each row, by its hash: 0, 1, … in as few bytes as will do   (n,)."""
    return (hashes % np.uint64(n_folds)).astype(np.min_scalar_type(n_folds))


def first_of(hashes: Array, k: int) -> Array:
    """Where the k smallest distinct hashes are, each as often as it comes."""
    smallest, n = np.arange(len(hashes)), 2 * k
    while k and n < len(hashes):  # among so many of the smallest there may be repeats
        near = np.flatnonzero(hashes <= np.partition(hashes, n)[n])
        if len(np.unique(hashes[near])) >= k:
            smallest = near
            break
        n *= 4
    distinct = np.unique(hashes[smallest])[:k]
    return smallest[hashes[smallest] <= distinct[-1]] if len(distinct) else smallest[:0]


@dataclass(frozen=True, slots=True)
class RowSample:
    """The rows with the k smallest hashes among distinct rows: a sample that merges.

    The first rows of a sample are the sample of a smaller k. A row of the final sample was in every
    sample on the way, so that its count misses none of its repeats.
    """

    k: int
    hashes: Array  # increasing   (≤k,)
    rows: Array  # (≤k, d)
    counts: Array  # how often each came, or the total of its weights   (≤k,)

    @classmethod
    def empty(cls, k: int, d: int) -> RowSample:
        """The sample of no rows: the identity of `+`."""
        return cls(k, np.empty(0, np.uint64), np.empty((0, d)), np.empty(0))

    def __add__(self, other: RowSample) -> RowSample:
        return self.with_rows(other.hashes, other.rows, other.counts)

    def at(self, chosen: Any) -> RowSample:
        """Some of the rows."""
        return RowSample(self.k, self.hashes[chosen], self.rows[chosen], self.counts[chosen])

    def with_rows(self, hashes: Array, X: Any, weight: Array | None = None) -> RowSample:
        """The sample after more rows, dense or sparse, with these hashes and weights."""
        if not len(hashes) or not self.k:
            return self
        if len(self.hashes) == self.k:
            wanted = np.flatnonzero(hashes <= self.hashes[-1])
        else:
            # Two rows may share a hash, so keep all rows up to the k-th distinct one.
            wanted = np.flatnonzero(hashes <= np.unique(hashes)[: self.k][-1])
        if not len(wanted):
            return self
        rows = X[wanted]
        rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
        weights = np.ones(len(wanted)) if weight is None else weight[wanted]
        hashes = np.concatenate([self.hashes, hashes[wanted]])
        counts = np.concatenate([self.counts, weights])
        rows = np.concatenate([self.rows, rows.astype(np.float64, copy=False)])
        # Sort by hash; of rows with one hash keep the least, column by column.
        order = np.argsort(hashes, kind="stable")
        repeats = hashes[order[1:]] == hashes[order[:-1]]
        if repeats.any():
            shared = np.zeros(len(order), dtype=bool)
            shared[1:] |= repeats
            shared[:-1] |= repeats
            tied = order[shared]
            order[shared] = tied[np.lexsort((*rows[tied].T[::-1], hashes[tied]))]
        starts = np.flatnonzero(np.concatenate([[True], ~repeats]))
        first, counts = order[starts[: self.k]], np.add.reduceat(counts[order], starts)
        return RowSample(self.k, hashes[first], rows[first] + 0.0, counts[: self.k])  # −0.0 as 0.0
