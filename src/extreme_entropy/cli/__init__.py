"""`eem …`: one file per command. Needs the extra `cli`."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any


def main() -> None:
    """The entry point of the `eem` command."""
    _fill_closed_streams()
    # A request to end is met as Ctrl-C is: half-written files are removed.
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # Windows has no SIGHUP
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, _interrupt)
    try:
        import click  # noqa: F401 (only to know whether the extra is installed)
    except ImportError:
        sys.exit("The `eem` command needs click: pip install 'extreme-entropy[cli]'")
    try:
        from .root import root

        root(prog_name="eem")
    except KeyboardInterrupt:
        sys.exit("Error: Interrupted; no file was written or changed.")


def _fill_closed_streams() -> None:
    """Let no file get the number of a closed stream: libraries may write there."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # which takes the lowest number that is free


def _interrupt(number: int, frame: Any) -> None:
    """Once: a closed terminal sends its signal twice, and the second would end the cleaning up."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
