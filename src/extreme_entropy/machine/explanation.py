"""Explanations: what each column adds to the score of a row, compared with a typical row.

Integrated gradients (Sundararajan, Taly and Yan, 2017) along the straight line from the typical row
z₀ to the row z, both scaled: column l adds

    c_l = (z_l − z₀_l) ∫₀¹ ∂s/∂z_l (z₀ + t(z − z₀)) dt,        Σ_l c_l = s(z) − s(z₀)

for a score s, the log-odds of two classes or ln(C p) of one of more. ∂s/∂z is the slope of the
score over the projections times their gradient. The line is cut into segments. On each of them the
slope is its mean between the projections at both ends, and the gradient that of the middle, where
kinks of a layer are averaged over the segment: with plain slopes there would have to be a segment
between any two kinks. A row whose sum misses s(z) − s(z₀) is taken again with twice as many
segments. The little that is missing in the end is added to the columns in proportion to what they
have, so that the sum is exact.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..engines.threads import Executor, chunks, dense, serial
from ..features.feature_map import FeatureMap
from .machine import Machine

Array = np.ndarray[Any, Any]

SEGMENTS = 32  # of the line, at first
MOST_SEGMENTS = 256
MISSED = 1e-3  # of the sum of sizes, that a sum may miss before more segments are taken
LITTLE = 1e-6  # too little to matter in a score, whatever the sizes


def explain(phi: FeatureMap, machine: Machine, X: Any, execute: Executor = serial) -> Array:
    """What each column adds to each score of checked rows   (n, 1 or classes, d)."""
    (n, d), n_pairs = X.shape, len(machine.pairs)
    n_scores = 1 if n_pairs == 1 else len(machine.log_priors)
    contributions = np.empty((n, n_scores, d))
    operators = phi.folded(machine.operators, np.dtype(np.float64))

    typical, origins = phi.typical, phi.encoding.origins
    of_column = np.eye(d)[origins]  # an encoded column's share goes to the column it comes from

    def fill(rows: slice) -> None:
        Z = phi.scaled(dense(X[rows]).astype(np.float64, copy=False))
        encoded = _explain_scaled(phi, machine, operators, typical, Z)
        contributions[rows] = encoded if phi.encoding.plain else encoded @ of_column

    width = len(origins) * (n_pairs + n_scores)
    for _ in execute(partial(fill, s) for s in chunks(n, phi.h, width)):
        pass
    return contributions


def _explain_scaled(
    phi: FeatureMap, machine: Machine, operators: list[Array], typical: Array, Z: Array
) -> Array:
    """What each scaled column adds, summing to the difference of scores   (n, scores, d)."""
    line = Z - typical
    ends = np.concatenate([Z, typical[np.newaxis]])
    scores = machine.scores(phi.project_scaled(ends, operators)).reshape(len(ends), -1)
    wanted = scores[:-1] - scores[-1]
    found = np.empty((*wanted.shape, Z.shape[1]))
    n_segments, again = SEGMENTS, np.arange(len(Z))
    while True:
        found[again] = _integral(phi, machine, operators, typical, line[again], n_segments)
        missing, sizes = wanted - found.sum(axis=2), abs(found).sum(axis=2)
        again = np.flatnonzero((abs(missing) > MISSED * sizes + LITTLE).any(axis=1))
        n_segments *= 2
        if not len(again) or n_segments > MOST_SEGMENTS:
            break
    # Where nearly everything is missing, what was found says little of how to share it.
    unknown = (abs(missing) > sizes)[:, :, np.newaxis]
    shares = np.where(unknown, abs(line)[:, np.newaxis], abs(found))
    total = shares.sum(axis=2)
    each = np.divide(missing, total, out=np.zeros_like(missing), where=total > 0)
    return found + shares * each[:, :, np.newaxis]


def _integral(
    phi: FeatureMap,
    machine: Machine,
    operators: list[Array],
    typical: Array,
    line: Array,
    n_segments: int,
) -> Array:
    """The sum over segments of mean slope of the scores · gradient · line   (n, scores, d)."""
    total: Any = 0.0
    # Shorter at both ends: near the typical row or the row itself scores may change fast.
    ends = (1 - np.cos(np.linspace(0, np.pi, n_segments + 1))) / 2
    start = phi.project_scaled(np.broadcast_to(typical, line.shape), operators)
    for a, b in pairwise(ends):
        end = phi.project_scaled(typical + b * line, operators)
        half = (b - a) / 2 * line
        gradient = phi.gradient(typical + (a + b) / 2 * line, machine.operators, half)
        slopes = machine.mean_slopes(start, end)
        total = total + (b - a) * (slopes @ gradient.transpose(1, 0, 2))
        start = end
    return total * line[:, np.newaxis]
