"""The pilot of a leaf: a penalised logistic regression on sampled rows, by Newton's method.

With φ̃ = (φ, 1), the features and a constant, it minimises over θ

    Σ n_i · −ln p(y_i | φ̃_iᵀθ) + ½ Σ_j λ_j (θ_j − centre_j)²

with the penalties λ of `penalties_of`. With more than two classes, one matrix bounds the curvature
for all of them (`moments/logistic.py`); this makes steps too short, so they are lengthened while
that helps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..machine.stepping import penalties_of
from ..moments.logistic import log_losses, probabilities, weights_of
from ..tolerances import SINGULAR
from .settings import PilotSettings

Array = np.ndarray[Any, Any]


def fit_pilot(
    H: Array, targets: Array, counts: Array, prior: Array, settings: PilotSettings
) -> Array:
    """θ₀ of features H (n, h) and a constant drawn to the prior log-odds   (h + 1, outputs)."""
    H = np.column_stack([H, np.ones(len(H))])
    penalties = penalties_of(H.shape[1] - 1)[:, np.newaxis]
    centre = np.zeros((H.shape[1], targets.shape[1]))
    centre[-1] = prior

    def value(odds: Array, theta: Array) -> float:
        fit = float(counts @ log_losses(odds, targets))
        return fit + float((penalties * np.square(theta - centre)).sum()) / 2

    theta = centre.copy()
    odds = H @ theta
    current = value(odds, theta)
    least_gain = settings.least_gain * np.sqrt(counts.sum())
    for _ in range(settings.most_steps):
        before = current
        w = np.maximum(weights_of(probabilities(odds)), settings.least_weight) * counts
        rooted = H * np.sqrt(w)[:, np.newaxis]
        gram = rooted.T @ rooted
        # Large weights, or columns that repeat others, must not outweigh the penalties by rounding.
        rounding = SINGULAR * len(gram) * gram.diagonal().max()
        gram.flat[:: len(gram) + 1] += np.maximum(penalties[:, 0], rounding)
        factor = cho_factor(gram, overwrite_a=True, check_finite=False)
        for _ in range(1 if targets.shape[1] == 1 else settings.short_steps):
            pull = H.T @ ((targets - probabilities(odds)) * counts[:, np.newaxis])
            step = cho_solve(factor, pull - penalties * (theta - centre))
            moved, size = H @ step, 1.0
            new = value(odds + moved, theta + step)
            while not new <= current and size > settings.least_step:
                size /= 2
                new = value(odds + size * moved, theta + size * step)
            while (
                size >= 1
                and (longer := value(odds + 2 * size * moved, theta + 2 * size * step)) < new
            ):
                size, new = 2 * size, longer
            if not new <= current:
                break
            theta, odds, current = theta + size * step, odds + size * moved, new
        if before - current < least_gain:
            break
    return theta
