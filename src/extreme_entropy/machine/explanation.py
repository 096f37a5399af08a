"""Explanations: what each column adds to the score of a row, compared with a typical row.

Integrated gradients (Sundararajan, Taly and Yan, 2017) along the straight line from the typical row
z₀ to the row z, both scaled: column l adds

    c_l = (z_l − z₀_l) ∫₀¹ ∂s/∂z_l (z₀ + t(z − z₀)) dt,        Σ_l c_l = s(z) − s(z₀)

for a score s, the log-odds of two classes or ln(C p / Σ C p) of one of more. ∂s/∂z is the slope of
the score over the projections times their gradient. The line is cut into segments. On each of them
the slope is its mean between the projections at both ends, and the gradient that of the middle,
where kinks of a layer are averaged over the segment: with plain slopes there would have to be a
segment between any two kinks. A row whose sum misses s(z) − s(z₀) is taken again with twice as many
segments. The little that is missing in the end is added to the columns in proportion to what they
have, so that the sum is exact.

Where the line passes from a leaf into another, the score jumps, and the jump belongs to the column
that is cut there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..engines.threads import Executor, chunks, dense, serial
from ..features.feature_map import FeatureMap, Tree
from ..features.layers import Features
from ..shapes import Array
from .machine import Leaf, Machine


@dataclass(frozen=True, slots=True)
class ExplanationSettings:
    """How finely the line to a row is cut."""

    segments: int = 32  # at first
    most_segments: int = 256
    missed: float = 1e-3  # of the sum of sizes, that a sum may miss before more are taken
    little: float = 1e-6  # too little to matter in a score, whatever the sizes


EXPLANATION = ExplanationSettings()


@dataclass(frozen=True, slots=True)
class LeafScores:
    """The scores by which classes are predicted, as a leaf has them."""

    machine: Machine
    leaf: Leaf
    features: Features
    folded: list[Array]  # the operators on the hidden layers

    def projections(self, Z: Array) -> Array:
        """Of scaled rows   (n, pairs)."""
        return self.features.project(Z, self.folded) + self.leaf.constants

    def __call__(self, Z: Array) -> Array:
        """Of scaled rows   (n, 1 or classes)."""
        return self.machine.scores(self.projections(Z)).reshape(len(Z), -1)

    def gradient(self, Z: Array, half: Array, start: Array, end: Array) -> Array:
        """∂ score / ∂z by the chain rule   (n, scores, d).

        Slopes of the scores are their means between projections at two ends.
        """
        gradient = self.features.gradient(Z, self.leaf.operators, half).transpose(1, 0, 2)
        return self.machine.mean_slopes(start, end) @ gradient


def explain(
    phi: FeatureMap,
    machine: Machine,
    X: Any,
    execute: Executor = serial,
    settings: ExplanationSettings = EXPLANATION,
) -> Array:
    """What each column adds to each score of checked rows   (n, 1 or classes, d)."""
    n, n_pairs, n_classes = X.shape[0], len(machine.pairs), len(machine.log_priors)
    d = len(phi.encoding.table_kinds)
    n_scores = 1 if n_classes == 2 else n_classes
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
class Explainer:
    """What each scaled column adds to the scores of scaled rows."""

    tree: Tree
    leaves: list[LeafScores]
    typical: Array
    settings: ExplanationSettings

    @classmethod
    def of(cls, phi: FeatureMap, machine: Machine, settings: ExplanationSettings) -> Explainer:
        """All that rows share."""
        double, leaves = np.dtype(np.float64), []
        for features, leaf in zip(phi.leaves, machine.leaves, strict=True):
            folded = features.folded(leaf.operators, double)
            leaves.append(LeafScores(machine, leaf, features, folded))
        return cls(phi.tree, leaves, phi.typical, settings)

    def __call__(self, Z: Array) -> Array:
        """(n, scores, d)."""
        if len(self.leaves) == 1:
            return between(self.leaves[0], self.typical, Z, self.settings)
        way, ends = Z - self.typical, np.concatenate([Z, self.typical[np.newaxis]])
        at = self.tree(ends)
        scores = self.scores(ends, at)
        added = np.zeros((len(Z), scores.shape[1], Z.shape[1]))
        leaves, edges, columns = visits_of(self.tree, self.typical, way)
        before = leaves[:, 0]
        for k in range(leaves.shape[1]):
            longer = edges[:, k + 1] > edges[:, k]
            # Where a line passes into another leaf, the column that is cut there makes the jump.
            jumping = np.flatnonzero(longer & (leaves[:, k] != before))
            if len(jumping):
                places = self.typical + edges[jumping, k, np.newaxis] * way[jumping]
                jump = self.scores(places, leaves[jumping, k]) - self.scores(
                    places, before[jumping]
                )
                added[jumping, :, columns[jumping, k - 1]] += jump
            for i in np.unique(leaves[longer, k]):
                rows = np.flatnonzero(longer & (leaves[:, k] == i))
                begin, end = (
                    self.typical + edges[rows, e, np.newaxis] * way[rows] for e in (k, k + 1)
                )
                added[rows] += between(self.leaves[i], begin, end, self.settings)
            before = np.where(longer, leaves[:, k], before)
        return completed(added, scores[:-1] - scores[-1], way)

    def scores(self, Z: Array, at: Array) -> Array:
        """The scores of scaled rows, each by one leaf   (n, scores)."""
        scores = np.empty((len(Z), 0))
        for i in np.unique(at):
            of_leaf = self.leaves[i](Z[at == i])
            if not scores.size:
                scores = np.empty((len(Z), of_leaf.shape[1]))
            scores[at == i] = of_leaf
        return scores


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


def between(leaf: LeafScores, start: Array, Z: Array, settings: ExplanationSettings) -> Array:
    """What each scaled column adds from some rows, or one, to others   (n, scores, d).

    The sum is the difference of scores.
    """
    way = Z - start
    below, above = (leaf(rows) for rows in (np.broadcast_to(start, Z.shape), Z))
    wanted = above - below
    added = np.empty((*wanted.shape, Z.shape[1]))
    n_segments, again = settings.segments, np.arange(len(Z))
    while len(again) and n_segments <= settings.most_segments:
        begin = start if start.ndim == 1 else start[again]
        added[again] = integral(leaf, begin, way[again], n_segments)
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


def integral(leaf: LeafScores, begin: Array, way: Array, n_segments: int) -> Array:
    """The sum over segments of mean slope of the scores · gradient · way   (n, scores, d)."""
    total: Any = 0.0
    # Shorter at both ends: near the typical row or the row itself scores may change fast.
    ends = (1 - np.cos(np.linspace(0, np.pi, n_segments + 1))) / 2
    start = leaf.projections(np.broadcast_to(begin, way.shape))
    for a, b in pairwise(ends):
        end = leaf.projections(begin + b * way)
        half = (b - a) / 2 * way
        total = total + (b - a) * leaf.gradient(begin + (a + b) / 2 * way, half, start, end)
        start = end
    return total * way[:, np.newaxis]
