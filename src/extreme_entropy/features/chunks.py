"""Rows in pieces: spans for memory, lanes for threads, chunks that stay in the processor's cache.

How many lanes there are depends on the number of rows, never on the number of threads, so that any
number of threads gives the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

Array = np.ndarray[Any, Any]

CHUNK_NUMBERS = 2**19  # numbers in a chunk: 4 MiB of float64
LANE_ROWS = 8192  # a lane shorter than this costs more to merge than it saves
FEW_LANES = 16  # are enough for the threads of most machines
LONGEST_LANE = 2**17  # rows
SPAN_NUMBERS = 2**25  # of X that are visited group by group: 256 MiB of float64
LONGEST_SPAN = 2**20  # rows, since a span keeps a few numbers for each of them


def chunks(n: int, width: int) -> Iterator[slice]:
    """Consecutive stretches of n rows of so many numbers each that stay in cache."""
    rows = chunk_rows(width)
    return (slice(start, min(start + rows, n)) for start in range(0, n, rows))


def chunk_rows(width: int) -> int:
    """How many rows of so many numbers stay in cache."""
    return int(np.clip(CHUNK_NUMBERS // max(width, 1), 64, 4096))


def lanes(n: int) -> list[slice]:
    """The rows of each lane, from the number of rows alone."""
    return _even(n, max(1, min(n // LANE_ROWS, FEW_LANES), -(-n // LONGEST_LANE)))


def spans(n: int, d: int) -> list[slice]:
    """Stretches of rows short enough to be sorted in memory and read more than once."""
    return _even(n, max(1, -(-n // min(max(SPAN_NUMBERS // d, LANE_ROWS), LONGEST_SPAN))))


def _even(n: int, count: int) -> list[slice]:
    return [slice(a, b) for a, b in pairwise(n * i // count for i in range(count + 1))]


def dense(rows: Any) -> Array:
    """A chunk of rows as a dense array."""
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)
