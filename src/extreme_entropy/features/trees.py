"""Trees that cut rows into leaves: z_j ≤ t to one side, z_j > t to the other, in scaled columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..shapes import Indices, Numbers

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Tree:
    """Which leaf a scaled row belongs to."""

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
