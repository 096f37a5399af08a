"""Pictures of the field of tables: accuracy against time, and mean ranks with what is chance.

Two of k models differ on N tables if their mean ranks differ by more than Nemenyi's critical
difference, CD = q √(k(k + 1) / 6N), where √2 q is a quantile of the range of k standard normal
values (Demšar, Journal of Machine Learning Research 7, 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.stats import rankdata, studentized_range

from .svg import OTHER, OURS, document, line, text

LEVEL = 0.05
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 460, 340, 40, 30, 62, 46
NAMES, STEP = 186, 26  # of the picture of ranks: width of names, height of a row


def accuracy_against_time(
    points: Mapping[str, tuple[float, float]], own: str, measure: str, tables: int
) -> str:
    """Model ↦ how many times as long as LightGBM a fit takes, and its score in percent."""
    x = _scale([np.log(ratio) for ratio, _ in points.values()], LEFT, WIDTH - RIGHT)
    y = _scale([score for _, score in points.values()], HEIGHT - BOTTOM, TOP)
    title = f"Accuracy ({measure}) against time to fit, means of {tables} tables"
    parts = [
        text(0, 14, title, bold=True),
        text(0, 34, "Up and to the left is better: more accurate, faster to fit."),
        text(0, TOP - 8, f"{measure}, %"),
    ]
    for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100):
        if LEFT <= x(np.log(tick)) <= WIDTH - RIGHT:
            parts.append(text(x(np.log(tick)), HEIGHT - BOTTOM + 18, f"{tick:g}", "middle"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(text(middle, HEIGHT - 8, "time of a fit, as a multiple of LightGBM's", "middle"))
    scores = [score for _, score in points.values()]
    for value in range(int(np.ceil(min(scores))), int(max(scores)) + 1):
        parts.append(text(LEFT - 8, y(value) + 4, f"{value}", "end"))
    for label, (ratio, score) in points.items():
        at, ours = (x(np.log(ratio)), y(score)), label == own
        colour, radius = (OURS, 7) if ours else (OTHER, 5)
        parts.append(f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius}" fill="{colour}"/>')
        if at[0] < middle:
            parts.append(text(at[0] + radius + 4, at[1] + 4, label, bold=ours))
        else:  # beside the point it would leave the picture
            parts.append(text(at[0], at[1] - radius - 5, label, "middle", bold=ours))
    parts.append(line(f"M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"))
    return document(WIDTH, HEIGHT, title, parts)


def mean_ranks(scores: Mapping[str, list[float]], own: str, measure: str) -> str:
    """Model ↦ its score on each table; more is better."""
    values = np.array([*scores.values()])
    models, tables = values.shape
    ranks = rankdata(-values, axis=0).mean(axis=1)
    half = critical_difference(models, tables) / 2
    x = _scale([ranks.min() - half, ranks.max() + half], NAMES, WIDTH - 44)
    bottom = TOP + STEP * models
    title = f"Mean rank in {measure} on {tables} tables; 1 is best"
    parts = [
        text(0, 14, title, bold=True),
        text(0, 34, "Bars that do not overlap: a difference beyond chance (Nemenyi, 5 %)."),
    ]
    for row, (label, rank) in enumerate(
        sorted(zip(scores, ranks, strict=True), key=lambda pair: pair[1])
    ):
        y, ours = TOP + STEP * row, label == own
        colour = OURS if ours else OTHER
        left, right = x(rank - half), x(rank + half)
        parts += [
            text(NAMES - 8, y + 4, label, "end", bold=ours),
            f'<rect x="{left:.1f}" y="{y - 4}" width="{right - left:.1f}" height="8" rx="4" '
            f'fill="{colour}" fill-opacity=".35"/>',
            f'<circle cx="{x(rank):.1f}" cy="{y}" r="5" fill="{colour}"/>',
            text(WIDTH - 4, y + 4, f"{rank:.2f}", "end", bold=ours),
        ]
    for tick in range(1, models + 1):
        if NAMES <= x(tick) <= WIDTH - 44:
            parts.append(text(x(tick), bottom + 14, f"{tick}", "middle"))
    parts.append(line(f"M{NAMES} {bottom - 6}H{WIDTH - 44}"))
    return document(WIDTH, bottom + 24, title, parts)


def critical_difference(models: int, tables: int) -> float:
    """Of mean ranks, at the level of 5 %."""
    q = studentized_range.ppf(1 - LEVEL, models, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(models * (models + 1) / (6 * tables)))


def _scale(values: list[Any], low: float, high: float) -> Callable[[Any], float]:
    """From values to places between two ends, with a margin."""
    least, most = min(values), max(values)
    margin = 0.08 * (most - least) or 1.0
    least, most = least - margin, most + margin
    return lambda value: float(low + (value - least) / (most - least) * (high - low))
