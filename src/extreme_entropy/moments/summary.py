"""The summary of a data set: all that a fit keeps of its rows, for each class and fold.

With u = h − m for the rows h of one class and fold and their mean m, it keeps::

    n,  m,  S = Σ uuᵀ,  t = Σ ‖u‖²u,  q = Σ ‖u‖⁴

Summaries form a commutative monoid: `empty` is the identity and `+` the merge, so a chunk, a
worker and a whole data set are the same kind of thing. Everything is kept about the class's own
mean, because raw sums of data far from the origin lose q altogether. t is kept only so that q,
which Ledoit–Wolf needs, survives a merge. Taking rows out leaves the rounding of the larger sums
behind, so that it is kept what that may be. Folds exist so that the decision can be cross-fitted:
the projection of a held-out fold follows from its own moments and the sum of the others. Beside
the moments a summary says which rows they are of (`sketch.py`), so that no others are taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, sub
from typing import Annotated, Any

import numpy as np
from scipy.linalg.blas import dger

from ..columns.statistics import effective
from ..engines.blas import mirrored
from ..shapes import LARGEST_SUM, SMALLEST, Array, Count, Numbers, Unscaled
from ..tolerances import EPS, NEGLIGIBLE_ERROR, SUM_MARGIN
from .sketch import NO_ROWS, RowSketch
from .step_sums import StepSums


@dataclass(frozen=True, slots=True)
class ClassMoments:
    """n, m, S, t and q of the rows of one class."""

    n: Annotated[float, Numbers(least=0)]  # rows, or their total weight
    mean: Annotated[Array, Numbers("h")]  # m
    scatter: Annotated[Array, Numbers("h", "h", least=-LARGEST_SUM, most=LARGEST_SUM)]  # S = Σ uuᵀ
    cubic: Annotated[Array, Unscaled("h")]  # t = Σ ‖u‖²u
    quartic: Annotated[float, Unscaled()]  # q = Σ ‖u‖⁴
    # Σ min(w, w²), which is n where no weight is below one.
    squares: Annotated[float, Numbers(least=0)]
    # What rounding may have added to n, tr S and q beyond their own last digits.
    n_error: Annotated[float, Numbers(least=0)] = 0.0
    scatter_error: Annotated[float, Numbers(least=0, most=LARGEST_SUM)] = 0.0
    quartic_error: Annotated[float, Unscaled(least=0)] = 0.0

    @property
    def rows(self) -> float:
        """How many rows these are worth: n, or n²/Σw² where weights are below one."""
        return effective(self.n, self.squares)

    @classmethod
    def empty(cls, h: int) -> ClassMoments:
        """The summary of no rows: the identity of `+`."""
        return cls(0.0, np.zeros(h), np.zeros((h, h)), np.zeros(h), 0.0, 0.0)

    @classmethod
    def of(cls, rows: Array) -> ClassMoments:
        """The summary of the rows of a matrix, by its definition."""
        h = rows.shape[1]
        if not len(rows):
            return cls.empty(h)
        n, mean = float(len(rows)), rows.mean(axis=0)
        u = rows - mean
        squares = np.einsum("ij,ij->i", u, u)
        return cls(n, mean, u.T @ u, squares @ u, float(squares @ squares), n)

    def __add__(self, other: ClassMoments) -> ClassMoments:
        """The summary of both sets of rows together."""
        if not other.n:
            return self
        if not self.n:
            return other
        return _combine(self, other, 1.0)

    def __sub__(self, other: ClassMoments) -> ClassMoments:
        """The summary of the rows that remain once `other`'s rows are taken out."""
        if not other.n:
            return self
        error = EPS * self.n + self.n_error + other.n_error
        if self.n - other.n <= SUM_MARGIN * error:  # nothing is left but rounding
            return ClassMoments.empty(len(self.mean))
        rest = _combine(self, other, -1.0)
        # What is left of the rounding of larger sums may fall below zero; no variance does.
        diagonal = rest.scatter.reshape(-1)[:: len(rest.mean) + 1]
        np.maximum(diagonal, 0.0, out=diagonal)
        larger = np.maximum(abs(self.mean), abs(other.mean)) * (self.n / rest.n)
        rest.mean[abs(rest.mean) <= SUM_MARGIN * EPS * larger] = 0.0
        scatter_error = rest.scatter_error + EPS * float(np.trace(self.scatter))
        single = rest.rows <= 1 + SUM_MARGIN * error / rest.n
        if single or diagonal.sum() <= SUM_MARGIN * scatter_error:  # one row is left, or equal ones
            return _alike(rest.n, rest.mean, rest.squares, error)
        return replace(
            rest,
            quartic=max(rest.quartic, 0.0),
            n_error=error,
            scatter_error=scatter_error,
            quartic_error=rest.quartic_error + EPS * self.quartic,
        )


