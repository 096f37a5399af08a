"""Folds and scores of rows that lie in blocks elsewhere: only sums and counts come back.

Folds are by content, so that no block needs to know of another. A score is computed from
the confusion matrix, which adds up; scorers that need more than labels are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..drawing.sampling import Sampled, Spec
from ..engines.blocks import Block
from ..engines.threads import Threads
from ..errors import InputError
from ..estimators.inputs import Columns, check_block
from ..estimators.tables import InBlocks, InMemory
from ..features.content import ContentHash, folds_of
from ..features.feature_map import FeatureMap
from ..machine.machine import Machine
from ..metrics import predicted_classes
from ..moments.summary import FoldMoments
from . import one_pass
from .folds import FEW, UNTESTED
from .one_pass import Machines, Parts, count_folds, project_all
from .prefitted import score_counts

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class FoldRule:
    """A row's fold by its content; rows that φ was drawn from are in none."""

    content: ContentHash
    n_folds: int
    sampled: Sampled | None = None
    classes: Array | None = None

    def __call__(self, rows: InMemory) -> Array:
        folds = folds_of(rows.hashes(self.content), self.n_folds).astype(np.intp)
        if self.sampled is not None and self.classes is not None:
            hashes = rows.hashes(self.sampled.content)
            folds[self.sampled.saw(hashes, rows.encode(self.classes))] = UNTESTED
        return folds


@dataclass(frozen=True, slots=True)
class PartRule:
    """The part of a fold that a row is in, by its content."""

    folds: FoldRule
    content: ContentHash
    parts: Parts

    def __call__(self, rows: InMemory) -> Array:
        folds = self.folds(rows)
        return self.parts.of(folds, rows.hashes(self.content))


@dataclass(frozen=True, slots=True)
class FoldedBlocks:
    """Rows in blocks, in folds by their content."""

    table: InBlocks
    classes: Array
    rule: FoldRule
    counts: Array  # rows of each class in each fold
    scorer: Any
    seed: int
    specs: Sequence[Spec]
    sampled: Sampled

    @classmethod
    def of(
        cls,
        table: InBlocks,
        classes: Array,
        n_folds: int,
        scorer: Any,
        seed: int,
        specs: Sequence[Spec],
    ) -> FoldedBlocks:
        """All rows, if each fold has enough of each class, with what specifications need."""
        sampled = Sampled.of(table, seed, specs, classes)
        rule = FoldRule(sampled.content, n_folds)
        counts = table.add_up(count_in_folds, classes, rule)
        if (counts < FEW).any():
            rarest = counts.reshape(len(classes), n_folds).sum(axis=1).min()
            raise InputError(
                f"Rows that lie in blocks are put into folds by their content, and each of "
                f"{n_folds} folds must hold {FEW} rows of each class; one holds {counts.min()}, "
                f"and the rarest class has {rarest} rows. Use fewer folds, or gather the rows."
            )
        return cls(table, classes, rule, counts, scorer, seed, specs, sampled)

    @property
    def n_folds(self) -> int:
        return self.rule.n_folds

    def draw(self, spec: Spec, /) -> FeatureMap:
        return spec.draw(self.sampled)

    def unseen(self) -> FoldedBlocks | None:
        if not self.sampled.rows_sampled:
            return self
        rule = replace(self.rule, sampled=self.sampled, classes=self.classes)
        counts = self.table.add_up(count_in_folds, self.classes, rule)
        if (counts < one_pass.LEFT * self.counts).any():
            return None
        return replace(self, rule=rule, counts=counts)

    def without(self, fold: int, /) -> FoldedBlocks:
        table = self.table.where(partial(_outside, self.rule, fold))
        sampled = Sampled.of(table, self.seed, self.specs, self.classes)
        return replace(self, table=table, sampled=sampled)

    def summarise(
        self, phi: FeatureMap, parts: Parts, sizes: Sequence[int], /
    ) -> list[FoldMoments]:
        rule = PartRule(self.rule, self.sampled.content, parts)
        [path] = self.table.summarise(phi, self.classes, parts.total, rule, sizes)
        return path

    def scores(
        self, phi: FeatureMap, machines: Machines, folds: Sequence[int], sizes: Sequence[int], /
    ) -> Array:
        held_out = [(fold, [m[j] for m in machines]) for j, fold in enumerate(folds)]
        shared = self.classes, self.rule, phi, held_out, sizes
        confusion = self.table.add_up(count_confusion, *shared)
        scores = np.empty(confusion.shape[:2])
        for place in np.ndindex(scores.shape):
            scores[place] = score_counts(self.scorer, self.classes, confusion[place])
        return scores

    def lazy_folds(self) -> Any:
        """The fold of each row, when it is asked for."""
        shared = self.table.dtype, self.table.columns, FoldRule(self.rule.content, self.n_folds)
        nothing = np.empty(0, np.intp)
        return self.table.blocks.each(folds_in, *shared, like=nothing, name="fold")


# -------------------------------------------------------------------- work on a block


def folds_in(block: Block, dtype: np.dtype[Any], columns: Columns, rule: FoldRule) -> Array:
    """The fold of each row of a block, also of those without weight."""
    X, _, _ = check_block(Block(block.X), dtype, columns)
    return rule(InMemory(columns, X, None))


def count_in_folds(rows: InMemory, classes: Array, rule: FoldRule) -> Array:
    """Rows of each class in each fold."""
    return count_folds(rows.encode(classes), rule(rows), len(classes), rule.n_folds)


def count_confusion(
    rows: InMemory,
    classes: Array,
    rule: FoldRule,
    phi: FeatureMap,
    held_out: list[tuple[int, list[Machine]]],
    sizes: Sequence[int],
) -> Array:
    """Confusion matrices   (sizes, folds, n_classes, n_classes)."""
    folds, n = rule(rows), len(classes)
    confusion = np.zeros((len(sizes), len(held_out), n, n))
    for j, (fold, machines) in enumerate(held_out):
        own = rows.at(folds == fold)
        if not len(own.labels):
            continue
        labels = own.encode(classes).astype(np.intp)
        found = project_all(phi, machines, sizes, own.to_learn(phi), Threads(1))
        for k, (machine, projections) in enumerate(zip(machines, found, strict=True)):
            pairs = labels * n + predicted_classes(machine.scores(projections))
            counts = np.bincount(pairs, weights=own.weight, minlength=n * n)
            confusion[k, j] = counts.reshape(n, n)
    return confusion


def _outside(rule: FoldRule, fold: int, rows: InMemory) -> Array:
    return rule(rows) != fold
