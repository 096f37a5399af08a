"""Moments ↦ machine: for each pair of classes an operator β and two Gaussians of its projections.

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
from typing import Any, NamedTuple

import numpy as np

from ..engines.threads import Executor, serial
from ..moments.summary import ClassMoments, FoldMoments, without
from .decision import GaussianPair, Line
from .machine import Leaf, Machine
from .operator import Ridge, Shrunk, error_of, operators_of, shrink

Array = np.ndarray[Any, Any]

SHARES = (0.0, 0.03, 0.3, 3.0)  # of tr(Σ)/h, tried by ridge="auto"
FEWEST_FOLDS = 3  # in which a class must have rows for its held-out variance to be used
ONE_ROW = 1 + 1e-9  # weights may be worth more than one row by rounding
# A class whose projections do not vary gets this share of the other's variance, or of the squared
# gap between the means.
VARIANCE_FLOOR = 1e-6
ROUNDING = 1e-9  # of a projection


@dataclass(frozen=True, slots=True)
class Method:
    """How operators and Gaussians follow from moments."""

    shrinkage: str | float | None = "ledoit-wolf"
    ridge: float | str = "auto"
    cross_fitted: bool = True


class Solution(NamedTuple):
    """The operators of all pairs of classes, and the Gaussians of their projections."""

    pairs: tuple[tuple[int, int], ...]
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
    found = solve_moments(moments, method, execute)
    k = len(found.pairs)
    leaf = Leaf(
        found.operators,
        np.arange(k),
        (Line(1.0),) * k,
        np.zeros(k),
        found.shrinkage,
        found.ridges,
    )
    return Machine(
        pairs=found.pairs,
        curves=found.gaussians,
        log_priors=log_priors,
        log_costs=log_costs,
        diagnostics=found.diagnostics,
        leaves=(leaf,),
        shares=np.ones((1, k)),
    )


def solve_moments(moments: FoldMoments, method: Method, execute: Executor = serial) -> Solution:
    """Operators and Gaussians of moments in which every class has rows.

    A numeric `ridge` is added to the diagonal of Σ. "auto" and `cross_fitted` need folds: without
    them nothing is held out, and both are as if not asked for.
    """
    pairs = tuple(combinations(range(moments.n_classes), 2))
    totals = [moments.of_class(c) for c in range(moments.n_classes)]
    classes = [shrink(total, method.shrinkage) for total in totals]
    auto = method.ridge == "auto"
    ridges = [Ridge(relative=share) for share in SHARES] if auto else [Ridge(float(method.ridge))]
    cross_fitted = method.cross_fitted and moments.n_folds > 1
    best, held_out, by_fold = 0, None, None
    if moments.n_folds > 1 and (cross_fitted or auto):
        tasks = (
            partial(project_fold, moments, fold, totals, pairs, method.shrinkage, ridges)
            for fold in range(moments.n_folds)
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
    if by_fold is not None:  # about the midpoint of the whole instead of each fold's own
        means = np.array([classes[i].mean + classes[j].mean for i, j in pairs])
        by_fold = replace(by_fold, shifts=np.vecdot(operators, means) / 2 - by_fold.shifts)
    return Solution(
        pairs,
        operators,
        tuple(gaussians),
        np.array([c.epsilon for c in classes]),
        added,
        tuple(dict.fromkeys(diagnostics)),
        by_fold,
    )


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
    moments: FoldMoments,
    fold: int,
    totals: list[ClassMoments],
    pairs: tuple[tuple[int, int], ...],
    shrinkage: str | float | None,
    ridges: list[Ridge],
) -> FoldProjections:
    """A fold's rows, projected by operators that have not seen them.

    All is zero where the fold or all others lack rows.
    """
    inside = [folds[fold] for folds in moments.cells]
    outside = []
    for total, folds in zip(totals, moments.cells, strict=True):
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
