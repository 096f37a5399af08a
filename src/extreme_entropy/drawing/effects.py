"""Effects of single columns, as they vary a priori: a straight line and a random walk beside it.

Knots k_0 < … < k_B of a column lie at equal steps of its ranks and normal scores, half of each, so
that tails get their share. With codes c_b between knots (`features/additive.py`) and Δ_b the step
of the scores, the effect Σ_b e_b c_b has increments e of covariance

    ρ ΔΔᵀ / var(Σ Δ_b c_b) + (1 − ρ) diag(Δ) / Σ_b var(√Δ_b c_b)

so that of its variance a share ρ is a line in normal scores and the rest a random walk along them.
Each column has the same variance, and all together have 1. The codes times a root of the covariance
are features whose weights vary alike, as penalties take them to. Columns too many for codes are
taken as they are, through a linear kernel on landmarks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag
from scipy.special import ndtri

from ..features.additive import Codes, codes_between
from ..features.kernels import Polynomial, whitening
from ..features.layers import Part
from ..shapes import Array
from .settings import EffectSettings


@dataclass(frozen=True, slots=True)
class Effects:
    """Codes of all columns that vary, and an upper root of the covariance of their weights."""

    codes: Codes
    root: Array

    def __call__(self, Z: Array) -> Array:
        return self.codes(Z) @ self.root

    def parts(self, landmarks: Array, size: float, dtype: np.dtype[Any]) -> list[Part]:
        """The features of this size; none where no column varies."""
        return [Part(self.codes, whitening=self.root * size)] if len(self.root) else []


@dataclass(frozen=True, slots=True)
class Straight:
    """All scaled columns as they are, with total variance 1, if they are too many for codes."""

    size: float

    def __call__(self, Z: Array) -> Array:
        return Z * self.size

    def parts(self, landmarks: Array, size: float, dtype: np.dtype[Any]) -> list[Part]:
        """A linear kernel on the landmarks, whose features have this size."""
        layer = Polynomial(landmarks, gamma=self.size**2, constant=0.0, degree=1)
        return [Part(layer, whitening=whitening(layer(landmarks), dtype) * size)]


def draw_effects(seen: Array, most_codes: int, settings: EffectSettings) -> Effects | Straight:
    """The effects of the columns of scaled rows, with so many codes in all."""
    varying = np.flatnonzero(np.ptp(seen, axis=0) > 0) if len(seen) else np.arange(0)
    # A linear kernel spans all straight lines only where all rows are landmarks.
    few_rows = len(seen) <= settings.wide_rows
    if len(varying) > (most_codes if few_rows else max(most_codes, settings.wide)):
        return Straight(1 / np.sqrt(float(seen.var(axis=0).sum())))
    each = max(most_codes // max(len(varying), 1), 1) + 1  # knots of a column
    knots, roots = [np.empty(0)] * seen.shape[1], []
    for j in varying.tolist():
        knots[j], steps = knots_of(
            seen[:, j], min(settings.knots, each), min(settings.distinct, each)
        )
        coded = codes_between([knots[j]], np.ones(1))(seen[:, [j]])
        straight = steps / coded.dot(steps).std()
        walk = steps / float((coded * np.sqrt(steps)).var(axis=0).sum())
        share = settings.straight
        covariance = share * np.outer(straight, straight) + (1 - share) * np.diag(walk)
        # Its upper triangular root: the lower one, read from the other end.
        lower = np.linalg.cholesky(covariance[::-1, ::-1] / len(varying))
        roots.append(lower[::-1, ::-1])
    return Effects(
        codes_between(knots, np.ones(len(knots))), block_diag(*roots) if roots else np.empty((0, 0))
    )


def knots_of(values: Array, most: int, distinct: int) -> tuple[Array, Array]:
    """Knots of a column that varies, and the steps of the normal score between them.

    All distinct values if they are few, or about `most` at equal steps of rank and normal score,
    with heaps of one value cut. The first and the last are the ends.
    """
    n = len(values)
    knots, counts = np.unique(values, return_counts=True)
    counts = np.minimum(counts, max(n / (2 * most), 1))
    ranks = (np.cumsum(counts) - counts / 2) / counts.sum()
    scores = ndtri(np.clip(ranks, 0.5 / n, 1 - 0.5 / n))
    if len(knots) > distinct:
        along = sum((x - x[0]) / (x[-1] - x[0]) for x in (ranks, scores)) / 2
        places = np.searchsorted(along, np.linspace(0, 1, max(most, 2)))
        chosen = np.unique([0, *places.clip(0, len(knots) - 1), len(knots) - 1])
        knots, scores = knots[chosen], scores[chosen]
    return knots, np.maximum(np.diff(scores), 1e-3)  # knots in both tails have equal scores
