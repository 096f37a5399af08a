"""How much memory and time does `eem fit` take on a large table, and on a mixed one?

The command runs as a process of its own; the peak is that of its resident memory. (Linux counts at
least the memory of the process that started it: this one, which writes the table in small pieces.)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..store import Row, add_run

COLUMNS, RARE, SEED = 20, 0.01, 0
MIXED_ROWS = 200_000
EEM = [sys.executable, "-c", "from extreme_entropy.cli import main; main()"]


def write_table(path: Path, n: int) -> None:
    """Rows sorted by class, so that the first ones are not typical."""
    rng = np.random.default_rng(SEED)
    names = [f"x{j}" for j in range(COLUMNS)]
    writer: Any = None
    n_rare = int(RARE * n)
    for start in range(0, n, 2**16):
        m = min(2**16, n - start)
        ill = np.arange(start, start + m) < n_rare
        X = rng.normal(size=(m, COLUMNS)) + 0.5 * ill[:, None]
        X[:, 0] = X[:, 0] * (1 + ill)
        table = pa.table(dict(zip(names, X.T, strict=True)) | {"ill": ill.astype(np.int64)})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def write_mixed_table(path: Path, n: int) -> None:
    """Forty columns: numbers, categories, dates and gaps, of which a few matter."""
    rng = np.random.default_rng(SEED)
    numbers = rng.normal(size=(n, 28))
    few = rng.integers(0, 6, (n, 6))
    many = rng.integers(0, 300, (n, 2))
    days = rng.integers(0, 2000, (n, 2)) * 86_400_000
    flags = rng.random((n, 2)) < 0.3
    score = numbers[:, 0] * np.where(few[:, 0] < 3, 1, -1) + 0.6 * numbers[:, 1] + flags[:, 0]
    score += 0.02 * (many[:, 0] % 17) + np.sin(days[:, 0] / 86_400_000 / 58)
    ill = score + rng.normal(size=n) > 2.6
    gaps = rng.random(n) < 0.1
    columns: dict[str, Any] = {f"x{j}": pa.array(x) for j, x in enumerate(numbers.T)}
    columns["x3"] = pa.array(numbers[:, 3], mask=gaps)
    columns |= {f"kind{j}": pa.array(np.array(list("abcdef"))[k]) for j, k in enumerate(few.T)}
    columns |= {f"shop{j}": pa.array([f"s{i}" for i in k]) for j, k in enumerate(many.T)}
    columns |= {f"day{j}": pa.array(d, pa.timestamp("ms")) for j, d in enumerate(days.T)}
    columns |= {f"flag{j}": pa.array(f) for j, f in enumerate(flags.T)}
    pq.write_table(pa.table(columns | {"ill": pa.array(ill.astype(np.int64))}), path)


def measure(table: Path, model: Path, n: int, columns: int) -> Row:
    """Time and peak memory of one fit."""
    start = time.perf_counter()
    command = [*EEM, "fit", str(table), "--target", "ill", "-o", str(model), "--json"]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise click.ClickException(f"eem fit has failed ({status})")
        out.seek(0)
        facts = json.load(out)
    return {
        "rows": n,
        "columns": columns,
        "seed": SEED,
        "pyarrow": pa.__version__,
        "model": facts["model"],
        "size": facts["size"],
        "gmean": round(facts["estimate"]["gmean"], 4),
        "table_mb": round(table.stat().st_size / 2**20),
        "peak_mb": round(usage.ru_maxrss / 1024),
        "seconds": round(time.perf_counter() - start, 1),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 1),
    }


@click.command()
@click.option("--rows", default=2_000_000, show_default=True)
def command(rows: int) -> None:
    """Measure memory and time of `eem fit` on a large and on a mixed Parquet file."""
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        table, model = Path(folder) / "table.parquet", Path(folder) / "model.eem"
        for write, n, columns in (
            (write_table, rows, COLUMNS),
            (write_mixed_table, min(rows, MIXED_ROWS), 40),
        ):
            write(table, n)
            measured.append(measure(table, model, n, columns))
            click.echo("  ".join(f"{name}: {value}" for name, value in measured[-1].items()))
    add_run("command", measured)
