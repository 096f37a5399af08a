"""From rows to answers: x ↦ βᵀφ(x) ↦ log-odds, probabilities and labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from ..engines.threads import Executor, chunks, row_slices, serial, width_of
from ..features.feature_map import FeatureMap
from ..features.layers import Buffers, Features
from ..metrics import predicted_classes
from ..shapes import Array
from .explanation import explain
from .machine import Decision, Leaf, Machine


class ClassesInSet(NamedTuple):
    """The answer which classes cannot be ruled out."""

    miss: float  # the share of rows of each class that may be missed


Answer = Literal["projection", "decision", "label", "probability", "log probability"] | ClassesInSet


def are_few(n: int) -> bool:
    """Whether so many rows are projected at once, without the cost of threads."""
    return n <= 64


@dataclass(frozen=True, slots=True)
class ReadyLeaf:
    """A leaf in single or double precision, with β folded into its hidden layers."""

    features: Features
    operators: list[Array]
    constants: Array

    @classmethod
    def of(cls, features: Features, leaf: Leaf, dtype: np.dtype[Any]) -> ReadyLeaf:
        """Whitening is folded into β, so that a row costs one layer and one product."""
        return cls(*features.with_operators(leaf.operators, dtype), leaf.constants)

    def __call__(self, Z: Array, buffers: Buffers | None = None) -> Array:
        """The projections of scaled rows   (n, pairs)."""
        return self.features.project(Z, self.operators, buffers) + self.constants


@dataclass(frozen=True)
class Predictor:
    """A solved machine with its φ and labels: all that a prediction needs."""

    feature_map: FeatureMap
    machine: Machine
    classes: Array
    # By precision, when first needed: most predictors see rows of one. Priors and costs change none
    # of it, so that the same leaves serve under others (`replace`).
    ready: dict[str, list[ReadyLeaf]] = field(default_factory=dict, repr=False)

    def in_precision(self, dtype: np.dtype[Any]) -> list[ReadyLeaf]:
        """The leaves in this precision."""
        if dtype.char not in self.ready:
            both = zip(self.feature_map.leaves, self.machine.leaves, strict=True)
            self.ready[dtype.char] = [ReadyLeaf.of(*leaf, dtype) for leaf in both]
        return self.ready[dtype.char]

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be made again."""
        return {**self.__dict__, "ready": {}}

    def project(self, X: Any, execute: Executor = serial) -> Array:
        """Projections of rows, each by its own leaf, for each pair of classes   (n, pairs)."""
        n, leaves = X.shape[0], self.in_precision(X.dtype)
        if are_few(n):
            execute = serial
            if len(leaves) == 1:  # one chunk: what is left is the cost of the calls themselves
                return leaves[0](self.feature_map.scaled(X))
        projections = np.empty((n, len(self.machine.pairs)))
        at = self.feature_map.leaves_of(X, execute)
        tasks = (partial(self._fill, projections, X, *task) for task in self._tasks(at))
        for _ in execute(tasks):
            pass
        return projections

    def project_scaled(self, Z: Array) -> Array:
        """Projections of a few rows that are encoded and scaled   (n, pairs)."""
        leaves, at = self.in_precision(Z.dtype), self.feature_map.tree(Z)
        projections = np.empty((len(Z), len(self.machine.pairs)))
        for i in np.unique(at):
            projections[at == i] = leaves[i](Z[at == i])
        return projections

    def _tasks(self, at: Array) -> Iterator[tuple[slice | Array, int]]:
        """The rows and the leaf of each task, where each row has such a leaf."""
        if len(self.machine.leaves) == 1:
            yield from ((s, 0) for s in row_slices(len(at)))
            return
        order = np.argsort(at, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(at[order])) + 1) if len(at) else ():
            yield from ((rows[s], int(at[rows[0]])) for s in row_slices(len(rows)))

    def _fill(self, projections: Array, X: Any, rows: slice | Array, leaf: int) -> None:
        """Write the projections of rows of a leaf: the work of one task."""
        X, ready = X[rows], self.in_precision(X.dtype)[leaf]
        scaled = self.feature_map.scaled
        parts = chunks(X.shape[0], width_of(X, scaled), ready.features.h)
        buffers = ready.features.buffers(parts[0].stop, X.dtype) if len(parts) > 1 else None
        found = [ready(scaled(X[chunk]), buffers) for chunk in parts]
        projections[rows] = np.concatenate(found) if len(found) > 1 else found[0]

    def explain(self, X: Any, execute: Executor = serial) -> Array:
        """What each column adds to the scores of checked rows   (n, d) or (n, classes, d)."""
        contributions = explain(self.feature_map, self.machine, X, execute)
        return contributions[:, 0] if len(self.classes) == 2 else contributions

    def answer(self, kind: Answer, projections: Array) -> Array:
        """Labels, scores, probabilities or sets of classes from projections."""
        if isinstance(kind, ClassesInSet):
            return self.machine.in_set(projections, kind.miss)
        return answer(self.machine, self.classes, kind, projections)


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
