"""A row ↦ its leaf in each tree ↦ projections, averaged over trees, as ONNX operators.

Rows of a leaf are gathered, and go through the leaf's own layers; so each row costs as much as in
Python, whatever the number of leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..features.feature_map import FeatureMap, Tree
from ..machine.machine import Machine
from .decision import curved
from .features import projected
from .graph import Graph

Array = np.ndarray[Any, Any]


def averaged(g: Graph, phi: FeatureMap, machine: Machine, z: str, dtype: np.dtype[Any]) -> str:
    """Log-odds averaged over trees, of rows scaled in double precision   (n, pairs)."""
    total, start = None, 0
    single = g.cast(z, dtype)
    for tree, share in zip(phi.trees, machine.shares, strict=True):
        leaves = range(start, start := start + tree.n_leaves)
        if not share.any():
            continue
        if len(leaves) == 1:
            odds = _of_leaf(g, phi, machine, leaves[0], single, dtype)
        else:
            odds = _of_tree(g, phi, machine, _leaf(g, tree, z), leaves, single, dtype)
        odds = g("Mul", odds, share)
        total = odds if total is None else g("Add", total, odds)
    assert total is not None  # shares sum to one
    return total


def _of_tree(
    g: Graph,
    phi: FeatureMap,
    machine: Machine,
    at: str,
    leaves: range,
    z: str,
    dtype: np.dtype[Any],
) -> str:
    """Log-odds of rows, each by its own leaf."""
    order, found = [], []
    for place, leaf in enumerate(leaves):
        rows = g("Reshape", g("NonZero", g("Equal", at, place)), np.array([-1]))
        order.append(rows)

        def of_leaf(leaf: int = leaf, rows: str = rows) -> str:
            own = g("Gather", z, rows, axis=0)
            return _of_leaf(g, phi, machine, leaf, own, dtype)

        found.append(g.unless_empty(rows, of_leaf, len(machine.pairs)))
    odds = g.beside(*found, axis=0)
    places = g("Reshape", g.beside(*order, axis=0), np.array([-1, 1]))
    return g("ScatterND", odds, places, odds)  # back in the order of rows


def _of_leaf(
    g: Graph, phi: FeatureMap, machine: Machine, leaf: int, z: str, dtype: np.dtype[Any]
) -> str:
    """ℓ of each pair for the rows of a leaf; by counts alone where it has no machine."""
    solved = machine.leaves[leaf]
    if not len(solved.columns):
        nothing = g.cast(g("Mul", g.columns(z, np.array([0])), dtype.type(0)), np.float64)
        return g("Add", nothing, solved.shifts[np.newaxis])
    t = projected(g, phi.leaves[leaf], solved.operators, z, dtype)
    if len(solved.columns) == len(solved.shifts):
        return curved(g, solved.curves, t, solved.shifts)
    odds = curved(g, solved.curves, t, np.zeros(len(solved.columns)))
    placed = np.zeros((len(solved.columns), len(solved.shifts)))  # some classes are (almost) absent
    placed[np.arange(len(solved.columns)), solved.columns] = 1.0
    return g("Add", g("MatMul", odds, placed), solved.shifts[np.newaxis])


def _leaf(g: Graph, tree: Tree, z: str) -> str:
    """The leaf of each row   (n,): all rows go down one level at a time.

    Leaves follow the nodes in one table, in which each is its own child.
    """
    nodes, places = len(tree.columns), np.arange(tree.n_leaves)
    columns = np.concatenate([tree.columns, np.zeros(tree.n_leaves)]).astype(np.int64)
    thresholds = np.concatenate([tree.thresholds, np.zeros(tree.n_leaves)])
    below = np.where(tree.children >= 0, tree.children, nodes - 1 - tree.children)
    children = np.concatenate([below, np.repeat(nodes + places, 2).reshape(-1, 2)]).ravel()
    node = g.cast(g("Mul", g.columns(z, np.array([0])), 0.0), np.int64)  # the root   (n, 1)
    for _ in range(_depth(tree)):
        value = g("GatherElements", z, g("Gather", columns, node), axis=1)
        beyond = g.cast(g("Greater", value, g("Gather", thresholds, node)), np.int64)
        node = g("Gather", children.astype(np.int64), g("Add", g("Mul", node, 2), beyond))
    return g("Reshape", g("Sub", node, nodes), np.array([-1]))


def _depth(tree: Tree) -> int:
    """The largest number of nodes on the way to a leaf."""
    depths = np.ones(len(tree.columns), int)
    for node, children in enumerate(tree.children.tolist()):
        for child in children:
            if child >= 0:
                depths[child] = depths[node] + 1
    return int(depths.max(initial=0))
