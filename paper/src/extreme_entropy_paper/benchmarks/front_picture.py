"""Bars to the right and to the left of zero, as text of an SVG file that suits light and dark.

Text has the colour of the page around it. The same numbers give the same file.
"""

from __future__ import annotations

from collections.abc import Mapping

WIDTH, NAMES, NUMBER, STEP = 470, 204, 34, 17  # the picture, names, a number; a row's height
LEFT, RIGHT = "#d9731a", "#2a78b8"


def draw(groups: Mapping[str, Mapping[str, float]], title: str) -> str:
    """One bar for each name, with its value beside it; groups have a title each."""
    values = [value for bars in groups.values() for value in bars.values()]
    least, most = min(0.0, *values), max(0.0, *values)
    scale = (WIDTH - NAMES - 2 * NUMBER) / (most - least)
    zero = round(NAMES + NUMBER - least * scale)
    parts, y = [_text(0, 14, title, "start", weight=True)], 30
    for name, bars in groups.items():
        ahead = sum(round(value, 1) > 0 for value in bars.values())
        parts.append(_text(0, y + 12, f"{name}: ahead on {ahead}", "start", weight=True))
        y += STEP + 4
        for label, value in bars.items():
            shown, length = round(value, 1) + 0.0, abs(value) * scale
            left = zero - length if shown < 0 else zero
            parts.append(_text(NAMES - 6, y + 12, label, "end"))
            parts.append(
                f'<rect x="{left:.1f}" y="{y + 2}" width="{max(length, 1):.1f}" '
                f'height="{STEP - 5}" fill="{LEFT if shown < 0 else RIGHT}"/>'
            )
            at = left - 4 if shown < 0 else zero + length + 4
            said = f"{shown:+.1f}".replace("-", "−") if shown else "0.0"
            parts.append(_text(at, y + 12, said, "end" if shown < 0 else "start"))
            y += STEP
        y += 8
    line = f'<path d="M{zero} 34V{y - 6}" stroke="currentColor" stroke-opacity=".5"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" role="img" '
        f'aria-label="{title}" font-family="system-ui, sans-serif" font-size="12" '
        'fill="currentColor">\n' + "\n".join([*parts, line]) + "\n</svg>\n"
    )


def _text(x: float, y: float, text: str, anchor: str, *, weight: bool = False) -> str:
    bold = ' font-weight="600"' if weight else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{bold}>{text}</text>'
