"""Folds and scores of rows that lie in blocks elsewhere: only sums and counts come back.

Folds are by content, so that no block needs to know of another. A score is taken from how often
each label was taken for which, which adds up; scorers that need more than labels are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..engines.blocks import Block
from ..errors import InputError
from ..estimators._rows import Rows, check_block, encode
from ..estimators._tables import InBlocks
from ..features.chunks import chunks
from ..features.content import ContentHash
from ..machine.machine import Machine
from ..moments.reduction import Block as Sizes
from ..moments.reduction import Features, Run, summarise_path
from ..moments.summary import Summary
from . import one_pass
from .folds import FEW, UNTESTED
from .judged import Judged
from .one_pass import (
    Draw,
    Drawn,
    Machines,
    by_size,
    cells_of,
    counts_of,
    project,
    readouts_of,
)

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class FoldRule:
    """A row's fold by its content; rows that φ was drawn from are in none."""

    content: ContentHash
    n_folds: int
    drawn: ContentHash | None = None
    largest: int = -1

    def __call__(self, X: Any) -> Array:
        parts = [np.empty(0, np.intp), *(self._of(X[s]) for s in chunks(*X.shape))]
        return np.concatenate(parts)

    def _of(self, X: Any) -> Array:
        folds = (self.content(X) % np.uint64(self.n_folds)).astype(np.intp)
        if self.drawn is not None and self.largest >= 0:
            folds[self.drawn(X) <= np.uint64(self.largest)] = UNTESTED
        return folds


@dataclass(frozen=True, slots=True)
class Paths:
    """Summaries for each φ and size: a monoid, as each of them is."""

    summaries: list[list[Summary]]

    def __add__(self, other: Paths) -> Paths:
        pairs = zip(self.summaries, other.summaries, strict=True)
        return Paths([[a + b for a, b in zip(*path, strict=True)] for path in pairs])


@dataclass(frozen=True, slots=True)
class BlockRows:
    """Rows in blocks, in folds by their content."""

    table: InBlocks
    classes: Array
    rule: FoldRule
    counts: Array  # rows of each class in each fold
    scorer: Any

    @classmethod
    def of(
        cls, table: InBlocks, classes: Array, content: ContentHash, n_folds: int, scorer: Any
    ) -> BlockRows:
        """All rows, if each fold has enough of each class."""
        rule = FoldRule(content, n_folds)
        counts = table.add_up(count_folds, classes, rule)
        if (counts < FEW).any():
            rarest = counts.reshape(len(classes), n_folds).sum(axis=1).min()
            raise InputError(
                f"Rows that lie in blocks are put into folds by their content, and each of "
                f"{n_folds} folds must hold {FEW} rows of each class; one holds {counts.min()}, "
                f"and the rarest class has {rarest} rows. Use fewer folds, or gather the rows."
            )
        return cls(table, classes, rule, counts, scorer)

    @property
    def n_folds(self) -> int:
        return self.rule.n_folds

    def draw(self, draw: Draw, /) -> Drawn:
        return draw(self.table)

    def apart(self, drawn: Drawn, /) -> BlockRows | None:
        rule = replace(self.rule, drawn=drawn.content, largest=drawn.largest)
        counts = (
            self.counts if drawn.largest < 0 else self.table.add_up(count_folds, self.classes, rule)
        )
        if (counts < one_pass.LEFT * self.counts).any():
            return None
        return replace(self, rule=rule, counts=counts)

    def without(self, fold: int, /) -> BlockRows:
        return replace(self, table=self.table.where(partial(_outside, self.rule, fold)))

    def summarise(self, drawn: Drawn, per_fold: int, untested: int, /) -> list[list[Summary]]:
        cells = (self.rule, drawn.content, per_fold, untested)
        return self.table.add_up(
            sum_paths, self.classes, drawn.features, drawn.blocks, cells
        ).summaries

    def scores(self, drawn: Drawn, machines: Machines, folds: Sequence[int], /) -> Array:
        judges = [
            Judge.of(fold, drawn, [[by_fold[j] for by_fold in path] for path in machines])
            for j, fold in enumerate(folds)
        ]
        taken = self.table.add_up(count_taken, self.classes, self.rule, drawn.features, judges)
        scores = np.empty(taken.shape[:3])
        for place in np.ndindex(scores.shape):
            scores[place] = score_of(self.scorer, self.classes, taken[place])
        return scores


