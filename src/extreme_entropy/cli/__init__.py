"""`eem …`: one file per command. Needs the extra `cli`."""

from __future__ import annotations

import sys


def main() -> None:
    """The entry point of the `eem` command."""
    try:
        import click  # noqa: F401 (only to know whether the extra is installed)
    except ImportError:
        sys.exit("The `eem` command needs click: pip install 'extreme-entropy[cli]'")
    from .root import root

    root()
