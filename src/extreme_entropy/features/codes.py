"""Distances ‖z−l‖₁ as one product: landmarks on a few knots, rows as codes between knots.

For a column with knots k_0 < … < k_B, a landmark on the knot k_m, and z cut to [k_0, k_B],

    |z − k_m| = Σ_b ±(clip(z, k_b, k_{b+1}) − k_b) + (k_m − k_0),   + where b ≥ m, − below,

and what z has beyond its knots is as far from every landmark. This is no approximation. A column of
two values (a flag, a one-hot code) takes one code, others one code less than they have knots. Where
landmarks lie is our choice, so that their coordinates are moved to knots when φ is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..shapes import Array, Numbers
from .feature_settings import FEATURES, FeatureSettings
from .hidden_layer import HiddenLayer


@dataclass(frozen=True, slots=True)
class Coded(HiddenLayer):
    """c·exp(−b‖z−l‖₁) for landmarks whose coordinates lie on few knots."""

    origin: Array  # k_0 of each column   (d,)
    reach: Array  # k_B − k_0   (d,)
    column: Array  # that each code is of; d is the distance beyond all knots, d + 1 is 1   (codes,)
    low: Array  # k_b − k_0 of each code   (codes,)
    high: Array  # k_{b+1} − k_0
    product: Annotated[Array, Numbers("codes", "hidden")]  # codes ↦ ln c − b‖z−l‖₁
    log_height: float  # ln c; an exponent is larger by rounding alone

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        n, d = Z.shape
        Z = Z - self.origin
        inside = np.ones((n, d + 2), Z.dtype)
        np.clip(Z, 0, self.reach, out=inside[:, :d])
        Z -= inside[:, :d]
        np.abs(Z, out=Z).sum(axis=1, out=inside[:, d])
        codes = inside[:, self.column]
        np.maximum(codes, self.low, out=codes)
        np.minimum(codes, self.high, out=codes)
        H = np.matmul(codes, self.product, out=None if out is None else out[:n])
        return np.exp(np.minimum(H, Z.dtype.type(self.log_height), out=H), out=H)


def coded(
    landmarks: Array, rates: Array, log_height: float, settings: FeatureSettings = FEATURES
) -> Coded | None:
    """The layer of these landmarks and rates, or None where measuring distances is faster."""
    h, d = landmarks.shape
    knots = [np.unique(values) for values in landmarks.T]
    if not h or sum(map(len, knots)) > (settings.cheap_codes + 1) * d:
        return None
    dtype, rates = landmarks.dtype, rates.astype(np.float64)
    column, low, high, product = [], [], [], []
    constant = np.zeros(h)
    for j, k in enumerate(knots):
        k = k.astype(np.float64) - float(k[0])
        m = np.searchsorted(k, landmarks[:, j].astype(np.float64) - float(knots[j][0]))
        signs = np.where(np.arange(len(k) - 1)[:, np.newaxis] >= m, 1.0, -1.0)
        constant += k[m] - k[:-1] @ signs
        column.append(np.full(len(signs), j))
        low.append(k[:-1])
        high.append(k[1:])
        product.append(signs)
    column.append(np.array([d, d + 1]))
    low.append(np.full(2, -np.inf))
    high.append(np.full(2, np.inf))
    product += [np.ones((1, h)), constant[np.newaxis]]
    table = np.concatenate(product)
    table *= -rates
    table[-1] += log_height
    return Coded(
        origin=np.array([k[0] for k in knots], dtype),
        reach=np.array([k[-1] - k[0] for k in knots], dtype),
        column=np.concatenate(column),
        low=np.concatenate(low).astype(dtype),
        high=np.concatenate(high).astype(dtype),
        product=table.astype(dtype),
        log_height=log_height,
    )


def on_knots(rows: Array, typical: Array, settings: FeatureSettings = FEATURES) -> Array:
    """Rows with each coordinate at the nearest knot of its column; where columns are few, as given.

    Knots are values of typical rows. How many a column gets grows with how widely it is spread, so
    that the sum of squares of all moves is about as small as it can be.
    """
    d = rows.shape[1]
    if d < settings.few_columns:
        return rows
    spread = np.ptp(np.quantile(typical, [0.05, 0.95], axis=0), axis=0) ** (2 / 3)
    codes = max(settings.fewest_codes, settings.moved_codes * d)
    counts = 1 + np.ceil(codes * spread / (spread.sum() or 1.0)).astype(int)
    moved = np.empty_like(rows)
    for j, count in enumerate(np.maximum(counts, 2)):
        knots = knots_by_rank(typical[:, j], int(count), int(count))
        nearest = np.searchsorted((knots[1:] + knots[:-1]) / 2, rows[:, j])
        moved[:, j] = knots[nearest]
    return moved


def knots_by_rank(values: Array, most: int, distinct: int) -> Array:
    """All distinct values up to so many, or about `most` at equal steps of rank.

    Heaps of one value are cut, so that they do not take all steps.
    """
    unique, counts = np.unique(values, return_counts=True)
    if len(unique) <= distinct:
        return unique
    ranks = np.cumsum(np.minimum(counts, len(values) / (2 * most)))
    steps = (np.arange(most) + 0.5) / most * ranks[-1]
    return unique[np.unique(np.searchsorted(ranks, steps))]
