"""Nyström: φ(x) = K_hh^{−1/2} k(X_h, x) for h landmarks X_h, the paper's φ_K.

K_hh is not always invertible (erratum 3), so directions whose eigenvalue is a rounding error of
the largest are dropped. φ is written in the basis of the eigenvectors V: Λ^{−1/2}Vᵀk instead of
VΛ^{−1/2}Vᵀk. The two differ by a rotation, which no covariance, shrinkage or projection notices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh, solve_triangular

Array = np.ndarray[Any, Any]


def whitening(gram: Array, dtype: np.dtype[Any]) -> Array:
    """VΛ^{−1/2} of K_hh                     (h, r), with r the rank kept."""
    values, vectors = eigh((gram + gram.T) / 2)
    tolerance = _tolerance(dtype)
    kept = values > tolerance * max(values[-1], 0.0)
    if not kept.any():  # a kernel that is zero everywhere: one feature that is zero everywhere
        return np.zeros((len(gram), 1))
    return np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))


def nested_whitening(gram: Array, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """L^{−⊤} of K_hh = LLᵀ                  (h, r), and r for each number of landmarks   (h + 1,).

    L^{−1}k is φ in yet another basis: the one in which the first features are those of the first
    landmarks. A landmark that is a rounding error away from the span of those before it adds none.
    """
    h = len(gram)
    try:
        L = np.linalg.cholesky(gram)
        spans = np.diag(L) ** 2 > _tolerance(dtype) * np.diag(gram)
    except np.linalg.LinAlgError:
        spans = np.zeros(h, dtype=bool)
    if not spans.all():
        L, spans = _independent(gram, _tolerance(dtype))
    ranks = np.concatenate([[0], np.cumsum(spans)])
    W = np.zeros((h, max(ranks[-1], 1)))  # a kernel that is zero everywhere: one feature, zero
    W[spans, : ranks[-1]] = solve_triangular(L, np.eye(ranks[-1]), lower=True).T
    return W, np.maximum(ranks, 1)


def _independent(gram: Array, tolerance: float) -> tuple[Array, Array]:
    """The Cholesky factor of the landmarks outside the span of those before, and which they are."""
    h = len(gram)
    L, kept = np.zeros((h, h)), np.zeros(h, dtype=bool)
    r = 0
    for j in range(h):
        row = solve_triangular(L[:r, :r], gram[kept, j], lower=True) if r else np.empty(0)
        rest = gram[j, j] - row @ row
        if rest > tolerance * gram[j, j]:
            L[r, :r], L[r, r] = row, np.sqrt(rest)
            kept[j] = True
            r += 1
    return L[:r, :r], kept


def _tolerance(dtype: np.dtype[Any]) -> float:
    """Small eigenvalues magnify the rounding of k by 1/√λ; single precision bears less of it."""
    return 1e-10 if dtype == np.float64 else 1e-5
