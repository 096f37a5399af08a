"""Checks a built wheel and source archive: the right files, and a description without dead links.

python tools/check_dist.py dist
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

from readme_renderer import markdown

PACKAGE = "extreme_entropy"
# What a source archive holds beside its folders.
FOLDERS = {"src", "tests", "fuzz", "tools", "docs"}
NEEDED = {"Makefile", "README.md", "CHANGELOG.md", "LICENSE", "CITATION.cff", "pyproject.toml"}


def faults_of_wheel(path: Path) -> list[str]:
    """The wheel holds the library, its metadata and nothing else."""
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        description = message_from_bytes(wheel.read(metadata)).get_payload()
    library = (f"{PACKAGE}/", f"{Path(metadata).parent}/")
    faults = [f"{name} is not of the library" for name in names if not name.startswith(library)]
    faults += [f"{PACKAGE}/{name} is missing" for name in ("__init__.py", "py.typed")
               if f"{PACKAGE}/{name}" not in names]  # fmt: skip
    return faults + faults_of_description(str(description))


def faults_of_description(text: str) -> list[str]:
    """A package index can show it, and every picture and link in it has a place of its own."""
    page = markdown.render(text)
    if not page:
        return ["the description cannot be shown"]
    targets = re.findall(r'(?:src|href)="([^"]*)"', page)
    return [f"{target!r} leads nowhere on a package index" for target in targets
            if not target.startswith(("https://", "http://", "#"))]  # fmt: skip


def faults_of_source(path: Path) -> list[str]:
    """The source archive holds what `make test` needs, and not the paper's experiments."""
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    top = {name.partition("/")[0] for name in names}
    faults = [f"{name} is missing" for name in sorted((FOLDERS | NEEDED) - top)]
    folders = {name.partition("/")[0] for name in names if "/" in name}
    return faults + [f"{folder}/ does not belong" for folder in sorted(folders - FOLDERS)]


def main(folder: Path) -> int:
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    faults = [f"{wheel.name}: {fault}" for fault in faults_of_wheel(wheel)]
    faults += [f"{source.name}: {fault}" for fault in faults_of_source(source)]
    print("\n".join(faults) or f"{wheel.name} and {source.name} hold what they should.")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