OfFolds = Annotated[tuple[ClassMoments, ...], Count("folds")]


@dataclass(frozen=True, slots=True)
class FoldMoments:
    """The moments of the rows in a leaf by class and fold: `cells[c][k]`."""

    cells: Annotated[tuple[OfFolds, ...], Count("classes")]

    @classmethod
    def empty(cls, n_classes: int, n_folds: int, h: int) -> FoldMoments:
        """The moments of no rows."""
        nothing = ClassMoments.empty(h)
        return cls(((nothing,) * n_folds,) * n_classes)

    def emptied(self) -> FoldMoments:
        """The moments of no rows, of the same shape."""
        return FoldMoments.empty(self.n_classes, self.n_folds, self.h)

    @property
    def n_classes(self) -> int:
        return len(self.cells)

    @property
    def n_folds(self) -> int:
        return len(self.cells[0])

    @property
    def h(self) -> int:
        """The number of features."""
        return len(self.cells[0][0].mean)

    @property
    def counts(self) -> Array:
        """Rows of each class in each fold   (n_classes, n_folds)."""
        return np.array([[part.n for part in folds] for folds in self.cells])

    @property
    def errors(self) -> Array:
        """By which the counts may be wrong, but for their last digits."""
        return np.array([[part.n_error for part in folds] for folds in self.cells])

    @property
    def squares(self) -> Array:
        """Σ min(w, w²) of each class   (n_classes,)."""
        return np.array([sum(part.squares for part in folds) for folds in self.cells])

    def __add__(self, other: FoldMoments) -> FoldMoments:
        return self._each(add, other)

    def __sub__(self, other: FoldMoments) -> FoldMoments:
        return self._each(sub, other)

    def _each(self, combine: Callable[[Any, Any], Any], other: FoldMoments) -> FoldMoments:
        cells = []
        for mine, theirs in zip(self.cells, other.cells, strict=True):
            both = tuple(map(combine, mine, theirs))
            for cell, a, b in zip(both, mine, theirs, strict=True):
                if cell is not a and cell is not b:
                    mirrored(cell.scatter)  # which dger rounds differently on some processors
            cells.append(both)
        return FoldMoments(tuple(cells))

    @property
    def totals(self) -> list[ClassMoments]:
        """All rows of each class."""
        return [reduce(add, folds) for folds in self.cells]


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """All that a fit keeps of its rows: the sums in each leaf."""

    leaves: tuple[FoldMoments | StepSums, ...]
    rows: RowSketch = NO_ROWS  # that were learnt, where somebody may want to forget some

    def __repr__(self) -> str:
        n, h = self.counts.sum(axis=1).tolist(), max(leaf.h for leaf in self.leaves)
        shape = f"n_folds={self.n_folds}, n_leaves={len(self.leaves)}, n_features={h}"
        return f"Summary(rows_by_class={n}, {shape})"

    @property
    def n_folds(self) -> int:
        return self.leaves[0].n_folds

    @property
    def cells(self) -> Array:
        """Rows of each class in each leaf and fold   (leaves, n_classes, n_folds)."""
        return np.array([leaf.counts for leaf in self.leaves])

    @property
    def most(self) -> Array:
        """The same, and as much more as rounding may have taken from them."""
        errors = np.array([leaf.errors for leaf in self.leaves])
        return self.cells * (1 + SUM_MARGIN * EPS) + SUM_MARGIN * errors

    @property
    def counts(self) -> Array:
        """Rows of each class in each fold   (n_classes, n_folds)."""
        return sum((leaf.counts for leaf in self.leaves), np.zeros(()))

    @property
    def effective_rows(self) -> Array:
        """How many rows those of each class are worth   (n_classes,)."""
        squares = sum((leaf.squares for leaf in self.leaves), np.zeros(()))
        return np.array(list(map(effective, self.counts.sum(axis=1), squares)))

    def __add__(self, other: Summary) -> Summary:
        return Summary(tuple(map(add, self.leaves, other.leaves)), self.rows + other.rows)

    def __sub__(self, other: Summary) -> Summary:
        return Summary(tuple(map(sub, self.leaves, other.leaves)), self.rows - other.rows)

    def emptied(self) -> Summary:
        """The summary of no rows, of the same shape."""
        return Summary(tuple(leaf.emptied() for leaf in self.leaves))


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """How many rows of each class were learnt, and no sums: enough for predictions alone."""

    learnt: Annotated[Array, Numbers("classes", least=SMALLEST)]  # rows, or their total weight

    @property
    def rows(self) -> RowSketch:
        """Which rows these were is not kept."""
        return NO_ROWS

    @property
    def counts(self) -> Array:
        """Rows of each class, in one fold   (n_classes, 1)."""
        return self.learnt[:, np.newaxis]


