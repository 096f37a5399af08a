"""Where a table is cut into leaves: at the median of the column that is widest to the kernel.

The largest node is cut first. Its widest column is the one with the largest standard deviation
times weight, so that a cut shortens the distances that matter. If a column cannot be cut near its
middle, or one side would have too few rows of all classes but one, the next column is tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..features.feature_map import Tree
from ..shapes import Array
from .settings import TreeSettings


class Cut(NamedTuple):
    """Where a node is cut."""

    column: int
    threshold: float


@dataclass(frozen=True, slots=True)
class NodeRows:
    """Scaled sampled rows: typical ones of all classes together, and those of each with labels."""

    Z: Array
    of_classes: Array
    labels: Array
    stand_for: Array  # how many rows of the table a sampled one of each class stands for

    def sides(self, cut: Cut) -> tuple[NodeRows, NodeRows]:
        """The rows up to the cut, and those beyond it."""
        beyond = self.Z[:, cut.column] > cut.threshold
        of_classes = self.of_classes[:, cut.column] > cut.threshold
        below, above = (
            NodeRows(self.Z[a], self.of_classes[b], self.labels[b], self.stand_for)
            for a, b in ((~beyond, ~of_classes), (beyond, of_classes))
        )
        return below, above

    @property
    def counts(self) -> Array:
        """About how many rows of each class the table has in this node."""
        return np.bincount(self.labels, minlength=len(self.stand_for)) * self.stand_for


def cut_rows(rows: NodeRows, weights: Array, leaves: int, settings: TreeSettings) -> Tree:
    """A tree with at most this many leaves."""
    nodes: list[tuple[NodeRows, int, int]] = [(rows, -1, 0)]  # the node above, and which side
    cuts: list[Cut] = []
    children: list[list[int]] = []
    done: list[tuple[int, int]] = []
    while nodes:
        nodes.sort(key=lambda node: -len(node[0].Z))
        node, parent, side = nodes.pop(0)
        cut = None
        if len(nodes) + len(done) + 2 <= leaves:
            cut = best_cut(node, weights, settings)
        if cut is None:
            done.append((parent, side))
            continue
        if parent >= 0:
            children[parent][side] = len(cuts)
        for beyond, part in enumerate(node.sides(cut)):
            nodes.append((part, len(cuts), beyond))
        cuts.append(cut)
        children.append([0, 0])
    for leaf, (parent, side) in enumerate(done):
        if parent >= 0:
            children[parent][side] = -1 - leaf
    return Tree(
        np.array([cut.column for cut in cuts], np.intp),
        np.array([cut.threshold for cut in cuts]),
        np.array(children, np.intp).reshape(-1, 2),
    )


def best_cut(rows: NodeRows, weights: Array, settings: TreeSettings) -> Cut | None:
    """The cut of the widest column that can be cut, if there is one."""
    if len(rows.Z) < settings.fewest_sampled:
        return None
    for column in np.argsort(-rows.Z.std(axis=0) * weights, kind="stable")[: settings.most_tried]:
        threshold = middle_of(rows.Z[:, column], settings.least_share)
        if threshold is None:
            continue
        cut = Cut(int(column), threshold)
        if all(np.sort(s.counts)[-2] >= settings.fewest_class_rows for s in rows.sides(cut)):
            return cut
    return None


def middle_of(values: Array, least_share: float) -> float | None:
    """Half way between two distinct values near the median; None if a side gets too few rows."""
    distinct, counts = np.unique(values, return_counts=True)
    below = np.cumsum(counts[:-1]) / len(values)
    if not len(below):
        return None
    i = int(np.argmin(abs(below - 0.5)))
    if not least_share <= below[i] <= 1 - least_share:
        return None
    return float((distinct[i] + distinct[i + 1]) / 2)
