"""`eem …`: one file per command. Needs the extra `cli`."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """The entry point of the `eem` command."""
    # A request to end is met as Ctrl-C is: half-written files are removed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        import click  # noqa: F401 (only to know whether the extra is installed)
    except ImportError:
        sys.exit("The `eem` command needs click: pip install 'extreme-entropy[cli]'")
    try:
        from .root import root

        root(prog_name="eem")
    except KeyboardInterrupt:
        sys.exit("Error: Interrupted; no file was written or changed.")
