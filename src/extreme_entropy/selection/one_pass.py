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
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ..engines.threads import run
from ..estimators._tables import InMemory, Table
from ..features.chunks import chunk_rows, chunks, dense, lanes
from ..features.content import ContentHash
from ..features.feature_map import FeatureMap
from ..machine.machine import Machine, solve
from ..moments.reduction import Block, Features, Run, summarise_path
from ..moments.summary import Summary
from .folds import UNTESTED

Array = np.ndarray[Any, Any]
T = TypeVar("T")

GROUPS = 3  # of a training set's cells, each held out once
LEFT = 0.5  # of each class in each fold that must be left to score, or φ is drawn in each fold


Machines = list[list[list[Machine]]]  # by φ, size and fold


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
    """Draws φ for a table."""

    def __call__(self, table: Table, /) -> Drawn: ...


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

    def per_fold(self, n_folds: int) -> int:
        """How many cells each of so many folds has: enough that groups never run empty."""
        return -(-2 * GROUPS // n_folds) if self.cells else 1

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


class Folded(Protocol):
    """Rows in folds, wherever they lie."""

    @property
    def n_folds(self) -> int: ...

    def draw(self, draw: Draw, /) -> Drawn:
        """φ for these rows."""

    def apart(self, drawn: Drawn, /) -> Folded | None:
        """The same with rows that φ has seen in no fold; None where too few others would be left.

        Each class keeps half of its rows in each fold.
        """

    def without(self, fold: int, /) -> Folded:
        """The training set of a fold."""

    def summarise(self, drawn: Drawn, per_fold: int, untested: int, /) -> list[list[Summary]]:
        """Summaries by cell, for each φ and size.

        Each fold has so many cells, and rows in no fold have so many of their own after those.
        """

    def scores(self, drawn: Drawn, machines: Machines, folds: Sequence[int], /) -> Array:
        """Scores of the machines on each of these folds                 (φs, sizes, folds)."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in memory: labels 0, 1, …, weights and the fold each is tested in."""

    X: Any
    labels: Array
    weight: Array | None
    folds: Array
    n_folds: int
    score: Score
    n_jobs: int | None

    def where(self, chosen: Array) -> Rows:
        """Some of them."""
        weight = None if self.weight is None else self.weight[chosen]
        some = self.X[chosen], self.labels[chosen], weight, self.folds[chosen]
        return Rows(*some, self.n_folds, self.score, self.n_jobs)

    def draw(self, draw: Draw, /) -> Drawn:
        return draw(InMemory(self.X, None, self.weight, self.n_jobs))

    def apart(self, drawn: Drawn, /) -> Rows | None:
        folds = self.folds.copy()
        folds[drawn.saw(self.X)] = UNTESTED
        before, after = (self._counts(f) for f in (self.folds, folds))
        return replace(self, folds=folds) if (after >= LEFT * before).all() else None

    def _counts(self, folds: Array) -> Array:
        return counts_of(self.labels, folds, int(self.labels.max()) + 1, self.n_folds)

    def without(self, fold: int, /) -> Rows:
        return self.where(self.folds != fold)

    def summarise(self, drawn: Drawn, per_fold: int, untested: int, /) -> list[list[Summary]]:
        cells = cells_of(drawn.content, self.X, self.folds, self.n_folds, per_fold, untested)
        return summarise_path(
            drawn.features,
            *(self.X, self.labels, self.weight, cells),
            *(int(self.labels.max()) + 1, int(cells.max()) + 1),
            drawn.blocks,
            self._run,
        )

    def scores(self, drawn: Drawn, machines: Machines, folds: Sequence[int], /) -> Array:
        held_out = [self.where(self.folds == fold) for fold in folds]
        tasks, owners = [], []
        for fold, rows in enumerate(held_out):
            readouts = readouts_of(
                drawn, [[by_fold[fold] for by_fold in path] for path in machines]
            )
            for lane in lanes(len(rows.labels)):
                owners.append(fold)
                tasks.append(partial(project, drawn.features, rows.X[lane], readouts))
        parts: list[list[list[Array]]] = [[] for _ in held_out]
        for fold, lines in zip(owners, self._run(tasks), strict=True):
            parts[fold].append(lines)
        scores = np.empty((len(machines), len(drawn.blocks[0]), len(held_out)))
        for fold, (rows, found) in enumerate(zip(held_out, parts, strict=True)):
            for i, path in enumerate(machines):
                whole = np.concatenate([part[i] for part in found])
                lines_of = by_size(whole, [by_fold[fold] for by_fold in path])
                for k, line in enumerate(lines_of):
                    scores[i, k, fold] = self.score(path[k][fold], line, rows.labels, rows.weight)
        return scores

    def _run(self, tasks: Iterable[Callable[[], T]], /) -> Iterable[T]:
        return run(tasks, self.n_jobs, ahead=2)


class Scored(NamedTuple):
    """Held-out scores and D_CS of the training sets, and what they were computed from."""

    scores: Array  # (φs, sizes, folds)
    divergences: Array  # (φs, sizes, folds)
    # φ and summary of all rows, for a position and size, where one φ has served all folds.
    whole: Callable[[int, int], tuple[FeatureMap, Summary]] | None = None


def score_path(
    draw: Draw,
    rows: Folded,
    terms: Terms,
    run: Run,
    watch: Callable[[Iterable[Any], int], Iterable[Any]],
    final_folds: int | None,
) -> Scored:
    """Scores for each φ, size and fold.

    Where folds are by content, `final_folds` says how many a machine of all rows shall keep; it
    divides their number.
    """
    n_folds = rows.n_folds
    per_fold = terms.per_fold(n_folds)
    drawn = rows.draw(draw)
    apart = rows.apart(drawn)
    if apart is not None:
        paths = apart.summarise(drawn, per_fold, final_folds or 1)
        machines = _machines(paths, range(n_folds), per_fold, terms, run, watch)
        scores = apart.scores(drawn, machines, range(n_folds))
        if final_folds is None:
            return Scored(scores, _divergences(machines))

        def whole(i: int, k: int) -> tuple[FeatureMap, Summary]:
            summary = _whole(paths[i][k], n_folds * per_fold, per_fold, final_folds, run)
            return drawn.phi_of(i, k), summary

        return Scored(scores, _divergences(machines), whole)
    parts = []
    for fold in range(n_folds):
        training = rows.without(fold)
        drawn = training.draw(draw)
        paths = training.summarise(drawn, per_fold, 1)
        machines = _machines(paths, [None], per_fold, terms, run, watch)
        parts.append((rows.scores(drawn, machines, [fold]), _divergences(machines)))
    scores, divergences = (np.concatenate(part, axis=2) for part in zip(*parts, strict=True))
    return Scored(scores, divergences)


def counts_of(labels: Array, folds: Array, n_classes: int, n_folds: int) -> Array:
    """Rows of each class in each fold                               (n_classes · n_folds,)."""
    tested = folds != UNTESTED
    return np.bincount(labels[tested] * n_folds + folds[tested], minlength=n_classes * n_folds)


def cells_of(
    content: ContentHash, X: Any, folds: Array, n_folds: int, per_fold: int, untested: int
) -> Array:
    """The cell of each row."""
    cells = np.where(folds == UNTESTED, n_folds, folds) * per_fold
    if per_fold > 1 or untested > 1:
        for s in chunks(*X.shape):
            parts = np.where(folds[s] == UNTESTED, untested, per_fold).astype(np.uint64)
            cells[s] += (content(X[s]) % parts).astype(cells.dtype)
    return cells


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


def _divergences(machines: Machines) -> Array:
    """D_CS of each machine                                          (φs, sizes, folds)."""
    return np.array(
        [[[float(m.divergences.mean()) for m in by_fold] for by_fold in path] for path in machines]
    )


def by_size(lines: Array, machines: list[Machine]) -> list[Array]:
    """The projections of each size's machine, from all of them side by side."""
    pairs = np.cumsum([len(machine.pairs) for machine in machines])[:-1]
    return np.split(lines.astype(float), pairs, axis=1)


def readouts_of(drawn: Drawn, machines: list[list[Machine]]) -> list[Array]:
    """For each φ the operators of all sizes, zero on neurons a size lacks    (h, sizes · pairs)."""
    readouts = []
    for h, blocks, path in zip(drawn.features.sizes, drawn.blocks, machines, strict=True):
        padded = [np.zeros((h, len(machine.pairs))) for machine in path]
        for readout, block, machine in zip(padded, blocks, path, strict=True):
            readout[np.r_[block]] = machine.operators.T
        readouts.append(np.hstack(padded))
    return readouts


def project(features: Features, X: Any, readouts: list[Array]) -> list[Array]:
    """Rows on the lines of every φ's and size's machine, from one look at them."""
    n = X.shape[0]
    work = features.worker(min(chunk_rows(features.width), n), X.dtype)
    readouts = [readout.astype(X.dtype, copy=False) for readout in readouts]
    lines = [np.empty((n, readout.shape[1]), X.dtype) for readout in readouts]
    for s in chunks(n, features.width):
        for line, readout, H in zip(lines, readouts, work(dense(X[s])), strict=True):
            line[s] = H @ readout
    return lines
