"""Progress on stderr, by tqdm (extra `progress`): of a loop, or of the named steps of a call."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

from .terminal import unfiltered_stderr

T = TypeVar("T")

ADDING_UP = "adding up rows"  # the step that may go on in further calls
LEAST_SECONDS = 1.0  # of a step that a command leaves on the screen
NEARLY_DONE = 0.995  # what tqdm rounds to 100 %, and no step reaches before it is over


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
    new_bar = _bars(terminal_only)
    if new_bar is None:
        yield from steps
        return
    with new_bar(total=total, unit=unit, desc=label) as bar:
        for step in steps:
            yield step
            new = 1 if amount is None else amount(step)
            if share is not None and share() > 0:
                bar.total = round((bar.n + new) / share())
            most = new if bar.total is None else math.ceil(NEARLY_DONE * bar.total) - 1 - bar.n
            bar.update(max(0, min(new, most)))
        if bar.total is not None:
            bar.update(bar.total - bar.n)


@contextmanager
def steps_shown(wanted: bool | int, *, terminal_only: bool = False) -> Iterator[None]:
    """Show the steps that begin inside, if wanted, unless a caller shows them already.

    With `terminal_only`, as for a command, steps that took less than a second leave no trace.
    """
    new_bar = _bars(terminal_only) if wanted and _steps.get() is None else None
    if new_bar is None:
        yield
        return
    steps = _Steps(new_bar, LEAST_SECONDS if terminal_only else 0.0)
    token = _steps.set(steps)
    try:
        yield
        steps.finish()
    finally:
        _steps.reset(token)
        steps.close()


def begin_step(name: str, total: int | None = 1, unit: str = "") -> None:
    """Finish the previous step and begin another, unless one of this name is still going on."""
    if (steps := _steps.get()) is not None:
        steps.begin(name, total, unit)


def expect(total: int) -> None:
    """How many units the present step has, where that was not known when it began."""
    if (steps := _steps.get()) is not None and steps.bar is not None:
        steps.bar.total = total


def advance(n: int = 1) -> None:
    """So many more units of the present step are done."""
    if (steps := _steps.get()) is not None:
        steps.advance(n)


def counted(results: Iterable[T]) -> Iterator[T]:
    """The same results, each of them a unit of the present step."""
    for result in results:
        yield result
        advance()


class _Steps:
    """The bar of the present step; all before it are finished."""

    def __init__(self, new_bar: Callable[..., Any], least_seconds: float) -> None:
        self.new_bar, self.least_seconds = new_bar, least_seconds
        self.name: str = ""
        self.bar: Any = None

    def begin(self, name: str, total: int | None, unit: str) -> None:
        if name == self.name:
            return
        self.finish()
        whole = {"bar_format": "{l_bar}{bar}| {elapsed}"} if total == 1 else {}
        self.name, self.bar = name, self.new_bar(total=total, unit=unit, desc=name, **whole)

    def advance(self, n: int) -> None:
        bar = self.bar
        if bar is not None and (bar.total is None or bar.n + n < NEARLY_DONE * bar.total):
            bar.update(n)

    def finish(self) -> None:
        if self.bar is not None and self.bar.total is not None:
            self.bar.update(self.bar.total - self.bar.n)
        self.close()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.leave = self.bar.format_dict["elapsed"] >= self.least_seconds
            self.bar.close()
        self.name, self.bar = "", None


_steps: ContextVar[_Steps | None] = ContextVar("steps shown to the user", default=None)


def _bars(terminal_only: bool) -> Callable[..., Any] | None:
    """What makes bars on stderr; None if it is closed, or is no terminal where one is required."""
    screen = unfiltered_stderr()
    if screen is None or (terminal_only and not screen.isatty()):
        return None
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError(
            "A progress bar needs tqdm: pip install 'extreme-entropy[progress]'"
        ) from error
    columns, lines = shutil.get_terminal_size()  # 80 and 24 where a terminal does not tell
    return partial(tqdm, ncols=columns, nrows=lines, file=screen)
