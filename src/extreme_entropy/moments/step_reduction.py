"""Rows ↦ the sums of a Newton step (`step_sums.py`), in tasks for any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..columns.statistics import squares_of
from ..engines.blas import add_gram
from ..engines.threads import Executor, chunks, dense, row_slices, serial, width_of
from ..features.layers import Buffers, Features
from .logistic import probabilities, targets_of, weights_of
from .reduction import REDUCTION, RowGroups, unseen
from .step_sums import StepSums
from .summary import mirrored

Array = np.ndarray[Any, Any]


def step_sums(
    leaves: Sequence[Features],
    pilots: Sequence[Array],
    X: Any,
    groups: RowGroups,
    execute: Executor = serial,
    *,
    scaled: Callable[[Any], Any] = dense,
    advance: Callable[[int], object] = unseen,
) -> list[StepSums]:
    """The sums of the rows in each leaf, for a step from its pilot (h + 1, outputs).

    `scaled` turns rows into what features are made from. The tasks depend on the rows alone
    and are added in order, so any number of threads gives the same bits. `advance` is called with
    the number of further rows that are done.
    """
    n_classes, n_folds = groups.shape
    rows = replace(groups, labels=np.zeros_like(groups.labels), shape=(1, n_folds)).rows(
        len(leaves)
    )
    longest = max(s.stop - s.start for s in row_slices(len(groups.labels)))
    works = [
        StepReduction(X, groups.labels, groups.weight, n_classes, scaled, features, pilot)
        for features, pilot in zip(leaves, pilots, strict=True)
    ]

    def tasks() -> Iterator[Callable[[], tuple[int, int, Array, Array]]]:
        for g, inside in enumerate(rows):
            n_tasks = max(round(len(inside) / longest), 1)
            for part in np.array_split(inside, n_tasks) if len(inside) else ():
                yield partial(works[g // n_folds], g, part)

    sums = [StepSums.empty(n_classes, n_folds, features.h) for features in leaves]
    for g, n, gram, target in execute(tasks()):
        advance(n)
        leaf, fold = divmod(g, n_folds)
        sums[leaf].gram[fold] += gram
        sums[leaf].target[fold] += target
    weight = np.ones(len(groups.labels)) if groups.weight is None else groups.weight
    for g, inside in enumerate(rows):
        leaf, fold = divmod(g, n_folds)
        labels, weights = groups.labels[inside], weight[inside].astype(np.float64)
        sums[leaf].counts[:, fold] = np.bincount(labels, weights, n_classes)
        for c in range(n_classes):
            sums[leaf].squares[c] += squares_of(weights[labels == c])
        mirrored(sums[leaf].gram[fold])
    return sums


@dataclass(frozen=True, slots=True)
class StepReduction:
    """What the tasks of a leaf have in common."""

    X: Any
    labels: Array
    weight: Array | None
    n_classes: int
    scaled: Callable[[Any], Any]
    features: Features
    pilot: Array  # (h + 1, outputs)

    def __call__(self, g: int, rows: Array) -> tuple[int, int, Array, Array]:
        """The lower triangle of G, and b, for n rows of group g."""
        h, X = self.features.h, self.X
        single = X.dtype != np.float64
        gram = np.zeros((h + 1, h + 1), np.float32 if single else np.float64)
        total = np.zeros((h + 1, h + 1)) if single else gram
        target, unsettled = np.zeros(self.pilot.shape), 0
        parts = chunks(len(rows), width_of(X, self.scaled), h + 1)
        buffers = self.features.buffers(parts[0].stop, X.dtype)
        ones = np.ones((parts[0].stop, h + 1), X.dtype)
        for chunk in parts:
            part = rows[chunk]
            H = ones[: len(part)]
            self.fill(H, part, buffers)
            odds = H @ self.pilot.astype(X.dtype, copy=False)
            p = probabilities(odds)
            w = weights_of(p)
            pull = w[:, np.newaxis] * odds + targets_of(self.labels[part], self.n_classes) - p
            if self.weight is not None:
                weight = self.weight[part].astype(X.dtype, copy=False)
                w, pull = w * weight, pull * weight[:, np.newaxis]
            target += H.T @ pull.astype(X.dtype, copy=False)
            H *= np.sqrt(w)[:, np.newaxis].astype(X.dtype, copy=False)
            add_gram(H, gram)
            unsettled += len(part)
            if single and unsettled >= REDUCTION.single_rows:
                total += gram
                gram[:], unsettled = 0, 0
        if single:
            total += gram
        return g, len(rows), total, target

    def fill(self, H: Array, rows: Array, buffers: Buffers) -> None:
        """Write the features of rows, and 1."""
        H[:, :-1] = self.features(self.scaled(self.X[rows]), buffers)
        H[:, -1] = 1
