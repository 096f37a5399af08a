"""All folds and all sizes from one pass: sums by fold, then small solves, then held-out scores.

The training set of a fold is the sum of the others, and a smaller φ is the first part of a larger
one (`moments.reduction`), so that each (size, fold) equals a refit from scratch. Only
rows that φ was not drawn from are scored: rows sampled for φ stay in every training set. Where too
few others would be left, φ is drawn anew in each training set.

The held-out Gaussians and ridges of a fold's machine come from its training set alone. For that
each fold is kept in a few parts by content, and all parts are put into three groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from ..drawing.sampling import Spec
from ..engines.threads import Executor
from ..estimators.inputs import PriorsAndCosts
from ..features.feature_map import FeatureMap
from ..machine.machine import Machine
from ..machine.solving import Method, solve
from ..moments.summary import ClassMoments, FoldMoments, without
from ..shapes import Array
from .folded import FoldedTable, Machines, Parts


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """How rows are held out to choose a size."""

    groups: int = 3  # of a training set's parts, each held out once
    fewest: int = 10  # rows of a class in a fold, so that content alone stratifies well enough
    left: float = 0.5  # of each class in each fold, to be scored; else φ is drawn in each fold


@dataclass(frozen=True, slots=True)
class Solver:
    """How each machine is solved."""

    method: Method
    priors_and_costs: Callable[[Array], PriorsAndCosts]  # of counts
    watch: Callable[[Iterable[Machine], int], Iterable[Machine]]  # shows progress, or does not
    settings: CrossValidation

    @property
    def n_groups(self) -> int:
        """How many groups a training set is held in."""
        needed = self.method.cross_fitted or self.method.ridge == "auto"
        return self.settings.groups if needed else 1

    def parts_per_fold(self, n_folds: int) -> int:
        """How many parts each fold has: enough that groups never run empty."""
        return -(-2 * self.n_groups // n_folds) if self.n_groups > 1 else 1


class Scored(NamedTuple):
    """Held-out scores and D_CS of the training sets, and what they were computed from."""

    scores: Array  # (sizes, folds)
    divergences: Array  # (sizes, folds)
    # φ, and the summary of all rows by size, where one φ has served all folds.
    feature_map: FeatureMap | None = None
    summaries: Callable[[int], FoldMoments] | None = None


def score_paths(
    specs: Sequence[Spec],
    sizes: Sequence[int],
    rows: FoldedTable,
    solver: Solver,
    execute: Executor,
    final_folds: int | None,
) -> list[Scored]:
    """Scores for each size and fold, of each φ that is specified with the largest size.

    Where folds are by content, `final_folds` says how many a classifier of all rows shall keep; it
    divides their number.
    """
    unseen = rows.unseen(solver.settings.left)
    if unseen is None:
        return _scores_where_drawn_anew(specs, sizes, rows, solver, execute)
    folds, scored = range(rows.n_folds), []
    parts = Parts(rows.n_folds, solver.parts_per_fold(rows.n_folds), final_folds or 1)
    for spec in specs:
        phi = spec.draw(rows.sampled)
        # There are fewer landmarks than asked for where there are fewer distinct rows.
        features = [min(k, phi.h) for k in sizes]
        path = unseen.summarise(phi, parts, features)
        machines = _solve_all(path, folds, parts, solver, execute)
        scores = unseen.scores(phi, machines, folds, features)
        whole = partial(_whole, path, parts, final_folds, execute) if final_folds else None
        scored.append(Scored(scores, _divergences(machines), phi, whole))
    return scored


def _scores_where_drawn_anew(
    specs: Sequence[Spec],
    sizes: Sequence[int],
    rows: FoldedTable,
    solver: Solver,
    execute: Executor,
) -> list[Scored]:
    """Scores for each size and fold, with a φ from each training set."""
    parts = Parts(rows.n_folds, solver.parts_per_fold(rows.n_folds), 1)
    scores, divergences = np.empty((2, len(specs), len(sizes), rows.n_folds))
    for fold in range(rows.n_folds):
        training = rows.without(fold)
        for i, spec in enumerate(specs):
            phi = spec.draw(training.sampled)
            features = [min(k, phi.h) for k in sizes]
            path = training.summarise(phi, parts, features)
            machines = _solve_all(path, [None], parts, solver, execute)
            scores[i, :, fold] = rows.scores(phi, machines, [fold], features)[:, 0]
            divergences[i, :, fold] = _divergences(machines)[:, 0]
    return list(map(Scored, scores, divergences))


def _whole(
    path: list[FoldMoments], parts: Parts, final_folds: int, execute: Executor, size: int
) -> FoldMoments:
    """The parts of all rows, put into the folds that a classifier of its own would keep."""
    numbers = np.arange(parts.total)
    tested = parts.n_folds * parts.per_fold
    final = np.where(numbers < tested, numbers // parts.per_fold, numbers - tested) % final_folds
    return _added(path[size], [np.flatnonzero(final == f) for f in range(final_folds)], execute)


def _added(moments: FoldMoments, groups: Sequence[Any], execute: Executor) -> FoldMoments:
    """The moments whose folds are the sums of groups of folds."""
    tasks = [
        partial(reduce, add, [folds[j] for j in group])
        for folds in moments.cells
        for group in groups
    ]
    sums, n = list(execute(tasks)), len(groups)
    return FoldMoments(tuple(tuple(sums[c * n : (c + 1) * n]) for c in range(moments.n_classes)))


def _solve_all(
    path: list[FoldMoments],
    left_out: Sequence[int | None],
    parts: Parts,
    solver: Solver,
    execute: Executor,
) -> Machines:
    """For each size the machines without each fold to leave out, if any."""
    n_groups = min(solver.n_groups, parts.total)
    machines: Machines = []
    for moments in path:
        groups = [range(g, parts.total, n_groups) for g in range(n_groups)]
        grouped = _added(moments, groups, execute)
        tasks = [partial(_solve, moments, grouped, fold, parts, solver) for fold in left_out]
        machines.append(list(solver.watch(execute(tasks), len(tasks))))
    return machines


def _solve(
    moments: FoldMoments, grouped: FoldMoments, fold: int | None, parts: Parts, solver: Solver
) -> Machine:
    """The machine of all parts but those of one fold."""
    training = grouped.cells
    if fold is not None:
        left_out = range(fold * parts.per_fold, (fold + 1) * parts.per_fold)
        training = tuple(map(partial(_without, left_out), grouped.cells, moments.cells))
    counts = np.array([sum(part.n for part in groups) for groups in training])
    terms = solver.priors_and_costs(counts)
    machine = solve(FoldMoments(training), solver.method, terms.log_priors, terms.log_costs)
    return machine.with_priors_and_costs(*terms)


def _without(
    left_out: range, groups: tuple[ClassMoments, ...], parts: tuple[ClassMoments, ...]
) -> tuple[ClassMoments, ...]:
    """Sums of a class in groups, less the parts that are left out."""
    rest = list(groups)
    for g in {j % len(groups) for j in left_out}:
        members = range(g, len(parts), len(groups))
        gone = (parts[j] for j in members if j in left_out)
        rest[g] = without(groups[g], gone, (parts[j] for j in members if j not in left_out))
    return tuple(rest)


def _divergences(machines: Machines) -> Array:
    """D_CS of each machine   (sizes, folds)."""
    return np.array([[float(m.divergences.mean()) for m in by_fold] for by_fold in machines])
