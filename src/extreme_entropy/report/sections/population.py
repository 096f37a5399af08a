"""The data: classes, missing values, and a map of decision regions where its axes say something.

One or two columns are a map. More columns are shown by their first two principal components, but
only where the classes lie apart there: where the nearest rows in the plane, the row itself left
out, mostly are of its class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from ...plots.regions import NEIGHBOURS, RegionsDisplay
from ...plots.style import escaped
from ..classifiers import LibraryClassifier
from ..harmless_text import visible
from ..live import in_base64
from ..subject import SectionContent, Subject
from ..svg import WIDE, Picture, draw

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, kw_only=True)
class PopulationContent(SectionContent):
    """The rows that the classifier was evaluated on."""

    missing: list[tuple[str, int]]  # columns with missing values, the most first
    plane: RegionsDisplay | None  # whose picture is among the pictures


def population(subject: Subject) -> PopulationContent:
    """What the rows are, and where they lie."""
    missing = [(name, n) for name, n in subject.about.missing.items() if n]
    plane = regions(subject)
    content = PopulationContent(missing=sorted(missing, key=lambda item: -item[1]), plane=plane)
    if plane is None:
        return content
    pictures = {"plane": _draw(subject, plane)}
    return replace(content, pictures=pictures, script={"plane": _script(subject, plane)})


def regions(subject: Subject) -> RegionsDisplay | None:
    """Rows in a plane and the classes predicted there, or None where that would say little."""
    classifier, evidence = subject.classifier, subject.evidence
    if not isinstance(classifier, LibraryClassifier) or not subject.coloured:
        return None
    display = RegionsDisplay.from_rows(classifier.classifier, evidence.rows, evidence.row_labels)
    if (
        not display.exact
        and separation(display.points, display.labels) < subject.settings.separation
    ):
        return None
    if len(subject.columns) <= 2:
        display.axis_names = (subject.columns[0], "".join(subject.columns[1:]))
    return display


def separation(points: Array, labels: Array) -> float:
    """How well the nearest other rows tell the class of a row: 1 always, 0 as by guessing."""
    k = min(NEIGHBOURS, len(points) - 1)
    near = NearestNeighbors(n_neighbors=k).fit(points).kneighbors(return_distance=False)
    present = np.unique(labels)
    votes = np.stack([(labels[near] == c).sum(axis=1) for c in present], axis=1)
    right = present[votes.argmax(axis=1)] == labels
    recalls = [right[labels == c].mean() for c in present]
    guessing = 1 / len(present)
    return float((np.mean(recalls) - guessing) / (1 - guessing))


def _draw(subject: Subject, display: RegionsDisplay) -> Picture:
    longest = subject.settings.axis_letters
    x, y = (escaped(visible(name, longest)) for name in display.axis_names)

    def plot(ax: Any) -> None:
        display.plot(ax)
        for artist in display.grounds_:
            artist.set_gid("mark-ground")
        display.rings_.set_gid("mark-ring")
        ax.set(xlabel=x, ylabel=y)

    return draw("plane", "Rows in a plane, and the classes predicted there", plot, WIDE)


def _script(subject: Subject, plane: RegionsDisplay) -> dict[str, Any]:
    """What the script needs to colour the map under other costs."""
    bias = subject.classifier.machine_.contrast(0, 1).bias
    return {
        "x": [float(plane.x[0]), float(plane.x[-1]), len(plane.x)],
        "y": [float(plane.y[0]), float(plane.y[-1]), len(plane.y)],
        "ratios": in_base64(plane.scores - bias, np.float32),
        "points": in_base64(plane.points, np.float64),
        "labels": plane.labels.tolist(),
        "own": in_base64(plane.own - bias, np.float64),
    }
