"""Explanations: what each column adds to the score of a row, compared with a typical row.

Integrated gradients (Sundararajan, Taly and Yan, 2017) along the straight line from the typical row
z₀ to the row z, both scaled: column l adds

    c_l = (z_l − z₀_l) ∫₀¹ ∂s/∂z_l (z₀ + t(z − z₀)) dt,        Σ_l c_l = s(z) − s(z₀)

for a score s, the log-odds of two classes or ln(C p) of one of more. ∂s/∂z is the slope of the
score over the projections times their gradient. The integral is a Gauss–Legendre sum. Where a layer
has kinks, its gradient is the mean over the part of the line that a node stands for, since a sum of
slopes would need a node between any two kinks. A row whose sum misses s(z) − s(z₀) is integrated
again with twice as many nodes. What is missing in the end, mostly rounding, is added to the columns
in proportion to what they have, so that the sum is exact.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..engines.threads import Executor, chunks, dense, serial
from ..features.feature_map import FeatureMap
from .machine import Machine

Array = np.ndarray[Any, Any]

NODES = 16  # of the first sum
MOST_NODES = 256
MISSED = 1e-3  # of the sum of sizes, that a sum may miss before more nodes are taken
LITTLE = 1e-6  # too little to matter in a score, whatever the sizes


def explain(phi: FeatureMap, machine: Machine, X: Any, execute: Executor = serial) -> Array:
    """What each column adds to each score of checked rows   (n, 1 or classes, d)."""
    (n, d), n_pairs = X.shape, len(machine.pairs)
    n_scores = 1 if n_pairs == 1 else len(machine.log_priors)
    contributions = np.empty((n, n_scores, d))
    operators = phi.folded(machine.operators, np.dtype(np.float64))

    def fill(rows: slice) -> None:
        Z = phi.scaling(dense(X[rows]).astype(np.float64, copy=False))
        contributions[rows] = _explain_scaled(phi, machine, operators, Z)

    for _ in execute(partial(fill, s) for s in chunks(n, phi.h, d * (n_pairs + n_scores))):
        pass
    return contributions


def _explain_scaled(phi: FeatureMap, machine: Machine, operators: list[Array], Z: Array) -> Array:
    """What each scaled column adds, summing to the difference of scores   (n, scores, d)."""
    line = Z - phi.typical
    ends = np.concatenate([Z, phi.typical[np.newaxis]])
    scores = machine.scores(phi.project_scaled(ends, operators)).reshape(len(ends), -1)
    wanted = scores[:-1] - scores[-1]
    found = np.empty((*wanted.shape, Z.shape[1]))
    n_nodes, again = NODES, np.arange(len(Z))
    while True:
        found[again] = _integral(phi, machine, operators, line[again], n_nodes)
        missing, sizes = wanted - found.sum(axis=2), abs(found).sum(axis=2)
        again = np.flatnonzero((abs(missing) > MISSED * sizes + LITTLE).any(axis=1))
        n_nodes *= 2
        if not len(again) or n_nodes > MOST_NODES:
            break
    # Where nearly everything is missing, what was found says little of how to share it.
    unknown = (abs(missing) > sizes)[:, :, np.newaxis]
    shares = np.where(unknown, abs(line)[:, np.newaxis], abs(found))
    total = shares.sum(axis=2)
    each = np.divide(missing, total, out=np.zeros_like(missing), where=total > 0)
    return found + shares * each[:, :, np.newaxis]


def _integral(
    phi: FeatureMap, machine: Machine, operators: list[Array], line: Array, n_nodes: int
) -> Array:
    """Σ over nodes t of weight · ∂s/∂z at z₀ + t·line, times the line   (n, scores, d)."""
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)  # on [−1, 1]
    total: Any = 0.0
    for t, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        Z = phi.typical + t * line
        slopes = machine.score_slopes(phi.project_scaled(Z, operators))
        gradient = phi.gradient(Z, machine.operators, line * (weight / 2))
        total = total + weight * (slopes @ gradient.transpose(1, 0, 2))
    return total * line[:, np.newaxis]
