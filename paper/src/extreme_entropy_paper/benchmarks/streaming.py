"""Does streaming keep up? Parquet files through `fit_batches`, beside an array in memory.

    python benchmarks/streaming.py            2 000 000 rows
    python benchmarks/streaming.py --full     20 000 000 rows
    python benchmarks/streaming.py --render   docs/cluster.md from the rows on disk

Files are made up in a temporary folder and deleted afterwards. Each fit runs in a process of its
own, whose peak memory is taken from the system.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import rows

PAGE = Path(__file__).parent.parent / "docs" / "cluster.md"
BEGIN, END = "<!-- streaming: made by benchmarks/streaming.py -->", "<!-- end of streaming -->"
D, H, PART, IN_MEMORY = 20, 200, 500_000, 2_000_000
CORES = os.cpu_count()


def part(number: int) -> tuple[Any, Any]:
    """Rows of one file, one class in twenty."""
    rng = np.random.default_rng([0, number])
    y = (rng.random(PART) < 0.05).astype(np.int8)
    return rng.normal(size=(PART, D)) + 0.7 * y[:, None], y


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
    machine = EEMClassifier(H, n_jobs=CORES, random_state=0)
    machine.fit_batches(ds.dataset(files), target="y", checkpoint=path)
    return time.perf_counter() - start


def child(*words: str) -> dict[str, float]:
    """What a process of its own measures."""
    told = subprocess.run(
        [sys.executable, __file__, "--child", *words], check=True, capture_output=True, text=True
    )
    return json.loads(told.stdout)


def run_child(words: list[str]) -> None:
    work, *given = words
    seconds = (
        fit_memory(int(given[0])) if work == "memory" else fit_stream(given[0], work == "kept")
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mb": peak}))


def measure(n: int, repeats: int) -> list[dict[str, Any]]:
    measured = []
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
                    "disk_mb": "" if name == "in memory" else f"{on_disk:.0f}",
                    "seconds": f"{seconds:.2f}",
                    "rows_per_second": f"{count / seconds:.0f}",
                    "share": f"{count / seconds / float(measured[0]['rows_per_second']):.3f}"
                    if measured
                    else "1.000",
                    "peak_mb": f"{max(run['peak_mb'] for run in runs[name]):.0f}",
                }
            )
            print("  ".join(f"{k}: {v}" for k, v in measured[-1].items()), flush=True)
    return measured


def table() -> list[str]:
    measured = rows.read("streaming")
    first = measured[0]
    return [
        f"{first['columns']} columns, h = {first['h']}, {first['threads']} threads; each fit in a "
        "process of its own, whose whole peak memory is shown.",
        "",
        "| how | rows | on disk, MB | fit, s | rows a second | share | peak, MB |",
        "|---|--:|--:|--:|--:|--:|--:|",
        *(
            f"| {r['how']} | {int(r['rows']):,} | {r['disk_mb']} | {float(r['seconds']):.1f} "
            f"| {int(r['rows_per_second']):,} | {float(r['share']):.2f} | {r['peak_mb']} |"
            for r in measured
        ),
        "",
        *rows.measured_on(measured, level=3)[:-1],
    ]


def page(text: str) -> str:
    """docs/cluster.md with its table made anew."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return before + "\n".join([BEGIN, "", *table(), "", END]) + after


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="20 000 000 rows")
    parser.add_argument("--render", action="store_true", help="only write docs/cluster.md")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_child(options.child)
        return
    if not options.render:
        rows.append(
            "streaming", measure(20_000_000 if options.full else 2_000_000, options.repeats)
        )
    PAGE.write_text(page(PAGE.read_text()))


if __name__ == "__main__":
    main()
