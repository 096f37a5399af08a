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
from typing import NamedTuple

import numpy as np

from ..engines.threads import Executor, serial
from ..moments.summary import ClassMoments, FoldMoments, without
from ..shapes import Array
from ..tolerances import PROJECTION_ROUNDING, VARIANCE_FLOOR
from .decision import GaussianPair
from .machine import Leaf, Machine, all_pairs, is_one_row
from .operator import Ridge, Shrunk, error_of, operators_of, shrink


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


def solve(
    moments: FoldMoments,
    method: Method,
    log_priors: Array,
    log_costs: Array,
    execute: Executor = serial,
) -> Machine:
    """The machine of one leaf, the paper's, from moments in which every class has rows.

    A numeric `ridge` is added to the diagonal of Σ. "auto" and `cross_fitted` need folds: without
    them nothing is held out, and both are as if not asked for.
    """
    totals = moments.totals
    classes = [shrink(total, method.shrinkage) for total in totals]
    asked = method.cross_fitted or method.ridge == "auto"
    folds = project_folds(moments, totals, method, execute) if asked and moments.n_folds > 1 else []
    held_out = HeldOut.pooled(folds) if folds else None
    solve_pair = partial(
        _solve_pair,
        ridge=method.ridges[0 if held_out is None else held_out.best],
        held_out=held_out if method.cross_fitted else None,
        fewest_folds=method.fewest_folds,
    )
    pairs = all_pairs(len(classes))
    solved = [solve_pair(p, classes[i], classes[j]) for p, (i, j) in enumerate(pairs)]
    leaf = Leaf(
        operators=np.array([pair.beta for pair in solved]),
        constants=np.zeros(len(pairs)),
        shrinkage=np.array([c.epsilon for c in classes]),
        ridges=np.array([pair.ridge for pair in solved]),
    )
    return Machine(
        pairs=pairs,
        curves=tuple(pair.gaussians for pair in solved),
        log_priors=log_priors,
        log_costs=log_costs,
        diagnostics=tuple(dict.fromkeys(code for pair in solved for code in pair.diagnostics)),
        leaves=(leaf,),
    )


class SolvedPair(NamedTuple):
    """The operator of two classes, and the Gaussians of its projections."""

    beta: Array
    ridge: float  # added to Σ's diagonal
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
    return SolvedPair(beta, float(added[0]), gaussians, diagnostics)


@dataclass(frozen=True, slots=True)
class FoldProjections:
    """Projections of one fold's rows by operators that have not seen them, for each ridge."""

    n: Array  # rows of each class   (ridges, pairs, 2)
    means: Array  # of their projections, about the midpoint of the operator
    variances: Array


def project_folds(
    moments: FoldMoments,
    totals: Sequence[ClassMoments],
    method: Method,
    execute: Executor = serial,
) -> list[FoldProjections]:
    """Each fold's rows, held out."""
    project = partial(project_fold, moments, totals, method=method)
    return list(execute(partial(project, fold=k) for k in range(moments.n_folds)))


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
    for p, pair in enumerate(pairs):
        a, b = (outside[c] for c in pair)
        if not (a.rows and b.rows and any(inside[c].n for c in pair)):
            continue
        betas, _ = operators_of(a, b, ridges)
        middles = betas @ (a.mean + b.mean) / 2
        for side, held in enumerate(inside[c] for c in pair):
            if held.n:
                n[:, p, side] = held.n * betas.any(axis=1)
                means[:, p, side] = betas @ held.mean - middles
                spread = np.vecdot(betas @ held.scatter, betas) / held.n
                known = spread > error_of(held) * np.vecdot(betas, betas)
                variances[:, p, side] = np.where(known, spread, 0.0)
    return FoldProjections(n, means, variances)


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
