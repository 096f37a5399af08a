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
from ..plots.style import plain
from .about import About
from .evidence import Evidence
from .svg import Picture, draw
from .text import shown

Array = np.ndarray[Any, Any]

WIDE, SQUARE = (460, 300), (330, 320)
MOST_LETTERS = 32  # of a name beside an axis
MOST_PAIRS = 28


@dataclass(frozen=True, slots=True)
class Line:
    """The line of two classes."""

    classes: tuple[int, int]
    picture: Picture
    thresholds: tuple[float, ...]
    divergence: float


def lines_of(machine: Any, evidence: Evidence) -> list[Line]:
    """The line of each pair of classes with rows; of very many, those hardest to tell apart."""
    solved = machine.machine_
    counts = evidence.counts(len(machine.classes_))
    pairs = [p for p, two in enumerate(solved.pairs) if all(counts[c] for c in two)]
    hardest = sorted(pairs, key=lambda p: solved.divergences[p])[:MOST_PAIRS]
    return [_line(machine, evidence, p) for p in sorted(hardest)]


def _line(machine: Any, evidence: Evidence, pair: int) -> Line:
    i, j = machine.machine_.pairs[pair]
    display = ProjectionDisplay._on_line(machine, evidence.projections, evidence.labels, pair)

    def plot(ax: Any) -> None:
        display.plot(ax)
        for artist in display.threshold_lines_:
            artist.set_gid("mark-threshold")
        for artist in display.regions_:
            artist.set_gid("mark-region")
        ax.set(xlabel="position on the machine's line", ylabel="density")

    return Line(
        (i, j),
        draw(f"line{pair}", "Where the rows of both classes fall on the line", plot, WIDE, (i, j)),
        tuple(display.thresholds.tolist()),
        float(machine.machine_.divergences[pair]),
    )


def curves_of(machine: Any, evidence: Evidence, rare: int) -> dict[str, Picture]:
    """ROC, precision–recall and reliability of two classes."""
    display = OperatingDisplay._of(machine, evidence.projections, evidence.labels, rare)
    name = shown(display.name, MOST_LETTERS)
    titles = {
        "roc": ("Share found against false alarms", "false alarms", "share found"),
        "pr": (
            "Share right against share found",
            "share found (recall)",
            "share right (precision)",
        ),
        "reliability": (
            "Probability against frequency",
            "probability the machine gives",
            "how often it comes true",
        ),
    }

    def picture(position: int, key: str) -> Picture:
        title, x, y = titles[key]

        def plot(ax: Any) -> None:
            display._draw(position, ax)[1].set_gid("mark-operating")
            ax.set(xlabel=x, ylabel=y)

        return draw(key, f"{title}: {name}", plot, SQUARE)

    return {key: picture(position, key) for position, key in enumerate(titles)}


def regions_of(machine: Any, evidence: Evidence, about: About) -> tuple[RegionsDisplay, Picture]:
    """Rows in a plane, and what the machine decides there."""
    display = RegionsDisplay._of(machine, evidence.rows, evidence.row_labels)
    d = evidence.rows.shape[1]
    names = list(about.columns) if len(about.columns) == d else []
    if d <= 2:
        names = [str(name) for name in names or getattr(machine, "feature_names_in_", [])]
        names = names or [f"column {i}" for i in range(d)]
        display.axis_names = (names[0], names[1] if d == 2 else "")
    x, y = (plain(shown(name, MOST_LETTERS)) for name in display.axis_names)

    def plot(ax: Any) -> None:
        display.plot(ax)
        for artist in display.grounds_:
            artist.set_gid("mark-ground")
        display.rings_.set_gid("mark-ring")
        ax.set(xlabel=x, ylabel=y)

    return display, draw("plane", "Rows in a plane, and what the machine decides", plot, WIDE)


def setting_of(step: Mapping[str, Any]) -> str:
    """What was tried beside the size, in words."""
    return " ".join(str(step[key]) for key in ("model", "setting") if step.get(key))


def path_of(about: About, size_name: str) -> Picture | None:
    """GMean and divergence of the machines that were compared."""
    by_setting: dict[str, dict[float, tuple[float, float]]] = {}
    for step in about.path:
        found = (float(step["gmean"]), float(step["divergence"]))
        by_setting.setdefault(setting_of(step), {})[float(step["size"])] = found
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

    return draw("path", "GMean and divergence by the size of the machine", plot, (460, 360))


def _at_least(ax: Any, height: float) -> None:
    """A view of no less than this height, so that chance does not look like a cliff."""
    low, high = ax.get_ylim()
    if high - low < height:
        middle = (low + high) / 2
        ax.set_ylim(middle - height / 2, middle + height / 2)
