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

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..engines.threads import Executor, chunks, dense, serial
from ..features.feature_map import FeatureMap, Tree
from ..features.layers import Features
from .machine import Leaf, Machine

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ExplanationSettings:
    """How finely the line to a row is cut."""

    segments: int = 32  # at first
    most_segments: int = 256
    missed: float = 1e-3  # of the sum of sizes, that a sum may miss before more are taken
    little: float = 1e-6  # too little to matter in a score, whatever the sizes


EXPLANATION = ExplanationSettings()


class Score(Protocol):
    """What is explained: numbers that follow from the projections by the operators of a leaf."""

    def scores(self, projections: Array, /) -> Array:
        """(n,) or (n, scores)."""

    def through(self, start: Array, end: Array, gradient: Array, /) -> Array:
        """Gradients of projections (n, projections, d) as those of scores   (n, scores, d).

        Slopes of the scores are their means between projections at two ends.
        """


@dataclass(frozen=True, slots=True)
class LeafOdds:
    """What a leaf adds to the projections of rows, for each pair of classes that it knows."""

    leaf: Leaf

    def scores(self, projections: Array) -> Array:
        """(n, pairs)."""
        return self.leaf.projections(projections)[:, self.leaf.columns]

    def through(self, start: Array, end: Array, gradient: Array) -> Array:
        """By the chain rule; each depends on one projection alone."""
        slopes = np.empty_like(start, dtype=float)
        for p, curve in enumerate(self.leaf.curves):
            slopes[:, p] = curve.slope((start[:, p] + end[:, p]) / 2)
        return slopes[:, :, np.newaxis] * gradient


@dataclass(frozen=True, slots=True)
class OnlyLeafScores:
    """The scores by which classes are predicted, where a row has one leaf."""

    machine: Machine

    @property
    def leaf(self) -> LeafOdds:
        [leaf] = self.machine.leaves
        return LeafOdds(leaf)

    def scores(self, projections: Array) -> Array:
        """(n,) or (n, classes)."""
        return self.machine.scores(self.leaf.scores(projections))

    def through(self, start: Array, end: Array, gradient: Array) -> Array:
        """By the chain rule."""
        leaf = self.leaf
        slopes = self.machine.mean_slopes(leaf.scores(start), leaf.scores(end))
        return slopes @ leaf.through(start, end, gradient)


def explain(
    phi: FeatureMap,
    machine: Machine,
    X: Any,
    execute: Executor = serial,
    settings: ExplanationSettings = EXPLANATION,
) -> Array:
    """What each column adds to each score of checked rows   (n, 1 or classes, d)."""
    (n, d), n_pairs = X.shape, len(machine.pairs)
    n_scores = 1 if n_pairs == 1 else len(machine.log_priors)
    contributions = np.empty((n, n_scores, d))
    origins = phi.encoding.origins
    of_column = np.eye(d)[origins]
    explainer = Explainer.of(phi, machine, settings)

    def fill(rows: slice) -> None:
        encoded = explainer(phi.scaled(dense(X[rows]).astype(np.float64, copy=False)))
        contributions[rows] = encoded if phi.encoding.plain else encoded @ of_column

    width = len(origins) * (n_pairs + n_scores)
    for _ in execute(partial(fill, s) for s in chunks(n, phi.h, width)):
        pass
    return contributions


@dataclass(frozen=True, slots=True)
class LineOfLeaf:
    """A leaf, and what is explained of its projections along lines."""

    features: Features
    operators: Array  # β   (k, h)
    folded: list[Array]  # the same on the hidden layers
    score: Score


@dataclass(frozen=True, slots=True)
class Explainer:
    """What each scaled column adds to the scores of scaled rows."""

    phi: FeatureMap
    machine: Machine
    folded: list[list[Array]]  # the operators of each leaf on its hidden layers
    typical: Array
    settings: ExplanationSettings

    @classmethod
    def of(cls, phi: FeatureMap, machine: Machine, settings: ExplanationSettings) -> Explainer:
        """All that rows share."""
        double = np.dtype(np.float64)
        leaves = zip(phi.leaves, machine.leaves, strict=True)
        folded = [features.folded(leaf.operators, double) for features, leaf in leaves]
        return cls(phi, machine, folded, phi.typical, settings)

    def __call__(self, Z: Array) -> Array:
        """(n, scores, d)."""
        if len(self.machine.leaves) == 1:
            line = self.line(0, OnlyLeafScores(self.machine))
            return between(line, self.typical, Z, self.settings)
        machine, way = self.machine, Z - self.typical
        of_odds = np.zeros((len(Z), len(machine.pairs), Z.shape[1]))
        ends = np.concatenate([Z, self.typical[np.newaxis]])
        odds = np.zeros((len(ends), len(machine.pairs)))
        first = 0
        for tree, share in zip(self.phi.trees, machine.shares, strict=True):
            if share.any():
                at = tree(ends) + first
                for i in np.unique(at):
                    odds[at == i] += share * self.projections(int(i), ends[at == i])
                self.add_tree(of_odds, share, tree, first, way)
            first += tree.n_leaves
        start = np.broadcast_to(odds[-1], odds[:-1].shape)
        scores = machine.scores(odds).reshape(len(odds), -1)
        added = machine.mean_slopes(start, odds[:-1]) @ of_odds
        return completed(added, scores[:-1] - scores[-1], way)

    def line(self, i: int, score: Score) -> LineOfLeaf:
        """A leaf with what is explained of it."""
        operators = self.machine.leaves[i].operators
        return LineOfLeaf(self.phi.leaves[i], operators, self.folded[i], score)

    def projections(self, i: int, Z: Array) -> Array:
        """What a leaf adds to the projections of rows   (n, pairs)."""
        leaf, projections = self.machine.leaves[i], np.empty((len(Z), 0))
        if len(leaf.columns):
            projections = self.phi.leaves[i].project(Z, self.folded[i])
        return leaf.projections(projections)

    def add_tree(self, of_odds: Array, share: Array, tree: Tree, first: int, way: Array) -> None:
        """Add what columns add to the odds of a tree whose leaves begin with the `first`."""
        leaves, edges, columns = visits_of(tree, self.typical, way)
        pairs, before = np.arange(len(share)), leaves[:, 0]
        for k in range(leaves.shape[1]):
            longer = edges[:, k + 1] > edges[:, k]
            # Where a line passes into another leaf, the column that is cut there makes the jump.
            jumping = np.flatnonzero(longer & (leaves[:, k] != before))
            for sign, sides in ((-1, before), (1, leaves[:, k])):
                for i in np.unique(sides[jumping]):
                    rows = jumping[sides[jumping] == i]
                    places = self.typical + edges[rows, k, np.newaxis] * way[rows]
                    change = sign * share * self.projections(int(i) + first, places)
                    of_odds[rows[:, np.newaxis], pairs, columns[rows, k - 1, np.newaxis]] += change
            for i in np.unique(leaves[longer, k]):
                leaf = self.machine.leaves[i + first]
                rows = np.flatnonzero(longer & (leaves[:, k] == i))
                begin, end = (
                    self.typical + edges[rows, at, np.newaxis] * way[rows] for at in (k, k + 1)
                )
                if len(leaf.columns):
                    line = self.line(i + first, LeafOdds(leaf))
                    inside = between(line, begin, end, self.settings)
                    inside *= share[leaf.columns, np.newaxis]
                    of_odds[rows[:, np.newaxis], leaf.columns] += inside
            before = np.where(longer, leaves[:, k], before)


