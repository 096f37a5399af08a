"""Pieces of SVG pictures. Text has the colour of the page around it, which may be light or dark."""

from __future__ import annotations

OURS, OTHER = "#2a78b8", "#d9731a"


def text(x: float, y: float, words: str, anchor: str = "start", *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight}>{words}</text>'


def line(path: str) -> str:
    return f'<path d="{path}" stroke="currentColor" stroke-opacity=".5" fill="none"/>'


def document(width: int, height: int, title: str, parts: list[str]) -> str:
    """The file; a screen reader reads its title."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{title}" font-family="system-ui, sans-serif" font-size="12" '
        'fill="currentColor">\n' + "\n".join(parts) + "\n</svg>\n"
    )
