"""What φ is drawn from: statistics of columns, an encoding, and rows sampled by their content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import add
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ..columns.encoding import Encoding, fit_encoding, most_encoded
from ..columns.kind import ColumnKind
from ..columns.statistics import N_FOLDS, CategoryCounts, ColumnStats
from ..errors import InputError
from ..features.content import ContentHash, RowSample, folds_of
from ..features.feature_map import FeatureMap
from ..shapes import Array
from ..tolerances import LEAST_WIDTH
from .settings import DRAWING, DrawingSettings

T = TypeVar("T")


class SampleSizes(NamedTuple):
    """How many rows must be sampled."""

    of_all: int  # classes together
    of_class: int  # each


class Spec(Protocol):
    """What a user asks of φ."""

    @property
    def settings(self) -> DrawingSettings: ...

    def sample_sizes(self, n: float, n_classes: int, d: int, /) -> SampleSizes:
        """How many rows of a table of n rows and d encoded columns must be sampled."""

    def draw(self, sampled: Sampled, /) -> FeatureMap:
        """φ as specified."""


class Columns(NamedTuple):
    """What is kept of the columns of X."""

    n: int
    names: Array | None
    # What each column of the matrix holds that they become; None where all are numbers.
    kinds: tuple[ColumnKind, ...] | None = None


@dataclass(frozen=True, slots=True)
class Addends(Generic[T]):
    """Several values, each of which is added to its own."""

    values: list[T]

    def __add__(self, other: Addends[T]) -> Addends[T]:
        return Addends(list(map(add, self.values, other.values)))


class Source(Protocol):
    """A table that φ is drawn from, wherever its rows lie."""

    @property
    def columns(self) -> Columns: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def n_jobs(self) -> int | None: ...

    @property
    def is_in_memory(self) -> bool:
        """Whether a pass over the rows is cheap."""

    @property
    def stats(self) -> ColumnStats:
        """Statistics of the columns."""

    def where(self, keep: Callable[[Any], Array], /) -> Source:
        """Some of the rows."""

    def sample(self, content: ContentHash, k: int, /) -> RowSample:
        """The k rows with the smallest hashes."""

    def sample_by_class(
        self, content: ContentHash, classes: Array, k: int, /
    ) -> Addends[RowSample]:
        """The k rows of each class with the smallest hashes."""

    def count_categories(
        self, content: ContentHash, classes: Array, columns: Sequence[int], /
    ) -> Addends[CategoryCounts]:
        """How often each value of these columns comes, by class and fold."""


class HashedSample(NamedTuple):
    """A hash, and the rows for which it is smallest."""

    content: ContentHash
    sample: RowSample


def sample_rows(
    table: Source, random_state: Any, k: int, settings: DrawingSettings = DRAWING
) -> HashedSample:
    """A hash that tells rows apart, and the k rows for which it is smallest."""
    seed, stats = int(check_random_state(random_state).randint(2**31 - 1)), table.stats
    _check_widths(stats)
    content = ContentHash.between(seed, stats.low, stats.high)
    if not k and not table.is_in_memory:  # folds alone are not worth a pass over blocks
        return HashedSample(content, RowSample.empty(0, table.columns.n))
    best = HashedSample(content, table.sample(content, max(k, settings.enough_rows)))
    if (
        best.sample.counts.mean() > settings.repeats
    ):  # rows are repeated, or far-off ones share out the bins
        fine = ContentHash.between(seed, stats.low, stats.high, fine=True)
        best = _finer(best, HashedSample(fine, table.sample(fine, best.sample.k)), settings)
        among = best
        while (narrower := _among_most(table, among, settings)) is not None:
            among = HashedSample(narrower, table.sample(narrower, best.sample.k))
        best = _finer(best, among, settings)
    return HashedSample(best.content, replace(best.sample.at(slice(k)), k=k))


def _check_widths(stats: ColumnStats) -> None:
    """Raise InputError where the range of a column is too wide or too narrow for doubles."""
    filled = stats.low <= stats.high  # columns without values have no range
    with np.errstate(over="ignore", invalid="ignore"):
        widths = np.where(filled, stats.high, 0.0) - np.where(filled, stats.low, 0.0)
    if not (np.isfinite(widths) & np.isfinite(stats.deviation)).all():
        raise InputError(
            "The square of each column's range must be a finite number; the widest range is "
            f"{widths.max():g}. Rescale that column."
        )
    narrow = widths[(widths > 0) & (widths < LEAST_WIDTH)]
    if len(narrow):
        raise InputError(
            f"The range of a column must be 0 or at least {LEAST_WIDTH:g}, or its inverse is no "
            f"number; the narrowest is {narrow.min():g}. Multiply that column, or leave it out."
        )


def _finer(best: HashedSample, finer: HashedSample, settings: DrawingSettings) -> HashedSample:
    """The second, if it tells many more rows apart."""
    repeats = best.sample.counts.mean() / settings.repeats
    return finer if finer.sample.counts.mean() < repeats else best


def _among_most(
    table: Source, hashed: HashedSample, settings: DrawingSettings
) -> ContentHash | None:
    """A hash with bins between the values of most rows, where these share a hash but differ."""
    content, sample = hashed
    most = sample.counts.argmax()
    is_majority = sample.counts[most] >= settings.majority * sample.counts.sum()
    if sample.counts.mean() <= settings.repeats or not is_majority:
        return None
    stats = table.where(partial(_has_hash, content, sample.hashes[most])).stats
    return ContentHash.between(content.seed, stats.low, stats.high) if stats.varies.any() else None


def _has_hash(content: ContentHash, wanted: np.uint64, rows: Any) -> Array:
    return rows.hashes(content) == wanted


def with_folds(X: Any, hashes: Array) -> Any:
    """Rows with their folds as a last column."""
    folds = folds_of(hashes, N_FOLDS)[:, None].astype(X.dtype)
    return sp.hstack([X, folds], format="csr") if sp.issparse(X) else np.hstack([X, folds])


@dataclass(frozen=True)
class Sampled:
    """What φ is drawn from: an encoding, statistics of the encoded columns, and sampled rows.

    Sampled rows are encoded, too: those of all classes together as rows to be predicted, those of
    each class as rows to be learnt.
    """

    encoding: Encoding
    stats: ColumnStats
    content: ContentHash
    sample: RowSample
    by_class: list[RowSample] | None  # for learned relevance, or for pilots
    dtype: np.dtype[Any]
    n_jobs: int | None = 1
    learned: dict[Any, Any] = field(default_factory=dict)  # relevance of columns, by scale

    @classmethod
    def of(cls, table: Source, random_state: Any, specs: Sequence[Spec], classes: Array) -> Sampled:
        """All that some of these specifications need of a table."""
        kinds, settings, dtype = table.columns.kinds, specs[0].settings, table.dtype
        n, d = table.stats.rows, most_encoded(kinds, table.columns.n)
        sizes = [spec.sample_sizes(n, len(classes), d) for spec in specs]
        k, of_class = max(size.of_all for size in sizes), max(size.of_class for size in sizes)
        if kinds is not None or table.stats.missing.any():
            k = max(k, settings.features.typical_rows)  # for medians
        content, sample = sample_rows(table, random_state, k, settings)
        columns = [j for j, kind in enumerate(kinds or ()) if kind.is_counted]
        counts = table.count_categories(content, classes, columns).values if columns else []
        rows = table.stats.rows / table.stats.n  # that a weight of one is worth
        by_column = dict(zip(columns, counts, strict=True))
        in_rows = {
            j: replace(counted, counts=counted.counts * rows) for j, counted in by_column.items()
        }
        encoding = fit_encoding(kinds, table.stats, sample.rows, in_rows)
        sample = replace(sample, rows=encoding(sample.rows))
        stats = encoding.stats(table.stats, sample.rows, by_column)
        by_class, by_fold = None, encoding.by_fold
        if of_class:
            raw = table.sample_by_class(content, classes, of_class).values
            rows_to_learn = (
                with_folds(part.rows, part.hashes) if by_fold else part.rows for part in raw
            )
            by_class = [
                replace(part, rows=encoding(rows))
                for part, rows in zip(raw, rows_to_learn, strict=True)
            ]
        return cls(encoding, stats, content, sample, by_class, dtype, table.n_jobs)

    @property
    def rows_sampled(self) -> bool:
        """Whether φ looks at rows at all."""
        return bool(len(self.sample.hashes)) or self.by_class is not None

    def saw(self, hashes: Array, labels: Array) -> Array:
        """Which rows, with these hashes and positions of their classes, were sampled."""
        seen = np.zeros(len(hashes), dtype=bool)
        if len(self.sample.hashes):
            seen |= hashes <= self.sample.hashes[-1]
        for c, of_class in enumerate(self.by_class or ()):
            if len(of_class.hashes):
                seen |= (hashes <= of_class.hashes[-1]) & (labels == c)
        return seen
