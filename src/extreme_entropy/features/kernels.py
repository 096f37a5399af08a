"""Layers of kernels: z ↦ k(z, l) for each of h landmarks l.

    rbf         exp(−γ‖z−l‖²)
    laplacian   exp(−γ‖z−l‖₁)
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
from sklearn.metrics.pairwise import manhattan_distances, pairwise_kernels

from .scaling import median_distance

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Laplacian:
    """exp(−γ‖z−l‖₁)."""

    landmarks: Array  # (h, d)
    gamma: float

    @property
    def size(self) -> int:
        return len(self.landmarks)

    def first(self, k: int) -> Laplacian:
        """The layer of the first k landmarks."""
        return Laplacian(self.landmarks[:k], self.gamma)

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        K = manhattan_distances(Z, self.landmarks)
        K *= -self.gamma
        return np.exp(K, out=K).astype(Z.dtype, copy=False)


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


KERNELS = ("rbf", "laplacian", "polynomial", "linear", "cosine", "tanimoto")
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
