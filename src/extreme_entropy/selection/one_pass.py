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
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..drawing.sampling import Sampled, Spec
from ..engines.threads import Executor, Threads
from ..estimators.inputs import PriorsAndCosts
from ..estimators.tables import InMemory
from ..features.feature_map import FeatureMap
from ..machine.machine import Machine
from ..machine.predictor import project
from ..machine.solving import Method, solve
from ..moments.summary import FoldMoments, without
from .folds import UNTESTED
from .prefitted import OnProjections

Array = np.ndarray[Any, Any]

GROUPS = 3  # of a training set's parts, each held out once
LEFT = 0.5  # of each class in each fold that must be left to score, or φ is drawn in each fold

Machines = list[list[Machine]]  # by size and fold


@dataclass(frozen=True, slots=True)
class Solver:
    """How each machine is solved."""

    method: Method
    priors_and_costs: Callable[[Array], PriorsAndCosts]  # of counts
    watch: Callable[[Iterable[Machine], int], Iterable[Machine]]  # shows progress, or does not

    @property
    def n_groups(self) -> int:
        """How many groups a training set is held in."""
        return GROUPS if self.method.cross_fitted or self.method.ridge == "auto" else 1

    def parts_per_fold(self, n_folds: int) -> int:
        """How many parts each fold has: enough that groups never run empty."""
        return -(-2 * GROUPS // n_folds) if self.n_groups > 1 else 1


class FoldedTable(Protocol):
    """Rows in folds, wherever they lie, and what φ is drawn from."""

    @property
    def n_folds(self) -> int: ...

    @property
    def sampled(self) -> Sampled:
        """What φ is drawn from."""

    def draw(self, spec: Spec, /) -> FeatureMap:
        """φ for these rows."""

    def unseen(self) -> FoldedTable | None:
        """The same with sampled rows in no fold; None where too few others would be left.

        Each class keeps half of its rows in each fold.
        """

    def without(self, fold: int, /) -> FoldedTable:
        """The training set of a fold, with a sample of its own."""

    def summarise(
        self, phi: FeatureMap, parts: Parts, sizes: Sequence[int], /
    ) -> list[FoldMoments]:
        """Summaries by part, for each number of features."""

    def scores(
        self, phi: FeatureMap, machines: Machines, folds: Sequence[int], sizes: Sequence[int], /
    ) -> Array:
        """Scores of the machines on each of these folds   (sizes, folds)."""


class Parts(NamedTuple):
    """How rows in folds, and those in none, are numbered by part."""

    n_folds: int
    per_fold: int
    untested: int

    @property
    def total(self) -> int:
        return self.n_folds * self.per_fold + self.untested

    def of(self, folds: Array, hashes: Array) -> Array:
        """The part of each row."""
        held_out = folds != UNTESTED
        parts = np.where(held_out, folds, self.n_folds) * self.per_fold
        within = np.where(held_out, self.per_fold, self.untested).astype(np.uint64)
        return parts + (hashes % within).astype(parts.dtype)


@dataclass(frozen=True)
class FoldedRows:
    """Rows in memory, and the fold in which each is tested."""

    table: InMemory
    classes: Array
    folds: Array
    n_folds: int
    scorer: Any
    seed: int
    specs: Sequence[Spec]
    sampled: Sampled

    def draw(self, spec: Spec, /) -> FeatureMap:
        return spec.draw(self.sampled)

    def unseen(self) -> FoldedRows | None:
        labels, n = self.table.encode(self.classes), len(self.classes)
        seen = self.sampled.saw(self.table.hashes(self.sampled.content), labels)
        if not seen.any():
            return self
        folds = np.where(seen, UNTESTED, self.folds)
        before, after = (count_folds(labels, f, n, self.n_folds) for f in (self.folds, folds))
        return replace(self, folds=folds) if (after >= LEFT * before).all() else None

    def without(self, fold: int, /) -> FoldedRows:
        kept = self.folds != fold
        table = self.table.at(kept)
        sampled = Sampled.of(table, self.seed, self.specs, self.classes)
        return replace(self, table=table, folds=self.folds[kept], sampled=sampled)

    def summarise(
        self, phi: FeatureMap, parts: Parts, sizes: Sequence[int], /
    ) -> list[FoldMoments]:
        own = self.folds
        if parts.total > self.n_folds + 1:
            own = parts.of(self.folds, self.table.hashes(self.sampled.content))
        else:
            own = np.where(own == UNTESTED, self.n_folds, own)
        [path] = self.table.summarise(phi, self.classes, parts.total, own, sizes)
        return path

    def scores(
        self, phi: FeatureMap, machines: Machines, folds: Sequence[int], sizes: Sequence[int], /
    ) -> Array:
        scores = np.empty((len(sizes), len(folds)))
        for j, fold in enumerate(folds):
            rows = self.table.at(self.folds == fold)
            own = [by_fold[j] for by_fold in machines]
            found = project_all(phi, own, sizes, rows.to_learn(phi), Threads(self.table.n_jobs))
            weight = {} if rows.weight is None else {"sample_weight": rows.weight}
            for k, (machine, projections) in enumerate(zip(own, found, strict=True)):
                prefitted = OnProjections(machine, self.classes)
                scores[k, j] = self.scorer(prefitted, projections, rows.y, **weight)
        return scores


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
    n_folds = rows.n_folds
    per_fold = solver.parts_per_fold(n_folds)
    unseen = rows.unseen()
    if unseen is not None:
        parts, scored = Parts(n_folds, per_fold, final_folds or 1), []
        for spec in specs:
            phi = rows.draw(spec)
            # There are fewer landmarks than asked for where there are fewer distinct rows.
            features = [min(k, phi.h) for k in sizes]
            path = unseen.summarise(phi, parts, features)
            machines = _solve_all(path, range(n_folds), parts, solver, execute)
            scores = unseen.scores(phi, machines, range(n_folds), features)
            whole = partial(_whole, path, parts, final_folds, execute) if final_folds else None
            scored.append(Scored(scores, _divergences(machines), phi, whole))
        return scored
    parts = Parts(n_folds, per_fold, 1)
    found: list[list[tuple[Array, Array]]] = [[] for _ in specs]
    for fold in range(n_folds):
        training = rows.without(fold)
        for spec, own in zip(specs, found, strict=True):
            phi = training.draw(spec)
            features = [min(k, phi.h) for k in sizes]
            path = training.summarise(phi, parts, features)
            machines = _solve_all(path, [None], parts, solver, execute)
            own.append((rows.scores(phi, machines, [fold], features), _divergences(machines)))
    return [
        Scored(np.hstack([scores for scores, _ in own]), np.hstack([d for _, d in own]))
        for own in found
    ]


def count_folds(labels: Array, folds: Array, n_classes: int, n_folds: int) -> Array:
    """Rows of each class in each fold   (n_classes · n_folds,)."""
    tested = folds != UNTESTED
    groups = labels[tested].astype(np.intp) * n_folds + folds[tested]
    return np.bincount(groups, minlength=n_classes * n_folds)


def project_all(
    phi: FeatureMap, machines: list[Machine], sizes: Sequence[int], X: Any, execute: Executor
) -> list[Array]:
    """The projections of rows by the machine of each size, from one pass of φ."""
    # Operators of all sizes side by side, zero on features that a size lacks.
    operators = [np.zeros((len(machine.pairs), phi.h)) for machine in machines]
    for padded, machine, k in zip(operators, machines, sizes, strict=True):
        padded[:, :k] = machine.leaves[0].operators
    folded = phi.only().folded(np.vstack(operators), X.dtype)
    projections = project(phi.in_precision(X.dtype), folded, X, execute).astype(float)
    return np.split(projections, np.cumsum([len(m.pairs) for m in machines])[:-1], axis=1)


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
    training = [list(groups) for groups in grouped.cells]
    if fold is not None:
        left_out = range(fold * parts.per_fold, (fold + 1) * parts.per_fold)
        for mine, folds in zip(training, moments.cells, strict=True):
            for g in {j % len(mine) for j in left_out}:
                own = range(g, parts.total, len(mine))
                gone = (folds[j] for j in own if j in left_out)
                mine[g] = without(mine[g], gone, (folds[j] for j in own if j not in left_out))
    counts = np.array([sum(part.n for part in groups) for groups in training])
    terms = solver.priors_and_costs(counts)
    cells = FoldMoments(tuple(map(tuple, training)))
    machine = solve(cells, solver.method, terms.log_priors, terms.log_costs)
    return machine.with_priors_and_costs(*terms)


def _divergences(machines: Machines) -> Array:
    """D_CS of each machine   (sizes, folds)."""
    return np.array([[float(m.divergences.mean()) for m in by_fold] for by_fold in machines])
