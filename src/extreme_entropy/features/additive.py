"""The additive part of φ: scaled columns as codes between knots.

For a column with knots k_0 < … < k_B and a size s,

    c_b(z) = clip((z − k_b) / (k_{b+1} − k_b), 0, 1) s,   b = 0 … B − 1,

so that Σ_b β_b c_b can be any function of the column that is straight between knots and flat beyond
them; from k_b to k_{b+1} it rises by β_b s. The codes of all columns form an additive model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..shapes import Array, Count, Indices, Numbers
from .hidden_layer import HiddenLayer

STEEPEST = 1e20  # the largest gain of a code, so that products are finite in single precision
SHORTEST = 1e-8  # segment, in widths of a code: a difference keeps half of its digits


@dataclass(frozen=True, slots=True)
class Codes(HiddenLayer):
    """clip((z[column] − low) gain, 0, height) for each code; those of a column stand together."""

    d: Annotated[int, Count("seen")]  # columns, of which some may have no codes
    column: Annotated[Array, Indices("hidden", below="seen")]  # nondecreasing
    low: Annotated[Array, Numbers("hidden")]
    gain: Annotated[Array, Numbers("hidden", least=0)]
    height: Annotated[Array, Numbers("hidden", least=0)]

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        # Columns are in range: mode="clip" only spares NumPy a buffer.
        out = None if out is None else out[: len(Z)]
        H = np.take(Z, self.column, axis=1, out=out, mode="clip")
        H -= self.low
        H *= self.gain
        np.maximum(H, 0, out=H)
        return np.minimum(H, self.height, out=H)

    def gradient(self, Z: Array, A: Array, half: Array | None = None) -> Array:
        """The slopes of the codes of each column, added up by each column of A   (m, n, d).

        A slope is the gain within a code, 0 beyond it, and the mean of both on a knot. Over a
        segment, it is the rise of the code divided by the length of the segment.
        """
        gradient = np.zeros((A.shape[1], *Z.shape))
        slopes = self._shares(Z, half) * self.gain
        starts = np.flatnonzero(np.diff(self.column, prepend=-1))
        for m, a in enumerate(A.T):
            gradient[m][:, self.column[starts]] = np.add.reduceat(slopes * a, starts, axis=1)
        return gradient

    def _shares(self, Z: Array, half: Array | None) -> Array:
        """The share of the segment about each z that lies within each code   (n, hidden)."""
        t = (Z[:, self.column] - self.low) * self.gain
        if half is None:
            return (np.sign(t) - np.sign(t - self.height)) / 2
        # A segment without length counts as a very short one; no code is as small as 1e-100.
        least = np.maximum(SHORTEST * self.height, 1e-100)
        reach = np.maximum(abs(half[:, self.column]) * self.gain, least)
        ends = (np.clip(t + side * reach, 0, self.height) for side in (1, -1))
        return np.subtract(*ends) / (2 * reach)


def codes_between(knots: Sequence[Array], sizes: Array) -> Codes:
    """Codes between the increasing knots of each column; fewer than two knots make no code.

    Each code goes from 0 to the size of its column.
    """
    steps = np.concatenate([np.empty(0), *map(np.diff, knots)])
    column = np.repeat(np.arange(len(knots)), [max(len(k) - 1, 0) for k in knots])
    height = np.asarray(sizes, dtype=np.float64)[column]
    with np.errstate(over="ignore"):
        gain = np.minimum(height / steps, STEEPEST)
    low = np.concatenate([np.empty(0), *(k[:-1] for k in knots)])
    return Codes(len(knots), column, low, gain, height)
