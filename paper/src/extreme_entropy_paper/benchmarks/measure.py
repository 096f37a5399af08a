"""How time and memory are taken: best of several, and the peak beyond what was there before."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from contextlib import suppress
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
    before = megabytes("VmRSS")
    work()
    return megabytes("VmHWM") - before


def megabytes(field: str, pid: int | str = "self") -> float:
    """VmRSS or its peak, VmHWM, of a process; 0 once the process is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    return 0.0


def exponent(sizes: list[float], times: list[float]) -> float:
    """The power with which times grow: the slope of a line through their logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
