"""Learned relevance: how much each column counts, from gradients of fitted projections.

A classifier fitted on a sample projects scaled rows z to f(z) = βᵀφ(z). How much a column matters
is the mean of ∇f_A∘∇f_B over rows, averaged over the classes, where β_A and β_B were fitted on
folds that share no row: what either owes to chance averages out, and idle columns get nothing.
Weights are w = √(v / mean v). A second classifier on columns weighted so sees more clearly; both
rounds count equally, so that a column which matters is not lost by an early mistake. The sample has
distinct rows of each class alike, chosen by their content; each counts as often as it came.

A and B are two of five folds each, and leave one out. So the second round is fitted once for each
fold, with weights that this fold had no part in. Its rows then tell what weights are worth: how
much better they separate held-out rows than columns that all count alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import combinations
from operator import add
from typing import Any, NamedTuple

import numpy as np

from ..columns.statistics import N_FOLDS, worth
from ..engines.threads import Executor, serial
from ..features.content import RowSample, folds_of
from ..features.layers import Features
from ..features.scaling import SAMPLE_ROWS, Scaling, fit_scaling
from ..machine.operator import Ridge, operators_of, shrink
from ..machine.solving import SHARES, HeldOut, project_fold
from ..moments.reduction import RowGroups, summarise
from ..moments.summary import FoldMoments
from .parts import DrawnFrom, LeafSpec, draw_features
from .sampling import LEARNING_ROWS, Sampled

Array = np.ndarray[Any, Any]

# What weights of columns gain, in standard errors of the separation of held-out rows.
SOME_GAIN = 0.5  # from which on they are used, beside a part that takes all columns alike
LARGE_GAIN = 2.0  # from which on there is no such part
GRADIENT_ROWS = 300  # of each class, at which gradients are taken
GRADIENT_NUMBERS = 2**24  # operators × rows × columns: fewer rows where this would be exceeded
LANDMARKS = 300
PAIRS_OF_FOLDS = list(combinations(range(N_FOLDS), 2))
RIDGES = [Ridge(relative=share) for share in SHARES]


class Relevance(NamedTuple):
    """How much columns count, and what it helps to weight them so."""

    weights: Array  # their mean square is 1   (d,)
    gain: float  # of the separation of held-out rows, in standard errors

    @property
    def used(self) -> Array | None:
        """The weights, if they help enough to be used."""
        return self.weights if self.gain > SOME_GAIN else None

    @property
    def alone(self) -> bool:
        """Whether they help so much that nothing need stand beside what they weight."""
        return self.gain > LARGE_GAIN


def learn_relevance(sampled: Sampled, spec: LeafSpec, execute: Executor = serial) -> Relevance:
    """The relevance of each column, seen by such features. Classes without rows do not count."""
    samples = [] if sampled.by_class is None else sampled.by_class.samples
    by_class = [part.at(slice(LEARNING_ROWS)) for part in samples if len(part.rows)]
    if len(by_class) < 2:
        return Relevance(np.ones(len(sampled.stats.low)), 0.0)
    scaling = fit_scaling(spec.scale, sampled.stats, sampled.sample.rows[:SAMPLE_ROWS])
    rows = _Rows.of(scaling, by_class)
    some = rows.some_of_each_class()
    # Landmarks stay where they are: on few knots, gradients would have few steps.
    seed, precision = sampled.content.seed, np.dtype(np.float64)
    drawn = DrawnFrom(scaling(sampled.sample.rows), seed, precision, move=False)

    def fitted(weights: Array | None) -> tuple[Features, FoldMoments]:
        features = draw_features(spec, replace(drawn, weights=weights))
        return features, rows.summary(features)

    phi, summary = fitted(None)
    alike = HeldOut.pooled(np.stack([_held_out(summary, k) for k in range(N_FOLDS)]))
    ridge = RIDGES[alike.best]
    Z = some.Z
    gradients = _gradients(phi, summary, ridge, Z, PAIRS_OF_FOLDS)
    first = [_agreement(gradients, k) for k in range(N_FOLDS)]
    second = np.empty_like(first[0])

    def without(k: int) -> Array:
        """A fold's rows, held out from both rounds."""
        own = some.folds == k
        phi, summary = fitted(np.sqrt(some.mean_squares(first[k], ~own)))
        others = [pair for pair in PAIRS_OF_FOLDS if k not in pair]
        if own.any():
            second[:, own] = _agreement(_gradients(phi, summary, ridge, Z[own], others), k)
        return _held_out(summary, k)

    held_out = execute(partial(without, k) for k in range(N_FOLDS))
    weighted = HeldOut.pooled(np.stack(list(held_out)))
    squares = some.mean_squares(np.mean(first, axis=0)) + some.mean_squares(second)
    gain = weighted.separations.max() - alike.separations.max()
    return Relevance(np.sqrt(squares / 2), float(gain / rows.standard_error))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Sampled rows of all classes, encoded and scaled."""

    Z: Array
    labels: Array
    counts: Array
    folds: Array

    @classmethod
    def of(cls, scaling: Scaling, by_class: Sequence[RowSample]) -> _Rows:
        hashes = np.concatenate([part.hashes for part in by_class])
        return cls(
            scaling(np.concatenate([part.rows for part in by_class])),
            np.repeat(np.arange(len(by_class)), [len(part.rows) for part in by_class]),
            np.concatenate([part.counts for part in by_class]),
            folds_of(hashes, N_FOLDS),
        )

    @property
    def n_classes(self) -> int:
        return int(self.labels[-1]) + 1

    @property
    def standard_error(self) -> float:
        """Of the difference of two means in standard deviations, averaged over pairs of classes."""
        rows = (worth(self.counts[self.labels == c]) for c in range(self.n_classes))
        variances = [1 / n for n in rows]
        return float(np.mean([np.sqrt(a + b) for a, b in combinations(variances, 2)]))

    def some_of_each_class(self) -> _Rows:
        """The rows at which gradients are taken."""
        pairs, d = self.n_classes * (self.n_classes - 1) // 2, self.Z.shape[1]
        per_class = GRADIENT_NUMBERS // (len(PAIRS_OF_FOLDS) * pairs * d * self.n_classes)
        most = int(np.clip(per_class, 20, GRADIENT_ROWS))
        kept = [np.flatnonzero(self.labels == c)[:most] for c in range(self.n_classes)]
        at = np.concatenate(kept)
        return _Rows(self.Z[at], self.labels[at], self.counts[at], self.folds[at])

    def summary(self, features: Features) -> FoldMoments:
        """The sums of all rows by class and fold."""
        groups = RowGroups(self.labels, self.folds, self.counts, (self.n_classes, N_FOLDS))
        [[moments]] = summarise([features], self.Z, groups)
        return moments

    def mean_squares(self, products: Array, counted: Array | None = None) -> Array:
        """v / mean v, from products of gradients (pairs, n, d) at these rows or some of them."""
        counts = self.counts if counted is None else self.counts * counted
        v = np.zeros(self.Z.shape[1])
        for p, pair in enumerate(combinations(range(self.n_classes), 2)):
            for c in pair:
                own = counts * (self.labels == c)
                v += own @ products[p] / (own.sum() or 1.0)
        v = np.maximum(v, 0.0)
        return v / v.mean() if v.any() else np.ones_like(v)  # the classes look alike


def _held_out(summary: FoldMoments, fold: int) -> Array:
    """Projections of a fold's rows for each ridge, as `project_fold` gives them."""
    totals = [summary.of_class(c) for c in range(summary.n_classes)]
    pairs = tuple(combinations(range(len(totals)), 2))
    return project_fold(summary, fold, totals, pairs, "ledoit-wolf", RIDGES).stats


