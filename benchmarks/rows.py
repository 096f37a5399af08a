"""Rows on disk: every figure in the documentation exists as one, with what it was measured on."""

from __future__ import annotations

import csv
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("extreme-entropy", "numpy", "scipy", "scikit-learn", "imbalanced-learn")


@cache
def facts() -> dict[str, str]:
    """Commit, versions and machine of this run."""
    return {
        "commit": _commit(),
        "versions": " ".join(f"{name}={_version(name)}" for name in PACKAGES),
        "machine": f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }


def write(name: str, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows, each with the facts of this run, to results/NAME.csv."""
    rows = [{**row, **facts()} for row in rows]
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def read(name: str) -> list[dict[str, str]]:
    """The rows of results/NAME.csv."""
    with (RESULTS / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def _commit() -> str:
    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=RESULTS.parent, capture_output=True, text=True, check=False
        ).stdout.strip()

    changed = "+changes" if git("status", "--porcelain", "--", "../src") else ""
    return (git("rev-parse", "--short", "HEAD") or "unknown") + changed


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
