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

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..shapes import LARGEST_SUM, Numbers
from ..tolerances import EPS, SUM_MARGIN

Array = np.ndarray[Any, Any]


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
