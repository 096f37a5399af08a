"""What the page's script needs to move the thresholds: closed form, values of rows, frames."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..plots.inputs import log_odds_bias
from ..plots.regions import RegionsDisplay
from .classifiers import Reported
from .costs import class_costs
from .evidence import Evidence
from .svg import Picture

Array = np.ndarray[Any, Any]

MOST_ROWS = 20_000  # are on the page one by one
SURE = 5_000  # most suspicious rows of a class of more, which are there one by one
QUANTILES = 5_000  # stand for its other rows


def live_data(
    classifier: Reported,
    names: list[str],
    evidence: Evidence,
    rare: int,
    pictures: dict[str, Picture],
    plane: RegionsDisplay | None,
) -> dict[str, Any]:
    """Plain values of a classifier of two classes, for the script."""
    machine = classifier.machine_
    gaussian = machine.curves[0]
    (s0, s1), counts = gaussian.variances, evidence.counts
    parts = points_of(classifier, evidence)
    data = {
        "classes": names,
        "rare": rare,
        "counts": counts.tolist(),
        "confusion": evidence.confusion.tolist(),
        "pair": {
            "means": list(gaussian.means),
            "variances": [s0, s1],
            "logVarianceRatio": float(np.log(s0 / s1)),
        },
        "logPriors": {
            "model": machine.log_priors.tolist(),
            "rows": np.log(counts / counts.sum()).tolist(),
        },
        "costs": class_costs(classifier),
        "points": [in_base64(part.values, np.float64) for part in parts],
        "exact": [part.exact for part in parts],
        "weights": [part.weights for part in parts],
        "frames": {name: picture.frame for name, picture in pictures.items()},
    }
    if plane is not None:
        bias = log_odds_bias(classifier)
        data["plane"] = {
            "x": [float(plane.x[0]), float(plane.x[-1]), len(plane.x)],
            "y": [float(plane.y[0]), float(plane.y[-1]), len(plane.y)],
            "ratios": in_base64(plane.scores - bias, np.float32),
            "points": in_base64(plane.points, np.float64),
            "labels": plane.labels.tolist(),
            "own": in_base64(plane.own - bias, np.float64),
        }
    return data


@dataclass(frozen=True, slots=True)
class Points:
    """Values t of a class: some rows one by one, and quantiles of the others."""

    values: Array
    exact: int  # how many of them are rows
    weights: tuple[float, float]  # rows that each of the first, and of the others, stands for


def is_exact(evidence: Evidence) -> bool:
    """Whether the page has every row, so that its counts under any costs are exact."""
    return bool(evidence.counts.sum() <= MOST_ROWS)


def points_of(classifier: Reported, evidence: Evidence) -> list[Points]:
    """The values of each of two classes.

    Of a class with too many rows, the most suspicious are there one by one, among which costs
    move the decision, and quantiles stand for the others.
    """
    values = classifier.pair_values(evidence.values, 0)
    sign = (-1, 1)[evidence.rare]
    found = []
    for c in range(2):
        own = values[evidence.labels == c]
        share = float(evidence.counts[c] / len(own))
        ratio = sign * classifier.machine_.curves[0].log_ratio(own)
        own = own[np.argsort(-ratio, kind="stable")]
        if is_exact(evidence) or len(own) <= SURE + QUANTILES:
            found.append(Points(own, len(own), (share, 0.0)))
            continue
        rest = own[SURE:]
        steps = ((np.arange(QUANTILES) + 0.5) / QUANTILES * len(rest)).astype(int)
        weight = share * len(rest) / QUANTILES
        found.append(Points(np.concatenate([own[:SURE], rest[steps]]), SURE, (share, weight)))
    return found


def in_base64(values: Array, dtype: Any) -> str:
    """Numbers as base64, lowest byte first."""
    numbers = np.asarray(values, np.dtype(dtype).newbyteorder("<"))
    return base64.b64encode(numbers.tobytes()).decode()
