"""The buffers of OpenBLAS, which are mapped while a lack of memory is still an error.

OpenBLAS works in a buffer for each thread that is inside it, maps it when it is first needed and
keeps it for all later calls. Where there is no memory for it, OpenBLAS ends the process or tries
for ever, and no caller can catch either. NumPy and SciPy have a copy of OpenBLAS each; a copy
limited to one thread keeps one buffer to itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

BUFFER = 2**25 + 2**16  # bytes: 32 MiB, and what surrounds them
MOST = 64  # threads, for which OpenBLAS has places in the builds of NumPy and SciPy

libraries = cache(ThreadpoolController)  # are looked up once, when first needed


class _Buffers:
    """How many threads have a buffer in each copy of OpenBLAS."""

    def __init__(self) -> None:
        self.lock, self.mapped = Lock(), 0

    def __call__(self, threads: int) -> int:
        """How many of so many threads may be inside BLAS at one time; MemoryError if none may."""
        wanted = min(threads, MOST)
        if wanted <= self.mapped:
            return threads
        with self.lock:
            while wanted > self.mapped:
                try:
                    _map(wanted, wanted - self.mapped)
                    self.mapped = wanted
                except MemoryError:
                    if wanted == 1:
                        raise
                    wanted = threads = max(self.mapped, wanted // 2, 1)
        return threads


def _map(total: int, more: int) -> None:
    """Buffers for so many threads in all, some of which have theirs already."""
    copies = _copies_of_openblas()
    room = len(copies) * (more + 1) * BUFFER
    try:
        np.empty(room, np.uint8)
    except MemoryError as error:
        raise MemoryError(f"BLAS needs {room >> 20} MiB for its buffers") from error
    for take, give_back in copies:
        for buffer in [take(0) for _ in range(total + 1)]:
            give_back(buffer)


@cache
def _copies_of_openblas() -> list[tuple[Callable[[int], int], Callable[[int], None]]]:
    """What takes a buffer and gives it back, in each copy that can be asked."""
    found = []
    for library in libraries().lib_controllers:
        handle: Any = library.dynlib
        if library.internal_api == "openblas" and hasattr(handle, "blas_memory_alloc"):
            take, give_back = handle.blas_memory_alloc, handle.blas_memory_free
            take.restype, take.argtypes = ctypes.c_void_p, [ctypes.c_int]
            give_back.restype, give_back.argtypes = None, [ctypes.c_void_p]
            found.append((take, give_back))
    return found


threads_with_buffers: Callable[[int], int] = _Buffers()
