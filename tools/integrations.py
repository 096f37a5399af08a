"""Try other libraries with ours, and write docs/guide/integrations.md.

    python tools/integrations.py
    python tools/integrations.py --packages    the names of all packages that are tried

What is tried is in tests/integrations.py, each a test as well. Packages that are not installed keep
the row that they had. `make integrations` installs all of them, in an environment of their own.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "guide" / "integrations.md"
sys.path.insert(0, str(ROOT / "tests"))

from integrations import INTEGRATIONS, Integration  # noqa: E402 (after its place is known)

WIDEST = 160  # characters of a refusal


def outcome(one: Integration) -> str:
    """Works, or the words of a refusal; anything else is an error."""
    print(one.work.__name__, flush=True)
    words = one.work()
    if words is None:
        return "works"
    short = words if len(words) <= WIDEST else words[:WIDEST].rpartition(" ")[0] + " …"
    return "refused: `" + short.replace("|", "/").replace("`", "'") + "`"


def row(one: Integration, before: dict[str, str]) -> str:
    """A row of the table."""
    if one.absent:
        if one.what not in before:
            raise SystemExit(f"{', '.join(one.absent)} must be installed for: {one.what}")
        return before[one.what]
    versions = ", ".join(f"{package} {number}" for package, number in one.versions.items())
    return f"| {versions} | {one.what} | {outcome(one)} |"


def with_rows(text: str) -> str:
    """The page with its table made anew."""
    start, end = "<!-- integrations: made by tools/integrations.py -->\n", "<!-- end"
    head, _, rest = text.partition(start)
    table, _, tail = rest.partition(end)
    before = {line.split(" | ")[1]: line for line in table.splitlines() if line[:2] == "| "}
    lines = ["| package | tried | outcome |", "|---|---|---|"]
    lines += [row(one, before) for one in INTEGRATIONS]
    return head + start + "\n" + "\n".join(lines) + "\n\n" + end + tail


def main() -> None:
    """Try all, then write."""
    if sys.argv[1:] == ["--packages"]:
        print(*sorted({package for one in INTEGRATIONS for package in one.packages}))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = with_rows(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
