"""The operator β: the projection that separates two classes as far as their variances allow.

minimise βᵀΣβ  subject to  βᵀm = 2,     Σ = Σ₊ + Σ₋ (+ I/C),  m = m₊ − m₋
β = 2 Σ⁻¹m / (mᵀΣ⁻¹m)                                       (the paper's eq. final)

The covariance of each class is shrunk towards a multiple of the identity, from its moments alone::

    Σ± = (1−ε) cov + ε μ I,     cov = S/n,     μ = tr(cov)/h

Ledoit–Wolf needs, beside cov, only q = Σ‖u‖⁴: with signal = ‖cov‖²_F − hμ² and
noise = (q/n − ‖cov‖²_F)/n, ε = clip(noise/signal, 0, 1). The last n is the number of rows that the
weights are worth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, eigh
from scipy.linalg.lapack import dpocon

from ..moments.summary import ClassMoments
from ..shapes import Array
from ..tolerances import OUTSIDE_RANGE, SINGULAR, SUM_MARGIN, WHITENED_ROUNDING


class Shrunk(NamedTuple):
    """One class as the solver sees it."""

    rows: float  # that it is worth
    mean: Array
    covariance: Array  # Σ
    epsilon: float
    noise: float  # of the mean: rounding, or what larger sums have left
    error: float  # of variances: the same


def shrink(moments: ClassMoments, shrinkage: str | float | None) -> Shrunk:
    """Σ and ε of a class. `shrinkage` is "ledoit-wolf", "oas", None or ε itself."""
    cov = moments.scatter / (moments.n or 1.0)
    if isinstance(shrinkage, str):
        noise, signal = SHRINKAGES[shrinkage](cov, moments)
        # Pure noise shrinks wholly, no noise not at all.
        epsilon = 0.0 if noise <= 0 else 1.0 if noise >= signal else noise / signal
    else:
        epsilon = shrinkage or 0.0
    target = np.trace(cov) / len(cov)
    cov *= 1.0 - epsilon
    cov.flat[:: len(cov) + 1] += epsilon * target
    share = WHITENED_ROUNDING + SUM_MARGIN * moments.n_error / (moments.n or 1.0)
    noise = share * float(np.linalg.norm(moments.mean))
    return Shrunk(moments.rows, moments.mean, cov, float(epsilon), noise, error_of(moments))


def error_of(moments: ClassMoments) -> float:
    """Variances of a class that are no larger may be those of equal rows, but for rounding."""
    left = SUM_MARGIN * moments.scatter_error / (moments.n or 1.0)
    return max(left, WHITENED_ROUNDING**2 * float(moments.mean @ moments.mean))


def ledoit_wolf(cov: Array, moments: ClassMoments) -> tuple[float, float]:
    """Noise and signal of Ledoit and Wolf (2004)."""
    n = moments.n or 1.0
    size = float(np.vdot(cov, cov))
    noise = moments.quartic / n - size
    noise = 0.0 if noise <= SUM_MARGIN * moments.quartic_error / n else noise
    return noise / (moments.rows or 1.0), size - float(np.trace(cov)) ** 2 / len(cov)


def oas(cov: Array, moments: ClassMoments) -> tuple[float, float]:
    """The same of the oracle approximating estimator, Chen et al. (2010), equation (23)."""
    h = len(cov)
    size, square = float(np.vdot(cov, cov)) / h**2, (float(np.trace(cov)) / h) ** 2
    return size + square, (moments.rows + 1) * (size - square / h)


SHRINKAGES: dict[str, Callable[[Array, ClassMoments], tuple[float, float]]] = {
    "ledoit-wolf": ledoit_wolf,
    "oas": oas,
}


class Ridge(NamedTuple):
    """What is added to the diagonal of Σ: a number, and a share of its mean."""

    absolute: float = 0.0
    relative: float = 0.0


def operators_of(
    negative: Shrunk, positive: Shrunk, ridges: Sequence[Ridge]
) -> tuple[Array, Array]:
    """β of two classes for each ridge, and what the ridge adds to the diagonal of Σ.

    β is zero where the means of the classes differ by rounding alone.
    """
    covariance = negative.covariance + positive.covariance
    difference, error = positive.mean - negative.mean, negative.error + positive.error
    spread = float(np.sqrt(max(np.trace(covariance), 0.0)))  # of equal rows less, by rounding
    noise = negative.noise + positive.noise + WHITENED_ROUNDING * spread
    diagonal = covariance.diagonal().copy()
    shrunk = sum(c.epsilon * np.trace(c.covariance) / len(c.mean) for c in (negative, positive))
    added = np.array([ridge.absolute + ridge.relative * diagonal.mean() for ridge in ridges])
    betas = []
    for addend in added.tolist():
        covariance.flat[:: len(covariance) + 1] = diagonal + addend
        least = float(shrunk + addend)
        betas.append(solve_operator(covariance, difference, noise, least, error))
    return np.array(betas), added


def solve_operator(
    covariance: Array, difference: Array, noise: float, least: float = 0.0, error: float = 0.0
) -> Array:
    """β from Σ and m, or zeros where ‖m‖ is no larger than `noise`.

    No eigenvalue of Σ is below `least`, what shrinkage and ridge have put on its diagonal, and none
    is known to better than `error`. Without any covariance (one row a class, say) Σ is taken as a
    vanishing multiple of I, so that β points from one mean to the other. Where Σ is singular, which
    is so only without shrinkage, the pseudo-inverse takes the place of Cholesky.
    """
    if not np.linalg.norm(difference) > noise:
        return np.zeros_like(difference)
    direction = difference
    trace = float(np.trace(covariance))
    if trace > error:
        singular = max(SINGULAR * len(covariance), error / trace)
        try:
            # NumPy's, since SciPy's holds Python's lock while it works.
            lower = np.linalg.cholesky(covariance)
            is_singular = False
            if least <= 2 * singular * trace:
                size = float(np.abs(covariance).sum(axis=0).max())
                # A pivot may be small or large by the order of the columns alone; 1/cond is not.
                is_singular = dpocon(lower.T, size, uplo="U")[0] <= singular
        except np.linalg.LinAlgError:
            is_singular = True
        if is_singular:
            direction = _pseudo_solve(covariance, difference, error)
        else:
            direction = cho_solve((lower, True), difference, check_finite=False)
    return direction * (2.0 / (difference @ direction))


def _pseudo_solve(covariance: Array, difference: Array, error: float) -> Array:
    """The limit of (Σ + δI)⁻¹m, up to length, as δ → 0.

    Where m leaves the range of Σ, the classes differ along directions in which neither varies, and
    those decide alone; otherwise it is Σ⁺m.
    """
    values, vectors = eigh(covariance, check_finite=False)
    positive = values > max(SINGULAR * len(values) * values[-1], error)
    if not positive.any():
        return difference
    values, vectors = values[positive], vectors[:, positive]
    inside = vectors.T @ difference
    outside = difference - vectors @ inside
    if np.linalg.norm(outside) > OUTSIDE_RANGE * np.linalg.norm(difference):
        return outside
    return vectors @ (inside / values)
