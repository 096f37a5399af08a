"""Progress bars on stderr, by tqdm (extra `progress`)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .terminal import unfiltered_stderr


def with_progress(
    steps: Iterable[Any],
    *,
    total: int | None = None,
    unit: str = "batch",
    label: str | None = None,
    amount: Callable[[Any], int] | None = None,
    share: Callable[[], float] | None = None,
    terminal_only: bool = False,
) -> Iterator[Any]:
    """The same steps, with a bar that moves as they are taken.

    `amount` gives the units in a step; otherwise each counts one. Where no total is known, `share`
    gives the share of all that has been taken so far. There is no bar where stderr is closed, and
    with `terminal_only` none where it is no terminal.
    """
    screen = unfiltered_stderr()
    if screen is None or (terminal_only and not screen.isatty()):
        yield from steps
        return
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError(
            "A progress bar needs tqdm: pip install 'extreme-entropy[progress]'"
        ) from error
    columns, lines = shutil.get_terminal_size()  # 80 and 24 where a terminal does not tell
    with tqdm(total=total, unit=unit, desc=label, ncols=columns, nrows=lines, file=screen) as bar:
        for step in steps:
            yield step
            new = 1 if amount is None else amount(step)
            if share is not None and share() > 0:
                bar.total = round((bar.n + new) / share())
            bar.update(new)
