"""What the default draws from a table: codes of single columns, a kernel, a pilot, perhaps leaves.

    f(x) = constant + codes of single columns + Laplacian kernel on landmarks

How much each column counts in the kernel, the kernel's width and two penalties are chosen on a few
hundred rows by cross-validation (`dual.py`). Features are divided by the roots of their
penalties, so that in a leaf the penalty of each is 1 (`machine/stepping.py`). A large table is cut
into leaves (`cutting.py`), each with its own knots, landmarks and pilot; the choice is the same for
all. If there are too many columns for codes, a linear kernel on the landmarks takes their place: it
is straight in every column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..columns.statistics import N_FOLDS
from ..engines.threads import Threads
from ..errors import InputError
from ..features.codes import on_knots
from ..features.content import RowSample, folds_of
from ..features.feature_map import FeatureMap, HeldRows, Tree
from ..features.kernels import Laplacian, Radial, whitening
from ..features.layers import Features, Part
from ..features.scaling import Scaling, fit_scaling
from ..moments.logistic import targets_of
from ..progress import begin_step, counted
from .cutting import NodeRows, cut_rows
from .dual import Choice, Dual, DualRows, best_choice, column_weights, distances_of
from .effects import Straight, draw_effects
from .pilot import fit_pilot
from .sampling import Sampled, SampleSizes
from .settings import DRAWING, DrawingSettings, HeldSettings

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ClassRows:
    """Sampled rows of the classes, encoded and scaled."""

    Z: Array
    labels: Array
    counts: Array  # how many rows each is worth
    hashes: Array  # of their content
    rates: Array  # the share of the rows of each class that was sampled

    @classmethod
    def of(
        cls,
        scaling: Scaling,
        by_class: Sequence[RowSample],
        worth_of_one: float,
        most_worth: float = DRAWING.pilots.most_worth,
    ) -> ClassRows:
        """Those of all classes, one after another."""
        counts = np.concatenate([sample.counts for sample in by_class]) * worth_of_one
        rates = []
        for sample in by_class:
            # The k smallest of N hashes reach about k/N of the way to the largest.
            full = len(sample.hashes) == sample.k
            rates.append(float(sample.hashes[-1]) / 2.0**64 if full else 1.0)
        return cls(
            scaling(np.concatenate([sample.rows for sample in by_class])),
            np.repeat(np.arange(len(by_class)), [len(sample.rows) for sample in by_class]),
            counts * min(1.0, most_worth / float(counts.mean())),
            np.concatenate([sample.hashes for sample in by_class]),
            np.array(rates),
        )

    def at(self, rows: Array) -> ClassRows:
        """Some of them."""
        Z, labels, counts, hashes = (
            x[rows] for x in (self.Z, self.labels, self.counts, self.hashes)
        )
        return ClassRows(Z, labels, counts, hashes, self.rates)

    def spread(self, most: int) -> ClassRows:
        """The first of each class: at most so many, as many of each class if each has enough."""
        of_class = [np.flatnonzero(self.labels == c) for c in range(len(self.rates))]
        chosen = list[Array]()
        for left, rows in zip(range(len(of_class), 0, -1), sorted(of_class, key=len), strict=True):
            # The rarest first: what it lacks goes to the others.
            share = max((most - sum(map(len, chosen))) // left, 1)
            chosen.append(rows[:share])
        return self.at(np.sort(np.concatenate(chosen)))

    def landmarks(self, most: int) -> Array:
        """Scaled rows for a kernel to compare others with: distinct, and of all classes alike.

        Rows drawn in proportion to the classes would hardly show where a rare one lies.
        """
        rows = self.spread(most)
        return rows.Z[np.sort(np.unique(rows.hashes, return_index=True)[1])]

    def dual(self, most: int) -> DualRows:
        """At most so many, each with the shares of the classes that it occurred in.

        Equal rows are left out together, or each would be predicted from its own repeats.
        """
        rows = self.spread(most)
        _, first, group = np.unique(rows.hashes, return_index=True, return_inverse=True)
        targets = targets_of(rows.labels, len(self.rates)) * rows.counts[:, np.newaxis]
        counts = np.bincount(group, rows.counts)
        columns = [np.bincount(group, column) / counts for column in targets.T]
        return DualRows(rows.Z[first], np.column_stack(columns), counts)

    @property
    def prior(self) -> Array:
        """Log-odds of the classes among these rows   (outputs,)."""
        n = np.bincount(self.labels, self.counts, len(self.rates))
        return log_odds_of(np.log(np.maximum(n, 0.5)))

    @property
    def totals(self) -> Array:
        """About how many rows of each class there are."""
        return np.bincount(self.labels, self.counts, len(self.rates)) / self.rates

    @property
    def shift(self) -> Array:
        """By how much log-odds are larger among these rows than among all   (outputs,)."""
        return log_odds_of(np.log(self.rates), centred=False)


def log_odds_of(logs: Array, *, centred: bool = True) -> Array:
    """ln n of classes as log-odds of the second of two, or as logits of more   (outputs,)."""
    if len(logs) == 2:
        return logs[1:] - logs[:1]
    return logs - np.logaddexp.reduce(logs) if centred else logs


class TableSize(NamedTuple):
    """How large φ becomes for a table."""

    landmarks: int  # of each leaf
    codes: int  # of all columns together, at the most
    leaves: int  # at the most


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What a user asks of the default's φ."""

    n_landmarks: int | str
    n_leaves: int | str
    scale: str | None = "quantile"
    settings: DrawingSettings = DRAWING

    def size(self, n: float, n_classes: int, rarest: float = np.inf) -> TableSize:
        """The size of φ for n rows of so many classes, given the number of rows of the rarest.

        The sums of this φ fit into memory.
        """
        settings = self.settings.trees
        leaves = self.n_leaves
        if isinstance(leaves, str):
            leaf = N_FOLDS * (settings.leaf_landmarks + settings.leaf_codes) ** 2
            most = settings.most_numbers // leaf, rarest // settings.leaf_class_rows
            leaves = int(min(n // settings.leaf_rows, *most))
            leaves = leaves if leaves >= settings.fewest_leaves else 1
        codes = settings.leaf_codes if leaves > 1 else settings.codes
        if leaves == 1 and n >= settings.very_many_rows:
            codes = settings.many_codes
        landmarks = self.n_landmarks
        if isinstance(landmarks, str):
            if leaves > 1:
                landmarks = settings.leaf_landmarks
            elif n_classes > 2:
                landmarks = settings.landmarks_of_classes
            else:
                many = n >= settings.many_rows
                landmarks = settings.many_landmarks if many else settings.landmarks
        return TableSize(landmarks, codes, leaves)

    def sample_sizes(self, n: float, n_classes: int, d: int) -> SampleSizes:
        """How many rows of how many encoded columns are sampled, as far as memory allows."""
        settings, size = self.settings, self.size(n, n_classes)
        typical = max(size.landmarks, settings.features.typical_rows)
        most = max(settings.trees.most_sampled // d, typical)
        of_class = settings.pilots.class_rows * max(size.leaves // 2, 1)
        of_class = min(of_class, settings.trees.most_class_rows, max(most // n_classes, 200))
        of_class = max(of_class, -(-size.landmarks // (n_classes - 1)))  # one class may be rare
        return SampleSizes(min(typical * size.leaves, most), of_class)

    def draw(self, sampled: Sampled) -> FeatureMap:
        """φ as specified, from sampled rows."""
        assert sampled.by_class is not None  # pilots are fitted on them
        settings, stats = self.settings, sampled.stats
        by_class = sampled.by_class
        scaling = fit_scaling(self.scale, stats, sampled.sample.rows, settings=settings.features)
        rows = ClassRows.of(scaling, by_class, stats.rows / stats.n)
        if not rows.Z.shape[1]:
            raise InputError(
                "There must be a column to learn from; all columns are empty, or were left out as "
                "identifiers. Check the columns, or name those to use."
            )
        size = self.size(stats.rows, len(by_class), rows.totals.min())
        typical = scaling(sampled.sample.rows)
        choice = choose(typical, rows, size, settings)
        tree = Tree.uncut()
        if size.leaves > 1:
            nodes = NodeRows(typical, rows.Z, rows.labels, 1 / rows.rates)
            tree = cut_rows(nodes, choice.weights, size.leaves, settings.trees)
        at, of_classes = tree(typical), tree(rows.Z)
        in_leaves = [rows.at(of_classes == leaf) for leaf in range(tree.n_leaves)]
        if tree.n_leaves > 1:
            choice = choose_in_leaves(choice, in_leaves, size, settings)
        drawer = LeafDrawer(
            choice, size, rows.prior, sampled.dtype, stats.rows >= settings.many_rows, settings
        )
        if tree.n_leaves > 1:
            begin_step("drawing leaves", tree.n_leaves, " leaves")
        drawn = list(
            counted(
                Threads(sampled.n_jobs)(
                    partial(drawer, typical[at == leaf], of_leaf)
                    for leaf, of_leaf in enumerate(in_leaves)
                )
            )
        )
        return FeatureMap(
            sampled.content,
            sampled.encoding,
            scaling,
            tree,
            tuple(leaf.features for leaf in drawn),
            held_rows(rows.Z, by_class, settings.held),
            pilots=tuple(leaf.pilot for leaf in drawn),
        )


@dataclass(frozen=True, slots=True)
class TableChoice:
    """What was chosen on rows of the whole table."""

    choice: Choice
    weights: Array  # of columns in the kernel


def choose(
    typical: Array, rows: ClassRows, size: TableSize, settings: DrawingSettings
) -> TableChoice:
    """The weights of columns, width and penalties that best predict the rows left out."""
    additive = draw_effects(typical[: settings.features.typical_rows], size.codes, settings.effects)
    n_classes, d = len(rows.rates), rows.Z.shape[1]
    is_large = rows.totals.sum() >= settings.dual.many_rows
    of_two = settings.dual.rows_of_many if is_large else settings.dual.rows
    most = min(of_two + settings.dual.rows_of_class * (n_classes - 2), settings.dual.most_rows)
    for_weights = int(min((settings.dual.gradient_numbers / d) ** 0.5, of_two))
    for_weights = max(for_weights, settings.dual.fewest_gradient_rows)
    relevance = column_weights(rows.dual(for_weights), additive, settings.dual)
    blended = np.sqrt((relevance**2 + 1) / 2)
    weightings = [np.ones(len(relevance)), blended, relevance]
    if isinstance(additive, Straight) and len(typical) > settings.effects.wide_rows:
        weightings = [heaviest(relevance, settings.dual.wide_columns)]
    dual = Dual.of(rows.dual(most), additive, weightings, settings.dual)
    choice = best_choice([dual], Choice(len(weightings) // 2, False, *settings.dual.first))
    return TableChoice(choice, weightings[choice.weighting])


def heaviest(weights: Array, most: int) -> Array:
    """At most so many of the weights, the others being 0; the mean of their squares stays 1."""
    if len(weights) <= most:
        return weights
    kept = weights.copy()
    kept[np.argsort(-weights, kind="stable")[most:]] = 0.0
    return kept / np.sqrt(np.mean(kept**2))


def choose_in_leaves(
    chosen: TableChoice, leaves: Sequence[ClassRows], size: TableSize, settings: DrawingSettings
) -> TableChoice:
    """The choice for leaves, from that for the table: rows are nearer to each other there.

    It is made on the leaves with the most sampled rows of their second class.
    """
    n_classes = len(leaves[0].rates)
    second = [np.sort(np.bincount(rows.labels, minlength=n_classes))[-2] for rows in leaves]
    most = np.argsort(second, kind="stable")[-settings.dual.leaves :]
    duals = []
    for leaf in most:
        rows = leaves[leaf].dual(settings.dual.leaf_rows)
        effects = draw_effects(rows.Z, size.codes, settings.effects)
        duals.append(Dual.of(rows, effects, [chosen.weights], settings.dual))
    choice = best_choice(duals, chosen.choice._replace(weighting=0))
    return replace(chosen, choice=choice)


class DrawnLeaf(NamedTuple):
    """The features of a leaf and its pilot."""

    features: Features
    pilot: Array


@dataclass(frozen=True, slots=True)
class LeafDrawer:
    """Draws the features of leaves and fits their pilots."""

    choice: TableChoice
    size: TableSize
    prior: Array  # log-odds of the classes among all sampled rows
    dtype: np.dtype[Any]
    move: bool  # whether landmarks are moved a little, which makes φ faster (`codes.py`)
    settings: DrawingSettings

    def __call__(self, typical: Array, rows: ClassRows) -> DrawnLeaf:
        """A leaf with these typical rows and these rows of the classes."""
        if not len(typical):
            typical = rows.Z
        features = Features((*self.additive(typical), *self.kernel(typical, rows)))
        pilot = fit_pilot(
            features.of_sampled(rows.Z),
            targets_of(rows.labels, len(rows.rates)),
            rows.counts,
            self.prior,
            self.settings.pilots,
        )
        pilot[-1] -= rows.shift
        return DrawnLeaf(features, pilot)

    def additive(self, typical: Array) -> list[Part]:
        """The part of single columns; none where none varies."""
        settings = self.settings.effects
        seen = typical[: self.settings.features.typical_rows]
        effects = draw_effects(seen, self.size.codes, settings)
        size = 1 / np.sqrt(self.choice.choice.additive)
        return effects.parts(typical[: settings.wide], size, self.dtype)

    def kernel(self, typical: Array, rows: ClassRows) -> list[Part]:
        """The kernel's part."""
        settings, weights = self.settings, self.choice.weights
        columns = np.flatnonzero(weights > settings.relevance.least_weight * weights.max())
        seen = typical[:, columns] * weights[columns]
        landmarks = rows.landmarks(self.size.landmarks)[:, columns] * weights[columns]
        radial = self.choice.choice.radial
        _, median = distances_of(rows.spread(settings.dual.rows).Z * weights, radial)
        rates = np.full(len(landmarks), self.choice.choice.rate / median)
        by = 1 / np.sqrt(self.choice.choice.kernel)
        layer: Radial | Laplacian
        if radial:
            layer = Radial.about(landmarks, rates)
        else:
            if self.move:
                near = seen[: settings.features.typical_rows]
                landmarks = on_knots(landmarks, near, settings.features)
            layer = Laplacian(landmarks, rates)
        part = Part(
            layer,
            columns=None if len(columns) == len(weights) else columns,
            weights=weights[columns],
            whitening=whitening(layer(landmarks), self.dtype) * by,
        )
        return [part]


def held_rows(Z: Array, by_class: Sequence[RowSample], settings: HeldSettings) -> HeldRows:
    """Of scaled rows of the classes, those on whose held-out log-odds probabilities are calibrated.

    There are as many of each class. A row is always kept if it is repeated so often that it is
    worth more than its share. Of the others, the last are kept, which had the least part in drawing
    φ; they stand for all sampled rows of their class that are not kept.
    """
    held, chosen, before = [], [], 0
    most = int(np.clip(settings.numbers // len(by_class) ** 2, settings.fewest, settings.rows))
    for sample in by_class:
        often = sample.counts > sample.counts.sum() / most
        rest = np.flatnonzero(~often)[-most:]
        places = np.arange(len(sample.rows))
        if len(rest):
            counts = sample.counts.copy()
            counts[rest] *= sample.counts[~often].sum() / sample.counts[rest].sum()
            places = np.union1d(np.flatnonzero(often), rest)
            sample = replace(sample, counts=counts)
        held.append((sample.hashes[places], sample.counts[places]))
        chosen.append(before + places)
        before += len(sample.rows)
    every = np.concatenate(chosen)
    return HeldRows(
        Z if len(every) == len(Z) else Z[every],
        np.repeat(np.arange(len(held)), list(map(len, chosen))),
        folds_of(np.concatenate([hashes for hashes, _ in held]), N_FOLDS),
        np.concatenate([counts for _, counts in held]),
    )
