"""From the odds of every pair of classes to one probability for each class.

With r_ij the probability of i against j, the probabilities p of Wu, Lin and Weng (2004, their
second method) minimise Σ_{i≠j} (r_ji p_i − r_ij p_j)² subject to Σ p = 1: a linear system of the
size of the classes for each row. For two classes p is r itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

Array = np.ndarray[Any, Any]

CERTAIN = 1e-9  # no pair of classes is surer than this: it may be asked about a third one's row
ROWS = 4096  # rows coupled at a time


def couple(odds: Array, pairs: tuple[tuple[int, int], ...], n_classes: int) -> Array:
    """ln p of each class from the log-odds of the second class of each pair."""
    parts = [
        _couple(expit(odds[start : start + ROWS]), pairs, n_classes)
        for start in range(0, max(len(odds), 1), ROWS)
    ]
    return np.log(np.concatenate(parts))


def _couple(second: Array, pairs: tuple[tuple[int, int], ...], n_classes: int) -> Array:
    n = len(second)
    first_class, second_class = np.array(pairs).T
    r = np.zeros((n, n_classes, n_classes))
    r[:, second_class, first_class] = np.clip(second, CERTAIN, 1 - CERTAIN)
    r[:, first_class, second_class] = np.clip(1 - second, CERTAIN, 1 - CERTAIN)
    # Lagrange: [Q 1; 1ᵀ 0] [p; λ] = [0; 1], with Q_ii = Σ_j r_ji² and Q_ij = −r_ij r_ji.
    system = np.zeros((n, n_classes + 1, n_classes + 1))
    system[:, :n_classes, :n_classes] = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(n_classes)
    system[:, diagonal, diagonal] = np.square(r).sum(axis=1)
    system[:, n_classes, :n_classes] = system[:, :n_classes, n_classes] = 1
    target = np.zeros((n, n_classes + 1, 1))
    target[:, n_classes] = 1
    p = np.linalg.solve(system, target)[:, :n_classes, 0]
    p = np.maximum(p, CERTAIN**2)  # positive but for rounding
    return p / p.sum(axis=1, keepdims=True)
