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
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import manhattan_distances, pairwise_kernels

from .neurons import Radial, Similarity

Array = np.ndarray[Any, Any]

MEDIAN_ROWS = 500  # drawn rows whose distances set γ


@dataclass(frozen=True, slots=True)
class Laplacian:
    """exp(−γ‖z−l‖₁)."""

    landmarks: Array  # (h, d)
    gamma: float

    @property
    def size(self) -> int:
        return len(self.landmarks)

    def __call__(self, Z: Array) -> Array:
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

    def __call__(self, Z: Array) -> Array:
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

    def __call__(self, Z: Array) -> Array:
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

    def __call__(self, Z: Array) -> Array:
        K = pairwise_kernels(Z, self.landmarks, metric=self.function)
        return K.astype(Z.dtype, copy=False)


KERNELS = ("rbf", "laplacian", "polynomial", "linear", "cosine", "tanimoto")
KernelOnly = Laplacian | Polynomial | Cosine | CustomKernel
KernelLayer = Radial | Similarity | KernelOnly


def kernel_layer(
    kernel: str | Callable[..., float], landmarks: Array, gamma: float, middle: float
) -> KernelLayer:
    """The layer of a kernel over scaled landmarks, whose columns have their middle at `middle`."""
    if not isinstance(kernel, str):
        return CustomKernel(kernel, landmarks)
    if kernel == "rbf":
        return Radial(landmarks.T.copy(), np.full(len(landmarks), gamma))
    if kernel == "laplacian":
        return Laplacian(landmarks, gamma)
    if kernel == "polynomial":
        return Polynomial(landmarks, gamma, 1.0, 3)
    if kernel == "linear":
        return Polynomial(landmarks, 1.0, 0.0, 1)
    if kernel == "cosine":
        # Seen from a corner of the cube, all rows lie in nearly the same direction.
        return Cosine(landmarks, middle)
    return Similarity("tanimoto", landmarks.T.copy())


def median_gamma(kernel: str | Callable[..., float], rows: Array) -> float:
    """The median heuristic over scaled drawn rows.

    rbf: σ² is the median squared distance, γ = 1/2σ². laplacian: one over the median distance.
    polynomial: one over the median squared length.
    """
    if kernel == "polynomial":
        sizes = np.einsum("ij,ij->i", rows, rows)
        return float(1 / np.median(sizes[sizes > 0])) if sizes.any() else 1.0
    if kernel == "laplacian":
        return 1 / median_distance(rows, "cityblock")
    return 0.5 / median_distance(rows, "sqeuclidean")


def median_distance(rows: Array, metric: str) -> float:
    """The median distance between differing rows; 1 where all are alike."""
    distances = pdist(rows[:MEDIAN_ROWS], metric)
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0
