"""How much memory and time does `eem fit` take on a table larger than it should hold?

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


def measure(table: Path, model: Path, n: int) -> Row:
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
        "columns": COLUMNS,
        "rare_class": RARE,
        "seed": SEED,
        "pyarrow": pa.__version__,
        "model": facts["model"],
        "size": facts["size"],
        "gmean": round(facts["estimate"]["gmean"], 4),
        "table_mb": round(table.stat().st_size / 2**20),
        "peak_mb": round(usage.ru_maxrss / 1024),
        "seconds": round(time.perf_counter() - start, 1),
    }


@click.command()
@click.option("--rows", default=2_000_000, show_default=True)
def command(rows: int) -> None:
    """Measure memory and time of `eem fit` on a large Parquet file."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.parquet"
        write_table(table, rows)
        row = measure(table, Path(folder) / "model.eem", rows)
    click.echo("  ".join(f"{name}: {value}" for name, value in row.items()))
    add_run("command", [row])
