"""Layers of random neurons: z ↦ G(z, w, b) for each of h neurons.

    sig       1 / (1 + exp(−⟨w,z⟩ + b))                  w, b uniform on [0, 1]
    nsig      1 / (1 + exp(−⟨w,z⟩/d + b))                w, b uniform on [0, 1]
    rbf       exp(−b‖w−z‖²)                              w, b uniform on [0, 1]
    tanimoto  ⟨w,z⟩ / (‖w‖² + ‖z‖² − ⟨w,z⟩)              w a sampled row
    sorensen  2⟨w,z⟩ / (‖w‖² + ‖z‖²)                     w a sampled row
    relu      max(0, ⟨w,z⟩ − b)                          w a sampled row, b uniform on [0, ‖w‖²]
    laplacian c·exp(−b‖w−z‖₁)                            w a sampled row, b = 10^u / median ‖z−z'‖₁
                                                         with u uniform on [−½, ½]
    mixed     c·exp(−b‖w−z‖²)                            w a sampled row, b = 10^u / median ‖z−z'‖²
              and in turn with those, until there are d  with u uniform on [−1, 1]
              c·⟨w, z − mean⟩                            w random and orthonormal

In "laplacian" and "mixed" layers c makes the mean variance of each kind 1 over the sampled rows, so
that shrinkage towards a multiple of the identity treats all kinds alike. All d linear neurons
together are the columns themselves, up to a rotation that no covariance or projection notices.

Each layer takes scaled rows (n, d) and returns (n, h) in the same precision, in the first rows of
`out` if it can. The first k of h neurons are the neurons that a layer of k would have.
`gradient` is as for kernels (`kernels.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import numpy as np
from scipy.special import expit

from ..shapes import LARGEST_LOG, Numbers, OneOf
from .codes import on_knots
from .kernels import Laplacian, differences, mean_sign
from .scaling import SAMPLE_ROWS, median_distance

Array = np.ndarray[Any, Any]

Uniform = Literal["sig", "nsig", "rbf"]  # drawn independently of the data
FromRows = Literal["tanimoto", "sorensen", "relu", "laplacian", "mixed"]  # weights are rows
Activation = Uniform | FromRows
UNIFORM: tuple[Uniform, ...] = get_args(Uniform)
FROM_ROWS: tuple[FromRows, ...] = get_args(FromRows)
BALANCED = 100  # radial neurons whose mean variance stands for that of all


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """1 / (1 + exp(−⟨w,z⟩ + b))."""

    weights: Annotated[Array, Numbers("seen", "hidden")]
    biases: Annotated[Array, Numbers("hidden")]

    @property
    def size(self) -> int:
        return self.weights.shape[1]

    def first(self, k: int) -> Sigmoid:
        """The layer of the first k neurons."""
        return Sigmoid(self.weights[:, :k], self.biases[:k])

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        H = np.matmul(Z, self.weights, out=None if out is None else out[: len(Z)])
        H -= self.biases
        return expit(H, out=H)

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """∂H_j/∂z = H_j (1 − H_j) w_j, summed over j with each column of A   (m, n, d)."""
        H = self(Z)
        slopes = H * (1 - H)
        return np.stack([(slopes * a) @ self.weights.T for a in A.T])


@dataclass(frozen=True, slots=True)
class Relu:
    """max(0, ⟨w,z⟩ − b)."""

    weights: Annotated[Array, Numbers("seen", "hidden")]
    biases: Annotated[Array, Numbers("hidden")]

    @property
    def size(self) -> int:
        return self.weights.shape[1]

    def first(self, k: int) -> Relu:
        """The layer of the first k neurons."""
        return Relu(self.weights[:, :k], self.biases[:k])

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        H = np.matmul(Z, self.weights, out=None if out is None else out[: len(Z)])
        H -= self.biases
        return np.maximum(H, 0, out=H)

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """∂H_j/∂z = w_j where ⟨w,z⟩ > b, summed over j with each column of A   (m, n, d)."""
        above = Z @ self.weights - self.biases
        active = (1 + mean_sign(above, None if half is None else half @ self.weights)) / 2
        return np.stack([(active * a) @ self.weights.T for a in A.T])


@dataclass(frozen=True, slots=True)
class Radial:
    """c·exp(−b‖w−z‖²), as exp(2b⟨w,z⟩ − b‖z‖² − b‖w‖² + ln c): one product, one exponential.

    Linear neurons ⟨w,z⟩ − b may stand among them, at every second place from the second on; they
    come from the same product and are spared the exponential.
    """

    columns: Annotated[Array, Numbers("seen+2", "hidden")]  # [2bw; −b; ln c − b‖w‖²], or [w; 0; −b]
    # ln c; an exponent is larger by rounding alone
    log_height: Annotated[float, Numbers(least=-LARGEST_LOG, most=LARGEST_LOG)] = 0.0
    n_linear: int = 0

    @classmethod
    def about(cls, centres: Array, widths: Array, log_height: float = 0.0) -> Radial:
        """Neurons with centres w (h, d) and widths b (h,)."""
        heights = log_height - widths * np.vecdot(centres, centres)
        columns = np.vstack([centres.T * (2 * widths), -widths, heights])
        return cls(np.ascontiguousarray(columns), log_height)

    @property
    def size(self) -> int:
        return self.columns.shape[1]

    def first(self, k: int) -> Radial:
        """The layer of the first k neurons."""
        return Radial(self.columns[:, :k], self.log_height, min(self.n_linear, k // 2))

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """∂H_j/∂z = 2b_j H_j (w_j − z), summed over j with each column of A   (m, n, d)."""
        H, d = self(Z), Z.shape[1]
        H[:, 1 : 2 * self.n_linear : 2] = 1.0  # the derivative of a linear neuron
        gradient = np.empty((A.shape[1], *Z.shape))
        for m, a in enumerate(A.T):
            slopes = H * a
            gradient[m] = slopes @ self.columns[:d].T + 2 * Z * (slopes @ self.columns[d])[:, None]
        return gradient

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        n, d = Z.shape
        rows = np.ones((n, d + 2), dtype=Z.dtype)
        rows[:, :d] = Z
        rows[:, d] = np.vecdot(Z, Z)
        H = np.matmul(rows, self.columns, out=None if out is None else out[:n])
        linear = H[:, 1 : 2 * self.n_linear : 2].copy()
        # The exponential of whole rows is faster than of parts of them.
        np.exp(np.minimum(H, Z.dtype.type(self.log_height), out=H), out=H)
        H[:, 1 : 2 * self.n_linear : 2] = linear
        return H


@dataclass(frozen=True, slots=True)
class Similarity:
    """Tanimoto's or Sørensen's similarity to the centres, for overlaps of sets and fingerprints.

    Two empty rows are alike: their similarity is 1.
    """

    kind: Annotated[str, OneOf("tanimoto", "sorensen")]
    centres: Annotated[Array, Numbers("seen", "hidden")]  # w

    @property
    def size(self) -> int:
        return self.centres.shape[1]

    def first(self, k: int) -> Similarity:
        """The layer of the first k neurons."""
        return Similarity(self.kind, self.centres[:, :k])

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        return self._similarity(Z)[0]

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """∂H_j/∂z = (c w_j − 2H_j z) / u_j, summed over j with each column of A   (m, n, d).

        u is the denominator of H, and c is 1 + H_j for Tanimoto's and 2 for Sørensen's similarity.
        """
        H, union = self._similarity(Z)
        upon = np.divide(1.0, union, out=np.zeros_like(H), where=union > 0)
        shared = upon * (1 + H if self.kind == "tanimoto" else 2.0)
        own = 2 * upon * H
        return np.stack([(shared * a) @ self.centres.T - (own @ a)[:, None] * Z for a in A.T])

    def _similarity(self, Z: Array) -> tuple[Array, Array]:
        """The similarities, and what they were divided by."""
        shared = Z @ self.centres
        sizes = np.einsum("ij,ij->i", Z, Z)[:, None]
        union = sizes + np.einsum("ij,ij->j", self.centres, self.centres)
        if self.kind == "tanimoto":
            union -= shared
        else:
            shared *= 2
        return np.divide(shared, union, out=np.ones_like(shared), where=union > 0), union


@dataclass(frozen=True, slots=True)
class Custom:
    """A user's own function (Z, weights, biases) ↦ (n, h), with w and b uniform on [0, 1]."""

    function: Callable[[Array, Array, Array], Array]
    weights: Array  # (h, d)
    biases: Array  # (h,)

    @property
    def size(self) -> int:
        return len(self.weights)

    def first(self, k: int) -> Custom:
        """The layer of the first k neurons."""
        return Custom(self.function, self.weights[:k], self.biases[:k])

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        return np.array(self.function(Z, self.weights, self.biases), dtype=Z.dtype, ndmin=2)

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """By central differences, one column at a time: 2d calls of the function   (m, n, d)."""
        return differences(self, Z, A)


