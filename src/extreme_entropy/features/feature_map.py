"""φ as a whole: x ↦ encoding ↦ scaling ↦ layer ↦ (whitening), and how it is drawn.

φ is drawn from a specification, column statistics, sampled rows and a seed, and frozen. Everything
but the number of neurons or landmarks is taken from the first `SAMPLE_ROWS` sampled rows, so that
a smaller φ is always the first part of a larger one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ..engines.blas import times_upper
from .codes import Coded, on_knots
from .content import ContentHash, RowSample
from .encoding import Encoding
from .kernels import Cosine, CustomKernel, KernelLayer, Laplacian, Polynomial, median_gamma
from .landmarks import whitening
from .neurons import (
    BALANCED,
    UNIFORM,
    NeuronLayer,
    Radial,
    Similarity,
    draw_laplacian,
    draw_neurons,
    draw_radial,
    log_deviation,
)
from .scaling import SAMPLE_ROWS, ColumnStats, Scaling, fit_scaling

Array = np.ndarray[Any, Any]

Layer = NeuronLayer | KernelLayer | Coded
MANY_ROWS = 10_000  # from which on a faster φ is worth moving landmarks
LEARNING_ROWS = 1000  # of each class, that relevance is learned from
LEAST = 1e-3  # of the largest weight: columns that count for less are left out
Room = list[Array]  # for the hidden layer of each part, and for all features if there are several


@dataclass(frozen=True, slots=True)
class Part:
    """One layer of φ, the columns it sees, and what follows it."""

    layer: Layer
    columns: Array | None = None  # which it sees; all without it
    weights: Array | None = None  # of those columns: the layer sees z∘w
    whitening: Array | None = None  # upper triangular (hidden, features), for kernels

    def seen(self, Z: Array) -> Array:
        """Scaled rows as the layer sees them."""
        if self.columns is not None:
            Z = Z[:, self.columns]
        return Z if self.weights is None else Z * self.weights

    def features(self, Z: Array, room: Array | None = None) -> Array:
        """The features of scaled rows, in `room` if they can be."""
        H = self.layer(self.seen(Z), room)
        return H if self.whitening is None else times_upper(H, self.whitening)

    def gradient(self, Z: Array, operators: Array, half: Array | None = None) -> Array:
        """∂/∂z of operators (m, size) on the features at scaled rows   (m, n, d)."""
        A = operators.T if self.whitening is None else self.whitening @ operators.T
        columns = slice(None) if self.columns is None else self.columns
        weights = 1.0 if self.weights is None else self.weights
        half = None if half is None else half[:, columns] * weights
        assert not isinstance(self.layer, Coded)  # which parts have only in one precision
        own = self.layer.gradient(Z[:, columns] * weights, A, half)
        own *= weights
        if self.columns is None:
            return own
        gradient = np.zeros((len(operators), *Z.shape))
        gradient[:, :, columns] = own
        return gradient

    def first(self, k: int) -> Part:
        """The part with the first k neurons or landmarks."""
        W = None if self.whitening is None else self.whitening[:k, :k]
        return replace(self, layer=self.layer.first(k), whitening=W)

    def in_precision(self, dtype: np.dtype[Any]) -> Part:
        """The same in single or double precision, and in the form that is quickest to apply."""
        arrays = {}
        for field in fields(self.layer):
            value = getattr(self.layer, field.name)
            if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                arrays[field.name] = value.astype(dtype, copy=False)
        layer: Layer = replace(self.layer, **arrays)  # type: ignore[arg-type]  # of the same layer
        return replace(
            self,
            layer=layer.quickest() if isinstance(layer, Laplacian) else layer,
            weights=None if self.weights is None else self.weights.astype(dtype, copy=False),
            whitening=None if self.whitening is None else self.whitening.astype(dtype, copy=False),
        )


@dataclass(frozen=True, slots=True)
class FeatureMap:
    """φ, drawn once and frozen. Features of several parts take turns."""

    content: ContentHash
    encoding: Encoding
    scaling: Scaling
    parts: tuple[Part, ...]
    relevance: Array | None = None  # the weight of each encoded column, where it was learned

    @property
    def d(self) -> int:
        """Columns of x."""
        return self.encoding.d

    @property
    def typical(self) -> Array:
        """The median of each column, or its most frequent category, encoded and scaled."""
        return self.scaled(self.encoding.typical[np.newaxis])[0]

    @property
    def h(self) -> int:
        """Dimensions of φ(x)."""
        return sum(map(attrgetter("layer.size"), self.parts))

    def scaled(self, X: Array) -> Array:
        """Dense rows with their columns encoded and scaled."""
        return self.scaling(self.encoding(X))

    def __call__(self, X: Array, room: Room | None = None) -> Array:
        """φ of dense rows; `room` is overwritten, and may hold the result."""
        return self.features(self.scaled(X), room)

    def features(self, Z: Array, room: Room | None = None) -> Array:
        """φ of rows that are scaled already."""
        n, p = len(Z), len(self.parts)
        if p == 1:
            part = self.parts[0]
            return part.features(Z, None if room is None else room[0])
        features = np.empty((n, self.h), Z.dtype) if room is None else room[p][:n]
        for i, part in enumerate(self.parts):
            features[:, i::p] = part.features(Z, None if room is None else room[i])
        return features

    def project(self, X: Array, operators: list[Array], room: Room | None = None) -> Array:
        """Dense rows times operators on the hidden layers (see `folded`)."""
        return self.project_scaled(self.scaled(X), operators, room)

    def project_scaled(self, Z: Array, operators: list[Array], room: Room | None = None) -> Array:
        """The same of rows that are scaled already."""
        total: Any = 0.0
        for i, (part, beta) in enumerate(zip(self.parts, operators, strict=True)):
            H = part.layer(part.seen(Z), None if room is None else room[i])
            total = total + H @ beta
        return total

    def folded(self, operators: Array, dtype: np.dtype[Any]) -> list[Array]:
        """Operators on φ (k, h) as operators on the hidden layer of each part (hidden, k).

        L^{−⊤} is folded into β, so that a row costs one layer and one product.
        """
        p = len(self.parts)
        own = [operators[:, i::p].T for i in range(p)]
        return [
            np.ascontiguousarray(
                beta if part.whitening is None else part.whitening @ beta, dtype=dtype
            )
            for part, beta in zip(self.parts, own, strict=True)
        ]

    def gradient(self, Z: Array, operators: Array, half: Array | None = None) -> Array:
        """∂/∂z of operators (m, h) on φ at scaled rows   (m, n, d); `half` as in `kernels.py`."""
        p = len(self.parts)
        found = (part.gradient(Z, operators[:, i::p], half) for i, part in enumerate(self.parts))
        return sum(found, np.zeros(()))

    def room(self, n: int, dtype: np.dtype[Any]) -> Room:
        """Memory for the hidden layers of n rows, and for φ of them.

        Asking the system for fresh memory costs a good part of what a chunk does, so that chunk
        after chunk should be given the same.
        """
        sizes = list(map(attrgetter("layer.size"), self.parts))
        sizes += [sum(sizes)] if len(sizes) > 1 else []
        return [np.empty((n, k), dtype) for k in sizes]

    def first(self, k: int) -> FeatureMap:
        """φ with the first k features: the φ that would be drawn with so many."""
        p = len(self.parts)
        parts = (part.first(len(range(i, k, p))) for i, part in enumerate(self.parts))
        return replace(self, parts=tuple(part for part in parts if part.layer.size))

    def in_precision(self, dtype: np.dtype[Any]) -> FeatureMap:
        """The same φ with its layers in single or double precision."""
        return replace(self, parts=tuple(part.in_precision(dtype) for part in self.parts))


class SampleSizes(NamedTuple):
    """How many rows must be sampled."""

    of_all: int  # classes together
    of_class: int  # each


def learns(relevance: str, layer: Any) -> bool:
    """Whether relevance is learned for a layer: always, never, or with "auto" where it helps."""
    return relevance == "learned" or (relevance == "auto" and layer in ("mixed", "laplacian"))


@dataclass(frozen=True, slots=True)
class NeuronSpec:
    """What a user asks of a layer of random neurons."""

    n_hidden: int
    activation: str | Callable[..., Array]
    scale: str | None
    relevance: str = "uniform"

    @property
    def learns_relevance(self) -> bool:
        """Whether columns are weighted by what they are found to matter."""
        return learns(self.relevance, self.activation)

    @property
    def sample_size(self) -> int:
        """How many rows must be sampled."""
        uniform = callable(self.activation) or self.activation in UNIFORM
        if uniform and not self.learns_relevance:
            return SAMPLE_ROWS if self.scale == "quantile" else 0
        return max(self.n_hidden, SAMPLE_ROWS)

    @property
    def by_distance(self) -> bool:
        """Whether rows are seen by their distances alone, but for constants that change nothing."""
        return self.activation in ("mixed", "laplacian")

    def sample_sizes(self, n: float, n_classes: int, d: int) -> SampleSizes:
        """The same, and of each class: so many, whatever the table."""
        return SampleSizes(self.sample_size, LEARNING_ROWS * self.learns_relevance)


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """What a user asks of a Nyström approximation of a kernel."""

    n_landmarks: int
    kernel: str | Callable[..., float]
    gamma: float | str
    scale: str | None
    relevance: str = "uniform"

    @property
    def learns_relevance(self) -> bool:
        """Whether columns are weighted by what they are found to matter."""
        return learns(self.relevance, self.kernel)

    @property
    def sample_size(self) -> int:
        """How many rows must be sampled."""
        return max(self.n_landmarks, SAMPLE_ROWS)

    @property
    def by_distance(self) -> bool:
        """Whether rows are seen by their distances alone, but for constants that change nothing."""
        return self.kernel in ("mixed", "rbf", "laplacian")

    def sample_sizes(self, n: float, n_classes: int, d: int) -> SampleSizes:
        """The same, and of each class: so many, whatever the table."""
        return SampleSizes(self.sample_size, LEARNING_ROWS * self.learns_relevance)


Spec = NeuronSpec | KernelSpec


def draw(
    spec: Spec,
    encoding: Encoding,
    stats: ColumnStats,
    sample: RowSample,
    content: ContentHash,
    dtype: np.dtype[Any],
    weights: Array | None = None,
    *,
    alone: bool = False,
    scaling: Scaling | None = None,
    move: bool = True,
) -> FeatureMap:
    """φ as specified, for encoded columns with these statistics and rows of this precision.

    The sampled rows are encoded. `weights` say how much each column counts. In "mixed" layers they
    are those of the Laplacian part alone: beside it the plain part sees all columns alike, so that
    nothing is lost where weights mislead; unless the Laplacian part shall stand `alone`. Without a
    `scaling` one is fitted. `move` lets landmarks of Laplacian layers be moved a little, which
    makes φ faster (`codes`).
    """
    if scaling is None:
        given = spec.scale, stats, sample.rows[:SAMPLE_ROWS]
        scaling = fit_scaling(*given, by_distance=spec.by_distance)
    rows = scaling(sample.rows)
    kind: Any
    draw_part: Callable[..., Part]
    if isinstance(spec, NeuronSpec):
        kind, plain, size = spec.activation, "radial", spec.n_hidden
        draw_part = partial(_draw_neurons, content.seed, move)
    else:
        kind, plain, size = spec.kernel, "rbf", spec.n_landmarks
        draw_part = partial(_draw_kernel, spec, dtype, move)
    if kind != "mixed":
        kinds = [(kind, weights)]
    elif alone and weights is not None:
        kinds = [("laplacian", weights)]
    elif plain == "radial" and weights is None:
        kinds = [(plain, None)]
    else:
        kinds = [(plain, None), ("laplacian", weights)]
    # Landmarks of all parts are apart, and those of fewer are the first of those of more.
    p = max(min(len(kinds), size, len(rows)), 1)
    parts = [
        draw_part(kind, len(range(i, size, p)), rows[i::p], len(rows[:SAMPLE_ROWS][i::p]), own)
        for i, (kind, own) in enumerate(kinds[:p])
    ]
    return FeatureMap(content, encoding, scaling, tuple(parts), weights)


def _seen(rows: Array, weights: Array | None) -> tuple[Array, Array | None, Array | None]:
    """Rows as a part sees them, which columns those are, and their weights."""
    if weights is None:
        return rows, None, None
    kept = np.flatnonzero(weights > LEAST * weights.max())
    columns = None if len(kept) == len(weights) else kept
    return rows[:, kept] * weights[kept], columns, weights[kept]


def _draw_neurons(
    seed: int,
    move: bool,
    activation: Any,
    h: int,
    rows: Array,
    n_typical: int,
    weights: Array | None,
) -> Part:
    """A part of h neurons for scaled sampled rows, the first of which are typical of all."""
    rows, columns, weights = _seen(rows, weights)
    layer: Layer
    if activation == "radial":
        layer = draw_radial(h, rows, seed, n_typical)
    elif activation == "laplacian":
        layer = draw_laplacian(h, rows, seed, n_typical, move=move)
    else:
        layer = draw_neurons(activation, h, rows, seed)
    return Part(layer, columns, weights)


def _draw_kernel(
    spec: KernelSpec,
    dtype: np.dtype[Any],
    move: bool,
    kernel: Any,
    h: int,
    rows: Array,
    n_typical: int,
    weights: Array | None,
) -> Part:
    """A part of h landmarks, the first scaled sampled rows, and its whitening."""
    rows, columns, weights = _seen(rows, weights)
    typical, gamma = rows[:n_typical], spec.gamma
    if isinstance(gamma, str):
        gamma = median_gamma(kernel, typical)
    elif spec.kernel == "mixed":  # a multiple, since the two parts measure differently
        gamma *= median_gamma(kernel, typical)
    landmarks = rows[: max(h, BALANCED) if spec.kernel == "mixed" else h]
    if kernel == "laplacian" and move:
        landmarks = on_knots(landmarks, typical)
    layer = kernel_layer(kernel, landmarks, gamma, spec.scale)
    W = whitening(layer(landmarks), dtype)
    if spec.kernel == "mixed":  # both parts vary alike, by their first features
        first = layer.first(BALANCED)(typical) @ W[:BALANCED, :BALANCED]
        W = W * np.exp(-log_deviation(first))
    return Part(layer, columns, weights, W).first(h)


def kernel_layer(
    kernel: str | Callable[..., float], landmarks: Array, gamma: float, scale: str | None
) -> KernelLayer | Radial | Similarity:
    """The layer of a kernel over landmarks that were scaled so."""
    if not isinstance(kernel, str):
        return CustomKernel(kernel, landmarks)
    if kernel == "rbf":
        return Radial.about(landmarks, np.full(len(landmarks), gamma))
    if kernel == "laplacian":
        return Laplacian(landmarks, np.full(len(landmarks), gamma))
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
        numbers = a.dtype.kind == "f"  # NaN is typical of a column where most values are missing
        return a is b or (a.dtype == b.dtype and np.array_equal(a, b, equal_nan=numbers))
    if is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)
