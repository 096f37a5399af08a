"""Learned relevance: how much each column counts, from gradients of fitted projections.

A classifier fitted on a sample projects scaled rows z to f(z) = βᵀφ(z). How much a column matters
is the mean of ∇f_A∘∇f_B over rows, averaged over the classes, where β_A and β_B were fitted on
folds that share no row: what either owes to chance averages out, and idle columns get nothing.
Weights are w = √(v / mean v). A second classifier on columns weighted so sees more clearly; both
rounds count equally, so that a column which matters is not lost by an early mistake. The sample has
rows of each class alike, chosen by their content.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from ..engines.threads import Executor, chunks, serial
from ..features.content import ContentHash, RowSample
from ..features.encoding import plain_encoding
from ..features.feature_map import FeatureMap, KernelSpec, draw
from ..features.scaling import SAMPLE_ROWS, ColumnStats, fit_scaling
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
    execute: Executor = serial,
) -> Array:
    """The weight of each column; their mean square is 1. Classes without rows count for nothing.

    Rows are encoded, and stay as they are.
    """
    by_class = [part for part in by_class if len(part.rows)]
    if len(by_class) < 2:
        return np.ones(len(stats.low))
    rows = np.concatenate([part.rows for part in by_class])
    labels = np.repeat(np.arange(len(by_class)), [len(part.rows) for part in by_class])
    hashes = np.concatenate([part.hashes for part in by_class])
    folds = (hashes % np.uint64(N_FOLDS)).astype(np.intp)
    spec = KernelSpec(LANDMARKS, "mixed", "median", scale)
    encoding = plain_encoding(rows.shape[1])
    scaling = fit_scaling(scale, stats, sample.rows[:SAMPLE_ROWS])
    total, weights = np.zeros(rows.shape[1]), None
    for _ in range(ROUNDS):
        # Landmarks stay where they are: on few knots, gradients would have few steps.
        given = spec, encoding, stats, sample, content, np.dtype(np.float64), weights
        phi = draw(*given, scaling=scaling, move=False)
        shape = (len(by_class), N_FOLDS)
        [summary] = summarise(phi, rows, labels, folds, None, shape, [phi.h], execute)
        neutral = np.zeros(len(by_class))
        machine = solve(
            summary,
            shrinkage="ledoit-wolf",
            ridge="auto",
            cross_fitted=False,
            log_priors=neutral,
            log_costs=neutral,
            execute=execute,
        )
        squares = _agreement(phi, summary, machine, rows, labels, execute)
        if not squares.any():  # the classes look alike
            squares = np.ones_like(squares)
        squares /= squares.mean()
        total += squares / ROUNDS
        weights = np.sqrt(squares)
    return np.sqrt(total)


def _agreement(
    phi: FeatureMap,
    summary: Summary,
    machine: Machine,
    rows: Array,
    labels: Array,
    execute: Executor,
) -> Array:
    """v: the mean product of two gradients of each column, averaged over classes and pairs   (d,).

    The two belong to operators that share no row: one of two folds, one of the other three. What
    they owe to chance is independent and averages out.
    """
    groups = (partial(_operators, summary, group, machine) for split in SPLITS for group in split)
    operators = np.concatenate(list(execute(groups)))
    n_classes = len(summary.moments)
    per_class = GRADIENT_NUMBERS // (len(operators) * rows.shape[1] * n_classes)
    most = int(np.clip(per_class, 20, GRADIENT_ROWS))
    chosen = np.concatenate([np.flatnonzero(labels == c)[:most] for c in range(n_classes)])
    rows, labels = rows[chosen], labels[chosen]
    parts = chunks(len(rows), len(operators) * rows.shape[1])
    tasks = (partial(_products, phi, operators, rows[chunk]) for chunk in parts)
    products = np.concatenate(list(execute(tasks)), axis=1)
    v = np.zeros(rows.shape[1])
    for p, pair in enumerate(machine.pairs):
        for c in pair:
            v += products[p][labels == c].mean(axis=0)
    return np.maximum(v, 0.0)


def _products(phi: FeatureMap, operators: Array, rows: Array) -> Array:
    """The product of two gradients at each row, averaged over splits   (pairs, n, d)."""
    gradient = phi.gradient(phi.scaling(rows), operators)
    gradient = gradient.reshape(len(SPLITS), 2, -1, *rows.shape)
    return (gradient[:, 0] * gradient[:, 1]).mean(axis=0)


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
