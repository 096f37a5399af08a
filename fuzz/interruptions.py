"""Runs that are killed, run out of disk or out of memory: nothing is lost, no traceback is shown.

    python -m fuzz.interruptions --kills 100 --disks 20 --limits 20 --seed 0
    python -m fuzz.interruptions --seed 0 --case kill 17    one case again

A case follows from the seed, its kind and its number, but for the very moment of a kill. Each
runs `eem fit` over a model that is there already, or a fit over batches with a checkpoint, in a
process of its own that starts with the library loaded. Needs a system with fork; disks that are
really full need the right to mount one, and are limits of file sizes without it. Limits of memory
are those of a shell (`ulimit -v`) for a command that loads the library itself.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from extreme_entropy import EEMClassifier, load, persistence

FORK = multiprocessing.get_context("forkserver")
FORK.set_forkserver_preload(["extreme_entropy.tables.fitting", __name__])
ROWS, COLUMNS, BATCHES = 3000, 6, 40
SECONDS = 300  # that a run may take
MEMORY = 2500  # MiB: more than any of the fits takes


def rows() -> tuple[Any, Any]:
    """A table that takes some time to learn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    return X, (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=ROWS) > 0.5).astype(int)


def write_table(path: Path) -> None:
    """The rows as CSV."""
    X, y = rows()
    header = ",".join([*(f"x{j}" for j in range(COLUMNS)), "y"])
    np.savetxt(path, np.column_stack([X, y]), "%.6g", ",", header=header, comments="")


def command(words: list[str], log: Path, limits: dict[int, int]) -> None:
    """The command in this process, which is ours alone."""
    from extreme_entropy.cli import main

    for handle in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), handle)
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, resource.getrlimit(limit)[1]))
    sys.argv = ["eem", *words]
    main()


def fit_batches(checkpoint: Path, result: Path) -> None:
    """A fit over batches that goes on from its checkpoint."""
    X, y = rows()
    batches = zip(np.array_split(X, BATCHES), np.array_split(y, BATCHES), strict=True)
    classifier = EEMClassifier(40, relevance="uniform", random_state=0)
    classifier.fit_batches(batches, classes=[0, 1], checkpoint=checkpoint, every=1).save(result)


def finished(process: Any) -> int:
    """The exit code of a process, which ends in good time."""
    process.join(SECONDS)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise AssertionError(f"not done after {SECONDS} s")
    return int(process.exitcode)


def kill(rng: random.Random, home: Path, duration: float) -> str:
    """`eem fit` is killed at any moment, or while it writes; the old or the new model is there."""
    model, before = home / "model.eem", set(home.iterdir())
    words = ["fit", str(home / "table.csv"), "--target", "y", "--model", "eem", "-o", str(model)]
    words += ["--size", "60", "--seed", str(rng.randrange(2))]
    process = FORK.Process(target=command, args=(words, home / "log", {}))
    process.start()
    end = time.monotonic() + rng.uniform(0, 1.2) * duration
    while_writing = rng.random() < 0.5
    while process.exitcode is None and time.monotonic() < end:
        if while_writing and set(home.iterdir()) - before - {home / "log"}:
            time.sleep(rng.uniform(0, 0.02))
            break
        time.sleep(0.001)
    process.kill()
    code = finished(process)
    load(model)  # whole, old or new
    for path in set(home.iterdir()) - before - {home / "log"}:
        assert path.name.startswith("."), f"{path.name} was left behind"
        path.unlink()
    return "killed" if code < 0 else "was done"


def kill_batches(rng: random.Random, home: Path, duration: float) -> str:
    """A fit over batches, killed and started again, ends with the same bits."""
    checkpoint, result = home / "checkpoint", home / "result.eem"
    result.unlink(missing_ok=True)
    times = 0
    while True:
        process = FORK.Process(target=fit_batches, args=(checkpoint, result))
        process.start()
        process.join(rng.uniform(0, 1.2) * duration if times < 3 else SECONDS)
        process.kill()
        code = finished(process)
        if code == 0:
            break
        assert code < 0, f"exit code {code}"
        times += 1
    (values, arrays), (others, whole) = map(persistence.read, (result, home / "whole.eem"))
    assert values == others, "other values"
    assert arrays.keys() == whole.keys(), "other arrays"
    assert all(np.array_equal(arrays[name], whole[name]) for name in whole), "other bits"
    assert not checkpoint.exists(), "a checkpoint was left behind"
    for part in home.glob(".*.part"):  # of what was killed while it wrote
        part.unlink()
    return f"killed {times} times"


