"""Bars to the right and to the left of zero. The same numbers give the same file."""

from __future__ import annotations

from collections.abc import Mapping

from .svg import OTHER, OURS, document, line, text

WIDTH, NAMES, NUMBER, STEP = 470, 204, 34, 17  # the picture, names, a number; a row's height


def draw(groups: Mapping[str, Mapping[str, float]], title: str) -> str:
    """One bar for each name, with its value beside it; groups have a title each."""
    values = [value for bars in groups.values() for value in bars.values()]
    least, most = min(0.0, *values), max(0.0, *values)
    scale = (WIDTH - NAMES - 2 * NUMBER) / (most - least)
    zero = round(NAMES + NUMBER - least * scale)
    parts, y = [text(0, 14, title, bold=True)], 30
    for name, bars in groups.items():
        ahead = sum(round(value, 1) > 0 for value in bars.values())
        parts.append(text(0, y + 12, f"{name}: ahead on {ahead}", bold=True))
        y += STEP + 4
        for label, value in bars.items():
            shown, length = round(value, 1) + 0.0, abs(value) * scale
            left = zero - length if shown < 0 else zero
            parts.append(text(NAMES - 6, y + 12, label, "end"))
            parts.append(
                f'<rect x="{left:.1f}" y="{y + 2}" width="{max(length, 1):.1f}" '
                f'height="{STEP - 5}" fill="{OTHER if shown < 0 else OURS}"/>'
            )
            at = left - 4 if shown < 0 else zero + length + 4
            said = f"{shown:+.1f}".replace("-", "−") if shown else "0.0"
            parts.append(text(at, y + 12, said, "end" if shown < 0 else "start"))
            y += STEP
        y += 8
    return document(WIDTH, y, title, [*parts, line(f"M{zero} 34V{y - 6}")])
