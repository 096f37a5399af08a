"""What φ is drawn from: statistics of columns, an encoding, and rows sampled by their content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ..columns.encoding import Encoding, fit_encoding, most_encoded
from ..columns.kind import ColumnKind
from ..columns.statistics import N_FOLDS, CategoryCounts, ColumnStats
from ..errors import InputError
from ..features.content import ContentHash, RowSample, folds_of
from ..features.feature_map import FeatureMap
from ..features.scaling import SAMPLE_ROWS

Array = np.ndarray[Any, Any]

LEARNING_ROWS = 1000  # of each class, that relevance is learned from
ENOUGH_ROWS = 1024  # distinct ones, to see how often rows are repeated
REPEATS = 1.5  # of each distinct row on average, from which on a finer hash may tell some apart
MOST = 0.5  # of all rows

LEAST_WIDTH = 1e-302  # of a column that varies: 2¹⁶ bins in it are still numbers


class SampleSizes(NamedTuple):
    """How many rows must be sampled."""

    of_all: int  # classes together
    of_class: int  # each


class Spec(Protocol):
    """What a user asks of φ."""

    def sample_sizes(self, n: float, n_classes: int, d: int, /) -> SampleSizes:
        """How many rows of a table of n rows and d encoded columns must be sampled."""

    def draw(self, sampled: Sampled, /) -> FeatureMap:
        """φ as specified."""


class HashedRows(Protocol):
    """Rows in memory."""

    def hashes(self, content: ContentHash, /) -> Array:
        """The hash of each row."""


class SourceColumns(Protocol):
    """The columns of a table."""

    @property
    def n(self) -> int: ...

    @property
    def kinds(self) -> tuple[ColumnKind, ...] | None: ...


class Source(Protocol):
    """A table that φ is drawn from, wherever its rows lie."""

    @property
    def columns(self) -> SourceColumns: ...

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

    def sample_by_class(self, content: ContentHash, classes: Array, k: int, /) -> ClassSamples:
        """The k rows of each class with the smallest hashes."""

    def count_categories(
        self, content: ContentHash, classes: Array, columns: Sequence[int], /
    ) -> Counts:
        """How often each value of these columns comes, by class and fold."""


@dataclass(frozen=True, slots=True)
class ClassSamples:
    """A sample of the rows of each class."""

    samples: list[RowSample]

    def __add__(self, other: ClassSamples) -> ClassSamples:
        return ClassSamples([a + b for a, b in zip(self.samples, other.samples, strict=True)])


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of the values of some columns."""

    columns: list[CategoryCounts]

    def __add__(self, other: Counts) -> Counts:
        return Counts([a + b for a, b in zip(self.columns, other.columns, strict=True)])


def sample_rows(table: Source, random_state: Any, k: int) -> tuple[ContentHash, RowSample]:
    """A hash that tells rows apart, and the k rows for which it is smallest."""
    seed, stats = int(check_random_state(random_state).randint(2**31 - 1)), table.stats
    some = stats.low <= stats.high  # columns without values have no range
    with np.errstate(over="ignore", invalid="ignore"):
        widths = np.where(some, stats.high, 0.0) - np.where(some, stats.low, 0.0)
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
    content = ContentHash.between(seed, stats.low, stats.high)
    if not k and not table.is_in_memory:  # folds alone are not worth a pass over blocks
        return content, RowSample.empty(0, table.columns.n)
    sample = table.sample(content, max(k, ENOUGH_ROWS))
    found = content, sample
    if sample.counts.mean() > REPEATS:  # rows are repeated, or far-off ones share out the bins
        fine = ContentHash.between(seed, stats.low, stats.high, fine=True)
        found = _finer(found, (fine, table.sample(fine, sample.k)))
        among = found
        while (narrower := _among_most(table, *among)) is not None:
            among = narrower, table.sample(narrower, sample.k)
        found = _finer(found, among)
    return found[0], found[1].first(k)


