"""How trees are grown from sampled rows: where rows are cut, and the φ of each leaf.

A table of few rows is not cut: a kernel layer and a layer of neurons stand side by side as two
trees of one leaf. A larger one is also cut into leaves, the largest node first; held-out rows tell
what cuts are worth. Of very many rows a small kernel layer alone stands beside the leaves, since a
layer of all rows costs as much for each row as they do.

Of the columns that count most in a node, each is cut at its median, and the cut is kept after which
small classifiers, one on either side, separate held-out rows of the classes best. The columns of
each new node are weighted anew: the products of two gradients whose operators share no row
(`relevance`), in one round that starts from the weights of the node above and is averaged with
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..columns.statistics import N_FOLDS, worth
from ..engines.threads import Executor, Threads, serial
from ..features.content import RowSample, folds_of
from ..features.feature_map import FeatureMap, HeldRows, Tree
from ..features.layers import Features
from ..features.scaling import Scaling, fit_scaling
from ..machine.operator import Ridge, operators_of, shrink
from ..moments.summary import ClassMoments
from .sampling import Sampled, SampleSizes
from .settings import DRAWING, DrawingSettings, HeldSettings
from .specification import DrawnFrom, KernelSpec, LeafSpec, NeuronSpec, relevance_of

Array = np.ndarray[Any, Any]


class ForestSize(NamedTuple):
    """How large a forest may become."""

    leaves: int  # at the most
    very_many: bool  # whether rows or sums are so many that time must be saved


@dataclass(frozen=True, slots=True)
class ForestSpec:
    """What a user asks of trees of leaves."""

    n_landmarks: int | str
    n_leaves: int | str
    scale: str | None = "quantile"
    settings: DrawingSettings = DRAWING

    def landmarks(self, n_classes: int, leaves: int) -> int:
        """Landmarks or neurons of each leaf, where there are so many classes and leaves."""
        if not isinstance(self.n_landmarks, str):
            return self.n_landmarks
        sizes = self.settings.trees.landmarks
        uncut, of_leaf = next(size[1:] for size in sizes if n_classes <= size[0])
        return of_leaf if leaves > 1 else uncut

    def size(self, n: float, n_classes: int) -> ForestSize:
        """The size of a forest for n rows of so many classes, whose sums fit into memory."""
        settings = self.settings.trees
        leaf = n_classes * N_FOLDS * self.landmarks(n_classes, 2) ** 2
        leaves, many = self.n_leaves, settings.very_many_rows // settings.leaf_rows
        if isinstance(leaves, str):
            most = settings.most_numbers // leaf - 1
            leaves, many = int(min(n // settings.leaf_rows, most)), min(many, most)
            leaves = leaves if leaves >= settings.fewest_leaves else 1
        # Those who name a number of leaves may show only the first of their rows.
        very_many = n >= settings.very_many_rows or leaves >= many
        return ForestSize(leaves, very_many and leaves > 1)

    def sample_sizes(self, n: float, n_classes: int, d: int) -> SampleSizes:
        """How many rows of how many encoded columns are sampled, as far as memory allows."""
        settings = self.settings
        for_leaf = max(2 * self.landmarks(2, 1), settings.features.typical_rows)
        most = max(settings.trees.most_sampled // d, for_leaf)
        fewest, most_of_class = settings.relevance.class_rows, settings.trees.most_class_rows
        of_class = int(np.clip(most // n_classes, fewest, most_of_class))
        return SampleSizes(min(for_leaf * self.size(n, n_classes).leaves, most), of_class)

    def draw(self, sampled: Sampled) -> FeatureMap:
        """Trees as specified, from sampled rows."""
        assert sampled.by_class is not None  # relevance is learned
        settings, stats, by_class = self.settings, sampled.stats, sampled.by_class.samples
        relevance = relevance_of(sampled, self.scale, settings)
        rows = sampled.sample.rows
        scaling = fit_scaling(self.scale, stats, rows, settings=settings.features)
        n_classes, weights = len(by_class), relevance.weights
        most, very_many = self.size(stats.rows, n_classes)
        h, uncut = self.landmarks(n_classes, most), self.landmarks(n_classes, 1)
        # Models of all rows.
        if very_many:
            uncut = min(h, settings.trees.landmarks_beside)
        specs: list[LeafSpec] = [
            KernelSpec(uncut, "mixed", "median", self.scale, settings=settings)
        ]
        if not very_many:
            specs.append(NeuronSpec(uncut, "mixed", self.scale, settings=settings))
        drawn = DrawnFrom(
            scaling(rows),
            sampled.content.seed,
            sampled.dtype,
            weights if relevance.is_used else None,
            alone=relevance.is_alone,
            move=stats.rows >= settings.many_rows,
        )
        leaves = [spec.features(drawn) for spec in specs]
        trees = [Tree.uncut()] * len(specs)
        held = _to_hold(by_class, settings.held)
        if most > 1:
            grower = Grower(h, most, stats.rows, drawn.seed, drawn.dtype, settings)
            nodes = NodeRows.of(scaling, by_class, held, drawn.rows, settings.held)
            grown = grower.grow(nodes, weights, Threads(sampled.n_jobs))
            weights = grown.weights
            trees, leaves = [*trees, grown.tree], [*leaves, *grown.leaves]
        return FeatureMap(
            sampled.content,
            sampled.encoding,
            scaling,
            tuple(trees),
            tuple(leaves),
            _held_rows(scaling, held),
            weights,
        )


class Cut(NamedTuple):
    """Where a node is cut."""

    column: int
    threshold: float


@dataclass(frozen=True, slots=True)
class NodeRows:
    """Scaled sampled rows in a node: of all classes together, and of each class."""

    Z: Array
    by_class: list[Array]
    halves: list[Array]  # 0 or 1 for each row of each class
    stand_for: list[float]  # how many rows of the table a sampled one of each class stands for

    @classmethod
    def of(
        cls,
        scaling: Scaling,
        by_class: Sequence[RowSample],
        held: Sequence[RowSample],
        Z: Array,
        settings: HeldSettings,
    ) -> NodeRows:
        """Those sampled, without the held rows of classes that have many others."""
        stand_for, used = [], []
        for sample, kept_apart in zip(by_class, held, strict=True):
            # The k smallest of N hashes reach about k/N of the way to the largest.
            full = len(sample.hashes) == sample.k
            reach = float(sample.hashes[-1]) / 2.0**64 if full else 1.0
            many = len(sample.rows) >= settings.many_times * len(kept_apart.rows)
            left = sample.at(~np.isin(sample.hashes, kept_apart.hashes)) if many else sample
            stand_for.append(worth(sample.counts) / reach / max(len(left.rows), 1))
            used.append(left)
        halves = [folds_of(sample.hashes // np.uint64(N_FOLDS), 2) for sample in used]
        return cls(Z, [scaling(sample.rows) for sample in used], halves, stand_for)

    def where(self, cut: Cut, beyond: bool) -> NodeRows:
        """Those on one side of a cut."""
        sides = [(Z[:, cut.column] > cut.threshold) == beyond for Z in self.by_class]
        return replace(
            self,
            Z=self.Z[(self.Z[:, cut.column] > cut.threshold) == beyond],
            by_class=[Z[side] for Z, side in zip(self.by_class, sides, strict=True)],
            halves=[half[side] for half, side in zip(self.halves, sides, strict=True)],
        )

    def first(self, most: int) -> NodeRows:
        """At most so many rows of each class."""
        by_class, halves = ([part[:most] for part in x] for x in (self.by_class, self.halves))
        return replace(self, by_class=by_class, halves=halves)

    @property
    def counts(self) -> Array:
        """About how many rows of each class the table has here."""
        sizes = [len(Z) for Z in self.by_class]
        return np.array(sizes) * np.array(self.stand_for)

    def pairs(self, most_classes: int) -> Iterator[tuple[int, int]]:
        """The pairs of the classes that have the most rows."""
        largest = np.sort(np.argsort(-self.counts, kind="stable")[:most_classes])
        return combinations(largest.tolist(), 2)

    def moments(self, features: Features) -> list[list[ClassMoments]]:
        """The moments of both halves of each class."""
        moments = []
        for Z, half in zip(self.by_class, self.halves, strict=True):
            H = features(Z)
            moments.append([ClassMoments.of(H[half == i]) for i in range(2)])
        return moments


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A node that may still be cut: its rows, the weights of its columns, and where it hangs."""

    rows: NodeRows
    weights: Array
    size: float  # rows of the table
    parent: int = -1  # the node above, and which side of it
    side: int = 0


