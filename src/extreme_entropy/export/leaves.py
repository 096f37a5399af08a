"""A row ↦ its leaf ↦ projections, as ONNX operators.

Rows of a leaf are gathered, and go through the leaf's own layers; so each row costs as much as in
Python, whatever the number of leaves.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..features.feature_map import FeatureMap, Tree
from ..features.layers import Features
from ..machine.machine import Leaf, Machine
from .features import projected
from .graph import Graph

Leaves = list[tuple[Features, Leaf]]


def projections(g: Graph, phi: FeatureMap, machine: Machine, z: str) -> str:
    """Projections of rows scaled in double precision   (n, pairs)."""
    leaves, single = list(zip(phi.leaves, machine.leaves, strict=True)), g.cast(z, g.precision)
    if len(leaves) == 1:
        return _of_leaf(g, leaves[0], single)
    return _of_tree(g, leaves, _leaf(g, phi.tree, z), single)


def _of_tree(g: Graph, leaves: Leaves, at: str, z: str) -> str:
    """Projections of rows, each by its own leaf."""
    order, odds = [], []
    for place, leaf in enumerate(leaves):
        rows = g.flat(g("NonZero", g("Equal", at, place)))
        order.append(rows)
        odds.append(
            g.unless_empty(rows, partial(_of_rows, g, leaf, z, rows), len(leaf[1].constants))
        )
    gathered = g.beside(odds, axis=0)
    places = g("Reshape", g.beside(order, axis=0), np.array([-1, 1]))
    return g("ScatterND", gathered, places, gathered)  # back in the order of rows


def _of_rows(g: Graph, leaf: tuple[Features, Leaf], z: str, rows: str) -> str:
    return _of_leaf(g, leaf, g("Gather", z, rows, axis=0))


def _of_leaf(g: Graph, leaf: tuple[Features, Leaf], z: str) -> str:
    """Projections of the rows of a leaf."""
    features, solved = leaf
    t = projected(g, features, solved.operators, z)
    return g("Add", t, solved.constants) if solved.constants.any() else t


def _leaf(g: Graph, tree: Tree, z: str) -> str:
    """The leaf of each row   (n,): all rows go down one level at a time.

    Leaves follow the nodes in one table, in which each is its own child.
    """
    nodes, places = len(tree.columns), np.arange(tree.n_leaves)
    columns = np.concatenate([tree.columns, np.zeros(tree.n_leaves)]).astype(np.int64)
    thresholds = np.concatenate([tree.thresholds, np.zeros(tree.n_leaves)])
    below = np.where(tree.children >= 0, tree.children, nodes - 1 - tree.children)
    children = np.concatenate([below, np.repeat(nodes + places, 2).reshape(-1, 2)]).ravel()
    node = g.cast(g("Mul", g.columns(z, [0]), 0.0), np.int64)  # the root   (n, 1)
    for _ in range(_depth(tree)):
        value = g("GatherElements", z, g("Gather", columns, node), axis=1)
        beyond = g.cast(g("Greater", value, g("Gather", thresholds, node)), np.int64)
        node = g("Gather", children.astype(np.int64), g("Add", g("Mul", node, 2), beyond))
    return g.flat(g("Sub", node, nodes))


def _depth(tree: Tree) -> int:
    """The largest number of nodes on the way to a leaf."""
    depths = np.ones(len(tree.columns), int)
    for node, children in enumerate(tree.children):
        below = children[children >= 0]
        depths[below] = depths[node] + 1
    return int(depths.max(initial=0))
