"""Layers of kernels: z ↦ k(z, l) for each of h landmarks l.

    rbf         exp(−γ‖z−l‖²)
    laplacian   exp(−γ‖z−l‖₁)
    mixed       rbf on the scaled columns, in turn with laplacian on columns weighted by relevance
    polynomial  (γ⟨z,l⟩ + 1)³
    linear      ⟨z,l⟩
    cosine      ⟨z,l⟩ / ‖z‖‖l‖, both seen from `origin`
    tanimoto    ⟨z,l⟩ / (‖z‖² + ‖l‖² − ⟨z,l⟩)

or any callable that scikit-learn's `pairwise_kernels` accepts.

`gradient(Z, A)` of a layer is the derivative with respect to z of Σ_j a_j H_j(z), at each row of Z
(n, d) and for each column a of A (h, m): an array (m, n, d). With `half` (n, d) a layer with kinks
takes the mean slope between z − half and z + half, which a kink makes continuous; one without has
no use for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, get_args

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import pairwise_kernels

from ..shapes import LARGEST_LOG, Indices, Numbers
from .codes import Coded, coded
from .scaling import median_distance

Array = np.ndarray[Any, Any]


def differences(layer: Callable[[Array], Array], Z: Array, A: Array) -> Array:
    """The gradient of any layer by central differences, one column of Z at a time   (m, n, d)."""
    # The error of a step t is of the order t² + eps/t, which is least at the cube root of eps.
    step = float(np.cbrt(np.finfo(Z.dtype).eps))
    gradient = np.empty((A.shape[1], *Z.shape))
    for column in range(Z.shape[1]):
        above, below = Z.copy(), Z.copy()
        above[:, column] += step * np.maximum(1.0, abs(Z[:, column]))
        below[:, column] -= step * np.maximum(1.0, abs(Z[:, column]))
        width = above[:, column] - below[:, column]
        gradient[:, :, column] = ((layer(above) - layer(below)) @ A).T / width
    return gradient


def mean_sign(t: Array, half: Array | None) -> Array:
    """The mean of sign between t − half and t + half, written over t."""
    if half is None:
        return np.sign(t, out=t)
    t /= np.maximum(abs(half), 1e-100)  # a segment of no length counts as a very short one
    return np.clip(t, -1, 1, out=t)


@dataclass(frozen=True, slots=True)
class Laplacian:
    """c·exp(−b‖z−l‖₁): a kernel where all b are γ and c is 1, neurons where each has its own b."""

    landmarks: Annotated[Array, Numbers("hidden", "seen")]  # l
    rates: Annotated[Array, Numbers("hidden", least=0)]  # b
    log_height: Annotated[float, Numbers(least=-LARGEST_LOG, most=LARGEST_LOG)] = 0.0  # ln c

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

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """∂H_j/∂z_l = −b_j H_j sign(z_l − c_jl), summed as the module says   (m, n, d).

        The mean of sign(z_l − c_jl) over a segment is (z_l − c_jl) / half_l, clipped to ±1.
        """
        H, slopes = self(Z), -self.rates[:, np.newaxis] * A
        gradient, signed = np.empty((A.shape[1], *Z.shape)), np.empty_like(H)
        for column in range(Z.shape[1]):
            np.subtract(Z[:, column, np.newaxis], self.landmarks[:, column], out=signed)
            mean_sign(signed, None if half is None else half[:, column, np.newaxis])
            signed *= H
            gradient[:, :, column] = (signed @ slopes).T
        return gradient


@dataclass(frozen=True, slots=True)
class Polynomial:
    """(γ⟨z,l⟩ + c)^degree; the linear kernel has γ = 1, c = 0 and degree 1."""

    landmarks: Annotated[Array, Numbers("hidden", "seen")]
    gamma: float
    constant: float
    degree: Annotated[int, Indices(least=1, most=3)]

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

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """∂H_j/∂z = degree·γ (γ⟨z,l_j⟩ + c)^(degree−1) l_j, summed as the module says (m, n, d)."""
        inner = replace(self, degree=self.degree - 1)(Z)
        slopes = inner * (self.degree * self.gamma)
        return np.stack([(slopes * a) @ self.landmarks for a in A.T])


@dataclass(frozen=True, slots=True)
class Cosine:
    """⟨z,l⟩ / ‖z‖‖l‖ about an origin; zero for rows that lie on it."""

    landmarks: Annotated[Array, Numbers("hidden", "seen")]
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

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """∂H_j/∂z = (l_j/‖l_j‖ − H_j z/‖z‖) / ‖z‖, summed as the module says   (m, n, d)."""
        origin = Z.dtype.type(self.origin)
        directions, unit = _unit(self.landmarks - origin), _unit(Z - origin)
        lengths = np.linalg.norm(Z - origin, axis=1)[:, np.newaxis]
        across = A.T @ directions
        along = np.einsum("mj,ij->mi", across, unit)[:, :, np.newaxis] * unit
        found = across[:, np.newaxis] - along
        return np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0)


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

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """By central differences, one column at a time: 2d calls for each pair   (m, n, d)."""
        return differences(self, Z, A)


Kernel = Literal["mixed", "rbf", "laplacian", "polynomial", "linear", "cosine", "tanimoto"]
KERNELS: tuple[Kernel, ...] = get_args(Kernel)
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