def _finer(
    one: tuple[ContentHash, RowSample], other: tuple[ContentHash, RowSample]
) -> tuple[ContentHash, RowSample]:
    """Another hash with its sample, if it tells many more rows apart."""
    return other if other[1].counts.mean() < one[1].counts.mean() / REPEATS else one


def _among_most(table: Source, content: ContentHash, sample: RowSample) -> ContentHash | None:
    """A hash with bins between the values of most rows, where these share a hash but differ."""
    most = sample.counts.argmax()
    if sample.counts.mean() <= REPEATS or sample.counts[most] < MOST * sample.counts.sum():
        return None
    stats = table.where(partial(_has_hash, content, sample.hashes[most])).stats
    return ContentHash.between(content.seed, stats.low, stats.high) if stats.varies.any() else None


def _has_hash(content: ContentHash, wanted: np.uint64, rows: HashedRows) -> Array:
    return rows.hashes(content) == wanted


def with_folds(X: Any, hashes: Array) -> Any:
    """Rows with their folds as a last column."""
    folds = folds_of(hashes, N_FOLDS)[:, None].astype(X.dtype)
    return sp.hstack([X, folds], format="csr") if sp.issparse(X) else np.hstack([X, folds])


def _encoded(sample: RowSample, encoding: Encoding) -> RowSample:
    """Sampled rows, encoded as rows to be learnt."""
    rows = with_folds(sample.rows, sample.hashes) if encoding.by_fold else sample.rows
    return replace(sample, rows=encoding(rows))


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
    by_class: ClassSamples | None  # for learned relevance
    dtype: np.dtype[Any]
    n_jobs: int | None = 1
    learned: dict[Any, Any] = field(default_factory=dict)  # relevance of columns, by scale

    @classmethod
    def of(cls, table: Source, random_state: Any, specs: Sequence[Spec], classes: Array) -> Sampled:
        """All that some of these specifications need of a table."""
        kinds = table.columns.kinds
        size = table.stats.rows, len(classes), most_encoded(kinds, table.columns.n)
        wanted = [spec.sample_sizes(*size) for spec in specs]
        k, of_class = (max(sizes) for sizes in zip(*wanted, strict=True))
        if kinds is not None or table.stats.missing.any():
            k = max(k, SAMPLE_ROWS)  # for medians
        content, sample = sample_rows(table, random_state, k)
        columns = [j for j, kind in enumerate(kinds or ()) if kind.is_counted]
        counts = table.count_categories(content, classes, columns).columns if columns else []
        rows = table.stats.rows / table.stats.n  # that a weight of one is worth
        by_column = dict(zip(columns, counts, strict=True))
        in_rows = {j: replace(one, counts=one.counts * rows) for j, one in by_column.items()}
        encoding = fit_encoding(kinds, table.stats, sample.rows, in_rows)
        sample = replace(sample, rows=encoding(sample.rows))
        stats = encoding.stats(table.stats, sample.rows, by_column)
        by_class = None
        if of_class:
            raw = table.sample_by_class(content, classes, of_class).samples
            by_class = ClassSamples([_encoded(own, encoding) for own in raw])
        return cls(encoding, stats, content, sample, by_class, table.dtype, table.n_jobs)

    def encoding_without_rows(self) -> Encoding:
        """The encoding of numbers without gaps, where φ needs no sampled rows."""
        return fit_encoding(None, self.stats, self.sample.rows[:0], {})

    @property
    def rows_sampled(self) -> bool:
        """Whether φ looks at rows at all."""
        return bool(len(self.sample.hashes)) or self.by_class is not None

    def saw(self, hashes: Array, labels: Array) -> Array:
        """Which rows, with these hashes and positions of their classes, were sampled."""
        seen = np.zeros(len(hashes), dtype=bool)
        if len(self.sample.hashes):
            seen |= hashes <= self.sample.hashes[-1]
        for c, own in enumerate(self.by_class.samples if self.by_class is not None else ()):
            if len(own.hashes):
                seen |= (hashes <= own.hashes[-1]) & (labels == c)
        return seen
