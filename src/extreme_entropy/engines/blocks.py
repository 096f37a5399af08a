"""Rows in blocks, wherever they lie: all that an engine beyond one computer has to offer.

An engine decides where work on a block runs and where results are added; what the work is and what
`+` means is never its business. Another engine is one file with a function `blocks` that returns a
`Blocks`, and one entry in `ENGINES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from ..errors import ExtremeEntropyError, InputError
from ..shapes import Array
from .threads import one_blas_thread

T = TypeVar("T")


# The package that the type of X comes from ↦ the module that works on its blocks.
ENGINES = {
    "dask": "extreme_entropy.engines.dask",
    "pyspark": "extreme_entropy.engines.spark",
    "ray": "extreme_entropy.engines.ray",
}


class Block(NamedTuple):
    """Rows as they lie: an array, sparse matrix or data frame, with labels and weights if any."""

    X: Any
    y: Any = None
    weight: Any = None


class Blocks(Protocol):
    """Rows in numbered blocks.

    Where rows may have more columns than a classifier was fitted on, a further method
    `select(names)` gives the blocks with those alone as features.
    """

    @property
    def like(self) -> Any:
        """A few made-up rows of the same kind: their columns, names and precision."""

    def add_up(self, work: Callable[[Block], T]) -> T:
        """work(block) of each block, added up in a tree that follows from their number.

        `work` holds what it needs, reaches every place once and can be pickled; only the sum comes
        back.
        """

    def each(self, work: Callable[[Block], Array], *, like: Array, name: str) -> Any:
        """work(block) of each block, one after another and not before it is asked for.

        `like` is such an answer without rows, `name` a word for what it holds.
        """


def on_block(number: int, work: Callable[[Block], T], block: Block) -> T:
    """work(block), with an error that names the block."""
    try:
        return work(block)
    except Exception as error:
        raise named(error, number) from error


def attempted(number: int, work: Callable[[Block], T], block: Block) -> T | ExtremeEntropyError:
    """work(block) on one BLAS thread, or an error of ours: it would be the same the next time."""
    try:
        with one_blas_thread():
            return on_block(number, work, block)
    except ExtremeEntropyError as error:
        return error


def named(error: Exception, number: int) -> Exception:
    """The error, saying which block it came from; what cannot be used is an `InputError`."""
    if isinstance(error, ExtremeEntropyError):
        error = type(error)(f"Block {number} (the first is 0): {error}")
    elif isinstance(error, ValueError | TypeError):
        error = InputError(f"Block {number} (the first is 0): {error}")
    else:
        error.add_note(f"This was block {number} (the first is 0).")
    error.block = number  # type: ignore[attr-defined]  # for engines to see that it is named
    return error


def tree(parts: Sequence[T], add: Callable[[T, T], T]) -> T:
    """The sum of the parts, neighbours first: the same bits wherever each sum is taken."""
    while len(parts) > 1:
        pairs = [add(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = [*pairs, *parts[len(pairs) * 2 :]]
    return parts[0]


def add_in_turn(parts: Iterable[T], add: Callable[[T, T], T]) -> T:
    """What `tree` gives, with at most log₂ n sums at a time."""
    waiting: list[tuple[int, T]] = []  # sums of 2ᵏ parts, the largest first
    for part in parts:
        level = 0
        while waiting and waiting[-1][0] == level:
            part, level = add(waiting.pop()[1], part), level + 1
        waiting.append((level, part))
    _, total = waiting.pop()
    while waiting:
        total = add(waiting.pop()[1], total)
    return total
