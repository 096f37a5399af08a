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

import math
import os
import re
from collections.abc import Callable
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.linalg import get_lapack_funcs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from ..drawing.parts import kernel_layer
from ..drawing.sampling import sample_rows
from ..engines.threads import Threads, chunks, dense, one_blas_thread
from ..errors import IndefiniteWarning, InputError, TooLargeError, warn
from ..estimators.eekm import EEKMClassifier
from ..estimators.schema import FINITE, Number, Rule
from ..estimators.tables import InMemory
from ..features.encoding import plain_encoding
from ..features.feature_map import FeatureMap
from ..features.kernels import Kernel, median_gamma
from ..features.layers import Features, Part
from ..features.scaling import SAMPLE_ROWS, fit_scaling
from .least_squares import LeastSquaresClassifier, Outputs, targets

Array = np.ndarray[Any, Any]


def gram(phi: FeatureMap, Z: Array, n_jobs: int | None) -> Array:
    """K of scaled rows                        (n, n): the one matrix of that size ever made."""
    layer = phi.only().in_precision(np.dtype(np.float64)).parts[0].layer
    n = len(Z)
    K = np.empty((n, n))

    def fill(s: slice) -> None:
        K[s] = layer(Z[s])
        if not np.isfinite(K[s]).all():
            raise InputError(
                "The kernel must give finite numbers; some are infinite or not a number. "
                "Check a kernel of your own, or scale the columns."
            )

    for _ in Threads(n_jobs)(partial(fill, s) for s in chunks(n, n)):
        pass
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
                "Choose another C, or a kernel that is positive definite."
            )
    nu, eta = solution[:, :-1], solution[:, -1]
    b = nu.sum(axis=0) / eta.sum()
    return nu - np.outer(eta, b), b, not failed


def memory_needed(n: int, d: int) -> int:
    """Bytes that a fit on n rows takes: K, and the rows in three forms."""
    return 8 * n * (n + 3 * d)


def free_memory() -> float:
    """Bytes the system can still give, within a container's limit; infinite where unknown."""
    free = math.inf
    if found := re.search(r"MemAvailable:\s+(\d+) kB", _text("/proc/meminfo")):
        free = 1024 * int(found[1])
    elif "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit, used = (_text(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current"))
    if limit.isdigit() and used.isdigit():
        cache = re.search(r"^inactive_file (\d+)", _text("/sys/fs/cgroup/memory.stat"), re.M)
        free = min(free, int(limit) - int(used) + (int(cache[1]) if cache else 0))
    return free


