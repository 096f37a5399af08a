"""ELM and WELM: random neurons and least squares, the paper's β = (B·H)⁺ (B·T).

H = φ(X), T holds ±1, and B_i² = w_i is the row's weight: 1 in ELM, one over the size of the row's
class in WELM. The same β in two ways:

    pinv    least squares on the rows of B·H, block by block
    sums    (HᵀWH)⁺ HᵀWT, with HᵀWH = Σ_c w_c (S_c + n_c m_c m_cᵀ) and HᵀWT = Σ_c w_c n_c m_c t_cᵀ

The second needs of the rows only n, m and S of each class, which is what EEM keeps. Where C is
given, I/C is added to HᵀWH; for "pinv" that is h more rows I/√C whose targets are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.linalg import eigh, lstsq, qr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..drawing.sampling import Sampled
from ..drawing.specification import NeuronSpec
from ..engines.threads import Threads, chunks, dense, one_blas_thread
from ..estimators.eem import EEMClassifier
from ..estimators.tables import InMemory
from ..features.feature_map import FeatureMap
from ..features.neurons import Activation
from ..moments.summary import FoldMoments
from .least_squares import LeastSquaresClassifier, Outputs, targets

Array = np.ndarray[Any, Any]

EPS = float(np.finfo(np.float64).eps)
BLOCK = 16  # rows of a block for each column: the triangle carried along adds a sixteenth of work
LEAST_BLOCK = 8192


def beta_from_rows(
    phi: FeatureMap, X: Any, T: Array, weight: Array, ridge: float, n_jobs: int | None
) -> Array:
    """(B·H)⁺ (B·T)                             (h, k).

    Of a block [B·H | B·T] = QR only the triangle R goes on to the next: Q changes no length. The
    singular values are those of B·H itself, and LAPACK's gelsd takes the minimum-norm solution.
    """
    n, h, k = X.shape[0], phi.h, T.shape[1]
    phi, root = phi.in_precision(X.dtype), np.sqrt(weight)[:, np.newaxis]
    kept = np.sqrt(ridge) * np.eye(h if ridge else 0, h + k)
    size = max(BLOCK * (h + k), LEAST_BLOCK)
    for start in range(0, n, size):
        s = slice(start, start + size)
        rows = below(kept, phi, X[s], T[s], root[s], n_jobs)
        with one_blas_thread():
            kept = triangle(rows)
    # As in scipy.linalg.pinv; neurons in single precision have no smaller directions to trust.
    cut = max(max(n + (h if ridge else 0), h) * EPS, 4 * np.finfo(X.dtype).eps)
    with one_blas_thread():
        beta: Array = lstsq(kept[:, :h], kept[:, h:], cond=cut, lapack_driver="gelsd")[0]
    return beta


def below(kept: Array, phi: FeatureMap, X: Any, T: Array, root: Array, n_jobs: int | None) -> Array:
    """What was kept and under it B·[H | T] of more rows, column by column as LAPACK wants it."""
    rows = np.empty((len(kept) + len(T), kept.shape[1]), order="F")
    rows[: len(kept)] = kept
    H, BT = np.hsplit(rows[len(kept) :], [phi.h])
    features = phi.only()

    def fill(s: slice) -> None:
        H[s] = root[s] * features(phi.scaled(dense(X[s])))
        BT[s] = root[s] * T[s]

    for _ in Threads(n_jobs)(partial(fill, s) for s in chunks(len(T), phi.d, phi.h)):
        pass
    return rows


def triangle(rows: Array) -> Array:
    """R of rows = QR; rows themselves where they are no more than columns. May overwrite rows."""
    if len(rows) <= rows.shape[1]:
        return rows
    _, R = qr(rows, mode="raw", overwrite_a=True, check_finite=False)
    return np.asarray(R)


def beta_from_sums(
    moments: FoldMoments, T: Array, class_weight: Array, ridge: float, dtype: np.dtype[Any]
) -> Array:
    """(HᵀWH + I·ridge)⁺ HᵀWT                   (h, k), for rows of that precision.

    Eigenvalues that are rounding beside the largest are dropped. They are squares of singular
    values, so that this drops more than `beta_from_rows` does.
    """
    parts = [moments.of_class(c) for c in range(moments.n_classes)]
    A = np.zeros_like(parts[0].scatter)
    b = np.zeros((len(A), T.shape[1]))
    for part, w, t in zip(parts, class_weight, T, strict=True):
        A += w * (part.scatter + part.n * np.outer(part.mean, part.mean))
        b += w * part.n * np.outer(part.mean, t)
    values, vectors = eigh(A, overwrite_a=True)
    values = np.maximum(values, 0) + ridge
    # Rounding of single neurons averages out over rows, which is what the hundredth stands for.
    kept = values > max(10 * EPS, np.finfo(dtype).eps / 100) * values[-1]
    V = vectors[:, kept]
    beta: Array = V @ ((V.T @ b) / values[kept, np.newaxis])
    return beta


class ELMClassifier(LeastSquaresClassifier, ClassifierMixin, BaseEstimator):
    """Extreme Learning Machine: least squares on a layer of random neurons.

    The neurons are those of `EEMClassifier` with the same `random_state`. There is no threshold
    beside the neurons' own, as in the paper.

    Parameters
    ----------
    n_hidden : int, default=500
        Number of neurons h. A fit costs about n·h² operations.
    activation : {"mixed", "sig", "nsig", "rbf", "tanimoto", "sorensen", "relu"} or callable, \
