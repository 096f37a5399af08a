"""Explanations: what each column adds to the score of a row, compared with a typical row.

Integrated gradients (Sundararajan, Taly and Yan, 2017) along the straight line from the typical row
z₀ to the row z, both scaled: column l adds

    c_l = (z_l − z₀_l) ∫₀¹ ∂s/∂z_l (z₀ + t(z − z₀)) dt,        Σ_l c_l = s(z) − s(z₀)

for a score s, the log-odds of two classes or ln(C p) of one of more. ∂s/∂z is the slope of the
score over the projections times their gradient. The line is cut into segments. On each of them the
slope is its mean between the projections at both ends, and the gradient that of the middle, where
kinks of a layer are averaged over the segment: with plain slopes there would have to be a segment
between any two kinks. A row whose sum misses s(z) − s(z₀) is taken again with twice as many
segments. The little that is missing in the end is added to the columns in proportion to what they
have, so that the sum is exact.

Where there are several leaves, the line passes through some of each tree. Within a leaf its odds
are explained so; where the line passes from a leaf into another, the log-odds jump, and the jump
belongs to the column that is cut there. The log-odds of all pairs of classes then become scores by
the mean slope of the scores between the typical row and the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..engines.threads import Executor, chunks, dense, serial
from ..features.feature_map import FeatureMap
from ..features.layers import Features
from ..features.trees import Tree
from .machine import Leaf, Machine

Array = np.ndarray[Any, Any]

SEGMENTS = 32  # of the line, at first
MOST_SEGMENTS = 256
MISSED = 1e-3  # of the sum of sizes, that a sum may miss before more segments are taken
LITTLE = 1e-6  # too little to matter in a score, whatever the sizes


class Score(Protocol):
    """What is explained: numbers that follow from the projections by the operators of a leaf."""

    def scores(self, projections: Array, /) -> Array:
        """(n,) or (n, scores)."""

    def through(self, start: Array, end: Array, gradient: Array, /) -> Array:
        """Gradients of projections (n, projections, d) as those of scores   (n, scores, d).

        Slopes of the scores are their means between projections at two ends.
        """


class LeafOdds:
    """What a leaf adds to the projections of rows, for each pair of classes that it knows."""

    def __init__(self, leaf: Leaf) -> None:
        self.leaf = leaf

    def scores(self, projections: Array) -> Array:
        """(n, pairs)."""
        return self.leaf.projections(projections)[:, self.leaf.columns]

    def through(self, start: Array, end: Array, gradient: Array) -> Array:
        """By the chain rule; each depends on one projection alone."""
        slopes = np.empty_like(start, dtype=float)
        for p, curve in enumerate(self.leaf.curves):
            slopes[:, p] = curve.slope((start[:, p] + end[:, p]) / 2)
        return slopes[:, :, np.newaxis] * gradient


class OnlyLeafScores:
    """The scores by which classes are predicted, where a row has one leaf."""

    def __init__(self, machine: Machine) -> None:
        [leaf] = machine.leaves
        self.machine: Machine = machine
        self.leaf: LeafOdds = LeafOdds(leaf)

    def scores(self, projections: Array) -> Array:
        """(n,) or (n, classes)."""
        return self.machine.scores(self.leaf.scores(projections))

    def through(self, start: Array, end: Array, gradient: Array) -> Array:
        """By the chain rule."""
        ends = (self.leaf.scores(projections) for projections in (start, end))
        return self.machine.mean_slopes(*ends) @ self.leaf.through(start, end, gradient)


def explain(phi: FeatureMap, machine: Machine, X: Any, execute: Executor = serial) -> Array:
    """What each column adds to each score of checked rows   (n, 1 or classes, d)."""
    (n, d), n_pairs = X.shape, len(machine.pairs)
    n_scores = 1 if n_pairs == 1 else len(machine.log_priors)
    contributions = np.empty((n, n_scores, d))
    origins = phi.encoding.origins
    of_column = np.eye(d)[origins]
    explained = _Explained.of(phi, machine)

    def fill(rows: slice) -> None:
        encoded = explained(phi.scaled(dense(X[rows]).astype(np.float64, copy=False)))
        contributions[rows] = encoded if phi.encoding.plain else encoded @ of_column

    width = len(origins) * (n_pairs + n_scores)
    for _ in execute(partial(fill, s) for s in chunks(n, phi.h, width)):
        pass
    return contributions


@dataclass(frozen=True, slots=True)
class _Line:
    """A leaf, and what is explained of its projections along lines."""

    features: Features
    operators: Array  # β   (k, h)
    folded: list[Array]  # the same on the hidden layers
    score: Score


@dataclass(frozen=True, slots=True)
class _Explained:
    """What each scaled column adds to the scores of scaled rows."""

    phi: FeatureMap
    machine: Machine
    folded: list[list[Array]]  # the operators of each leaf on its hidden layers
    typical: Array

    @classmethod
    def of(cls, phi: FeatureMap, machine: Machine) -> _Explained:
        """All that rows share."""
        double = np.dtype(np.float64)
        leaves = zip(phi.leaves, machine.leaves, strict=True)
        folded = [features.folded(leaf.operators, double) for features, leaf in leaves]
        return cls(phi, machine, folded, phi.typical)

    def __call__(self, Z: Array) -> Array:
        """(n, scores, d)."""
        if len(self.machine.leaves) == 1:
            score = OnlyLeafScores(self.machine)
            return _between(self._line(0, score), self.typical, Z)
        machine, line = self.machine, Z - self.typical
        found = np.zeros((len(Z), len(machine.pairs), Z.shape[1]))
        ends = np.concatenate([Z, self.typical[np.newaxis]])
        odds = np.zeros((len(ends), len(machine.pairs)))
        first = 0
        for tree, share in zip(self.phi.trees, machine.shares, strict=True):
            if share.any():
                at = tree(ends) + first
                for i in np.unique(at):
                    odds[at == i] += share * self._projections(int(i), ends[at == i])
                visits = _visits(tree, self.typical, line)
                self._add_pieces(found, share, first, visits, line)
                self._add_jumps(found, share, first, visits, line)
            first += tree.n_leaves
        start = np.broadcast_to(odds[-1], odds[:-1].shape)
        scores = machine.scores(odds).reshape(len(odds), -1)
        added = machine.mean_slopes(start, odds[:-1]) @ found
        return _completed(added, scores[:-1] - scores[-1], line)

    def _line(self, i: int, score: Score) -> _Line:
        leaf = self.machine.leaves[i]
        return _Line(self.phi.leaves[i], leaf.operators, self.folded[i], score)

    def _projections(self, i: int, Z: Array) -> Array:
        """What a leaf adds to the projections of rows   (n, pairs)."""
        leaf, projections = self.machine.leaves[i], np.empty((len(Z), 0))
        if len(leaf.columns):
            projections = self.phi.leaves[i].project(Z, self.folded[i])
        return leaf.projections(projections)

    def _add_pieces(
        self, found: Array, share: Array, first: int, visits: Visits, line: Array
    ) -> None:
        """Add what columns add within the leaves of a tree."""
        for piece in _pieces(visits):
            i, rows = piece.leaf + first, piece.rows
            leaf = self.machine.leaves[i]
            if len(leaf.columns):
                begin, end = (
                    self.typical + t[:, np.newaxis] * line[rows] for t in (piece.start, piece.end)
                )
                inside = _between(self._line(i, LeafOdds(leaf)), begin, end)
                inside *= share[leaf.columns, np.newaxis]
                found[rows[:, np.newaxis], leaf.columns] += inside

    def _add_jumps(
        self, found: Array, share: Array, first: int, visits: Visits, line: Array
    ) -> None:
        """Add what columns add that are cut between leaves of a tree."""
        for jump in _jumps(visits):
            places = self.typical + jump.time[:, np.newaxis] * line[jump.rows]
            for sign, leaves in ((-1, jump.before), (1, jump.after)):
                for i in np.unique(leaves):
                    own = leaves == i
                    change = sign * share * self._projections(int(i) + first, places[own])
                    rows = jump.rows[own, np.newaxis]
                    pairs = np.arange(len(self.machine.pairs))
                    found[rows, pairs, jump.columns[own, np.newaxis]] += change


class _Piece(NamedTuple):
    """The parts of lines that lie in one leaf: which rows', from where to where (0 to 1)."""

    leaf: int
    rows: Array
    start: Array
    end: Array


