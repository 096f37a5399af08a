"""Nyström: φ(x) = K_hh^{−1/2} k(X_h, x) for h landmarks X_h, the paper's φ_K.

K_hh is not always invertible (erratum 3), so directions whose eigenvalue is a rounding error of
the largest are dropped. φ is written in the basis of the eigenvectors V: Λ^{−1/2}Vᵀk instead of
VΛ^{−1/2}Vᵀk. The two differ by a rotation, which no covariance, shrinkage or projection notices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

Array = np.ndarray[Any, Any]


def whitening(gram: Array, dtype: np.dtype[Any]) -> Array:
    """VΛ^{−1/2} of K_hh                     (h, r), with r the rank kept."""
    values, vectors = eigh((gram + gram.T) / 2)
    # Small eigenvalues magnify the rounding of k by 1/√λ; single precision bears less of it.
    tolerance = 1e-10 if dtype == np.float64 else 1e-5
    kept = values > tolerance * max(values[-1], 0.0)
    if not kept.any():  # a kernel that is zero everywhere: one feature that is zero everywhere
        return np.zeros((len(gram), 1))
    return np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))
