"""A seeded sample of rows drawn in one pass, so that the order of a file does not matter.

Each row gets a random key. The rows with the least keys of all are a uniform sample; the least of
each class are added, so that a rare class has enough rows for cross-validation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

Array = np.ndarray[Any, Any]

SAMPLE_ROWS = 20_000
CLASS_ROWS = 2_000


@dataclass(frozen=True, slots=True)
class TableSample:
    """Rows with their labels, in the order of the table."""

    rows: pa.Table
    labels: Array
    uniform: Array  # whether a row belongs to the uniform sample   (n,) bool


class Sampler:
    """Takes batches with their labels and keeps some rows of them."""

    def __init__(self, seed: int, n_rows: int = SAMPLE_ROWS, n_class: int = CLASS_ROWS) -> None:
        self._rng = np.random.default_rng(seed)
        self.n_rows, self.n_class = n_rows, n_class
        self._rows: pa.Table | None = None
        self._keys = np.empty(0)
        self._labels: Array = np.empty(0, object)
        self._limit = np.inf  # keys above it are surely not in the uniform sample
        self._limits: dict[Any, float] = {}  # nor above these in the sample of their class

    def add(self, batch: pa.RecordBatch, labels: Array) -> None:
        """Offer rows to the sample; `labels` are hashable values, one for each."""
        keys = self._rng.random(len(labels))
        limits = np.array([self._limits.get(label, np.inf) for label in labels.tolist()])
        near = np.flatnonzero(keys < np.maximum(limits, self._limit))
        if len(near) == 0:
            return
        rows = pa.Table.from_batches([batch]).take(pa.array(near))
        self._rows = rows if self._rows is None else pa.concat_tables([self._rows, rows])
        self._keys = np.concatenate([self._keys, keys[near]])
        self._labels = np.concatenate([self._labels, labels[near]])
        if len(self._keys) > 2 * (self.n_rows + self.n_class * len(self._limits)):
            self.draw()

    def draw(self) -> TableSample:
        """The sample of all rows so far; others are let go."""
        if self._rows is None:
            raise ValueError("no rows were added")
        order = self._keys.argsort(kind="stable")
        counted: dict[Any, int] = {}
        kept = np.empty(len(order), bool)
        for position, label in enumerate(self._labels[order].tolist()):
            counted[label] = counted.get(label, 0) + 1
            kept[position] = position < self.n_rows or counted[label] <= self.n_class
            if counted[label] == self.n_class:
                self._limits[label] = self._keys[order[position]]
            else:
                self._limits.setdefault(label, np.inf)
        if len(order) >= self.n_rows:
            self._limit = self._keys[order[self.n_rows - 1]]
        uniform = np.zeros(len(order), bool)
        uniform[order[: self.n_rows]] = True
        chosen = np.sort(order[kept])  # in the order of the table
        self._rows = self._rows.take(pa.array(chosen)).combine_chunks()
        self._keys, self._labels = self._keys[chosen], self._labels[chosen]
        return TableSample(self._rows, self._labels, uniform[chosen])
