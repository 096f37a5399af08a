"""The machine: for each pair of classes an operator β and two Gaussians of its projections.

Two classes are one pair. More classes are solved pair by pair from the same summaries, without
another pass over the data, and their log-odds are coupled into probabilities that sum to one.

The Gaussians of a pair are the paper's (m± = βᵀm±, S± = βᵀΣ±β) or those of held-out rows. β
separates its own training rows better than new ones, most of all when a class is rare and h is
large. With β₋ₖ from the sum of all folds but k, the held-out fold's projections have mean βᵀ₋ₖmₖ
and variance βᵀ₋ₖcovₖβ₋ₖ: functions of its summary, no further pass. They are pooled over the folds
about each β₋ₖ's own midpoint. A ridge of "auto" is chosen there too: of a few multiples of tr(Σ)/h,
the one that is best by the paper's own criterion, (m₊−m₋)²/(S₊+S₋), on rows that β has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit, log_expit

from ..engines.threads import Executor, serial
from ..entropy.gaussian import cauchy_schwarz_divergence
from ..moments.summary import ClassMoments, Summary, without
from .coupling import couple, mean_slopes
from .decision import GaussianPair
from .operator import Ridge, Shrunk, error_of, operators_of, shrink

Array = np.ndarray[Any, Any]

SHARES = (0.0, 0.03, 0.3, 3.0)  # of tr(Σ)/h, tried by ridge="auto"
FEWEST_FOLDS = 3  # in which a class must have rows for its held-out variance to be used
ONE_ROW = 1 + 1e-9  # weights may be worth more than one row by rounding
# A class whose projections do not vary gets this share of the other's variance, or of the squared
# gap between the means.
VARIANCE_FLOOR = 1e-6
ROUNDING = 1e-9  # of a projection


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What turns the projections of each pair of classes into probabilities and decisions."""

    pairs: tuple[tuple[int, int], ...]  # (negative, positive) class of each
    gaussians: tuple[GaussianPair, ...]  # of the projections of each pair
    log_priors: Array  # ln π                        (classes,)
    log_costs: Array  # ln C                        (classes,)
    # Costs of taking class i for class j, where they differ by j   (classes, classes)
    cost_matrix: Array | None = None
    diagnostics: tuple[str, ...] = ()  # codes of what the user is warned about

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
        """The projections at which each pair's decision changes, costs and priors included."""
        return tuple(gaussian.thresholds(self.bias(p)) for p, gaussian in enumerate(self.gaussians))

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
        for p, gaussian in enumerate(self.gaussians):  # the slope is linear, so this is its mean
            slopes[:, 0, p] = gaussian.slope((start[:, p] + end[:, p]) / 2)
        if len(self.pairs) == 1:
            return slopes
        odds = self.log_odds(start), self.log_odds(end)
        return mean_slopes(*odds, self.pairs, len(self.log_priors)) * slopes


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine(Decision):
    """A solved machine: everything that turns φ(x) into probabilities and decisions."""

    operators: Array  # β of each pair              (pairs, h)
    shrinkage: Array  # ε of each class             (classes,)
    ridges: Array  # added to Σ's diagonal       (pairs,)


def solve(summary: Summary, **options: Any) -> Machine:
    """The machine of a summary in which every class has rows; options as for `solve_by_fold`."""
    return solve_by_fold(summary, **options)[0]


