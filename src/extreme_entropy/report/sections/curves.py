"""Trade-offs and calibration: ROC, precision–recall and reliability of two classes."""

from __future__ import annotations

from typing import Any

from ...plots.operating import OperatingDisplay, Panel
from ..harmless_text import visible
from ..numbers import probability
from ..subject import SectionContent, Subject
from ..svg import SQUARE, Picture, draw

# The title of each picture, and what its axes are.
PANELS: dict[Panel, tuple[str, str, str]] = {
    "roc": ("Recall against false alarms", "false alarms", "recall"),
    "precision_recall": ("Precision against recall", "recall", "precision"),
    "reliability": ("Frequency against probability", "predicted probability", "frequency"),
}


def curves(subject: Subject) -> SectionContent | None:
    """For two classes; all there is are pictures."""
    if subject.two is None:
        return None
    display, longest = subject.two.operating, subject.settings.axis_letters
    return SectionContent(pictures={panel: _draw(display, panel, longest) for panel in PANELS})


def _draw(display: OperatingDisplay, panel: Panel, longest: int) -> Picture:
    title, x, y = PANELS[panel]

    def plot(ax: Any) -> None:
        display.plot_panel(panel, ax)[1].set_gid("mark-operating")
        ax.set(xlabel=x, ylabel=y)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda value, _: probability(value))

    return draw(panel, f"{title}: {visible(display.name, longest)}", plot, SQUARE)
