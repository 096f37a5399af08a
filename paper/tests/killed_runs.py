"""Starts writers of rows in forks of one process that has imported everything.

Each line read is what to do and a path; a fork does it there, and its number is written.
"""

import os
import sys
from pathlib import Path

from extreme_entropy_paper.experiments.grid import plan, work
from extreme_entropy_paper.experiments.runner import run
from extreme_entropy_paper.store import Store

MODELS = ("EEM-sig", "EEM-rbf")


def experiment(path):
    run(path, plan(["sonar"], MODELS, 1), work, n_jobs=1)


def rows(path):
    """Write rows for ever, and say of each that it is finished."""
    with Store(path) as store:
        number = len(store.done)
        while True:
            about = {"dataset": "d", "model": "m", "setting": {"h": number}, "repeat": 0, "fold": 0}
            store.append({**about, "filler": "x" * 3000})
            with path.with_suffix(".said").open("a") as said:
                print(number, file=said)
            number += 1


if __name__ == "__main__":
    for line in sys.stdin:
        what, path = line.strip().split(" ", 1)
        number = os.fork()
        if not number:
            {"experiment": experiment, "rows": rows}[what](Path(path))
            os._exit(0)
        print(number, flush=True)
        os.waitpid(number, 0)
        print("ended", flush=True)
