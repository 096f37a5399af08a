"""Nyström features of one kernel for several γ: distances to the landmarks are computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from ..features.landmarks import nested_whitening
from ..features.scaling import Scaling

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel in two steps: what does not depend on γ, and what does."""

    base: Callable[[Array, Array], Array]  # rows, landmarks
    finish: Callable[[Array, float], Array]  # base, γ


GAMMA_KERNELS = {
    "rbf": Kernel(
        lambda Z, L: euclidean_distances(Z, L, squared=True), lambda D, g: np.exp(-g * D)
    ),
    "laplacian": Kernel(manhattan_distances, lambda D, g: np.exp(-g * D)),
    "polynomial": Kernel(lambda Z, L: Z @ L.T, lambda P, g: (g * P + 1) ** 3),
}


@dataclass(frozen=True, slots=True)
class GammaFamily:
    """φ for each γ, in the basis in which the first k features are those of k landmarks."""

    scaling: Scaling
    kernel: Kernel
    landmarks: Array  # (h, d)
    gammas: tuple[float, ...]
    whitenings: tuple[Array, ...]  # (h, rank) each
    ranks: tuple[Array, ...]  # features of the first k landmarks, for each k   (h + 1,) each

    @classmethod
    def of(
        cls,
        scaling: Scaling,
        kernel: Kernel,
        landmarks: Array,
        gammas: tuple[float, ...],
        dtype: np.dtype[Any],
    ) -> GammaFamily:
        """The family over scaled landmarks, in single or double precision."""
        base = kernel.base(landmarks, landmarks)
        nested = [nested_whitening(kernel.finish(base, gamma), dtype) for gamma in gammas]
        return cls(
            scaling,
            kernel,
            landmarks.astype(dtype),
            gammas,
            tuple(whitening.astype(dtype) for whitening, _ in nested),
            tuple(ranks for _, ranks in nested),
        )

    @property
    def d(self) -> int:
        """Columns of x."""
        return self.landmarks.shape[1]

    @property
    def width(self) -> int:
        """The most numbers a row becomes on its way."""
        return max(self.landmarks.shape)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Dimensions of each φ(x)."""
        return tuple(whitening.shape[1] for whitening in self.whitenings)

    def worker(self, n: int, dtype: np.dtype[Any]) -> Callable[[Array], Iterator[Array]]:
        """Each φ of at most n rows at a time."""

        def work(X: Array) -> Iterator[Array]:
            base = self.kernel.base(self.scaling(X), self.landmarks)
            for gamma, whitening in zip(self.gammas, self.whitenings, strict=True):
                yield self.kernel.finish(base, gamma).astype(dtype, copy=False) @ whitening

        return work
