"""Layers of kernels: z ↦ k(z, l) for each of h landmarks l, and their whitening.

    rbf         exp(−γ‖z−l‖²)
    laplacian   exp(−γ‖z−l‖₁)
    mixed       rbf on the scaled columns, in turn with laplacian on columns weighted by relevance
    polynomial  (γ⟨z,l⟩ + 1)³
    linear      ⟨z,l⟩
    cosine      ⟨z,l⟩ / ‖z‖‖l‖, both seen from `origin`
    tanimoto    ⟨z,l⟩ / (‖z‖² + ‖l‖² − ⟨z,l⟩)

or any callable that scikit-learn's `pairwise_kernels` accepts.

Nyström: φ(x) = K_hh^{−1/2} k(X_h, x) for h landmarks X_h, the paper's φ_K. It is written in the
basis of the Cholesky factor, K_hh = LLᵀ: L^{−1}k instead of K_hh^{−1/2}k. The two differ by a
rotation, which no covariance, shrinkage or projection notices, and in this basis the first features
are those of the first landmarks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, get_args

import numpy as np
from scipy.linalg import solve_triangular
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics.pairwise import pairwise_kernels

from ..shapes import LARGEST_LOG, Array, Indices, Numbers, OneOf
from ..tolerances import PIVOTS
from .codes import coded
from .feature_settings import FEATURES, FeatureSettings
from .hidden_layer import HiddenLayer, mean_sign

Kernel = Literal["mixed", "rbf", "laplacian", "polynomial", "linear", "cosine", "tanimoto"]
KERNELS: tuple[Kernel, ...] = get_args(Kernel)


def kernel_layer(
    kernel: str | Callable[..., float], landmarks: Array, gamma: float, scale: str | None
) -> KernelLayer:
    """The layer of a kernel over landmarks that were scaled so."""
    if not isinstance(kernel, str):
        return CustomKernel(kernel, landmarks)
    if kernel == "rbf":
        return Radial.about(landmarks, np.full(len(landmarks), gamma))
    if kernel == "laplacian":
        return Laplacian(landmarks, np.full(len(landmarks), gamma))
    if kernel == "polynomial":
        return Polynomial(landmarks, gamma, constant=1.0, degree=3)
    if kernel == "linear":
        return Polynomial(landmarks, gamma=1.0, constant=0.0, degree=1)
    if kernel == "cosine":
        # Seen from a corner of the cube, all rows lie in nearly the same direction.
        return Cosine(landmarks, 0.5 if scale in ("minmax", "quantile") else 0.0)
    return Similarity("tanimoto", landmarks.T.copy())


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


def median_distance(rows: Array, metric: str, settings: FeatureSettings = FEATURES) -> float:
    """The median distance between differing rows; 1 where all are alike."""
    distances = pdist(rows[: settings.distance_rows], metric)
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0


def whitening(gram: Array, dtype: np.dtype[Any]) -> Array:
    """L^{−⊤} of K_hh = LLᵀ                   (h, h).

    K_hh is not always invertible (erratum 3). Where a landmark is a combination of others but for
    rounding, a vanishing share of the mean diagonal is added to the diagonal, so that the features
    of such landmarks hardly vary.
    """
    gram = (gram + gram.T) / 2
    size = float(np.abs(gram.diagonal()).mean()) or 1.0  # a kernel may be zero everywhere
    least, share = PIVOTS[dtype.char]
    added = 0.0
    while True:
        gram.flat[:: len(gram) + 1] += added
        try:
            L = np.linalg.cholesky(gram)
        except np.linalg.LinAlgError:
            L = None
        if L is not None and (added or np.diag(L).min() ** 2 > least * size):
            return np.ascontiguousarray(solve_triangular(L, np.eye(len(L)), lower=True).T)
        # Several times for a kernel of a user's own that is not positive definite.
        added = 10 * added or share * size


@dataclass(frozen=True, slots=True)
class Radial(HiddenLayer):
    """c·exp(−b‖w−z‖²), as exp(2b⟨w,z⟩ − b‖z‖² − b‖w‖² + ln c): one product, one exponential.

    A kernel where all b are γ and c is 1, neurons where each has its own b. Linear neurons
    ⟨w,z⟩ − b may stand among them, at every second place from the second on; they come from the
    same product and are spared the exponential.
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

    def first(self, k: int) -> Radial:
        """The layer of the first k neurons, some of which are linear."""
        return Radial(self.columns[:, :k], self.log_height, min(self.n_linear, k // 2))

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

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """∂H_j/∂z = 2b_j H_j (w_j − z), summed over j with each column of A   (m, n, d)."""
        H, d = self(Z), Z.shape[1]
        H[:, 1 : 2 * self.n_linear : 2] = 1.0  # the derivative of a linear neuron
        gradient = np.empty((A.shape[1], *Z.shape))
        for m, a in enumerate(A.T):
            slopes = H * a
            gradient[m] = slopes @ self.columns[:d].T + 2 * Z * (slopes @ self.columns[d])[:, None]
        return gradient


@dataclass(frozen=True, slots=True)
class Laplacian(HiddenLayer):
    """c·exp(−b‖z−l‖₁): a kernel where all b are γ and c is 1, neurons where each has its own b."""

    landmarks: Annotated[Array, Numbers("hidden", "seen")]  # l
    rates: Annotated[Array, Numbers("hidden", least=0)]  # b
    log_height: Annotated[float, Numbers(least=-LARGEST_LOG, most=LARGEST_LOG)] = 0.0  # ln c

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        H = np.empty((len(Z), self.size), Z.dtype) if out is None else out[: len(Z)]
        # SciPy measures in double precision, whatever it is given: see `quickest`.
        D = cdist(Z, self.landmarks, "cityblock", out=H if H.dtype == np.float64 else None)
        np.multiply(D, -self.rates, out=H, casting="same_kind")
        H += Z.dtype.type(self.log_height)
        return np.exp(H, out=H)

    def quickest(self) -> HiddenLayer:
        """The same layer by codes, where its landmarks lie on few knots."""
        return coded(self.landmarks, self.rates, self.log_height) or self

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """∂H_j/∂z_l = −b_j H_j sign(z_l − c_jl), summed over j with each column of A   (m, n, d).

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
class Polynomial(HiddenLayer):
    """(γ⟨z,l⟩ + c)^degree; the linear kernel has γ = 1, c = 0 and degree 1."""

    landmarks: Annotated[Array, Numbers("hidden", "seen")]
    gamma: float
    constant: float
    degree: Annotated[int, Indices(least=1, most=3)]

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        K = Z @ self.landmarks.T
        K *= Z.dtype.type(self.gamma)
        K += Z.dtype.type(self.constant)
        return K if self.degree == 1 else K**self.degree

    @property
    def is_product(self) -> bool:
        return self.degree == 1 and not self.constant

    def quickest(self) -> HiddenLayer:
        """The same layer as a product, where it is one."""
        if not self.is_product:
            return self
        return Linear(
            np.ascontiguousarray(self.landmarks.T) * self.landmarks.dtype.type(self.gamma)
        )

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """∂H_j/∂z = degree·γ (γ⟨z,l_j⟩ + c)^(degree−1) l_j, summed with each a   (m, n, d)."""
        inner = replace(self, degree=self.degree - 1)(Z)
        slopes = inner * (self.degree * self.gamma)
        return np.stack([(slopes * a) @ self.landmarks for a in A.T])


@dataclass(frozen=True, slots=True)
class Linear(HiddenLayer):
    """⟨z,l⟩ as a product, which spares sparse rows their zeros."""

    columns: Annotated[Array, Numbers("seen", "hidden")]

    @property
    def is_product(self) -> bool:
        return True

    def __call__(self, Z: Any, out: Array | None = None) -> Array:
        return Z @ self.columns


@dataclass(frozen=True, slots=True)
class Cosine(HiddenLayer):
    """⟨z,l⟩ / ‖z‖‖l‖ about an origin; zero for rows that lie on it."""

    landmarks: Annotated[Array, Numbers("hidden", "seen")]
    origin: float = 0.0  # of every column

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        origin = Z.dtype.type(self.origin)
        return _unit(Z - origin) @ _unit(self.landmarks - origin).T

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """∂H_j/∂z = (l_j/‖l_j‖ − H_j z/‖z‖) / ‖z‖, summed with each column of A   (m, n, d)."""
        origin = Z.dtype.type(self.origin)
        directions, unit = _unit(self.landmarks - origin), _unit(Z - origin)
        lengths = np.linalg.norm(Z - origin, axis=1)[:, np.newaxis]
        across = A.T @ directions
        along = np.einsum("mj,ij->mi", across, unit)[:, :, np.newaxis] * unit
        turned = across[:, np.newaxis] - along
        return np.divide(turned, lengths, out=np.zeros_like(turned), where=lengths > 0)


def _unit(rows: Array) -> Array:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


@dataclass(frozen=True, slots=True)
class Similarity(HiddenLayer):
    """Tanimoto's or Sørensen's similarity to the centres, for overlaps of sets and fingerprints.

    Two empty rows are alike: their similarity is 1.
    """

    kind: Annotated[str, OneOf("tanimoto", "sorensen")]
    centres: Annotated[Array, Numbers("seen", "hidden")]  # w

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        return self._similarity(Z)[0]

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """∂H_j/∂z = (c w_j − 2H_j z) / u_j, summed over j with each column of A   (m, n, d).

        u is the denominator of H, and c is 1 + H_j for Tanimoto's and 2 for Sørensen's similarity.
        """
        H, union = self._similarity(Z)
        upon = np.divide(1.0, union, out=np.zeros_like(H), where=union > 0)
        shared = upon * (1 + H if self.kind == "tanimoto" else 2.0)
        along = 2 * upon * H
        return np.stack([(shared * a) @ self.centres.T - (along @ a)[:, None] * Z for a in A.T])

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
class CustomKernel(HiddenLayer):
    """A user's own kernel of two rows, called for each pair by `pairwise_kernels`."""

    function: Callable[..., float]
    landmarks: Annotated[Array, Numbers("hidden", "seen")]

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        K = pairwise_kernels(Z, self.landmarks, metric=self.function)
        return K.astype(Z.dtype, copy=False)


KernelLayer = Radial | Laplacian | Polynomial | Cosine | Similarity | CustomKernel
