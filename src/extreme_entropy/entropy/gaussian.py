"""Rényi's quadratic entropies and the Cauchy–Schwarz divergence of Gaussians, in closed form.

    H₂(f)     = −ln∫f² = ½[ h ln 4π + ln|Σ| ]
    H₂×(f, g) = −ln∫fg = ½[ h ln 2π + ln|Σ₊+Σ₋| + mᵀ(Σ₊+Σ₋)⁻¹m ],      m = m₊−m₋

    D_CS(f, g) = ln∫f² + ln∫g² − 2 ln∫fg = 2H₂×(f, g) − H₂(f) − H₂(g)
               = ln( |½(Σ₊+Σ₋)| / √(|Σ₊||Σ₋|) ) + mᵀ(Σ₊+Σ₋)⁻¹m
               = ln( ½(S₊+S₋) / √(S₊S₋) ) + (m₊−m₋)² / (S₊+S₋)             in one dimension

D_CS is 0 exactly when the two coincide. The paper prints another constant and the log term with the
other sign; this form is the one that numerical integration confirms (docs/guide/paper.md).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..errors import InputError
from ..shapes import Array


def quadratic_entropy(covariance: Array | float) -> float:
    """H₂ = −ln∫f² of a Gaussian; its mean does not matter.

    Parameters
    ----------
    covariance : float or array of shape (h, h)
        The variance of one variable, or the covariance matrix.

    Returns
    -------
    float
        In nats; it grows with the spread and may be negative.

    Examples
    --------
    >>> round(quadratic_entropy(1.0), 4)
    1.2655
    >>> round(quadratic_entropy([[1.0, 0.0], [0.0, 1.0]]), 4)
    2.531
    """
    factor = _cholesky(_matrix(covariance))
    return len(factor) * math.log(4 * math.pi) / 2 + _half_log_det(factor)


def cross_entropy(
    mean_a: Array | float,
    covariance_a: Array | float,
    mean_b: Array | float,
    covariance_b: Array | float,
) -> float:
    """H₂× = −ln∫fg of N(mean_a, covariance_a) and N(mean_b, covariance_b).

    Parameters
    ----------
    mean_a, mean_b : float or array of shape (h,)
        The means.
    covariance_a, covariance_b : float or array of shape (h, h)
        The variances of one variable, or the covariance matrices.

    Returns
    -------
    float
        In nats; of a Gaussian with itself it is `quadratic_entropy`.

    Examples
    --------
    >>> round(cross_entropy(0.0, 1.0, 0.0, 1.0), 4)
    1.2655
    >>> round(cross_entropy(0.0, 1.0, 2.0, 1.0), 4)
    2.2655
    """
    step, a, b = _shaped(mean_a, covariance_a, mean_b, covariance_b)
    factor = _cholesky(a + b)
    spread = len(factor) * math.log(2 * math.pi) / 2 + _half_log_det(factor)
    return spread + _squared_length(factor, step) / 2


def cauchy_schwarz_divergence(
    mean_a: Array | float,
    covariance_a: Array | float,
    mean_b: Array | float,
    covariance_b: Array | float,
) -> float:
    """D_CS of N(mean_a, covariance_a) and N(mean_b, covariance_b).

    Parameters
    ----------
    mean_a, mean_b : float or array of shape (h,)
        The means.
    covariance_a, covariance_b : float or array of shape (h, h)
        The variances of one variable, or the covariance matrices.

    Returns
    -------
    float
        In nats: 0 where the two coincide, positive elsewhere, and symmetric.

    Examples
    --------
    >>> cauchy_schwarz_divergence(0.0, 1.0, 0.0, 1.0)
    0.0
    >>> round(cauchy_schwarz_divergence(1.3, 0.4, -0.7, 2.1), 4)
    1.9103
    >>> narrow, wide = [[0.4, 0.0], [0.0, 1.0]], [[2.1, 0.0], [0.0, 1.0]]
    >>> round(cauchy_schwarz_divergence([1.3, 0.0], narrow, [-0.7, 0.0], wide), 4)
    1.9103
    """
    step, a, b = _shaped(mean_a, covariance_a, mean_b, covariance_b)
    # The mean of the two, not their sum: of equal covariances it is that covariance, to the bit.
    factor = _cholesky((a + b) / 2)
    geometric = _half_log_det(_cholesky(a)) + _half_log_det(_cholesky(b))
    return max(2 * _half_log_det(factor) - geometric, 0.0) + _squared_length(factor, step) / 2


def _shaped(
    mean_a: Array | float, covariance_a: Array | float, mean_b: Array | float, covariance_b: Any
) -> tuple[Array, Array, Array]:
    """m = m_a − m_b and the two covariances, as arrays of fitting shapes."""
    step = np.atleast_1d(np.subtract(mean_a, mean_b, dtype=float))
    a, b = _matrix(covariance_a), _matrix(covariance_b)
    if not (a.shape == b.shape == (len(step), len(step))):
        raise InputError(
            "The means must have h entries and the covariances h × h; the means came with "
            f"{len(step)}, the covariances with shapes {a.shape} and {b.shape}."
        )
    return step, a, b


def _matrix(covariance: Array | float) -> Array:
    return np.atleast_2d(np.asarray(covariance, dtype=float))


def _cholesky(covariance: Array) -> Array:
    """L, with LLᵀ = Σ."""
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError as error:
        raise InputError(
            "A covariance must be a positive definite matrix, since a density without spread in "
            "some direction has no finite ∫f². Shrink it, or drop columns that repeat others."
        ) from error


def _half_log_det(factor: Array) -> float:
    """½ ln|Σ|, as a sum of logs so that nothing under- or overflows."""
    return float(np.log(np.diagonal(factor)).sum())


def _squared_length(factor: Array, step: Array) -> float:
    """mᵀΣ⁻¹m = ‖L⁻¹m‖²."""
    whitened = solve_triangular(factor, step, lower=True)
    return float(whitened @ whitened)