def _combine(a: ClassMoments, b: ClassMoments, sign: float) -> ClassMoments:
    """Move both summaries to the joint mean, then add them with sign ±1.

    To another centre c, with e = m − c: t' = t + tr(S)e + 2Se + n‖e‖²e and
    q' = q + 4eᵀ(t + Se) + 2‖e‖²tr(S) + n‖e‖⁴. For S both moves are S_a ± S_b ± (n_a n_b / n) ddᵀ
    with d = m_b − m_a: fewer passes over h² numbers.
    """
    n = a.n + sign * b.n
    d = b.mean - a.mean
    # Written as a step from a's mean, so that a far-off origin costs no digits.
    mean = a.mean + (sign * b.n / n) * d
    scatter = a.scatter + b.scatter if sign > 0 else a.scatter - b.scatter
    step = np.sqrt(a.n * b.n / n) * d  # v vᵀ is symmetric to the last bit, c d dᵀ is not
    dger(sign, step, step, a=scatter.T, overwrite_a=True)
    cubic, quartic = np.zeros_like(mean), 0.0
    for part, s in ((a, 1.0), (b, sign)):
        e = part.mean - mean
        ee = float(e @ e)
        Se, trace = part.scatter @ e, float(np.trace(part.scatter))
        cubic += s * (part.cubic + (trace + part.n * ee) * e + 2 * Se)
        quartic += s * float(
            part.quartic + 4 * e @ (part.cubic + Se) + 2 * ee * trace + part.n * ee * ee
        )
    return ClassMoments(
        n,
        mean,
        scatter,
        cubic,
        quartic,
        squares=a.squares + sign * b.squares,
        n_error=a.n_error + b.n_error,
        scatter_error=a.scatter_error + b.scatter_error,
        quartic_error=a.quartic_error + b.quartic_error,
    )


def without(
    total: ClassMoments, gone: Iterable[ClassMoments], others: Iterable[ClassMoments]
) -> ClassMoments:
    """The total of all terms less those that are gone: the sum of the others.

    Taking few out is cheaper than adding many up, but leaves the rounding of the total behind;
    where that may matter, the others are added up.
    """
    rest = reduce(sub, gone, total)
    scatter_error, quartic_error = SUM_MARGIN * rest.scatter_error, SUM_MARGIN * rest.quartic_error
    negligible = scatter_error < NEGLIGIBLE_ERROR * float(np.trace(rest.scatter))
    if negligible and quartic_error < NEGLIGIBLE_ERROR * rest.quartic:
        return rest
    return reduce(add, others, ClassMoments.empty(len(total.mean)))


def from_sums(
    n: float, centre: Array, s: Array, S: Array, t: Array, q: float, squares: float | None = None
) -> ClassMoments:
    """A summary from raw sums about any centre: s = Σu, S = Σuuᵀ, t = Σ‖u‖²u, q = Σ‖u‖⁴.

    `squares` is needed only if weights are below one. The inverse of moving a summary there, with
    d = s/n. Only the lower triangle of `S` is read, and `S` is overwritten.
    """
    if not n:
        return ClassMoments.empty(len(centre))
    d = s / n
    dd = float(d @ d)
    squares = n if squares is None else squares
    dger(-n, d, d, a=S.T, overwrite_a=True)
    mirrored(S)
    trace = float(np.trace(S))
    if trace <= SUM_MARGIN * EPS * (trace + n * dd):
        return _alike(n, centre + d, squares)
    Sd = S @ d
    cubic = t - (trace + n * dd) * d - 2 * Sd
    quartic = q - 4 * d @ (cubic + Sd) - 2 * dd * trace - n * dd * dd
    return ClassMoments(n, centre + d, S, cubic, max(float(quartic), 0.0), squares)


def _alike(n: float, mean: Array, squares: float, error: float = 0.0) -> ClassMoments:
    """The summary of equal rows, which vary by rounding alone."""
    h = len(mean)
    return ClassMoments(n, mean, np.zeros((h, h)), np.zeros(h), 0.0, squares, error)
