"""The pictures of a report, each drawn into the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit

from ..plots.operating import OperatingDisplay, Panel
from ..plots.path import PathDisplay
from ..plots.projection import ProjectionDisplay
from ..plots.relevance import RelevanceDisplay
from ..plots.style import escaped
from .about import About
from .classifiers import Reported
from .columns import MOST_BARS, ImportantColumns
from .evidence import Evidence
from .numbers import probability
from .scores import Predictions
from .svg import Picture, draw
from .text import visible

Array = np.ndarray[Any, Any]

WIDE, SQUARE = (460, 300), (330, 320)
MOST_LETTERS = 28  # of a name beside an axis
MOST_PAIRS = 28
PROBABILITIES = (1e-6, 1e-4, 1e-2, 0.1, 0.5, 0.9, 0.99, 0.9999, 1 - 1e-6)  # that have a tick


@dataclass(frozen=True, slots=True)
class PairPicture:
    """The values of two classes."""

    classes: tuple[int, int]
    picture: Picture
    thresholds: tuple[float, ...]  # in view
    outside: int  # rows that are not in view


def draw_pairs(classifier: Reported, evidence: Evidence, names: list[str]) -> list[PairPicture]:
    """The values of each pair of classes with rows; of very many the least separated."""
    machine, counts = classifier.machine_, evidence.counts
    pairs = [p for p, two in enumerate(machine.pairs) if all(counts[c] for c in two)]
    mistakes = evidence.confusion + evidence.confusion.T
    hardest = sorted(pairs, key=lambda p: (-mistakes[machine.pairs[p]], p))[:MOST_PAIRS]
    return [_draw_pair(classifier, evidence, names, p) for p in hardest]


def _draw_pair(
    classifier: Reported, evidence: Evidence, names: list[str], pair: int
) -> PairPicture:
    classes = classifier.machine_.pairs[pair]
    values = classifier.pair_values(evidence.values, pair)
    display = ProjectionDisplay.from_projections(classifier, values, evidence.labels, pair=pair)

    def plot(ax: Any) -> None:
        display.plot(ax)
        for line in display.threshold_lines_:
            line.set_gid("mark-threshold")
        for region in display.regions_:
            region.set_gid("mark-region")
        ax.set(xlabel="projected value", ylabel="share of the class")
        ax.set_yticks([])
        if not classifier.gaussian:
            _name_probabilities(ax, classifier, evidence, names, pair)

    title = "Rows of both classes by what the model makes of them"
    picture = draw(f"projection{pair}", title, plot, WIDE)
    low, high = sorted(picture.frame["x"][:2])
    inside = tuple(t for t in display.thresholds.tolist() if low < t < high)
    shown = display.projections
    return PairPicture(classes, picture, inside, int(((shown < low) | (shown > high)).sum()))


def _name_probabilities(
    ax: Any, classifier: Reported, evidence: Evidence, names: list[str], pair: int
) -> None:
    """Ticks at probabilities under the frequencies of the rows, where log-odds are straight."""
    i, j = classifier.machine_.pairs[pair]
    gaussian, n = classifier.machine_.curves[pair], evidence.counts
    towards = j if n[j] <= n[i] else i
    odds = np.array([logit(p) for p in PROBABILITIES])
    if towards == i:
        odds = -odds
    at = (odds - np.log(n[j] / n[i])) / float(gaussian.slope(np.zeros(1))[0])
    low, high = ax.get_xlim()
    if towards == i:
        ax.invert_xaxis()  # larger probabilities to the right
    seen = [k for k in range(len(at)) if low < at[k] < high]
    ax.set_xticks(at[seen], [probability(PROBABILITIES[k]) for k in seen])
    name = escaped(visible(names[towards], MOST_LETTERS))
    ax.set_xlabel(f"probability of {name}")


def draw_curves(
    classifier: Reported, predictions: Predictions, rare: int
) -> tuple[OperatingDisplay, dict[str, Picture]]:
    """ROC, precision–recall and reliability of two classes."""
    values = classifier.pair_values(predictions.values, 0)
    display = OperatingDisplay.from_projections(
        classifier, values, predictions.labels, positive=rare
    )
    name = visible(display.name, MOST_LETTERS)
    titles: dict[Panel, tuple[str, str, str]] = {
        "roc": ("Recall against false alarms", "false alarms", "recall"),
        "precision_recall": ("Precision against recall", "recall", "precision"),
        "reliability": ("Frequency against probability", "predicted probability", "frequency"),
    }

    def picture(panel: Panel) -> Picture:
        title, x, y = titles[panel]

        def plot(ax: Any) -> None:
            display.plot_panel(panel, ax)[1].set_gid("mark-operating")
            ax.set(xlabel=x, ylabel=y)
            for axis in (ax.xaxis, ax.yaxis):
                axis.set_major_formatter(lambda value, _: probability(value))

        return draw(panel, f"{title}: {name}", plot, SQUARE)

    return display, {panel: picture(panel) for panel in titles}


def draw_columns(columns: ImportantColumns) -> Picture:
    """Bars of the columns that matter most."""
    most = np.argsort(-columns.shares, kind="stable")[:MOST_BARS]
    names = [visible(columns.names[j], MOST_LETTERS) for j in most]
    display = RelevanceDisplay(values=columns.shares[most], names=names)

    def plot(ax: Any) -> None:
        display.plot(ax, max_features=MOST_BARS)
        ax.set_xlabel("share of all columns")
        ax.xaxis.set_major_formatter(lambda value, _: probability(value))

    return draw("columns", "Which columns matter most", plot, (520, 70 + 21 * len(most)))


def draw_path(about: About, size_name: str) -> Picture | None:
    """GMean and divergence of the models that were compared."""
    by_setting: dict[str, dict[float, tuple[float, float]]] = {}
    for step in about.path:
        found = (float(step["gmean"]), float(step["divergence"]))
        by_setting.setdefault(setting_name(step), {})[float(step["size"])] = found
    sizes = sorted({size for steps in by_setting.values() for size in steps})
    nothing = (np.nan, np.nan)
    table = np.array([[steps.get(h, nothing) for h in sizes] for steps in by_setting.values()])
    if len(sizes) < 2 or not np.isfinite(table).any():
        return None

    def plot(ax: Any) -> None:
        display = PathDisplay(
            sizes=np.array(sizes), scores=table[:, :, :1], divergences=table[:, :, 1]
        ).plot(ax)
        for panel, least in ((display.ax_, 0.02), (display.divergence_ax_, 0.1)):
            _at_least(panel, least)
        display.ax_.set_ylabel("GMean")
        display.divergence_ax_.set(ylabel="divergence", xlabel=size_name)

    return draw("path", "GMean and divergence by the size of the model", plot, (460, 360))


def setting_name(step: Mapping[str, Any]) -> str:
    """What was tried beside the size."""
    return " ".join(str(step[key]) for key in ("model", "setting") if step.get(key))


def _at_least(ax: Any, height: float) -> None:
    """A view of no less than this height, so that noise does not look like a cliff."""
    low, high = ax.get_ylim()
    if high - low < height:
        middle = (low + high) / 2
        ax.set_ylim(middle - height / 2, middle + height / 2)
