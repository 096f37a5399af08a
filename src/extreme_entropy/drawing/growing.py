"""How a forest is grown from sampled rows: where rows are cut, and the φ of each leaf.

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
from ..features.content import ContentHash, RowSample, folds_of
from ..features.feature_map import FeatureMap, HeldRows
from ..features.layers import Features
from ..features.scaling import SAMPLE_ROWS, Scaling, fit_scaling
from ..features.trees import Tree
from ..machine.operator import Ridge, operators_of, shrink
from ..moments.summary import ClassMoments
from .parts import DrawnFrom, LeafSpec, draw_features
from .sampling import LEARNING_ROWS, Sampled, SampleSizes
from .specification import MANY_ROWS, KernelSpec, NeuronSpec, learn_relevance

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
LANDMARKS_BESIDE = 250  # of the kernel layer of very many rows, beside leaves
# Cuts.
CANDIDATES = 3  # columns that are compared in a node
TRIED = 20  # columns that may become candidates
WORTH = 0.2  # of the largest weight, that a candidate needs
LEAST_SHARE = 0.2  # of the sampled rows, on either side of a cut
FEWEST_OF_CLASS = 80  # rows of two classes at least, on either side
FEWEST_SAMPLED = 40  # of those, that were sampled
COMPARED_ROWS = 400  # of each class, on either side of a cut
COMPARED_LANDMARKS = 150
MOST_CLASSES = 6  # the largest in a node, by which cuts and weights are judged
# Weights of a node.
NODE_ROWS = 800  # of each class
NODE_LANDMARKS = 200
GRADIENT_ROWS = 200  # of each class
NODE_RIDGE = Ridge(relative=0.1)
FLOOR = 0.1  # of the mean square, that each column starts with
# Rows that are kept with φ.
HELD_ROWS = 2000  # of each class
FEWEST_HELD = 200  # of each, however many classes there are
HELD_NUMBERS = 2**23  # log-odds of pairs of classes, of all held rows in a tree
MANY_TIMES = 3  # as many sampled rows of a class as held ones, for those to be left out elsewhere


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

    def draw(self, sampled: Sampled) -> FeatureMap:
        """φ as specified."""
        return grow(self, sampled, Threads(sampled.n_jobs))


def grow(spec: ForestSpec, sampled: Sampled, execute: Executor = serial) -> FeatureMap:
    """Trees as specified, from sampled rows."""
    assert sampled.by_class is not None  # relevance is learned
    stats, content, by_class = sampled.stats, sampled.content, sampled.by_class.samples
    relevance = learn_relevance(sampled, spec.scale)
    scaling = fit_scaling(spec.scale, stats, sampled.sample.rows[:SAMPLE_ROWS])
    n_classes, weights = len(by_class), relevance.weights
    most, very_many = spec.size(stats.rows, n_classes)
    h, beside = spec.landmarks(n_classes, most), spec.landmarks(n_classes, 1)
    # Models of all rows.
    specs: list[LeafSpec]
    if very_many:
        specs = [KernelSpec(min(h, LANDMARKS_BESIDE), "mixed", "median", spec.scale)]
    else:
        specs = [KernelSpec(beside, "mixed", "median", spec.scale)]
        specs += [NeuronSpec(beside, "mixed", spec.scale)]
    drawn = DrawnFrom(
        scaling(sampled.sample.rows),
        content.seed,
        sampled.dtype,
        relevance.used,
        alone=relevance.alone,
        move=stats.rows >= MANY_ROWS,
    )
    leaves = [draw_features(of_all, drawn) for of_all in specs]
    trees = [Tree.uncut()] * len(specs)
    held = _to_hold(by_class)
    if most > 1:
        rows = _Rows.of(scaling, by_class, held, sampled.sample, content)
        size = TreeSize(h, most, stats.rows)
        tree, of_leaves, weights = _grow_tree(rows, size, weights, sampled.dtype, execute)
        trees, leaves = [*trees, tree], [*leaves, *of_leaves]
    return FeatureMap(
        content,
        sampled.encoding,
        scaling,
        tuple(trees),
        tuple(leaves),
        _held_rows(scaling, held),
        weights,
    )


class TreeSize(NamedTuple):
    """How large a tree may become."""

    landmarks: int  # of each leaf
    leaves: int  # at the most
    rows: float  # of the table


@dataclass(frozen=True, slots=True)
class _Rows:
    """Scaled sampled rows: of all classes together, and of each class."""

    Z: Array
    by_class: list[Array]
    halves: list[Array]  # 0 or 1 for each row of each class
    stand_for: list[float]  # how many rows of the table a sampled one of each class stands for
    content: ContentHash

    @classmethod
    def of(
        cls,
        scaling: Scaling,
        by_class: Sequence[RowSample],
        held: Sequence[RowSample],
        sample: RowSample,
        content: ContentHash,
    ) -> _Rows:
        """Those sampled, without the held rows of classes that have many others."""
        stand_for, used = [], []
        for own, others in zip(by_class, held, strict=True):
            # The k smallest of N hashes reach about k/N of the way to the largest.
            full = len(own.hashes) == own.k
            reach = float(own.hashes[-1]) / 2.0**64 if full else 1.0
            many = len(own.rows) >= MANY_TIMES * len(others.rows)
            left = own.at(~np.isin(own.hashes, others.hashes)) if many else own
            stand_for.append(worth(own.counts) / reach / max(len(left.rows), 1))
            used.append(left)
        return cls(
            scaling(sample.rows),
            [scaling(own.rows) for own in used],
            [folds_of(own.hashes // np.uint64(N_FOLDS), 2) for own in used],
            stand_for,
            content,
        )

    def where(self, column: int, threshold: float, beyond: bool) -> _Rows:
        """Those on one side of a cut."""
        kept = [(Z[:, column] > threshold) == beyond for Z in self.by_class]
        return replace(
            self,
            Z=self.Z[(self.Z[:, column] > threshold) == beyond],
            by_class=[Z[own] for Z, own in zip(self.by_class, kept, strict=True)],
            halves=[half[own] for half, own in zip(self.halves, kept, strict=True)],
        )

    @property
    def counts(self) -> Array:
        """About how many rows of each class the table has here."""
        sizes = [len(Z) for Z in self.by_class]
        return np.array(sizes) * np.array(self.stand_for)

    def draw(self, k: int, weights: Array, dtype: np.dtype[Any], *, move: bool) -> Features:
        """A Laplacian kernel with k landmarks, of the classes in turn, on columns weighted so."""
        turn = np.concatenate([np.arange(len(Z)) for Z in self.by_class])
        rows = np.concatenate(self.by_class)[np.argsort(turn, kind="stable")[:k]]
        drawn = DrawnFrom(rows, self.content.seed, dtype, weights, move=move)
        return draw_features(KernelSpec(k, "laplacian", "median", None), drawn)


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A node that may still be cut: its rows, the weights of its columns, and where it hangs."""

    rows: _Rows
    weights: Array
    size: float  # rows of the table
    parent: int = -1  # the node above, and which side of it
    side: int = 0


