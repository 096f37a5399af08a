"""From the odds of every pair of classes to one probability for each class.

With r_ij the probability of i against j, the probabilities p of Wu, Lin and Weng (2004, their
second method) minimise Σ_{i≠j} (r_ji p_i − r_ij p_j)² subject to Σ p = 1: a linear system of the
size of the classes for each row. For two classes p is r itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit, softmax

from ..shapes import Array
from ..tolerances import CERTAIN


def couple(odds: Array, pairs: tuple[tuple[int, int], ...], n_classes: int) -> Array:
    """ln p of each class from the log-odds of the second class of each pair."""
    rows = 4096  # at a time, whose systems of equations stay in cache
    parts = [
        _solved(_system(expit(odds[start : start + rows]), pairs, n_classes))
        for start in range(0, max(len(odds), 1), rows)
    ]
    return np.log(np.concatenate(parts))


def mean_slopes(
    start: Array,
    end: Array,
    pairs: tuple[tuple[int, int], ...],
    weights: Array,
    steps: int = 8,
) -> Array:
    """The mean of ∂ ln(p S / Σ p S) / ∂ odds from some odds to others   (n, classes, pairs).

    It is averaged over so many steps; `weights` are ln S. Odds beyond those that are certain change
    nothing, so that only the way between counts.
    """
    most = float(logit(1 - CERTAIN))
    low, high = (np.clip(odds, -most, most) for odds in (start, end))
    moves = start != end
    counts = np.divide(high - low, end - start, out=np.ones_like(low), where=moves)
    counts[~moves & (abs(start) > most)] = 0.0
    total: Any = 0.0
    for step in range(steps):
        total = total + _slopes(low + (step + 0.5) / steps * (high - low), pairs, weights)
    return total / steps * counts[:, np.newaxis]


def _slopes(odds: Array, pairs: tuple[tuple[int, int], ...], weights: Array) -> Array:
    """∂ ln p / ∂ odds, with Mp = e of `_system` −M⁻¹(∂M/∂r) p · r(1−r) / p, less the mean by pS."""
    r, n_classes = expit(odds), len(weights)
    system = _system(r, pairs, n_classes)
    p = _solved(system)
    a, b = np.array(pairs).T
    moved, pair = np.zeros((len(odds), n_classes + 1, len(pairs))), np.arange(len(pairs))
    moved[:, a, pair] = 2 * r * p[:, a] - (1 - 2 * r) * p[:, b]
    moved[:, b, pair] = -2 * (1 - r) * p[:, b] - (1 - 2 * r) * p[:, a]
    moved *= (r * (1 - r))[:, np.newaxis]
    slopes = -np.linalg.solve(system, moved)[:, :n_classes] / p[:, :, np.newaxis]
    return slopes - softmax(np.log(p) + weights, axis=1)[:, np.newaxis] @ slopes


def _system(second: Array, pairs: tuple[tuple[int, int], ...], n_classes: int) -> Array:
    """[Q 1; 1ᵀ 0] of Lagrange, [Q 1; 1ᵀ 0] [p; λ] = [0; 1], for each row.

    Q_ii = Σ_j r_ji² and Q_ij = −r_ij r_ji.
    """
    n = len(second)
    first_class, second_class = np.array(pairs).T
    r = np.zeros((n, n_classes, n_classes))
    r[:, second_class, first_class] = np.clip(second, CERTAIN, 1 - CERTAIN)
    r[:, first_class, second_class] = np.clip(1 - second, CERTAIN, 1 - CERTAIN)
    system = np.zeros((n, n_classes + 1, n_classes + 1))
    system[:, :n_classes, :n_classes] = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(n_classes)
    system[:, diagonal, diagonal] = np.square(r).sum(axis=1)
    system[:, n_classes, :n_classes] = system[:, :n_classes, n_classes] = 1
    return system


def _solved(system: Array) -> Array:
    """p of each row."""
    target = np.zeros((*system.shape[:2], 1))
    target[:, -1] = 1
    p = np.linalg.solve(system, target)[:, :-1, 0]
    p = np.maximum(p, CERTAIN**2)  # positive but for rounding
    return p / p.sum(axis=1, keepdims=True)
