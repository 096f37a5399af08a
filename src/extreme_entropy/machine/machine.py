"""The solved machine: projections of rows in each leaf, and how they become decisions.

In each tree a row has a leaf, which projects it for each pair of classes by its own operators β and
makes log-odds of that by its own curves; the row's projection is their average over the trees.
The machine's own curves turn that into log-odds, which priors and costs are added to. An Extreme
Entropy Machine is one leaf whose projection βᵀφ(x) is left as it is; its curves are Gaussians.

More than two classes are solved pair by pair, and their log-odds are coupled into probabilities
that sum to one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from scipy.special import expit, log_expit

from ..columns.statistics import worth
from ..shapes import FINITE, LARGEST_LOG, Count, Indices, Logs, Numbers, OneOf
from ..tolerances import TINY
from .coupling import couple, mean_slopes
from .decision import Curve, divergence

Array = np.ndarray[Any, Any]
Diagnostic = Annotated[str, OneOf("degenerate", "one row", "not cross-fitted")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What turns the projections of each pair of classes into probabilities and decisions."""

    # (negative, positive) class of each; and from the projection to log-odds.
    pairs: Annotated[tuple[tuple[int, int], ...], Count("pairs")]
    curves: Annotated[tuple[Curve, ...], Count("pairs")]
    log_priors: Annotated[Array, Logs("classes", most=LARGEST_LOG)]  # ln π
    log_costs: Annotated[Array, Logs("classes")]  # ln C
    # Costs of taking class i for class j, where they differ by j.
    cost_matrix: Annotated[Array | None, Numbers("classes", "classes", least=0, most=FINITE)] = None
    diagnostics: tuple[Diagnostic, ...] = ()  # what the user is warned about

    @property
    def divergences(self) -> Array:
        """D_CS of the two Gaussians of each pair."""
        return np.array([divergence(curve) for curve in self.curves])

    @property
    def thresholds(self) -> tuple[Array, ...]:
        """The projections at which each pair's decision changes, costs and priors included."""
        return tuple(curve.thresholds(self.bias(p)) for p, curve in enumerate(self.curves))

    def bias(self, pair: int) -> float:
        """What priors and costs add to the log-odds of the second class of a pair."""
        i, j = self.pairs[pair]
        if self.cost_matrix is None:
            costs = self.log_costs[j] - self.log_costs[i]
        else:
            costs = np.log(self.cost_matrix[j, i]) - np.log(self.cost_matrix[i, j])
        return float(self.log_priors[j] - self.log_priors[i] + costs)

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

    def log_odds(self, projections: Array) -> Array:
        """Log-odds, priors included, of each pair's positive class      (n, pairs)."""
        odds = np.empty_like(projections, dtype=float)
        for p, ((i, j), curve) in enumerate(zip(self.pairs, self.curves, strict=True)):
            prior = self.log_priors[j] - self.log_priors[i]
            odds[:, p] = curve.log_ratio(projections[:, p].astype(float)) + prior
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
        """What decides: log-odds with costs for two classes, ln(C p) for more.

        With a matrix of costs it is minus the logarithm of what each class is expected to cost.
        """
        if len(self.pairs) == 1:
            return self.log_odds(projections)[:, 0] + (self.log_costs[1] - self.log_costs[0])
        if self.cost_matrix is not None:
            return -np.log(self.probabilities(projections) @ self.cost_matrix)
        return self.log_probabilities(projections) + self.log_costs

    def mean_slopes(self, start: Array, end: Array) -> Array:
        """The mean of ∂ score / ∂ projection between two   (n, 1 or classes, pairs)."""
        slopes = np.empty((len(start), 1, len(self.pairs)))
        for p, curve in enumerate(self.curves):  # the slope is linear, so this is its mean
            slopes[:, 0, p] = curve.slope((start[:, p] + end[:, p]) / 2)
        if len(self.pairs) == 1:
            return slopes
        odds, odds_at_end = self.log_odds(start), self.log_odds(end)
        return mean_slopes(odds, odds_at_end, self.pairs, len(self.log_priors)) * slopes


@dataclass(frozen=True, slots=True)
class Leaf:
    """The operators of a leaf, for the pairs of classes that have rows enough there."""

    operators: Annotated[Array, Numbers("k", "h")]  # β of each such pair
    # Where it is among all pairs.
    columns: Annotated[Array, Indices("k", below="pairs", increasing=True)]
    # From βᵀφ(x) to what it adds to the projection of a row.
    curves: Annotated[tuple[Curve, ...], Count("k")]
    shifts: Annotated[Array, Logs("pairs")]  # what counts of rows add for each pair of all
    shrinkage: Annotated[Array, Numbers(None, least=0, most=1)]  # ε of each class
    ridges: Annotated[Array, Numbers("k")]  # added to Σ's diagonal

    def projections(self, by_operators: Array) -> Array:
        """The projections of rows from those by the leaf's operators (n, k)   (n, pairs)."""
        projections = np.empty((len(by_operators), len(self.shifts)))
        projections[:] = self.shifts
        for p, curve, t in zip(self.columns.tolist(), self.curves, by_operators.T, strict=True):
            projections[:, p] += curve.log_ratio(t.astype(np.float64, copy=False))
        return projections


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine(Decision):
    """A solved machine: everything that turns features into probabilities and decisions."""

    leaves: tuple[Leaf, ...]  # tree after tree
    # How much each tree counts for each pair.
    shares: Annotated[Array, Numbers("trees", "pairs", least=0, most=1)]
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
