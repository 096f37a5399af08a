"""All folds and all sizes from one pass: sums by fold, then small solves, then held-out scores.

The training set of a fold is the sum of the others, and a smaller machine is a block of a larger
one (`moments.reduction.summarise_path`), so that each (size, fold) equals a refit from scratch.
A score is honest only on rows that φ has not seen. Rows drawn for φ stay in every training set and
are not scored; where too few others would be left, φ is drawn anew in each training set.

The held-out Gaussians and ridges of a fold's machine come from its training set alone, whose cells
are put into three groups for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..features.chunks import chunk_rows, chunks, dense, lanes
from ..features.content import ContentHash
from ..features.feature_map import FeatureMap
from ..machine.machine import Machine, solve
from ..moments.reduction import Block, Features, Run, summarise_path
from ..moments.summary import Summary
from .folds import UNTESTED

Array = np.ndarray[Any, Any]

GROUPS = 3  # of a training set's cells, each held out once
LEFT = 0.5  # of each class in each fold that must be left to score, or φ is drawn in each fold


class Drawn(NamedTuple):
    """φ, one or several, and what else goes with it."""

    features: Features
    blocks: list[list[Block]]  # of each φ and size
    content: ContentHash
    largest: int  # hash among those of drawn rows; −1 where none were drawn
    phi_of: Callable[[int, int], FeatureMap]  # position and size ↦ φ of one machine

    def saw(self, X: Any) -> Array:
        """Which rows φ was drawn from."""
        if self.largest < 0:
            return np.zeros(X.shape[0], dtype=bool)
        parts = (self.content(X[s]) <= np.uint64(self.largest) for s in chunks(*X.shape))
        return np.concatenate(list(parts))


class Draw(Protocol):
    """Draws φ for rows and weights."""

    def __call__(self, X: Any, weight: Array | None, /) -> Drawn: ...


class Score(Protocol):
    """Scores a machine's projections of rows with labels and weights."""

    def __call__(
        self, machine: Machine, projections: Array, labels: Array, weight: Array | None, /
    ) -> float: ...