@dataclass(frozen=True, slots=True)
class Judge:
    """The machines that have not seen a fold, by φ and size, and their operators side by side."""

    fold: int
    machines: list[list[Machine]]
    readouts: list[Array]

    @classmethod
    def of(cls, fold: int, drawn: Drawn, machines: list[list[Machine]]) -> Judge:
        return cls(fold, machines, readouts_of(drawn, machines))


def lazy_folds(table: InBlocks, content: ContentHash, n_folds: int) -> Any:
    """The fold of each row, when it is asked for."""
    rule = FoldRule(content, n_folds)
    return table.blocks.each(folds_in, table.dtype, table.d, rule, like=np.empty(0, np.intp))


# -------------------------------------------------------------------- work


def folds_in(block: Block, dtype: np.dtype[Any], d: int, rule: FoldRule) -> Array:
    """The fold of each row of a block, also of those without weight."""
    return rule(check_block(Block(block.X), dtype, d)[0])


def count_folds(rows: Rows, run: Run, classes: Array, rule: FoldRule) -> Array:
    """Rows of each class in each fold."""
    X, y, _ = rows
    return counts_of(encode(y, classes), rule(X), len(classes), rule.n_folds)


def sum_paths(
    rows: Rows,
    run: Run,
    classes: Array,
    features: Features,
    blocks: list[list[Sizes]],
    cells: tuple[FoldRule, ContentHash, int, int],
) -> Paths:
    """Summaries of rows by cell, for each φ and size."""
    X, y, weight = rows
    rule, content, per_fold, untested = cells
    own = cells_of(content, X, rule(X), rule.n_folds, per_fold, untested)
    n_cells = rule.n_folds * per_fold + untested
    labels = encode(y, classes)
    return Paths(
        summarise_path(features, X, labels, weight, own, len(classes), n_cells, blocks, run)
    )


def count_taken(
    rows: Rows, run: Run, classes: Array, rule: FoldRule, features: Features, judges: list[Judge]
) -> Array:
    """How often each label was taken for which      (φs, sizes, folds, n_classes, n_classes)."""
    X, y, weight = rows
    labels, folds, n = encode(y, classes), rule(X), len(classes)
    first = judges[0].machines
    taken = np.zeros((len(first), len(first[0]), len(judges), n, n))
    for j, judge in enumerate(judges):
        chosen = np.flatnonzero(folds == judge.fold)
        if not len(chosen):
            continue
        w = None if weight is None else weight[chosen]
        for i, lines in enumerate(project(features, X[chosen], judge.readouts)):
            for k, line in enumerate(by_size(lines, judge.machines[i])):
                values = judge.machines[i][k].scores(line)
                found = values > 0 if values.ndim == 1 else values.argmax(axis=1)
                cells = np.bincount(labels[chosen] * n + found, weights=w, minlength=n * n)
                taken[i, k, j] = cells.reshape(n, n)
    return taken


def _outside(rule: FoldRule, fold: int, rows: Rows) -> Array:
    return rule(rows[0]) != fold


# -------------------------------------------------------------------- scores from counts


class Told(Judged):
    """A classifier whose rows are the positions of the labels it shall predict."""

    def predict(self, X: Array) -> Array:
        return self.classes_[X[:, 0]]

    def predict_proba(self, X: Array) -> Array:
        """Probabilities do not add up over blocks."""
        raise InputError(
            "Rows that lie in blocks can be scored by their labels alone, since only counts add "
            "up. Use 'gmean', 'balanced_accuracy', 'f1' or the like, or gather the rows."
        )

    decision_function = predict_log_proba = predict_proba


def score_of(scorer: Any, classes: Array, taken: Array) -> float:
    """The score where each label was taken so often for each other."""
    true, found = np.nonzero(taken)
    weight = taken[true, found]
    return float(scorer(Told(classes), found[:, None], classes[true], sample_weight=weight))


def check_scorer(scorer: Any, name: Any) -> None:
    """Raise unless the scorer needs labels alone, and takes weights: before the rows are read."""
    try:
        score_of(scorer, np.array([0, 1]), np.array([[3.0, 1.0], [2.0, 4.0]]))
    except TypeError as error:
        raise InputError(
            f"Rows that lie in blocks are scored from counts, so that scoring={name!r} must take "
            f"`sample_weight`; it does not ({error}). Use a scorer made with make_scorer."
        ) from error
