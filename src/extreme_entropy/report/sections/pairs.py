"""How two classes are separated: the rows of each pair by what the classifier makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit

from ...machine.machine import all_pairs
from ...plots.projection import ProjectionDisplay
from ...plots.style import escaped
from ..harmless_text import visible
from ..numbers import probability
from ..subject import SectionContent, Subject
from ..svg import WIDE, Picture, draw

PROBABILITIES = (1e-6, 1e-4, 1e-2, 0.1, 0.5, 0.9, 0.99, 0.9999, 1 - 1e-6)  # that have a tick


@dataclass(frozen=True, slots=True)
class PairPicture:
    """The values of two classes."""

    classes: tuple[int, int]
    picture: Picture
    thresholds: tuple[float, ...]  # in view
    outside: int  # rows that are not in view


@dataclass(frozen=True, kw_only=True)
class PairsContent(SectionContent):
    """Pictures of pairs of classes."""

    pairs: list[PairPicture]
    left_out: int  # pairs


def pairs(subject: Subject) -> PairsContent | None:
    """Each pair of more than two classes; of very many pairs those with the most mistakes."""
    if subject.two is not None:
        return None
    confusion = subject.evaluation.confusion
    mistakes, two_classes = confusion + confusion.T, all_pairs(len(confusion))
    with_rows = [p for p, two in enumerate(two_classes) if all(subject.counts[c] for c in two)]
    hardest = sorted(with_rows, key=lambda p: (-mistakes[two_classes[p]], p))
    shown = [draw_pair(subject, p) for p in hardest[: subject.settings.pairs]]
    return PairsContent(pairs=shown, left_out=len(hardest) - len(shown))


def draw_pair(subject: Subject, pair: int = 0) -> PairPicture:
    """The rows of two classes, and where the decision between them changes."""
    classifier, evidence = subject.classifier, subject.evidence
    i, j = all_pairs(len(subject.classes))[pair]
    contrast = classifier.machine_.contrast(i, j)
    display = ProjectionDisplay.from_projections(
        classifier, evidence.values @ contrast.weights, evidence.labels, pair=pair
    )

    def plot(ax: Any) -> None:
        display.plot(ax)
        for line in display.threshold_lines_:
            line.set_gid("mark-threshold")
        for region in display.regions_:
            region.set_gid("mark-region")
        ax.set(xlabel="projected value", ylabel="share of the class")
        ax.set_yticks([])
        if not classifier.gaussian:
            _name_probabilities(ax, subject, (i, j))

    title = "Rows of both classes by what the model makes of them"
    picture = draw(f"projection{pair}", title, plot, WIDE)
    low, high = sorted(picture.frame["x"][:2])
    shown = display.projections
    return PairPicture(
        (i, j),
        picture,
        tuple(t for t in display.thresholds.tolist() if low < t < high),
        int(((shown < low) | (shown > high)).sum()),
    )


def _name_probabilities(ax: Any, subject: Subject, two: tuple[int, int]) -> None:
    """Ticks at probabilities under the frequencies of the rows, where log-odds are straight."""
    (i, j), n = two, subject.counts
    curve = subject.classifier.machine_.contrast(i, j).curve
    towards = j if n[j] <= n[i] else i
    odds = logit(np.array(PROBABILITIES)) * (1 if towards == j else -1)
    at = (odds - np.log(n[j] / n[i])) / float(curve.slope(np.zeros(1))[0])
    low, high = ax.get_xlim()
    if towards == i:
        ax.invert_xaxis()  # larger probabilities to the right
    seen = [k for k in range(len(at)) if low < at[k] < high]
    ax.set_xticks(at[seen], [probability(PROBABILITIES[k]) for k in seen])
    name = escaped(visible(subject.classes[towards], subject.settings.axis_letters))
    ax.set_xlabel(f"probability of {name}")
