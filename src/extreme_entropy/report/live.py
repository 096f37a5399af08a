"""What the page's script needs to move the thresholds: closed form, values of rows, frames."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .classifiers import Reported
from .evidence import Evidence
from .report_settings import ReportSettings
from .subject import SectionContent, Subject

Array = np.ndarray[Any, Any]


def live_data(subject: Subject, contents: Iterable[SectionContent]) -> dict[str, Any]:
    """Plain values of a classifier of two classes, for the script; of more it needs none."""
    if subject.two is None:
        return {}
    machine, evaluation = subject.classifier.machine_, subject.evaluation
    gaussian = machine.curves[0]
    (s0, s1), counts = gaussian.variances, evaluation.counts
    points = points_of(subject.classifier, subject.evidence, subject.settings)
    data: dict[str, Any] = {
        "classes": subject.classes,
        "rare": subject.two.rare,
        "counts": counts.tolist(),
        "confusion": evaluation.confusion.tolist(),
        "pair": {
            "means": list(gaussian.means),
            "variances": [s0, s1],
            "logVarianceRatio": float(np.log(s0 / s1)),
        },
        "logPriors": {
            "model": machine.log_priors.tolist(),
            "rows": np.log(counts / counts.sum()).tolist(),
        },
        "costs": evaluation.class_costs,
        "points": [in_base64(part.values, np.float64) for part in points],
        "exact": [part.exact for part in points],
        "weights": [part.weights for part in points],
        "frames": {},
    }
    for content in contents:
        data["frames"] |= {name: picture.frame for name, picture in content.pictures.items()}
        data |= content.script
    return data


@dataclass(frozen=True, slots=True)
class ClassPoints:
    """Values t of a class: some rows one by one, and quantiles of the others."""

    values: Array
    exact: int  # how many of them are rows
    weights: tuple[float, float]  # rows that each of the first, and of the others, stands for


def points_of(
    classifier: Reported, evidence: Evidence, settings: ReportSettings
) -> list[ClassPoints]:
    """The values of each of two classes.

    Of a class with too many rows, the most suspicious are there one by one, among which costs
    move the decision, and quantiles stand for the others.
    """
    values = evidence.values[:, 0]
    sure, quantiles = settings.sure_rows, settings.quantiles
    exact = evidence.evaluation.rows <= settings.page_rows  # counts under any costs
    points = []
    for c in range(2):
        of_class = values[evidence.labels == c]
        share = float(evidence.counts[c] / len(of_class))
        ratio = (-1, 1)[evidence.rare] * classifier.machine_.curves[0].log_ratio(of_class)
        of_class = of_class[np.argsort(-ratio, kind="stable")]
        if exact or len(of_class) <= sure + quantiles:
            points.append(ClassPoints(of_class, len(of_class), (share, 0.0)))
            continue
        rest = of_class[sure:]
        steps = ((np.arange(quantiles) + 0.5) / quantiles * len(rest)).astype(int)
        weight = share * len(rest) / quantiles
        shown = np.concatenate([of_class[:sure], rest[steps]])
        points.append(ClassPoints(shown, sure, (share, weight)))
    return points


def in_base64(values: Array, dtype: Any) -> str:
    """Numbers as base64, lowest byte first."""
    numbers = np.asarray(values, np.dtype(dtype).newbyteorder("<"))
    return base64.b64encode(numbers.tobytes()).decode()
