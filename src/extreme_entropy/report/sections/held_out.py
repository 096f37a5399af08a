"""The model and a baseline on rows held out during the fit, which are not those of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...metrics import Outcome, ScoreInterval
from ..subject import SectionContent, Subject
from ..verdict import against


@dataclass(frozen=True, slots=True)
class HeldOutModel:
    """A model on the rows held out during the fit."""

    name: str
    gmean: ScoreInterval
    outcome: Outcome | None  # None in files of version 1.0


@dataclass(frozen=True, kw_only=True)
class HeldOutContent(SectionContent):
    """What was estimated during the fit."""

    models: list[HeldOutModel]
    comparison: str  # in a sentence
    worse: bool  # whether the baseline costs less
    rows: int


def held_out(subject: Subject) -> HeldOutContent | None:
    """Where the fit has made an estimate."""
    estimate, baseline = subject.about.estimate, subject.about.baseline
    if estimate is None:
        return None
    models = [
        HeldOutModel(
            name,
            ScoreInterval(guess.gmean, guess.low, guess.high),
            estimate.outcome(guess.confusion) if getattr(guess, "confusion", ()) else None,
        )
        for name, guess in [("This model", estimate)]
        + ([(baseline.name, baseline)] if baseline else [])
    ]
    saved: Sequence[float] = getattr(baseline, "saved", ())
    return HeldOutContent(
        models=models,
        comparison=against(ScoreInterval(*saved), baseline.name) if saved else "",
        worse=bool(saved) and saved[2] < 0,
        rows=int(models[0].outcome.rows.sum()) if models[0].outcome else 0,
    )
