"""Layers of random neurons: z ↦ G(z, w, b) for each of h neurons.

    sig       1 / (1 + exp(−⟨w,z⟩ + b))                  w, b uniform on [0, 1]
    nsig      1 / (1 + exp(−⟨w,z⟩/d + b))                w, b uniform on [0, 1]
    rbf       exp(−b‖w−z‖²)                              w, b uniform on [0, 1]
    tanimoto  ⟨w,z⟩ / (‖w‖² + ‖z‖² − ⟨w,z⟩)              w a drawn row
    sorensen  2⟨w,z⟩ / (‖w‖² + ‖z‖²)                     w a drawn row
    relu      max(0, ⟨w,z⟩ − b)                          w a drawn row, b uniform on [0, ‖w‖²]

Each layer takes scaled rows (n, d) and returns (n, h) in the same precision. Neuron i is drawn
before neuron i + 1, so that the first k of h neurons are a smaller layer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

Array = np.ndarray[Any, Any]

UNIFORM = ("sig", "nsig", "rbf")  # drawn without looking at the data
FROM_ROWS = ("tanimoto", "sorensen", "relu")  # weights are rows of the data


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """1 / (1 + exp(−⟨w,z⟩ + b))."""

    weights: Array  # (d, h)
    biases: Array  # (h,)

    @property
    def size(self) -> int:
        return self.weights.shape[1]

    def first(self, k: int) -> Sigmoid:
        """The layer of the first k neurons."""
        return Sigmoid(self.weights[:, :k], self.biases[:k])

    def __call__(self, Z: Array) -> Array:
        H = Z @ self.weights
        H -= self.biases
        return expit(H, out=H)


@dataclass(frozen=True, slots=True)
class Relu:
    """max(0, ⟨w,z⟩ − b)."""

    weights: Array  # (d, h)
    biases: Array  # (h,)

    @property
    def size(self) -> int:
        return self.weights.shape[1]

    def first(self, k: int) -> Relu:
        """The layer of the first k neurons."""
        return Relu(self.weights[:, :k], self.biases[:k])

    def __call__(self, Z: Array) -> Array:
        H = Z @ self.weights
        H -= self.biases
        return np.maximum(H, 0, out=H)


@dataclass(frozen=True, slots=True)
class Radial:
    """c·exp(−b‖w−z‖²), as exp(2b⟨w,z⟩ − b‖z‖² − b‖w‖² + ln c): one product, one exponential."""

    centres: Array  # w   (d, h)
    widths: Array  # b   (h,)
    log_height: float = 0.0  # ln c

    @property
    def size(self) -> int:
        return self.centres.shape[1]

    def first(self, k: int) -> Radial:
        """The layer of the first k neurons."""
        return Radial(self.centres[:, :k], self.widths[:k], self.log_height)

    def product(self) -> Product:
        """[2bw; −b; ln c − b‖w‖²], then the exponential."""
        lengths = np.einsum("ij,ij->j", self.centres, self.centres)
        columns = [
            self.centres * (2 * self.widths),
            -self.widths,
            np.asarray(self.log_height, self.widths.dtype) - self.widths * lengths,
        ]
        # What ‖z‖² + ‖w‖² − 2⟨w,z⟩ may fall below zero by, for each unit of ‖z‖² + ‖w‖².
        rounding = 4 * np.finfo(self.widths.dtype).eps * float(self.widths.max(initial=0))
        return Product(
            np.vstack(columns), 0, self.log_height, rounding, float(lengths.max(initial=0))
        )

    def __call__(self, Z: Array) -> Array:
        return self.product()(Z)


@dataclass(frozen=True, slots=True)
class Linear:
    """⟨w,z⟩ − b: the scaled columns themselves, or projections of them."""

    weights: Array  # (d, h)
    biases: Array  # (h,)

    @property
    def size(self) -> int:
        return self.weights.shape[1]

    def first(self, k: int) -> Linear:
        """The layer of the first k neurons."""
        return Linear(self.weights[:, :k], self.biases[:k])

    def columns(self) -> Array:
        """[w; 0; −b]."""
        return np.vstack([self.weights, np.zeros_like(self.biases), -self.biases])

    def __call__(self, Z: Array) -> Array:
        return Z @ self.weights - self.biases


@dataclass(frozen=True, slots=True)
class Product:
    """Linear and radial neurons made ready for many rows: [z, ‖z‖², 1] times one matrix."""

    columns: Array  # (d + 2, h)
    n_linear: int  # neurons without the exponential, which come first
    log_height: float  # no exponent is larger
    rounding: float
    largest: float  # ‖w‖²

    @property
    def size(self) -> int:
        return self.columns.shape[1]

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        """The neurons' answers, written to the first rows of `out` if it is given."""
        n, d = Z.shape
        rows = np.ones((n, d + 2), dtype=Z.dtype)
        rows[:, :d] = Z
        squares = np.vecdot(Z, Z)
        rows[:, d] = squares
        H = np.matmul(rows, self.columns, out=None if out is None else out[:n])
        exponents = H[:, self.n_linear :]
        if self.rounding * (float(squares.max(initial=0)) + self.largest) > 1e-3:
            np.minimum(exponents, Z.dtype.type(self.log_height), out=exponents)
        if 0 < 4 * self.n_linear < self.size:
            # The exponential of whole rows is faster than of parts of them.
            linear = H[:, : self.n_linear].copy()
            with np.errstate(over="ignore"):
                np.exp(H, out=H)
            H[:, : self.n_linear] = linear
        else:
            np.exp(exponents, out=exponents)
        return H


