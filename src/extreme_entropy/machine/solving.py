"""Moments ↦ machine: for each pair of classes an operator β and two Gaussians of its projections.

The Gaussians of a pair are the paper's (m± = βᵀm±, S± = βᵀΣ±β) or those of held-out rows. β
separates its own training rows better than new ones, most of all when a class is rare and h is
large. With β₋ₖ from the sum of all folds but k, the held-out fold's projections have mean βᵀ₋ₖmₖ
and variance βᵀ₋ₖcovₖβ₋ₖ: functions of its summary, no further pass. They are pooled over the folds
about each β₋ₖ's own midpoint. A ridge of "auto" is chosen there too: of a few multiples of tr(Σ)/h,
the one that is best by the paper's own criterion, (m₊−m₋)²/(S₊+S₋), on rows that β has not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..engines.threads import Executor, serial
from ..moments.summary import ClassMoments, FoldMoments, without
from ..tolerances import PROJECTION_ROUNDING, VARIANCE_FLOOR, WEIGHT_ROUNDING
from .decision import GaussianPair
from .machine import Leaf, Machine, Pairs, all_pairs
from .operator import Ridge, Shrunk, error_of, operators_of, shrink

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Method:
    """How operators and Gaussians follow from moments."""

    shrinkage: str | float | None = "ledoit-wolf"
    ridge: float | str = "auto"
    cross_fitted: bool = True
    # Of tr(Σ)/h, tried by ridge="auto". Fewer lose where classes overlap, more cost factorisations.
    ridge_shares: tuple[float, ...] = (0.0, 0.03, 0.3, 3.0)
    fewest_folds: int = 3  # in which a class must have rows for its held-out variance to be used

    @property
    def ridges(self) -> list[Ridge]:
        """Those that are tried, or the one that is asked for."""
        if self.ridge == "auto":
            return [Ridge(relative=share) for share in self.ridge_shares]
        return [Ridge(float(self.ridge))]


class Solution(NamedTuple):
    """The operators of all pairs of classes, and the Gaussians of their projections."""

    pairs: Pairs
    operators: Array  # β of each pair              (pairs, h)
    gaussians: tuple[GaussianPair, ...]
    shrinkage: Array  # ε of each class             (classes,)
    ridges: Array  # added to Σ's diagonal       (pairs,)
    diagnostics: tuple[str, ...]
    by_fold: FoldOperators | None  # that have not seen each fold, where there are folds


def solve(
    moments: FoldMoments,
    method: Method,
    log_priors: Array,
    log_costs: Array,
    execute: Executor = serial,
) -> Machine:
    """The machine of one leaf, the paper's, from moments in which every class has rows."""
    solution = solve_moments(moments, method, execute)
    k = len(solution.pairs)
    leaf = Leaf(
        operators=solution.operators,
        constants=np.zeros(k),
        shrinkage=solution.shrinkage,
        ridges=solution.ridges,
    )
    return Machine(
        pairs=solution.pairs,
        curves=solution.gaussians,
        log_priors=log_priors,
        log_costs=log_costs,
        diagnostics=solution.diagnostics,
        leaves=(leaf,),
    )


def solve_moments(moments: FoldMoments, method: Method, execute: Executor = serial) -> Solution:
    """Operators and Gaussians of moments in which every class has rows.

    A numeric `ridge` is added to the diagonal of Σ. "auto" and `cross_fitted` need folds: without
    them nothing is held out, and both are as if not asked for.
    """
    totals = moments.totals
    classes = [shrink(total, method.shrinkage) for total in totals]
    folds = project_folds(moments, totals, method, execute)
    held_out = HeldOut.pooled(folds) if folds else None
    best = 0 if held_out is None else held_out.best
    solve_pair = partial(
        _solve_pair,
        ridge=method.ridges[best],
        held_out=held_out if method.cross_fitted else None,
        fewest_folds=method.fewest_folds,
    )
    pairs = all_pairs(len(classes))
    solved = [solve_pair(p, classes[i], classes[j]) for p, (i, j) in enumerate(pairs)]
    middles = np.array([pair.middle for pair in solved])
    return Solution(
        pairs,
        np.array([pair.beta for pair in solved]),
        tuple(pair.gaussians for pair in solved),
        np.array([c.epsilon for c in classes]),
        np.array([pair.ridge for pair in solved]),
        tuple(dict.fromkeys(code for pair in solved for code in pair.diagnostics)),
        FoldOperators.of(folds, best, middles) if folds else None,
    )


