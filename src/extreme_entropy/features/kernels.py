"""Layers of kernels: z ↦ k(z, l) for each of h landmarks l.

    rbf         exp(−γ‖z−l‖²)
    laplacian   exp(−γ‖z−l‖₁)
    mixed       rbf on the scaled columns, in turn with laplacian on columns weighted by relevance
    polynomial  (γ⟨z,l⟩ + 1)³
    linear      ⟨z,l⟩
    cosine      ⟨z,l⟩ / ‖z‖‖l‖, both seen from `origin`
    tanimoto    ⟨z,l⟩ / (‖z‖² + ‖l‖² − ⟨z,l⟩)

or any callable that scikit-learn's `pairwise_kernels` accepts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import pairwise_kernels

from .codes import Coded, coded
from .scaling import median_distance

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Laplacian:
    """c·exp(−b‖z−l‖₁): a kernel where all b are γ and c is 1, neurons where each has its own b."""

    landmarks: Array  # l   (h, d)
    rates: Array  # b   (h,)
    log_height: float = 0.0  # ln c

    @property
    def size(self) -> int:
        return len(self.landmarks)

    def first(self, k: int) -> Laplacian:
        """The layer of the first k landmarks."""
        return Laplacian(self.landmarks[:k], self.rates[:k], self.log_height)

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        H = np.empty((len(Z), self.size), Z.dtype) if out is None else out[: len(Z)]
        # SciPy measures in double precision, whatever it is given: see `quickest`.
        D = cdist(Z, self.landmarks, "cityblock", out=H if H.dtype == np.float64 else None)
        np.multiply(D, -self.rates, out=H, casting="same_kind")
        H += Z.dtype.type(self.log_height)
        return np.exp(H, out=H)

    def quickest(self) -> Laplacian | Coded:
        """The same layer by codes, where its landmarks lie on few knots."""
        return coded(self.landmarks, self.rates, self.log_height) or self

    def gradient(self, Z: Array, A: Array) -> Array:
        """∂/∂z of each column a of A in Σ_j a_j H_j(z)   (m, n, d).

        For column l of z that is −Σ_j a_j b_j H_j sign(z_l − c_jl).
        """
        H, slopes = self(Z), -self.rates[:, np.newaxis] * A
        gradient, signed = np.empty((A.shape[1], *Z.shape)), np.empty_like(H)
        for column in range(Z.shape[1]):
            np.subtract(Z[:, column, np.newaxis], self.landmarks[:, column], out=signed)
            np.sign(signed, out=signed)
            signed *= H
            gradient[:, :, column] = (signed @ slopes).T
        return gradient


@dataclass(frozen=True, slots=True)
class Polynomial:
    """(γ⟨z,l⟩ + c)^degree; the linear kernel has γ = 1, c = 0 and degree 1."""

    landmarks: Array  # (h, d)
    gamma: float
    constant: float
    degree: int

    @property
    def size(self) -> int:
        return len(self.landmarks)

    def first(self, k: int) -> Polynomial:
        """The layer of the first k landmarks."""
        return Polynomial(self.landmarks[:k], self.gamma, self.constant, self.degree)

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        K = Z @ (self.gamma * self.landmarks.T)
        K += Z.dtype.type(self.constant)
        return K if self.degree == 1 else K**self.degree


@dataclass(frozen=True, slots=True)
class Cosine:
    """⟨z,l⟩ / ‖z‖‖l‖ about an origin; zero for rows that lie on it."""

    landmarks: Array  # (h, d)
    origin: float = 0.0  # of every column

    @property
    def size(self) -> int:
        return len(self.landmarks)

    def first(self, k: int) -> Cosine:
        """The layer of the first k landmarks."""
        return Cosine(self.landmarks[:k], self.origin)

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        origin = Z.dtype.type(self.origin)
        return _unit(Z - origin) @ _unit(self.landmarks - origin).T


def _unit(rows: Array) -> Array:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


@dataclass(frozen=True, slots=True)
class CustomKernel:
    """A user's own kernel of two rows, called for each pair by `pairwise_kernels`."""

    function: Callable[..., float]
    landmarks: Array  # (h, d)

    @property
    def size(self) -> int:
        return len(self.landmarks)

    def first(self, k: int) -> CustomKernel:
        """The layer of the first k landmarks."""
        return CustomKernel(self.function, self.landmarks[:k])

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        K = pairwise_kernels(Z, self.landmarks, metric=self.function)
        return K.astype(Z.dtype, copy=False)


KERNELS = ("mixed", "rbf", "laplacian", "polynomial", "linear", "cosine", "tanimoto")
KernelLayer = Laplacian | Polynomial | Cosine | CustomKernel


def median_gamma(kernel: str | Callable[..., float], rows: Array) -> float:
    """The median heuristic over scaled sampled rows.

    rbf: σ² is the median squared distance, γ = 1/2σ². laplacian: one over the median distance.
    polynomial: one over the median squared length.
    """
    if kernel == "polynomial":
        sizes = np.einsum("ij,ij->i", rows, rows)
        return float(1 / np.median(sizes[sizes > 0])) if sizes.any() else 1.0
    if kernel == "laplacian":
        return 1 / median_distance(rows, "cityblock")
    return 0.5 / median_distance(rows, "sqeuclidean")
