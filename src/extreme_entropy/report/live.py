"""What the page's script needs to move the thresholds: closed form, projections, frames."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from ..plots.regions import RegionsDisplay
from .evidence import Evidence
from .svg import Picture

Array = np.ndarray[Any, Any]

MOST_ROWS = 20_000  # are kept one by one
QUANTILES = 10_000  # stand for a class of more rows


def live_data(
    machine: Any,
    names: list[str],
    evidence: Evidence,
    rare: int,
    pictures: dict[str, Picture],
    plane: RegionsDisplay,
) -> dict[str, Any]:
    """Plain values of a machine of two classes, for the script."""
    solved = machine.machine_
    gaussian = solved.gaussians[0]
    (s0, s1), counts = gaussian.variances, evidence.counts(2)
    points = points_of(evidence)
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
            "machine": solved.log_priors.tolist(),
            "rows": np.log(counts / counts.sum()).tolist(),
        },
        "costs": costs_of(machine),
        "points": [packed(part, np.float64) for part in points],
        "frames": {name: picture.frame for name, picture in pictures.items()},
        "plane": _plane(machine, plane),
    }


def costs_of(machine: Any) -> list[float]:
    """The cost of each class, as it was given."""
    given = machine.costs or {}
    return [float(given.get(label, 1.0)) for label in machine.classes_.tolist()]


def points_of(evidence: Evidence) -> list[Array]:
    """Sorted projections of each class; quantiles of them where there are too many rows."""
    parts = [np.sort(evidence.projections[evidence.labels == c, 0]) for c in range(2)]
    if len(evidence.labels) <= MOST_ROWS:
        return parts
    middles = (np.arange(QUANTILES) + 0.5) / QUANTILES
    return [part if len(part) <= QUANTILES else np.quantile(part, middles) for part in parts]


def packed(values: Array, dtype: Any) -> str:
    """Numbers as base64, lowest byte first."""
    return base64.b64encode(
        np.asarray(values, np.dtype(dtype).newbyteorder("<")).tobytes()
    ).decode()


def _plane(machine: Any, plane: RegionsDisplay) -> dict[str, Any]:
    stakes = machine.machine_.log_priors + machine.machine_.log_costs
    return {
        "x": [float(plane.x[0]), float(plane.x[-1]), len(plane.x)],
        "y": [float(plane.y[0]), float(plane.y[-1]), len(plane.y)],
        "ratios": packed(plane.scores - (stakes[1] - stakes[0]), np.float32),
        "points": packed(plane.points, np.float64),
        "labels": plane.labels.tolist(),
        "own": packed(plane.own - (stakes[1] - stakes[0]), np.float64),
    }
