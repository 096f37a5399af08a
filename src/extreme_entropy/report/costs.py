"""What mistakes cost: as stated, as the classifier's priors weigh them, and where they cost least.

With priors π and costs C the decision between two classes minimises the expected cost on rows of
those frequencies. On rows with other frequencies, n₊ and n₋, it is as if missing the rarer class
cost (π₊C₊/π₋C₋) / (n₊/n₋) false alarms. A classifier with equal priors thus takes a rare row for as
important as all the common rows that there are for each of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .classifiers import Reported
from .evidence import Evidence
from .ranking import Point, Ranking

Array = np.ndarray[Any, Any]

ALIKE = 1.1  # weights that differ by less are taken for the same


@dataclass(frozen=True, slots=True)
class Economy:
    """Mistakes of a classifier of two classes on all rows, and what they cost."""

    miss: float  # stated cost of missing a row of the class to be found
    alarm: float  # stated cost of a false alarm
    stated: bool  # whether somebody gave them
    weight: float  # false alarms that the classifier's decisions take a miss for
    total: float  # rows of the class to be found
    now: Point
    cheapest: Point  # at the stated costs

    @property
    def agrees(self) -> bool:
        """Whether the classifier decides by the stated costs and the frequencies of the rows."""
        ratio = self.weight * self.alarm / self.miss
        return 1 / ALIKE < ratio < ALIKE

    def cost(self, point: Point) -> float:
        """At the stated costs."""
        return (self.total - point.found) * self.miss + (point.flagged - point.found) * self.alarm

    def weighed(self, point: Point) -> float:
        """In false alarms, as the classifier's decisions weigh them."""
        return (self.total - point.found) * self.weight + point.flagged - point.found

    @property
    def nothing(self) -> Point:
        """Flagging no row."""
        return Point(0.0, 0.0)


def costs_of(classifier: Reported) -> Array:
    """The cost of taking a row of each class (down) for each class (across), as it was given."""
    # Twelve digits: a logarithm gives back 7.3 as 7.300000000000001.
    found = [[float(f"{cost:.12g}") for cost in row] for row in classifier.machine_.costs]
    return np.array(found)


def class_costs(classifier: Reported) -> list[float]:
    """The cost of misclassifying a row of each class, the largest where it depends on the other."""
    return costs_of(classifier).max(axis=1).tolist()


def economy(classifier: Reported, evidence: Evidence, ranking: Ranking, rare: int) -> Economy:
    """What the mistakes of a classifier of two classes cost."""
    machine, costs, confusion = classifier.machine_, class_costs(classifier), evidence.confusion
    weights = machine.log_priors + machine.log_costs - np.log(evidence.counts)
    now = Point(float(confusion[:, rare].sum()), float(confusion[rare, rare]))
    miss, alarm = costs[rare], costs[1 - rare]
    return Economy(
        miss=miss,
        alarm=alarm,
        stated=classifier.stated_costs,
        weight=float(np.exp(weights[rare] - weights[1 - rare])),
        total=float(evidence.counts[rare]),
        now=now,
        cheapest=ranking.point(ranking.cheapest(miss, alarm)),
    )
