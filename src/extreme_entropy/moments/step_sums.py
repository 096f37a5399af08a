"""The sums of one Newton step of logistic regression: all that the default keeps of its rows.

A pilot θ₀, fitted on sampled rows and frozen with φ, gives each row the log-odds f₀ = φ̃ᵀθ₀, where
φ̃ is (φ, 1). With the label y, the step needs

    p = σ(f₀),   w = p(1 − p),   G = Σ w φ̃φ̃ᵀ,   b = Σ φ̃ (w f₀ + y − p) = Gθ₀ + Σ φ̃ (y − p)

from which θ = (G + Λ)⁻¹b for any penalty Λ: the normal equations of the working responses
f₀ + (y − p)/w. From a √n-consistent pilot, one step is asymptotically as good as the maximum of the
likelihood (Le Cam). With more than two classes, σ is the softmax, and all classes share G with the
w of `logistic.py`; each has its own b. Two classes have one column, that of the second.

G and b are sums over rows, kept by leaf and fold: a commutative monoid, like the moments
(`summary.py`). Features are bounded, so nothing needs to be centred.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np

from ..columns.statistics import squares_of
from ..engines.blas import add_gram, mirrored
from ..engines.threads import (
    CUTS,
    Executor,
    RowGroups,
    chunks,
    dense,
    row_slices,
    serial,
    unseen,
    width_of,
)
from ..features.layers import Features
from ..shapes import LARGEST_SUM, Array, Numbers
from ..tolerances import EPS, SUM_MARGIN
from .logistic import probabilities, targets_of, weights_of


@dataclass(frozen=True, slots=True)
class StepSums:
    """G and b of the rows of a leaf, by fold, and how many rows of each class these are."""

    gram: Annotated[
        Array, Numbers("folds", "h+1", "h+1", least=-LARGEST_SUM, most=LARGEST_SUM)
    ]  # G
    target: Annotated[
        Array, Numbers("folds", "h+1", "outputs", least=-LARGEST_SUM, most=LARGEST_SUM)
    ]  # b
    counts: Annotated[Array, Numbers("classes", "folds", least=0)]  # rows, or their weight
    squares: Annotated[Array, Numbers("classes", least=0)]  # Σ min(w, w²) of weights of rows
    # By how much counts may be wrong, beyond their last digits.
    errors: Annotated[Array, Numbers("classes", "folds", least=0)]

    @classmethod
    def empty(cls, n_classes: int, n_folds: int, h: int) -> StepSums:
        """The sums of no rows: the identity of `+`."""
        outputs = 1 if n_classes == 2 else n_classes
        return cls(
            np.zeros((n_folds, h + 1, h + 1)),
            np.zeros((n_folds, h + 1, outputs)),
            np.zeros((n_classes, n_folds)),
            np.zeros(n_classes),
            np.zeros((n_classes, n_folds)),
        )

    def emptied(self) -> StepSums:
        """The sums of no rows, of the same shape."""
        return StepSums.empty(self.n_classes, self.n_folds, self.h)

    @property
    def h(self) -> int:
        """The number of features."""
        return self.gram.shape[1] - 1

    @property
    def n_classes(self) -> int:
        return len(self.counts)

    @property
    def n_folds(self) -> int:
        return len(self.gram)

    def __add__(self, other: StepSums) -> StepSums:
        return StepSums(
            self.gram + other.gram,
            self.target + other.target,
            self.counts + other.counts,
            self.squares + other.squares,
            self.errors + other.errors,
        )

    def __sub__(self, other: StepSums) -> StepSums:
        """The sums of the rows that remain when others are taken out; exactly 0 if none does."""
        # Where nothing was taken out, the counts are as exact as they were.
        errors = EPS * self.counts * (other.counts > 0) + self.errors + other.errors
        counts = self.counts - other.counts
        gone = counts <= SUM_MARGIN * errors  # nothing is left but rounding
        counts[gone], errors[gone] = 0.0, 0.0
        squares = np.where(counts.any(axis=1), np.maximum(self.squares - other.squares, 0.0), 0.0)
        gram, target = self.gram - other.gram, self.target - other.target
        empty = ~counts.any(axis=0)
        gram[empty], target[empty] = 0.0, 0.0
        return StepSums(gram, target, counts, squares, errors)


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
    width, longest = (
        width_of(X, scaled),
        max(s.stop - s.start for s in row_slices(len(groups.labels))),
    )
    works = [
        StepReduction(X, groups.labels, groups.weight, n_classes, scaled, width, features, pilot)
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
    width: int  # numbers that a row becomes once scaled
    features: Features
    pilot: Array  # (h + 1, outputs)

    def __call__(self, g: int, rows: Array) -> tuple[int, int, Array, Array]:
        """The lower triangle of G, and b, for n rows of group g."""
        h, X, dtype = self.features.h, self.X, self.X.dtype
        if self.weight is not None and not 1e-6 < np.abs(self.weight[rows]).max() < 1e6:
            dtype = np.dtype(np.float64)  # as single precision, these would swamp the penalties
        single = dtype != np.float64
        gram = np.zeros((h + 1, h + 1), np.float32 if single else np.float64)
        total = np.zeros((h + 1, h + 1)) if single else gram
        target, unsettled = np.zeros(self.pilot.shape), 0
        parts = chunks(len(rows), self.width, h + 1)
        buffers = self.features.buffers(parts[0].stop, X.dtype)
        ones = np.ones((parts[0].stop, h + 1), dtype)
        for chunk in parts:
            part = rows[chunk]
            H = ones[: len(part)]
            H[:, :-1] = self.features(self.scaled(X[part]), buffers)
            H[:, -1] = 1  # which was overwritten
            odds = H @ self.pilot.astype(dtype, copy=False)
            p = probabilities(odds)
            w = weights_of(p)
            pull = w[:, np.newaxis] * odds + targets_of(self.labels[part], self.n_classes) - p
            if self.weight is not None:
                weight = self.weight[part].astype(dtype, copy=False)
                w, pull = w * weight, pull * weight[:, np.newaxis]
            target += H.T @ pull.astype(dtype, copy=False)
            H *= np.sqrt(w)[:, np.newaxis].astype(dtype, copy=False)
            add_gram(H, gram)
            unsettled += len(part)
            if single and unsettled >= CUTS.single_rows:
                total += gram
                gram[:], unsettled = 0, 0
        if single:
            total += gram
        return g, len(rows), total, target
