"""φ of several trees: each cuts rows into leaves, and each leaf has a layer of its own.

A node sends z_j ≤ t to one side and z_j > t to the other, for a scaled column z_j. A row has one
leaf in each tree. All leaves share encoding and scaling; what differs is `Part`s: landmarks, the
columns that matter and their weights. A table that is not cut has trees of one leaf.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..engines.threads import Executor, chunks, dense, row_slices, serial
from .content import ContentHash
from .encoding import N_FOLDS, Encoding
from .feature_map import LEARNING_ROWS, FeatureMap, Part, SampleSizes
from .scaling import SAMPLE_ROWS, Scaling

Array = np.ndarray[Any, Any]

# Landmarks of a table that is not cut, and of a leaf, up to so many classes: h³ operations are for
# each pair of them.
LANDMARKS = {6: (700, 400), 12: (500, 300)}
FEWEST_LANDMARKS = (300, 200)
ROWS_PER_LEAF = 2048  # on average
FEWEST_LEAVES = 4  # a table of fewer is not cut
VERY_MANY_ROWS = 2**16
MOST_NUMBERS = 2**26  # in the sums of all leaves: half a GiB
MOST_SAMPLED = 2**23  # numbers in the rows a forest is grown from
MOST_OF_CLASS = 2**14  # rows


@dataclass(frozen=True, slots=True)
class Tree:
    """Which leaf a scaled row belongs to."""

    columns: Array  # of z, that each node looks at   (nodes,)
    thresholds: Array  # (nodes,)
    children: Array  # where z ≤ threshold, and where not: a later node, or −1 − leaf   (nodes, 2)

    @classmethod
    def uncut(cls) -> Tree:
        """The tree of one leaf."""
        return cls(np.empty(0, np.intp), np.empty(0), np.empty((0, 2), np.intp))

    @property
    def n_leaves(self) -> int:
        return len(self.columns) + 1

    def __call__(self, Z: Array) -> Array:
        """The leaf of each row   (n,)."""
        if not len(self.columns):
            return np.zeros(len(Z), np.intp)
        at, inside = np.zeros(len(Z), np.intp), np.arange(len(Z))
        while len(inside):
            node = at[inside]
            beyond = Z[inside, self.columns[node]] > self.thresholds[node]
            at[inside] = node = self.children[node, beyond.astype(np.intp)]
            inside = inside[node >= 0]
        return -1 - at


@dataclass(frozen=True, slots=True)
class HeldRows:
    """Rows of each class, encoded and scaled, whose folds say which operators never saw them."""

    Z: Array  # (m, columns)
    labels: Array  # positions of their classes   (m,)
    folds: Array  # (m,)
    counts: Array  # how often each came   (m,)


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees and the φ of each of their leaves, grown once and frozen."""

    content: ContentHash
    encoding: Encoding
    scaling: Scaling
    trees: tuple[Tree, ...]
    leaves: tuple[tuple[Part, ...], ...]  # tree after tree
    held: HeldRows  # that probabilities are fitted on
    relevance: Array  # the weight of each encoded column, over all nodes

    def without_rows(self) -> Forest:
        """The same without the rows that probabilities are fitted on, once they are."""
        held = self.held
        none = HeldRows(held.Z[:0], held.labels[:0], held.folds[:0], held.counts[:0])
        return replace(self, held=none)

    @property
    def d(self) -> int:
        """Columns of x."""
        return self.encoding.d

    @property
    def n_leaves(self) -> tuple[int, ...]:
        """The number of leaves of each tree."""
        return tuple(tree.n_leaves for tree in self.trees)

    @property
    def maps(self) -> tuple[FeatureMap, ...]:
        """φ of each leaf."""
        return tuple(map(self.map_of, range(len(self.leaves))))

    def map_of(self, leaf: int) -> FeatureMap:
        """φ of a leaf."""
        shared = self.content, self.encoding, self.scaling
        return FeatureMap(*shared, self.leaves[leaf], self.relevance)

    @property
    def typical(self) -> Array:
        """The median of each column, or its most frequent category, encoded and scaled."""
        return self.map_of(0).typical

    def scaled(self, X: Array) -> Array:
        """Dense rows with their columns encoded and scaled."""
        return self.scaling(self.encoding(X))

    def leaves_of(self, X: Any, execute: Executor = serial) -> Array:
        """The leaf of each row in each tree, counted through all trees   (trees, n)."""
        found = np.empty((len(self.trees), X.shape[0]), np.intp)
        found[:] = np.arange(len(self.trees))[:, np.newaxis]  # what they are in uncut trees

        def fill(rows: slice) -> None:
            for chunk in chunks(rows.stop - rows.start, X.shape[1]):
                some = slice(rows.start + chunk.start, rows.start + chunk.stop)
                Z = self.scaled(dense(X[some]).astype(np.float64, copy=False))
                found[:, some] = self.leaves_of_scaled(Z)

        if max(self.n_leaves) > 1:
            for _ in execute(partial(fill, s) for s in row_slices(X.shape[0])):
                pass
        return found

    def leaves_of_scaled(self, Z: Array) -> Array:
        """The same of rows that are scaled already, in double precision."""
        starts = np.cumsum((0, *self.n_leaves[:-1]))
        return np.stack([start + tree(Z) for start, tree in zip(starts, self.trees, strict=True)])


class ForestSize(NamedTuple):
    """How large a forest may become."""

    leaves: int  # at the most
    very_many: bool  # whether rows or sums are so many that time must be saved


@dataclass(frozen=True, slots=True)
class ForestSpec:
    """What a user asks of a forest."""

    n_landmarks: int | str
    n_leaves: int | str
    scale: str | None = "quantile"

    def landmarks(self, n_classes: int, leaves: int) -> int:
        """Landmarks or neurons of each leaf, where there are so many classes and leaves."""
        if not isinstance(self.n_landmarks, str):
            return self.n_landmarks
        fitting = (sizes for most, sizes in LANDMARKS.items() if n_classes <= most)
        return next(fitting, FEWEST_LANDMARKS)[leaves > 1]

    @property
    def learns_relevance(self) -> bool:
        return True

    @property
    def sample_size(self) -> int:
        """How many rows must be sampled, however few leaves there are."""
        return max(2 * self.landmarks(2, 1), SAMPLE_ROWS)

    def size(self, n: float, n_classes: int) -> ForestSize:
        """The size of a forest for n rows of so many classes, whose sums fit into memory."""
        leaf = n_classes * N_FOLDS * self.landmarks(n_classes, 2) ** 2
        leaves, many = self.n_leaves, VERY_MANY_ROWS // ROWS_PER_LEAF
        if isinstance(leaves, str):
            room = MOST_NUMBERS // leaf - 1
            leaves, many = int(min(n // ROWS_PER_LEAF, room)), min(many, room)
            leaves = leaves if leaves >= FEWEST_LEAVES else 1
        # Those who name a number of leaves may show only the first of their rows.
        very_many = n >= VERY_MANY_ROWS or leaves >= many
        return ForestSize(leaves, very_many and leaves > 1)

    def sample_sizes(self, n: float, n_classes: int, d: int) -> SampleSizes:
        """How many rows of how many encoded columns are sampled, as far as memory allows."""
        most = max(MOST_SAMPLED // d, self.sample_size)
        of_class = int(np.clip(most // n_classes, LEARNING_ROWS, MOST_OF_CLASS))
        return SampleSizes(min(self.sample_size * self.size(n, n_classes).leaves, most), of_class)