def _grow_tree(
    rows: _Rows, wanted: TreeSize, weights: Array, dtype: np.dtype[Any], execute: Executor
) -> tuple[Tree, list[Features], Array]:
    """A tree of at most so many leaves, the φ of each, and weights of columns over all nodes."""
    h, most, n = wanted
    columns: list[int] = []
    thresholds: list[float] = []
    children: list[list[int]] = []
    growing, leaves = [_Node(rows, weights, n)], list[_Node]()
    total = n * weights**2
    while growing:
        # The largest of those that are large enough, while there is room for more leaves.
        growing.sort(key=lambda node: -node.size)
        room = most - len(leaves) - len(growing)
        large = [node for node in growing if node.size > n / most][: max(room, 0)]
        leaves += growing[len(large) :]
        alone = len(large) == 1
        work = (partial(_cut, node, n / most / 2, execute if alone else serial) for node in large)
        growing = []
        for node, cut in zip(large, (serial if alone else execute)(work), strict=True):
            if cut is None:
                leaves.append(node)
                continue
            number = len(columns)
            columns.append(cut.column)
            thresholds.append(cut.threshold)
            children.append([0, 0])
            if node.parent >= 0:
                children[node.parent][node.side] = number
            for side, (part, own) in enumerate(cut.sides):
                size = float(part.counts.sum())
                total = total + size * own**2
                growing.append(_Node(part, own, size, number, side))
    for i, leaf in enumerate(leaves):
        if leaf.parent >= 0:
            children[leaf.parent][leaf.side] = -1 - i
    tree = Tree(
        np.array(columns, np.intp),
        np.array(thresholds),
        np.array(children, np.intp).reshape(-1, 2),
    )
    tasks = [partial(_draw_leaf, leaf, h, dtype) for leaf in leaves]
    return tree, list(execute(tasks)), np.sqrt(total / total.mean())


