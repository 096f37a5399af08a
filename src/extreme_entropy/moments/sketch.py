"""Which rows were learnt: the keys of all of them, or of a sample that is the same for everyone.

A row's key is a hash of its content and class. Keys below 2^(64 − level) are kept, each with the
weight of its rows, Σw, and with Σ min(w, w²), which tells whether a part of a row is to be taken
out that never came alone. The level is the least at which no more than `most_keys` are below, so
that sketches add up to the sketch of all rows, in any order. Among N distinct rows a share of
min(1, most/N) to half of that is kept: k rows that were never learnt are all taken for learnt with
probability (1 − share)^k, and never where N is at most `most_keys`, but for rows that share a hash.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Self, TypeVar

import numpy as np
from scipy.special import bdtrc, gammaln

from ..features.content import mixed, splitmix
from ..shapes import SMALLEST, Array, Indices, Numbers
from ..tolerances import WEIGHT_ROUNDING

S = TypeVar("S", bound="RowSketch")


@dataclass(frozen=True, slots=True)
class SketchSettings:
    """Which rows are remembered."""

    most_keys: int = 2**18  # of 24 bytes each
    coincidence: float = 1e-6  # probability below which rows learnt are not known by chance


@dataclass(frozen=True, slots=True)
class RowSketch:
    """The keys below a bound, and what was learnt of each."""

    settings: ClassVar[SketchSettings] = SketchSettings()

    level: Annotated[int, Indices(most=63)]
    keys: Annotated[Array, Indices("keys", most=2.0**64, increasing=True)]  # uint64
    weights: Annotated[Array, Numbers("keys", least=SMALLEST)]  # Σw
    # Σ min(w, w²), which are the weights where none is below one.
    squares: Annotated[Array, Numbers("keys", least=0)]

    @classmethod
    def empty(cls) -> Self:
        """The sketch of no rows: the identity of `+`."""
        return cls(0, np.empty(0, np.uint64), np.empty(0), np.empty(0))

    def with_rows(self, keys: Array, weight: Array | None = None) -> Self:
        """The sketch after more rows with these keys and weights."""
        sketch, most = self, self.settings.most_keys
        for start in range(0, len(keys), most):  # each part may raise the level for the next
            part = keys[start : start + most]
            low = np.flatnonzero(_below(part, sketch.level))
            part = part[low]
            if weight is None:
                distinct, counts = np.unique(part, return_counts=True)
                weights = squares = counts.astype(np.float64)
            else:
                order = np.argsort(part)
                distinct, starts = np.unique(part[order], return_index=True)
                weights = weight[start + low[order]].astype(np.float64)
                squares = np.minimum(weights, weights**2)
                if len(starts):
                    weights = np.add.reduceat(weights, starts)
                    squares = np.add.reduceat(squares, starts)
            sketch += replace(sketch, keys=distinct, weights=weights, squares=squares)
        return sketch

    def __add__(self, other: Self) -> Self:
        if len(self.keys) < len(other.keys):
            self, other = other, self
        if not len(other.keys) and self.level >= other.level:
            return self
        mine, theirs, at, known = _matched(self, other)
        weights, squares, new = mine.weights.copy(), mine.squares.copy(), ~known
        weights[at[known]] += theirs.weights[known]
        squares[at[known]] += theirs.squares[known]
        both = replace(
            mine,
            keys=np.insert(mine.keys, at[new], theirs.keys[new]),
            weights=np.insert(weights, at[new], theirs.weights[new]),
            squares=np.insert(squares, at[new], theirs.squares[new]),
        )
        while len(both.keys) > self.settings.most_keys:
            both = both._thinned(both.level + 1)
        return both

    def __sub__(self, other: Self) -> Self:
        mine, theirs, at, known = _matched(self, other)
        weights, squares = mine.weights.copy(), mine.squares.copy()
        weights[at[known]] -= theirs.weights[known]
        squares[at[known]] -= theirs.squares[known]
        left = weights > WEIGHT_ROUNDING * mine.weights
        squares = np.maximum(squares[left], 0)
        return replace(mine, keys=mine.keys[left], weights=weights[left], squares=squares)

    def lacks(self, other: RowSketch) -> int:
        """How many of the other's keys are not here with as much weight, or not in such parts.

        Rows of total weight r have Σ min(w, w²) between 0 and r, or r² where r is below one: a
        weight of 1 less one of 0.9 has not.
        """
        mine, theirs, at, known = _matched(self, other)
        had = mine.weights[at[known]]
        rest = had - theirs.weights[known]
        squares = mine.squares[at[known]] - theirs.squares[known]
        rounding = WEIGHT_ROUNDING * had
        rest[abs(rest) <= rounding] = 0.0
        most = np.minimum(rest, rest**2)
        fits = (rest >= 0) & (squares >= -rounding) & (squares <= most + rounding)
        return len(theirs.keys) - int(fits.sum())

    def lost(self, counts: Array) -> float:
        """How much counts differ from the weight of all rows; 0 where only some rows are kept."""
        return 0.0 if self.level else abs(float(self.weights.sum()) - float(counts.sum()))

    def share_of(self, other: RowSketch, *, certain: bool = False) -> float:
        """The share of the other's rows that were learnt; 0 where they may be like them by chance.

        That a new row is equal to one learnt has a probability of 1 − n₁/n, where n₁ of n rows
        came once (Good and Turing). Where rows are few and come often, all are equal to some, and
        only those that come as often as here, all of them, are the same rows; `certain` asks for
        more, that chance (the multinomial distribution) would hardly give the same counts.
        """
        mine, theirs, _, known = _matched(self, other)
        n, seen = float(mine.weights.sum()), float(theirs.weights.sum())
        if not known.any():
            return 0.0
        if known.all() and np.array_equal(mine.weights, theirs.weights):
            terms = mine.weights * np.log(mine.weights / n) - gammaln(mine.weights + 1)
            if not certain or gammaln(n + 1) + terms.sum() < np.log(self.settings.coincidence):
                return 1.0
        chance = 1 - float(mine.weights[mine._once()].sum()) / n
        at_most = (n * chance + 1) / (n + 1)  # where no row came twice, the next may
        if chance >= 1 or bdtrc(known.sum() - 1, len(known), at_most) > self.settings.coincidence:
            return 0.0
        share = (float(theirs.weights[known].sum()) / seen - chance) / (1 - chance)
        return max(0.0, share)

    def _once(self) -> Array:
        """Which keys came once, as far as weights tell.

        Weights that are all multiples of the least are counted in units of it; of other fractions
        none is likely to be a sum, and below one the squares show it.
        """
        unit = self.weights.min()
        if (self.weights % unit == 0).all():
            return self.weights == unit
        single = abs(self.squares - np.minimum(self.weights, self.weights**2)) <= WEIGHT_ROUNDING
        return np.where(self.weights % 1 == 0, self.weights == 1, single)

    def _thinned(self, level: int) -> Self:
        """The same at a level that is not lower."""
        if level == self.level:
            return self
        n = int(_below(self.keys, level).sum())
        keys, weights, squares = self.keys[:n], self.weights[:n], self.squares[:n]
        return replace(self, level=level, keys=keys, weights=weights, squares=squares)


NO_ROWS = RowSketch.empty()


def keys_of(hashes: Array, labels: Array) -> Array:
    """The hash of each row together with the position of its class   (n,) uint64."""
    return mixed(hashes ^ splitmix(labels.astype(np.uint64)))


def _below(keys: Array, level: int) -> Array:
    """Which keys are kept at a level."""
    return keys <= np.uint64((1 << (64 - level)) - 1)


def _matched(mine: S, theirs: S) -> tuple[S, S, Array, Array]:
    """Both at the higher level of the two; where the second's keys belong, and which are known."""
    level = max(mine.level, theirs.level)
    mine, theirs = mine._thinned(level), theirs._thinned(level)
    at = np.searchsorted(mine.keys, theirs.keys)
    known = at < len(mine.keys)
    known[known] = mine.keys[at[known]] == theirs.keys[known]
    return mine, theirs, at, known