class SolvedPair(NamedTuple):
    """The operator of two classes, and the Gaussians of its projections."""

    beta: Array
    ridge: float  # added to Σ's diagonal
    middle: float  # between the means of both classes
    gaussians: GaussianPair
    diagnostics: list[str]


def _solve_pair(
    p: int,
    negative: Shrunk,
    positive: Shrunk,
    ridge: Ridge,
    held_out: HeldOut | None,
    fewest_folds: int,
) -> SolvedPair:
    """The operator of pair p, and the Gaussians of held-out rows or, without them, the paper's."""
    betas, added = operators_of(negative, positive, [ridge])
    beta, gaussians, diagnostics = betas[0], None, list[str]()
    middle = float(beta @ (negative.mean + positive.mean)) / 2
    if is_one_row(negative.rows) or is_one_row(positive.rows):
        diagnostics.append("one row")
    if not beta.any():
        diagnostics.append("degenerate")
    elif held_out is not None:
        gaussians = held_out.gaussians(p, middle, fewest_folds)
        diagnostics += ["not cross-fitted"] * (gaussians is None)
    gaussians = gaussians or _training_gaussians(beta, negative, positive)
    return SolvedPair(beta, float(added[0]), middle, gaussians, diagnostics)


@dataclass(frozen=True, slots=True)
class FoldOperators:
    """For each fold the operators that have not seen its rows."""

    operators: Array  # (folds, pairs, h)
    shifts: Array  # of their projections to where those of all folds lie   (folds, pairs)

    @classmethod
    def of(cls, folds: Sequence[FoldProjections], ridge: int, middles: Array) -> FoldOperators:
        """Those of a ridge, about the midpoints of the whole instead of each fold's own."""
        shifts = middles - np.stack([fold.middles[ridge] for fold in folds])
        return cls(np.stack([fold.operators[ridge] for fold in folds]), shifts)

    def __call__(self, H: Array, folds: Array) -> Array:
        """Projections of features H (n, h) of rows in these folds, each held out   (n, pairs)."""
        projections = np.empty((len(H), self.operators.shape[1]))
        for k in np.unique(folds):
            inside = folds == k
            projections[inside] = H[inside] @ self.operators[k].T + self.shifts[k]
        return projections


@dataclass(frozen=True, slots=True)
class FoldProjections:
    """Projections of one fold's rows by operators that have not seen them, for each ridge."""

    n: Array  # rows of each class   (ridges, pairs, 2)
    means: Array  # of their projections, about the midpoint of the operator
    variances: Array
    operators: Array  # (ridges, pairs, h)
    middles: Array  # between the means of the two classes   (ridges, pairs)


def project_folds(
    moments: FoldMoments,
    totals: Sequence[ClassMoments],
    method: Method,
    execute: Executor = serial,
) -> list[FoldProjections]:
    """Each fold's rows, held out; none where there is one fold, or nobody asks for them."""
    n_folds = len(moments.cells[0])
    if n_folds == 1 or not (method.cross_fitted or method.ridge == "auto"):
        return []
    return list(execute(partial(project_fold, moments, totals, k, method) for k in range(n_folds)))


