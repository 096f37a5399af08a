"""Batches of rows, as users give them one after another: checked, and put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import chain
from operator import add
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..features.encoding import ColumnKind
from .frames import Profiles, is_frame, names_of, profile
from .inputs import Columns, check_rows, find_kinds, known_kinds, set_columns

Array = np.ndarray[Any, Any]

BATCH_ROWS = 16384  # are put together before they are summarised
LEAF_ROWS = 8192  # for each leaf of a forest, since each has sums to be added
BATCH_NUMBERS = 2**23  # that are put together, at the most


class Batch(NamedTuple):
    """Checked rows with their labels, and weights if there are any."""

    X: Any
    y: Array
    weight: Array | None


class CheckedBatches:
    """Each batch, checked; None for one without rows. The first rows decide what columns hold."""

    def __init__(self, learner: Any, batches: Iterable[Any]) -> None:
        self.learner: Any = learner
        self.batches: Iterator[Any] = iter(batches)
        self.columns: Columns = Columns(0, None)  # until there are rows

    def __iter__(self) -> Iterator[Batch | None]:
        first: list[Any] = []
        kinds = known_kinds(self.learner)
        if not hasattr(self.learner, "n_features_in_"):
            first, kinds = self._first_frames()
        for number, batch in enumerate(chain(first, self.batches)):
            try:
                yield self._checked(batch, kinds)
            except Exception as error:
                error.add_note(f"This was batch {number} (the first is 0).")
                raise

    def _checked(self, batch: Any, kinds: tuple[ColumnKind, ...] | None) -> Batch | None:
        X, y, *rest = batch
        if not (X.shape[0] if hasattr(X, "shape") else len(X)):
            return None
        fresh = not hasattr(self.learner, "n_features_in_")
        self.columns, *rows = check_rows(
            self.learner, X, y, *(rest or [None]), reset=fresh, kinds=kinds
        )
        if fresh:
            set_columns(self.learner, self.columns)
        return Batch(*rows)

    def _first_frames(self) -> tuple[list[Any], tuple[ColumnKind, ...] | None]:
        """The first batches, if they are data frames, and what their columns hold."""
        held: list[Any] = []
        for batch in self.batches:
            held.append(batch)
            frames = [b for b in held if isinstance(b, tuple) and len(b) > 1 and is_frame(b[0])]
            if len(frames) < len(held) or sum(b[0].shape[0] for b in frames) >= BATCH_ROWS:
                break
        if not held or len(frames) < len(held):
            return held, None
        first = frames[0][0]
        alike = [b for b in frames if names_of(b[0]) == names_of(first)]

        def profiles(named: Array) -> Profiles:
            return reduce(add, (profile(X, named, *weight) for X, _, *weight in alike))

        return held, find_kinds(self.learner, first, profiles)


def rows_worth_a_merge(learner: Any) -> int:
    """How many rows are put together: more where sums of many leaves have to be added."""
    leaves = max(getattr(getattr(learner, "feature_map_", None), "n_leaves", (1,)))
    if leaves == 1:
        return BATCH_ROWS
    return max(BATCH_ROWS, min(LEAF_ROWS * leaves, BATCH_NUMBERS // learner.n_features_in_))


def gathered(batches: Iterable[Batch | None], enough: Callable[[], int]) -> Iterator[Batch]:
    """Checked batches, put together until they have rows enough.

    Whenever rows are yielded, they hold the last batch taken: nothing waits.
    """
    waiting: list[Batch] = []
    for batch in batches:
        if batch is None:
            continue
        waiting.append(batch)
        if sum(len(batch.y) for batch in waiting) >= enough():
            yield _stacked(waiting)
            waiting = []
    if waiting:
        yield _stacked(waiting)


def _stacked(batches: list[Batch]) -> Batch:
    """Batches as one; weights that are all 1 are none."""
    rows, labels, weights = zip(*batches, strict=True)
    if len(batches) == 1:
        X, y = rows[0], labels[0]
    else:
        X = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.concatenate(rows)
        y = np.concatenate(labels)
    if all(weight is None for weight in weights):
        return Batch(X, y, None)
    filled = [
        np.ones(len(own)) if weight is None else weight
        for own, weight in zip(labels, weights, strict=True)
    ]
    weight = np.concatenate(filled)
    return Batch(X, y, None if (weight == 1).all() else weight)
