"""Nyström: φ(x) = K_hh^{−1/2} k(X_h, x) for h landmarks X_h, the paper's φ_K.

φ is written in the basis of the Cholesky factor, K_hh = LLᵀ: L^{−1}k instead of K_hh^{−1/2}k. The
two differ by a rotation, which no covariance, shrinkage or projection notices, and in this basis
the first features are those of the first landmarks. K_hh is not always invertible (erratum 3), so
a vanishing share of its mean diagonal is added to the diagonal: landmarks that are combinations of
others then have features that hardly vary.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

Array = np.ndarray[Any, Any]


def whitening(gram: Array, dtype: np.dtype[Any]) -> Array:
    """L^{−⊤} of K_hh = LLᵀ                   (h, h)."""
    gram = (gram + gram.T) / 2
    # Small pivots magnify the rounding of k, and single precision bears less of that.
    share = 1e-8 if dtype == np.float64 else 1e-5
    added = share * float(np.abs(gram.diagonal()).mean()) or 1.0  # a kernel may be zero everywhere
    while True:
        gram.flat[:: len(gram) + 1] += added
        try:
            L = np.linalg.cholesky(gram)
        except np.linalg.LinAlgError:  # a kernel of a user's own that is not positive definite
            added *= 10.0
        else:
            return np.ascontiguousarray(solve_triangular(L, np.eye(len(L)), lower=True).T)
