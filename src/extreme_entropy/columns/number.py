"""Numbers: x, or the median where it is missing.

Beside it a 0/1 column tells where values are missing, if some were when φ was drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from ..shapes import Indices
from .kind import ColumnKind, Seen
from .statistics import ColumnStats, has_gaps

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class EncodedNumbers:
    """Columns of numbers."""

    columns: Annotated[Array, Indices(None, below="d", increasing=True)]
    needs_folds: ClassVar[bool] = False

    def names(self, columns: Sequence[Any], kinds: Sequence[ColumnKind]) -> list[str]:
        return [str(columns[j]) for j in self.columns]

    def encode(self, X: Array, typical: Array, folds: Array | None, out: Array) -> None:
        out[:] = X[:, self.columns]
        if has_gaps(out):
            np.copyto(out, typical[self.columns], where=np.isnan(out), casting="same_kind")

    def stats(self, seen: Seen, encoded: Array) -> ColumnStats:
        return seen.stats.of_columns(self.columns).filled(seen.typical[self.columns])


@dataclass(frozen=True, slots=True)
class EncodedGaps:
    """Columns whose missing values are marked."""

    columns: Annotated[Array, Indices(None, below="d", increasing=True)]
    needs_folds: ClassVar[bool] = False

    def names(self, columns: Sequence[Any], kinds: Sequence[ColumnKind]) -> list[str]:
        return [f"{columns[j]} is missing" for j in self.columns]

    def encode(self, X: Array, typical: Array, folds: Array | None, out: Array) -> None:
        out[:] = np.isnan(X[:, self.columns])

    def stats(self, seen: Seen, encoded: Array) -> ColumnStats:
        n, share = seen.stats.n, seen.stats.missing[self.columns] / seen.stats.n
        zeros, ones = np.zeros(len(share)), np.ones(len(share))
        return ColumnStats(n, zeros, ones, share, n * share * (1 - share), zeros)


class Number(ColumnKind):
    """Numbers, which `fit_encoding` puts before all else."""

    name = "number"
    title = "numbers"
    encoded: ClassVar[type | None] = EncodedNumbers
    marks_gaps = True


class Boolean(Number):
    """True and false in text, which become 1 and 0; in typed columns they are numbers."""

    name = "boolean"
    title = "true or false"
