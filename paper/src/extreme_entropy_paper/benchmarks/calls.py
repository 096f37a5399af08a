"""How many functions does a call pass through, and is anything done twice on the way?

Python's own profiler hook sees every call inside the package `extreme_entropy`, in all threads.
Counted are distinct named functions (no lambdas, comprehensions or generator expressions), files,
the deepest nesting of the package's functions, and calls; and how often, on average, a row is
hashed, a column's value scanned, and the header of a CSV file parsed. Nothing here is a time, so a
busy computer does not matter.

To measure another checkout, put its source first: `PYTHONPATH=OTHER/src eem-paper bench calls`.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

import click
import numpy as np
from sklearn.datasets import load_breast_cancer

import extreme_entropy
from extreme_entropy import EEMClassifier, EEMClassifierCV

from .. import facts
from ..store import Row, add_run

PACKAGE = str(Path(extreme_entropy.__file__).parent)
HASH, SCAN = "ContentHash.__call__", "ColumnStats.of"
HEADERS = ("_read_header", "_written_names")  # the second: before 0.2


@dataclass
class Counts:
    """What a profiled call has passed through so far."""

    functions: set[tuple[str, str]] = field(default_factory=set)  # file and name
    calls: int = 0
    deepest: int = 0
    rows_hashed: int = 0
    rows_scanned: int = 0
    headers: int = 0

    def enter(self, frame: FrameType, depth: int) -> None:
        """A function of the package was called at that depth."""
        name = frame.f_code.co_qualname
        self.functions.add((frame.f_code.co_filename, name))
        self.calls += 1
        self.deepest = max(self.deepest, depth)
        if name == HASH:
            self.rows_hashed += _rows(frame)
        elif name == SCAN:
            self.rows_scanned += _rows(frame)
        elif name in HEADERS:
            self.headers += 1


def _rows(frame: FrameType) -> int:
    """Of the first argument after self or cls."""
    given = frame.f_locals[frame.f_code.co_varnames[1]]
    return int(given.shape[0])


def profile(work: Callable[[], Any]) -> Counts:
    """Run the work and count what it passes through."""
    counts, local = Counts(), threading.local()

    def hook(frame: FrameType, event: str, argument: Any) -> None:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return
        depth = getattr(local, "depth", 0)
        if event == "call":
            local.depth = depth + 1
            counts.enter(frame, depth + 1)
        elif event == "return":
            local.depth = depth - 1

    threading.setprofile(hook)
    sys.setprofile(hook)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return counts


def works(X: Any, y: Any, folder: Path) -> dict[str, Callable[[], Any]]:
    """What is profiled, by name."""
    model, papers = EEMClassifier(random_state=0), EEMClassifier.paper(n_hidden=100, random_state=0)
    table = folder / "table.csv"
    header = ",".join([*(f"x{j}" for j in range(X.shape[1])), "y"])
    rows = np.column_stack([X, y])
    np.savetxt(table, rows, delimiter=",", header=header, comments="", fmt="%.17g")
    words = ["fit", str(table), "--target", "y", "-o", str(folder / "model.eem")]
    return {
        "EEMClassifier.fit": lambda: model.fit(X, y),
        "EEMClassifier.paper().fit": lambda: papers.fit(X, y),  # the same work at every commit
        "EEMClassifier.predict_proba": lambda: model.predict_proba(X),
        "EEMClassifierCV.fit": lambda: EEMClassifierCV((20, 50), cv=5, random_state=0).fit(X, y),
        "eem fit": lambda: _eem(words),
    }


def _eem(words: list[str]) -> None:
    from extreme_entropy.cli import main

    before = sys.argv
    sys.argv = ["eem", *words]
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()), suppress(SystemExit):
            main()
    finally:
        sys.argv = before


def measure() -> list[Row]:
    """One row for each call."""
    X, y = load_breast_cancer(return_X_y=True)
    commit, measured = facts.commit(), []
    with tempfile.TemporaryDirectory() as folder:
        for name, work in works(X, y, Path(folder)).items():
            counts = profile(work)
            named = {pair for pair in counts.functions if "<" not in pair[1].split(".")[-1]}
            measured.append(
                {
                    "commit": commit,
                    "call": name,
                    "functions": len(named),
                    "files": len({file for file, _ in counts.functions}),
                    "depth": counts.deepest,
                    "calls": counts.calls,
                    "row_hashes": round(counts.rows_hashed / len(X), 2),
                    "column_scans": round(counts.rows_scanned / len(X), 2),
                    "header_parses": counts.headers,
                }
            )
        if not (Path(folder) / "model.eem").exists():
            raise click.ClickException("eem fit has written no model.")
    return measured


@click.command()
@click.option("--dry", is_flag=True, help="Only print; keep no rows.")
def calls(dry: bool) -> None:
    """Count the functions that fit, predict_proba, a search and `eem fit` pass through."""
    measured = measure()
    for row in measured:
        click.echo("  ".join(f"{name}: {value}" for name, value in row.items()))
    if not dry:
        add_run("calls", measured)
