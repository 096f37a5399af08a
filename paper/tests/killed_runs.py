"""Starts runs of an experiment in forks of one process that has imported everything.

Each line read is a path; a fork runs the experiment there, and its number is written.
"""

import os
import sys
from pathlib import Path

from extreme_entropy.experiments.grid import plan, work
from extreme_entropy.experiments.runner import run

MODELS = ("EEM-sig", "EEM-nsig", "EEM-rbf", "WELM-sig")

if __name__ == "__main__":
    for line in sys.stdin:
        number = os.fork()
        if not number:
            run(Path(line.strip()), plan(["sonar"], MODELS, 1), work, n_jobs=1)
            os._exit(0)
        print(number, flush=True)
        os.waitpid(number, 0)
        print("ended", flush=True)
