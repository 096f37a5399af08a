"""F: from a projection to log-odds, by two Gaussians or by a straight line.

    log-odds(t) = ½[ (t−m₋)²/S₋ − (t−m₊)²/S₊ + ln(S₋/S₊) ] + ln(π₊C₊ / π₋C₋)

Positive means the second class. Probabilities are `expit` of it without the costs. Its real roots
are the thresholds: two where the variances differ (the paper's t±), one where they are equal (t₀),
none where costs let one class win everywhere.

A logistic regression on projections without a constant has a straight line, log-odds(t) = a·t,
instead. It is the log-ratio of two Gaussians of one variance S with means ∓aS/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..entropy.gaussian import cauchy_schwarz_divergence
from ..shapes import LARGEST, Array, Numbers

Variance = Annotated[float, Numbers(least=1 / LARGEST)]


@dataclass(frozen=True, slots=True)
class Line:
    """Log-odds in proportion to the projection."""

    factor: float
    variance: Variance = 1.0  # of the projections of a class

    @property
    def is_gaussian(self) -> bool:
        """Whether projections are taken to be Gaussian."""
        return False

    @property
    def means(self) -> tuple[float, float]:
        """Of the projections of either class, as the line sees them."""
        half = self.factor * self.variance / 2
        return -half, half

    @property
    def variances(self) -> tuple[float, float]:
        return self.variance, self.variance

    def log_ratio(self, t: Array) -> Array:
        """a·t."""
        return self.factor * t

    def slope(self, t: Array) -> Array:
        """a everywhere."""
        return np.full_like(t, self.factor)

    def thresholds(self, bias: float) -> Array:
        """One, unless the line is flat."""
        return np.array([-bias / self.factor]) if self.factor else np.empty(0)


@dataclass(frozen=True, slots=True)
class GaussianPair:
    """N(m₋, S₋) and N(m₊, S₊) of projections; the negative class comes first."""

    means: tuple[float, float]
    variances: tuple[Variance, Variance]

    @property
    def is_gaussian(self) -> bool:
        return True

    def log_ratio(self, t: Array) -> Array:
        """ln N(m₊,S₊)[t] − ln N(m₋,S₋)[t]; a straight line where the variances are equal."""
        (m0, m1), (s0, s1) = self.means, self.variances
        if s0 == s1:  # squares would cancel
            return (m1 - m0) / s0 * (t - (m0 + m1) / 2)
        return 0.5 * ((t - m0) ** 2 / s0 - (t - m1) ** 2 / s1 + np.log(s0 / s1))

    def slope(self, t: Array) -> Array:
        """The derivative of `log_ratio`."""
        (m0, m1), (s0, s1) = self.means, self.variances
        if s0 == s1:
            return np.full_like(t, (m1 - m0) / s0)
        return (t - m0) / s0 - (t - m1) / s1

    def thresholds(self, bias: float) -> Array:
        """The t at which `log_ratio(t) + bias` is zero, in increasing order."""
        (m0, m1), (s0, s1) = self.means, self.variances
        # ½a x² + b x + ½c about the midpoint x = t − (m₀+m₁)/2, with g half the gap.
        middle, g = (m0 + m1) / 2, (m1 - m0) / 2
        a = (s1 - s0) / (s0 * s1)
        b = g * (1 / s0 + 1 / s1)
        c = g * g * a + float(np.log(s0 / s1)) + 2 * bias
        return middle + _roots(a, b, c)


Curve = Line | GaussianPair


def divergence(curve: Curve) -> float:
    """D_CS of the two Gaussians of a curve."""
    (m0, m1), (s0, s1) = curve.means, curve.variances
    return float(cauchy_schwarz_divergence(m0, s0, m1, s1))


def _roots(a: float, b: float, c: float) -> Array:
    """Real roots of a x² + 2b x + c, smooth as a → 0: one of them then leaves for infinity."""
    discriminant = b * b - a * c
    if discriminant < 0 or a == b == 0:
        return np.empty(0)
    # Adding numbers of one sign only: no cancellation, however small a is.
    larger = -(b + np.copysign(np.sqrt(discriminant), b))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        roots = np.array([larger / a if a else np.inf, c / larger if larger else 0.0])
    return np.unique(roots[np.isfinite(roots)])
