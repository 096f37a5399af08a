"""From rows to answers: x ↦ βᵀφ(x) ↦ log-odds, probabilities and labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from ..engines.threads import Executor, chunks, dense, row_slices, serial
from ..features.feature_map import FeatureMap
from ..metrics import predicted_classes
from .explanation import explain
from .machine import Machine

Array = np.ndarray[Any, Any]
Answer = Literal["projection", "decision", "label", "probability", "log probability"]

FEW_ROWS = 64  # are projected at once, without the cost of threads


@dataclass(frozen=True)
class Predictor:
    """A solved machine with its φ and labels: all that a prediction needs."""

    feature_map: FeatureMap
    machine: Machine
    classes: Array
    # φ, and β folded into its hidden layers, in single or double precision: made when first needed
    prepared: dict[str, tuple[FeatureMap, list[Array]]] = field(default_factory=dict, repr=False)

    def project(self, X: Any, execute: Executor = serial) -> Array:
        """βᵀφ(x) of checked rows, for each pair of classes   (n, pairs)."""
        precision = X.dtype.char
        if precision not in self.prepared:
            operators = self.feature_map.folded(self.machine.operators, X.dtype)
            self.prepared[precision] = self.feature_map.in_precision(X.dtype), operators
        return project(*self.prepared[precision], X, execute).astype(np.float64, copy=False)

    def answer(self, kind: Answer, projections: Array) -> Array:
        """Labels, scores or probabilities from projections."""
        if kind == "projection":
            return projections[:, 0] if len(self.classes) == 2 else projections
        if kind == "probability":
            return self.machine.probabilities(projections)
        if kind == "log probability":
            return self.machine.log_probabilities(projections)
        scores = self.machine.scores(projections)
        return scores if kind == "decision" else self.classes[predicted_classes(scores)]

    def explain(self, X: Any, execute: Executor = serial) -> Array:
        """What each column adds to the scores of checked rows   (n, d) or (n, classes, d)."""
        contributions = explain(self.feature_map, self.machine, X, execute)
        return contributions[:, 0] if len(self.classes) == 2 else contributions

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be made again."""
        return {**self.__dict__, "prepared": {}}


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