class GrownTree(NamedTuple):
    """A tree, the φ of each leaf, and weights of columns over all nodes."""

    tree: Tree
    leaves: list[Features]
    weights: Array


@dataclass(frozen=True, slots=True)
class Grower:
    """Grows a tree of at most so many leaves, with so many landmarks each."""

    landmarks: int
    most_leaves: int
    n: float  # rows of the table
    seed: int
    dtype: np.dtype[Any]
    settings: DrawingSettings

    def grow(self, rows: NodeRows, weights: Array, execute: Executor) -> GrownTree:
        """The tree, from the weights of columns in all rows."""
        cuts: list[Cut] = []
        children: list[list[int]] = []
        growing, leaves = [_Node(rows, weights, self.n)], list[_Node]()
        total = self.n * weights**2
        while growing:
            # The largest of those that are large enough, while there may be more leaves.
            growing.sort(key=lambda node: -node.size)
            left = max(self.most_leaves - len(leaves) - len(growing), 0)
            large = [node for node in growing if node.size > self.n / self.most_leaves][:left]
            leaves += growing[len(large) :]
            growing = []
            for node, sides in zip(large, self.cut_all(large, execute), strict=True):
                if sides is None:
                    leaves.append(node)
                    continue
                if node.parent >= 0:
                    children[node.parent][node.side] = len(cuts)
                for side, below in enumerate(sides.nodes):
                    total = total + below.size * below.weights**2
                    growing.append(replace(below, parent=len(cuts), side=side))
                cuts.append(sides.cut)
                children.append([0, 0])
        for i, leaf in enumerate(leaves):
            if leaf.parent >= 0:
                children[leaf.parent][leaf.side] = -1 - i
        columns = np.array([cut.column for cut in cuts], np.intp)
        thresholds = np.array([cut.threshold for cut in cuts])
        tree = Tree(columns, thresholds, np.array(children, np.intp).reshape(-1, 2))
        drawn = execute([partial(self.leaf_features, leaf) for leaf in leaves])
        return GrownTree(tree, list(drawn), np.sqrt(total / total.mean()))

    def cut_all(self, nodes: list[_Node], execute: Executor) -> list[_Sides | None]:
        """Each node cut in two; threads share the nodes, or the work on a single one."""
        if len(nodes) == 1:
            return [self.cut(nodes[0], execute)]
        return list(execute(partial(self.cut, node, serial) for node in nodes))

    def cut(self, node: _Node, execute: Executor) -> _Sides | None:
        """A node cut in two; None where it cannot be."""
        cut = self.best_cut(node, execute)
        if cut is None:
            return None
        parts = [node.rows.where(cut, beyond) for beyond in (False, True)]
        learned = execute([partial(self.learn_weights, part, node.weights) for part in parts])
        sides = zip(parts, learned, strict=True)
        nodes = [_Node(part, weights, float(part.counts.sum())) for part, weights in sides]
        return _Sides(cut, nodes)

    def best_cut(self, node: _Node, execute: Executor) -> Cut | None:
        """The cut after which the classes are separated best, if there are some."""
        settings, cuts = self.settings.trees, list[Cut]()
        order = np.argsort(-node.weights, kind="stable")
        least = settings.least_weight * node.weights[order[0]]
        for j in order[: settings.tried_columns].tolist():
            if len(cuts) == settings.candidates or node.weights[j] < least:
                break
            threshold = _middle(node.rows.Z[:, j], settings.least_share)
            if threshold is not None and self.may_cut(node.rows, Cut(j, threshold)):
                cuts.append(Cut(j, threshold))
        if len(cuts) < 2:
            return cuts[0] if cuts else None
        sides = [node.rows.where(cut, beyond) for cut in cuts for beyond in (False, True)]
        tasks = [partial(self.separation, side, node.weights) for side in sides]
        separations = np.array(list(execute(tasks))).reshape(-1, 2)
        return cuts[int(np.argmax(separations.sum(axis=1)))]

    def may_cut(self, rows: NodeRows, cut: Cut) -> bool:
        """Whether both sides of a cut have rows enough, of two classes at least."""
        settings, fewest = self.settings.trees, self.n / self.most_leaves / 2
        for beyond in (False, True):
            side = rows.where(cut, beyond)
            sampled = np.sort([len(Z) for Z in side.by_class])[-2]
            counts = np.sort(side.counts)
            if sampled < settings.fewest_sampled or counts[-2] < settings.fewest_class_rows:
                return False
            if side.counts.sum() < fewest:
                return False
        return True

    def separation(self, rows: NodeRows, weights: Array) -> float:
        """How well operators of one half separate the classes in the other.

        Both sides of a cut count alike, unless one has fewer rows than are compared.
        """
        settings = self.settings.trees
        rows = rows.first(settings.compared_rows)
        features = self.features(rows, settings.compared_landmarks, weights)
        moments, counts, total = rows.moments(features), rows.counts, 0.0
        for i, j in rows.pairs(settings.most_classes):
            if min(moments[c][half].n for c in (i, j) for half in (0, 1)) < 2:
                continue
            for learnt, held in ((0, 1), (1, 0)):
                beta = self.operator(moments[i][learnt], moments[j][learnt])
                low, high = moments[i][held], moments[j][held]
                spread = sum(float(beta @ m.scatter @ beta) / m.n for m in (low, high))
                if spread > 0:
                    gap = float(beta @ (high.mean - low.mean)) / np.sqrt(spread)
                    total += gap * (counts[i] + counts[j])
        return total

    def learn_weights(self, rows: NodeRows, weights: Array) -> Array:
        """How much columns count in a node, from how much they do in the node above."""
        settings = self.settings.trees
        if np.sort([len(Z) for Z in rows.by_class])[-2] < 2 * N_FOLDS:
            return weights
        start = np.sqrt((1 - settings.least_square) * weights**2 + settings.least_square)
        features = self.features(rows, settings.node_landmarks, start)
        moments = rows.first(settings.node_rows).moments(features)
        v = np.zeros(len(weights))
        for i, j in rows.pairs(settings.most_classes):
            if min(moments[c][half].n for c in (i, j) for half in (0, 1)) < 2:
                continue
            betas = [self.operator(moments[i][half], moments[j][half]) for half in (0, 1)]
            for c in (i, j):
                at = rows.by_class[c][: settings.node_gradient_rows]
                first, second = features.gradient(at, np.stack(betas))
                v += (first * second).mean(axis=0)
        v = np.maximum(v, 0.0)
        return np.sqrt((weights**2 + v / v.mean()) / 2) if v.any() else weights

    def operator(self, negative: ClassMoments, positive: ClassMoments) -> Array:
        """β of two classes in a node."""
        classes = [shrink(moments, "ledoit-wolf") for moments in (negative, positive)]
        ridge = Ridge(relative=self.settings.trees.node_ridge)
        return operators_of(classes[0], classes[1], [ridge])[0][0]

    def leaf_features(self, leaf: _Node) -> Features:
        """The φ of a leaf."""
        return self.features(leaf.rows, self.landmarks, leaf.weights, self.dtype, move=True)

    def features(
        self,
        rows: NodeRows,
        k: int,
        weights: Array,
        dtype: np.dtype[Any] | None = None,
        *,
        move: bool = False,
    ) -> Features:
        """A Laplacian kernel with k landmarks, of the classes in turn, on columns weighted so."""
        turn = np.concatenate([np.arange(len(Z)) for Z in rows.by_class])
        landmarks = np.concatenate(rows.by_class)[np.argsort(turn, kind="stable")[:k]]
        spec = KernelSpec(k, "laplacian", "median", None, settings=self.settings)
        dtype = np.dtype(np.float64) if dtype is None else dtype
        return spec.features(DrawnFrom(landmarks, self.seed, dtype, weights, move=move))


