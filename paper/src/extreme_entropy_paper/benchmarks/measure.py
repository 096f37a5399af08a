"""How time and memory are taken: best of several, and the peak beyond what was there before."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def best_seconds(*works: Callable[[], Any], repeats: int = 3, pause: float = 0.0) -> list[float]:
    """The best time of each work, taken in turns, so that a busy moment hits them all.

    A pause before each lets the threads of the work before fall asleep: BLAS keeps its own spinning
    for some time after a call, on the very cores that the next work wants.
    """
    best = [np.inf] * len(works)
    for _ in range(repeats):
        for i, work in enumerate(works):
            time.sleep(pause)
            start = time.perf_counter()
            work()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def peak_megabytes(work: Callable[[], Any]) -> float:
    """Peak resident memory during the work beyond what was resident before it (Linux)."""
    ctypes.CDLL(None).malloc_trim(0)  # give back what earlier work left to be used again
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _status("VmRSS")
    work()
    return (_status("VmHWM") - before) / 1024


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise SystemExit("Peak memory is read from /proc, which this system lacks.")


def exponent(sizes: list[float], times: list[float]) -> float:
    """The power with which times grow: the slope of a line through their logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