@dataclass(frozen=True, slots=True)
class Similarity:
    """Tanimoto's or Sørensen's similarity to the centres, for overlaps of sets and fingerprints.

    Two empty rows are alike: their similarity is 1.
    """

    kind: str  # "tanimoto" or "sorensen"
    centres: Array  # w   (d, h)

    @property
    def size(self) -> int:
        return self.centres.shape[1]

    def first(self, k: int) -> Similarity:
        """The layer of the first k neurons."""
        return Similarity(self.kind, self.centres[:, :k])

    def __call__(self, Z: Array) -> Array:
        shared = Z @ self.centres
        sizes = np.einsum("ij,ij->i", Z, Z)[:, None]
        union = sizes + np.einsum("ij,ij->j", self.centres, self.centres)
        if self.kind == "tanimoto":
            union -= shared
        else:
            shared *= 2
        return np.divide(shared, union, out=np.ones_like(shared), where=union > 0)


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

    def __call__(self, Z: Array) -> Array:
        return np.array(self.function(Z, self.weights, self.biases), dtype=Z.dtype, ndmin=2)


def draw_uniform(name: str, h: int, d: int, rng: np.random.Generator) -> Sigmoid | Radial:
    """The paper's neurons, independent of the data."""
    drawn = rng.random((h, d + 1))
    weights, biases = drawn[:, :d].T.copy(), drawn[:, d].copy()
    if name == "sig":
        return Sigmoid(weights, biases)
    if name == "nsig":
        return Sigmoid(weights / d, biases)
    return Radial(weights, biases)


def draw_custom(
    function: Callable[[Array, Array, Array], Array], h: int, d: int, rng: np.random.Generator
) -> Custom:
    """Neurons of a user's own activation, drawn as the paper draws its own."""
    drawn = rng.random((h, d + 1))
    return Custom(function, drawn[:, :d].copy(), drawn[:, d].copy())


def draw_from_rows(name: str, h: int, rows: Array, rng: np.random.Generator) -> Similarity | Relu:
    """Neurons whose weights are scaled rows of the data, repeated where rows are too few."""
    weights = rows[np.arange(h) % len(rows)].T.copy()
    if name == "relu":
        return Relu(weights, rng.random(h) * np.einsum("ij,ij->j", weights, weights))
    return Similarity(name, weights)
