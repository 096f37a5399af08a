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
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import numpy as np
from scipy.special import expit

from ..shapes import Array, Numbers
from .codes import on_knots
from .feature_settings import FEATURES, FeatureSettings
from .hidden_layer import HiddenLayer, mean_sign
from .kernels import Laplacian, Radial, Similarity, median_distance

Uniform = Literal["sig", "nsig", "rbf"]  # drawn independently of the data
FromRows = Literal["tanimoto", "sorensen", "relu", "laplacian", "mixed"]  # weights are rows
Activation = Uniform | FromRows
UNIFORM: tuple[Uniform, ...] = get_args(Uniform)
FROM_ROWS: tuple[FromRows, ...] = get_args(FromRows)


@dataclass(frozen=True, slots=True)
class Sigmoid(HiddenLayer):
    """1 / (1 + exp(−⟨w,z⟩ + b))."""

    weights: Annotated[Array, Numbers("seen", "hidden")]
    biases: Annotated[Array, Numbers("hidden")]

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
class Relu(HiddenLayer):
    """max(0, ⟨w,z⟩ − b)."""

    weights: Annotated[Array, Numbers("seen", "hidden")]
    biases: Annotated[Array, Numbers("hidden")]

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
class Custom(HiddenLayer):
    """A user's own function (Z, weights, biases) ↦ (n, h), with w and b uniform on [0, 1]."""

    function: Callable[[Array, Array, Array], Array]
    weights: Annotated[Array, Numbers("hidden", "seen")]
    biases: Annotated[Array, Numbers("hidden")]

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        return np.array(self.function(Z, self.weights, self.biases), dtype=Z.dtype, ndmin=2)


NeuronLayer = Sigmoid | Relu | Radial | Laplacian | Similarity | Custom


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


def draw_radial(
    h: int, rows: Array, typical: Array, seed: int, settings: FeatureSettings = FEATURES
) -> Radial:
    """A "mixed" layer of h linear and radial neurons for scaled sampled rows."""
    d, balanced = rows.shape[1], settings.balanced
    n_linear = min(d, h // 2)
    for_widths, for_directions = np.random.default_rng(seed).spawn(2)
    n_radial = max(h - n_linear, balanced)
    widths = 10 ** for_widths.uniform(-1, 1, n_radial)
    widths /= median_distance(typical, "sqeuclidean", settings)
    centres = rows[np.arange(n_radial) % len(rows)]
    outputs = Radial.about(centres[:balanced], widths[:balanced])(typical)
    radial = Radial.about(centres, widths, -log_deviation(outputs))
    # Each direction is made orthogonal to those before it, so that the first ones stay the same.
    directions, lengths = np.linalg.qr(for_directions.standard_normal((n_linear, d)).T)
    linear = directions * np.sign(np.diag(lengths)) / np.exp(log_deviation(typical))
    columns, places = np.empty((d + 2, h)), np.arange(1, 2 * n_linear, 2)
    columns[:, places] = np.vstack([linear, np.zeros(n_linear), -typical.mean(axis=0) @ linear])
    columns[:, np.delete(np.arange(h), places)] = radial.columns[:, : h - n_linear]
    return Radial(columns, radial.log_height, n_linear)


def draw_laplacian(
    h: int,
    rows: Array,
    typical: Array,
    seed: int,
    *,
    move: bool = False,
    settings: FeatureSettings = FEATURES,
) -> Laplacian:
    """h neurons c·exp(−b‖w−z‖₁) for scaled and weighted sampled rows; centres may be moved."""
    n = max(h, settings.balanced)
    rates = 10 ** np.random.default_rng([seed, 1]).uniform(-0.5, 0.5, n)
    rates /= median_distance(typical, "cityblock", settings)
    centres = on_knots(rows[:n], typical, settings) if move else rows[:n]
    layer = Laplacian(centres[np.arange(n) % len(centres)], rates)
    outputs = layer.first(settings.balanced)(typical)
    return Laplacian(layer.landmarks, rates, -log_deviation(outputs)).first(h)


def log_deviation(outputs: Array) -> float:
    """ln of the root of the mean variance of columns; 0 where nothing varies."""
    return float(np.log(np.sqrt(outputs.var(axis=0).mean()) or 1.0))
