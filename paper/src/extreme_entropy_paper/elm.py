"""ELM and WELM: random neurons and least squares, the paper's β = (B·H)⁺ (B·T).

H = φ(X), T holds ±1, and B_i² = w_i is the row's weight: 1 in ELM, one over the size of the row's
class in WELM. Where C is given, I/C is added to HᵀWH: h more rows I/√C whose targets are 0.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.linalg import lstsq, qr
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions

from .least_squares import LeastSquaresClassifier, Outputs
from .neurons import PaperNeurons

Array = np.ndarray[Any, Any]


def solve_beta(
    neurons: PaperNeurons, Z: Array, T: Array, weight: Array, ridge: float, block: int
) -> Array:
    """(B·H)⁺ (B·T)                             (h, k), in blocks of so many rows.

    Of a block [B·H | B·T] = QR only the triangle R goes on to the next: Q changes no length. The
    singular values are those of B·H itself, and LAPACK's gelsd takes the minimum-norm solution.
    """
    h = neurons.size
    rows = h if ridge else 0
    R = np.sqrt(ridge) * np.eye(rows, h + T.shape[1])
    root = np.sqrt(weight)[:, np.newaxis]
    for s in gen_batches(len(Z), block):
        R = extended(R, neurons, Z[s], T[s], root[s])
    cut = max(len(Z) + rows, h) * np.finfo(float).eps  # as in scipy.linalg.pinv
    return np.asarray(lstsq(R[:, :h], R[:, h:], cond=cut, lapack_driver="gelsd")[0])


def extended(R: Array, neurons: PaperNeurons, Z: Array, T: Array, root: Array) -> Array:
    """The triangle of the rows in R and of B·[H | T] under them; all rows while they are few."""
    n, h = len(R), neurons.size
    rows = np.empty((n + len(T), R.shape[1]), order="F")  # column by column, as LAPACK wants it
    rows[:n], rows[n:, :h], rows[n:, h:] = R, neurons(Z), T
    rows[n:] *= root
    if len(rows) <= rows.shape[1]:
        return rows
    return np.asarray(qr(rows, mode="raw", overwrite_a=True, check_finite=False)[1])


class ELMClassifier(LeastSquaresClassifier):
    """Extreme Learning Machine: least squares on a layer of random neurons.

    The neurons are those of `EEMClassifier.paper` with the same `random_state`. There is no
    threshold beside the neurons' own, as in the paper.

    Parameters
    ----------
    n_hidden : int, default=500
        Number of neurons h. A fit costs about n·h² operations, and memory does not grow with n.
    activation : {"sig", "nsig", "rbf"}, default="sig"
        The paper's neurons.
    C : float, optional
        Adds I/C to HᵀWH. None is the pure pseudo-inverse, the paper's.
    random_state : int, RandomState instance or None, default=None
        Seeds the neurons.

    Attributes
    ----------
    beta_ : ndarray of shape (h,)
        Weights of the neurons; with more than two classes one row for each.

    References
    ----------
    G.-B. Huang, Q.-Y. Zhu and C.-K. Siew, "Extreme learning machine: theory and applications",
    Neurocomputing, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from extreme_entropy_paper import ELMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cross_val_score(ELMClassifier(50, activation="nsig", random_state=0), X, y).mean() > 0.9
    np.True_
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions({"sig", "nsig", "rbf"})],
        "C": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_hidden: int = 500,
        *,
        activation: Literal["sig", "nsig", "rbf"] = "sig",
        C: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.activation = activation
        self.C = C
        self.random_state = random_state

    @property
    def beta_(self) -> Array:
        """β on φ(x), (h,); with more than two classes one row for each."""
        return self._readout

    def _solve(self, Z: Array, T: Array, labels: Array, weight: Array) -> Outputs:
        # As EEMClassifier draws them: both have the very same neurons.
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        neurons = PaperNeurons.draw(self.activation, self.n_hidden, Z.shape[1], rng)
        by_class = self._class_weight(np.bincount(labels, weight))
        ridge = 0.0 if self.C is None else 1 / self.C
        # The triangle carried along adds a sixteenth of work.
        block = max(16 * (neurons.size + T.shape[1]), 8192)
        beta = solve_beta(neurons, Z, T, by_class[labels] * weight, ridge, block)
        return Outputs(neurons, beta, np.zeros(T.shape[1]))

    def _class_weight(self, counts: Array) -> Array:
        """What a row of each class weighs, where a class has `counts` rows."""
        return np.ones(len(counts))


class WELMClassifier(ELMClassifier):
    """Weighted Extreme Learning Machine: an ELM in which all classes count equally.

    Each row weighs one over the rows of its class, so that every class weighs 1 and C means the
    same for any number of rows. Parameters and attributes are those of `ELMClassifier`.

    References
    ----------
    W. Zong, G.-B. Huang and Y. Chen, "Weighted extreme learning machine for imbalance learning",
    Neurocomputing, 2013.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import recall_score
    >>> from extreme_entropy_paper import ELMClassifier, WELMClassifier
    >>> X, y = make_classification(2000, weights=[0.95], class_sep=0.5, random_state=0)
    >>> plain, weighted = (
    ...     kind(50, random_state=0).fit(X, y) for kind in (ELMClassifier, WELMClassifier)
    ... )
    >>> recall_score(y, plain.predict(X)) < 0.5 < recall_score(y, weighted.predict(X))
    True
    """

    def _class_weight(self, counts: Array) -> Array:
        return 1 / counts
