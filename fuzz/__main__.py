"""All of it for some minutes: `python -m fuzz --minutes 30`, or `make fuzz MINUTES=30`.

The minutes are shared by as many processes as there are cores. The seed is printed; give it again
with `--seed` for the same cases. Exit code 1 says that a promise was broken, and what was printed
says how to see it again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

SHARES = {  # of the time; the rest: interruptions
    "estimators": 0.15,
    "batches": 0.12,
    "threads": 0.1,
    "workers": 0.08,
    "models": 0.12,
    "command": 0.15,
    "streams": 0.1,
    "excel": 0.08,
}
FULL = {"kills": 100, "disks": 20, "limits": 20}  # interruptions in half an hour


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 2**31)
    given = parser.parse_args()
    words = {
        name: ["--seconds", str(round(60 * given.minutes * share))]
        for name, share in SHARES.items()
    }
    words["interruptions"] = [
        part
        for name, n in FULL.items()
        for part in (f"--{name}", str(max(1, round(n * given.minutes / 30))))
    ]
    failed = []

    def run(name: str) -> None:
        command = [sys.executable, "-m", f"fuzz.{name}", *words[name], "--seed", str(given.seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print("$", *command[1:], f"\n{done.stdout}{done.stderr}", flush=True)
        if done.returncode:
            failed.append(name)

    print(f"Seed: {given.seed}", flush=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, words))
    if failed:
        sys.exit(f"Findings of: {', '.join(failed)}. Seed: {given.seed}")


if __name__ == "__main__":
    main()