def project_fold(
    moments: FoldMoments, totals: Sequence[ClassMoments], fold: int, method: Method
) -> FoldProjections:
    """A fold's rows, projected by operators that have not seen them.

    All is zero where the fold or all others lack rows.
    """
    inside = [folds[fold] for folds in moments.cells]
    outside = []
    for total, folds in zip(totals, moments.cells, strict=True):
        rest = without(total, [folds[fold]], (*folds[:fold], *folds[fold + 1 :]))
        outside.append(shrink(rest, method.shrinkage))
    pairs, ridges = all_pairs(len(totals)), method.ridges
    shape = len(ridges), len(pairs)
    n, means, variances = np.zeros((3, *shape, 2))
    operators, middles = np.zeros((*shape, moments.h)), np.zeros(shape)
    for p, pair in enumerate(pairs):
        a, b = (outside[c] for c in pair)
        if not (a.rows and b.rows and any(inside[c].n for c in pair)):
            continue
        betas, _ = operators_of(a, b, ridges)
        operators[:, p], middles[:, p] = betas, betas @ (a.mean + b.mean) / 2
        for side, held in enumerate(inside[c] for c in pair):
            if held.n:
                n[:, p, side] = held.n * betas.any(axis=1)
                means[:, p, side] = betas @ held.mean - middles[:, p]
                spread = np.vecdot(betas @ held.scatter, betas) / held.n
                known = spread > error_of(held) * np.vecdot(betas, betas)
                variances[:, p, side] = np.where(known, spread, 0.0)
    return FoldProjections(n, means, variances, operators, middles)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Projections of held-out rows, pooled over folds   (ridges, pairs, 2) each."""

    means: Array  # about the midpoint of each operator
    variances: Array
    folds: Array  # that held rows of the class
    # (m₊−m₋)/√(S₊+S₋), the root of what β maximises, averaged over the pairs   (ridges,)
    separations: Array
    best: int  # the ridge that separates best; of those equal but for rounding, the first

    @classmethod
    def pooled(cls, folds: Sequence[FoldProjections]) -> HeldOut:
        """From n, mean and variance within each fold."""
        n, means = np.stack([fold.n for fold in folds]), np.stack([fold.means for fold in folds])
        variances = np.stack([fold.variances for fold in folds])
        total = n.sum(axis=0)
        share = np.divide(n, total, out=np.zeros_like(n), where=total > 0)
        mean = (share * means).sum(axis=0)
        variance = (share * (variances + (means - mean) ** 2)).sum(axis=0)
        gaps = mean[..., 1] - mean[..., 0]
        # Between equal rows a gap is rounding (β is scaled so that training means are 2 apart).
        gaps[abs(gaps) <= PROJECTION_ROUNDING * (1 + abs(mean).sum(axis=-1))] = 0.0
        # A variance may be 0, or 0 but for rounding, and that must not matter.
        both = variance.sum(axis=2) + (VARIANCE_FLOOR * gaps) ** 2
        known = (total > 0).all(axis=2) & (both > 0)
        gaps = np.divide(gaps, np.sqrt(both), out=np.zeros_like(gaps), where=known)
        separations = gaps.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        most = separations.max()
        best = int(np.argmax(separations >= most - PROJECTION_ROUNDING * abs(most)))
        return cls(mean, variance, (n > 0).sum(axis=0), separations, best)

    def gaussians(self, pair: int, middle: float, fewest_folds: int) -> GaussianPair | None:
        """N(m±, S±) of a pair under the best ridge, about the midpoint of its operator.

        None where a class has rows in too few folds.
        """
        if self.folds[self.best, pair].min() < fewest_folds:
            return None
        m0, m1 = (middle + self.means[self.best, pair]).tolist()
        s0, s1 = self.variances[self.best, pair].tolist()
        return GaussianPair((m0, m1), floored(s0, s1, m1 - m0))


def is_one_row(rows: Any) -> Any:
    """Which numbers of rows are one; weights may be worth more than one row by rounding."""
    return rows <= 1 + WEIGHT_ROUNDING


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
    s0, s1 = s1 if is_one_row(negative.rows) else s0, s0 if is_one_row(positive.rows) else s1
    return GaussianPair((m0, m1), floored(s0, s1, m1 - m0))


def floored(negative: float, positive: float, gap: float) -> tuple[float, float]:
    """Variances made positive, so that the log-odds are finite."""
    floor = VARIANCE_FLOOR * max(negative, positive, VARIANCE_FLOOR * gap * gap)
    return (max(negative, floor), max(positive, floor)) if floor > 0 else (1.0, 1.0)
