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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import combinations
from operator import add
from typing import Any, NamedTuple

import numpy as np

from ..columns.statistics import N_FOLDS, worth
from ..engines.threads import Executor, RowGroups, serial
from ..features.content import RowSample, folds_of
from ..features.layers import Features
from ..features.scaling import Scaling
from ..machine.operator import Ridge, operators_of, shrink
from ..machine.solving import FoldProjections, HeldOut, Method, project_fold, project_folds
from ..moments.reduction import summarise
from ..moments.summary import FoldMoments
from ..shapes import Array
from .settings import RelevanceSettings

FoldPair = tuple[int, int]


class Relevance(NamedTuple):
    """How much columns count, and whether it helps to weight them so."""

    weights: Array  # their mean square is 1   (d,)
    is_used: bool = False  # whether they help enough to be used
    is_alone: bool = False  # or so much that nothing need stand beside what they weight


@dataclass(frozen=True, slots=True)
class RelevanceRows:
    """Sampled rows of all classes, encoded and scaled."""

    Z: Array
    labels: Array
    counts: Array
    folds: Array
    n_classes: int

    @classmethod
    def of(cls, scaling: Scaling, by_class: Sequence[RowSample]) -> RelevanceRows:
        """A sample of each class, one after another."""
        return cls(
            scaling(np.concatenate([sample.rows for sample in by_class])),
            np.repeat(np.arange(len(by_class)), [len(sample.rows) for sample in by_class]),
            np.concatenate([sample.counts for sample in by_class]),
            folds_of(np.concatenate([sample.hashes for sample in by_class]), N_FOLDS),
            len(by_class),
        )

    def first_of_classes(self, most: int) -> RelevanceRows:
        """So many rows of each class."""
        classes = (np.flatnonzero(self.labels == c)[:most] for c in range(self.n_classes))
        at = np.concatenate(list(classes))
        Z, labels, counts, folds = self.Z[at], self.labels[at], self.counts[at], self.folds[at]
        return RelevanceRows(Z, labels, counts, folds, self.n_classes)

    def mean_squares(self, products: Array, counted: Array | None = None) -> Array:
        """v / mean v, from products of gradients (pairs, n, d) at these rows or some of them."""
        counts = self.counts if counted is None else self.counts * counted
        v = np.zeros(self.Z.shape[1])
        for p, pair in enumerate(combinations(range(self.n_classes), 2)):
            for c in pair:
                of_class = counts * (self.labels == c)
                v += of_class @ products[p] / (of_class.sum() or 1.0)
        v = np.maximum(v, 0.0)
        return v / v.mean() if v.any() else np.ones_like(v)  # the classes look alike


def learn_relevance(
    rows: RelevanceRows,
    draw: Callable[[Array | None], Features],
    settings: RelevanceSettings,
    execute: Executor = serial,
) -> Relevance:
    """The relevance of each column, seen by features drawn with columns weighted so."""
    n_classes, d = rows.n_classes, rows.Z.shape[1]
    fold_pairs = list(combinations(range(N_FOLDS), 2))
    operators = len(fold_pairs) * n_classes * (n_classes - 1) // 2
    most = settings.gradient_numbers // (operators * d * n_classes)
    most = int(np.clip(most, settings.fewest_gradient_rows, settings.gradient_rows))
    at = rows.first_of_classes(most)  # where gradients are taken
    plain = _Fitted.on(rows, draw(None))
    alike = HeldOut.pooled(project_folds(plain.moments, plain.moments.totals, Method()))
    ridge = Method().ridges[alike.best]
    gradients = plain.gradients(ridge, at.Z, fold_pairs)
    first = [_agreement(gradients, k) for k in range(N_FOLDS)]
    second = np.empty_like(first[0])

    def without(k: int) -> FoldProjections:
        """A fold's rows, held out from both rounds."""
        inside = at.folds == k
        fitted = _Fitted.on(rows, draw(np.sqrt(at.mean_squares(first[k], ~inside))))
        if inside.any():
            outside = [pair for pair in fold_pairs if k not in pair]
            second[:, inside] = _agreement(fitted.gradients(ridge, at.Z[inside], outside), k)
        return project_fold(fitted.moments, fitted.moments.totals, k, Method())

    weighted = HeldOut.pooled(list(execute(partial(without, k) for k in range(N_FOLDS))))
    squares = at.mean_squares(np.mean(first, axis=0)) + at.mean_squares(second)
    # The standard error of the difference of two means in standard deviations.
    worths = [worth(rows.counts[rows.labels == c]) for c in range(n_classes)]
    error = float(np.mean([np.sqrt(1 / a + 1 / b) for a, b in combinations(worths, 2)]))
    gain = float((weighted.separations.max() - alike.separations.max()) / error)
    weights = np.sqrt(squares / 2)
    return Relevance(weights, gain > settings.used_gain, gain > settings.alone_gain)


Gradients = dict[FoldPair, Array]  # by the folds that the operators were fitted on


@dataclass(frozen=True, slots=True)
class _Fitted:
    """Features, and the sums of rows by class and fold under them."""

    features: Features
    moments: FoldMoments

    @classmethod
    def on(cls, rows: RelevanceRows, features: Features) -> _Fitted:
        groups = RowGroups(rows.labels, rows.folds, rows.counts, (rows.n_classes, N_FOLDS))
        [moments] = summarise(features, rows.Z, groups)
        return cls(features, moments)

    def gradients(self, ridge: Ridge, Z: Array, groups: list[FoldPair]) -> Gradients:
        """∇f at scaled rows, for each pair of classes   (pairs, n, d).

        Zero where the folds lack a class: the pair then counts for no column.
        """
        operators = []
        for group in groups:
            sums = (reduce(add, [folds[k] for k in group]) for folds in self.moments.cells)
            classes = [shrink(total, "ledoit-wolf") for total in sums]
            for negative, positive in combinations(classes, 2):
                if negative.rows and positive.rows:
                    operators.append(operators_of(negative, positive, [ridge])[0][0])
                else:
                    operators.append(np.zeros_like(negative.mean))
        gradient = self.features.gradient(Z, np.array(operators))
        gradient = gradient.reshape(len(groups), -1, *Z.shape)
        return dict(zip(groups, gradient, strict=True))


def _agreement(gradients: Gradients, left_out: int) -> Array:
    """∇f_A∘∇f_B, averaged over the three ways to halve the four folds that are left."""
    first, *rest = (k for k in range(N_FOLDS) if k != left_out)
    total: Any = 0.0
    for partner in rest:
        b, c = (k for k in rest if k != partner)
        total = total + gradients[first, partner] * gradients[b, c]
    return total / len(rest)
