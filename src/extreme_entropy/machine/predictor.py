"""From rows to answers: x ↦ βᵀφ(x) ↦ log-odds, probabilities and labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from ..engines.threads import Executor, chunks, dense, row_slices, serial
from ..features.feature_map import FeatureMap
from ..features.forest import Forest
from ..metrics import predicted_classes
from .explanation import explain, explain_forest
from .forest import ForestMachine
from .machine import Decision, Machine

Array = np.ndarray[Any, Any]


class ClassesInSet(NamedTuple):
    """The answer which classes cannot be ruled out."""

    miss: float  # the share of rows of each class that may be missed


Answer = Literal["projection", "decision", "label", "probability", "log probability"] | ClassesInSet

FEW_ROWS = 64  # are projected at once, without the cost of threads


@dataclass(frozen=True)
class Predictor:
    """A solved machine with its φ and labels: all that a prediction needs."""

    feature_map: FeatureMap
    machine: Machine
    classes: Array
    # φ, and β folded into its hidden layers, in single or double precision: made when first needed
    prepared: dict[Any, tuple[FeatureMap, list[Array]]] = field(default_factory=dict, repr=False)

    def project(self, X: Any, execute: Executor = serial) -> Array:
        """βᵀφ(x) of checked rows, for each pair of classes   (n, pairs)."""
        phi, operators = self.in_precision(X.dtype)
        return project(phi, operators, X, execute).astype(np.float64, copy=False)

    def in_precision(self, dtype: np.dtype[Any]) -> tuple[FeatureMap, list[Array]]:
        """φ, and β folded into its hidden layers, in this precision."""
        if dtype.char not in self.prepared:
            operators = self.feature_map.folded(self.machine.operators, dtype)
            self.prepared[dtype.char] = self.feature_map.in_precision(dtype), operators
        return self.prepared[dtype.char]

    def explain(self, X: Any, execute: Executor = serial) -> Array:
        """What each column adds to the scores of checked rows   (n, d) or (n, classes, d)."""
        contributions = explain(self.feature_map, self.machine, X, execute)
        return contributions[:, 0] if len(self.classes) == 2 else contributions

    def answer(self, kind: Answer, projections: Array) -> Array:
        """Labels, scores or probabilities from projections."""
        return answer(self.machine, self.classes, kind, projections)

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be made again."""
        return {**self.__dict__, "prepared": {}}


@dataclass(frozen=True)
class ForestPredictor:
    """The same of a forest: the projection of a row is the log-odds of its leaves, averaged."""

    feature_map: Forest
    machine: ForestMachine
    classes: Array
    leaves: dict[int, Predictor] = field(default_factory=dict, repr=False)  # when first needed

    def project(self, X: Any, execute: Executor = serial) -> Array:
        """Log-odds of checked rows, averaged over trees, for each pair of classes   (n, pairs)."""
        n, forest = X.shape[0], self.feature_map
        total = np.zeros((n, len(self.machine.pairs)))
        execute = serial if n <= FEW_ROWS else execute
        at = forest.leaves_of(X, execute)
        for leaves, share in zip(at, self.machine.shares, strict=True):
            if not share.any():
                continue
            order = np.argsort(leaves, kind="stable")
            tasks = []
            for i, some in zip(*_runs(leaves[order]), strict=True):
                for s in row_slices(some.stop - some.start):
                    own = order[some.start + s.start : some.start + s.stop]
                    tasks.append(partial(self._add, total, X, own, i, share))
            for _ in execute(tasks):
                pass
        return total

    def _add(self, total: Array, X: Any, rows: Array, i: int, share: Array) -> None:
        """Add the log-odds that rows have in a leaf: the work of one task."""
        leaf = self.machine.leaves[i]
        if leaf.machine is None:
            total[rows] += share * leaf.log_odds(np.empty((len(rows), 0)))
            return
        if i not in self.leaves:
            phi = self.feature_map.map_of(i)
            self.leaves[i] = Predictor(phi, leaf.machine, self.classes)
        phi, operators = self.leaves[i].in_precision(X.dtype)
        parts = chunks(len(rows), X.shape[1], phi.h)
        room = phi.room(parts[0].stop, X.dtype) if len(parts) > 1 else None
        for chunk in parts:
            own = rows[chunk]
            projections = phi.project(dense(X[own]), operators, room)
            total[own] += share * leaf.log_odds(projections.astype(np.float64, copy=False))

    def explain(self, X: Any, execute: Executor = serial) -> Array:
        """What each column adds to the scores of checked rows   (n, d) or (n, classes, d)."""
        contributions = explain_forest(self.feature_map, self.machine, X, execute)
        return contributions[:, 0] if len(self.classes) == 2 else contributions

    def answer(self, kind: Answer, projections: Array) -> Array:
        """Labels, scores, probabilities or sets of classes from projections."""
        if isinstance(kind, ClassesInSet):
            return self.machine.in_set(projections, kind.miss)
        return answer(self.machine, self.classes, kind, projections)

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be made again."""
        return {**self.__dict__, "leaves": {}}


AnyPredictor = Predictor | ForestPredictor


def predictor_of(feature_map: Any, machine: Any, classes: Array) -> AnyPredictor:
    """The predictor for a feature map or a forest, and what was solved for it."""
    kind: Any = ForestPredictor if isinstance(feature_map, Forest) else Predictor
    return kind(feature_map, machine, classes)


def answer(machine: Decision, classes: Array, kind: Answer, projections: Array) -> Array:
    """Labels, scores or probabilities from projections."""
    if kind == "projection":
        return projections[:, 0] if len(classes) == 2 else projections
    if kind == "probability":
        return machine.probabilities(projections)
    if kind == "log probability":
        return machine.log_probabilities(projections)
    scores = machine.scores(projections)
    return scores if kind == "decision" else classes[predicted_classes(scores)]


def _runs(values: Array) -> tuple[list[int], list[slice]]:
    """Each value of a sorted array, and where it is."""
    if not len(values):
        return [], []
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    ends = [*starts[1:].tolist(), len(values)]
    return values[starts].tolist(), [
        slice(a, b) for a, b in zip(starts.tolist(), ends, strict=True)
    ]


def project(phi: FeatureMap, operators: list[Array], X: Any, execute: Executor = serial) -> Array:
    """Rows through the hidden layers of φ and times operators on them, all of one precision."""
    n = X.shape[0]
    if n <= FEW_ROWS:
        return phi.project(dense(X), operators)
    projections = np.empty((n, operators[0].shape[1]), X.dtype)
    for _ in execute(partial(_fill, projections, phi, operators, X, s) for s in row_slices(n)):
        pass
    return projections


def _fill(projections: Array, phi: FeatureMap, operators: list[Array], X: Any, rows: slice) -> None:
    """The projections of some rows: the work of one task."""
    X, projections = X[rows], projections[rows]
    parts = chunks(*X.shape, phi.h)
    room = phi.room(parts[0].stop, X.dtype)
    for chunk in parts:
        projections[chunk] = phi.project(dense(X[chunk]), operators, room)
