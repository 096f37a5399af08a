"""The default layer: linear neurons beside radial ones, both from the data's own scale.

    linear  c·⟨w, z − mean⟩         the columns themselves while they fill at most half the layer,
                                    normal random projections otherwise
    radial  c·exp(−b‖w − z‖²)       w a drawn row, b = 10^u / median ‖z−z'‖², u uniform on [−1, 1]

c makes the mean variance of each kind 1 over the drawn rows, so that shrinkage towards a multiple
of the identity treats both kinds alike. No labels are used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .kernels import median_distance
from .neurons import Linear, Product, Radial

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Mixed:
    """Linear neurons first, then radial ones."""

    linear: Linear
    radial: Radial

    @property
    def size(self) -> int:
        return self.linear.size + self.radial.size

    def block(self, k: int) -> tuple[slice, slice]:
        """The k neurons of a smaller layer: linear ones in at most half of it, as when drawn."""
        n_linear = min(self.linear.size, k // 2)
        return slice(0, n_linear), slice(self.linear.size, self.linear.size + k - n_linear)

    def first(self, k: int) -> Mixed:
        """The layer of those k neurons."""
        linear, radial = self.block(k)
        return Mixed(self.linear.first(linear.stop), self.radial.first(radial.stop - radial.start))

    def product(self) -> Product:
        """Both kinds from one product."""
        radial = self.radial.product()
        columns = np.hstack([self.linear.columns(), radial.columns])
        return replace(radial, columns=columns, n_linear=self.linear.size)

    def __call__(self, Z: Array) -> Array:
        return self.product()(Z)


def draw_mixed(h: int, rows: Array, rng: np.random.Generator) -> Mixed:
    """The default layer for scaled drawn rows."""
    d = rows.shape[1]
    n_linear = min(d, h // 2)
    projections = np.eye(d) if d <= h // 2 else rng.standard_normal((d, n_linear))
    linear = _balanced_linear(projections, rows)
    n_radial = h - n_linear
    widths = 10 ** rng.uniform(-1, 1, n_radial) / median_distance(rows, "sqeuclidean")
    centres = rows[np.arange(n_radial) % len(rows)].T.copy()
    return Mixed(linear, _balanced_radial(Radial(centres, widths), rows))


def _balanced_linear(weights: Array, rows: Array) -> Linear:
    outputs = rows @ weights
    weights = weights / _spread(outputs)
    return Linear(weights, rows.mean(axis=0) @ weights)


def _balanced_radial(radial: Radial, rows: Array) -> Radial:
    return Radial(radial.centres, radial.widths, -float(np.log(_spread(radial(rows)))))


def _spread(outputs: Array) -> float:
    """The root of the neurons' mean variance; 1 where nothing varies."""
    variance = float(outputs.var(axis=0).mean()) if outputs.size else 0.0
    return float(np.sqrt(variance)) if variance > 0 else 1.0