Gradients = dict[tuple[int, int], Array]  # by the folds that the operators were fitted on


def _gradients(
    phi: Features, summary: FoldMoments, ridge: Ridge, Z: Array, groups: list[tuple[int, int]]
) -> Gradients:
    """∇f at scaled rows, for each pair of classes   (pairs, n, d)."""
    operators = [_operators(summary, group, ridge) for group in groups]
    gradient = phi.gradient(Z, np.concatenate(operators))
    gradient = gradient.reshape(len(groups), -1, *Z.shape)
    return dict(zip(groups, gradient, strict=True))


def _agreement(gradients: Gradients, left_out: int) -> Array:
    """∇f_A∘∇f_B, averaged over the three ways to halve the four folds that are left."""
    first, *others = (k for k in range(N_FOLDS) if k != left_out)
    total: Any = 0.0
    for partner in others:
        b, c = (k for k in others if k != partner)
        total = total + gradients[first, partner] * gradients[b, c]
    return total / len(others)


def _operators(summary: FoldMoments, group: tuple[int, int], ridge: Ridge) -> Array:
    """β of each pair of classes from the rows of some folds.

    Zero where those folds lack a class: the pair then counts for no column.
    """
    classes = [
        shrink(reduce(add, [folds[k] for k in group]), "ledoit-wolf") for folds in summary.cells
    ]
    operators = []
    for negative, positive in combinations(classes, 2):
        if negative.rows and positive.rows:
            operators.append(operators_of(negative, positive, [ridge])[0][0])
        else:
            operators.append(np.zeros_like(negative.mean))
    return np.array(operators)
