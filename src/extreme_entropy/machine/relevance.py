"""Learned relevance: how much each column counts, from gradients of fitted projections.

A classifier fitted on a sample projects scaled rows z to f(z) = βᵀφ(z). How much a column matters
is the mean of ∇f_A∘∇f_B over rows, averaged over the classes, where β_A and β_B were fitted on
folds that share no row: what either owes to chance averages out, and idle columns get nothing.
Weights are w = √(v / mean v). A second classifier on columns weighted so sees more clearly; both
rounds count equally, so that a column which matters is not lost by an early mistake. The sample has
distinct rows of each class alike, chosen by their content; each counts as often as it came.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ..features.content import ContentHash, RowSample
from ..features.feature_map import FeatureMap, KernelSpec, draw
from ..features.scaling import ColumnStats
from ..moments.reduction import summarise
from ..moments.summary import Summary
from .machine import Machine, solve
from .operator import Ridge, operators_of, shrink

Array = np.ndarray[Any, Any]

LEARNING_ROWS = 1000  # of each class, that machines are fitted on
GRADIENT_ROWS = 300  # of each class, at which gradients are taken
GRADIENT_NUMBERS = 2**24  # pairs × rows × columns: fewer rows where this would be exceeded
LANDMARKS = 300
ROUNDS = 2
N_FOLDS = 5
# Two folds against the other three, each fold in two of the smaller groups.
SPLITS = [((k, (k + 1) % 5), ((k + 2) % 5, (k + 3) % 5, (k + 4) % 5)) for k in range(5)]


def learn_weights(
    scale: str | None,
    stats: ColumnStats,
    sample: RowSample,
    by_class: Sequence[RowSample],
    content: ContentHash,
) -> Array:
    """The weight of each column; their mean square is 1. Classes without rows count for nothing."""
    by_class = [part for part in by_class if len(part.rows)]
    if len(by_class) < 2:
        return np.ones(len(stats.low))
    rows = np.concatenate([part.rows for part in by_class])
    labels = np.repeat(np.arange(len(by_class)), [len(part.rows) for part in by_class])
    hashes = np.concatenate([part.hashes for part in by_class])
    counts = np.concatenate([part.counts for part in by_class])
    folds = (hashes % np.uint64(N_FOLDS)).astype(np.intp)
    spec = KernelSpec(LANDMARKS, "mixed", "median", scale)
    total, weights = np.zeros(rows.shape[1]), None
    for _ in range(ROUNDS):
        phi = draw(spec, stats, sample, content, np.dtype(np.float64), weights)
        shape = (len(by_class), N_FOLDS)
        [summary] = summarise(phi, rows, labels, folds, counts, shape, [phi.h])
        neutral = np.zeros(len(by_class))
        machine = solve(
            summary,
            shrinkage="ledoit-wolf",
            ridge="auto",
            cross_fitted=False,
            log_priors=neutral,
            log_costs=neutral,
        )
        squares = _agreement(phi, summary, machine, rows, labels, counts)
        if not squares.any():  # the classes look alike
            squares = np.ones_like(squares)
        squares /= squares.mean()
        total += squares / ROUNDS
        weights = np.sqrt(squares)
    return np.sqrt(total)


def _agreement(
    phi: FeatureMap, summary: Summary, machine: Machine, rows: Array, labels: Array, counts: Array
) -> Array:
    """v: the mean product of two gradients of each column, averaged over classes and pairs   (d,).

    The two belong to operators that share no row: one of two folds, one of the other three. What
    they owe to chance is independent and averages out.
    """
    operators = np.concatenate(
        [_operators(summary, group, machine) for split in SPLITS for group in split]
    )
    n_classes, n_pairs = len(summary.moments), len(machine.pairs)
    per_class = GRADIENT_NUMBERS // (len(operators) * rows.shape[1] * n_classes)
    most = int(np.clip(per_class, 20, GRADIENT_ROWS))
    chosen = np.concatenate([np.flatnonzero(labels == c)[:most] for c in range(n_classes)])
    labels, counts = labels[chosen], counts[chosen]
    gradient = phi.gradient(phi.scaling(rows[chosen]), operators)
    gradient = gradient.reshape(len(SPLITS), 2, n_pairs, *gradient.shape[1:])
    products = (gradient[:, 0] * gradient[:, 1]).mean(axis=0)
    v = np.zeros(rows.shape[1])
    for p, pair in enumerate(machine.pairs):
        for c in pair:
            own = labels == c
            v += counts[own] @ products[p][own] / counts[own].sum()
    return np.maximum(v, 0.0)


def _operators(summary: Summary, group: tuple[int, ...], machine: Machine) -> Array:
    """β of each pair of classes from the rows of some folds, with the ridge of the machine.

    Zero where those folds lack a class: the pair then counts for no column.
    """
    classes = [
        shrink(reduce(add, [folds[k] for k in group]), "ledoit-wolf") for folds in summary.moments
    ]
    operators = np.zeros_like(machine.operators)
    for p, (i, j) in enumerate(machine.pairs):
        if classes[i].n and classes[j].n:
            ridge = Ridge(float(machine.ridges[p]))
            operators[p] = operators_of(classes[i], classes[j], [ridge])[0][0]
    return operators