@dataclass(frozen=True, slots=True)
class Terms:
    """How each machine is solved."""

    shrinkage: str | float
    ridge: float | str
    cross_fitted: bool
    stakes: Callable[[Array], tuple[Array, Array]]  # counts ↦ ln π, ln C

    @property
    def cells(self) -> bool:
        """Whether a training set needs folds of its own."""
        return self.cross_fitted or self.ridge == "auto"

    def solve(self, training: Summary) -> Machine:
        log_priors, log_costs = self.stakes(np.sum(training.counts, axis=1))
        return solve(
            training,
            shrinkage=self.shrinkage,
            ridge=self.ridge,
            cross_fitted=self.cross_fitted,
            log_priors=log_priors,
            log_costs=log_costs,
        )


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows, their labels 0, 1, …, their weights and the fold each is tested in."""

    X: Any
    labels: Array
    weight: Array | None
    folds: Array

    def where(self, chosen: Array) -> Rows:
        """Some of them."""
        weight = None if self.weight is None else self.weight[chosen]
        return Rows(self.X[chosen], self.labels[chosen], weight, self.folds[chosen])


class Scored(NamedTuple):
    """Held-out scores and D_CS of the training sets, and what they were computed from."""

    scores: Array  # (φs, sizes, folds)
    divergences: Array  # (φs, sizes, folds)
    # φ and summary of all rows, for a position and size, where one φ has served all folds.
    whole: Callable[[int, int], tuple[FeatureMap, Summary]] | None = None


def score_path(
    draw: Draw,
    rows: Rows,
    n_folds: int,
    terms: Terms,
    score: Score,
    run: Run,
    watch: Callable[[Iterable[Any], int], Iterable[Any]],
    final_folds: int | None,
) -> Scored:
    """Scores for each φ, size and fold.

    Where folds are by content, `final_folds` says how many a machine of all rows shall keep; it
    divides `n_folds`.
    """
    drawn = draw(rows.X, rows.weight)
    scored = rows.folds.copy()
    scored[drawn.saw(rows.X)] = UNTESTED
    if _enough(rows.labels, rows.folds, scored, n_folds):
        cells, per_fold = _cells(drawn.content, rows.X, scored, n_folds, terms, final_folds or 1)
        paths = _summarise(drawn, rows, cells, run)
        machines = _machines(paths, range(n_folds), per_fold, terms, run, watch)
        held_out = [rows.where(scored == fold) for fold in range(n_folds)]
        scores, divergences = _scored(drawn, machines, held_out, score, run)
        if final_folds is None:
            return Scored(scores, divergences)

        def whole(i: int, k: int) -> tuple[FeatureMap, Summary]:
            summary = _whole(paths[i][k], n_folds * per_fold, per_fold, final_folds, run)
            return drawn.phi_of(i, k), summary

        return Scored(scores, divergences, whole)
    parts = []
    for fold in range(n_folds):
        training = rows.where(rows.folds != fold)
        held_out = [rows.where(rows.folds == fold)]
        drawn = draw(training.X, training.weight)
        cells, per_fold = _cells(drawn.content, training.X, training.folds, n_folds, terms, 1)
        paths = _summarise(drawn, training, cells, run)
        machines = _machines(paths, [None], per_fold, terms, run, watch)
        parts.append(_scored(drawn, machines, held_out, score, run))
    scores, divergences = (np.concatenate(part, axis=2) for part in zip(*parts, strict=True))
    return Scored(scores, divergences)


def _enough(labels: Array, folds: Array, scored: Array, n_folds: int) -> bool:
    """Whether each class keeps rows to score in each fold."""
    n_classes = int(labels.max()) + 1
    tested = folds != UNTESTED
    kept = scored != UNTESTED
    before, after = (
        np.bincount(labels[some] * n_folds + folds[some], minlength=n_classes * n_folds)
        for some in (tested, kept)
    )
    return bool((after >= LEFT * before).all())


def _cells(
    content: ContentHash, X: Any, folds: Array, n_folds: int, terms: Terms, untested: int
) -> tuple[Array, int]:
    """The cell of each row, and how many cells a fold has: enough that groups never run empty.

    Rows that are not tested have so many cells of their own, after those of the folds.
    """
    per_fold = -(-2 * GROUPS // n_folds) if terms.cells else 1
    cells = np.where(folds == UNTESTED, n_folds, folds) * per_fold
    if per_fold > 1 or untested > 1:
        for s in chunks(*X.shape):
            parts = np.where(folds[s] == UNTESTED, untested, per_fold).astype(np.uint64)
            cells[s] += (content(X[s]) % parts).astype(cells.dtype)
    return cells, per_fold


def _whole(summary: Summary, n_tested: int, per_fold: int, final_folds: int, run: Run) -> Summary:
    """The cells of all rows, put into the folds that a machine of its own would keep."""
    numbers = np.arange(summary.n_folds)
    final = np.where(numbers < n_tested, numbers // per_fold, numbers - n_tested) % final_folds
    tasks = [
        partial(reduce, add, [cells[j] for j in np.flatnonzero(final == fold)])
        for cells in summary.cells
        for fold in range(final_folds)
    ]
    sums = list(run(tasks))
    return Summary(
        tuple(
            tuple(sums[c * final_folds : (c + 1) * final_folds]) for c in range(summary.n_classes)
        )
    )


def _summarise(drawn: Drawn, rows: Rows, cells: Array, run: Run) -> list[list[Summary]]:
    n_classes, n_cells = int(rows.labels.max()) + 1, int(cells.max()) + 1
    return summarise_path(
        drawn.features,
        *(rows.X, rows.labels, rows.weight, cells),
        n_classes,
        n_cells,
        drawn.blocks,
        run,
    )


Machines = list[list[list[Machine]]]  # by φ, size and fold


def _machines(
    paths: list[list[Summary]],
    left_out: Sequence[int | None],
    per_fold: int,
    terms: Terms,
    run: Run,
    watch: Callable[[Iterable[Any], int], Iterable[Any]],
) -> Machines:
    """For each φ and size the machines without each fold to leave out, if any."""
    groups = GROUPS if terms.cells else 1
    machines: Machines = []
    for path in paths:
        machines.append([])
        for summary in path:
            grouped = _grouped(summary, groups, run)
            tasks = [partial(_solve, summary, grouped, fold, per_fold, terms) for fold in left_out]
            machines[-1].append(list(watch(run(tasks), len(tasks))))
    return machines


def _grouped(summary: Summary, groups: int, run: Run) -> Summary:
    groups = min(groups, summary.n_folds)
    tasks = [
        partial(reduce, add, cells[g::groups]) for cells in summary.cells for g in range(groups)
    ]
    sums = list(run(tasks))
    return Summary(
        tuple(tuple(sums[c * groups : (c + 1) * groups]) for c in range(summary.n_classes))
    )


def _solve(
    summary: Summary, grouped: Summary, fold: int | None, per_fold: int, terms: Terms
) -> Machine:
    """The machine of all cells but those of one fold."""
    training = [list(groups) for groups in grouped.cells]
    if fold is not None:
        for j in range(fold * per_fold, (fold + 1) * per_fold):
            for mine, cells in zip(training, summary.cells, strict=True):
                # Taking one fold out of the sum is cheaper than adding up the others.
                mine[j % len(mine)] = mine[j % len(mine)] - cells[j]
    return terms.solve(Summary(tuple(map(tuple, training))))


def _scored(
    drawn: Drawn, machines: Machines, held_out: list[Rows], score: Score, run: Run
) -> tuple[Array, Array]:
    """Scores of each fold's machines on its held-out rows, and their divergences."""
    tasks, owners = [], []
    for fold, rows in enumerate(held_out):
        readouts = _readouts(drawn, [[by_fold[fold] for by_fold in path] for path in machines])
        for lane in lanes(len(rows.labels)):
            owners.append(fold)
            tasks.append(partial(_project, drawn.features, rows.X[lane], readouts))
    parts: list[list[list[Array]]] = [[] for _ in held_out]
    for fold, lines in zip(owners, run(tasks), strict=True):
        parts[fold].append(lines)
    scores = np.empty((len(machines), len(drawn.blocks[0]), len(held_out)))
    for fold, (rows, found) in enumerate(zip(held_out, parts, strict=True)):
        for i, path in enumerate(machines):
            whole = np.concatenate([part[i] for part in found]).astype(float)
            pairs = np.cumsum([len(by_fold[fold].pairs) for by_fold in path])[:-1]
            for k, line in enumerate(np.split(whole, pairs, axis=1)):
                scores[i, k, fold] = score(path[k][fold], line, rows.labels, rows.weight)
    divergences = [
        [[float(m.divergences.mean()) for m in by_fold] for by_fold in path] for path in machines
    ]
    return scores, np.array(divergences)


def _readouts(drawn: Drawn, machines: list[list[Machine]]) -> list[Array]:
    """For each φ the operators of all sizes, zero on neurons a size lacks    (h, sizes · pairs)."""
    readouts = []
    for h, blocks, path in zip(drawn.features.sizes, drawn.blocks, machines, strict=True):
        padded = [np.zeros((h, len(machine.pairs))) for machine in path]
        for readout, block, machine in zip(padded, blocks, path, strict=True):
            readout[np.r_[block]] = machine.operators.T
        readouts.append(np.hstack(padded))
    return readouts


def _project(features: Features, X: Any, readouts: list[Array]) -> list[Array]:
    """Rows on the lines of every φ's and size's machine, from one look at them."""
    n = X.shape[0]
    work = features.worker(min(chunk_rows(features.width), n), X.dtype)
    readouts = [readout.astype(X.dtype, copy=False) for readout in readouts]
    lines = [np.empty((n, readout.shape[1]), X.dtype) for readout in readouts]
    for s in chunks(n, features.width):
        for line, readout, H in zip(lines, readouts, work(dense(X[s])), strict=True):
            line[s] = H @ readout
    return lines