class _Jump(NamedTuple):
    """Where lines pass from leaf to leaf: which rows', when, from where to where, by what cut."""

    rows: Array
    time: Array
    before: Array
    after: Array
    columns: Array


Visits = tuple[Array, Array, Array]  # leaves (n, k), their ends (n, k + 1), columns cut (n, k − 1)


def _visits(tree: Tree, typical: Array, line: Array) -> Visits:
    """Leaves along each line from the typical row.

    A visit that ends where it begins, or in the same leaf as the next, counts for nothing.
    """
    n, nodes = len(line), len(tree.columns)
    along = line[:, tree.columns]
    times = np.full((n, nodes), 1.0)
    np.divide(tree.thresholds - typical[tree.columns], along, out=times, where=along != 0)
    times[~((times > 0) & (times < 1))] = 1.0
    order = np.argsort(times, axis=1, kind="stable")
    times = np.take_along_axis(times, order, axis=1)
    edges = np.concatenate([np.zeros((n, 1)), times, np.ones((n, 1))], axis=1)
    leaves = np.empty((n, nodes + 1), np.intp)
    for k in range(nodes + 1):
        middle = (edges[:, k] + edges[:, k + 1]) / 2
        leaves[:, k] = tree(typical + middle[:, np.newaxis] * line)
    return leaves, edges, tree.columns[order]


