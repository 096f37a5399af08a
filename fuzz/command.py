"""Random and damaged tables for every command: each ends well, or with an error of one line.

    python -m fuzz.command --seconds 60 --seed 0
    python -m fuzz.command --seed 0 --case 17    one case again

A case follows from the seed and its number. Cases run in a child process of limited memory, which
serves many of them: a traceback, an end by a signal, a file left half-written and a hang are
findings, printed with what to give for a replay.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from . import main
from .serving import replay, run, serve

Rng = np.random.Generator

MEMORY = 4 * 2**30  # bytes of addresses, most of which are never used
SECONDS = 300  # that a case may take, on a busy computer too
LABELS: list[list[Any]] = [
    *(["a", "b"], ["yes", "no"], ["None", "NA"], ["01", "1", "1.0"], ["", " ", "x"]),
    *(["ä", "日本", "😀"], ["TRUE", "FALSE"], ["a\nb", 'c"d', "e,f"], ["=1+1", "-", "a=b"]),
    *([0, 1], [2**53, 2**53 + 1], [-1, 1], [2**63 - 1, -(2**63)], [2**64 - 1, 2**64 - 2]),
    *([True, False], [1.0, 2.0], [1.5, 2.5], [[1], [2]], [{"a": 1}, {"a": 2}], ["only"]),
    *([b"\xff", b"a"], ["a", "a\0"], ["x" * 300, "y"], [None], list(range(60))),
]
NAMES = ["x", "y", "", " ", "é", "😀", "a\nb", "<b>", "p(a)", "prediction", "=x", "x.1", "x" * 300]


def _column(rng: Rng, n: int) -> Any:
    """A column of some type, with gaps perhaps."""
    numbers = rng.normal(size=n) * 10.0 ** rng.integers(-300, 300)
    words = rng.choice(["a", "b", "NA", "é", "1", "", "x" * 2000], n).tolist()
    makers: list[Callable[[], Any]] = [
        lambda: pa.array(numbers),
        lambda: pa.array(rng.normal(size=n)),
        lambda: pa.array(rng.normal(size=n).astype(np.float32)),
        lambda: pa.array(rng.choice([np.nan, np.inf, -np.inf, 1e308, 0.0], n)),
        lambda: pa.array(rng.integers(-(2**62), 2**62, n)),
        lambda: pa.array(rng.integers(0, 2**64, n, dtype=np.uint64)),
        lambda: pa.array(np.arange(n)),
        lambda: pa.array(rng.random(n) < 0.5),
        lambda: pa.array(words),
        lambda: pa.array(words).dictionary_encode(),
        lambda: pa.array([f"id {i}" for i in range(n)]),
        lambda: pa.array(["5"] * (n - 1) + ["word"] * min(n, 1)),
        lambda: pa.array([f"{98000 + i}" for i in range(1, n)] + ["98121-3032"] * min(n, 1)),
        lambda: pa.array(_dates(rng, n)),
        lambda: pa.array(rng.integers(-(2**40), 2**40, n), pa.timestamp("s")),
        lambda: pa.array(rng.integers(-(2**62), 2**62, n), pa.timestamp("ns", "Europe/Warsaw")),
        lambda: pa.array(rng.integers(-(10**6), 10**6, n).astype(np.int32), pa.date32()),
        lambda: pa.array(rng.integers(0, 10**6, n), pa.duration("us")),
        lambda: pa.array(rng.integers(0, 999, n)).cast(pa.decimal128(22, 3)),
        lambda: pa.nulls(n),
        lambda: pa.nulls(n, pa.float64()),
        lambda: pa.nulls(n, pa.string()),
        lambda: pa.array([[1, 2]] * n, pa.list_(pa.int64())),
        lambda: pa.array([{"a": 1}] * n, pa.struct({"a": pa.int64()})),
        lambda: pa.array([b"\xff\0"] * n, pa.binary()),
    ]
    # The first few are drawn most of the time, so that most tables can be fitted.
    column = makers[rng.integers(3) if rng.random() < 0.7 else rng.integers(len(makers))]()
    if rng.random() < 0.3 and not pa.types.is_nested(column.type):
        column = column.take(pa.array(np.arange(n), mask=rng.random(n) < 0.3))
    return column


def _dates(rng: Rng, n: int) -> list[str]:
    """Dates as people write them, some of them wrong."""
    forms = ["{d}.{m}.{y}", "{m}/{d}/{y} 0:00:00", "{y}-{m}-{d}T{h}:05Z", "{m}/{d}/{h}"]
    form = str(rng.choice(forms))
    most = int(rng.choice([12, 28, 31]))
    days = rng.integers(1, most + 1, n)
    parts = zip(rng.integers(1, 13, n), days, rng.integers(1, 9999, n), days % 24, strict=True)
    cells = [form.format(m=m, d=d, y=f"{y:04}", h=f"{h:02}") for m, d, y, h in parts]
    return [cell if rng.random() < 0.98 else "unknown" for cell in cells]


def _table(rng: Rng) -> Any:
    """A small table whose last column is the target `y`."""
    n = int(rng.choice([0, 1, 2, 5, 30, 60, 120], p=[0.03, 0.03, 0.04, 0.1, 0.2, 0.3, 0.3]))
    width = int(rng.integers(1, 6))
    arrays = [_column(rng, n) for _ in range(width)]
    names = [f"c{j}" for j in range(width)]
    for j in range(width):
        if rng.random() < 0.05:
            names[j] = str(rng.choice(NAMES))
    chosen = LABELS[rng.integers(len(LABELS) if rng.random() < 0.3 else 16)]
    share = rng.random() if rng.random() < 0.3 else 0.5
    others = rng.integers(len(chosen), size=n) * (rng.random(n) < share)
    labels = [chosen[i] for i in others]
    if rng.random() < 0.2:
        labels = [None if rng.random() < 0.2 else label for label in labels]
    unsigned = any(isinstance(label, int) and label >= 2**63 for label in chosen)
    return pa.Table.from_arrays(
        [*arrays, pa.array(labels, pa.uint64() if unsigned else None)], [*names, "y"]
    )


def _write(rng: Rng, table: Any, folder: Path, name: str) -> Path:
    """The table in a file of some kind, with altered bytes perhaps."""
    kind = str(rng.choice(["csv", "tsv", "parquet", "feather"]))
    path = folder / f"{name}.{kind}"
    if kind == "parquet":
        pq.write_table(table, path)
    elif kind == "feather":
        compression = str(rng.choice(["uncompressed", "lz4", "zstd"]))
        with pa.OSFile(str(path), "wb") as file:
            options = pa.ipc.IpcWriteOptions(
                compression=None if compression == "uncompressed" else compression
            )
            with pa.ipc.new_file(file, table.schema, options=options) as writer:
                writer.write_table(table)
    else:
        separator = "\t" if kind == "tsv" else str(rng.choice(list(",;|")))
        rows = [table.column_names, *zip(*map(_texts, table.columns), strict=True)]
        text = "\n".join(separator.join(map(_cell, row)) for row in rows) + "\n"
        codecs = ["utf-8", "utf-8", "utf-8", "latin-1", "utf-16", "utf-16-be", "shift_jis"]
        path.write_bytes(text.encode(str(rng.choice(codecs)), "replace"))
    if rng.random() < 0.3:
        path.write_bytes(_altered(rng, path.read_bytes()))
    return path


def _texts(column: Any) -> list[Any]:
    try:
        return column.cast(pa.string()).to_pylist()
    except pa.ArrowException:
        return column.to_pylist()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',;|\t\n"') else text


def _altered(rng: Rng, content: bytes) -> bytes:
    """A few bytes or words changed, or a piece cut out."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        at = int(rng.integers(len(data))) if data else 0
        how = rng.integers(4)
        if how == 0 and data:
            data[at] = int(rng.integers(256))
        elif how == 1 and data:
            data[at] ^= 1 << int(rng.integers(8))
        elif how == 2:
            at -= at % 4
            data[at : at + 4] = int(rng.choice([2**30, 2**31 - 1, 2**32 - 1, 0, 1])).to_bytes(
                4, "little"
            )
        else:
            del data[at : at + int(rng.integers(1, 50))]
    return bytes(data)


