"""The operator β: the line on which two classes are furthest apart for their spread.

minimise βᵀΣβ  subject to  βᵀm = 2,     Σ = Σ₊ + Σ₋ (+ I/C),  m = m₊ − m₋
β = 2 Σ⁻¹m / (mᵀΣ⁻¹m)                                       (the paper's eq. final)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, eigh
from scipy.linalg.lapack import dpocon

from .covariance import Shrunk

Array = np.ndarray[Any, Any]

# Means that differ by less than this share of their size differ by rounding alone.
ROUNDING = 64 * np.finfo(float).eps
# Per dimension: a matrix whose 1/cond is below this is singular but for rounding.
SINGULAR = 16 * np.finfo(float).eps


class Ridge(NamedTuple):
    """What is added to the diagonal of Σ: a number, and a share of its mean."""

    absolute: float = 0.0
    relative: float = 0.0

    def of(self, negative: Shrunk, positive: Shrunk) -> float:
        trace = np.trace(negative.covariance) + np.trace(positive.covariance)
        return float(self.absolute + self.relative * trace / len(negative.mean))


def operators_of(negative: Shrunk, positive: Shrunk, ridges: Sequence[Ridge]) -> Array:
    """β of two classes for each ridge; zeros where their means differ by rounding alone."""
    covariance = negative.covariance + positive.covariance
    size = (
        np.linalg.norm(negative.mean)
        + np.linalg.norm(positive.mean)
        + np.sqrt(np.trace(covariance))
    )
    difference, noise = positive.mean - negative.mean, ROUNDING * float(size)
    diagonal = covariance.diagonal().copy()
    shrunk = sum(c.epsilon * np.trace(c.covariance) / len(c.mean) for c in (negative, positive))
    betas = []
    for ridge in ridges:
        added = ridge.of(negative, positive)
        covariance.flat[:: len(covariance) + 1] = diagonal + added
        betas.append(solve_operator(covariance, difference, noise, float(shrunk + added)))
    return np.array(betas)


def solve_operator(covariance: Array, difference: Array, noise: float, least: float = 0.0) -> Array:
    """β from Σ and m, or zeros where ‖m‖ is no larger than `noise`.

    No eigenvalue of Σ is below `least`, what shrinkage and ridge have put on its diagonal. Without
    any covariance (one row a class, say) Σ is taken as a vanishing multiple of I, so that β points
    from one mean to the other.
    """
    if not np.linalg.norm(difference) > noise:
        return np.zeros_like(difference)
    direction = _solve(covariance, difference, least) if covariance.diagonal().any() else difference
    return direction * (2.0 / (difference @ direction))


def _solve(covariance: Array, difference: Array, least: float) -> Array:
    """Σ⁻¹m by Cholesky; by the pseudo-inverse where Σ is singular (only without shrinkage)."""
    try:
        # NumPy's, since SciPy's holds Python's lock while it works.
        lower = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return _pseudo_solve(covariance, difference)
    singular = SINGULAR * len(covariance)
    if least <= 2 * singular * np.trace(covariance):
        size = float(np.abs(covariance).sum(axis=0).max())
        # A pivot may be small or large by the order of the columns alone; 1/cond is not.
        if dpocon(lower.T, size, uplo="U")[0] <= singular:
            return _pseudo_solve(covariance, difference)
    return cho_solve((lower, True), difference, check_finite=False)


def _pseudo_solve(covariance: Array, difference: Array) -> Array:
    """The limit of (Σ + δI)⁻¹m, up to length, as δ → 0.

    Where m leaves the range of Σ, the classes differ along directions in which neither varies, and
    those decide alone; otherwise it is Σ⁺m.
    """
    values, vectors = eigh(covariance, check_finite=False)
    kept = values > SINGULAR * len(values) * values[-1]
    inside = vectors[:, kept].T @ difference
    outside = difference - vectors[:, kept] @ inside
    if np.linalg.norm(outside) > 1e-6 * np.linalg.norm(difference):
        return outside
    return vectors[:, kept] @ (inside / values[kept])