NeuronLayer = Sigmoid | Relu | Radial | Similarity | Custom


def draw_neurons(
    activation: str | Callable[..., Array], h: int, rows: Array, seed: int
) -> NeuronLayer:
    """A layer of h neurons for scaled sampled rows, of which "sig", "nsig" and "rbf" need none."""
    rng = np.random.default_rng(seed)
    if isinstance(activation, str) and activation in FROM_ROWS:
        weights = rows[np.arange(h) % len(rows)].T.copy()  # repeated where rows are too few
        if activation == "relu":
            return Relu(weights, rng.random(h) * np.einsum("ij,ij->j", weights, weights))
        return Similarity(activation, weights)
    drawn = rng.random((h, rows.shape[1] + 1))
    weights, biases = drawn[:, :-1].copy(), drawn[:, -1].copy()
    if callable(activation):
        return Custom(activation, weights, biases)
    if activation == "rbf":
        return Radial.about(weights, biases)
    weights = weights / weights.shape[1] if activation == "nsig" else weights
    return Sigmoid(np.ascontiguousarray(weights.T), biases)


def draw_radial(h: int, rows: Array, seed: int, n_typical: int = SAMPLE_ROWS) -> Radial:
    """A "mixed" layer of h linear and radial neurons for scaled sampled rows."""
    d, typical = rows.shape[1], rows[:n_typical]
    n_linear = min(d, h // 2)
    for_widths, for_directions = np.random.default_rng(seed).spawn(2)
    n_radial = max(h - n_linear, BALANCED)
    widths = 10 ** for_widths.uniform(-1, 1, n_radial) / median_distance(typical, "sqeuclidean")
    centres = rows[np.arange(n_radial) % len(rows)]
    outputs = Radial.about(centres[:BALANCED], widths[:BALANCED])(typical)
    radial = Radial.about(centres, widths, -log_deviation(outputs))
    # Each direction is made orthogonal to those before it, so that the first ones stay the same.
    directions, lengths = np.linalg.qr(for_directions.standard_normal((n_linear, d)).T)
    linear = directions * np.sign(np.diag(lengths)) / np.exp(log_deviation(typical))
    columns, places = np.empty((d + 2, h)), np.arange(1, 2 * n_linear, 2)
    columns[:, places] = np.vstack([linear, np.zeros(n_linear), -typical.mean(axis=0) @ linear])
    columns[:, np.delete(np.arange(h), places)] = radial.columns[:, : h - n_linear]
    return Radial(columns, radial.log_height, n_linear)


def draw_laplacian(
    h: int, rows: Array, seed: int, n_typical: int = SAMPLE_ROWS, *, move: bool = False
) -> Laplacian:
    """h neurons c·exp(−b‖w−z‖₁) for scaled and weighted sampled rows; centres may be moved."""
    n, typical = max(h, BALANCED), rows[:n_typical]
    rates = 10 ** np.random.default_rng([seed, 1]).uniform(-0.5, 0.5, n)
    rates /= median_distance(typical, "cityblock")
    centres = on_knots(rows[:n], typical) if move else rows[:n]
    layer = Laplacian(centres[np.arange(n) % len(centres)], rates)
    outputs = layer.first(BALANCED)(typical)
    return Laplacian(layer.landmarks, rates, -log_deviation(outputs)).first(h)


def log_deviation(outputs: Array) -> float:
    """ln of the root of the mean variance of columns; 0 where nothing varies."""
    return float(np.log(np.sqrt(outputs.var(axis=0).mean()) or 1.0))
