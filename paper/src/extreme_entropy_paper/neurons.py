"""The paper's neurons, by their formulas and apart from the library's own code.

    sig      1 / (1 + exp(−⟨w,z⟩ + b))
    nsig     1 / (1 + exp(−⟨w,z⟩/d + b))
    rbf      exp(−b‖w−z‖²)
    linear   ⟨w,z⟩ + b

w and b are uniform on [0, 1], rows z are scaled to [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.metrics.pairwise import euclidean_distances

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class PaperNeurons:
    """h neurons of one activation."""

    activation: str
    weights: Array  # (h, d)
    biases: Array  # (h,)

    @property
    def size(self) -> int:
        return len(self.weights)

    @classmethod
    def draw(cls, activation: str, h: int, d: int, rng: np.random.Generator) -> Self:
        """Neuron by neuron, so that the first of many neurons are those of a smaller layer."""
        drawn = rng.random((h, d + 1))
        return cls(activation, drawn[:, :d], drawn[:, d])

    def __call__(self, Z: Array) -> Array:
        if self.activation == "rbf":
            H = euclidean_distances(Z, self.weights, squared=True)
            H *= -self.biases
            return np.exp(H, out=H)
        H = Z @ self.weights.T
        if self.activation == "linear":
            return np.asarray(H + self.biases)
        if self.activation == "nsig":
            H /= Z.shape[1]
        H -= self.biases
        return np.asarray(expit(H, out=H))
