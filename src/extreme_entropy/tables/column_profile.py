"""What a column held in training, and how far new rows are from it.

Numbers and dates are counted in ranges between deciles of training, categories by their commonest
labels and all others together. With shares p of training and q of new rows, the drift is the
population stability index Σ (q − p) ln(q / p), less what chance adds to it: (ranges − 1) times
(1 / rows of training + 1 / new rows).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..columns.cells import arrow_cells, python_value

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class ComparisonSettings:
    """How much is kept of each column."""

    ranges: int = 10
    labels: int = 10
    columns: int = 500  # of a wider table nothing is kept


SETTINGS = ComparisonSettings()


@dataclass(frozen=True)
class ColumnProfile:
    """A column of the training rows."""

    rows: int
    missing: int
    typical: str  # the median, or the most frequent label
    counts: tuple[int, ...]  # of rows in each range, or with each label and with others
    edges: tuple[float, ...] = ()  # between the ranges
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, cells: pa.Array) -> ColumnProfile:
        """The profile of some cells, as a model reads them."""
        known = cells.drop_null()
        if pa.types.is_string(cells.type):
            counts = pc.value_counts(known)
            order = pc.sort_indices(counts.field(1), sort_keys=[("", "descending")])
            labels = tuple(counts.field(0).take(order[: SETTINGS.labels]).to_pylist())
            empty = cls(len(cells), 0, labels[0] if labels else "", (), labels=labels)
        else:
            values = np.sort(arrow_cells(known).values)
            shares = np.arange(1, SETTINGS.ranges) / SETTINGS.ranges
            edges = np.unique(np.quantile(values, shares)) if len(values) else values
            empty = cls(len(cells), 0, _median(known), (), edges=tuple(edges.tolist()))
        counted, missing = empty.count(cells)
        return cls(
            empty.rows, missing, empty.typical, tuple(counted.tolist()), empty.edges, empty.labels
        )

    def count(self, cells: pa.Array) -> tuple[Array, int]:
        """Rows in each range or with each label, and those with neither."""
        known = cells.drop_null()
        if pa.types.is_string(cells.type):
            at = pc.index_in(known, value_set=pa.array(self.labels, pa.string()))
            places, n = pc.fill_null(at, len(self.labels)).to_numpy(), len(self.labels) + 1
        else:
            places = np.searchsorted(self.edges, arrow_cells(known).values, side="right")
            n = len(self.edges) + 1
        return np.bincount(places, minlength=n), cells.null_count


def profiles_of(X: pa.Table) -> dict[str, ColumnProfile]:
    """Of all columns, unless there are very many."""
    if X.num_columns > SETTINGS.columns:
        return {}
    return {name: ColumnProfile.of(X.column(name).combine_chunks()) for name in X.column_names}


@dataclass(frozen=True)
class ColumnChange:
    """A column in training and among new rows."""

    name: str
    typical: str  # in training
    missing_before: float  # share
    missing: float
    drift: float


class Drift:
    """How far the columns of new rows, which come in batches, are from those of training."""

    def __init__(self, profiles: Mapping[str, ColumnProfile]) -> None:
        self._profiles = profiles
        self._counts = {name: np.zeros(len(p.counts)) for name, p in profiles.items()}
        self._missing = dict.fromkeys(profiles, 0)

    def add(self, X: pa.Table) -> None:
        """Count the rows of a batch."""
        for name, before in self._profiles.items():
            counts, missing = before.count(X.column(name).combine_chunks())
            self._counts[name] += counts
            self._missing[name] += missing

    def changes(self) -> list[ColumnChange]:
        """Of all columns, the most changed ones first."""
        changes = []
        for name, before in self._profiles.items():
            was = np.append(before.counts, before.missing)
            now = np.append(self._counts[name], self._missing[name])
            share = self._missing[name] / max(1.0, float(now.sum()))
            missing = before.missing / max(1, before.rows)
            drift = stability_index(was, now)
            changes.append(ColumnChange(name, before.typical, missing, share, drift))
        return sorted(changes, key=lambda change: -change.drift)


def stability_index(before: Array, now: Array) -> float:
    """The population stability index of counts, without what chance adds to it."""
    used = (before + now) > 0
    before, now = before[used] + 0.5, now[used] + 0.5
    n, m = before.sum(), now.sum()
    p, q = before / n, now / m
    by_chance = (len(p) - 1) * (1 / n + 1 / m)
    return max(0.0, float(((q - p) * np.log(q / p)).sum() - by_chance))


def _median(known: pa.Array) -> str:
    if not len(known):
        return ""
    value = python_value(known[int(pc.array_sort_indices(known)[(len(known) - 1) // 2].as_py())])
    return f"{value:.6g}" if isinstance(value, float) else str(value)
