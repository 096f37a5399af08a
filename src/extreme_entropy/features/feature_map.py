"""φ as a whole: x ↦ scaling ↦ layer ↦ (whitening), and the content hash that goes with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

from .content import ContentHash
from .kernels import KernelLayer, KernelOnly
from .mixed import Mixed
from .neurons import Custom, Product, Radial, Relu, Sigmoid
from .scaling import Scaling

Array = np.ndarray[Any, Any]
T = TypeVar("T")

Layer = Mixed | Product | Sigmoid | Relu | Custom | KernelLayer


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

    @property
    def width(self) -> int:
        """The most numbers a row becomes on its way."""
        return max(self.d, self.h, self.layer.size)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Dimensions of φ(x), as of one among several."""
        return (self.h,)

    def hidden(self, X: Array, out: Array | None = None) -> Array:
        """The hidden layer's answer to dense rows, in `out` where it is given."""
        Z = self.scaling(X)
        return self.layer(Z, out) if isinstance(self.layer, Product) else self.layer(Z)

    def __call__(self, X: Array, out: Array | None = None) -> Array:
        """φ of dense rows; `out` may be used as room for the hidden layer."""
        H = self.hidden(X, out)
        return H if self.whitening is None else H @ self.whitening

    def room(self, n: int, dtype: np.dtype[Any]) -> Array | None:
        """Memory for the hidden layer of n rows, so that chunk after chunk uses the same.

        Asking the system for fresh pages costs a good part of what a chunk does.
        """
        return np.empty((n, self.layer.size), dtype) if isinstance(self.layer, Product) else None

    def worker(self, n: int, dtype: np.dtype[Any]) -> Callable[[Array], tuple[Array]]:
        """φ of at most n rows at a time, with room of its own."""
        room = self.room(n, dtype)
        return lambda X: (self(X, room),)

    def block(self, k: int) -> tuple[slice, ...]:
        """The features that the machine with k of these neurons has."""
        return self.layer.block(k) if isinstance(self.layer, Mixed) else (slice(0, k),)

    def first(self, k: int) -> FeatureMap:
        """φ of the machine with k of these neurons."""
        assert not isinstance(self.layer, Product | KernelOnly)
        return replace(self, layer=self.layer.first(k))

    def readout(self, operators: Array) -> Array:
        """Operators on φ as operators on the hidden layer: K_hh^{−1/2} folded into β."""
        return operators if self.whitening is None else operators @ self.whitening.T

    def in_precision(self, dtype: np.dtype[Any]) -> FeatureMap:
        """The same φ with its layer in single or double precision, ready for many rows."""
        whitening, layer = self.whitening, _cast(self.layer, dtype)
        return replace(
            self,
            layer=layer.product() if isinstance(layer, Radial | Mixed) else layer,
            whitening=None if whitening is None else whitening.astype(dtype, copy=False),
        )


def _cast(value: T, dtype: np.dtype[Any]) -> T:
    """A dataclass with every array in it cast."""
    assert is_dataclass(value)
    changes: dict[str, Any] = {}
    for field in fields(value):
        inner = getattr(value, field.name)
        if isinstance(inner, np.ndarray) and inner.dtype.kind == "f":
            changes[field.name] = inner.astype(dtype, copy=False)
        elif is_dataclass(inner):
            changes[field.name] = _cast(inner, dtype)
    return replace(value, **changes)  # type: ignore[type-var]  # narrowed above


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
