"""A diagram of critical differences: mean ranks on a line, bars under those that do not differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extreme_entropy.plots.style import CLASS_COLOURS, INK

from .pictures import svg
from .ranks import groups

Array = np.ndarray[Any, Any]

# Inches.
SCALE, MARGIN = 4.2, 2.6  # the line of ranks, and the room for names on either side
STEP, BAR = 0.3, 0.16  # between lines of names, between bars
TOP = 0.8  # above the line of ranks


def critical_difference_svg(
    names: Sequence[str], ranks: Array, difference: float, emphasised: Sequence[bool]
) -> str | None:
    """The diagram, the same to the last byte each time; None without matplotlib."""
    bars = groups(ranks, difference)
    names_top = -BAR * len(bars) - STEP
    bottom = names_top - STEP * -(-len(names) // 2)
    per_inch = (len(names) - 1) / SCALE

    def draw(figure: Any) -> None:
        figure.set_layout_engine("none")  # every place is given here in inches
        ax = figure.add_axes((0, 0, 1, 1))
        ax.set_xlim(1 - MARGIN * per_inch, len(names) + MARGIN * per_inch)
        ax.set_ylim(bottom, TOP)
        ax.axis("off")
        _axis(ax, len(names), difference)
        for level, bar in enumerate(bars, 1):
            ends = ranks[bar[0]] - 0.06, ranks[bar[-1]] + 0.06
            ax.plot(ends, [-BAR * level] * 2, color=INK, linewidth=4, solid_capstyle="butt")
        _names(ax, names, ranks, emphasised, names_top, per_inch)

    return svg(SCALE + 2 * MARGIN, TOP - bottom, draw)


def _axis(ax: Any, count: int, difference: float) -> None:
    """Ranks from 1 to their number, and the critical difference as a length above them."""
    ax.plot((1, count), (0, 0), color=INK, linewidth=1)
    for rank in range(1, count + 1):
        ax.plot((rank, rank), (0, 0.07), color=INK, linewidth=1)
        ax.text(rank, 0.11, str(rank), ha="center", va="bottom", color=INK)
    ax.plot((1, 1 + difference), (0.5, 0.5), color=INK, linewidth=2)
    ax.text(
        1 + difference + 0.1, 0.5, f"critical difference {difference:.2f}", va="center", color=INK
    )


def _names(
    ax: Any,
    names: Sequence[str],
    ranks: Array,
    emphasised: Sequence[bool],
    top: float,
    per_inch: float,
) -> None:
    """The better half on the left, the others on the right, each led to its place on the line."""
    order = np.argsort(ranks, kind="stable")
    half = -(-len(names) // 2)
    for place, j in enumerate(order):
        left = place < half
        y = top - STEP * (place if left else len(names) - 1 - place)
        end, outwards = (1, -per_inch) if left else (len(names), per_inch)
        edge = end + 0.25 * outwards
        colour = CLASS_COLOURS[0] if emphasised[j] else INK
        ax.plot((ranks[j], ranks[j], edge), (0, y, y), color=colour, linewidth=1)
        label = f"{names[j]}  {ranks[j]:.2f}"
        side = "right" if left else "left"
        ax.text(edge + 0.06 * outwards, y, label, ha=side, va="center", color=colour)