def solve_by_fold(
    summary: Summary,
    *,
    shrinkage: str | float | None,
    ridge: float | str,
    cross_fitted: bool,
    log_priors: Array,
    log_costs: Array,
    execute: Executor = serial,
) -> tuple[Machine, FoldOperators | None]:
    """The machine of a summary, and the operators that have not seen each fold, if there are some.

    A numeric `ridge` is added to the diagonal of Σ. "auto" and `cross_fitted` need folds: without
    them nothing is held out, and both are as if not asked for.
    """
    pairs = tuple(combinations(range(len(summary.moments)), 2))
    totals = [summary.of_class(c) for c in range(len(summary.moments))]
    classes = [shrink(total, shrinkage) for total in totals]
    auto = ridge == "auto"
    ridges = [Ridge(relative=share) for share in SHARES] if auto else [Ridge(float(ridge))]
    cross_fitted &= summary.n_folds > 1
    best, held_out, by_fold = 0, None, None
    if summary.n_folds > 1 and (cross_fitted or auto):
        tasks = (
            partial(project_fold, summary, fold, totals, pairs, shrinkage, ridges)
            for fold in range(summary.n_folds)
        )
        folds = list(execute(tasks))
        held_out = HeldOut.pooled(np.stack([fold.stats for fold in folds]))
        best = held_out.best
        by_fold = FoldOperators(
            np.stack([fold.operators[best] for fold in folds]),
            np.stack([fold.middles[best] for fold in folds]),
        )
        del folds
    solved = [operators_of(classes[i], classes[j], [ridges[best]]) for i, j in pairs]
    operators, added = (np.concatenate(found) for found in zip(*solved, strict=True))
    diagnostics = ["degenerate"] * (not operators.any(axis=1).all())
    diagnostics += ["one row"] * any(c.rows <= ONE_ROW for c in classes)
    gaussians = []
    for p, ((i, j), beta) in enumerate(zip(pairs, operators, strict=True)):
        if held_out is None or not cross_fitted or not beta.any():
            gaussians.append(_training_gaussians(beta, classes[i], classes[j]))
        elif held_out.folds[best, p].min() < FEWEST_FOLDS:
            diagnostics.append("not cross-fitted")
            gaussians.append(_training_gaussians(beta, classes[i], classes[j]))
        else:
            middle = float(beta @ (classes[i].mean + classes[j].mean)) / 2
            m0, m1 = (middle + held_out.means[best, p]).tolist()
            s0, s1 = held_out.variances[best, p].tolist()
            gaussians.append(GaussianPair((m0, m1), floored(s0, s1, m1 - m0)))
    machine = Machine(
        pairs=pairs,
        operators=operators,
        gaussians=tuple(gaussians),
        shrinkage=np.array([c.epsilon for c in classes]),
        ridges=added,
        log_priors=log_priors,
        log_costs=log_costs,
        diagnostics=tuple(dict.fromkeys(diagnostics)),
    )
    if by_fold is not None:  # about the midpoint of the whole instead of each fold's own
        means = np.array([classes[i].mean + classes[j].mean for i, j in pairs])
        by_fold = replace(by_fold, shifts=np.vecdot(operators, means) / 2 - by_fold.shifts)
    return machine, by_fold


@dataclass(frozen=True, slots=True)
class FoldOperators:
    """For each fold the operators that have not seen its rows."""

    operators: Array  # (folds, pairs, h)
    shifts: Array  # of their projections to where those of all folds lie   (folds, pairs)

    def __call__(self, H: Array, folds: Array) -> Array:
        """Projections of features H (n, h) of rows in these folds, each held out   (n, pairs)."""
        projections = np.empty((len(H), self.operators.shape[1]))
        for k in np.unique(folds):
            own = folds == k
            projections[own] = H[own] @ self.operators[k].T + self.shifts[k]
        return projections


class HeldOut(NamedTuple):
    """Projections of held-out rows, pooled over folds   (ridges, pairs, 2) each."""

    n: Array
    means: Array  # about the midpoint of each operator
    variances: Array
    folds: Array  # that held rows of the class
    # (m₊−m₋)/√(S₊+S₋), the root of what β maximises, averaged over the pairs   (ridges,)
    separations: Array

    @classmethod
    def pooled(cls, folds: Array) -> HeldOut:
        """From n, mean and variance within each fold   (folds, ridges, pairs, 2, 3)."""
        n, means, variances = np.moveaxis(folds, -1, 0)
        total = n.sum(axis=0)
        share = np.divide(n, total, out=np.zeros_like(n), where=total > 0)
        mean = (share * means).sum(axis=0)
        variance = (share * (variances + (means - mean) ** 2)).sum(axis=0)
        gaps = mean[..., 1] - mean[..., 0]
        # Between equal rows a gap is rounding (β is scaled so that training means are 2 apart).
        gaps[abs(gaps) <= ROUNDING * (1 + abs(mean).sum(axis=-1))] = 0.0
        # A variance may be 0, or 0 but for rounding, and that must not matter.
        both = variance.sum(axis=2) + (VARIANCE_FLOOR * gaps) ** 2
        known = (total > 0).all(axis=2) & (both > 0)
        gaps = np.divide(gaps, np.sqrt(both), out=np.zeros_like(gaps), where=known)
        separations = gaps.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        return cls(total, mean, variance, (n > 0).sum(axis=0), separations)

    @property
    def best(self) -> int:
        """The ridge that separates best; of those that are equal but for rounding, the first."""
        most = self.separations.max()
        return int(np.argmax(self.separations >= most - 1e-9 * abs(most)))


