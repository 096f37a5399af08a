"""Numbers as the page writes them; `assets/numbers.js` writes the same.

Counts have separators of thousands, costs too, with four significant digits where they are no whole
numbers; scores have three decimals.
"""

from __future__ import annotations

import math
from decimal import Decimal

NOTHING = "–"


def count(n: float) -> str:
    """A number of rows, rounded as in JavaScript."""
    return f"{math.floor(n + 0.5):,}"


def amount(x: float) -> str:
    """A cost, or how many times as much."""
    if not math.isfinite(x):
        return NOTHING
    if x == round(x) or abs(x) >= 1000:
        return count(x)
    return f"{Decimal(f'{x:.4g}'):,f}"


def times(ratio: float) -> str:
    """A ratio with three significant digits."""
    return count(ratio) if ratio >= 100 else f"{Decimal(f'{ratio:.3g}'):f}"


def percent(share: float) -> str:
    """A share in per cent; nearly all is not all."""
    if not math.isfinite(share):
        return NOTHING
    places = 0 if 0.1 <= share <= 0.9 or share >= 1 or share == 0 else 1
    text = f"{100 * share:.{places}f}"
    if float(text) in (0, 100) and share not in (0, 1):
        text = "under 0.1" if share < 0.5 else "over 99.9"
    return f"{text}\N{NO-BREAK SPACE}%"


def probability(p: float) -> str:
    """A share in per cent with all its digits, as beside an axis."""
    return f"{100 * p:.6f}".rstrip("0").rstrip(".") + "\N{NO-BREAK SPACE}%"


def score(value: float) -> str:
    """A score between 0 and 1."""
    return f"{value:.3f}"
