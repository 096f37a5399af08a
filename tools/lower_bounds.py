"""Prints the lower bound of every dependency as an exact pin, for pip's `--constraint`.

    python tools/lower_bounds.py > oldest.txt
    pip install --constraint oldest.txt -e '.[all,test]'

What pyproject.toml promises is then what is installed and tested.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
BOUND = re.compile(r"(?P<name>[\w.-]+)(\[[\w,]+\])?>=(?P<version>[\w.]+)")
OWN_EXTRAS = re.compile(r"extreme-entropy\[[\w,]+\]")


def lower_bounds(requirements: Iterable[str]) -> dict[str, str]:
    """Package ↦ lowest version; every requirement has one, and two never disagree."""
    bounds: dict[str, str] = {}
    for requirement in requirements:
        if OWN_EXTRAS.fullmatch(requirement):
            continue
        bound = BOUND.fullmatch(requirement)
        if bound is None:
            raise ValueError(f"{requirement!r} must read 'name>=version' to have a lower bound.")
        name, version = bound["name"], bound["version"]
        if bounds.setdefault(name, version) != version:
            raise ValueError(f"{name} is bounded by {bounds[name]} and by {version}: choose one.")
    return bounds


def promised(pyproject: Path = PYPROJECT) -> dict[str, str]:
    """The lower bounds of the library and all its extras."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    return lower_bounds(
        [*project["dependencies"], *(requirement for extra in extras for requirement in extra)]
    )


if __name__ == "__main__":
    sys.stdout.writelines(f"{name}=={version}\n" for name, version in sorted(promised().items()))
