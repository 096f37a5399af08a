"""matplotlib, imported only when something is drawn, and what all pictures share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Okabe and Ito's colours, which people who confuse red and green can tell apart too.
CLASS_COLOURS = ("#0072B2", "#D55E00")
CLASS_MARKERS = ("o", "^")
CURVE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
CURVE_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK = "0.15"


class OnePanel:
    """A picture in one panel, on axes that were given or in a figure of its own."""

    ax_: Axes
    figure_: Figure

    def _take(self, ax: Axes | None, figsize: tuple[float, float]) -> Axes:
        (self.ax_,) = axes_to_draw_on(type(self).__name__, ax, 1, figsize)
        self.figure_ = figure_of(self.ax_)
        return self.ax_


def pyplot(who: str) -> Any:
    """matplotlib.pyplot, or an error that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{who} needs matplotlib: pip install 'extreme-entropy[plot]'") from error
    return plt


def axes_to_draw_on(who: str, axes: Any, n: int, figsize: tuple[float, float]) -> list[Axes]:
    """The n axes that were given, or those of a new figure."""
    plt = pyplot(who)
    if axes is None:
        rows = 2 if n == 4 else 1
        _, axes = plt.subplots(rows, n // rows, figsize=figsize, layout="constrained")
    panels = list(np.ravel(axes))
    if len(panels) != n:
        raise InputError(f"{who} draws on {n} axes; {len(panels)} came.")
    return panels


def figure_of(ax: Axes) -> Figure:
    """What the axes lie in: the figure, or the part of one that was made for them."""
    return cast("Figure", ax.figure)  # a SubFigure is drawn on in the same way


def escaped(text: Any) -> str:
    """A name from the data as matplotlib shows it letter by letter: `$` starts no formula."""
    return str(text).replace("$", r"\$")


def ring(ax: Axes, x: float, y: float, size: float, fill: str) -> Line2D:
    """A ring about a point."""
    look: dict[str, Any] = {"markerfacecolor": fill, "markeredgecolor": INK, "markeredgewidth": 1.5}
    return ax.plot([x], [y], marker="o", linestyle="none", markersize=size, zorder=5, **look)[0]


def title_and_legend(
    ax: Axes, title: str, handles: Sequence[Any] = (), labels: Sequence[str] = (), across: int = 64
) -> None:
    """A title with the legend under it, above the axes, where it hides no data.

    So many letters go into a row of the legend; a handle is as wide as six.
    """
    if not labels:
        ax.set_title(title, loc="left", pad=8)
        return
    widths = [len(label) + 6 for label in labels]
    in_one_row = sum(widths) <= across
    columns = len(labels) if in_one_row else max(1, across // max(widths))
    ax.set_title(title, loc="left", pad=8 + 15 * -(-len(labels) // columns))
    ax.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=columns,
        frameon=False,
        borderaxespad=0.2,
        borderpad=0.2,
        handlelength=1.6,
        columnspacing=1.4,
        fontsize="small",
    )