class _Cut(NamedTuple):
    """Where a node is cut, and the rows and weights of either side."""

    column: int
    threshold: float
    sides: list[tuple[_Rows, Array]]


def _cut(node: _Node, fewest: float, execute: Executor) -> _Cut | None:
    """A node cut in two; None where it cannot be."""
    cut = _best_cut(node, fewest, execute)
    if cut is None:
        return None
    parts = [node.rows.where(*cut, beyond) for beyond in (False, True)]
    found = execute([partial(_learn_weights, part, node.weights) for part in parts])
    return _Cut(*cut, list(zip(parts, found, strict=True)))


def _draw_leaf(leaf: _Node, h: int, dtype: np.dtype[Any]) -> Features:
    return leaf.rows.draw(h, leaf.weights, dtype, move=True)


def _best_cut(node: _Node, fewest: float, execute: Executor) -> tuple[int, float] | None:
    """The column and threshold after which the classes are separated best, if there are some."""
    cuts: list[tuple[int, float]] = []
    order = np.argsort(-node.weights, kind="stable")
    for j in order[:TRIED].tolist():
        if len(cuts) == CANDIDATES or node.weights[j] < WORTH * node.weights[order[0]]:
            break
        threshold = _middle(node.rows.Z[:, j])
        if threshold is not None and _may_cut(node.rows, j, threshold, fewest):
            cuts.append((j, threshold))
    if len(cuts) < 2:
        return cuts[0] if cuts else None
    sides = [(*cut, beyond) for cut in cuts for beyond in (False, True)]
    tasks = [partial(_separation, node.rows.where(*side), node.weights) for side in sides]
    found = np.array(list(execute(tasks))).reshape(-1, 2)
    return cuts[int(np.argmax(found.sum(axis=1)))]


