"""What decisions about rows of known class find, miss and cost, and what they save on others.

With costs C[i, j] of taking class i for j, and π_i the share of class i where a model is used (not
always that among these rows), a row decided as p costs on average, and saves compared with q,

    Σ_i π_i mean_i C[i, p]        Σ_i π_i mean_i (C[i, q] − C[i, p])

The variance of a saving is Σ_i π_i² var_i / n_i. In var_i each class has two half rows more, one
saved and one lost, so that a class without a mistake is not taken for certain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .intervals import NORMAL_REACH, ScoreInterval

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Rows of known class, decided, at costs; `shares` as in the rows if None."""

    confusion: Array  # rows by true (down) and predicted class (across)
    costs: Array  # of taking a row of each class (down) for each class (across)
    shares: Array | None = None  # of the classes, where the model is used

    @property
    def rows(self) -> Array:
        """Of each class."""
        return self.confusion.sum(axis=1)

    @property
    def weighted(self) -> Array:
        """The confusion matrix as shares of all rows, where the model is used."""
        rows = np.maximum(self.rows, 1e-300)
        shares = self.rows if self.shares is None else np.where(self.rows > 0, self.shares, 0)
        return self.confusion * (shares / shares.sum() / rows)[:, np.newaxis]

    @property
    def recalls(self) -> Array:
        """Of each class; NaN where it has no rows."""
        return _ratio(np.diag(self.confusion), self.rows)

    @property
    def precisions(self) -> Array:
        """Of each class; NaN where it is never predicted."""
        return _ratio(np.diag(self.weighted), self.weighted.sum(axis=0))

    @property
    def cost(self) -> float:
        """Of a row, on average."""
        return float((self.weighted * self.costs).sum())

    @property
    def cheapest_constant(self) -> int:
        """The class that costs least if it is predicted for every row."""
        return int((self.weighted.sum(axis=1) @ self.costs).argmin())

    def constant(self, c: int) -> Outcome:
        """The same rows, all of them predicted as one class."""
        every = np.zeros_like(self.confusion)
        every[:, c] = self.rows
        return replace(self, confusion=every)

    def saving_on_constant(self, c: int) -> ScoreInterval:
        """What a row costs less, on average, than if every row were predicted as the class."""
        labels, ours = np.indices(self.confusion.shape).reshape(2, -1)
        weights = self.weighted.sum(axis=1)
        return saving(labels, ours, np.full(len(ours), c), self.costs, weights, self.confusion)


def by_class(costs: Any) -> Array:
    """The matrix of costs that depend on the true class alone."""
    return np.asarray(costs, dtype=float)[:, np.newaxis] * (1 - np.eye(len(costs)))


def saving(
    labels: Array,
    ours: Array,
    theirs: Array,
    costs: Array,
    shares: Array,
    rows: Array | None = None,
    groups: Array | None = None,
) -> ScoreInterval:
    """What decisions of rows cost less than others of the same rows, on average, at 95 %.

    `rows` says how many rows each entry stands for. By groups, where rows of a group are alike, the
    interval reaches at least as far as that of groups drawn anew, with two half groups more.
    """
    k = len(costs)
    rows = np.ones(len(labels)) if rows is None else rows.ravel()
    saved = costs[labels, theirs] - costs[labels, ours]
    n = np.bincount(labels, rows, k)
    shares = np.where(n > 0, shares, 0.0) / shares[n > 0].sum()
    of_class = np.bincount(labels, rows * saved, k)
    half_rows = costs.max(axis=1) ** 2  # one saved and one lost: their sum is zero
    squares = (np.bincount(labels, rows * saved**2, k) + half_rows) / (n + 1)
    variance = float((shares**2 * (squares - (of_class / (n + 1)) ** 2) / np.maximum(n, 1)).sum())
    means = of_class / np.maximum(n, 1)
    if groups is not None:
        groups = np.unique(groups, return_inverse=True)[1]
        moved = (shares / np.maximum(n, 1))[labels] * rows * (saved - means[labels])
        by_group, n_groups = np.bincount(groups, moved), int(groups.max()) + 1
        in_class = np.bincount(np.unique(labels * n_groups + groups) // n_groups, minlength=k)
        halves = shares**2 * half_rows / np.maximum(in_class * (in_class + 1), 1)
        variance = max(variance, float(by_group @ by_group + halves.sum()))
    value, reach = float(shares @ means), NORMAL_REACH * variance**0.5
    if abs(value) < 1e-12 * costs.max():  # as much, but for rounding
        value = 0.0
    all_of_it = np.bincount(labels, rows * costs[labels, theirs], k) / np.maximum(n, 1)
    return ScoreInterval(value, value - reach, min(value + reach, float(shares @ all_of_it)))


def _ratio(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
