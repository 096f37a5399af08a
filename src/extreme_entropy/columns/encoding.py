"""Encoding: columns of X as those that are scaled, each as its kind says.

Rows to be learnt have one column more where an encoding needs their fold (`Encoding.by_fold`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..shapes import Among, Count, Unscaled
from .kind import ColumnKind, EncodedPart, Seen
from .kinds import ENCODED, KINDS
from .number import EncodedGaps, EncodedNumbers, Number
from .statistics import CategoryCounts, ColumnStats, has_gaps
from .words import Word

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class EncodingSettings:
    """What an encoding is fitted on."""

    median_rows: int = 1000  # sampled rows: a median of more would hardly be another


SETTINGS = EncodingSettings()


@dataclass(frozen=True, slots=True)
class Encoding:
    """Columns of X as those that are scaled, which without categories and gaps are the same."""

    # Of each column; None where all are numbers.
    kinds: Annotated[tuple[Annotated[ColumnKind, Among(KINDS)], ...] | None, Count("d")]
    # The median of each column, or its most frequent category.
    typical: Annotated[Array, Unscaled("d", gaps=True)]
    parts: tuple[Annotated[EncodedPart, Among(ENCODED)], ...]  # side by side

    @property
    def d(self) -> int:
        """Columns of X."""
        return len(self.typical)

    @property
    def table_kinds(self) -> tuple[ColumnKind, ...]:
        """What each column of a table holds, which are the first of X."""
        kinds = self.kinds or (Number(),) * self.d
        return kinds[: self.d - sum(isinstance(kind, Word) for kind in kinds)]

    @property
    def size(self) -> int:
        """Encoded columns."""
        return len(self.origins)

    @property
    def plain(self) -> bool:
        """Whether columns stay what they are."""
        alone = self.parts[0] if len(self.parts) == 1 else None
        return isinstance(alone, EncodedNumbers) and len(alone.columns) == len(self.typical)

    @property
    def by_fold(self) -> bool:
        """Whether rows to be learnt must have a last column with their fold."""
        return any(part.needs_folds for part in self.parts)

    @property
    def origins(self) -> Array:
        """The column of X that each encoded column comes from."""
        columns = [part.columns for part in self.parts]
        return np.concatenate(columns).astype(np.intp) if columns else np.empty(0, np.intp)

    def names(self, columns: Sequence[Any]) -> list[str]:
        """What each encoded column stands for, where the columns of X are called so."""
        kinds = self.table_kinds
        return [name for part in self.parts for name in part.names(columns, kinds)]

    def __call__(self, X: Array) -> Array:
        """Dense rows with their columns encoded; their last column may be their fold."""
        if self.plain:
            return np.where(np.isnan(X), self.typical, X).astype(X.dtype) if has_gaps(X) else X
        folds = X[:, self.d] if X.shape[1] > self.d else None
        encoded = np.empty((len(X), self.size), X.dtype)
        for part, columns in self._slices():
            part.encode(X, self.typical, folds, encoded[:, columns])
        return encoded

    def stats(
        self, stats: ColumnStats, sample: Array, counts: Mapping[int, CategoryCounts]
    ) -> ColumnStats:
        """Statistics of the encoded columns, from those of the columns and encoded sampled rows."""
        if self.plain:
            return stats.filled(self.typical)
        seen = Seen(stats, self.typical, sample, counts, self.kinds or ())
        encoded = stats.of_columns(slice(0))
        for part, columns in self._slices():
            encoded = encoded.beside(part.stats(seen, sample[:, columns]))
        return encoded

    def _slices(self) -> list[tuple[EncodedPart, slice]]:
        """Each part with the encoded columns that it fills."""
        ends = np.cumsum([0, *(len(part.columns) for part in self.parts)]).tolist()
        return [(part, slice(ends[i], ends[i + 1])) for i, part in enumerate(self.parts)]


def plain_encoding(d: int) -> Encoding:
    """That of rows which are encoded already."""
    return Encoding(None, np.zeros(d), (EncodedNumbers(np.arange(d)),))


def most_encoded(kinds: tuple[ColumnKind, ...] | None, d: int) -> int:
    """How many columns d columns become, at the most."""
    return d if kinds is None else sum(kind.widest for kind in kinds)


def fit_encoding(
    kinds: tuple[ColumnKind, ...] | None,
    stats: ColumnStats,
    sample: Array,
    counts: Mapping[int, CategoryCounts],
) -> Encoding:
    """The encoding of columns with these statistics and sampled rows.

    `counts` are those of each column whose kind is counted.
    """
    d = len(stats.low)
    sample = sample[: SETTINGS.median_rows, :d]
    typical = _medians(sample, stats)
    for j, counted in counts.items():
        typical[j] = counted.values[counted.by_value.argmax()]
    seen = Seen(stats, typical, sample, counts, kinds or ())
    columns: dict[type[ColumnKind], list[int]] = {kind: [] for kind in KINDS}
    for j in range(d):
        kind = Number if kinds is None else type(kinds[j])
        columns[kind.encoded_as or kind].append(j)
    numbers, parts = columns.pop(Number), list[EncodedPart]()
    if numbers:
        parts.append(EncodedNumbers(np.array(numbers)))
    gaps = np.flatnonzero((stats.missing > 0) & (stats.missing < stats.n)).tolist()
    if marked := [j for j in gaps if kinds is None or kinds[j].marks_gaps]:
        parts.append(EncodedGaps(np.array(marked)))
    for kind, positions in columns.items():
        parts += kind.fit(positions, seen) if positions else []
    return Encoding(kinds, typical, tuple(parts))


def _medians(sample: Array, stats: ColumnStats) -> Array:
    """The median of each column; the middle of its range where no sampled row has a value."""
    known = stats.low <= stats.high
    medians = np.where(known, stats.low, 0.0) / 2 + np.where(known, stats.high, 0.0) / 2
    if len(sample):
        gaps = np.isnan(sample)
        known = np.logical_not(gaps.all(axis=0))
        if gaps.any():
            medians[known] = np.nanmedian(sample[:, known], axis=0)
        else:
            medians = np.median(sample, axis=0)
    return medians
