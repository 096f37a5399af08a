"""Whether a model pays: its mistakes against the same answer for every row, and another model.

pays          the saving on the cheapest constant answer is above 0, with its 95 % interval
does not pay  it is 0 or less
not certain   between the two
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..metrics import Outcome, ScoreInterval
from .numbers import amount, count, percent

HEADLINES = {
    "pays": "The model pays.",
    "loses": "The model does not pay.",
    "unclear": "It is not certain that the model pays.",
    "learnt": "These rows cannot show whether the model pays.",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A headline, and the sentence that supports it."""

    kind: str  # a key of HEADLINES
    reason: str

    @property
    def headline(self) -> str:
        """In a few words."""
        return HEADLINES[self.kind]


def to_be_found(counts: Sequence[float]) -> int | None:
    """The rarer of two classes, or the second; None where there are more."""
    return int(counts[1] <= counts[0]) if len(counts) == 2 else None


def verdict(
    outcome: Outcome,
    saved: ScoreInterval,
    names: Sequence[str],
    rare: int | None,
    share_learnt: float = 0.0,
) -> Verdict:
    """Of a model whose decisions have this outcome; `rare` is the class to be found of two."""
    if share_learnt:
        return Verdict("learnt", f"It was fitted on {learnt_text(share_learnt)}.")
    best = outcome.cheapest_constant
    kind = "unclear"
    if not saved.value or saved.value <= 0:
        kind = "loses"
    elif saved.low is not None and saved.low > 0:
        kind = "pays"
    rows = "" if outcome.shares is None else " per 1,000 rows"
    constant = outcome.constant(best)
    instead = f"{answer(best, names, rare)} ({cost_text(constant)})"
    return Verdict(
        kind,
        f"Its mistakes cost {cost_text(outcome)}{rows}, "
        f"{difference(saved, constant.cost, instead)}.",
    )


def learnt_text(share: float) -> str:
    """Which rows were among those of the fit."""
    return "these very rows" if share > 0.995 else f"{percent(share)} of these rows"


def answer(c: int, names: Sequence[str], rare: int | None) -> str:
    """What it is called to predict a class for every row."""
    if rare is None:
        return f"always predicting {names[c]}"
    return "flagging every row" if c == rare else "flagging no row"


def cost_text(outcome: Outcome) -> str:
    """The cost of all rows, or of 1,000 where they stand for others."""
    rows = 1000.0 if outcome.shares is not None else float(outcome.rows.sum())
    return amount(outcome.cost * rows)


def difference(saved: ScoreInterval, cost: float, instead: str) -> str:
    """How much is saved, as a share of another cost, with its interval."""
    value, low, high = ((end or 0.0) / cost if cost else 0.0 for end in _ends(saved))
    sign = 1 if value >= 0 else -1
    near, far = (_signed(end) for end in sorted((sign * low, sign * high)))
    size = f"{percent(abs(value))} {'less' if sign > 0 else 'more'} than" if value else "as much as"
    return f"{size} {instead}; 95 % interval: {near} to {far}"


def against(saved: ScoreInterval, name: str) -> str:
    """Whether the model or another costs less on the same rows."""
    _, low, high = _ends(saved)
    if low > 0:
        return f"The model costs less than {name}."
    if high < 0:
        return f"The model costs more than {name}: consider using that instead."
    return f"There is no clear difference in cost between the model and {name}."


def recall_text(outcome: Outcome, c: int) -> str:
    """How many rows of a class are found."""
    found, rows = outcome.confusion[c, c], outcome.rows[c]
    return f"{count(found)} of {count(rows)} ({percent(found / rows if rows else math.nan)})"


def _ends(interval: ScoreInterval) -> tuple[float, float, float]:
    return interval.value or 0.0, interval.low or 0.0, interval.high or 0.0


def _signed(share: float) -> str:
    return percent(share) if share >= 0 else f"−{percent(-share)}"