default="sig"
        As for `EEMClassifier`. "sig", "nsig" and "rbf" are the paper's.
    scale : {"minmax", "standard", "quantile"} or None, default="minmax"
        How columns are brought to a common range. "minmax" is the paper's [0, 1].
    C : float, optional
        Adds I/C to HᵀWH. None is the pure pseudo-inverse, the paper's.
    solver : {"pinv", "sums"}, default="pinv"
        "pinv" solves by the singular values of φ of the rows. "sums" is several times
        faster and drops those below 5e-8 of the largest: see docs/guide/paper.md.
        Neither needs more memory for more rows.
    n_jobs : int, optional
        Threads. None is one, -1 all.
    random_state : int, RandomState instance or None, default=None
        Seeds the neurons.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted. The second is the positive class of a binary classifier.
    beta_ : ndarray of shape (h,)
        Weights of the neurons; with more than two classes one row for each.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, when X has some.

    See Also
    --------
    WELMClassifier : The same with both classes counting equally.
    EEMClassifier : Extreme Entropy Machines on the same neurons.

    References
    ----------
    G.-B. Huang, Q.-Y. Zhu and C.-K. Siew, "Extreme learning machine: theory and applications",
    Neurocomputing, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from extreme_entropy import ELMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cross_val_score(ELMClassifier(50, activation="nsig", random_state=0), X, y).mean() > 0.9
    np.True_
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LeastSquaresClassifier._parameter_constraints,
        "n_hidden": EEMClassifier._parameter_constraints["n_hidden"],
        "activation": EEMClassifier._parameter_constraints["activation"],
        "C": [Interval(Real, 0, None, closed="neither"), None],
        "solver": [StrOptions({"pinv", "sums"})],
    }

    def __init__(
        self,
        n_hidden: int = 500,
        *,
        activation: Activation | Callable[..., Array] = "sig",
        scale: Literal["minmax", "standard", "quantile"] | None = "minmax",
        C: float | None = None,
        solver: Literal["pinv", "sums"] = "pinv",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.activation = activation
        self.scale = scale
        self.C = C
        self.solver = solver
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def beta_(self) -> Array:
        """β on φ(x), (h,); with more than two classes one row for each."""
        check_is_fitted(self)
        return self._by_column(self._outputs.readout.T)

    def _solve(self, table: InMemory, labels: Array, n_classes: int) -> Outputs:
        X, weight = table.X, table.weight
        spec = NeuronSpec(self.n_hidden, self.activation, self.scale)
        phi = spec.draw(Sampled.of(table, self.random_state, [spec], table.labels))
        class_weight = self._class_weight(np.bincount(labels, weight))
        ridge = 0.0 if self.C is None else 1 / self.C
        T = targets(n_classes)
        if self.solver == "sums":
            [[moments]] = table.summarise(phi, table.labels, 1)
            with one_blas_thread():
                beta = beta_from_sums(moments, T, class_weight, ridge, X.dtype)
        else:
            row_weight = class_weight[labels] * (1.0 if weight is None else weight)
            beta = beta_from_rows(phi, X, T[labels], row_weight, ridge, self.n_jobs)
        return Outputs(phi, np.ascontiguousarray(beta, X.dtype), np.zeros(T.shape[1]))

    def _class_weight(self, counts: Array) -> Array:
        """What a row of each class weighs, where a class has `counts` rows."""
        return np.ones(len(counts))


class WELMClassifier(ELMClassifier):
    """Weighted Extreme Learning Machine: an ELM in which all classes count equally.

    Each row weighs one over the rows of its class, so that every class weighs 1 and C means the
    same for any number of rows.

    Parameters
    ----------
    n_hidden : int, default=500
        Number of neurons h.
    activation : {"mixed", "sig", "nsig", "rbf", "tanimoto", "sorensen", "relu"} or callable, \
default="sig"
        As for `EEMClassifier`. "sig", "nsig" and "rbf" are the paper's.
    scale : {"minmax", "standard", "quantile"} or None, default="minmax"
        How columns are brought to a common range.
    C : float, optional
        Adds I/C to HᵀWH. None is the pure pseudo-inverse, the paper's.
    solver : {"pinv", "sums"}, default="pinv"
        On the rows or on their sums, as for `ELMClassifier`.
    n_jobs : int, optional
        Threads. None is one, -1 all.
    random_state : int, RandomState instance or None, default=None
        Seeds the neurons.

    Attributes
    ----------
    classes_, beta_, n_features_in_, feature_names_in_
        As for `ELMClassifier`.

    See Also
    --------
    EEMClassifier : Extreme Entropy Machines on the same neurons.

    References
    ----------
    W. Zong, G.-B. Huang and Y. Chen, "Weighted extreme learning machine for imbalance learning",
    Neurocomputing, 2013.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import recall_score
    >>> from extreme_entropy import ELMClassifier, WELMClassifier
    >>> X, y = make_classification(2000, weights=[0.95], class_sep=0.5, random_state=0)
    >>> plain, weighted = (
    ...     kind(50, random_state=0).fit(X, y) for kind in (ELMClassifier, WELMClassifier)
    ... )
    >>> recall_score(y, plain.predict(X)) < 0.5 < recall_score(y, weighted.predict(X))
    True
    """

    def _class_weight(self, counts: Array) -> Array:
        return 1 / counts
