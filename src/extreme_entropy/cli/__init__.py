"""`eem …`: one file per command. Needs the extra `cli`."""

from __future__ import annotations

import signal
import sys
from typing import Any


def main() -> None:
    """The entry point of the `eem` command."""
    try:
        import click  # noqa: F401 (only to know whether the extra is installed)
    except ImportError:
        sys.exit("The `eem` command needs click: pip install 'extreme-entropy[cli]'")
    from .root import root

    signal.signal(signal.SIGTERM, _interrupt)
    root(prog_name="eem")


def _interrupt(number: int, frame: Any) -> None:
    """A request to end is met as Ctrl-C is: half-written files are removed."""
    raise KeyboardInterrupt