class _Sides(NamedTuple):
    """A cut, and the nodes on either side of it."""

    cut: Cut
    nodes: list[_Node]


def _middle(values: Array, least_share: float) -> float | None:
    """A threshold that halves the values as nearly as it can; None where it cannot."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < 2:
        return None
    below = np.cumsum(counts)[:-1] / len(values)
    best = int(np.argmin(abs(below - 0.5)))
    if min(below[best], 1 - below[best]) < least_share:
        return None
    return float((distinct[best] + distinct[best + 1]) / 2)


def _to_hold(by_class: Sequence[RowSample], settings: HeldSettings) -> list[RowSample]:
    """Rows that stand for all of their class, of each class alike: frequent ones, and others.

    A row that comes more often than so many rows do on average is always held. Of the others the
    last took the least part in drawing φ.
    """
    n_classes, held = len(by_class), []
    most = 2 * settings.numbers // (n_classes**2 * (n_classes - 1))
    most = int(np.clip(most, settings.fewest, settings.rows))
    for sample in by_class:
        often = sample.counts > sample.counts.sum() / most
        rest = np.flatnonzero(~often)[-most:]
        if len(rest):
            counts = sample.counts.copy()
            counts[rest] *= sample.counts[~often].sum() / sample.counts[rest].sum()
            places = np.union1d(np.flatnonzero(often), rest)
            sample = replace(sample, counts=counts).at(places)
        held.append(sample)
    return held


def _held_rows(scaling: Scaling, held: Sequence[RowSample]) -> HeldRows:
    """The rows whose held-out log-odds probabilities are fitted on."""
    return HeldRows(
        scaling(np.concatenate([sample.rows for sample in held])),
        np.repeat(np.arange(len(held)), [len(sample.rows) for sample in held]),
        folds_of(np.concatenate([sample.hashes for sample in held]), N_FOLDS),
        np.concatenate([sample.counts for sample in held]),
    )
