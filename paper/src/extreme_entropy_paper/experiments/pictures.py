"""Figures of the paper as SVG, the same to the last byte each time."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

STYLE: Any = {
    "svg.hashsalt": "extreme-entropy",
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def svg(width: float, height: float, draw: Callable[[Any], None]) -> str | None:
    """What `draw` puts on a figure of that size in inches; None without matplotlib."""
    try:
        from matplotlib import rc_context, rcdefaults
        from matplotlib.figure import Figure
    except ImportError:
        return None
    with rc_context():
        rcdefaults()  # what a reader has set up for other pictures has no say in this one
        with rc_context(STYLE):
            figure = Figure(figsize=(width, height), layout="constrained")
            draw(figure)
            out = io.StringIO()
            figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()
