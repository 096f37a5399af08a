"""How the classes look on the line to an operator that has not seen them.

β separates its own training rows better than new ones, most of all when a class is rare and h is
large. With β₋ₖ from the sum of all folds but k, the held-out fold's mean and variance on the line
are βᵀ₋ₖmₖ and βᵀ₋ₖcovₖβ₋ₖ: functions of its summary, no further pass. They are pooled over the
folds about each β₋ₖ's own midpoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..moments.summary import Summary
from .covariance import shrink
from .decision import GaussianPair, floored
from .operator import Ridge, operator_of

Array = np.ndarray[Any, Any]

FEWEST_FOLDS = 3  # in which a class must have rows for its held-out spread to be believed


class Part(NamedTuple):
    """The held-out rows of one class and fold on the line, about its operator's midpoint."""

    n: float
    mean: float
    variance: float


class Pooled(NamedTuple):
    """All held-out rows of one class on the line."""

    n: float
    mean: float
    variance: float
    folds: int  # that held rows of the class

    @classmethod
    def of(cls, parts: list[Part]) -> Pooled:
        n = sum(part.n for part in parts)
        if not n:
            return cls(0.0, 0.0, 0.0, 0)
        mean = sum(part.n * part.mean for part in parts) / n
        spread = sum(part.n * (part.variance + (part.mean - mean) ** 2) for part in parts)
        return cls(n, mean, spread / n, len(parts))


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The two classes of each pair as held-out rows, under one ridge."""

    lines: tuple[tuple[Pooled, Pooled], ...]

    @property
    def separation(self) -> float:
        """(m₊−m₋)/√(S₊+S₋), the root of what β maximises, averaged over the pairs."""
        gaps = [
            (b.mean - a.mean) / np.sqrt(a.variance + b.variance)
            for a, b in self.lines
            if a.n and b.n and a.variance + b.variance > 0
        ]
        # To nine digits, so that rounding never chooses between ridges that are equally good.
        return float(f"{np.mean(gaps):.9g}") if gaps else 0.0

    def gaussians(self, pair: int, middle: float) -> GaussianPair | None:
        """The Gaussians of a pair about `middle`, or None where a class has too few rows."""
        a, b = self.lines[pair]
        if min(a.folds, b.folds) < FEWEST_FOLDS:
            return None
        variances = floored((a.variance, b.variance), b.mean - a.mean)
        return GaussianPair((middle + a.mean, middle + b.mean), variances)


def hold_out(
    summary: Summary,
    pairs: tuple[tuple[int, int], ...],
    shrinkage: str | float,
    ridges: list[Ridge],
) -> list[HeldOut]:
    """What each ridge gives on held-out rows, for every pair of classes."""
    parts: list[list[tuple[list[Part], list[Part]]]] = [[([], []) for _ in pairs] for _ in ridges]
    for fold in range(summary.n_folds):
        outside = [
            shrink(summary.of_class_outside(c, fold), shrinkage) for c in range(summary.n_classes)
        ]
        inside = [cells[fold] for cells in summary.cells]
        for p, (i, j) in enumerate(pairs):
            if not (outside[i].n and outside[j].n and (inside[i].n or inside[j].n)):
                continue
            for r, ridge in enumerate(ridges):
                beta = operator_of(outside[i], outside[j], ridge)
                if not beta.any():
                    continue
                middle = float(beta @ (outside[i].mean + outside[j].mean)) / 2
                for side, cell in zip(parts[r][p], (inside[i], inside[j]), strict=True):
                    if cell.n:
                        variance = max(float(beta @ cell.scatter @ beta) / cell.n, 0.0)
                        side.append(Part(cell.n, float(beta @ cell.mean) - middle, variance))
    return [
        HeldOut(tuple((Pooled.of(first), Pooled.of(second)) for first, second in line))
        for line in parts
    ]
