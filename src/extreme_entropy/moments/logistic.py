"""What all parts of the logistic regression share: p, w and the loss of given log-odds.

Two classes have one column of log-odds, those of the second class. More classes have a logit each:

    p = softmax(f),   w = min(Σ_c p_c(1 − p_c), max_c p_c)

where w bounds the curvature of the loss in any direction, by its trace and by p itself. With two
classes w is p(1 − p).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logsumexp, softmax

Array = np.ndarray[Any, Any]


def targets_of(labels: Array, n_classes: int) -> Array:
    """Labels as 0 and 1: for the second of two classes, or for each of more   (n, 1 or classes)."""
    if n_classes == 2:
        return (labels == 1).astype(float)[:, np.newaxis]
    return (labels[:, np.newaxis] == np.arange(n_classes)).astype(float)


def probabilities(odds: Array) -> Array:
    """p from log-odds (n, 1) or from the logits of all classes   (n, 1 or classes)."""
    return expit(odds) if odds.shape[1] == 1 else softmax(odds, axis=1)


def weights_of(p: Array) -> Array:
    """w, the weight of each row in G   (n,)."""
    trace = np.einsum("ij,ij->i", p, 1 - p)
    return trace if p.shape[1] == 1 else np.minimum(trace, p.max(axis=1))


def curvatures(p: Array, moved: Array) -> Array:
    """Second derivatives of −ln p of each row, as log-odds move by so much   (n,)."""
    mean = np.einsum("ij,ij->i", p, moved)
    return np.einsum("ij,ij,ij->i", p, moved, moved) - mean**2


def log_losses(odds: Array, targets: Array) -> Array:
    """−ln p of the class of each row   (n,)."""
    if odds.shape[1] == 1:
        return np.logaddexp(0, odds[:, 0]) - targets[:, 0] * odds[:, 0]
    return logsumexp(odds, axis=1) - np.einsum("ij,ij->i", targets, odds)
