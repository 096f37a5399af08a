"""What the page's script needs to move the thresholds: closed form, projections, frames."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from ..plots.inputs import log_odds_bias
from ..plots.regions import RegionsDisplay
from .evidence import Evidence
from .svg import Picture

Array = np.ndarray[Any, Any]

MOST_ROWS = 20_000  # are kept one by one
QUANTILES = 10_000  # stand for a class of more rows


def live_data(
    classifier: Any,
    names: list[str],
    evidence: Evidence,
    rare: int,
    pictures: dict[str, Picture],
    plane: RegionsDisplay,
) -> dict[str, Any]:
    """Plain values of a classifier of two classes, for the script."""
    machine = classifier.machine_
    gaussian = machine.gaussians[0]
    (s0, s1), counts = gaussian.variances, evidence.counts(2)
    bias = log_odds_bias(classifier)
    return {
        "classes": names,
        "rare": rare,
        "counts": counts.tolist(),
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
        "points": [in_base64(part, np.float64) for part in sorted_projections(evidence)],
        "frames": {name: picture.frame for name, picture in pictures.items()},
        "plane": {
            "x": [float(plane.x[0]), float(plane.x[-1]), len(plane.x)],
            "y": [float(plane.y[0]), float(plane.y[-1]), len(plane.y)],
            "ratios": in_base64(plane.scores - bias, np.float32),
            "points": in_base64(plane.points, np.float64),
            "labels": plane.labels.tolist(),
            "own": in_base64(plane.own - bias, np.float64),
        },
    }


def class_costs(classifier: Any) -> list[float]:
    """The cost of each class, as it was given."""
    given = classifier.costs or {}
    return [float(given.get(label, 1.0)) for label in classifier.classes_.tolist()]


def sorted_projections(evidence: Evidence) -> list[Array]:
    """Sorted projections of each class; quantiles of them where there are too many rows."""
    parts = [np.sort(evidence.projections[evidence.labels == c, 0]) for c in range(2)]
    if len(evidence.labels) <= MOST_ROWS:
        return parts
    middles = (np.arange(QUANTILES) + 0.5) / QUANTILES
    return [part if len(part) <= QUANTILES else np.quantile(part, middles) for part in parts]


def in_base64(values: Array, dtype: Any) -> str:
    """Numbers as base64, lowest byte first."""
    numbers = np.asarray(values, np.dtype(dtype).newbyteorder("<"))
    return base64.b64encode(numbers.tobytes()).decode()
