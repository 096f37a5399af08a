"""A matplotlib figure as SVG inside a page: coloured by the page's style sheet, ids its own.

A strict content policy allows no style attributes, so each becomes presentation attributes, and
colours become classes that the style sheet can make light or dark. Text stays text. What is drawn
again by the page's script has a gid that begins with "mark-" and becomes a class.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from ..plots.style import CLASS_COLOURS, CURVE_COLOURS

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"

# What a colour is for. The page's style sheet says what each looks like.
ROLES = {
    "#000000": "ink",
    "#262626": "ink",
    "#ffffff": "paper",
    **{colour.lower(): f"hue{i}" for i, colour in enumerate(CURVE_COLOURS[:-1])},
    **{colour.lower(): f"hue{i}" for i, colour in enumerate(CLASS_COLOURS)},
}
WIDE, SQUARE = (460, 300), (330, 320)  # pictures, in points
LEFT, RIGHT, BOTTOM, TOP = 52, 20, 42, 16  # around the axes, in points
BESIDE = 26  # of that, for all but the numbers
LOOK: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "extreme-entropy",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "path.simplify": True,
}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as it stands in the page."""

    svg: Markup
    # For x and y two values, and where they are in the picture; and whether scales are logarithmic.
    frame: dict[str, list[float]]


def draw(name: str, title: str, plot: Callable[[Any], None], size: tuple[int, int]) -> Picture:
    """The picture that `plot(ax)` draws, without title and legend, which are the page's."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(LOOK)
        figure = Figure(figsize=(size[0] / 72, size[1] / 72), dpi=72)
        width, height = size
        room = (1 - (LEFT + RIGHT) / width, 1 - (BOTTOM + TOP) / height)
        ax = figure.add_axes((LEFT / width, BOTTOM / height, *room))
        plot(ax)
        for panel in figure.axes:
            _bare(panel)
        figure.patch.set_visible(False)
        file = io.BytesIO()
        with warnings.catch_warnings():
            # The browser has letters that matplotlib's own font has not.
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            _make_room(figure)
            figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        return Picture(_inline(file.getvalue(), name, title), _frame(ax, height))


def _bare(ax: Any) -> None:
    ax.set_title("", loc="left")
    ax.patch.set_visible(False)
    if ax.get_legend() is not None:
        ax.get_legend().remove()


def _make_room(figure: Any) -> None:
    """Axes as far from the left edge as their longest number asks for."""
    width = figure.bbox.width
    numbers = [
        label.get_window_extent().width
        for ax in figure.axes
        for label in ax.get_yticklabels()
        if label.get_text()
    ]
    short = max(0.0, max(numbers, default=0.0) + BESIDE - LEFT) / width
    for ax in figure.axes if short else ():
        box = ax.get_position()
        ax.set_position((box.x0 + short, box.y0, box.width - short, box.height))


def _frame(ax: Any, height: float) -> dict[str, list[float]]:
    (x0, x1), (y0, y1), box = ax.get_xlim(), ax.get_ylim(), ax.bbox
    return {
        "x": [float(v) for v in (x0, x1, box.x0, box.x1)],
        "y": [float(v) for v in (y0, y1, height - box.y0, height - box.y1)],
        "log": [float(scale == "log") for scale in (ax.get_xscale(), ax.get_yscale())],
    }


def _inline(source: bytes, name: str, title: str) -> Markup:
    root = ElementTree.fromstring(source)
    for parent in root.iter():
        for child in list(parent):
            if child.tag in (f"{SVG}metadata", f"{SVG}style"):
                parent.remove(child)
    used = set(re.findall(r"#([\w.-]+)", source.decode()))
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
        _restyle(element)
        _rename(element, name, used)
    box = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib.update({"viewBox": box, "role": "img", "aria-label": title, "id": name})
    # Markup: an XML writer has escaped every text and attribute.
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _restyle(element: Any) -> None:
    classes = []
    for part in element.attrib.pop("style", "").split(";"):
        key, _, value = (word.strip() for word in part.partition(":"))
        if key == "font":
            element.set("font-size", next(iter(re.findall(r"([\d.]+)px", value)), "11"))
        elif key in ("fill", "stroke") and value.lower() in ROLES:
            classes.append(f"{key}-{ROLES[value.lower()]}")
        elif key:
            element.set(key, value)
    if classes:
        element.set("class", " ".join(classes))


def _rename(element: Any, name: str, used: set[str]) -> None:
    """Ids of this picture only; those nothing refers to are dropped."""
    gid = element.attrib.pop("id", "")
    if gid.startswith("mark-"):
        element.set("class", f"{element.get('class', '')} {gid}".strip())
    elif gid in used:
        element.set("id", f"{name}-{gid}")
    link = element.attrib.pop(LINK, "")
    if link:
        element.set("href", f"#{name}-{link[1:]}")
    clip = element.get("clip-path", "")
    if clip:
        element.set("clip-path", clip.replace("url(#", f"url(#{name}-"))