def _text(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


class LSSVMClassifier(LeastSquaresClassifier, ClassifierMixin, BaseEstimator):
    """Least Squares Support Vector Machine.

    Every training row is kept and has a multiplier; a fit needs the kernel between all pairs of
    rows (8·n² bytes) and about n³/3 operations. Where that is too much memory it is refused before
    anything is made; `EEKMClassifier` has no such limit.

    Parameters
    ----------
    C : float, default=1.0
        What an error costs: 1/C is added to the diagonal of K.
    kernel : {"rbf", "laplacian", "polynomial", "linear", "cosine", "tanimoto"} or callable, \
default="rbf"
        As for `EEKMClassifier`. A callable takes two rows and must be symmetric in them.
    gamma : float or "median", default="median"
        γ of the rbf, laplacian and polynomial kernels. "median" takes it from at most 500 rows, as
        `EEKMClassifier` does.
    balanced : bool, default=True
        Whether an error on a row costs C times the size of the largest class over that of the
        row's own, so that all classes count equally. Otherwise C for every row.
    scale : {"minmax", "standard", "quantile"} or None, default="minmax"
        How columns are brought to a common range. "minmax" is the paper's [0, 1].
    max_memory : float, optional
        Bytes that a fit may take; None is what the system has free.
    n_jobs : int, optional
        Threads. None is one, -1 all.
    random_state : int, RandomState instance or None, default=None
        Seeds the sample of rows that "median" and "quantile" are computed from.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted. The second is the positive class of a binary classifier.
    alpha_ : ndarray of shape (n_samples,)
        Multipliers of the rows whose weight is not zero; with more than two classes one row for
        each class.
    intercept_ : float
        b; with more than two classes one for each.
    gamma_ : float
        γ used.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, when X has some.

    See Also
    --------
    EEKMClassifier : A kernel classifier for any number of rows.

    References
    ----------
    J. A. K. Suykens and J. Vandewalle, "Least squares support vector machine classifiers", Neural
    Processing Letters, 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from extreme_entropy import LSSVMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cross_val_score(LSSVMClassifier(C=10.0, random_state=0), X, y).mean() > 0.95
    np.True_
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LeastSquaresClassifier._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel": EEKMClassifier._parameter_constraints["kernel"],
        "gamma": EEKMClassifier._parameter_constraints["gamma"],
        "balanced": ["boolean"],
        "max_memory": [Interval(Real, 0, None, closed="neither"), None],
    }

    _also_fitted: ClassVar[dict[str, Rule]] = {"gamma_": Number(-FINITE, FINITE)}

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Kernel | Callable[..., float] = "rbf",
        gamma: float | Literal["median"] = "median",
        balanced: bool = True,
        scale: Literal["minmax", "standard", "quantile"] | None = "minmax",
        max_memory: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.balanced = balanced
        self.scale = scale
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def alpha_(self) -> Array:
        """α of each row, (n,); with more than two classes one row of them for each class."""
        check_is_fitted(self)
        return self._by_column(self._outputs.readout.T)

    @property
    def intercept_(self) -> Any:
        """b; with more than two classes one for each."""
        check_is_fitted(self)
        return self._by_column(self._outputs.bias)

    def _solve(self, table: InMemory, labels: Array, n_classes: int) -> Outputs:
        self._refuse_too_many(*table.X.shape)
        phi, Z, gamma = self._kernel_over(table)
        K = gram(phi, Z, self.n_jobs)
        with one_blas_thread():
            ridges = 1 / (self.C * self._row_weight(labels, table.weight))
            alpha, b, definite = solve_bordered(K, ridges, targets(n_classes)[labels])
        if not definite:
            warn(
                "K + I/C is not positive definite to rounding, so it was solved as an indefinite "
                f"matrix. Either the kernel is not positive definite, or C = {self.C:g} is so "
                "large that rounding matters: choose a smaller one.",
                IndefiniteWarning,
            )
        self.gamma_ = gamma
        return Outputs(phi, np.ascontiguousarray(alpha), b)

    def _row_weight(self, labels: Array, weight: Array | None) -> Array:
        """w: by the row's own class, never by one-against-the-rest, so that all share K + D."""
        counts = np.bincount(labels, weight)
        w = (counts.max() / counts)[labels] if self.balanced else np.ones(len(labels))
        return w if weight is None else w * weight

    def _kernel_over(self, table: InMemory) -> tuple[FeatureMap, Array, float]:
        """φ(x) = k(x, each row of X), the scaled rows, and γ."""
        X, (n, d) = table.X, table.X.shape
        content, sampled = sample_rows(table, self.random_state, SAMPLE_ROWS)
        sample = sampled.rows
        scaling = fit_scaling(self.scale, table.stats, sample)
        gamma = self.gamma
        if isinstance(gamma, str):
            gamma = median_gamma(self.kernel, scaling(sample))
        # In double precision whatever the rows: the condition number is about C·n.
        Z = np.empty((n, d))
        for s in chunks(n, d):
            Z[s] = scaling(dense(X[s]).astype(np.float64, copy=False))
        layer = kernel_layer(self.kernel, Z, gamma, self.scale)
        encoding = plain_encoding(X.shape[1])
        features = Features((Part(layer),))
        return FeatureMap.uncut(content, encoding, scaling, features), Z, gamma

    def _refuse_too_many(self, n: int, d: int) -> None:
        needed = memory_needed(n, d)
        limit = free_memory() if self.max_memory is None else self.max_memory
        if needed > limit:
            source = "are free" if self.max_memory is None else "are allowed by max_memory"
            raise TooLargeError(
                "The kernel between all pairs of rows must fit in memory: LS-SVM would need "
                f"{needed / 1e9:.3g} GB for {n} rows of {d} columns, and {limit / 1e9:.3g} GB "
                f"{source}. Use EEKMClassifier, or a sample of the rows."
            )
