"""Rows of two classes from the most to the least suspicious, and what flagging the first gives.

They are ordered by r, the log-ratio of the class to be found: the order of its probability.
Flagging the first k finds some and raises false alarms; with n rows of that class, costs are

    cost(k) = (n − found(k)) C_miss + (k − found(k)) C_alarm

`assets/ranking.js` does the same in the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .classifiers import Reported
from .evidence import Evidence

Array = np.ndarray[Any, Any]


class Point(NamedTuple):
    """An operating point: rows flagged, and those among them that are of the class."""

    flagged: float
    found: float

    @property
    def precision(self) -> float:
        """The share of the class among the rows flagged; NaN where there are none."""
        return self.found / self.flagged if self.flagged else float("nan")


@dataclass(frozen=True, slots=True)
class Ranking:
    """What flagging rows gives, for every number of rows that can be cut off."""

    ratios: Array  # r of the last row flagged, decreasing; the first flags none   (m + 1,)
    flagged: Array  # rows                                                         (m + 1,)
    found: Array  # of them, of the class to be found                              (m + 1,)

    @property
    def total(self) -> float:
        """Rows of the class to be found."""
        return float(self.found[-1])

    @property
    def rows(self) -> float:
        """All rows."""
        return float(self.flagged[-1])

    def point(self, k: int) -> Point:
        """The k-th point."""
        return Point(float(self.flagged[k]), float(self.found[k]))

    def costs(self, miss: float, alarm: float) -> Array:
        """The cost of all mistakes at each point."""
        return (self.total - self.found) * miss + (self.flagged - self.found) * alarm

    def cheapest(self, miss: float, alarm: float) -> int:
        """The point at which mistakes cost least on these rows; of several, the fewest flagged."""
        return int(self.costs(miss, alarm).argmin())

    def found_within(self, rows: float) -> float:
        """Rows of the class among so many of the most suspicious; ties are cut in proportion."""
        return float(np.interp(rows, self.flagged, self.found))


def rank(classifier: Reported, evidence: Evidence, rare: int) -> Ranking:
    """The rows of two classes, ordered by the log-ratio of the class `rare`."""
    values = classifier.pair_values(evidence.values, 0)
    ratio = (-1, 1)[rare] * classifier.machine_.curves[0].log_ratio(values)
    order = np.argsort(-ratio, kind="stable")
    ratio, weights = ratio[order], evidence.weights[order]
    own = weights * (evidence.labels[order] == rare)
    last = np.flatnonzero(np.append(ratio[1:] != ratio[:-1], True))  # of those with equal r
    return Ranking(
        np.concatenate([[np.inf], ratio[last]]),
        np.concatenate([[0.0], np.cumsum(weights)[last]]),
        np.concatenate([[0.0], np.cumsum(own)[last]]),
    )