def _middle(values: Array) -> float | None:
    """A threshold that halves the values as nearly as it can; None where it cannot."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < 2:
        return None
    below = np.cumsum(counts)[:-1] / len(values)
    best = int(np.argmin(abs(below - 0.5)))
    if min(below[best], 1 - below[best]) < LEAST_SHARE:
        return None
    return float((distinct[best] + distinct[best + 1]) / 2)


def _may_cut(rows: _Rows, column: int, threshold: float, fewest: float) -> bool:
    """Whether both sides of a cut have rows enough, of two classes at least."""
    for beyond in (False, True):
        side = rows.where(column, threshold, beyond)
        sampled = np.sort([len(Z) for Z in side.by_class])[-2]
        of_class = np.sort(side.counts)[-2]
        if sampled < FEWEST_SAMPLED or of_class < FEWEST_OF_CLASS or side.counts.sum() < fewest:
            return False
    return True


def _moments(phi: Features, rows: _Rows, most: int) -> list[list[ClassMoments]]:
    """The moments of both halves of at most so many rows of each class."""
    found = []
    for Z, half in zip(rows.by_class, rows.halves, strict=True):
        H = phi(Z[:most])
        found.append([ClassMoments.of(H[half[:most] == i]) for i in range(2)])
    return found


def _largest_pairs(counts: Array) -> Iterator[tuple[int, int]]:
    """The pairs of the classes that have the most rows in a node."""
    largest = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES])
    return combinations(largest.tolist(), 2)


def _separation(rows: _Rows, weights: Array) -> float:
    """How well operators of one half separate the classes in the other.

    Both sides of a cut count alike, unless one has fewer rows than are compared.
    """
    rows = replace(rows, by_class=[Z[:COMPARED_ROWS] for Z in rows.by_class])
    phi = rows.draw(COMPARED_LANDMARKS, weights, np.dtype(np.float64), move=False)
    moments, counts = _moments(phi, rows, COMPARED_ROWS), rows.counts
    total = 0.0
    for i, j in _largest_pairs(counts):
        for learnt, held in ((0, 1), (1, 0)):
            parts = [moments[c][half] for c in (i, j) for half in (learnt, held)]
            if min(part.n for part in parts) < 2:
                continue
            a, b = (shrink(moments[c][learnt], "ledoit-wolf") for c in (i, j))
            beta = operators_of(a, b, [NODE_RIDGE])[0][0]
            low, high = moments[i][held], moments[j][held]
            spread = sum(float(beta @ m.scatter @ beta) / m.n for m in (low, high))
            if spread > 0:
                gap = float(beta @ (high.mean - low.mean)) / np.sqrt(spread)
                total += gap * (counts[i] + counts[j])
    return total


def _learn_weights(rows: _Rows, weights: Array) -> Array:
    """How much columns count in a node, from how much they do in the node above."""
    if np.sort([len(Z) for Z in rows.by_class])[-2] < 2 * N_FOLDS:
        return weights
    start = np.sqrt((1 - FLOOR) * weights**2 + FLOOR)
    phi = rows.draw(NODE_LANDMARKS, start, np.dtype(np.float64), move=False)
    moments = _moments(phi, rows, NODE_ROWS)
    v = np.zeros(len(weights))
    for i, j in _largest_pairs(rows.counts):
        if min(moments[c][half].n for c in (i, j) for half in (0, 1)) < 2:
            continue
        classes = [[shrink(moments[c][half], "ledoit-wolf") for c in (i, j)] for half in (0, 1)]
        betas = np.stack([operators_of(a, b, [NODE_RIDGE])[0][0] for a, b in classes])
        for c in (i, j):
            one, other = phi.gradient(rows.by_class[c][:GRADIENT_ROWS], betas)
            v += (one * other).mean(axis=0)
    v = np.maximum(v, 0.0)
    return np.sqrt((weights**2 + v / v.mean()) / 2) if v.any() else weights


def _held_rows(scaling: Scaling, held: Sequence[RowSample]) -> HeldRows:
    """The rows whose held-out log-odds probabilities are fitted on."""
    return HeldRows(
        scaling(np.concatenate([own.rows for own in held])),
        np.repeat(np.arange(len(held)), [len(own.rows) for own in held]),
        folds_of(np.concatenate([own.hashes for own in held]), N_FOLDS),
        np.concatenate([own.counts for own in held]),
    )


def _to_hold(by_class: Sequence[RowSample]) -> list[RowSample]:
    """Rows that stand for all of their class, of each class alike."""
    n_classes = len(by_class)
    most = 2 * HELD_NUMBERS // (n_classes**2 * (n_classes - 1))
    most = int(np.clip(most, FEWEST_HELD, HELD_ROWS))
    return [_typical(own, most) for own in by_class]


def _typical(sample: RowSample, most: int) -> RowSample:
    """Rows that stand for all of a class: those that come often, and some of the others.

    A row that comes more often than so many rows do on average is always kept. Of the others the
    last took the least part in drawing φ.
    """
    often = sample.counts > sample.counts.sum() / most
    others = np.flatnonzero(~often)[-most:]
    if not len(others):
        return sample
    counts = sample.counts.copy()
    counts[others] *= sample.counts[~often].sum() / sample.counts[others].sum()
    return replace(sample, counts=counts).at(np.union1d(np.flatnonzero(often), others))
