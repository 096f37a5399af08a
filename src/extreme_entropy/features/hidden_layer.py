"""A layer: scaled rows (n, d) ↦ outputs of h neurons or landmarks (n, h), in their precision.

The first k of h neurons or landmarks are those that a layer of k would have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self, get_type_hints

import numpy as np

from ..shapes import Array


@dataclass(frozen=True, slots=True)
class HiddenLayer:
    """What all layers share; each has its fields, with their shapes, and `__call__`."""

    @property
    def size(self) -> int:
        """h, the number of neurons or landmarks."""
        axes = hidden_axes(type(self))  # type: ignore[arg-type]  # a class is hashable
        name, axis = next(iter(axes.items()))
        return int(getattr(self, name).shape[axis])

    def first(self, k: int) -> Self:
        """The layer of the first k neurons or landmarks."""
        axes = hidden_axes(type(self))  # type: ignore[arg-type]  # a class is hashable
        first = {axis: (slice(None),) * axis + (slice(k),) for axis in axes.values()}
        arrays: dict[str, Any] = {name: getattr(self, name)[first[axes[name]]] for name in axes}
        return replace(self, **arrays)

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        """Outputs for scaled rows, in the first rows of `out` if they can be   (n, h)."""
        raise NotImplementedError

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """The derivative with respect to z of Σ_j a_j H_j(z) for each column a of A   (m, n, d).

        With `half` (n, d) a layer with kinks takes the mean slope between z − half and z + half,
        which a kink makes continuous; one without has no use for it. By central differences, one
        column at a time, unless a layer knows better.
        """
        # The error of a step t is of the order t² + eps/t, which is least at the cube root of eps.
        step = float(np.cbrt(np.finfo(Z.dtype).eps))
        gradient = np.empty((A.shape[1], *Z.shape))
        for column in range(Z.shape[1]):
            above, below = Z.copy(), Z.copy()
            above[:, column] += step * np.maximum(1.0, abs(Z[:, column]))
            below[:, column] -= step * np.maximum(1.0, abs(Z[:, column]))
            width = above[:, column] - below[:, column]
            gradient[:, :, column] = ((self(above) - self(below)) @ A).T / width
        return gradient

    @property
    def is_product(self) -> bool:
        """Whether it is a product with the rows, which may be sparse."""
        return False

    def quickest(self) -> HiddenLayer:
        """The same layer in the form that is quickest to apply."""
        return self


def mean_sign(t: Array, half: Array | None) -> Array:
    """The mean of sign between t − half and t + half, written over t."""
    if half is None:
        return np.sign(t, out=t)
    t /= np.maximum(abs(half), 1e-100)  # a segment of no length counts as a very short one
    return np.clip(t, -1, 1, out=t)


@cache
def hidden_axes(layer: type) -> dict[str, int]:
    """Which fields have a size "hidden", and along which axis."""
    hints = get_type_hints(layer, include_extras=True).items()
    bounds = {name: getattr(hint, "__metadata__", ()) for name, hint in hints}
    sizes = {name: list(getattr(bound[0], "sizes", ())) for name, bound in bounds.items() if bound}
    return {name: size.index("hidden") for name, size in sizes.items() if "hidden" in size}
