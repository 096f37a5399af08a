"""Checks that the version is the same wherever it is written, and that a tag may be released.

python tools/check_release.py            the version everywhere
python tools/check_release.py v0.3.0     and the tag: the workflow of releases asks this first
"""

from __future__ import annotations

import re
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNRELEASED = "unreleased"


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def newest_section() -> tuple[str, str]:
    """Version and date of the changelog's first section, such as ("0.3.0", "unreleased")."""
    heading = re.search(r"^## (\d\S*) \((\S+)\)$", text_of("CHANGELOG.md"), re.M)
    if heading is None:
        raise SystemExit("CHANGELOG.md has no section such as '## 0.3.0 (unreleased)'.")
    return heading[1], heading[2]


def faults(version: str, day: str) -> list[str]:
    """Where another version is written, or another date."""
    citation = text_of("CITATION.cff")
    cited = re.search(r"^date-released: (.*)$", citation, re.M)
    expected = None if day == UNRELEASED else day
    problems = []
    if f'__version__ = "{version}"' not in text_of("src/extreme_entropy/__init__.py"):
        problems.append(f"src/extreme_entropy/__init__.py is not of version {version}")
    if f"\nversion: {version}\n" not in citation:
        problems.append(f"CITATION.cff is not of version {version}")
    if (cited[1] if cited else None) != expected:
        problems.append(f"CITATION.cff must have date-released: {expected or 'no date yet'}")
    if expected is not None:
        try:
            date.fromisoformat(expected)
        except ValueError:
            problems.append(f"{expected!r} is not a date such as 2026-11-30")
    return problems


def faults_of_tag(tag: str) -> list[str]:
    """Why the tag must not be released; none if it may."""
    version, day = newest_section()
    problems = (
        [] if tag == f"v{version}" else [f"the tag is {tag}, the changelog's version {version}"]
    )
    if day == UNRELEASED:
        return [*problems, f"CHANGELOG.md calls {version} unreleased: give it its date"]
    return problems + faults(version, day)


def main(arguments: list[str]) -> int:
    problems = faults_of_tag(arguments[0]) if arguments else faults(*newest_section())
    print("\n".join(problems) or "The version is the same everywhere.")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
