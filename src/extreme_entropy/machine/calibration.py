"""The machine of several leaves: each solved by itself, then calibrated together.

In a leaf with n_i and n_j rows of two classes, of which there are N_i and N_j in all, a row has

    ℓ(x) = ln N(m_j,S_j)[βᵀφ(x)] / N(m_i,S_i)[βᵀφ(x)] + ln(n_j/n_i) − ln(N_j/N_i)

with the leaf's own φ, β and Gaussians, so that priors and costs are those of the whole. Counts are
smoothed by a few rows with the shares of the whole; a class that a leaf (almost) lacks is judged
there by counts alone. The projection of a row is Σ_t v_t ℓ_t over the trees, with Σ v = 1.

Projections are seldom Gaussian: their tails are heavier, and several trees agree too much or too
little. So the odds of two classes are exp(a Σ v_t ℓ_t): a logistic regression, without a constant,
through the held-out ℓ of rows that are kept with φ, each projected by operators of the folds it is
not in. It gives the slope a, and where a table is cut also v, which is ½ otherwise. Zero stays
zero, so that no label changes at equal priors. It follows from φ and the sums alone, so that a fit
is still a sum over its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from ..engines.threads import Executor, chunks, serial
from ..features.feature_map import FeatureMap, HeldRows
from ..moments.summary import FoldMoments, Summary
from ..tolerances import NEWTON_CHANGE, NEWTON_STEP, WEIGHT_ROUNDING
from .decision import Line
from .machine import Leaf, Machine
from .solving import FoldOperators, Method, solve_moments

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class CalibrationSettings:
    """How leaves are solved and calibrated together."""

    fewest_in_leaf: float = 10.0  # rows of a class, for its odds to come from more than counts
    smoothing: float = 10.0  # rows with the classes of the whole, that counts are smoothed by
    precision: float = 10.0  # in rows, of the prior that all slopes are those of ℓ itself
    least_slope: float = 1e-2  # so that thresholds are finite
    least_share: float = 0.02  # of v: trees that count for less are left out
    most_steps: int = 50  # of Newton's method
    few_leaves: int = 4  # up to which threads share the work on one leaf


CALIBRATION = CalibrationSettings()


class SolvedLeaf(NamedTuple):
    """A leaf, the operators by which rows kept with φ are projected, and what it lacks."""

    leaf: Leaf
    by_fold: FoldOperators | None = None
    diagnostics: tuple[str, ...] = ()


class HeldOdds(NamedTuple):
    """Held-out log-odds of the rows of a class."""

    odds: Array  # ℓ of each row in each tree   (m, trees)
    counts: Array  # how often each came   (m,)
    total: float  # N, the weight of all rows of the class


def solve_leaves(
    phi: FeatureMap,
    summary: Summary,
    log_priors: Array,
    log_costs: Array,
    execute: Executor = serial,
    settings: CalibrationSettings = CALIBRATION,
) -> Machine:
    """The machine of a summary in which every class has rows, calibrated on rows kept with φ."""
    totals = summary.counts.sum(axis=1)
    worth_of_one = float(summary.effective_rows.sum() / totals.sum())  # in rows, of a weight of one
    solve = partial(_solve_leaf, totals=totals, worth_of_one=worth_of_one, settings=settings)
    if len(summary.leaves) <= settings.few_leaves:
        solved = [solve(leaf, execute=execute) for leaf in summary.leaves]
    else:
        solved = list(execute(partial(solve, leaf) for leaf in summary.leaves))
    odds = _held_out_odds(phi, solved)
    curves, shares = _calibrate(phi, odds, totals, settings)
    # What single leaves lack is no reason to warn; what all rows lack is.
    uncut = np.repeat(np.array(phi.n_leaves) == 1, phi.n_leaves)
    of_all = (part.diagnostics for part, whole in zip(solved, uncut, strict=True) if whole)
    machine = Machine(
        pairs=tuple(combinations(range(len(totals)), 2)),
        curves=curves,
        log_priors=log_priors,
        log_costs=log_costs,
        diagnostics=tuple(dict.fromkeys(code for codes in of_all for code in codes)),
        leaves=tuple(part.leaf for part in solved),
        shares=shares,
    )
    projections = np.einsum("tmp,tp->mp", odds, shares)
    return replace(machine, held_out=_true_class_scores(machine, projections, phi.held))


def _solve_leaf(
    moments: FoldMoments,
    totals: Array,
    worth_of_one: float,
    settings: CalibrationSettings,
    execute: Executor = serial,
) -> SolvedLeaf:
    """A leaf, where classes have such total weights in all leaves."""
    n, totals = moments.counts.sum(axis=1) * worth_of_one, totals * worth_of_one
    shares = totals / totals.sum()
    smoothed = np.log(n + settings.smoothing * shares) - np.log(shares)
    pairs = list(combinations(range(len(n)), 2))
    shifts = np.array([smoothed[j] - smoothed[i] for i, j in pairs])
    # All rows of a class are enough, however few; rounding may take a little from their weight.
    enough = np.minimum(settings.fewest_in_leaf, totals * (1 - WEIGHT_ROUNDING))
    present = np.flatnonzero((n > 0) & (n >= enough)).tolist()
    if len(present) < 2:
        none = np.empty(0)
        return SolvedLeaf(
            Leaf(np.empty((0, moments.h)), np.empty(0, np.intp), (), shifts, none, none)
        )
    of_present = FoldMoments(tuple(moments.cells[c] for c in present))
    solution = solve_moments(of_present, Method(), execute)
    columns = [pairs.index((present[i], present[j])) for i, j in solution.pairs]
    if np.array_equal(n, totals) and not solution.operators.any():
        shifts[:] = 0.0  # all rows are alike: a tie, which no rounding may decide
    leaf = Leaf(
        operators=solution.operators,
        columns=np.array(columns),
        curves=solution.gaussians,
        shifts=shifts,
        shrinkage=solution.shrinkage,
        ridges=solution.ridges,
    )
    return SolvedLeaf(leaf, solution.by_fold, solution.diagnostics)


def _held_out_odds(phi: FeatureMap, solved: Sequence[SolvedLeaf]) -> Array:
    """ℓ in each tree of each row that is kept with φ   (trees, m, pairs)."""
    held = phi.held
    odds = np.empty((len(phi.trees), len(held.Z), len(solved[0].leaf.shifts)))
    for of_tree, at in zip(odds, phi.leaves_of_scaled(held.Z), strict=True):
        for i in np.unique(at):
            inside, (leaf, by_fold, _) = np.flatnonzero(at == i), solved[i]
            for s in chunks(len(inside), phi.leaves[i].h):
                rows = inside[s]
                projections = np.empty((len(rows), 0))
                if by_fold is not None:
                    projections = by_fold(phi.leaves[i](held.Z[rows]), held.folds[rows])
                of_tree[rows] = leaf.projections(projections)
    return odds


def _calibrate(
    phi: FeatureMap, odds: Array, totals: Array, settings: CalibrationSettings
) -> tuple[tuple[Line, ...], Array]:
    """The line of each pair of classes, and how much each tree counts for it   (trees, pairs)."""
    held, curves, shares = phi.held, [], np.empty(odds.shape[::2])
    of_class = [(held.labels == c).nonzero()[0] for c in range(len(totals))]
    for p, pair in enumerate(combinations(range(len(totals)), 2)):
        negative, positive = (
            HeldOdds(odds[:, of_class[c], p].T, held.counts[of_class[c]], totals[c]) for c in pair
        )
        slopes = fit_slopes(negative, positive, free=max(phi.n_leaves) > 1, settings=settings)
        shares[:, p] = slopes / slopes.sum() if slopes.any() else 1 / len(slopes)
        filled = [held_odds for held_odds in (negative, positive) if len(held_odds.odds)]
        spreads = [float((held_odds.odds @ shares[:, p]).var()) for held_odds in filled]
        variance = float(np.mean(spreads)) if any(spreads) else 1.0
        curves.append(Line(max(float(slopes.sum()), settings.least_slope), variance))
    return tuple(curves), shares


def fit_slopes(
    negative: HeldOdds,
    positive: HeldOdds,
    *,
    free: bool,
    settings: CalibrationSettings = CALIBRATION,
) -> Array:
    """How much the ℓ of each tree counts, together or, if they are `free`, each by itself.

    Logistic regression without a constant. The classes have the weights √N_i and √N_j, half way
    between equal classes and those of the table, and their prior odds. No slope is negative.
    """
    x = np.concatenate([negative.odds, positive.odds])
    k = x.shape[1]
    if not len(negative.odds) or not len(positive.odds):
        return np.full(k, 1 / k)
    roots = np.sqrt([negative.total, positive.total])
    prior = float(np.log(roots[1] / roots[0]))
    weight = np.concatenate(
        [
            len(x) * root / roots.sum() * of_class.counts / of_class.counts.sum()
            for root, of_class in zip(roots, (negative, positive), strict=True)
        ]
    )
    y = np.repeat([0.0, 1.0], [len(negative.odds), len(positive.odds)])
    fit = partial(_newton, y=y, weight=weight, prior=prior, settings=settings)
    if not free:
        return np.full(k, max(float(fit(x.mean(axis=1)[:, None])[0]), 0) / k)
    used = np.arange(k)
    while True:
        slopes = np.zeros(k)
        slopes[used] = fit(x[:, used])
        counts = slopes > settings.least_share * slopes.sum()
        if counts[used].all() or counts.sum() == 0:
            return np.maximum(slopes, 0.0)
        used = np.flatnonzero(counts)


def _newton(
    x: Array, y: Array, weight: Array, prior: float, settings: CalibrationSettings
) -> Array:
    """Slopes of the logistic regression of y on x (n, k), by Newton's method."""
    start, precision = np.full(x.shape[1], 1 / x.shape[1]), settings.precision

    def loss(slopes: Array) -> float:
        t = x @ slopes + prior
        fit = float(weight @ (np.logaddexp(0, t) - y * t))
        return fit + precision / 2 * float(np.square(slopes - start).sum())

    slopes = start
    current = loss(slopes)
    for _ in range(settings.most_steps):
        p = expit(x @ slopes + prior)
        gradient = x.T @ (weight * (p - y)) + precision * (slopes - start)
        hessian = (x.T * (weight * p * (1 - p))) @ x + precision * np.eye(len(slopes))
        step = np.linalg.solve(hessian, gradient)
        while (value := loss(slopes - step)) > current and abs(step).max() > NEWTON_STEP:
            step = step / 2
        slopes, change, current = slopes - step, current - value, value
        if change <= NEWTON_CHANGE * abs(current):
            break
    return slopes


def _true_class_scores(machine: Machine, odds: Array, held: HeldRows) -> tuple[Array, ...]:
    """Held-out ln p of the class that each row has, and its count, sorted: for each class."""
    n_classes, scores = len(machine.log_priors), []
    log_p = np.empty((0, n_classes))
    if len(odds):
        log_p = machine.at_equal_priors().log_probabilities(odds)
    for c in range(n_classes):
        rows = held.labels == c
        order = np.argsort(log_p[rows, c], kind="stable")
        scores.append(np.column_stack([log_p[rows, c], held.counts[rows]])[order])
    return tuple(scores)