class FoldProjections(NamedTuple):
    """Projections of one fold's rows by operators that have not seen them, for each ridge."""

    stats: Array  # n, mean and variance of each class   (ridges, pairs, 2, 3)
    operators: Array  # (ridges, pairs, h)
    middles: Array  # between the means of the two classes   (ridges, pairs)


def project_fold(
    summary: Summary,
    fold: int,
    totals: list[ClassMoments],
    pairs: tuple[tuple[int, int], ...],
    shrinkage: str | float | None,
    ridges: list[Ridge],
) -> FoldProjections:
    """A fold's rows, projected by operators that have not seen them.

    All is zero where the fold or all others lack rows.
    """
    inside = [folds[fold] for folds in summary.moments]
    outside = []
    for total, folds in zip(totals, summary.moments, strict=True):
        others = (part for k, part in enumerate(folds) if k != fold)
        outside.append(shrink(without(total, [folds[fold]], others), shrinkage))
    found = np.zeros((len(ridges), len(pairs), 2, 3))
    operators = np.zeros((len(ridges), len(pairs), len(inside[0].mean)))
    all_middles = np.zeros((len(ridges), len(pairs)))
    for p, pair in enumerate(pairs):
        a, b = (outside[c] for c in pair)
        if not (a.rows and b.rows and any(inside[c].n for c in pair)):
            continue
        betas, _ = operators_of(a, b, ridges)
        middles = betas @ (a.mean + b.mean) / 2
        operators[:, p], all_middles[:, p] = betas, middles
        for side, own in enumerate(inside[c] for c in pair):
            if own.n:
                found[:, p, side, 0] = own.n * betas.any(axis=1)
                found[:, p, side, 1] = betas @ own.mean - middles
                variances = np.vecdot(betas @ own.scatter, betas) / own.n
                known = variances > error_of(own) * np.vecdot(betas, betas)
                found[:, p, side, 2] = np.where(known, variances, 0.0)
    return FoldProjections(found, operators, all_middles)


def _training_gaussians(beta: Array, negative: Shrunk, positive: Shrunk) -> GaussianPair:
    """N(βᵀm±, βᵀΣ±β), the paper's F."""
    if not beta.any():
        return GaussianPair((0.0, 0.0), (1.0, 1.0))
    m0, m1 = float(beta @ negative.mean), float(beta @ positive.mean)
    s0, s1 = (float(beta @ c.covariance @ beta) for c in (negative, positive))
    s0, s1 = (
        s if s > c.error * float(beta @ beta) else 0.0 for s, c in ((s0, negative), (s1, positive))
    )
    # The variance of one row is unknown: it borrows the other class's.
    s0, s1 = s0 if negative.rows > ONE_ROW else s1, s1 if positive.rows > ONE_ROW else s0
    return GaussianPair((m0, m1), floored(s0, s1, m1 - m0))


def floored(negative: float, positive: float, gap: float) -> tuple[float, float]:
    """Variances made positive, so that the log-odds are finite."""
    floor = VARIANCE_FLOOR * max(negative, positive, VARIANCE_FLOOR * gap * gap)
    return (max(negative, floor), max(positive, floor)) if floor > 0 else (1.0, 1.0)
