"""Bars for the steps of a command; see `extreme_entropy.progress`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..progress import with_progress


def watched(steps: Iterable[Any], label: str, source: None = None) -> Iterator[Any]:
    """The same steps, with a bar where stderr is a terminal."""
    return with_progress(list(steps), label=label, unit="step", terminal_only=True)
