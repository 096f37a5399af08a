"""The programs in `fuzz/`, for a few seconds each; `make fuzz` goes on for as long as one likes."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = {
    "estimators": ["--seconds", "2"],
    "threads": ["--seconds", "2"],
    "batches": ["--seconds", "2"],
    "workers": ["--seconds", "1"],
    "models": ["--seconds", "2"],
    "command": ["--seconds", "2"],
    "excel": ["--seconds", "2"],
    "streams": ["--seconds", "2"],
    "interruptions": ["--kills", "2", "--disks", "1", "--limits", "0"],
}


@pytest.mark.skipif(sys.platform == "win32", reason="limits of memory and forks are those of Unix")
@pytest.mark.parametrize("name", PROGRAMS)
def test_promises_hold_for_a_few_random_cases(name):
    """Random tables through the laws of sums, batches of random types, killed workers and runs."""
    words = [sys.executable, "-m", f"fuzz.{name}", *PROGRAMS[name], "--seed", "0"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.rpartition(" cases")[0].rsplit(maxsplit=1)[-1]) > 0
