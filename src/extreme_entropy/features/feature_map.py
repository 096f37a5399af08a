"""φ as a whole: x ↦ scaling ↦ layer ↦ (whitening), and how it is drawn.

φ is drawn from a specification, column statistics, sampled rows and a seed, and frozen. Everything
but the number of neurons or landmarks is taken from the first `SAMPLE_ROWS` sampled rows, so that
a smaller φ is always the first part of a larger one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from .content import ContentHash, RowSample
from .kernels import Cosine, CustomKernel, KernelLayer, Laplacian, Polynomial, median_gamma
from .landmarks import whitening
from .neurons import UNIFORM, NeuronLayer, Radial, Similarity, draw_mixed, draw_neurons
from .scaling import SAMPLE_ROWS, ColumnStats, Scaling, fit_scaling

Array = np.ndarray[Any, Any]

Layer = NeuronLayer | KernelLayer


@dataclass(frozen=True, slots=True)
class FeatureMap:
    """φ, drawn once and frozen."""

    content: ContentHash
    scaling: Scaling
    layer: Layer
    whitening: Array | None = None  # (hidden, h), for kernels

    @property
    def d(self) -> int:
        """Columns of x."""
        return len(self.content.low)

    @property
    def h(self) -> int:
        """Dimensions of φ(x)."""
        return self.layer.size if self.whitening is None else self.whitening.shape[1]

    def __call__(self, X: Array, out: Array | None = None) -> Array:
        """φ of dense rows; `out` may be used as room for the hidden layer.

        Asking the system for fresh memory costs a good part of what a chunk does, so that chunk
        after chunk should be given the same.
        """
        H = self.layer(self.scaling(X), out)
        return H if self.whitening is None else H @ self.whitening

    def first(self, k: int) -> FeatureMap:
        """φ with the first k neurons or landmarks: the φ that would be drawn with so many."""
        W = None if self.whitening is None else self.whitening[:k, :k]
        return replace(self, layer=self.layer.first(k), whitening=W)

    def folded(self, operators: Array) -> Array:
        """Operators on φ as operators on the hidden layer: L^{−⊤} folded into β."""
        return operators if self.whitening is None else operators @ self.whitening.T

    def in_precision(self, dtype: np.dtype[Any]) -> FeatureMap:
        """The same φ with its layer in single or double precision."""
        values = [(field.name, getattr(self.layer, field.name)) for field in fields(self.layer)]
        cast = {k: v.astype(dtype, copy=False) for k, v in values if isinstance(v, np.ndarray)}
        W = None if self.whitening is None else self.whitening.astype(dtype, copy=False)
        layer = replace(self.layer, **cast)  # type: ignore[arg-type]  # of the same layer
        return replace(self, layer=layer, whitening=W)


@dataclass(frozen=True, slots=True)
class NeuronSpec:
    """What a user asks of a layer of random neurons."""

    n_hidden: int
    activation: str | Callable[..., Array]
    scale: str | None

    @property
    def sample_size(self) -> int:
        """How many rows must be sampled."""
        uniform = callable(self.activation) or self.activation in UNIFORM
        if uniform:
            return SAMPLE_ROWS if self.scale == "quantile" else 0
        return max(self.n_hidden, SAMPLE_ROWS)


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """What a user asks of a Nyström approximation of a kernel."""

    n_landmarks: int
    kernel: str | Callable[..., float]
    gamma: float | str
    scale: str | None

    @property
    def sample_size(self) -> int:
        """How many rows must be sampled."""
        return max(self.n_landmarks, SAMPLE_ROWS)


Spec = NeuronSpec | KernelSpec


def draw(
    spec: Spec, stats: ColumnStats, sample: RowSample, content: ContentHash, dtype: np.dtype[Any]
) -> FeatureMap:
    """φ as specified, for columns with these statistics and rows of this precision."""
    scaling = fit_scaling(spec.scale, stats, sample.rows[:SAMPLE_ROWS])
    rows = scaling(sample.rows)
    if isinstance(spec, NeuronSpec):
        if spec.activation == "mixed":
            return FeatureMap(content, scaling, draw_mixed(spec.n_hidden, rows, content.seed))
        layer = draw_neurons(spec.activation, spec.n_hidden, rows, content.seed)
        return FeatureMap(content, scaling, layer)
    gamma = spec.gamma
    if isinstance(gamma, str):
        gamma = median_gamma(spec.kernel, rows[:SAMPLE_ROWS])
    landmarks = rows[: spec.n_landmarks]
    kernel = kernel_layer(spec.kernel, landmarks, gamma, spec.scale)
    return FeatureMap(content, scaling, kernel, whitening(kernel(landmarks), dtype))


def kernel_layer(
    kernel: str | Callable[..., float], landmarks: Array, gamma: float, scale: str | None
) -> KernelLayer | Radial | Similarity:
    """The layer of a kernel over landmarks that were scaled so."""
    if not isinstance(kernel, str):
        return CustomKernel(kernel, landmarks)
    if kernel == "rbf":
        return Radial.about(landmarks, np.full(len(landmarks), gamma))
    if kernel == "laplacian":
        return Laplacian(landmarks, gamma)
    if kernel == "polynomial":
        return Polynomial(landmarks, gamma, 1.0, 3)
    if kernel == "linear":
        return Polynomial(landmarks, 1.0, 0.0, 1)
    if kernel == "cosine":
        # Seen from a corner of the cube, all rows lie in nearly the same direction.
        return Cosine(landmarks, 0.5 if scale in ("minmax", "quantile") else 0.0)
    return Similarity("tanimoto", landmarks.T.copy())


def same(a: Any, b: Any) -> bool:
    """Whether two feature maps, or parts of them, are equal to the last bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a is b or (a.dtype == b.dtype and np.array_equal(a, b))
    if is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)
