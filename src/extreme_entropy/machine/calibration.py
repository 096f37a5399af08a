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
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import expit

from ..engines.threads import Executor, chunks, serial
from ..features.feature_map import FeatureMap, HeldRows
from ..moments.summary import FoldMoments, Summary
from .decision import Line
from .machine import Leaf, Machine
from .solving import FoldOperators, Method, Solution, solve_moments

Array = np.ndarray[Any, Any]

FEWEST_IN_LEAF = 10  # rows of a class, for its odds in a leaf to come from more than counts
SMOOTHING = 10.0  # rows with the classes of the whole, that counts in a leaf are smoothed by
FEW_LEAVES = 4  # up to which threads share the work on one leaf
PRECISION = 10.0  # of the prior that all slopes are those of ℓ itself, in rows
LEAST_SLOPE = 1e-2  # so that thresholds are finite
LEAST_COUNT = 0.02  # of v: trees that count for less are left out


def solve_leaves(
    phi: FeatureMap,
    summary: Summary,
    log_priors: Array,
    log_costs: Array,
    execute: Executor = serial,
) -> Machine:
    """The machine of a summary in which every class has rows, calibrated on rows kept with φ."""
    totals = summary.counts.sum(axis=1)
    worth_of_one = float(summary.effective_rows.sum() / totals.sum())  # in rows, of a weight of one
    if len(summary.leaves) <= FEW_LEAVES:
        solved = [_solve_leaf(leaf, totals, worth_of_one, execute) for leaf in summary.leaves]
    else:
        tasks = (partial(_solve_leaf, leaf, totals, worth_of_one) for leaf in summary.leaves)
        solved = list(execute(tasks))
    leaves = tuple(leaf for leaf, _ in solved)
    odds = _held_out_odds(phi, leaves, [found and found.by_fold for _, found in solved])
    pairs = tuple(combinations(range(len(totals)), 2))
    own = [(phi.held.labels == c).nonzero()[0] for c in range(len(totals))]
    curves, shares = [], np.empty(odds.shape[::2])
    for p, (i, j) in enumerate(pairs):
        given = [(odds[:, own[c], p].T, phi.held.counts[own[c]], totals[c]) for c in (i, j)]
        slopes = fit_slopes(*given, free=max(phi.n_leaves) > 1)
        shares[:, p] = slopes / slopes.sum() if slopes.any() else 1 / len(slopes)
        slope = max(float(slopes.sum()), LEAST_SLOPE)
        curves.append(Line(slope, _variance([part[0] @ shares[:, p] for part in given])))
    # What single leaves lack is no reason to warn; what all rows lack is.
    uncut = np.repeat(np.array(phi.n_leaves) == 1, phi.n_leaves)
    of_all = (found for (_, found), one in zip(solved, uncut, strict=True) if one and found)
    diagnostics = (code for found in of_all for code in found.diagnostics)
    machine = Machine(
        pairs=pairs,
        curves=tuple(curves),
        log_priors=log_priors,
        log_costs=log_costs,
        diagnostics=tuple(dict.fromkeys(diagnostics)),
        leaves=leaves,
        shares=shares,
    )
    projections = np.einsum("tmp,tp->mp", odds, shares)
    return replace(machine, held_out=_own_scores(machine, projections, phi.held))


def _solve_leaf(
    moments: FoldMoments, totals: Array, worth_of_one: float, execute: Executor = serial
) -> tuple[Leaf, Solution | None]:
    """A leaf, where classes have such total weights in all leaves."""
    n, totals = moments.counts.sum(axis=1) * worth_of_one, totals * worth_of_one
    # ln((n + SMOOTHING · share) / share), equal to the last bit where a leaf holds all rows.
    smoothed = np.log(n / totals * totals.sum() + SMOOTHING)
    pairs = list(combinations(range(len(n)), 2))
    shifts = np.array([smoothed[j] - smoothed[i] for i, j in pairs])
    # All rows of a class are enough, however few; rounding may take a little from their weight.
    enough = np.minimum(FEWEST_IN_LEAF, totals * (1 - 1e-9))
    present = np.flatnonzero((n > 0) & (n >= enough)).tolist()
    if len(present) < 2:
        nothing = np.empty(0)
        return Leaf(
            np.empty((0, moments.h)), np.empty(0, np.intp), (), shifts, nothing, nothing
        ), None
    of_present = FoldMoments(tuple(moments.cells[c] for c in present))
    found = solve_moments(of_present, Method(), execute)
    columns = [pairs.index((present[i], present[j])) for i, j in found.pairs]
    leaf = Leaf(
        found.operators,
        np.array(columns),
        found.gaussians,
        shifts,
        found.shrinkage,
        found.ridges,
    )
    return leaf, found


