"""The solved machine: projections of rows in each leaf, and how they become decisions.

A leaf projects its rows by its own operators β and constants, once for each of some pairs of
classes. The machine's curves turn projections into log-odds, which priors and costs are added to.

With more than two classes, an Extreme Entropy Machine is solved for every pair, and the log-odds
are coupled into probabilities that sum to one. The default has logits of classes, whose differences
from that of the first class are all there is to know: it has the pairs of the first class with each
other one, and probabilities are the softmax.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax

from ..columns.statistics import worth
from ..shapes import FINITE, LARGEST_LOG, Array, Count, Logs, Numbers, OneOf
from ..tolerances import TINY, WEIGHT_ROUNDING
from .coupling import couple, mean_slopes
from .decision import Curve, Line, divergence

Diagnostic = Annotated[str, OneOf("degenerate", "one row", "not cross-fitted")]
Pairs = tuple[tuple[int, int], ...]


def all_pairs(n_classes: int) -> Pairs:
    """Every two classes, the first of them first."""
    return tuple(combinations(range(n_classes), 2))


def with_first(n_classes: int) -> Pairs:
    """The first class with each other one."""
    return tuple((0, c) for c in range(1, n_classes))


def is_one_row(rows: Any) -> Any:
    """Which numbers of rows are one; weights may be worth more than one row by rounding."""
    return rows <= 1 + WEIGHT_ROUNDING


class Contrast(NamedTuple):
    """What separates two classes."""

    weights: Array  # of the projections, which make one value of them   (pairs,)
    curve: Curve  # from that value to log-odds
    bias: float  # what priors and costs add to the log-odds of the second class

    @property
    def thresholds(self) -> Array:
        """The values at which the decision changes."""
        return self.curve.thresholds(self.bias)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What turns the projections of pairs of classes into probabilities and decisions."""

    # (negative, positive) class of each: all pairs, or those of the first class; and from the
    # projection to log-odds.
    pairs: Annotated[Pairs, Count("pairs")]
    curves: Annotated[tuple[Curve, ...], Count("pairs")]
    log_priors: Annotated[Array, Logs("classes", most=LARGEST_LOG)]  # ln π
    log_costs: Annotated[Array, Logs("classes")]  # ln C
    # Costs of taking class i for class j, where they differ by j.
    cost_matrix: Annotated[Array | None, Numbers("classes", "classes", least=0, most=FINITE)] = None
    diagnostics: tuple[Diagnostic, ...] = ()  # what the user is warned about

    @property
    def has_logits(self) -> bool:
        """Whether there are pairs of the first class alone, which make logits of all classes."""
        return len(self.pairs) == len(self.log_priors) - 1

    @property
    def divergences(self) -> Array:
        """D_CS of the two Gaussians of each pair."""
        return np.array([divergence(curve) for curve in self.curves])

    @property
    def thresholds(self) -> tuple[Array, ...]:
        """The projections at which each pair's decision changes, costs and priors included."""
        return tuple(self.contrast(i, j).thresholds for i, j in self.pairs)

    def contrast(self, i: int, j: int) -> Contrast:
        """What separates class i from a later class j, which counts as the second."""
        weights = np.zeros(len(self.pairs))
        if (i, j) in self.pairs:
            pair = self.pairs.index((i, j))
            weights[pair], curve = 1.0, self.curves[pair]
        else:  # both beside the first class, by straight lines of slope 1
            weights[[j - 1, i - 1]] = 1.0, -1.0
            spread = (self.curves[i - 1].variances[0] + self.curves[j - 1].variances[0]) / 2
            curve = Line(1.0, spread)
        return Contrast(weights, curve, self._bias(i, j))

    def _bias(self, i: int, j: int) -> float:
        """What priors and costs add to the log-odds of class j beside class i."""
        costs_i, costs_j = self.log_costs[i], self.log_costs[j]
        if self.cost_matrix is not None:
            costs_i, costs_j = np.log(self.cost_matrix[i, j]), np.log(self.cost_matrix[j, i])
        # Each prior with its cost: exactly 0 where costs balance the priors.
        return float(self.log_priors[j] + costs_j - (self.log_priors[i] + costs_i))

    @property
    def costs(self) -> Array:
        """The cost of taking a row of each class (down) for each class (across)."""
        if self.cost_matrix is not None:
            return self.cost_matrix
        return np.exp(self.log_costs)[:, np.newaxis] * (1 - np.eye(len(self.log_costs)))

    def with_priors_and_costs(
        self, log_priors: Array, log_costs: Array, cost_matrix: Array | None = None
    ) -> Self:
        """The same under other priors and costs: only the thresholds change."""
        return replace(self, log_priors=log_priors, log_costs=log_costs, cost_matrix=cost_matrix)

    def log_ratios(self, projections: Array) -> Array:
        """Log-odds of each pair's positive class at equal priors        (n, pairs)."""
        t = projections.astype(float)
        return np.column_stack([curve.log_ratio(t[:, p]) for p, curve in enumerate(self.curves)])

    def _log_likelihoods(self, projections: Array) -> Array:
        """ln p at equal priors, but for a constant of each row          (n, classes)."""
        ratios, k = self.log_ratios(projections), len(self.log_priors)
        return _with_zero(ratios) if self.has_logits else couple(ratios, self.pairs, k)

    def log_probabilities(self, projections: Array) -> Array:
        """ln p(class | projections)                                     (n, classes)."""
        if len(self.pairs) == 1:
            odds = self.log_ratios(projections)[:, 0] + (self.log_priors[1] - self.log_priors[0])
            return np.column_stack([log_expit(-odds), log_expit(odds)])
        return log_softmax(self._log_likelihoods(projections) + self.log_priors, axis=1)

    def probabilities(self, projections: Array) -> Array:
        """p(class | projections)                                        (n, classes)."""
        if len(self.pairs) == 1:
            odds = self.log_ratios(projections)[:, 0] + (self.log_priors[1] - self.log_priors[0])
            return np.column_stack([expit(-odds), expit(odds)])
        return np.exp(self.log_probabilities(projections))

    def scores(self, projections: Array) -> Array:
        """What decides: log-odds with costs for two classes, for more ln(C p / Σ C p).

        With a matrix of costs it is minus the logarithm of what each class is expected to cost.
        """
        if len(self.pairs) == 1:
            return self.log_ratios(projections)[:, 0] + self._bias(0, 1)
        if self.cost_matrix is not None:
            expected = self.probabilities(projections) @ self.cost_matrix
            return -np.log(np.maximum(expected, TINY))
        weights = self.log_priors + self.log_costs
        return log_softmax(self._log_likelihoods(projections) + weights, axis=1)

    def mean_slopes(self, start: Array, end: Array) -> Array:
        """The mean of ∂ score / ∂ projection between two   (n, 1 or classes, pairs)."""
        slopes = np.empty((len(start), 1, len(self.pairs)))
        for p, curve in enumerate(self.curves):  # the slope is linear, so this is its mean
            slopes[:, 0, p] = curve.slope((start[:, p] + end[:, p]) / 2)
        if len(self.pairs) == 1:
            return slopes
        a, b = self.log_ratios(start), self.log_ratios(end)
        weights = self.log_priors + self.log_costs
        if self.has_logits:
            shift = weights[1:] - weights[0]
            return _mean_slopes_of_softmax(a + shift, b + shift) * slopes
        return mean_slopes(a, b, self.pairs, weights) * slopes


