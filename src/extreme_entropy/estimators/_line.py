"""From rows to answers: βᵀφ(x), and what a solved machine says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..engines.blocks import Block
from ..engines.threads import run
from ..features.chunks import lanes
from ..features.feature_map import FeatureMap
from ..machine.machine import Machine
from ..machine.projection import project
from ..moments.reduction import Run
from ._rows import Rows, check_block

Array = np.ndarray[Any, Any]

FEW_ROWS = 64  # are projected at once, without the cost of an engine


@dataclass(frozen=True, slots=True)
class Line:
    """φ, β on the hidden layer, the solved machine and its labels."""

    phi: FeatureMap
    readout: Array
    machine: Machine
    classes: Array

    def project(self, X: Any, run: Run) -> Array:
        """Where checked rows fall on the lines                          (n, pairs)."""
        phi = self.phi.in_precision(X.dtype)
        weights = self.readout.T.astype(X.dtype)
        n = X.shape[0]
        if n <= FEW_ROWS:
            return project(phi, X, weights).astype(np.float64, copy=False)
        tasks = (partial(project, phi, X[lane], weights) for lane in lanes(n))
        return np.concatenate(list(run(tasks))).astype(np.float64, copy=False)


Answer = Callable[[Line, Array], Array]  # of projections


def positions(line: Line, projections: Array) -> Array:
    return projections[:, 0] if len(line.classes) == 2 else projections


def scores(line: Line, projections: Array) -> Array:
    return line.machine.scores(projections)


def labels(line: Line, projections: Array) -> Array:
    values = line.machine.scores(projections)
    chosen = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
    return line.classes[chosen]


def log_probabilities(line: Line, projections: Array) -> Array:
    return line.machine.log_probabilities(projections)


def probabilities(line: Line, projections: Array) -> Array:
    return line.machine.probabilities(projections)


def answer(block: Block, dtype: np.dtype[Any], d: int, line: Line, kind: Answer) -> Array:
    """The answer to each row of a block, perhaps to none."""
    X, _, _ = check_block(block, dtype, d)
    return kind(line, line.project(X, partial(run, n_jobs=1))) if X.shape[0] else none(line, kind)


def none(line: Line, kind: Answer) -> Array:
    """The answer to no rows: its type, and how many numbers it has for a row."""
    return kind(line, np.zeros((1, len(line.readout))))[:0]


def count_right(rows: Rows, run: Run, line: Line) -> Array:
    """The weight of rows whose class is predicted, and of all rows."""
    X, y, weight = rows
    if not len(y):
        return np.zeros(2)
    right = labels(line, line.project(X, run)) == y
    weight = np.ones(len(right)) if weight is None else weight
    return np.array([weight[right].sum(), weight.sum()])
