"""The summary of one class: all the machine remembers of its rows.

With u = h − m for the rows h of the class and their mean m, a summary keeps::

    n,  m,  S = Σ uuᵀ,  t = Σ ‖u‖²u,  q = Σ ‖u‖⁴

Summaries form a commutative monoid: `empty` is the identity and `+` the merge, so a chunk, a
worker and a whole data set are the same kind of thing. Everything is kept about the class's own
mean, because raw sums of data far from the origin lose q altogether. t is kept only so that q,
which Ledoit–Wolf needs, survives a merge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .gram import add_outer, mirrored

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ClassMoments:
    """n, m, S, t and q of the rows of one class."""

    n: float  # rows, or their total weight
    mean: Array  # m                     (h,)
    scatter: Array  # S = Σ uuᵀ             (h, h)
    cubic: Array  # t = Σ ‖u‖²u           (h,)
    quartic: float  # q = Σ ‖u‖⁴

    @classmethod
    def empty(cls, h: int) -> ClassMoments:
        """The summary of no rows: the identity of `+`."""
        return cls(0.0, np.zeros(h), np.zeros((h, h)), np.zeros(h), 0.0)

    @classmethod
    def of(cls, rows: Array) -> ClassMoments:
        """The summary of the rows of a matrix, by its definition."""
        h = rows.shape[1]
        if not len(rows):
            return cls.empty(h)
        mean = rows.mean(axis=0)
        centred = rows - mean
        squares = np.einsum("ij,ij->i", centred, centred)
        return cls(
            float(len(rows)),
            mean,
            centred.T @ centred,
            squares @ centred,
            float(squares @ squares),
        )

    @property
    def covariance(self) -> Array:
        """S/n, the maximum-likelihood covariance; zero without rows."""
        return self.scatter / self.n if self.n else np.zeros_like(self.scatter)

    def __add__(self, other: ClassMoments) -> ClassMoments:
        """The summary of both sets of rows together."""
        if not other.n:
            return self
        if not self.n:
            return other
        return _combine(self, other, 1.0)

    def __sub__(self, other: ClassMoments) -> ClassMoments:
        """The summary of the rows that remain once `other`'s rows are taken out."""
        if not other.n:
            return self
        if self.n - other.n <= 1e-12 * self.n:  # nothing is left but rounding
            return ClassMoments.empty(len(self.mean))
        rest = _combine(self, other, -1.0)
        # What is left of the rounding of larger sums may fall below zero; no variance does.
        diagonal = rest.scatter.reshape(-1)[:: len(rest.mean) + 1]
        np.maximum(diagonal, 0.0, out=diagonal)
        return replace(rest, quartic=max(rest.quartic, 0.0))


def _combine(a: ClassMoments, b: ClassMoments, sign: float) -> ClassMoments:
    """Move both summaries to the joint mean, then add them with sign ±1.

    For S that is S_a ± S_b ± (n_a n_b / n) ddᵀ with d = m_b − m_a: fewer passes over h² numbers
    than two moves.
    """
    n = a.n + sign * b.n
    d = b.mean - a.mean
    # Written as a step from a's mean, so that a far-off origin costs no digits.
    mean = a.mean + (sign * b.n / n) * d
    scatter = a.scatter + b.scatter if sign > 0 else a.scatter - b.scatter
    add_outer(d, scatter, sign * a.n * b.n / n)
    cubic_a, quartic_a = _about(a, mean)
    cubic_b, quartic_b = _about(b, mean)
    return ClassMoments(n, mean, scatter, cubic_a + sign * cubic_b, quartic_a + sign * quartic_b)


def _about(moments: ClassMoments, centre: Array) -> tuple[Array, float]:
    """t and q about another centre c. With d = m − c:

    t' = t + tr(S)d + 2Sd + n‖d‖²d;  q' = q + 4dᵀ(t + Sd) + 2‖d‖²tr(S) + n‖d‖⁴.
    """
    n, S, t, q = moments.n, moments.scatter, moments.cubic, moments.quartic
    d = moments.mean - centre
    dd = float(d @ d)
    Sd = S @ d
    trace = float(np.trace(S))
    return (
        t + (trace + n * dd) * d + 2 * Sd,
        float(q + 4 * d @ (t + Sd) + 2 * dd * trace + n * dd * dd),
    )


def from_sums(n: float, centre: Array, s: Array, S: Array, t: Array, q: float) -> ClassMoments:
    """A summary from raw sums about any centre: s = Σu, S = Σuuᵀ, t = Σ‖u‖²u, q = Σ‖u‖⁴.

    The inverse of moving a summary there, with d = s/n. Only the lower triangle of `S` is read, and
    `S` is overwritten.
    """
    if not n:
        return ClassMoments.empty(len(centre))
    d = s / n
    dd = float(d @ d)
    add_outer(d, mirrored(S), -n)
    Sd = S @ d
    trace = float(np.trace(S))
    cubic = t - (trace + n * dd) * d - 2 * Sd
    quartic = q - 4 * d @ (cubic + Sd) - 2 * dd * trace - n * dd * dd
    return ClassMoments(n, centre + d, S, cubic, max(float(quartic), 0.0))