def _with_zero(odds: Array) -> Array:
    """Log-odds of all classes but the first as logits of all   (n, classes)."""
    return np.concatenate([np.zeros((len(odds), 1)), odds], axis=1)


def _mean_slopes_of_softmax(start: Array, end: Array, steps: int = 8) -> Array:
    """The mean of ∂ ln p / ∂ odds = 1{c = j} − p_j from some odds to others   (n, classes, j)."""
    total = np.zeros_like(start)
    for step in range(steps):
        total += softmax(_with_zero(start + (step + 0.5) / steps * (end - start)), axis=1)[:, 1:]
    return np.eye(start.shape[1] + 1)[:, 1:] - (total / steps)[:, np.newaxis]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A row's projections in a leaf, βᵀφ(x) + a constant for each pair of classes."""

    operators: Annotated[Array, Numbers("pairs", "h")]  # β of each pair
    constants: Annotated[Array, Logs("pairs")]
    # ε of each class, and what was added to Σ's diagonal for each pair; of the paper's classifiers.
    shrinkage: Annotated[Array, Numbers(None, least=0, most=1)]
    ridges: Annotated[Array, Numbers(None)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine(Decision):
    """A solved machine: everything that turns features into probabilities and decisions."""

    leaves: tuple[Leaf, ...]
    # Held-out ln p of the own class of rows kept with φ, under equal priors, and how often each
    # came: increasing, for each class; none where no rows are kept.
    held_out: tuple[Annotated[Array, Numbers(None, 2)], ...] = ()

    def at_equal_priors(self) -> Machine:
        """The same for classes that are equally frequent and equally costly."""
        n = len(self.log_priors)
        return self.with_priors_and_costs(np.full(n, -np.log(n)), np.zeros(n))

    def in_set(self, projections: Array, miss: float) -> Array:
        """Which classes cannot be ruled out if rows of each may be missed so often   (n, classes).

        A class is ruled out where fewer than that share of its held-out rows, the row itself
        counted among them, have as low a probability. Rows that came often weigh more, but all of
        them together no more than there are.
        """
        log_p = self.at_equal_priors().log_probabilities(projections)
        in_set = np.empty(log_p.shape, dtype=bool)
        for c, (scores, counts) in enumerate(held.T for held in self.held_out):
            below = np.concatenate([[0.0], np.cumsum(counts)])
            below *= min(worth(counts), len(counts)) / max(below[-1], TINY)
            lower = below[np.searchsorted(scores, log_p[:, c], side="right")]
            in_set[:, c] = lower + 1 > miss * (below[-1] + 1)
        return in_set