def _held_out_odds(
    phi: FeatureMap, leaves: tuple[Leaf, ...], by_fold: Sequence[FoldOperators | None]
) -> Array:
    """ℓ in each tree of each row that is kept with φ   (trees, m, pairs)."""
    held = phi.held
    found = np.empty((len(phi.trees), len(held.Z), len(leaves[0].shifts)))
    for odds, at in zip(found, phi.leaves_of_scaled(held.Z), strict=True):
        for i in np.unique(at):
            own, project = np.flatnonzero(at == i), by_fold[i]
            for s in chunks(len(own), phi.leaves[i].h):
                rows = own[s]
                projections = np.empty((len(rows), 0))
                if project is not None:
                    projections = project(phi.leaves[i](held.Z[rows]), held.folds[rows])
                odds[rows] = leaves[i].projections(projections)
    return found


Odds = tuple[Array, Array, float]  # ℓ of rows in each tree (m, trees), how often each came, N


def fit_slopes(negative: Odds, positive: Odds, *, free: bool) -> Array:
    """How much the ℓ of each tree counts, together or, if they are `free`, each by itself.

    Logistic regression without a constant. The classes have the weights √N_i and √N_j, half way
    between equal classes and those of the table, and their prior odds. No slope is negative.
    """
    x = np.concatenate([negative[0], positive[0]])
    k = x.shape[1]
    if not len(negative[0]) or not len(positive[0]):
        return np.full(k, 1 / k)
    roots = np.sqrt([negative[2], positive[2]])
    prior = float(np.log(roots[1] / roots[0]))
    weight = np.concatenate(
        [
            len(x) * root / roots.sum() * counts / counts.sum()
            for root, (_, counts, _) in zip(roots, (negative, positive), strict=True)
        ]
    )
    y = np.repeat([0.0, 1.0], [len(negative[0]), len(positive[0])])
    if not free:
        return np.full(k, max(float(_newton(x.mean(axis=1)[:, None], y, weight, prior)[0]), 0) / k)
    used = np.arange(k)
    while True:
        slopes = np.zeros(k)
        slopes[used] = _newton(x[:, used], y, weight, prior)
        kept = slopes > LEAST_COUNT * slopes.sum()
        if kept[used].all() or kept.sum() == 0:
            return np.maximum(slopes, 0.0)
        used = np.flatnonzero(kept)


def _newton(x: Array, y: Array, weight: Array, prior: float) -> Array:
    """Slopes of the logistic regression of y on x (n, k), by Newton's method."""
    start = np.full(x.shape[1], 1 / x.shape[1])

    def loss(slopes: Array) -> float:
        t = x @ slopes + prior
        fit = float(weight @ (np.logaddexp(0, t) - y * t))
        return fit + PRECISION / 2 * float(np.square(slopes - start).sum())

    slopes = start
    current = loss(slopes)
    for _ in range(50):
        p = expit(x @ slopes + prior)
        gradient = x.T @ (weight * (p - y)) + PRECISION * (slopes - start)
        hessian = (x.T * (weight * p * (1 - p))) @ x + PRECISION * np.eye(len(slopes))
        step = np.linalg.solve(hessian, gradient)
        while (value := loss(slopes - step)) > current and abs(step).max() > 1e-12:
            step = step / 2
        slopes, change, current = slopes - step, current - value, value
        if change <= 1e-13 * abs(current):
            break
    return slopes


def _variance(projections: list[Array]) -> float:
    """The variance of the projections of a class, averaged over both."""
    spread = [float(part.var()) for part in projections if len(part)]
    return float(np.mean(spread)) if any(spread) else 1.0


def _own_scores(machine: Machine, odds: Array, held: HeldRows) -> tuple[Array, ...]:
    """Held-out ln p of the own class of each row, and its count, sorted: for each class."""
    n_classes, scores = len(machine.log_priors), []
    found = np.empty((0, n_classes))
    if len(odds):
        found = machine.at_equal_priors().log_probabilities(odds)
    for c in range(n_classes):
        own = held.labels == c
        order = np.argsort(found[own, c], kind="stable")
        scores.append(np.column_stack([found[own, c], held.counts[own]])[order])
    return tuple(scores)
