"""LS-SVM: a kernel classifier whose α and b solve one linear system.

    [ 0    1ᵀ   ] [b]   [0]
    [ 1   K + D ] [α] = [y],    D = diag(1 / (C w_i)),    f(x) = Σ α_i k(x_i, x) + b

This is the optimum of ½‖β‖² + (C/2) Σ w_i ξ_i² with errors ξ_i = y_i − f(x_i). Suykens' other form
has Ω = yyᵀ∘K + D, y in the border and ones on the right; its multipliers are y_i α_i and f is the
same. With A = K + D, Aη = 1 and Aν = y (Suykens and Vandewalle, 1999):

    b = 1ᵀν / 1ᵀη,    α = ν − bη

so that one factorisation of A serves every column of y.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import get_lapack_funcs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval

from extreme_entropy.errors import InputError, TooLargeError

from .errors import IndefiniteWarning
from .least_squares import LeastSquaresClassifier, Outputs

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class KernelRows:
    """z ↦ exp(−γ‖z−x_i‖²) for each training row."""

    rows: Array
    gamma: float

    def __call__(self, Z: Array) -> Array:
        return np.asarray(rbf_kernel(Z, self.rows, gamma=self.gamma))

    def matrix(self, batch: int = 256) -> Array:
        """K: the one array of n² numbers ever made, filled in batches of rows."""
        K = np.empty((len(self.rows), len(self.rows)))
        for s in gen_batches(len(K), batch):
            K[s] = self(self.rows[s])
        return K


def solve_bordered(K: Array, ridges: Array, Y: Array) -> tuple[Array, Array, bool]:
    """α (n, k), b (k,), and whether K + D is positive definite. K is overwritten."""
    diagonal = K.diagonal() + ridges
    np.fill_diagonal(K, diagonal)
    A = K.T  # by columns, as LAPACK wants it, or it would be copied
    right = np.column_stack([Y, np.ones(len(K))])
    potrf, potrs, sysv, sysv_lwork = get_lapack_funcs(
        ("potrf", "potrs", "sysv", "sysv_lwork"), (A, right)
    )
    factor, failed = potrf(A, lower=True, clean=False, overwrite_a=True)
    if not failed:
        solution, _ = potrs(factor, right, lower=True)
    else:
        # The failed attempt has used the lower triangle only: the upper one is still K's.
        np.fill_diagonal(K, diagonal)
        work, _ = sysv_lwork(len(K), lower=False)
        _, _, solution, singular = sysv(A, right, int(work), lower=False, overwrite_a=True)
        if singular:
            raise InputError(
                "K + D must be invertible; an eigenvalue of the kernel cancels 1/C. "
                "Choose another C."
            )
    nu, eta = solution[:, :-1], solution[:, -1]
    b = nu.sum(axis=0) / eta.sum()
    return nu - np.outer(eta, b), b, not failed


def memory_needed(n: int, d: int) -> int:
    """Bytes that a fit on n rows takes: K, and the rows in three forms."""
    return 8 * n * (n + 3 * d)


class LSSVMClassifier(LeastSquaresClassifier):
    """Least Squares Support Vector Machine with the kernel exp(−γ‖x−x'‖²).

    Every training row is kept and has a multiplier; a fit needs the kernel between all pairs of
    rows (8·n² bytes) and about n³/3 operations. Where that is too much memory it is refused before
    anything is made; `EEKMClassifier` has no such limit.

    Parameters
    ----------
    C : float, default=1.0
        What an error costs: 1/C is added to the diagonal of K.
    gamma : float, default=1.0
        γ of the kernel.
    balanced : bool, default=True
        Whether an error on a row costs C times the size of the largest class over that of the
        row's own, so that all classes count equally. Otherwise C for every row.
    max_memory : float, default=8e9
        Bytes that a fit may take.

    Attributes
    ----------
    alpha_ : ndarray of shape (n_samples,)
        Multipliers of the rows whose weight is not zero; with more than two classes one row for
        each class.
    intercept_ : float
        b; with more than two classes one for each.

    References
    ----------
    J. A. K. Suykens and J. Vandewalle, "Least squares support vector machine classifiers", Neural
    Processing Letters, 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from extreme_entropy_paper import LSSVMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cross_val_score(LSSVMClassifier(C=10.0), X, y).mean() > 0.95
    np.True_
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: [Interval(Real, 0, None, closed="neither")]
            for name in ("C", "gamma", "max_memory")
        },
        "balanced": ["boolean"],
    }

    def __init__(
        self, C: float = 1.0, *, gamma: float = 1.0, balanced: bool = True, max_memory: float = 8e9
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.balanced = balanced
        self.max_memory = max_memory

    @property
    def alpha_(self) -> Array:
        """α of each row, (n,); with more than two classes one row of them for each class."""
        return self._readout

    @property
    def intercept_(self) -> Any:
        """b; with more than two classes one for each."""
        return self._outputs.bias if len(self._outputs.bias) > 1 else self._outputs.bias[0]

    def _solve(self, Z: Array, T: Array, labels: Array, weight: Array) -> Outputs:
        n, d = Z.shape
        if memory_needed(n, d) > self.max_memory:
            raise TooLargeError(
                "The kernel between all pairs of rows must fit in memory: LS-SVM would need "
                f"{memory_needed(n, d) / 1e9:.3g} GB for {n} rows of {d} columns, and "
                f"{self.max_memory / 1e9:.3g} GB are allowed by max_memory. "
                "Use EEKMClassifier, or a sample of the rows."
            )
        kernel = KernelRows(Z, self.gamma)
        alpha, b, definite = solve_bordered(kernel.matrix(), 1 / self._row_costs(labels, weight), T)
        if not definite:
            warnings.warn(
                "K + I/C is not positive definite to rounding, so it was solved as an indefinite "
                f"matrix. C = {self.C:g} is so large that rounding matters: choose a smaller one.",
                IndefiniteWarning,
                stacklevel=3,
            )
        return Outputs(kernel, alpha, b)

    def _row_costs(self, labels: Array, weight: Array) -> Array:
        """C·w: by the row's own class, never by one-against-the-rest, so that all share K + D."""
        counts = np.bincount(labels, weight)
        w = (counts.max() / counts)[labels] if self.balanced else 1.0
        return self.C * w * weight