def disk(rng: random.Random, home: Path, duration: float) -> str:
    """The disk is full, or a file may not grow: one line, and the old model is as it was."""
    with small_disk(rng.randrange(8, 400) * 1024) as (place, limits):
        model = place / "model.eem"
        model.write_bytes(b"old")
        words = ["fit", str(home / "table.csv"), "--target", "y", "--model", "eem"]
        words += ["--size", "60", "-o", str(model)]
        process = FORK.Process(target=command, args=(words, home / "log", limits))
        process.start()
        return refused(finished(process), home / "log", model)


def limit(rng: random.Random, home: Path, duration: float) -> str:
    """Memory runs out: one line, and the old model is as it was."""
    model, size = home / "small.eem", rng.choice([50, 500, 1000, 1500])
    model.write_bytes(b"old")
    words = ["fit", str(home / "table.csv"), "--target", "y", "-o", str(model)]
    words += ["--size", str(size), "--model", rng.choice(["auto", "eem", "eekm"])]
    most = rng.randrange(MEMORY) * 2**20
    with (home / "log").open("w") as log:
        done = subprocess.run(
            [sys.executable, "-m", "extreme_entropy", *words],
            stdout=log,
            stderr=log,
            timeout=SECONDS,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        )
    return refused(done.returncode, home / "log", model)


def refused(code: int, log: Path, model: Path) -> str:
    """What became of a run that may have lacked something."""
    shown = log.read_text(errors="replace")
    log.unlink()
    if code == 0:
        load(model)
        return "was done"
    assert model.read_bytes() == b"old", "the old model is gone"
    assert code == 1, f"exit code {code}: {shown[-500:]}"
    assert "Traceback" not in shown, shown[-2000:]
    left = [path.name for path in model.parent.iterdir() if path.name.startswith(".")]
    assert not left, f"{left} were left behind"
    return "refused"


@contextmanager
def small_disk(size: int) -> Iterator[tuple[Path, dict[int, int]]]:
    """A folder on a disk of so many bytes; or any folder, and a limit of the size of files."""
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            yield Path(folder), {resource.RLIMIT_FSIZE: size}
            return
        try:
            yield Path(folder), {}
        finally:
            subprocess.run(["umount", folder], check=True)


KINDS = {"kill": kill, "batches": kill_batches, "disk": disk, "limit": limit}


def run(counts: dict[str, int], seed: int) -> int:
    """So many cases of each kind; how many there were. Findings are printed, and are an error."""
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        durations = prepare(home)
        for kind, n in counts.items():
            for case in range(n):
                try:
                    outcome = run_case(kind, seed, case, home, durations)
                    found[f"{kind} {outcome}"] += 1
                except Exception as error:
                    found["findings"] += 1
                    print(f"--seed {seed} --case {kind} {case}: {type(error).__name__}: {error}")
    total = sum(found.values())
    print(f"{total} cases: {', '.join(f'{n} {name}' for name, n in sorted(found.items()))}")
    if found["findings"]:
        raise AssertionError(f"{found['findings']} findings")
    return total


def prepare(home: Path) -> dict[str, float]:
    """A table, a model of it and the result of a whole fit; how long each takes."""
    write_table(home / "table.csv")
    words = ["fit", str(home / "table.csv"), "--target", "y", "--model", "eem", "--size", "60"]
    words += ["-o", str(home / "model.eem")]
    runs: dict[str, tuple[Callable[..., None], tuple[Any, ...]]] = {
        "kill": (command, (words, home / "log", {})),
        "batches": (fit_batches, (home / "checkpoint", home / "whole.eem")),
    }
    durations = {}
    for kind, (target, given) in runs.items():
        FORK.Process(target=time.sleep, args=(0,)).start()  # the server, which loads the library
        process = FORK.Process(target=target, args=given)
        began = time.monotonic()
        process.start()
        if finished(process):
            raise AssertionError((home / "log").read_text())
        durations[kind] = time.monotonic() - began
    (home / "log").unlink()
    return durations


def run_case(kind: str, seed: int, case: int, home: Path, durations: dict[str, float]) -> str:
    """One case."""
    rng = random.Random(f"{seed} {kind} {case}")
    outcome = KINDS[kind](rng, home, durations.get(kind, 0.0))
    (home / "log").unlink(missing_ok=True)
    return outcome


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.interruptions", description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--disks", type=int, default=20)
    parser.add_argument("--limits", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", nargs=2, help="only this case: its kind and number")
    given = parser.parse_args()
    if given.case is None:
        half = given.kills // 2
        counts = {"kill": given.kills - half, "batches": half}
        run({**counts, "disk": given.disks, "limit": given.limits}, given.seed)
        return
    with tempfile.TemporaryDirectory() as folder:
        kind, case = given.case
        print(run_case(kind, given.seed, int(case), Path(folder), prepare(Path(folder))))


if __name__ == "__main__":
    main()
