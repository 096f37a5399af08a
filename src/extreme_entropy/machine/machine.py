"""The machine: for each pair of classes an operator β and two Gaussians on its line.

Two classes are one pair. More classes are solved pair by pair from the same summaries, without
another pass over the data, and their log-odds are coupled into probabilities that sum to one.

The Gaussians of a pair are the paper's (m± = βᵀm±, S± = βᵀΣ±β) or cross-fitted: with β₋ₖ from the
sum of all folds but k, the held-out fold's mean and variance on the line are βᵀ₋ₖmₖ and
βᵀ₋ₖcovₖβ₋ₖ. They are pooled over the folds about each β₋ₖ's own midpoint. β itself stays the
paper's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_expit

from ..entropy.gaussian import cauchy_schwarz_divergence
from ..moments.class_moments import ClassMoments
from ..moments.summary import Summary
from .coupling import couple
from .covariance import shrunk_covariance
from .decision import GaussianPair, floored
from .operator import solve_operator

Array = np.ndarray[Any, Any]

# Means that differ by less than this share of their size differ by rounding alone.
ROUNDING = 64 * np.finfo(float).eps


@dataclass(frozen=True, slots=True)
class Machine:
    """A solved machine: everything that turns φ(x) into probabilities and decisions."""

    pairs: tuple[tuple[int, int], ...]  # (negative, positive) class of each line
    operators: Array  # β of each pair              (pairs, h)
    gaussians: tuple[GaussianPair, ...]
    shrinkage: Array  # ε of each class             (classes,)
    log_priors: Array  # ln π                        (classes,)
    log_costs: Array  # ln C                        (classes,)
    remarks: tuple[str, ...] = ()  # codes of what the user should hear about

    @property
    def divergences(self) -> Array:
        """D_CS of the two Gaussians of each pair."""
        return np.array(
            [
                cauchy_schwarz_divergence(g.means[0], g.variances[0], g.means[1], g.variances[1])
                for g in self.gaussians
            ]
        )

    @property
    def thresholds(self) -> tuple[Array, ...]:
        """Where each pair's decision changes on its line, costs and priors included."""
        weights = self.log_priors + self.log_costs
        return tuple(
            gaussian.thresholds(float(weights[j] - weights[i]))
            for (i, j), gaussian in zip(self.pairs, self.gaussians, strict=True)
        )

    def with_stakes(self, log_priors: Array, log_costs: Array) -> Machine:
        """The same machine under other priors and costs: only the thresholds move."""
        return replace(self, log_priors=log_priors, log_costs=log_costs)

    def log_odds(self, projections: Array) -> Array:
        """Log-odds, priors included, of each pair's positive class      (n, pairs)."""
        odds = np.empty_like(projections, dtype=float)
        for p, ((i, j), gaussian) in enumerate(zip(self.pairs, self.gaussians, strict=True)):
            prior = self.log_priors[j] - self.log_priors[i]
            odds[:, p] = gaussian.log_ratio(projections[:, p].astype(float)) + prior
        return odds

    def log_probabilities(self, projections: Array) -> Array:
        """ln p(class | projections)                                     (n, classes)."""
        odds = self.log_odds(projections)
        if len(self.pairs) == 1:
            return np.column_stack([log_expit(-odds[:, 0]), log_expit(odds[:, 0])])
        return couple(odds, self.pairs, len(self.log_priors))

    def scores(self, projections: Array) -> Array:
        """What decides: log-odds with costs for two classes, ln(C p) for more."""
        if len(self.pairs) == 1:
            return self.log_odds(projections)[:, 0] + (self.log_costs[1] - self.log_costs[0])
        return self.log_probabilities(projections) + self.log_costs


class _Shrunk(NamedTuple):
    """One class as the solver sees it."""

    n: float
    mean: Array
    covariance: Array
    epsilon: float


