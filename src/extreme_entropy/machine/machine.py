"""The machine: for each pair of classes an operator β and two Gaussians on its line.

Two classes are one pair. More classes are solved pair by pair from the same summaries, without
another pass over the data, and their log-odds are coupled into probabilities that sum to one.

The Gaussians of a pair are the paper's (m± = βᵀm±, S± = βᵀΣ±β) or those of held-out rows
(`held_out.py`). A ridge of "auto" is chosen there too: of a few multiples of tr(Σ)/h, the one that
is best by the paper's own criterion, (m₊−m₋)²/(S₊+S₋), on rows that β has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import expit, log_expit

from ..entropy.gaussian import cauchy_schwarz_divergence
from ..moments.reduction import Run, one_by_one
from ..moments.summary import Summary
from .coupling import couple
from .covariance import Shrunk, shrink
from .decision import GaussianPair, floored
from .held_out import HeldOut, hold_out
from .operator import Ridge, operators_of

Array = np.ndarray[Any, Any]

SHARES = (0.0, 0.03, 0.3, 3.0)  # of tr(Σ)/h, tried by ridge="auto"


@dataclass(frozen=True, slots=True)
class Machine:
    """A solved machine: everything that turns φ(x) into probabilities and decisions."""

    pairs: tuple[tuple[int, int], ...]  # (negative, positive) class of each line
    operators: Array  # β of each pair              (pairs, h)
    gaussians: tuple[GaussianPair, ...]
    shrinkage: Array  # ε of each class             (classes,)
    ridges: Array  # added to Σ's diagonal       (pairs,)
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

    def probabilities(self, projections: Array) -> Array:
        """p(class | projections)                                        (n, classes)."""
        if len(self.pairs) == 1:
            odds = self.log_odds(projections)[:, 0]
            return np.column_stack([expit(-odds), expit(odds)])
        return np.exp(self.log_probabilities(projections))

    def scores(self, projections: Array) -> Array:
        """What decides: log-odds with costs for two classes, ln(C p) for more."""
        if len(self.pairs) == 1:
            return self.log_odds(projections)[:, 0] + (self.log_costs[1] - self.log_costs[0])
        return self.log_probabilities(projections) + self.log_costs


def solve(
    summary: Summary,
    *,
    shrinkage: str | float,
    ridge: float | str,
    cross_fitted: bool,
    log_priors: Array,
    log_costs: Array,
    run: Run = one_by_one,
) -> Machine:
    """The machine of a summary in which every class has rows.

    A numeric `ridge` is added to the diagonal of Σ. "auto" and `cross_fitted` need folds: without
    them nothing is held out, and both are as if not asked for.
    """
    pairs = tuple(combinations(range(summary.n_classes), 2))
    totals = [summary.of_class(c) for c in range(summary.n_classes)]
    classes = [shrink(total, shrinkage) for total in totals]
    ridges = (
        [Ridge(relative=share) for share in SHARES] if ridge == "auto" else [Ridge(float(ridge))]
    )
    looks: list[HeldOut] = []
    cross_fitted &= summary.n_folds > 1
    if summary.n_folds > 1 and (cross_fitted or len(ridges) > 1):
        looks = hold_out(summary, totals, pairs, shrinkage, ridges, run)
    best = max(range(len(looks)), key=lambda i: looks[i].separation, default=0)
    operators = np.vstack([operators_of(classes[i], classes[j], [ridges[best]]) for i, j in pairs])
    remarks = _remarks(classes, operators)
    gaussians = []
    for p, ((i, j), beta) in enumerate(zip(pairs, operators, strict=True)):
        gaussian = _training_gaussians(beta, classes[i], classes[j])
        if cross_fitted and beta.any():
            middle = float(beta @ (classes[i].mean + classes[j].mean)) / 2
            held_out = looks[best].gaussians(p, middle)
            remarks += [] if held_out else ["not cross-fitted"]
            gaussian = held_out or gaussian
        gaussians.append(gaussian)
    return Machine(
        pairs,
        operators,
        tuple(gaussians),
        np.array([c.epsilon for c in classes]),
        np.array([ridges[best].of(classes[i], classes[j]) for i, j in pairs]),
        log_priors,
        log_costs,
        tuple(dict.fromkeys(remarks)),
    )


def _training_gaussians(beta: Array, negative: Shrunk, positive: Shrunk) -> GaussianPair:
    """N(βᵀm±, βᵀΣ±β), the paper's F."""
    if not beta.any():
        return GaussianPair((0.0, 0.0), (1.0, 1.0))
    m0, m1 = float(beta @ negative.mean), float(beta @ positive.mean)
    s0, s1 = (float(beta @ c.covariance @ beta) for c in (negative, positive))
    # One row says nothing of its spread: it borrows the other class's.
    s0, s1 = s0 if negative.n > 1 else s1, s1 if positive.n > 1 else s0
    return GaussianPair((m0, m1), floored((s0, s1), m1 - m0))


def _remarks(classes: list[Shrunk], operators: Array) -> list[str]:
    remarks = []
    if not operators.any(axis=1).all():
        remarks.append("degenerate")
    if any(c.n <= 1 for c in classes):
        remarks.append("one row")
    return remarks
