"""Sums of a Newton step ↦ machine: a linear system for each leaf, calibrated on held-out rows.

With G and b of a leaf (`moments/step_sums.py`) and the penalty Λ on features φ and a constant,

    θ = (G + Λ)⁻¹ (b + Λθ_c),     log-odds f(x) = (φ(x), 1)ᵀθ

where θ_c is 0 except for the constant, which is drawn to the log-odds of the classes in the whole
table. Features are sized so that their penalty is 1. θ₋ₖ, from the sums of all folds but k,
predicts the rows of fold k that are kept with φ. The pilot may have seen these rows, but their
predictions count as held out, since Newton's map forgets its starting point to second order.

With more than two classes, G only bounds the curvature (`moments/logistic.py`). A step δ from the
pilot would then be too short, and θ₋ₖ would keep much of what the pilot saw. So δ is made as long
as the curvature along it asks: with r, the ratio of bound and curvature among rows that are kept,

    δ · δᵀ(G + Λ)δ / δᵀ(G/r + Λ)δ

In each leaf, a logistic regression fits a line to these predictions,

    a f + a_c,     with a drawn to 1 and the constants to 0.

From its log-odds, those due to the frequencies of the classes are subtracted, so that priors and
costs are added as in every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax

from ..engines.threads import Executor, chunks, serial
from ..features.feature_map import FeatureMap, HeldRows
from ..moments.logistic import curvatures, probabilities, weights_of
from ..moments.step_sums import StepSums
from ..moments.summary import Summary
from ..progress import counted
from ..tolerances import EPS, NEWTON_CHANGE, NEWTON_STEP, SINGULAR, SUM_MARGIN
from .decision import Line
from .machine import Leaf, Machine, Pairs, is_one_row, with_first

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class StepSettings:
    """How leaves are solved and calibrated."""

    constant_penalty: float = 0.1
    # Of the priors that the slope is 1 and the constants are 0, in rows.
    slope_precision: float = 10.0
    constant_precision: float = 1.0
    least_slope: float = 1e-2  # so that thresholds are finite
    most_steps: int = 50
    fewest_folds: int = 3  # in which each class must have rows for predictions to be calibrated


STEPPING = StepSettings()


def penalties_of(h: int, settings: StepSettings = STEPPING) -> Array:
    """Λ, the penalties of h features and of the constant   (h + 1,)."""
    return np.append(np.ones(h), settings.constant_penalty)


class SteppedLeaf(NamedTuple):
    """θ of a leaf, and θ₋ₖ without each fold."""

    theta: Array  # (h + 1, outputs)
    by_fold: Array  # (folds, h + 1, outputs)


def solve_steps(
    phi: FeatureMap,
    summary: Summary,
    log_priors: Array,
    log_costs: Array,
    execute: Executor = serial,
    settings: StepSettings = STEPPING,
) -> Machine:
    """The machine of a summary in which every class has rows."""
    totals = summary.counts.sum(axis=1)
    worth_of_one = float(summary.effective_rows.sum() / totals.sum())  # in rows, of a weight of one
    prior = _as_outputs(np.log(totals / totals.sum()))
    sums: Sequence[Any] = summary.leaves  # StepSums, since φ has pilots
    filled = [leaf for leaf in sums if leaf.counts.any()]
    is_blank = len(filled) == 1 and _is_blank(filled[0])
    solve = (
        _unsolved
        if is_blank
        else partial(_solve_leaf, worth_of_one=worth_of_one, settings=settings)
    )
    solved = list(counted(execute(partial(solve, leaf, prior) for leaf in sums)))
    if len(prior) > 1 and not is_blank:
        lengthen = partial(_lengthened, phi, totals=totals, worth_of_one=worth_of_one)
        parts = zip(range(len(sums)), sums, solved, strict=True)
        solved = list(execute(partial(lengthen, i, leaf, part) for i, leaf, part in parts))
    logits = _held_logits(phi, solved, len(totals))
    pairs = with_first(len(totals))
    at = phi.tree(phi.held.Z)
    leaves, calibrated = [], np.zeros_like(logits)
    is_folded = (summary.counts > 0).sum(axis=1).min() >= settings.fewest_folds
    for i, part in enumerate(solved):
        inside = np.flatnonzero(at == i) if is_folded else np.empty(0, np.intp)
        line = fit_line(logits[inside], _at(phi.held, inside), phi.held, totals, settings)
        calibrated[at == i] = line.slope * logits[at == i] + line.constants
        constants = np.log(totals) if is_blank else line.slope * _constants(part) + line.constants
        leaves.append(
            Leaf(
                operators=_by_pair(line.slope * _as_logits(part.theta[:-1]), pairs).T,
                constants=_by_pair((constants - np.log(totals))[np.newaxis], pairs)[0],
                shrinkage=np.empty(0),
                ridges=np.empty(0),
            )
        )
    diagnostics = []
    if is_one_row(summary.effective_rows).any():
        diagnostics.append("one row")
    if is_blank:
        diagnostics.append("degenerate")
    elif not is_folded:
        diagnostics.append("not cross-fitted")
    projections = _by_pair(calibrated - np.log(totals), pairs)
    curves = tuple(
        Line(1.0, _variance(projections[:, p], phi.held, pair)) for p, pair in enumerate(pairs)
    )
    machine = Machine(
        pairs=pairs,
        curves=curves,
        log_priors=log_priors,
        log_costs=log_costs,
        diagnostics=tuple(diagnostics),
        leaves=tuple(leaves),
    )
    return replace(machine, held_out=_true_class_scores(machine, projections, phi.held))


def _is_blank(sums: StepSums) -> bool:
    """Whether all rows have the same features."""
    gram = sums.gram.sum(axis=0)
    diagonal, size = gram.diagonal()[:-1], gram[-1, -1]
    spread = diagonal - gram[-1, :-1] ** 2 / (size or 1.0)
    return bool((spread <= SUM_MARGIN * EPS * (diagonal + size)).all())


def _unsolved(sums: StepSums, prior: Array) -> SteppedLeaf:
    """θ of rows that tell nothing: the constant of all."""
    theta = np.zeros(sums.target.shape[1:])
    theta[-1] = prior
    return SteppedLeaf(theta, np.repeat(theta[np.newaxis], sums.n_folds, axis=0))


def _solve_leaf(
    sums: StepSums, prior: Array, worth_of_one: float, settings: StepSettings
) -> SteppedLeaf:
    """θ of a leaf, where a weight of one is worth so many rows."""
    gram, target = sums.gram.sum(axis=0), sums.target.sum(axis=0)
    penalties = penalties_of(sums.h, settings)
    # Rounding, also what is left of rows taken out, must not outweigh the penalties.
    rounding = SINGULAR * len(gram) * gram.diagonal().max() + len(gram) * float(sums.errors.sum())
    penalties = np.maximum(penalties, rounding * worth_of_one)
    solve = partial(_solved, prior=prior, worth_of_one=worth_of_one, penalties=penalties)
    by_fold = [solve(gram - sums.gram[k], target - sums.target[k]) for k in range(sums.n_folds)]
    return SteppedLeaf(solve(gram, target), np.stack(by_fold))


def _solved(
    gram: Array, target: Array, prior: Array, worth_of_one: float, penalties: Array
) -> Array:
    """(G + Λ)⁻¹ (b + Λθ_c)."""
    gram, target = gram * worth_of_one, target * worth_of_one
    gram.flat[:: len(gram) + 1] += penalties
    target[-1] += penalties[-1] * prior
    return cho_solve(cho_factor(gram, lower=True, overwrite_a=True), target)


def _lengthened(
    phi: FeatureMap,
    i: int,
    sums: StepSums,
    part: SteppedLeaf,
    totals: Array,
    worth_of_one: float,
) -> SteppedLeaf:
    """Steps of leaf i from its pilot, as long as the curvature along them asks."""
    held, pilot, features = phi.held, phi.pilots[i], phi.leaves[i]
    inside = np.flatnonzero(phi.tree(held.Z) == i)
    kept = np.bincount(held.labels, held.counts, len(totals))
    weight = (held.counts * (totals / np.maximum(kept, 1e-300))[held.labels])[inside]
    steps, folds = part.by_fold - pilot, held.folds[inside]
    bounds, curved = np.zeros(len(steps)), np.zeros(len(steps))
    for s in chunks(len(inside), features.h):
        H = features.of_sampled(held.Z[inside[s]])
        p = probabilities(H @ pilot[:-1] + pilot[-1])
        bound = weight[s] * weights_of(p)
        for k in range(len(steps)):
            rows = folds[s] != k
            moved = H[rows] @ steps[k, :-1] + steps[k, -1]
            moved -= moved.mean(axis=1, keepdims=True)  # what p does not notice
            bounds[k] += bound[rows] @ np.square(moved).sum(axis=1)
            curved[k] += weight[s][rows] @ curvatures(p[rows], moved)
    gram, penalties = sums.gram.sum(axis=0), penalties_of(sums.h)[:, np.newaxis]

    def longer(step: Array, gram: Array, bound: float, curved: float) -> Array:
        fit = worth_of_one * np.vdot(step, gram @ step)
        penalty = float((penalties * step**2).sum())
        asked = fit * (curved / bound if bound else 1.0) + penalty
        return pilot + step * ((fit + penalty) / asked if asked > 0 else 1.0)

    theta = longer(part.theta - pilot, gram, bounds.sum(), curved.sum())
    without = (gram - of_fold for of_fold in sums.gram)
    by_fold = map(longer, steps, without, bounds, curved)
    return SteppedLeaf(theta, np.stack(list(by_fold)))


def _as_outputs(logs: Array) -> Array:
    """One logarithm for each class as log-odds of the second of two, or as logits of more."""
    return logs[1:] - logs[:1] if len(logs) == 2 else logs


def _as_logits(outputs: Array) -> Array:
    """Outputs as logits of all classes; that of the first of two is 0   (n, classes)."""
    if outputs.shape[1] > 1:
        return outputs
    return np.concatenate([np.zeros_like(outputs), outputs], axis=1)


def _held_logits(phi: FeatureMap, solved: Sequence[SteppedLeaf], n_classes: int) -> Array:
    """Logits of the rows kept with φ, each by θ₋ₖ without its own fold   (m, classes)."""
    held = phi.held
    logits = np.zeros((len(held.Z), n_classes))
    at = phi.tree(held.Z)
    for i in np.unique(at):
        inside, by_fold = np.flatnonzero(at == i), solved[i].by_fold
        for s in chunks(len(inside), phi.leaves[i].h):
            rows = inside[s]
            H, folds = phi.leaves[i].of_sampled(held.Z[rows]), held.folds[rows]
            for k in np.unique(folds) if len(by_fold) > 1 else ():
                theta, of_fold = by_fold[k], folds == k
                logits[rows[of_fold]] = _as_logits(H[of_fold] @ theta[:-1] + theta[-1])
    return logits


class Held(NamedTuple):
    """Labels of kept rows, and how often each row occurred."""

    labels: Array
    counts: Array


def _at(held: HeldRows, rows: Array) -> Held:
    """Some of the kept rows."""
    return Held(held.labels[rows], held.counts[rows])


class CalibrationLine(NamedTuple):
    """From logits to calibrated ones."""

    slope: float
    constants: Array  # (classes,)


def fit_line(
    logits: Array,
    rows: Held,
    of_all: Held | HeldRows,
    totals: Array,
    settings: StepSettings = STEPPING,
) -> CalibrationLine:
    """The slope and constants, near 1 and 0, that best predict these rows.

    The kept rows of each class stand for its total: among them, its logit is higher by the
    logarithm of the share that was kept.
    """
    k = len(totals)
    kept = np.bincount(of_all.labels, of_all.counts, k)
    shift = np.log(np.maximum(kept, 1e-300) / totals)
    # a, and the constant of each class; that of the first of two is 0.
    free = np.r_[0, 2] if k == 2 else np.arange(k + 1)
    start = np.append(1.0, np.zeros(k))
    precision = np.append(settings.slope_precision, np.full(k, settings.constant_precision))
    # Repeated rows count more, but all rows together count as many as they are.
    y = (rows.labels[:, np.newaxis] == np.arange(k)).astype(float)
    weight = rows.counts * (len(rows.counts) / max(rows.counts.sum(), 1e-300))

    def value(at: Array) -> float:
        f = at[0] * logits + at[1:] + shift
        fit = weight @ (np.logaddexp.reduce(f, axis=1) - (y * f).sum(axis=1))
        return float(fit + precision @ np.square(at - start) / 2)

    at = start.copy()
    current = value(at)
    for _ in range(settings.most_steps if len(logits) else 0):
        p = softmax(at[0] * logits + at[1:] + shift, axis=1)
        gradient, hessian = _derivatives(logits, p, y, weight)
        gradient += precision * (at - start)
        hessian += np.diag(precision)
        step = np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
        while True:
            trial = at.copy()
            trial[free] -= step
            if (new := value(trial)) <= current or abs(step).max() <= NEWTON_STEP:
                break
            step = step / 2
        at, change, current = trial, current - new, new
        if change <= NEWTON_CHANGE * abs(current):
            break
    return CalibrationLine(max(float(at[0]), settings.least_slope), at[1:])


def _derivatives(logits: Array, p: Array, y: Array, weight: Array) -> tuple[Array, Array]:
    """The gradient and Hessian of Σ w · −ln p by the slope and the constants   (1 + classes, …)."""
    weighted, misses = weight[:, np.newaxis] * p, weight[:, np.newaxis] * (p - y)
    gradient = np.append((misses * logits).sum(), misses.sum(axis=0))
    about = logits - (p * logits).sum(axis=1, keepdims=True)
    hessian = np.empty((len(gradient), len(gradient)))
    hessian[0, 0] = (weighted * about**2).sum()
    hessian[0, 1:] = hessian[1:, 0] = (weighted * about).sum(axis=0)
    hessian[1:, 1:] = np.diag(weighted.sum(axis=0)) - weighted.T @ p
    return gradient, hessian


def _constants(part: SteppedLeaf) -> Array:
    """Those of the logits of a leaf   (classes,)."""
    return _as_logits(part.theta[-1:])[0]


def _by_pair(logits: Array, pairs: Pairs) -> Array:
    """The difference of each pair of columns   (n, pairs)."""
    first, second = np.array(pairs).T
    return logits[:, second] - logits[:, first]


def _variance(projections: Array, held: HeldRows, pair: tuple[int, int]) -> float:
    """The mean of both classes' variances of projected kept rows; 1 if none varies."""
    parts = (projections[held.labels == c] for c in pair)
    spreads = [float(part.var()) for part in parts if len(part)]
    return float(np.mean(spreads)) if any(spreads) else 1.0


def _true_class_scores(machine: Machine, projections: Array, held: HeldRows) -> tuple[Array, ...]:
    """For each class, the held-out ln p of its kept rows with their counts, in increasing order."""
    n_classes, scores = len(machine.log_priors), []
    log_p = np.empty((0, n_classes))
    if len(projections):
        log_p = machine.at_equal_priors().log_probabilities(projections)
    for c in range(n_classes):
        rows = held.labels == c
        order = np.argsort(log_p[rows, c], kind="stable")
        scores.append(np.column_stack([log_p[rows, c], held.counts[rows]])[order])
    return tuple(scores)
