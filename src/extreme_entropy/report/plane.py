"""The map of decision regions, where its axes say something.

One or two columns are a map. More columns are shown by their first two principal components, but
only where the classes lie apart there: where the nearest rows in the plane, the row itself left
out, mostly are of its class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from ..plots.regions import NEIGHBOURS, RegionsDisplay
from ..plots.style import escaped
from .classifiers import LibraryClassifier, Reported
from .evidence import Evidence
from .pictures import MOST_LETTERS, WIDE
from .svg import Picture, draw
from .text import visible

Array = np.ndarray[Any, Any]

MOST_CLASSES = 6  # that have a colour each
APART = 0.7  # of what a perfect map would have over guessing


def draw_plane(
    classifier: Reported, evidence: Evidence, names: list[str]
) -> tuple[RegionsDisplay, Picture] | None:
    """Rows in a plane and the classes predicted there, or None where that would say little."""
    if not isinstance(classifier, LibraryClassifier) or len(classifier.classes_) > MOST_CLASSES:
        return None
    display = RegionsDisplay.from_rows(classifier.classifier, evidence.rows, evidence.row_labels)
    if not display.exact and separation(display.points, display.labels) < APART:
        return None
    d = evidence.rows.shape[1]
    if d <= 2:
        display.axis_names = (names[0], names[1] if d == 2 else "")
    x, y = (escaped(visible(name, MOST_LETTERS)) for name in display.axis_names)

    def plot(ax: Any) -> None:
        display.plot(ax)
        for artist in display.grounds_:
            artist.set_gid("mark-ground")
        display.rings_.set_gid("mark-ring")
        ax.set(xlabel=x, ylabel=y)

    title = "Rows in a plane, and the classes predicted there"
    return display, draw("plane", title, plot, WIDE)


def separation(points: Array, labels: Array) -> float:
    """How well the nearest other rows tell the class of a row: 1 always, 0 as by guessing."""
    k = min(NEIGHBOURS, len(points) - 1)
    near = NearestNeighbors(n_neighbors=k).fit(points).kneighbors(return_distance=False)
    present = np.unique(labels)
    votes = np.stack([(labels[near] == c).sum(axis=1) for c in present], axis=1)
    found = present[votes.argmax(axis=1)] == labels
    recalls = [found[labels == c].mean() for c in present]
    guessing = 1 / len(present)
    return float((np.mean(recalls) - guessing) / (1 - guessing))
