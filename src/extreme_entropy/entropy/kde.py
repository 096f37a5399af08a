"""Rényi's quadratic entropies and the Cauchy–Schwarz divergence of kernel densities of numbers.

    f = n⁻¹ Σ N(xᵢ, σ_f²),                  σ = (4/(3n))^{1/5} std          Silverman's bandwidth
    ∫fg = (n_f n_g)⁻¹ ΣΣ N(xᵢ−yⱼ; 0, τ²),   τ² = σ_f² + σ_g²

Small samples are summed pair by pair. Large ones are thinned first: the points of a cell, narrow
beside τ, become two points with the same mass, mean, variance and skewness. That leaves a relative
error of order (cell/τ)⁴ and about a thousand points of a million, wherever they lie: empty
regions cost nothing. Sums are taken relative to their largest term, so that samples far apart
have a large finite divergence.

A weight counts as repetition: weight 2 is the point twice, and n is the sum of the weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..shapes import Array


class Sample(NamedTuple):
    """Numbers in increasing order, with weights that sum to one."""

    points: Array
    weight: Array
    n: float  # total weight before


def silverman_bandwidth(sample: Any, weight: Any = None) -> float:
    """σ = (4/(3n))^{1/5} std, with the standard deviation of the sample itself (over n).

    Parameters
    ----------
    sample : array-like of shape (n,)
        Numbers.
    weight : array-like of shape (n,), optional
        How often each point counts; then n is their sum.

    Returns
    -------
    float
        0 if all points are equal.

    Examples
    --------
    >>> round(silverman_bandwidth([-1.0, 1.0]), 4)
    0.9221
    >>> silverman_bandwidth([0.0, 1.0], weight=[1, 2]) == silverman_bandwidth([0.0, 1.0, 1.0])
    True
    """
    return _silverman(_sample(sample, weight))


def kde_quadratic_entropy(sample: Any, weight: Any = None, bandwidth: float | None = None) -> float:
    """H₂ = −ln∫f² of the kernel density of a sample.

    Parameters
    ----------
    sample : array-like of shape (n,)
        Numbers.
    weight : array-like of shape (n,), optional
        How often each point counts.
    bandwidth : float, optional
        σ; Silverman's by default.

    Returns
    -------
    float
        In nats. Points that are all equal have a large negative entropy.

    Examples
    --------
    >>> round(kde_quadratic_entropy([0.0], bandwidth=1.0), 4)
    1.2655
    """
    f = _sample(sample, weight)
    (sigma,) = _bandwidths([f], [bandwidth])
    return -_log_overlap(f, f, 2 * sigma**2)


def kde_cross_entropy(
    a: Any,
    b: Any,
    weight_a: Any = None,
    weight_b: Any = None,
    bandwidth_a: float | None = None,
    bandwidth_b: float | None = None,
) -> float:
    """H₂× = −ln∫fg of the kernel densities of two samples.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Numbers.
    weight_a, weight_b : array-like of shape (n,), optional
        How often each point counts.
    bandwidth_a, bandwidth_b : float, optional
        σ of each; Silverman's by default.

    Returns
    -------
    float
        In nats, finite however far apart the samples are.

    Examples
    --------
    >>> round(kde_cross_entropy([0.0], [2.0], bandwidth_a=1.0, bandwidth_b=1.0), 4)
    2.2655
    """
    f, g = _sample(a, weight_a), _sample(b, weight_b)
    sigma_f, sigma_g = _bandwidths([f, g], [bandwidth_a, bandwidth_b])
    return -_log_overlap(f, g, sigma_f**2 + sigma_g**2)


def kde_divergence(a: Any, b: Any, weight_a: Any = None, weight_b: Any = None) -> float:
    """D_CS of the kernel densities of two samples, each with its own Silverman bandwidth.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Numbers.
    weight_a, weight_b : array-like of shape (n,), optional
        How often each point counts.

    Returns
    -------
    float
        In nats: 0 for equal samples, never negative, and finite however far apart they are.

    Examples
    --------
    >>> kde_divergence([0.0, 1.0, 2.0], [2.0, 1.0, 0.0])
    0.0
    >>> near = kde_divergence([0.0, 1.0, 2.0], [1.0, 2.0, 3.0])
    >>> far = kde_divergence([0.0, 1.0, 2.0], [1e6, 1e6 + 1, 1e6 + 2])
    >>> 0 < near < far < float("inf")
    True
    """
    f, g = _sample(a, weight_a), _sample(b, weight_b)
    sigma_f, sigma_g = _bandwidths([f, g], [None, None])
    within = _log_overlap(f, f, 2 * sigma_f**2) + _log_overlap(g, g, 2 * sigma_g**2)
    return max(within - 2 * _log_overlap(f, g, sigma_f**2 + sigma_g**2), 0.0)


def _sample(points: Any, weight: Any) -> Sample:
    """The sample in order, without points of no weight."""
    points = np.asarray(points, dtype=float)
    if points.ndim != 1 or not len(points) or not np.isfinite(points).all():
        raise InputError(
            "A sample must be finite numbers, at least one; "
            f"an array of shape {points.shape} came. Drop missing values, and ravel columns."
        )
    if weight is None:
        return Sample(np.sort(points), np.full(len(points), 1 / len(points)), float(len(points)))
    weight = np.asarray(weight, dtype=float)
    if weight.shape != points.shape or not (weight >= 0).all() or not 0 < weight.sum() < np.inf:
        raise InputError(
            f"Weights must be one for each of the {len(points)} points, none of them negative and "
            f"some positive; an array of shape {weight.shape} and sum {weight.sum()} came."
        )
    n = float(weight.sum())
    lightest = 1e-100 * n  # the product of two lighter ones would underflow
    counted = np.flatnonzero(weight > lightest)
    order = counted[np.argsort(points[counted])]
    return Sample(points[order], weight[order] / n, n)


def _silverman(sample: Sample) -> float:
    # About a point in the middle, so that equal points have no spread and far ones keep digits.
    away = sample.points - sample.points[len(sample.points) // 2]
    away -= sample.weight @ away
    return (4 / (3 * sample.n)) ** 0.2 * math.sqrt(sample.weight @ np.square(away, out=away))


def _bandwidths(
    samples: list[Sample], chosen: list[float | None], share: float = 1e-9
) -> list[float]:
    """The bandwidth of each that was chosen, or Silverman's, positive so that entropies are finite.

    A sample without spread gets that share of the other's bandwidth, or of the gap between the two.
    """
    widths = [_silverman(sample) for sample in samples]
    means = [float(sample.weight @ sample.points) for sample in samples]
    rounding = 8 * np.finfo(float).eps * max(map(_size, samples))
    narrowest = 1e-150  # whose square is still a number
    floor = max(share * max(*widths, max(means) - min(means)), rounding, narrowest)
    for bandwidth in chosen:
        if bandwidth is not None and not 0 < bandwidth < math.inf:
            raise InputError(
                f"A bandwidth must be a positive number; got {bandwidth}. "
                "Leave it out for Silverman's."
            )
    return [max(w, floor) if b is None else float(b) for w, b in zip(widths, chosen, strict=True)]


def _size(sample: Sample) -> float:
    return float(max(-sample.points[0], sample.points[-1]))


def _log_overlap(f: Sample, g: Sample, variance: float, cell: float = 0.1) -> float:
    """ln ΣΣ weight·weight·N(x−y; 0, τ²), where variance = τ² and a cell is a share of τ."""
    tau = math.sqrt(variance)
    few_f, few_g = _thinned(f, cell * tau), _thinned(g, cell * tau)
    gap = _gap(few_f, few_g)
    if gap > tau:
        # Out there the kernel is steep: it falls by a factor of e within τ²/gap.
        few_f, few_g = (_thinned(sample, cell * variance / gap) for sample in (f, g))
    return _log_sum(few_f, few_g, variance)


def _thinned(sample: Sample, width: float, few: int = 256) -> Sample:
    """At most two points for each cell of this width, with the cell's first four moments.

    With the cell's variance v and third central moment κ, they lie at r₋ and r₊ about its mean, the
    roots of r² − (κ/v)r − v: Gauss's quadrature for the cell's points, so both lie among them. A
    sample of few points stays as it is.
    """
    points, weight, n = sample
    if len(points) <= few:
        return sample
    cells = np.floor((points - points[0]) / width)
    starts = np.flatnonzero(np.diff(cells, prepend=-1.0))
    first = points[starts]
    along = (points - np.repeat(first, np.diff(starts, append=len(points)))) / width
    mass = np.add.reduceat(weight, starts)
    powers = (along, along**2, along**2 * along)
    mean, second, third = (np.add.reduceat(weight * power, starts) / mass for power in powers)
    v = second - mean**2
    rounding = 1e-10  # of a variance; the points of a cell with less are one
    apart = v > rounding
    v = np.where(apart, v, 1.0)
    half_skew = np.where(apart, third - 3 * mean * second + 2 * mean**3, 0.0) / (2 * v)
    root = np.sqrt(half_skew**2 + v)
    upper = np.where(apart, mass * (root - half_skew) / (2 * root), 0.0)
    low = np.where(apart, mean + half_skew - root, mean)
    nodes = first[:, None] + width * np.column_stack([low, mean + half_skew + root])
    needed = np.column_stack([np.ones_like(apart), apart])
    return Sample(nodes[needed], np.column_stack([mass - upper, upper])[needed], n)


def _gap(f: Sample, g: Sample) -> float:
    """The least distance between a point of f and one of g."""
    above = np.minimum(np.searchsorted(g.points, f.points), len(g.points) - 1)
    nearer = (abs(g.points[near] - f.points).min() for near in (above, np.maximum(above - 1, 0)))
    return float(min(nearer))


def _log_sum(f: Sample, g: Sample, variance: float, negligible: float = 40.0) -> float:
    """The sum of `_log_overlap`, pair by pair, without pairs that together hold e⁻⁴⁰ of it."""
    gap, lightest = _gap(f, g), math.log(f.weight.min()) + math.log(g.weight.min())
    scale = -0.5 / variance
    peak = gap * gap * scale
    reach = math.hypot(gap, math.sqrt(2 * variance * (negligible - lightest)))
    reach += 4 * np.finfo(float).eps * max(_size(f), _size(g))  # or rounding might lose that pair
    total = 0.0
    for rows, columns in _blocks(f.points, g.points, reach):
        block = f.points[rows, None] - g.points[columns]
        block *= block
        block *= scale
        block -= peak
        np.exp(block, out=block)
        total += float(f.weight[rows] @ block @ g.weight[columns])
    return peak + math.log(total) - math.log(2 * math.pi * variance) / 2


def _blocks(
    x: Array, y: Array, reach: float, rows: int = 128, columns: int = 1024
) -> Iterator[tuple[slice, slice]]:
    """Ranges of x and y with all pairs within reach, so short that they stay in the cache."""
    for start in range(0, len(x), rows):
        end = min(start + rows, len(x))
        first = int(np.searchsorted(y, x[start] - reach))
        last = int(np.searchsorted(y, x[end - 1] + reach, side="right"))
        for low in range(first, last, columns):
            yield slice(start, end), slice(low, min(low + columns, last))
