"""`eem-paper …`: the paper's data, its tables and figures, the benchmarks."""

from __future__ import annotations

import signal
from typing import Any


def main() -> None:
    """The entry point of the `eem-paper` command."""
    from .root import root

    signal.signal(signal.SIGTERM, _interrupt)
    root(prog_name="eem-paper")


def _interrupt(number: int, frame: Any) -> None:
    """A request to end is met as Ctrl-C is."""
    raise KeyboardInterrupt
