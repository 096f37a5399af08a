"""From rows to answers: x ↦ βᵀφ(x) ↦ log-odds, probabilities and labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from ..engines.threads import Executor, chunks, dense, row_slices, serial
from ..features.feature_map import FeatureMap
from ..features.layers import Buffers, Features
from ..metrics import predicted_classes
from .explanation import explain
from .machine import Decision, Leaf, Machine

Array = np.ndarray[Any, Any]


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

    leaf: Leaf
    features: Features
    operators: list[Array]
    share: Array  # how much its tree counts for each pair   (pairs,)

    def __call__(self, Z: Array, buffers: Buffers | None = None) -> Array:
        """What the leaf adds to the projections of scaled rows   (n, pairs)."""
        projections = np.empty((len(Z), 0))
        if self.leaf.curves:
            projections = self.features.project(Z, self.operators, buffers)
        return self.share * self.leaf.projections(projections)


@dataclass(frozen=True, slots=True)
class Ready:
    """All leaves in one precision; trees that do not count are left out of `uncut` and `cut`."""

    leaves: list[ReadyLeaf]
    uncut: list[ReadyLeaf]  # of trees that have one leaf
    cut: list[int]  # trees that have more

    @classmethod
    def of(cls, phi: FeatureMap, machine: Machine, dtype: np.dtype[Any]) -> Ready:
        """Whitening is folded into β, so that a row costs one layer and one product."""
        shares, leaves = np.repeat(machine.shares, phi.n_leaves, axis=0), []
        for leaf, features, share in zip(machine.leaves, phi.leaves, shares, strict=True):
            hidden = Features(tuple(replace(part, whitening=None) for part in features.parts))
            operators = features.folded(leaf.operators, dtype)
            leaves.append(ReadyLeaf(leaf, hidden.in_precision(dtype), operators, share))
        first, sizes = np.cumsum((0, *phi.n_leaves)), phi.n_leaves
        counted = [t for t, share in enumerate(machine.shares) if share.any()]
        uncut = [leaves[first[t]] for t in counted if sizes[t] == 1]
        return cls(leaves, uncut, [t for t in counted if sizes[t] > 1])


@dataclass(frozen=True)
class Predictor:
    """A solved machine with its φ and labels: all that a prediction needs."""

    feature_map: FeatureMap
    machine: Machine
    classes: Array
    # By precision, when first needed: most predictors see rows of one. Priors and costs change none
    # of it, so that the same leaves serve under others (`replace`).
    ready: dict[str, Ready] = field(default_factory=dict, repr=False)

    def in_precision(self, dtype: np.dtype[Any]) -> Ready:
        """The leaves in this precision."""
        if dtype.char not in self.ready:
            self.ready[dtype.char] = Ready.of(self.feature_map, self.machine, dtype)
        return self.ready[dtype.char]

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be made again."""
        return {**self.__dict__, "ready": {}}

    def project(self, X: Any, execute: Executor = serial) -> Array:
        """Projections of rows, averaged over trees, for each pair of classes   (n, pairs)."""
        n, ready = X.shape[0], self.in_precision(X.dtype)
        total = np.zeros((n, len(self.machine.pairs)))
        if are_few(n):
            execute = serial
            if not ready.cut:  # one chunk: what is left is the cost of the calls themselves
                Z = self.feature_map.scaled(dense(X))
                for leaf in ready.uncut:
                    total += leaf(Z)
                return total
        if ready.uncut:
            tasks = [partial(self._add, total, X, s, ready.uncut) for s in row_slices(n)]
            for _ in execute(tasks):
                pass
        at = self.feature_map.leaves_of(X, execute) if ready.cut else ()
        for tree in ready.cut:
            of_leaves = _rows_of_leaves(at[tree])
            tasks = [partial(self._add, total, X, rows, [ready.leaves[i]]) for i, rows in of_leaves]
            for _ in execute(tasks):
                pass
        return total

    def _add(self, total: Array, X: Any, rows: slice | Array, leaves: list[ReadyLeaf]) -> None:
        """Add what leaves add to the projections of rows: the work of one task."""
        X = X[rows]
        parts = chunks(*X.shape, max(leaf.features.h for leaf in leaves))
        n = parts[0].stop if len(parts) > 1 else 0
        buffers = [leaf.features.buffers(n, X.dtype) if n else None for leaf in leaves]
        added = np.zeros((X.shape[0], total.shape[1]))
        for chunk in parts:
            Z = self.feature_map.scaled(dense(X[chunk]))
            for leaf, memory in zip(leaves, buffers, strict=True):
                added[chunk] += leaf(Z, memory)
        total[rows] += added

    def explain(self, X: Any, execute: Executor = serial) -> Array:
        """What each column adds to the scores of checked rows   (n, d) or (n, classes, d)."""
        contributions = explain(self.feature_map, self.machine, X, execute)
        return contributions[:, 0] if len(self.classes) == 2 else contributions

    def answer(self, kind: Answer, projections: Array) -> Array:
        """Labels, scores, probabilities or sets of classes from projections."""
        if isinstance(kind, ClassesInSet):
            return self.machine.in_set(projections, kind.miss)
        return answer(self.machine, self.classes, kind, projections)


def _rows_of_leaves(leaves: Array) -> Iterator[tuple[int, Array]]:
    """The leaf and rows of each task, where each row has such a leaf."""
    order = np.argsort(leaves, kind="stable")
    runs = np.split(order, np.flatnonzero(np.diff(leaves[order])) + 1)
    for rows in runs if len(leaves) else ():
        for s in row_slices(len(rows)):
            yield int(leaves[rows[0]]), rows[s]


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


def project(phi: FeatureMap, operators: list[Array], X: Any, execute: Executor = serial) -> Array:
    """Rows through the only leaf of φ, and times operators on its hidden layers.

    All are of one precision.
    """
    n, features = X.shape[0], phi.only()
    if are_few(n):
        return features.project(phi.scaled(dense(X)), operators)
    projections = np.empty((n, operators[0].shape[1]), X.dtype)

    def fill(rows: slice) -> None:
        parts = chunks(rows.stop - rows.start, X.shape[1], features.h)
        buffers = features.buffers(parts[0].stop, X.dtype)
        for chunk in parts:
            part = slice(rows.start + chunk.start, rows.start + chunk.stop)
            projections[part] = features.project(phi.scaled(dense(X[part])), operators, buffers)

    for _ in execute(partial(fill, s) for s in row_slices(n)):
        pass
    return projections
