"""Two pictures of a ranking: how much is found among the first rows, and what flagging them costs.

Rows are counted on a logarithmic scale, on which the first hundred of a million have room, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plots.style import CURVE_COLOURS, INK
from .costs import Economy
from .numbers import probability
from .ranking import Ranking
from .svg import Picture, draw

Array = np.ndarray[Any, Any]

SIZE = (460, 300)
MOST_COST = 1.5  # times that of doing nothing, which is drawn
MOST_POINTS = 600  # of a curve
RING: dict[str, Any] = {
    "marker": "o",
    "markersize": 9,
    "markeredgewidth": 1.8,
    "linestyle": "none",
    "markerfacecolor": "white",
    "markeredgecolor": INK,
    "zorder": 5,
}
CURVE: dict[str, Any] = {"color": CURVE_COLOURS[2], "linewidth": 2}
DOTTED: dict[str, Any] = {"color": INK, "linewidth": 0.9, "linestyle": ":", "zorder": 0}


def draw_gains(ranking: Ranking, budget: int) -> Picture:
    """The share of the class among the most suspicious rows."""

    def plot(ax: Any) -> None:
        n = _numbers(ranking)
        found = np.array([ranking.found_within(k) for k in n]) / ranking.total
        ax.plot(n, found, **CURVE)
        ax.plot(n, n / ranking.rows, **DOTTED)
        (mark,) = ax.plot([budget], [ranking.found_within(budget) / ranking.total], **RING)
        mark.set_gid("mark-operating")
        ax.set(ylim=(-0.02, 1.02), xlabel="rows looked at", ylabel="found")
        _axes(ax, ranking)

    return draw("gains", "Share found among the most suspicious rows", plot, SIZE)


def draw_costs(ranking: Ranking, economy: Economy) -> Picture:
    """The cost of mistakes by the number of rows flagged, beside that of flagging none."""
    nothing = economy.cost(economy.nothing)

    def plot(ax: Any) -> None:
        some = _some(len(ranking.flagged) - 1) + 1
        cost = ranking.costs(economy.miss, economy.alarm)[some] / nothing
        (curve,) = ax.plot(ranking.flagged[some], np.minimum(cost, 2 * MOST_COST), **CURVE)
        curve.set_gid("mark-curve")
        ax.axhline(1, **DOTTED)
        for name, point, look in (
            ("cheapest", economy.cheapest, {"marker": "D", "markersize": 7}),
            ("operating", economy.now, {}),
        ):
            at = max(point.flagged, 1), min(economy.cost(point) / nothing, MOST_COST)
            (mark,) = ax.plot([at[0]], [at[1]], **(RING | look))
            mark.set_gid(f"mark-{name}")
        ax.set(ylim=(0, MOST_COST), xlabel="rows flagged", ylabel="cost (doing nothing: 100 %)")
        _axes(ax, ranking)

    return draw("costcurve", "Cost of mistakes by the number of rows flagged", plot, SIZE)


def round_budget(rows: float) -> int:
    """No more than so many rows, as a number that people say."""
    power = 10 ** int(np.floor(np.log10(rows)))
    return int(next(k * power for k in (5, 2, 1) if k * power <= rows))


def _axes(ax: Any, ranking: Ranking) -> None:
    ax.set_xscale("log")
    ax.set_xlim(1 / 1.15, max(ranking.rows, 2) * 1.15)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.xaxis.set_minor_formatter(lambda *_: "")
    ax.yaxis.set_major_formatter(lambda value, _: probability(value))


def _numbers(ranking: Ranking) -> Array:
    """Numbers of rows, evenly on a logarithmic scale."""
    return np.unique(np.round(np.geomspace(1, ranking.rows, MOST_POINTS)))


def _some(n: int) -> Array:
    """Positions among n, all of the first, ever fewer of the later."""
    return np.unique(np.round(np.geomspace(1, n, MOST_POINTS)).astype(int)) - 1
