"""Rows on disk: every figure in the documentation exists as one, with what it was measured on.

results/NAME.csv holds rows with the number of their run; results/runs.csv says of each run when,
from which commit, with which versions and on which machine it was made.
"""

from __future__ import annotations

import csv
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = (
    *("extreme-entropy", "numpy", "scipy", "scikit-learn"),
    *("imbalanced-learn", "lightgbm", "hpelm"),
)


def write(name: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows to results/NAME.csv, in the place of an earlier run."""
    path = RESULTS / f"{name}.csv"
    path.unlink(missing_ok=True)
    append(name, rows)


def append(name: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add the rows of a new run to results/NAME.csv."""
    path = RESULTS / f"{name}.csv"
    earlier = _load(path) if path.exists() else []
    run = _new_run(name, {row["run"] for row in earlier})
    _dump(path, [*earlier, *({"run": run, **row} for row in rows)])


def read(name: str, by: str | None = None) -> list[dict[str, str]]:
    """The rows of the newest run in results/NAME.csv; or, for each value of `by`, of its newest."""
    rows = _load(RESULTS / f"{name}.csv")
    newest = {row[by] if by else "": row["run"] for row in rows}
    return [row for row in rows if row["run"] == newest[row[by] if by else ""]]


def facts(rows: list[dict[str, str]]) -> dict[str, str]:
    """When, from which commit, with what and where these rows of one run were measured."""
    (run,) = (run for run in _load(RESULTS / "runs.csv") if run["run"] == rows[0]["run"])
    return {key: value for key, value in run.items() if key not in ("run", "name")}


def measured_on(rows: list[dict[str, str]], level: int = 2) -> list[str]:
    """Lines of Markdown that say where rows come from."""
    runs = {row["run"]: facts([row]) for row in rows}
    told = [f"- {key}: {value}" for run in runs.values() for key, value in run.items()]
    return ["#" * level + " Measured on", "", *dict.fromkeys(told), ""]


def _new_run(name: str, kept: set[str]) -> str:
    """The number of a new run, after its facts are written; runs without rows are dropped."""
    path = RESULTS / "runs.csv"
    runs = _load(path) if path.exists() else []
    number = str(1 + max((int(run["run"]) for run in runs), default=0))
    facts = {
        "run": number,
        "name": name,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
        "versions": " ".join(f"{package}={_version(package)}" for package in PACKAGES),
        "machine": f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }
    _dump(path, [*(r for r in runs if r["name"] != name or r["run"] in kept), facts])
    return number


def _dump(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _load(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
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
