"""φ as a whole: x ↦ encoding ↦ scaling ↦ a leaf of the tree ↦ the features of that leaf.

φ is drawn once and frozen. A tree that is not cut has one leaf, as that of the paper's classifiers.
All leaves share encoding and scaling; what differs is their features, such as landmarks and knots.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp

from ..columns.encoding import Encoding
from ..columns.statistics import N_FOLDS
from ..engines.threads import Executor, dense, filled, serial
from ..shapes import SMALLEST, Array, Indices, Numbers
from .content import ContentHash
from .layers import Features
from .scaling import Quantile, Scaling


@dataclass(frozen=True, slots=True)
class Tree:
    """Which leaf a scaled row belongs to: z_j ≤ t to one side, z_j > t to the other, and so on."""

    columns: Annotated[Array, Indices("nodes", below="encoded")]  # of z, that each node looks at
    thresholds: Annotated[Array, Numbers("nodes")]
    # Where z ≤ threshold, and where not: a later node, or −1 − leaf.
    children: Annotated[Array, Indices("nodes", 2, least=-(2**62))]

    @classmethod
    def uncut(cls) -> Tree:
        """The tree of one leaf."""
        return cls(np.empty(0, np.intp), np.empty(0), np.empty((0, 2), np.intp))

    @property
    def n_leaves(self) -> int:
        return len(self.columns) + 1

    def __call__(self, Z: Array) -> Array:
        """The leaf of each row   (n,)."""
        if not len(self.columns):
            return np.zeros(len(Z), np.intp)
        at, inside = np.zeros(len(Z), np.intp), np.arange(len(Z))
        while len(inside):
            node = at[inside]
            beyond = Z[inside, self.columns[node]] > self.thresholds[node]
            at[inside] = node = self.children[node, beyond.astype(np.intp)]
            inside = inside[node >= 0]
        return -1 - at


@dataclass(frozen=True, slots=True)
class HeldRows:
    """Rows of each class, encoded and scaled, whose folds say which operators never saw them."""

    Z: Annotated[Array, Numbers("m", "encoded")]
    labels: Annotated[Array, Indices("m", below="classes")]  # positions of their classes
    folds: Annotated[Array, Indices("m", most=N_FOLDS - 1)]
    counts: Annotated[Array, Numbers("m", least=SMALLEST)]  # how often each came

    @classmethod
    def none(cls, columns: int) -> HeldRows:
        """No rows."""
        numbers = np.empty(0, np.intp)
        return cls(np.empty((0, columns)), numbers, numbers, np.empty(0))


@dataclass(frozen=True, slots=True)
class FeatureMap:
    """φ: a tree, and the features of each of its leaves."""

    content: ContentHash
    encoding: Encoding
    scaling: Scaling
    tree: Tree
    leaves: tuple[Features, ...]
    held: HeldRows  # that probabilities are fitted on; perhaps none
    # The weight of each encoded column, where it was learned; where rows are kept, they tell it.
    relevance: Annotated[Array | None, Numbers("encoded", least=0)] = None
    # Of each leaf, where rows are summed about a pilot (`moments/step_sums.py`): θ₀ of its features
    # and a constant   (h + 1, outputs).
    pilots: tuple[Annotated[Array, Numbers(None, "outputs")], ...] = ()

    @property
    def d(self) -> int:
        """Columns of x."""
        return self.encoding.d

    @property
    def h(self) -> int:
        """The number of features, of the leaf that has the most."""
        return max(features.h for features in self.leaves)

    @property
    def typical(self) -> Array:
        """The median of each column, or its most frequent category, encoded and scaled."""
        return self.scaled(self.encoding.typical[np.newaxis])[0]

    @property
    def keeps_sparse(self) -> bool:
        """Whether sparse rows stay sparse until they are multiplied: zeros then cost nothing."""
        return (
            any(leaf.has_product for leaf in self.leaves)
            and self.encoding.plain
            and isinstance(self.scaling, Quantile)
            and self.scaling.keeps_zeros
        )

    def scaled(self, X: Any) -> Any:
        """Rows with their columns encoded and scaled; sparse ones stay sparse if they can."""
        if not (sp.issparse(X) and self.keeps_sparse):
            return self.scaling(self.encoding(dense(X)))
        assert isinstance(self.scaling, Quantile)
        Z = X.tocsr(copy=True)
        Z.sum_duplicates()
        known = np.where(np.isnan(Z.data), self.encoding.typical[Z.indices], Z.data)
        Z.data = self.scaling.entries(known.astype(X.dtype, copy=False), Z.indices)
        return Z

    def __call__(self, X: Any) -> Array:
        """φ of rows, where there is one leaf   (n, h)."""
        return self.only()(self.scaled(X))

    def only(self) -> Features:
        """The features of a map that has one leaf."""
        [features] = self.leaves
        return features

    def first(self, k: int) -> FeatureMap:
        """φ with the first k features of each leaf: the φ that would be drawn with so many."""
        return replace(self, leaves=tuple(features.first(k) for features in self.leaves))

    def without_rows(self, importances: Array) -> FeatureMap:
        """The same with the importances of columns instead of the rows they were measured on.

        Encoded columns of the same column share its importance, the square of their weights.
        """
        origins = self.encoding.origins
        relevance = np.sqrt(importances[origins] / np.bincount(origins)[origins])
        return replace(self, held=HeldRows.none(self.encoding.size), relevance=relevance)

    def leaves_of(self, X: Any, execute: Executor = serial) -> Array:
        """The leaf of each row   (n,)."""
        if len(self.leaves) == 1:
            return np.zeros(X.shape[0], np.intp)

        def leaf(rows: slice) -> Array:
            return self.tree(self.scaled(dense(X[rows]).astype(np.float64, copy=False)))

        return filled(np.zeros(X.shape[0], np.intp), leaf, execute, X.shape[1])


def same(a: Any, b: Any) -> bool:
    """Whether two feature maps, or parts of them, are equal to the last bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        numbers = a.dtype.kind == "f"  # NaN is typical of a column where most values are missing
        return a is b or (a.dtype == b.dtype and np.array_equal(a, b, equal_nan=numbers))
    if is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)
