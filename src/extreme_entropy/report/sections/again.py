"""How the model came to be: the sizes compared, warnings, and how to make it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...plots.size_path import PathDisplay
from ..about import About
from ..subject import SectionContent, Subject
from ..svg import Picture, draw


@dataclass(frozen=True, kw_only=True)
class AgainContent(SectionContent):
    """What was done before."""

    path: Picture | None  # of the sizes compared
    compared: list[str]  # what was tried besides the size
    notes: list[str]
    settings: str
    seed: Any


def again(subject: Subject) -> AgainContent:
    """Sizes, notes, settings and seed."""
    about, classifier = subject.about, subject.classifier
    return AgainContent(
        path=draw_path(about),
        compared=list(dict.fromkeys(map(_setting_name, about.path))),
        notes=[*about.warnings, *classifier.notes_on(subject.evidence.rows)],
        settings=classifier.settings(),
        seed=classifier.seed if about.seed is None else about.seed,
    )


def draw_path(about: About) -> Picture | None:
    """GMean and divergence of the models that were compared."""
    by_setting: dict[str, dict[float, tuple[float, float]]] = {}
    for step in about.path:
        scores = (float(step["gmean"]), float(step["divergence"]))
        by_setting.setdefault(_setting_name(step), {})[float(step["size"])] = scores
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
            _make_high(panel, least)
        display.ax_.set_ylabel("GMean")
        display.divergence_ax_.set(ylabel="divergence", xlabel="neurons or landmarks")

    return draw("path", "GMean and divergence by the size of the model", plot, (460, 360))


def _setting_name(step: Mapping[str, Any]) -> str:
    """What was tried besides the size."""
    return " ".join(str(step[key]) for key in ("model", "setting") if step.get(key))


def _make_high(ax: Any, height: float) -> None:
    """A view of no less than this height, so that noise does not look like a cliff."""
    low, high = ax.get_ylim()
    if high - low < height:
        middle = (low + high) / 2
        ax.set_ylim(middle - height / 2, middle + height / 2)
