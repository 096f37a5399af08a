"""Text on its way to people: nothing from the data acts on a terminal, and a lost stream is known.

Names of columns, cells, labels and paths may hold any character, and some of them are commands to
a terminal. They are escaped as JSON escapes them, so that one object of JSON stays one.
"""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

# Control characters but the line end, separators of lines, marks that turn the direction of text,
# and halves of characters, which no encoding has.
ACTING = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def harmless(text: str, encoding: str = "utf-8") -> str:
    r"""The same text, with escapes for what acts on a terminal and for what an encoding lacks.

    Examples
    --------
    >>> from extreme_entropy.terminal import harmless
    >>> print(harmless("\x1b[31mred", "ascii"))
    \u001b[31mred
    """
    text = ACTING.sub(lambda match: _escaped(match[0]), text)
    return text.encode(encoding, "extreme_entropy.escaped").decode(encoding)


def _escaped(text: str) -> str:
    return json.dumps(text)[1:-1]


def _without_letter(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return _escaped(error.object[error.start : error.end]), error.end


codecs.register_error("extreme_entropy.escaped", _without_letter)


class Harmless(io.TextIOBase):
    """A stream of text for people, in front of one of the process, which may be closed or full.

    Python has None for a closed stream. `lost` is what the first text met that could not be
    written; what follows is dropped.
    """

    encoding = "utf-8"  # whatever is lacking in that of the stream is escaped

    def __init__(self, stream: TextIO | None) -> None:
        self.stream = stream
        self.lost: OSError | None = None

    @property
    def buffer(self) -> Any:
        """Where bytes are written, as they are; None if the stream is closed."""
        return getattr(self.stream, "buffer", None)

    def isatty(self) -> bool:
        return self.stream is not None and self.stream.isatty()

    def fileno(self) -> int:
        if self.stream is None:
            raise io.UnsupportedOperation("fileno")
        return self.stream.fileno()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"text must be str, not {type(text).__name__}")
        if text:
            self._try(lambda stream: stream.write(harmless(text, stream.encoding or "utf-8")))
        return len(text)

    def flush(self) -> None:
        if self.stream is not None:
            self._try(lambda stream: stream.flush())

    def _try(self, use: Callable[[TextIO], Any]) -> None:
        if self.lost is not None:
            return
        if self.stream is None:
            self.lost = OSError(errno.EBADF, "closed")
            return
        try:
            use(self.stream)
        except OSError as error:
            self.lose(error)

    def lose(self, error: OSError) -> None:
        """Drop what is still in a buffer, which Python would try to write at its end."""
        self.lost = error
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)


@contextmanager
def harmless_streams() -> Iterator[Harmless]:
    """Put `Harmless` in front of stdout, which is yielded, and stderr."""
    before = sys.stdout, sys.stderr
    out, err = Harmless(sys.stdout), Harmless(sys.stderr)
    sys.stdout, sys.stderr = out, err
    try:
        yield out
    finally:
        out.flush()
        err.flush()
        sys.stdout, sys.stderr = before


def unfiltered_stderr() -> TextIO | None:
    """Where a progress bar may move the cursor; None if stderr is closed."""
    return sys.stderr.stream if isinstance(sys.stderr, Harmless) else sys.stderr
