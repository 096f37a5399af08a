"""Are models different over many data sets? Mean ranks and the tests that go with them.

A table of scores, N data sets × k models, is ranked within each data set (1 is best, ties share
their mean rank). After Demšar (JMLR 7, 2006):

- Friedman, as Iman and Davenport put it: F = (N−1)χ² / (N(k−1) − χ²), with k−1 and (k−1)(N−1)
  degrees of freedom. Do all models rank alike?
- Nemenyi: two mean ranks differ if they are at least CD = q √(k(k+1) / 6N) apart, q being the
  studentised range's quantile over √2.
- Wilcoxon's signed ranks against one model, with Holm's correction for k−1 comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import f, friedmanchisquare, rankdata, studentized_range, wilcoxon

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's test in Iman and Davenport's form."""

    statistic: float  # F
    freedom: tuple[int, int]
    p: float


def mean_ranks(scores: Array) -> Array:
    """Mean rank of each column; larger scores are better."""
    return np.asarray(rankdata(-scores, axis=1).mean(axis=0))


def friedman(scores: Array) -> Friedman:
    """Whether columns rank alike; needs three of them and two rows."""
    n, k = scores.shape
    freedom = k - 1, (k - 1) * (n - 1)
    if (scores == scores[:, :1]).all():  # all tied: χ² would be 0/0
        return Friedman(0.0, freedom, 1.0)
    chi2 = float(friedmanchisquare(*scores.T).statistic)  # corrected for ties
    left = n * (k - 1) - chi2
    # Where all rows rank alike there is nothing left, but for rounding.
    statistic = (n - 1) * chi2 / left if left > 1e-9 * n * k else float("inf")
    return Friedman(statistic, freedom, float(f.sf(statistic, *freedom)))


def critical_difference(k: int, n: int, level: float = 0.05) -> float:
    """Nemenyi's, between mean ranks of k columns over n rows."""
    q = studentized_range.ppf(1 - level, k, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n)))


def groups(ranks: Array, difference: float) -> list[list[int]]:
    """Largest groups of columns, best first, whose ranks are less than the difference apart."""
    order = np.argsort(ranks, kind="stable")
    found: list[list[int]] = []
    for start in range(len(order)):
        group = [int(i) for i in order[start:] if ranks[i] - ranks[order[start]] < difference]
        if len(group) > 1 and not (found and set(group) <= set(found[-1])):
            found.append(group)
    return found


def against(scores: Array, one: int) -> Array:
    """Holm's p of Wilcoxon's test of each column against one, whose own place holds NaN."""
    others = [j for j in range(scores.shape[1]) if j != one]
    p = np.full(scores.shape[1], np.nan)
    p[others] = holm([_signed_ranks(scores[:, one] - scores[:, j]) for j in others])
    return p


def _signed_ranks(differences: Array) -> float:
    """Wilcoxon's p; data sets without a difference say nothing and are left out."""
    differences = differences[differences != 0]
    return float(wilcoxon(differences).pvalue) if len(differences) else 1.0


def holm(p: list[float]) -> Array:
    """p-values corrected step by step: the smallest times their number, the next times one less."""
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(factors * np.asarray(p)[order]), 1.0)
    return corrected