class Visits(NamedTuple):
    """The leaves along lines; a visit that ends where it begins counts for nothing."""

    leaves: Array  # (n, k)
    edges: Array  # where each begins, and where the last ends   (n, k + 1)
    columns: Array  # that are cut between them   (n, k − 1)


def visits_of(tree: Tree, typical: Array, way: Array) -> Visits:
    """Leaves along each line from the typical row."""
    n, nodes = len(way), len(tree.columns)
    along = way[:, tree.columns]
    times = np.full((n, nodes), 1.0)
    np.divide(tree.thresholds - typical[tree.columns], along, out=times, where=along != 0)
    times[~((times > 0) & (times < 1))] = 1.0
    order = np.argsort(times, axis=1, kind="stable")
    times = np.take_along_axis(times, order, axis=1)
    edges = np.concatenate([np.zeros((n, 1)), times, np.ones((n, 1))], axis=1)
    leaves = np.empty((n, nodes + 1), np.intp)
    for k in range(nodes + 1):
        middle = (edges[:, k] + edges[:, k + 1]) / 2
        leaves[:, k] = tree(typical + middle[:, np.newaxis] * way)
    return Visits(leaves, edges, tree.columns[order])


def between(line: LineOfLeaf, start: Array, Z: Array, settings: ExplanationSettings) -> Array:
    """What each scaled column adds from some rows, or one, to others   (n, scores, d).

    The sum is the difference of scores.
    """
    way, n = Z - start, len(Z)
    below, above = (
        line.score.scores(line.features.project(rows, line.folded)).reshape(n, -1)
        for rows in (np.broadcast_to(start, Z.shape), Z)
    )
    wanted = above - below
    added = np.empty((*wanted.shape, Z.shape[1]))
    n_segments, again = settings.segments, np.arange(n)
    while len(again) and n_segments <= settings.most_segments:
        begin = start if start.ndim == 1 else start[again]
        added[again] = integral(line, begin, way[again], n_segments)
        missing, sizes = wanted - added.sum(axis=2), abs(added).sum(axis=2)
        tolerated = settings.missed * sizes + settings.little
        again = np.flatnonzero((abs(missing) > tolerated).any(axis=1))
        n_segments *= 2
    return completed(added, wanted, way)


def completed(added: Array, wanted: Array, way: Array) -> Array:
    """Contributions (n, scores, d) with what their sums miss shared among the columns."""
    missing, sizes = wanted - added.sum(axis=2), abs(added).sum(axis=2)
    # Where nearly everything is missing, contributions say little of how to share it.
    unknown = (abs(missing) > sizes)[:, :, np.newaxis]
    shares = np.where(unknown, abs(way)[:, np.newaxis], abs(added))
    total = shares.sum(axis=2)
    each = np.divide(missing, total, out=np.zeros_like(missing), where=total > 0)
    return added + shares * each[:, :, np.newaxis]


def integral(line: LineOfLeaf, begin: Array, way: Array, n_segments: int) -> Array:
    """The sum over segments of mean slope of the scores · gradient · way   (n, scores, d)."""
    total: Any = 0.0
    # Shorter at both ends: near the typical row or the row itself scores may change fast.
    ends = (1 - np.cos(np.linspace(0, np.pi, n_segments + 1))) / 2
    features, folded = line.features, line.folded
    start = features.project(np.broadcast_to(begin, way.shape), folded)
    for a, b in pairwise(ends):
        end = features.project(begin + b * way, folded)
        half = (b - a) / 2 * way
        gradient = features.gradient(begin + (a + b) / 2 * way, line.operators, half)
        total = total + (b - a) * line.score.through(start, end, gradient.transpose(1, 0, 2))
        start = end
    return total * way[:, np.newaxis]
