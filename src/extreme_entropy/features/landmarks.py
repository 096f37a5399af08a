"""Nyström: φ(x) = K_hh^{−1/2} k(X_h, x) for h landmarks X_h, the paper's φ_K.

φ is written in the basis of the Cholesky factor, K_hh = LLᵀ: L^{−1}k instead of K_hh^{−1/2}k. The
two differ by a rotation, which no covariance, shrinkage or projection notices, and in this basis
the first features are those of the first landmarks. K_hh is not always invertible (erratum 3).
Where a landmark is a combination of others but for rounding, a vanishing share of the mean diagonal
is added to the diagonal, so that the features of such landmarks hardly vary.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

Array = np.ndarray[Any, Any]


def whitening(gram: Array, dtype: np.dtype[Any]) -> Array:
    """L^{−⊤} of K_hh = LLᵀ                   (h, h)."""
    gram = (gram + gram.T) / 2
    size = float(np.abs(gram.diagonal()).mean()) or 1.0  # a kernel may be zero everywhere
    # Small pivots magnify the rounding of k, and single precision bears less of that.
    least, share = (1e-10, 1e-8) if dtype == np.float64 else (1e-5, 1e-5)
    added = 0.0
    while True:
        gram.flat[:: len(gram) + 1] += added
        try:
            L = np.linalg.cholesky(gram)
        except np.linalg.LinAlgError:
            L = None
        if L is not None and (added or np.diag(L).min() ** 2 > least * size):
            return np.ascontiguousarray(solve_triangular(L, np.eye(len(L)), lower=True).T)
        # Several times for a kernel of a user's own that is not positive definite.
        added = 10 * added or share * size
