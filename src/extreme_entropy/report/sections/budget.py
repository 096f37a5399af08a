"""Which rows to look at first: how much is found among them, and what flagging them costs.

Rows are counted on a logarithmic scale, which also shows the first hundred of a million.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...plots.style import CURVE_COLOURS, INK
from ..numbers import probability
from ..ranking import Economy, Ranking
from ..report_settings import ReportSettings
from ..subject import SectionContent, Subject
from ..svg import WIDE, Picture, draw

Array = np.ndarray[Any, Any]

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


@dataclass(frozen=True, kw_only=True)
class BudgetContent(SectionContent):
    """What looking at so many rows gives."""

    rows: int
    found: float
    total: float  # rows of the class
    share: float  # of the class among all rows


def budget(subject: Subject) -> BudgetContent | None:
    """For two classes: about as many rows as the class to be found has."""
    if subject.two is None:
        return None
    ranking = subject.two.ranking
    rows = round_budget(ranking.total)
    return BudgetContent(
        rows=rows,
        found=float(ranking.found_within(rows)),
        total=ranking.total,
        share=ranking.total / ranking.rows,
        pictures={
            "gains": _draw_gains(ranking, rows, subject.settings),
            "costcurve": _draw_costs(ranking, subject.two.economy, subject.settings),
        },
    )


def _draw_gains(ranking: Ranking, budget: int, settings: ReportSettings) -> Picture:
    """The share of the class among the most suspicious rows."""

    def plot(ax: Any) -> None:
        n = _fewer(ranking.rows, settings)
        ax.plot(n, ranking.found_within(n) / ranking.total, **CURVE)
        ax.plot(n, n / ranking.rows, **DOTTED)
        (mark,) = ax.plot([budget], [ranking.found_within(budget) / ranking.total], **RING)
        mark.set_gid("mark-operating")
        ax.set(ylim=(-0.02, 1.02), xlabel="rows looked at", ylabel="found")
        _set_scales(ax, ranking)

    return draw("gains", "Share found among the most suspicious rows", plot, WIDE)


def _draw_costs(ranking: Ranking, economy: Economy, settings: ReportSettings) -> Picture:
    """The cost of mistakes by the number of rows flagged, with that of flagging none."""
    nothing, highest = economy.cost(economy.nothing), settings.highest_cost

    def plot(ax: Any) -> None:
        points = _fewer(len(ranking.points.flagged) - 1, settings).astype(int)
        cost = economy.cost(ranking.points)[points] / nothing
        (curve,) = ax.plot(ranking.points.flagged[points], np.minimum(cost, 2 * highest), **CURVE)
        curve.set_gid("mark-curve")
        ax.axhline(1, **DOTTED)
        for name, point, look in (
            ("cheapest", economy.cheapest, {"marker": "D", "markersize": 7}),
            ("operating", economy.now, {}),
        ):
            at = max(point.flagged, 1), min(economy.cost(point) / nothing, highest)
            (mark,) = ax.plot([at[0]], [at[1]], **(RING | look))
            mark.set_gid(f"mark-{name}")
        ax.set(ylim=(0, highest), xlabel="rows flagged", ylabel="cost (doing nothing: 100 %)")
        _set_scales(ax, ranking)

    return draw("costcurve", "Cost of mistakes by the number of rows flagged", plot, WIDE)


def round_budget(rows: float) -> int:
    """No more than so many rows, as a number that people say."""
    power = 10 ** int(np.floor(np.log10(rows)))
    return int(next(k * power for k in (5, 2, 1) if k * power <= rows))


def _set_scales(ax: Any, ranking: Ranking) -> None:
    ax.set_xscale("log")
    ax.set_xlim(1 / 1.15, max(ranking.rows, 2) * 1.15)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.xaxis.set_minor_formatter(lambda *_: "")
    ax.yaxis.set_major_formatter(lambda value, _: probability(value))


def _fewer(n: float, settings: ReportSettings) -> Array:
    """Numbers from 1 to n, evenly on a logarithmic scale: all of the first, few of the later."""
    return np.unique(np.round(np.geomspace(1, n, settings.curve_points)))
