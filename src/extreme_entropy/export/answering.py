"""Projections ↦ log-odds ↦ probabilities and labels as ONNX operators, in double precision.

The probabilities p of Wu, Lin and Weng (`machine.coupling`) solve Qp = −λ1 with Σp = 1. Then
(Q + 11ᵀ)p = (1 − λ)1, so that p is the solution of (Q + 11ᵀ)x = 1, divided by its sum. The matrix
is positive definite, and none of its eigenvalues is small, so that Gauss and Jordan's elimination
needs no pivots: one step for each class, on all rows at once. The default's are a softmax.
"""

from __future__ import annotations

import numpy as np

from ..machine.machine import Decision
from ..tolerances import CERTAIN, TINY
from .graph import ROWS, Graph, Tensor


def log_ratios(g: Graph, decision: Decision, t: str) -> str:
    """Log-odds of the second class of each pair at equal priors   (n, pairs)."""
    means = np.array([curve.means for curve in decision.curves])
    variances = np.array([curve.variances for curve in decision.curves])
    equal = variances[:, 0] == variances[:, 1]  # where squares would cancel
    terms = []
    if equal.any():
        slopes = np.where(equal, (means[:, 1] - means[:, 0]) / variances[:, 0], 0.0)
        terms.append(g("Mul", g("Sub", t, means.mean(axis=1)), slopes))
    if not equal.all():
        halves = np.where(equal[:, np.newaxis], 0.0, [0.5, -0.5] / variances)
        for mean, half in zip(means.T, halves.T, strict=True):
            apart = g("Sub", t, mean)
            terms.append(g("Mul", g("Mul", apart, apart), half))
    return g("Add", g.sum(terms), 0.5 * np.log(variances[:, 0] / variances[:, 1]))


def log_likelihoods(g: Graph, decision: Decision, ratios: str) -> str:
    """ln p at equal priors, but for a constant of a row (n, classes); of two, log-odds (n, 1)."""
    if len(decision.pairs) == 1:
        return ratios
    if decision.has_logits:
        return g.beside([g("Mul", g.columns(ratios, [0]), 0.0), ratios])
    return g("Log", _coupled(g, decision, ratios))


def probabilities(g: Graph, decision: Decision, likelihoods: str) -> str:
    """p of each class   (n, classes)."""
    if len(decision.pairs) == 1:
        odds = g("Add", likelihoods, decision.log_priors[1] - decision.log_priors[0])
        return g.beside([g("Sigmoid", g("Neg", odds)), g("Sigmoid", odds)])
    return g("Softmax", g("Add", likelihoods, decision.log_priors), axis=1)


def _coupled(g: Graph, decision: Decision, odds: str) -> str:
    """p of each class from the log-odds of pairs   (n, classes)."""
    k = len(decision.log_priors)
    pairs = np.arange(len(decision.pairs))
    first, second = np.array(decision.pairs).T
    at = np.zeros((k, k), np.int64)
    at[second, first], at[first, second] = pairs, len(pairs) + pairs
    of_second = g("Sigmoid", odds)
    of_pairs = g.beside([of_second, g("Sub", 1.0, of_second)])
    of_pairs = g("Clip", of_pairs, CERTAIN, 1 - CERTAIN)
    unit = np.eye(k)
    r = g("Reshape", g.columns(of_pairs, at.ravel()), np.array([-1, k, k]))
    r = g("Mul", r, 1 - unit)  # r_ij, and nothing on the diagonal
    diagonal = g("ReduceSum", g("Mul", r, r), np.array([1]), keepdims=1)  # Q_jj   (n, 1, k)
    across = g("Mul", r, g("Transpose", r, perm=[0, 2, 1]))
    system = g("Add", g("Sub", g("Mul", diagonal, unit), across), 1.0)  # Q + 11ᵀ
    ones = g("Add", g("Mul", g("Gather", system, np.array([0]), axis=2), 0.0), 1.0)

    def eliminate(names: list[str]) -> str:
        """Make column j of a system that of the unit matrix."""
        system, j = names[0], g("Reshape", names[1], np.array([1]))
        row, column = (g("Gather", system, j, axis=axis) for axis in (1, 2))
        row = g("Div", row, g("Gather", row, j, axis=2))
        factors = g("Sub", column, g("Gather", unit, j, axis=1))
        return g("Sub", system, g("Mul", factors, row))

    start = Tensor(g.beside([system, ones], axis=2), np.float64, (ROWS, k, k + 1))
    solved = g.repeat(eliminate, start, [Tensor(np.arange(k), np.int64, ())])
    x = g("Gather", solved, np.array(k), axis=2)
    p = g("Max", g("Div", x, g.row_sums(x)), CERTAIN**2)  # positive but for rounding
    return g("Div", p, g.row_sums(p))


def scores(g: Graph, decision: Decision, likelihoods: str, p: str) -> str:
    """What decides: log-odds with costs of two classes (n, 1), or ln(C p / Σ C p) of each class.

    With a matrix of costs it is minus the logarithm of what each class is expected to cost.
    """
    if len(decision.pairs) == 1:
        return g("Add", likelihoods, decision.contrast(0, 1).bias)
    if decision.cost_matrix is not None:
        return g("Neg", g("Log", g("Max", g("MatMul", p, decision.cost_matrix), TINY)))
    weights = decision.log_priors + decision.log_costs
    return g("LogSoftmax", g("Add", likelihoods, weights), axis=1)


def largest(g: Graph, scored: str, n_scores: int) -> str:
    """The position of the class of each row: that of the largest score, or by the sign of one."""
    if n_scores == 1:
        return g.flat(g.cast(g("Greater", scored, 0.0), np.int64))
    return g("ArgMax", scored, axis=1, keepdims=0)
