"""Values as cells of a Markdown table, and tables made anew inside pages written by hand."""

from __future__ import annotations

import re
from typing import Any


def cell(value: Any, form: str = "") -> str:
    """A value in a format; nothing where there is none."""
    return "" if value is None else format(value, form)


def embed(text: str, name: str, lines: list[str]) -> str:
    """The page with new lines between `<!-- NAME: ... -->` and `<!-- end of NAME -->`."""
    place = re.compile(rf"(<!-- {name}: [^>]*-->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    if not place.search(text):
        raise ValueError(f"The page must hold the comments of the table {name!r}.")
    body = "\n".join(["", *lines, "", ""])
    return place.sub(lambda found: found[1] + body + found[2], text, count=1)
