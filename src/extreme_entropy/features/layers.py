"""The features of a leaf: scaled columns ↦ layers ↦ (whitening), side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, get_args

import numpy as np
import scipy.sparse as sp

from ..engines.blas import times_upper
from ..engines.threads import dense
from ..shapes import Array, Indices, Numbers
from .additive import Codes
from .codes import Coded
from .feature_settings import FEATURES, FeatureSettings
from .hidden_layer import hidden_axes
from .kernels import KernelLayer, Linear
from .neurons import NeuronLayer

Layer = NeuronLayer | KernelLayer | Codes | Coded | Linear
for _layer in get_args(Layer):  # at once, so that a wrong annotation shows here
    hidden_axes(_layer)
Buffers = list[Array]  # for the hidden layer of each part, and for all features of several


@dataclass(frozen=True, slots=True)
class Part:
    """One layer of φ, the columns it sees, and what follows it."""

    layer: Layer
    # Which it sees; all without it.
    columns: Annotated[Array | None, Indices("seen", below="encoded", increasing=True)] = None
    # Of those columns: the layer sees z∘w.
    weights: Annotated[Array | None, Numbers("seen", least=0)] = None
    # Upper triangular.
    whitening: Annotated[Array | None, Numbers("hidden", "hidden")] = None

    def seen(self, Z: Any) -> Any:
        """Scaled rows as the layer sees them: sparse ones stay so if it is a product."""
        if self.columns is not None:
            Z = Z[:, self.columns]
        if not (isinstance(self.layer, Linear) and self.weights is None):
            Z = dense(Z)
        return Z if self.weights is None else Z * self.weights

    def gradient(self, Z: Array, operators: Array, half: Array | None = None) -> Array:
        """∂/∂z of operators (m, size) on the features at scaled rows   (m, n, d)."""
        A = operators.T if self.whitening is None else self.whitening @ operators.T
        columns = slice(None) if self.columns is None else self.columns
        weights = 1.0 if self.weights is None else self.weights
        half = None if half is None else half[:, columns] * weights
        seen = self.layer.gradient(Z[:, columns] * weights, A, half)
        seen *= weights
        if self.columns is None:
            return seen
        gradient = np.zeros((len(operators), *Z.shape))
        gradient[:, :, columns] = seen
        return gradient

    def first(self, k: int) -> Part:
        """The part with the first k neurons or landmarks."""
        W = None if self.whitening is None else self.whitening[:k, :k]
        return replace(self, layer=self.layer.first(k), whitening=W)

    def in_precision(self, dtype: np.dtype[Any]) -> Part:
        """The same in single or double precision, and in the form that is quickest to apply."""
        arrays: dict[str, Any] = {}
        for field in fields(self.layer):
            value = getattr(self.layer, field.name)
            if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                arrays[field.name] = value.astype(dtype, copy=False)
        return replace(
            self,
            layer=replace(self.layer, **arrays).quickest(),  # type: ignore[arg-type]
            weights=None if self.weights is None else self.weights.astype(dtype, copy=False),
            whitening=None if self.whitening is None else self.whitening.astype(dtype, copy=False),
        )


@dataclass(frozen=True, slots=True)
class Features:
    """The features of rows in a leaf, from scaled columns.

    Those of several parts take turns while they last, so that the first are some of each part.
    """

    parts: tuple[Part, ...]

    @property
    def h(self) -> int:
        """Dimensions of φ(x)."""
        return sum(part.layer.size for part in self.parts)

    @property
    def has_product(self) -> bool:
        """Whether some part is a product with rows, which may be sparse."""
        return any(part.layer.is_product and part.weights is None for part in self.parts)

    def places(self) -> Sequence[slice | Array]:
        """Where the features of each part are: in order of their number, then of their part."""
        sizes, p = [part.layer.size for part in self.parts], len(self.parts)
        if sizes == [len(range(i, sum(sizes), p)) for i in range(p)]:  # quicker, if all last
            return [slice(i, None, p) for i in range(p)]
        numbers = np.concatenate([np.arange(size) for size in sizes])
        places = np.argsort(np.argsort(numbers, kind="stable"))
        return np.split(places, np.cumsum(sizes)[:-1])

    def __call__(self, Z: Array, buffers: Buffers | None = None) -> Array:
        """The features of scaled rows; `buffers` are overwritten, and may hold the result."""
        p, outputs = len(self.parts), []
        for i, part in enumerate(self.parts):
            H = part.layer(part.seen(Z), None if buffers is None else buffers[i])
            outputs.append(H if part.whitening is None else times_upper(H, part.whitening))
        if p == 1:
            return outputs[0]
        shape = Z.shape[0], self.h
        features = np.empty(shape, Z.dtype) if buffers is None else buffers[p][: shape[0]]
        for place, H in zip(self.places(), outputs, strict=True):
            features[:, place] = H
        return features

    def of_sampled(self, Z: Array, settings: FeatureSettings = FEATURES) -> Array:
        """The features of dense rows, without the zeros of wide and mostly empty ones."""
        wide = self.has_product and Z.shape[1] > settings.wide
        if wide and np.count_nonzero(Z) < settings.nearly_empty * Z.size:
            return self.in_precision(Z.dtype)(sp.csr_array(Z))
        return self(Z)

    def project(self, Z: Array, operators: list[Array], buffers: Buffers | None = None) -> Array:
        """Scaled rows times operators on the hidden layers (see `folded`)."""
        total: Any = 0.0
        for i, (part, beta) in enumerate(zip(self.parts, operators, strict=True)):
            H = part.layer(part.seen(Z), None if buffers is None else buffers[i])
            total = total + H @ beta
        return total

    def folded(self, operators: Array, dtype: np.dtype[Any]) -> list[Array]:
        """Operators on features (k, h) as operators on the hidden layer of each part (hidden, k).

        L^{−⊤} is folded into β, so that a row costs one layer and one product.
        """
        folded = []
        for part, place in zip(self.parts, self.places(), strict=True):
            beta = operators[:, place].T
            beta = beta if part.whitening is None else part.whitening @ beta
            folded.append(np.ascontiguousarray(beta, dtype=dtype))
        return folded

    def with_operators(
        self, operators: Array, dtype: np.dtype[Any]
    ) -> tuple[Features, list[Array]]:
        """The hidden layers in this precision, and operators on them (see `folded`).

        A layer that is a product becomes one with its operator.
        """
        folded = self.folded(operators, dtype)
        hidden = Features(tuple(replace(part, whitening=None) for part in self.parts))
        parts = list(hidden.in_precision(dtype).parts)
        for i, part in enumerate(parts):
            if isinstance(part.layer, Linear):
                parts[i] = replace(part, layer=Linear(part.layer.columns @ folded[i]))
                folded[i] = np.eye(folded[i].shape[1], dtype=dtype)
        return Features(tuple(parts)), folded

    def gradient(self, Z: Array, operators: Array, half: Array | None = None) -> Array:
        """∂/∂z of operators (m, h) on features   (m, n, d); `half` as for a layer."""
        total: Any = 0.0
        for part, place in zip(self.parts, self.places(), strict=True):
            total = total + part.gradient(Z, operators[:, place], half)
        return total

    def buffers(self, n: int, dtype: np.dtype[Any]) -> Buffers:
        """Memory for the hidden layers of n rows, and for their features.

        Asking the system for fresh memory costs a good part of what a chunk does, so that chunk
        after chunk should be given the same.
        """
        sizes = [part.layer.size for part in self.parts]
        sizes += [sum(sizes)] if len(sizes) > 1 else []
        return [np.empty((n, k), dtype) for k in sizes]

    def first(self, k: int) -> Features:
        """The first k features: those that would be drawn if so many were asked for."""
        among = np.arange(self.h) < k
        counts = (int(among[place].sum()) for place in self.places())
        parts = (part.first(n) for part, n in zip(self.parts, counts, strict=True))
        return Features(tuple(part for part in parts if part.layer.size))

    def in_precision(self, dtype: np.dtype[Any]) -> Features:
        """The same with layers in single or double precision."""
        return Features(tuple(part.in_precision(dtype) for part in self.parts))
