"""Tables that cannot be read twice, in a temporary file: standard input, and rows of Excel.

The file goes when the last reference to its `Spool` does, or with the process.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

from ..errors import InputError


class Spool:
    """A temporary file, which some systems can open again only after it was closed."""

    def __init__(self) -> None:
        handle, name = tempfile.mkstemp(prefix="eem-", suffix=".csv")
        os.close(handle)
        self.path: Path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)


def standard_input() -> Spool:
    """All of standard input."""
    if sys.stdin is None:
        raise InputError("Standard input must be a table; it is closed. Name a file instead of -.")
    with suppress(OSError):  # as of a stream that is no file of the system
        mode = os.fstat(sys.stdin.fileno()).st_mode
        if stat.S_ISCHR(mode) and not sys.stdin.isatty():  # some never end
            raise InputError(
                "Standard input must be a table; it is a device. Name a file instead of -, or give "
                "rows through a pipe."
            )
    spool = Spool()
    with spool.path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, 2**20)
    return spool