def _pieces(visits: Visits) -> Iterator[_Piece]:
    """The parts of lines in each leaf; a line may be in a leaf more than once."""
    leaves, edges, _ = visits
    for k in range(leaves.shape[1]):
        longer = edges[:, k + 1] > edges[:, k]
        for leaf in np.unique(leaves[longer, k]):
            rows = np.flatnonzero(longer & (leaves[:, k] == leaf))
            yield _Piece(int(leaf), rows, edges[rows, k], edges[rows, k + 1])


def _jumps(visits: Visits) -> Iterator[_Jump]:
    """Where lines pass into another leaf."""
    leaves, edges, columns = visits
    last = leaves[:, 0]
    for k in range(1, leaves.shape[1]):
        longer = edges[:, k + 1] > edges[:, k]
        rows = np.flatnonzero(longer & (leaves[:, k] != last))
        if len(rows):
            yield _Jump(rows, edges[rows, k], last[rows], leaves[rows, k], columns[rows, k - 1])
        last = np.where(longer, leaves[:, k], last)


def _between(leaf: _Line, start: Array, Z: Array) -> Array:
    """What each scaled column adds from some rows, or one, to others   (n, scores, d).

    The sum is the difference of scores.
    """
    line = Z - start
    project = partial(leaf.features.project, operators=leaf.folded)
    ends = (project(np.broadcast_to(rows, Z.shape)) for rows in (Z, start))
    above, below = (leaf.score.scores(projections).reshape(len(Z), -1) for projections in ends)
    wanted = above - below
    found = np.empty((*wanted.shape, Z.shape[1]))
    n_segments, again = SEGMENTS, np.arange(len(Z))
    while True:
        begin = start if start.ndim == 1 else start[again]
        found[again] = _integral(leaf, begin, line[again], n_segments)
        missing, sizes = wanted - found.sum(axis=2), abs(found).sum(axis=2)
        again = np.flatnonzero((abs(missing) > MISSED * sizes + LITTLE).any(axis=1))
        n_segments *= 2
        if not len(again) or n_segments > MOST_SEGMENTS:
            break
    return _completed(found, wanted, line)


def _completed(found: Array, wanted: Array, line: Array) -> Array:
    """Contributions (n, scores, d) with what their sums miss shared among the columns."""
    missing, sizes = wanted - found.sum(axis=2), abs(found).sum(axis=2)
    # Where nearly everything is missing, what was found says little of how to share it.
    unknown = (abs(missing) > sizes)[:, :, np.newaxis]
    shares = np.where(unknown, abs(line)[:, np.newaxis], abs(found))
    total = shares.sum(axis=2)
    each = np.divide(missing, total, out=np.zeros_like(missing), where=total > 0)
    return found + shares * each[:, :, np.newaxis]


def _integral(leaf: _Line, begin: Array, line: Array, n_segments: int) -> Array:
    """The sum over segments of mean slope of the scores · gradient · line   (n, scores, d)."""
    total: Any = 0.0
    # Shorter at both ends: near the typical row or the row itself scores may change fast.
    ends = (1 - np.cos(np.linspace(0, np.pi, n_segments + 1))) / 2
    features, folded = leaf.features, leaf.folded
    start = features.project(np.broadcast_to(begin, line.shape), folded)
    for a, b in pairwise(ends):
        end = features.project(begin + b * line, folded)
        half = (b - a) / 2 * line
        gradient = features.gradient(begin + (a + b) / 2 * line, leaf.operators, half)
        total = total + (b - a) * leaf.score.through(start, end, gradient.transpose(1, 0, 2))
        start = end
    return total * line[:, np.newaxis]
