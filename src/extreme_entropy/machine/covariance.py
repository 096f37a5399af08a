"""The covariance of one class, shrunk towards a multiple of the identity, from its summary alone.

    Σ = (1−ε) cov + ε μ I,     cov = S/n,     μ = tr(cov)/h

Ledoit–Wolf needs, beside cov, only q = Σ‖u‖⁴: with signal = ‖cov‖²_F − hμ² and
noise = (q/n − ‖cov‖²_F)/n, ε = clip(noise/signal, 0, 1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..moments.class_moments import ClassMoments

Array = np.ndarray[Any, Any]


class Shrunk(NamedTuple):
    """One class as the solver sees it."""

    n: float
    mean: Array
    covariance: Array  # Σ
    epsilon: float


def shrink(moments: ClassMoments, shrinkage: str | float) -> Shrunk:
    """Σ and ε of a class. `shrinkage` is "ledoit-wolf", "oas", "none" or ε itself."""
    cov = moments.covariance
    epsilon = SHRINKAGES[shrinkage](cov, moments) if isinstance(shrinkage, str) else shrinkage
    target = np.trace(cov) / len(cov)
    cov *= 1.0 - epsilon
    cov.flat[:: len(cov) + 1] += epsilon * target
    return Shrunk(moments.n, moments.mean, cov, float(epsilon))


def ledoit_wolf(cov: Array, moments: ClassMoments) -> float:
    """ε of Ledoit and Wolf (2004)."""
    if not moments.n:
        return 0.0
    size = float(np.vdot(cov, cov))
    signal = size - np.trace(cov) ** 2 / len(cov)
    noise = (moments.quartic / moments.n - size) / moments.n
    return _ratio(noise, signal)


def oas(cov: Array, moments: ClassMoments) -> float:
    """ε of the oracle approximating estimator, Chen et al. (2010), equation (23)."""
    h, n = len(cov), moments.n
    size = float(np.vdot(cov, cov)) / h**2
    mu2 = (np.trace(cov) / h) ** 2
    return _ratio(size + mu2, (n + 1) * (size - mu2 / h))


def _ratio(noise: float, signal: float) -> float:
    """noise/signal clipped to [0, 1]; pure noise shrinks wholly, no noise not at all."""
    if noise <= 0:
        return 0.0
    return 1.0 if noise >= signal else float(noise / signal)


SHRINKAGES: dict[str, Callable[[Array, ClassMoments], float]] = {
    "ledoit-wolf": ledoit_wolf,
    "oas": oas,
    "none": lambda cov, moments: 0.0,
}
