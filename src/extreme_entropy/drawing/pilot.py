"""The pilot of a leaf: a penalised logistic regression on sampled rows, by Newton's method.

With φ̃ = (φ, 1), the features and a constant, it minimises over θ

    Σ n_i · −ln p(y_i | φ̃_iᵀθ) + ½ Σ_j λ_j (θ_j − centre_j)²

with the penalties λ of `penalties_of`. With more than two classes, one matrix bounds the curvature
for all of them (`moments/logistic.py`). Newton's step would then be too short, so it only
preconditions conjugate gradients (Polak and Ribière), each as long as the curvature along it asks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..engines.blas import add_gram
from ..engines.threads import chunks
from ..machine.stepping import penalties_of
from ..moments.logistic import curvatures, log_losses, probabilities, weights_of
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
        p = probabilities(odds)
        w = np.maximum(weights_of(p), settings.least_weight) * counts
        gram = np.zeros((H.shape[1], H.shape[1]))  # its lower triangle
        for s in chunks(len(H), H.shape[1]):
            add_gram(H[s] * np.sqrt(w[s])[:, np.newaxis], gram)
        # Large weights, or columns that repeat others, must not outweigh the penalties by rounding.
        rounding = SINGULAR * len(gram) * gram.diagonal().max()
        gram.flat[:: len(gram) + 1] += np.maximum(penalties[:, 0], rounding)
        factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
        step, pull_before, slope = np.zeros_like(theta), np.zeros_like(theta), np.inf
        for _ in range(1 if targets.shape[1] == 1 else settings.short_steps):
            pull = H.T @ ((targets - p) * counts[:, np.newaxis]) - penalties * (theta - centre)
            newton = cho_solve(factor, pull, check_finite=False)
            step *= max(np.vdot(newton, pull - pull_before) / slope, 0.0)
            step += newton
            pull_before, slope = pull, np.vdot(newton, pull)
            moved = H @ step
            curvature = counts @ curvatures(p, moved) + (penalties * np.square(step)).sum()
            size = np.vdot(pull, step) / curvature if curvature else 0.0
            new = value(odds + size * moved, theta + size * step)
            while not new <= current and size > settings.least_step:
                size /= 2
                new = value(odds + size * moved, theta + size * step)
            if not new <= current:
                break
            gain, current = current - new, new
            theta, odds = theta + size * step, odds + size * moved
            p = probabilities(odds)
            if gain < settings.least_share * least_gain:
                break
        if before - current < least_gain:
            break
    return theta
