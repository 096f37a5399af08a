"""Where the memory of a process is limited (`ulimit -v`): enough of it, or an error at once.

Libraries that `eem` is built on end the process, or try for ever, where they are loaded with too
little memory. So it is looked at before they are.
"""

from __future__ import annotations

import mmap
import os

import click

LEAST = 2**30  # bytes of address space: what the libraries take, and a small fit

# Each of them takes addresses that it hardly uses: for threads of its own, or all at once.
SPARING = {"OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}


def require_memory() -> None:
    """Raise unless there is memory to begin with; save some where it is limited."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return
    for name, value in SPARING.items():
        os.environ.setdefault(name, value)
    try:
        mmap.mmap(-1, LEAST).close()
    except (OSError, MemoryError) as error:
        raise click.ClickException(
            f"eem needs {LEAST >> 30} GiB of free address space; this process may have "
            f"{limit / 2**30:.2f} GiB in all. Raise the limit (ulimit -v)."
        ) from error
