"""Nyström: φ(x) = K_hh^{−1/2} k(X_h, x) for h landmarks X_h, the paper's φ_K.

φ is written in the basis of the Cholesky factor, K_hh = LLᵀ: L^{−1}k instead of K_hh^{−1/2}k. The
two differ by a rotation, which no covariance, shrinkage or projection notices, and in this basis
the first features are those of the first landmarks. K_hh is not always invertible (erratum 3), so
a landmark that is a rounding error away from the span of those before it adds no feature. Small
pivots magnify the rounding of k, and single precision bears less of that than double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

Array = np.ndarray[Any, Any]


def whitening(gram: Array, dtype: np.dtype[Any]) -> Array:
    """L^{−⊤} of K_hh = LLᵀ                   (h, r), with r the rank kept."""
    gram = (gram + gram.T) / 2
    tolerance = 1e-10 if dtype == np.float64 else 1e-5
    try:
        L = np.linalg.cholesky(gram)
        kept = np.diag(L) ** 2 > tolerance * np.diag(gram)
    except np.linalg.LinAlgError:
        kept = np.zeros(len(gram), dtype=bool)
    if not kept.all():
        L, kept = _independent(gram, tolerance)
    r = len(L)
    W = np.zeros((len(gram), max(r, 1)))  # a kernel that is zero everywhere: one feature, zero
    W[kept, :r] = solve_triangular(L, np.eye(r), lower=True).T
    return W


def rank(whitening: Array, k: int) -> int:
    """How many features the first k landmarks have: those that no later landmark enters."""
    return max(int((~whitening[k:].any(axis=0)).sum()), 1)


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