def run_case(seed: int, case: int, folder: Path) -> str:
    """One case; how its fit ended. AssertionError is a finding."""
    rng = np.random.default_rng([seed, case])
    table = _table(rng)
    train = _write(rng, table, folder, "train")
    other = _write(rng, table if rng.random() < 0.7 else _table(rng), folder, "other")
    kind = str(rng.choice(["auto", "eem", "eekm"]))
    model, part = folder / "m.eem", folder / "part.eem"
    words = ["--target", "y", "--model", kind, "--size", "10"]
    if rng.random() < 0.2:
        words += ["--cost", f"{LABELS[rng.integers(len(LABELS))][0]}=2"]
    if rng.random() < 0.9:
        words += ["--no-baseline"]
    for option in ("drop", "text", "number", "category", "date", "time", "group"):
        if rng.random() < 0.08:
            words += [f"--{option}", str(rng.choice(table.column_names))]
    if rng.random() < 0.1:
        words += ["--na", str(rng.choice(["5", "a", "NA", "-1"]))]
    if rng.random() < 0.1:
        words += ["--prior", f"{LABELS[rng.integers(len(LABELS))][0]}=0.1"]
    ended = _run("fit", train, *words, "-o", model)
    if ended == "fitted":
        for given in (train, other):
            out = folder / f"out.{rng.choice(['csv', 'parquet', 'feather'])}"
            cost = ["--cost", "a=3"] if rng.random() < 0.2 else []
            _run("predict", model, given, "--proba", *cost, "-o", out)
            _run("evaluate", model, given, *(["--json"] if rng.random() < 0.5 else []))
            if rng.random() < 0.2:
                _run("report", model, given, "-o", folder / "page.html")
            if _run("fit", given, "--like", model, "-o", part) == "fitted":
                _run("merge", model, part, "-o", folder / "both.eem")
            _run("forget", model, given, "-o", folder / "rest.eem")
    left = [path.name for path in folder.iterdir() if path.name.endswith(".part")]
    assert not left, f"half-written files: {left}"
    return ended


def _run(*words: Any) -> str:
    """A command in this process; AssertionError unless it ends as it should."""
    from click.testing import CliRunner

    from extreme_entropy.cli.root import root

    given = [str(word) for word in words]
    done = CliRunner().invoke(root, given, prog_name="eem")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        where = "".join(traceback.format_exception(done.exception)[-4:])
        raise AssertionError(f"eem {' '.join(given[:2])}: {where}")
    if done.exit_code == 0:
        return "fitted"
    errors = [line for line in done.stderr.splitlines() if not line.startswith("Note: ")]
    said = f"eem {' '.join(given[:2])} said {done.stderr[-500:]!r}"
    assert done.exit_code in (1, 2), f"{said} with exit code {done.exit_code}"
    assert done.exit_code == 2 or len(errors) == 1, said
    assert done.exit_code == 2 or errors[0].startswith("Error: "), said
    return "refused"


if __name__ == "__main__":
    if "--serve" in sys.argv:  # the child of a run
        serve(run_case, MEMORY)
    else:
        main(__doc__, partial(run, "command", SECONDS), partial(replay, run_case))
