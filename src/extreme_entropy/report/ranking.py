"""Rows of two classes from the most to the least suspicious, and what flagging the first gives.

They are ordered by r, the log-ratio of the class to be found: the order of its probability.
Flagging the first k finds some and raises false alarms; with n rows of that class, costs are

    cost(k) = (n − found(k)) C_miss + (k − found(k)) C_alarm

`assets/ranking.js` does the same in the page.

With priors π and costs C the decision between two classes minimises the expected cost on rows of
those frequencies. On rows with other frequencies, n₊ and n₋, it is as if missing the rarer class
cost (π₊C₊/π₋C₋) / (n₊/n₋) false alarms. A classifier with equal priors thus takes a rare row for as
important as all the common rows that there are for each of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .classifiers import Reported
from .evidence import Evidence

Array = np.ndarray[Any, Any]


class OperatingPoint(NamedTuple):
    """Rows flagged, and those among them that are of the class to be found; or arrays of such."""

    flagged: Any
    found: Any

    @property
    def alarms(self) -> Any:
        """Rows flagged that are not of the class."""
        return self.flagged - self.found

    @property
    def precision(self) -> float:
        """The share of the class among the rows flagged; NaN where there are none."""
        return self.found / self.flagged if self.flagged else float("nan")

    def cost(self, total: float, miss: float, alarm: float) -> Any:
        """Of all mistakes, if so many rows are of the class."""
        return (total - self.found) * miss + self.alarms * alarm


@dataclass(frozen=True, slots=True)
class Ranking:
    """What flagging rows gives, for every number of rows that can be cut off."""

    points: OperatingPoint  # arrays, of which the first point flags no row   (m + 1,)

    @property
    def total(self) -> float:
        """Rows of the class to be found."""
        return float(self.points.found[-1])

    @property
    def rows(self) -> float:
        """All rows."""
        return float(self.points.flagged[-1])

    def cheapest(self, miss: float, alarm: float) -> OperatingPoint:
        """Where mistakes cost least on these rows; of several such points, the fewest flagged."""
        k = int(self.points.cost(self.total, miss, alarm).argmin())
        return OperatingPoint(float(self.points.flagged[k]), float(self.points.found[k]))

    def found_within(self, rows: Any) -> Any:
        """Rows of the class among so many of the most suspicious; ties are cut in proportion."""
        return np.interp(rows, self.points.flagged, self.points.found)


def rank(classifier: Reported, evidence: Evidence, rare: int) -> Ranking:
    """The rows of two classes, ordered by the log-ratio of the class `rare`."""
    values = evidence.values[:, 0]
    ratio = (-1, 1)[rare] * classifier.machine_.curves[0].log_ratio(values)
    order = np.argsort(-ratio, kind="stable")
    ratio, weights = ratio[order], evidence.weights[order]
    of_class = weights * (evidence.labels[order] == rare)
    last = np.flatnonzero(np.append(ratio[1:] != ratio[:-1], True))  # of those with equal r
    flagged, found = (np.append(0.0, np.cumsum(n)[last]) for n in (weights, of_class))
    return Ranking(OperatingPoint(flagged, found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Economy:
    """Mistakes of a classifier of two classes on all rows, and what they cost."""

    miss: float  # stated cost of missing a row of the class to be found
    alarm: float  # stated cost of a false alarm
    stated: bool  # whether somebody gave them
    weight: float  # false alarms that the classifier's decisions take a miss for
    agrees: bool  # whether that follows from the stated costs and the frequencies of the rows
    total: float  # rows of the class to be found
    now: OperatingPoint
    cheapest: OperatingPoint  # at the stated costs

    @property
    def nothing(self) -> OperatingPoint:
        """Flagging no row."""
        return OperatingPoint(0.0, 0.0)

    def cost(self, point: OperatingPoint) -> Any:
        """At the stated costs."""
        return point.cost(self.total, self.miss, self.alarm)


def economy(
    classifier: Reported, evidence: Evidence, ranking: Ranking, same_weight: float
) -> Economy:
    """What the mistakes of a classifier of two classes cost.

    Weights of a miss that differ by a factor below `same_weight` are taken for the same.
    """
    machine, evaluation, rare = classifier.machine_, evidence.evaluation, evidence.rare
    weights = machine.log_priors + machine.log_costs - np.log(evaluation.counts)
    weight = float(np.exp(weights[rare] - weights[1 - rare]))
    miss, alarm = evaluation.class_costs[rare], evaluation.class_costs[1 - rare]
    flagged = evaluation.confusion[:, rare]
    return Economy(
        miss=miss,
        alarm=alarm,
        stated=classifier.stated_costs,
        weight=weight,
        agrees=1 / same_weight < weight * alarm / miss < same_weight,
        total=float(evaluation.counts[rare]),
        now=OperatingPoint(float(flagged.sum()), float(flagged[rare])),
        cheapest=ranking.cheapest(miss, alarm),
    )
