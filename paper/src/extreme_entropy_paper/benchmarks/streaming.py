"""Does streaming keep up? Parquet files through `fit_batches`, beside an array in memory.

Files are made up in a temporary folder and deleted afterwards. Each fit runs in a process of its
own, whose peak memory is taken from the system.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..places import ROOT
from ..store import Row, add_run, measured_on, newest, rows_of
from .markdown import cell, embed
from .samples import two_classes

PAGE = ROOT / "docs" / "guide" / "large-data.md"
D, H, PART, IN_MEMORY = 20, 200, 500_000, 2_000_000
CORES = os.cpu_count()


def part(number: int) -> tuple[Any, Any]:
    """Rows of one file, one class in twenty."""
    X, y = two_classes(PART, D, 0.05, 0.7, [0, number])
    return X, y.astype(np.int8)


def write(folder: Path, n: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    for number in range(n // PART):
        X, y = part(number)
        table = pa.table({f"x{j}": X[:, j] for j in range(D)} | {"y": y})
        # Random digits do not compress; dictionaries of them would only cost time.
        pa.parquet.write_table(
            table,
            folder / f"{number:04}.parquet",
            row_group_size=131_072,
            compression="none",
            use_dictionary=["y"],
        )


def fit_memory(n: int) -> float:
    """Seconds to fit rows in memory."""
    from extreme_entropy import EEMClassifier

    parts = [part(number) for number in range(n // PART)]
    X, y = (np.concatenate(side) for side in zip(*parts, strict=True))
    del parts
    start = time.perf_counter()
    EEMClassifier(H, n_jobs=CORES, random_state=0).fit(X, y)
    return time.perf_counter() - start


def fit_stream(folder: str, checkpoint: bool) -> float:
    """Seconds to fit files in a folder, with or without a checkpoint now and then."""
    import pyarrow.dataset as ds

    from extreme_entropy import EEMClassifier

    files = sorted(map(str, Path(folder).glob("*.parquet")))
    path = Path(folder) / "fit.eem" if checkpoint else None
    start = time.perf_counter()
    model = EEMClassifier(H, n_jobs=CORES, random_state=0)
    model.fit_batches(ds.dataset(files), target="y", checkpoint=path)
    return time.perf_counter() - start


def child(*words: str) -> dict[str, float]:
    """What a process of its own measures."""
    command = [sys.executable, "-m", __spec__.name, *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def run_child(words: list[str]) -> None:
    work, *given = words
    seconds = (
        fit_memory(int(given[0])) if work == "memory" else fit_stream(given[0], work == "kept")
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mb": peak}))


def measure(n: int, repeats: int) -> list[Row]:
    measured: list[Row] = []
    in_memory = min(n, IN_MEMORY)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), n)
        on_disk = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6
        jobs = {
            "in memory": (in_memory, ("memory", str(in_memory))),
            "streamed": (n, ("stream", folder)),
            "streamed, with checkpoints": (n, ("kept", folder)),
        }
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in jobs}
        for _ in range(repeats):  # in turns, so that a busy moment hits them all
            for name, (_, words) in jobs.items():
                runs[name].append(child(*words))
        for name, (count, _) in jobs.items():
            seconds = min(run["seconds"] for run in runs[name])
            measured.append(
                {
                    "how": name,
                    "rows": count,
                    "columns": D,
                    "h": H,
                    "threads": CORES,
                    "disk_mb": None if name == "in memory" else round(on_disk),
                    "seconds": round(seconds, 2),
                    "rows_per_second": round(count / seconds),
                    "share": round(count / seconds / measured[0]["rows_per_second"], 3)
                    if measured
                    else 1.0,
                    "peak_mb": round(max(run["peak_mb"] for run in runs[name])),
                }
            )
            click.echo("  ".join(f"{k}: {v}" for k, v in measured[-1].items()))
    return measured


def table() -> list[str]:
    runs = newest("streaming")
    measured = rows_of(runs)
    first = measured[0]
    return [
        f"{first['columns']} columns, h = {first['h']}, {first['threads']} threads; each fit in a "
        "process of its own, whose whole peak memory is shown.",
        "",
        "| how | rows | on disk, MB | fit, s | rows a second | share | peak, MB |",
        "|---|--:|--:|--:|--:|--:|--:|",
        *(
            f"| {r['how']} | {r['rows']:,} | {cell(r['disk_mb'])} | {r['seconds']:.1f} "
            f"| {r['rows_per_second']:,} | {r['share']:.2f} | {r['peak_mb']} |"
            for r in measured
        ),
        "",
        *measured_on(runs, level=3)[:-1],
    ]


def page(text: str) -> str:
    """docs/guide/large-data.md with its table made anew."""
    return embed(text, "streaming", table())


@click.command()
@click.option("--full", is_flag=True, help="20 000 000 rows instead of 2 000 000.")
@click.option("--render", "only_render", is_flag=True, help="Only make the table from the rows.")
@click.option("--repeats", default=2, show_default=True)
def streaming(full: bool, only_render: bool, repeats: int) -> None:
    """Time fits from Parquet files beside an array; a table in docs/guide/large-data.md."""
    if not only_render:
        add_run("streaming", measure(20_000_000 if full else 2_000_000, repeats))
    PAGE.write_text(page(PAGE.read_text()))


if __name__ == "__main__":
    run_child(sys.argv[1:])