def solve(
    summary: Summary,
    *,
    shrinkage: str | float,
    ridge: float,
    cross_fitted: bool,
    log_priors: Array,
    log_costs: Array,
) -> Machine:
    """The machine of a summary in which every class has rows."""
    classes = [_shrink(summary.of_class(c), shrinkage) for c in range(summary.n_classes)]
    pairs = tuple(combinations(range(summary.n_classes), 2))
    operators = np.array([_operator(classes[i], classes[j], ridge) for i, j in pairs])
    gaussians = [
        _training_gaussians(beta, classes[i], classes[j])
        for (i, j), beta in zip(pairs, operators, strict=True)
    ]
    remarks = _remarks(classes, operators)
    if cross_fitted:
        held_out = _held_out_lines(summary, pairs, shrinkage, ridge)
        for p, (i, j) in enumerate(pairs):
            middle = float(operators[p] @ (classes[i].mean + classes[j].mean)) / 2
            pooled = _pool(held_out[p], middle)
            if not operators[p].any():
                continue
            if pooled is None:
                remarks.append("not cross-fitted")
            else:
                gaussians[p] = pooled
    return Machine(
        pairs,
        operators,
        tuple(gaussians),
        np.array([c.epsilon for c in classes]),
        log_priors,
        log_costs,
        tuple(dict.fromkeys(remarks)),
    )


def _shrink(moments: ClassMoments, shrinkage: str | float) -> _Shrunk:
    covariance, epsilon = shrunk_covariance(moments, shrinkage)
    return _Shrunk(moments.n, moments.mean, covariance, epsilon)


def _operator(negative: _Shrunk, positive: _Shrunk, ridge: float) -> Array:
    """β of two classes; zeros where their means differ by rounding alone."""
    covariance = negative.covariance + positive.covariance
    size = (
        np.linalg.norm(negative.mean)
        + np.linalg.norm(positive.mean)
        + np.sqrt(np.trace(covariance))
    )
    covariance.flat[:: len(covariance) + 1] += ridge
    return solve_operator(covariance, positive.mean - negative.mean, ROUNDING * float(size))


def _training_gaussians(beta: Array, negative: _Shrunk, positive: _Shrunk) -> GaussianPair:
    """N(βᵀm±, βᵀΣ±β), the paper's F."""
    if not beta.any():
        return GaussianPair((0.0, 0.0), (1.0, 1.0))
    m0, m1 = float(beta @ negative.mean), float(beta @ positive.mean)
    s0, s1 = (float(beta @ c.covariance @ beta) for c in (negative, positive))
    # One row says nothing of its spread: it borrows the other class's.
    s0, s1 = s0 if negative.n > 1 else s1, s1 if positive.n > 1 else s0
    return GaussianPair((m0, m1), floored((s0, s1), m1 - m0))


class _OnLine(NamedTuple):
    """A held-out class and fold on the line: its rows' number, mean and variance."""

    n: float
    mean: float
    variance: float


def _held_out_lines(
    summary: Summary, pairs: tuple[tuple[int, int], ...], shrinkage: str | float, ridge: float
) -> list[tuple[list[_OnLine], list[_OnLine]]]:
    """For each pair, its two classes fold by fold as the other folds' operator sees them."""
    lines: list[tuple[list[_OnLine], list[_OnLine]]] = [([], []) for _ in pairs]
    for fold in range(summary.n_folds):
        outside = [
            _shrink(summary.of_class_outside(c, fold), shrinkage) for c in range(summary.n_classes)
        ]
        inside = [cells[fold] for cells in summary.cells]
        for (i, j), line in zip(pairs, lines, strict=True):
            if not (outside[i].n and outside[j].n and (inside[i].n or inside[j].n)):
                continue
            beta = _operator(outside[i], outside[j], ridge)
            if not beta.any():
                continue
            middle = float(beta @ (outside[i].mean + outside[j].mean)) / 2
            for side, cell in zip(line, (inside[i], inside[j]), strict=True):
                if cell.n:
                    variance = float(beta @ cell.scatter @ beta) / cell.n
                    side.append(_OnLine(cell.n, float(beta @ cell.mean) - middle, variance))
    return lines


def _pool(sides: tuple[list[_OnLine], list[_OnLine]], middle: float) -> GaussianPair | None:
    """The Gaussians of all held-out rows about `middle`; None where a class has too few."""
    means, variances = [], []
    for side in sides:
        n = sum(part.n for part in side)
        if n <= 1:
            return None
        mean = sum(part.n * part.mean for part in side) / n
        spread = sum(part.n * (part.variance + (part.mean - mean) ** 2) for part in side) / n
        means.append(middle + mean)
        variances.append(spread)
    return GaussianPair(
        (means[0], means[1]), floored((variances[0], variances[1]), means[1] - means[0])
    )


def _remarks(classes: list[_Shrunk], operators: Array) -> list[str]:
    remarks = []
    if not operators.any(axis=1).all():
        remarks.append("degenerate")
    if any(c.n <= 1 for c in classes):
        remarks.append("one row")
    return remarks
