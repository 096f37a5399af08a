"""How the classes look on the line to an operator that has not seen them.

β separates its own training rows better than new ones, most of all when a class is rare and h is
large. With β₋ₖ from the sum of all folds but k, the held-out fold's mean and variance on the line
are βᵀ₋ₖmₖ and βᵀ₋ₖcovₖβ₋ₖ: functions of its summary, no further pass. They are pooled over the
folds about each β₋ₖ's own midpoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..moments.class_moments import ClassMoments
from ..moments.reduction import Run, one_by_one
from ..moments.summary import Summary
from .covariance import Shrunk, shrink
from .decision import GaussianPair, floored
from .operator import Ridge, operators_of

Array = np.ndarray[Any, Any]

FEWEST_FOLDS = 3  # in which a class must have rows for its held-out spread to be believed


class Part(NamedTuple):
    """The held-out rows of one class and fold on the line, about its operator's midpoint."""

    n: float
    mean: float
    variance: float


# What one fold shows: by ridge, by pair, the parts of the two classes.
Looks = list[list[tuple[list[Part], list[Part]]]]


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
    totals: list[ClassMoments],
    pairs: tuple[tuple[int, int], ...],
    shrinkage: str | float,
    ridges: list[Ridge],
    run: Run = one_by_one,
) -> list[HeldOut]:
    """What each ridge gives on held-out rows, for every pair of classes with these totals."""

    def look(fold: int) -> Looks:
        # Taking one fold out of the total is cheaper than adding up the others.
        inside = [cells[fold] for cells in summary.cells]
        outside = [
            shrink(total - cell, shrinkage) for total, cell in zip(totals, inside, strict=True)
        ]
        by_pair = [_look(inside[i], inside[j], outside[i], outside[j], ridges) for i, j in pairs]
        return [list(by_ridge) for by_ridge in zip(*by_pair, strict=True)]

    by_fold = list(run(partial(look, fold) for fold in range(summary.n_folds)))
    return [
        HeldOut(
            tuple(
                (
                    Pooled.of([part for fold in by_fold for part in fold[r][p][0]]),
                    Pooled.of([part for fold in by_fold for part in fold[r][p][1]]),
                )
                for p in range(len(pairs))
            )
        )
        for r in range(len(ridges))
    ]


def _look(
    negative: ClassMoments,
    positive: ClassMoments,
    outside_negative: Shrunk,
    outside_positive: Shrunk,
    ridges: list[Ridge],
) -> list[tuple[list[Part], list[Part]]]:
    """For each ridge one fold's rows of two classes on the line that has not seen them."""
    if not (outside_negative.n and outside_positive.n and (negative.n or positive.n)):
        return [([], [])] * len(ridges)
    betas = operators_of(outside_negative, outside_positive, ridges)
    middles = betas @ (outside_negative.mean + outside_positive.mean) / 2
    first, second = (_parts(betas, middles, cell) for cell in (negative, positive))
    return [
        (a, b) if beta.any() else ([], []) for a, b, beta in zip(first, second, betas, strict=True)
    ]


def _parts(betas: Array, middles: Array, cell: ClassMoments) -> list[list[Part]]:
    """One class of a fold on each line: one part, or none without rows."""
    if not cell.n:
        return [[] for _ in betas]
    means = betas @ cell.mean - middles
    variances = np.vecdot(betas @ cell.scatter, betas) / cell.n
    return [
        [Part(cell.n, float(mean), max(float(variance), 0.0))]
        for mean, variance in zip(means, variances, strict=True)
    ]
