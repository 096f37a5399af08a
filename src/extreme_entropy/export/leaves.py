"""A row ↦ its leaf in each tree ↦ projections, averaged over trees, as ONNX operators.

Rows of a leaf are gathered, and go through the leaf's own layers; so each row costs as much as in
Python, whatever the number of leaves.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..features.feature_map import FeatureMap, Tree
from ..features.layers import Features
from ..machine.machine import Leaf, Machine
from .answering import curved
from .features import projected
from .graph import Graph

Leaves = list[tuple[Features, Leaf]]


def averaged(g: Graph, phi: FeatureMap, machine: Machine, z: str) -> str:
    """Log-odds averaged over trees, of rows scaled in double precision   (n, pairs)."""
    leaves, weighted = list(zip(phi.leaves, machine.leaves, strict=True)), []
    single = g.cast(z, g.precision)
    for tree, share in zip(phi.trees, machine.shares, strict=True):
        of_tree, leaves = leaves[: tree.n_leaves], leaves[tree.n_leaves :]
        if not share.any():
            continue
        if len(of_tree) == 1:
            odds = _of_leaf(g, of_tree[0], single)
        else:
            odds = _of_tree(g, of_tree, _leaf(g, tree, z), single)
        weighted.append(g("Mul", odds, share))
    return g.sum(weighted)  # of which there are some, since shares sum to one


def _of_tree(g: Graph, leaves: Leaves, at: str, z: str) -> str:
    """Log-odds of rows, each by its own leaf."""
    order, odds = [], []
    for place, leaf in enumerate(leaves):
        rows = g.flat(g("NonZero", g("Equal", at, place)))
        order.append(rows)
        odds.append(g.unless_empty(rows, partial(_of_rows, g, leaf, z, rows), len(leaf[1].shifts)))
    gathered = g.beside(odds, axis=0)
    places = g("Reshape", g.beside(order, axis=0), np.array([-1, 1]))
    return g("ScatterND", gathered, places, gathered)  # back in the order of rows


def _of_rows(g: Graph, leaf: tuple[Features, Leaf], z: str, rows: str) -> str:
    return _of_leaf(g, leaf, g("Gather", z, rows, axis=0))


def _of_leaf(g: Graph, leaf: tuple[Features, Leaf], z: str) -> str:
    """ℓ of each pair for the rows of a leaf; by counts alone where it has no machine."""
    features, solved = leaf
    k, n_pairs = len(solved.columns), len(solved.shifts)
    if not k:
        nothing = g.cast(g("Mul", g.columns(z, [0]), g.real(0)), np.float64)
        return g("Add", nothing, solved.shifts[np.newaxis])
    t = projected(g, features, solved.operators, z)
    if k == n_pairs:
        return curved(g, solved.curves, t, solved.shifts)
    placed = np.eye(n_pairs)[solved.columns]  # some classes are (almost) absent
    odds = g("MatMul", curved(g, solved.curves, t, np.zeros(k)), placed)
    return g("Add", odds, solved.shifts[np.newaxis])


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
