"""The pictures of a report, each a Display drawn into the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..plots.operating import OperatingDisplay
from ..plots.path import PathDisplay
from ..plots.projection import ProjectionDisplay
from ..plots.regions import RegionsDisplay
from ..plots.style import escaped
from .about import About
from .evidence import Evidence
from .svg import Picture, draw
from .text import visible

Array = np.ndarray[Any, Any]

WIDE, SQUARE = (460, 300), (330, 320)
MOST_LETTERS = 32  # of a name beside an axis
MOST_PAIRS = 28


@dataclass(frozen=True, slots=True)
class PairPicture:
    """The projection of two classes."""

    classes: tuple[int, int]
    picture: Picture
    thresholds: tuple[float, ...]
    divergence: float


def draw_pairs(classifier: Any, evidence: Evidence) -> list[PairPicture]:
    """The projection of each pair of classes with rows; of very many the least separated."""
    machine = classifier.machine_
    counts = evidence.counts(len(classifier.classes_))
    pairs = [p for p, two in enumerate(machine.pairs) if all(counts[c] for c in two)]
    hardest = sorted(pairs, key=lambda p: machine.divergences[p])[:MOST_PAIRS]
    return [_draw_pair(classifier, evidence, p) for p in sorted(hardest)]


def _draw_pair(classifier: Any, evidence: Evidence, pair: int) -> PairPicture:
    machine = classifier.machine_
    display = ProjectionDisplay.from_projections(
        classifier, evidence.projections[:, pair], evidence.labels, pair=pair
    )

    def plot(ax: Any) -> None:
        display.plot(ax)
        for artist in display.threshold_lines_:
            artist.set_gid("mark-threshold")
        for artist in display.regions_:
            artist.set_gid("mark-region")
        ax.set(xlabel="projected value", ylabel="density")

    title, classes = "Projected values of the rows of both classes", machine.pairs[pair]
    return PairPicture(
        classes,
        draw(f"projection{pair}", title, plot, WIDE, classes),
        tuple(display.thresholds.tolist()),
        float(machine.divergences[pair]),
    )


def draw_curves(classifier: Any, evidence: Evidence, rare: int) -> dict[str, Picture]:
    """ROC, precision–recall and reliability of two classes."""
    display = OperatingDisplay.from_projections(
        classifier, evidence.projections[:, 0], evidence.labels, positive=rare
    )
    name = visible(display.name, MOST_LETTERS)
    titles = {
        "roc": ("Recall against false alarms", "false alarms", "recall"),
        "precision_recall": ("Precision against recall", "recall", "precision"),
        "reliability": ("Frequency against probability", "predicted probability", "frequency"),
    }

    def picture(panel: str) -> Picture:
        title, x, y = titles[panel]

        def plot(ax: Any) -> None:
            display.plot_panel(panel, ax)[1].set_gid("mark-operating")
            ax.set(xlabel=x, ylabel=y)

        return draw(panel, f"{title}: {name}", plot, SQUARE)

    return {panel: picture(panel) for panel in titles}


def draw_regions(
    classifier: Any, evidence: Evidence, about: About
) -> tuple[RegionsDisplay, Picture]:
    """Rows in a plane, and the classes predicted there."""
    display = RegionsDisplay.from_rows(classifier, evidence.rows, evidence.row_labels)
    d = evidence.rows.shape[1]
    names = list(about.columns) if len(about.columns) == d else []
    if d <= 2:
        names = [str(name) for name in names or getattr(classifier, "feature_names_in_", [])]
        names = names or [f"column {i}" for i in range(d)]
        display.axis_names = (names[0], names[1] if d == 2 else "")
    x, y = (escaped(visible(name, MOST_LETTERS)) for name in display.axis_names)

    def plot(ax: Any) -> None:
        display.plot(ax)
        for artist in display.grounds_:
            artist.set_gid("mark-ground")
        display.rings_.set_gid("mark-ring")
        ax.set(xlabel=x, ylabel=y)

    return display, draw("plane", "Rows in a plane, and the classes predicted there", plot, WIDE)


def setting_name(step: Mapping[str, Any]) -> str:
    """What was tried beside the size."""
    return " ".join(str(step[key]) for key in ("model", "setting") if step.get(key))


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


def _at_least(ax: Any, height: float) -> None:
    """A view of no less than this height, so that noise does not look like a cliff."""
    low, high = ax.get_ylim()
    if high - low < height:
        middle = (low + high) / 2
        ax.set_ylim(middle - height / 2, middle + height / 2)
