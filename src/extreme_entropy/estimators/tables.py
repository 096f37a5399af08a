"""Rows to learn from, in memory or in blocks elsewhere, and what is added up over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from importlib import import_module
from operator import add
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ..engines.blocks import ENGINES, Block, Blocks
from ..engines.threads import Threads, chunks, one_blas_thread, row_batches, row_slices
from ..errors import InputError
from ..features.content import ContentHash, RowSample, first_of, folds_of, keys_of
from ..features.encoding import (
    N_FOLDS,
    CategoryCounts,
    Encoding,
    fit_encoding,
    most_encoded,
)
from ..features.feature_map import MANY_ROWS, FeatureMap, Spec, draw
from ..features.forest import Forest, ForestSpec
from ..features.scaling import SAMPLE_ROWS, ColumnStats
from ..machine.growing import grow
from ..machine.predictor import Answer, AnyPredictor
from ..machine.relevance import Relevance, learn_relevance
from ..moments.reduction import summarise, summarise_leaves
from ..moments.sketch import NO_ROWS, RowSketch
from ..moments.summary import ForestSummary, Summary
from .inputs import Columns, check_block, check_columns, check_rows

Array = np.ndarray[Any, Any]
T = TypeVar("T")

ENOUGH_ROWS = 1024  # distinct ones, to see how often rows are repeated
REPEATS = 1.5  # of each distinct row on average, from which on a finer hash may tell some apart
MOST = 0.5  # of all rows

LEAST_WIDTH = 1e-302  # of a column that varies: 2¹⁶ bins in it are still numbers


class Scan(NamedTuple):
    """What a first pass over rows finds: labels, and statistics of the columns."""

    labels: Array
    stats: ColumnStats

    def __add__(self, other: Scan) -> Scan:  # type: ignore[override]  # the monoid, not the tuple
        some = [scan.labels for scan in (self, other) if len(scan.labels)]
        labels = np.unique(np.concatenate(some)) if len(some) == 2 else (some or [self.labels])[0]
        return Scan(labels, self.stats + other.stats)


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


class Table(Protocol):
    """Rows, labels and weights, wherever they lie."""

    @property
    def columns(self) -> Columns: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def labels(self) -> Array:
        """The distinct labels."""

    @property
    def stats(self) -> ColumnStats:
        """Statistics of the columns."""

    def where(self, keep: Callable[[InMemory], Array]) -> Table:
        """Some of the rows."""

    def sample(self, content: ContentHash, k: int) -> RowSample:
        """The k rows with the smallest hashes."""

    def sample_by_class(self, content: ContentHash, classes: Array, k: int) -> ClassSamples:
        """The k rows of each class with the smallest hashes."""

    def count_categories(
        self, content: ContentHash, classes: Array, columns: Sequence[int]
    ) -> Counts:
        """How often each value of these columns comes, by class and fold."""

    def sketch(self, content: ContentHash, classes: Array) -> RowSketch:
        """Which rows these are."""

    def learn(self, phi: Any, classes: Array, n_folds: int) -> Any:
        """The summary of all rows, in folds by their content; of a forest a `ForestSummary`."""


@dataclass(frozen=True)
class InMemory:
    """Checked rows; threads share the work."""

    columns: Columns
    X: Any
    y: Array | None
    weight: Array | None = None
    n_jobs: int | None = 1
    hashed: dict[str, Any] = field(default_factory=dict)  # the last hash, and that of each row

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.X.dtype

    def where(self, keep: Callable[[InMemory], Array]) -> InMemory:
        """Some of the rows."""
        return self.at(keep(self))

    def at(self, chosen: Array) -> InMemory:
        """Some of the rows, by positions or a mask."""
        y = None if self.y is None else self.y[chosen]
        weight = None if self.weight is None else self.weight[chosen]
        hashed = dict(self.hashed)
        if hashed:
            hashed["hashes"] = hashed["hashes"][chosen]
        return InMemory(self.columns, self.X[chosen], y, weight, self.n_jobs, hashed)

    @cached_property
    def labels(self) -> Array:
        return np.empty(0) if self.y is None else np.unique(self.y)

    @cached_property
    def stats(self) -> ColumnStats:
        n, d = self.X.shape

        def scan(rows: slice) -> ColumnStats:
            X, weight = self.X[rows], None if self.weight is None else self.weight[rows]
            # Ranges that are too wide become infinite here, and are refused when all are known.
            with np.errstate(over="ignore", invalid="ignore"):
                stats = ColumnStats.empty(d)
                for s in chunks(X.shape[0], d):
                    stats += ColumnStats.of(X[s], None if weight is None else weight[s])
                return stats

        if not n:
            return ColumnStats.empty(d)
        with np.errstate(over="ignore", invalid="ignore"):
            return reduce(add, Threads(self.n_jobs)(partial(scan, s) for s in row_slices(n)))

    def scan(self) -> Scan:
        """Labels and statistics of the columns."""
        return Scan(self.labels, self.stats)

    def sample(self, content: ContentHash, k: int) -> RowSample:
        hashes = self.hashes(content)
        return self._first(hashes, np.arange(len(hashes)), k, None)

    def _first(self, hashes: Array, own: Array, k: int, weight: Array | None) -> RowSample:
        """The k rows with the smallest hashes among some rows."""
        sample = RowSample.empty(k, self.X.shape[1])
        own = own[first_of(hashes[own], k)]  # no more rows are looked at than it takes
        for s in chunks(len(own), self.X.shape[1]):
            counted = None if weight is None else weight[own[s]]
            sample = sample.with_rows(hashes[own[s]], self.X[own[s]], counted)
        return sample

    def sample_by_class(self, content: ContentHash, classes: Array, k: int) -> ClassSamples:
        """A sample of k rows of each class."""
        hashes, labels = self.hashes(content), self.encode(classes)
        own = (np.flatnonzero(labels == c) for c in range(len(classes)))
        return ClassSamples([self._first(hashes, rows, k, self.weight) for rows in own])

    def hashes(self, content: ContentHash) -> Array:
        """The hash of each row, which is computed once."""
        if self.hashed.get("content") is not content:
            n, d = self.X.shape
            hashes = np.empty(n, np.uint64)

            def fill(rows: slice) -> None:
                X, mine = self.X[rows], hashes[rows]
                for s in chunks(len(mine), d):
                    mine[s] = content(X[s])

            for _ in Threads(self.n_jobs)(partial(fill, s) for s in row_slices(n) if n):
                pass
            self.hashed.update(content=content, hashes=hashes)
        return self.hashed["hashes"]

    def to_learn(self, phi: FeatureMap | Forest, rows: slice = slice(None)) -> Any:
        """Some of the rows, with their folds as a last column if the encoding of φ needs them."""
        if not phi.encoding.by_fold:
            return self.X[rows]
        return with_folds(self.X[rows], self.hashes(phi.content)[rows])

    def count_categories(
        self, content: ContentHash, classes: Array, columns: Sequence[int]
    ) -> Counts:
        """How often each value of these columns comes, by class and fold."""
        labels, folds = self.encode(classes), folds_of(self.hashes(content), N_FOLDS)
        X = self.X[:, columns]
        X = X.toarray() if sp.issparse(X) else X
        return Counts(
            [
                CategoryCounts.of(X[:, i], labels, folds, self.weight, len(classes))
                for i in range(len(columns))
            ]
        )

    def encode(self, classes: Array) -> Array:
        """Labels as positions in `classes`."""
        strange = np.setdiff1d(in_type_of(classes, self.labels), classes)
        if len(strange):
            raise InputError(
                f"Labels must be among the classes {classes.tolist()}; y also holds "
                f"{strange[:5].tolist()}. Pass all `classes` to the first partial_fit, "
                "or fit a new classifier."
            )
        assert self.y is not None
        positions = np.searchsorted(classes, in_type_of(classes, self.y))
        return positions.astype(np.min_scalar_type(len(classes)), copy=False)

    def sketch(self, content: ContentHash, classes: Array) -> RowSketch:
        hashes, labels, rows = self.hashes(content), self.encode(classes), NO_ROWS
        for s in row_batches(*self.X.shape):
            weight = None if self.weight is None else self.weight[s]
            rows = rows.with_rows(keys_of(hashes[s], labels[s]), weight)
        return rows

    def learn(self, phi: FeatureMap | Forest, classes: Array, n_folds: int) -> Any:
        [summary] = self.summarise(phi, classes, n_folds)
        return replace(summary, rows=self.sketch(phi.content, classes))

    def summarise(
        self,
        phi: FeatureMap | Forest,
        classes: Array,
        n_folds: int,
        folds: Array | None = None,
        sizes: Sequence[int] | None = None,
    ) -> list[Any]:
        labels, shape = self.encode(classes), (len(classes), n_folds)
        if folds is None and n_folds > 1:
            folds = folds_of(self.hashes(phi.content), n_folds)
        if isinstance(phi, Forest):
            return [self._summarise_forest(phi, labels, folds, shape)]
        sizes = [phi.h] if sizes is None else sizes
        totals: list[Summary] = []
        phi = phi.in_precision(self.dtype)
        for s in row_batches(*self.X.shape):
            own = None if folds is None else folds[s]
            weight = None if self.weight is None else self.weight[s]
            rows = (self.to_learn(phi, s), labels[s], own, weight)
            found = summarise(phi, *rows, shape, sizes, Threads(self.n_jobs))
            totals = [a + b for a, b in zip(totals, found, strict=True)] if totals else found
            del found  # or they would stay while the next ones are made
        return totals or [Summary.empty(*shape, k) for k in sizes]

    def _summarise_forest(
        self, forest: Forest, labels: Array, folds: Array | None, shape: tuple[int, int]
    ) -> ForestSummary:
        """The summary of the rows in each leaf."""
        maps = [phi.in_precision(self.dtype) for phi in forest.maps]
        totals = [Summary.empty(*shape, phi.h) for phi in maps]
        threads, ends = Threads(self.n_jobs), np.cumsum((0, *forest.n_leaves))
        for s in row_batches(*self.X.shape):
            rows = self.to_learn(forest, s)
            own = None if folds is None else folds[s]
            weight = None if self.weight is None else self.weight[s]
            at_leaves = forest.leaves_of(rows, threads)
            for first, last, at in zip(ends[:-1], ends[1:], at_leaves, strict=True):
                given = at - first, rows, labels[s], own, weight, shape, threads
                for i, [more] in enumerate(summarise_leaves(maps[first:last], *given)):
                    totals[first + i] += more
        return ForestSummary(tuple(totals), forest.n_leaves)


@dataclass(frozen=True)
class InBlocks:
    """Rows that are checked where they lie, block by block, on one thread each."""

    columns: Columns
    blocks: Blocks
    dtype: np.dtype[Any]
    keep: Callable[[InMemory], Array] | None = None  # which rows; all without it

    @cached_property
    def first_scan(self) -> Scan:
        """Labels and statistics of the columns, in one pass."""
        scan = self.add_up(InMemory.scan)
        if not scan.stats.n:
            raise InputError(
                "There must be rows to learn from; all blocks are empty, or all weights are zero."
            )
        return scan

    @property
    def labels(self) -> Array:
        return self.first_scan.labels

    @property
    def stats(self) -> ColumnStats:
        return self.first_scan.stats

    def sample(self, content: ContentHash, k: int) -> RowSample:
        return self.add_up(InMemory.sample, content, k)

    def sample_by_class(self, content: ContentHash, classes: Array, k: int) -> ClassSamples:
        return self.add_up(InMemory.sample_by_class, content, classes, k)

    def count_categories(
        self, content: ContentHash, classes: Array, columns: Sequence[int]
    ) -> Counts:
        return self.add_up(InMemory.count_categories, content, classes, columns)

    def sketch(self, content: ContentHash, classes: Array) -> RowSketch:
        return self.add_up(InMemory.sketch, content, classes)

    def learn(self, phi: FeatureMap | Forest, classes: Array, n_folds: int) -> Any:
        return self.add_up(InMemory.learn, phi, classes, n_folds)

    def summarise(
        self,
        phi: FeatureMap | Forest,
        classes: Array,
        n_folds: int,
        folds: Callable[[InMemory], Array] | None = None,
        sizes: Sequence[int] | None = None,
    ) -> list[Any]:
        return self.add_up(_summarise, phi, classes, n_folds, folds, sizes).parts

    def add_up(self, work: Callable[..., T], *shared: Any) -> T:
        """work(rows, *shared) of each block, added up."""
        return self.blocks.add_up(_OnRows(work, self.dtype, self.columns, self.keep), *shared)

    def where(self, keep: Callable[[InMemory], Array]) -> InBlocks:
        """Some of the rows."""
        both = keep if self.keep is None else partial(_keep_both, self.keep, keep)
        return replace(self, keep=both)


def _keep_both(
    first: Callable[[InMemory], Array], second: Callable[[InMemory], Array], rows: InMemory
) -> Array:
    """Which rows both keep."""
    return first(rows) & second(rows)


class _OnRows:
    """Work on rows in memory as work on a block."""

    def __init__(
        self,
        work: Callable[..., Any],
        dtype: np.dtype[Any],
        columns: Columns,
        keep: Callable[[InMemory], Array] | None,
    ) -> None:
        self.work, self.dtype, self.columns, self.keep = work, dtype, columns, keep
        self.__name__ = work.__name__

    def __call__(self, block: Block, *shared: Any) -> Any:
        X, y, weight = check_block(block, self.dtype, self.columns)
        rows = InMemory(self.columns, X, y, weight)
        return self.work(rows if self.keep is None else rows.where(self.keep), *shared)


@dataclass(frozen=True, slots=True)
class Summaries:
    """Several summaries that are added up one by one."""

    parts: list[Any]

    def __add__(self, other: Summaries) -> Summaries:
        return Summaries([a + b for a, b in zip(self.parts, other.parts, strict=True)])


def _summarise(
    rows: InMemory,
    phi: FeatureMap | Forest,
    classes: Array,
    n_folds: int,
    folds: Callable[[InMemory], Array] | None,
    sizes: Sequence[int] | None,
) -> Summaries:
    """The summaries of a block, whose rows know their own folds."""
    own = None if folds is None else folds(rows)
    return Summaries(rows.summarise(phi, classes, n_folds, own, sizes))


def engine_for(X: Any) -> Callable[[Any, Any, Any], Blocks] | None:
    """What makes blocks of X, y and weights, imported only now; None where X is in memory."""
    module = ENGINES.get(type(X).__module__.partition(".")[0])
    return None if module is None else import_module(module).blocks


def as_table(estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Table:
    """What a user gives to learn from, as a table."""
    engine = engine_for(X)
    if engine is not None:
        return in_blocks(estimator, engine(X, y, sample_weight), reset=reset)
    checked = check_rows(estimator, X, y, sample_weight, reset=reset)
    return InMemory(*checked, n_jobs=estimator.n_jobs)


def in_blocks(estimator: Any, blocks: Blocks, *, reset: bool) -> InBlocks:
    """Blocks whose columns are those that the estimator knows, or shall know."""
    names, select = getattr(estimator, "feature_names_in_", None), getattr(blocks, "select", None)
    if not reset and names is not None and select is not None:
        blocks = select(names.tolist())
    columns, dtype = check_columns(estimator, blocks, reset=reset)
    return InBlocks(columns, blocks, dtype)


def sample_rows(table: Table, random_state: Any, k: int) -> tuple[ContentHash, RowSample]:
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
    if not k and isinstance(table, InBlocks):  # folds alone are not worth a pass over blocks
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


def _among_most(table: Table, content: ContentHash, sample: RowSample) -> ContentHash | None:
    """A hash with bins between the values of most rows, where these share a hash but differ."""
    most = sample.counts.argmax()
    if sample.counts.mean() <= REPEATS or sample.counts[most] < MOST * sample.counts.sum():
        return None
    stats = table.where(partial(_has_hash, content, sample.hashes[most])).stats
    return ContentHash.between(content.seed, stats.low, stats.high) if stats.varies.any() else None


def _has_hash(content: ContentHash, wanted: np.uint64, rows: InMemory) -> Array:
    return rows.hashes(content) == wanted


def in_type_of(classes: Array, labels: Array) -> Array:
    """Whole numbers in the type of the classes, since two types are compared as floats."""
    if {labels.dtype.kind, classes.dtype.kind} != {"i", "u"} or not len(labels):
        return labels
    range_, ends = np.iinfo(classes.dtype), (int(labels.min()), int(labels.max()))
    fits = range_.min <= ends[0] and ends[1] <= range_.max
    return labels.astype(classes.dtype if fits else object)


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
    learned: dict[Any, Relevance] = field(default_factory=dict)  # of columns, by scale

    @classmethod
    def of(cls, table: Table, random_state: Any, specs: Sequence[Any], classes: Array) -> Sampled:
        """All that some of these specifications need of a table."""
        kinds = table.columns.kinds
        size = table.stats.rows, len(classes), most_encoded(kinds, table.columns.n)
        wanted = [spec.sample_sizes(*size) for spec in specs]
        k, of_class = (max(sizes) for sizes in zip(*wanted, strict=True))
        if kinds is not None or table.stats.missing.any():
            k = max(k, SAMPLE_ROWS)  # for medians
        content, sample = sample_rows(table, random_state, k)
        columns = [j for j, column in enumerate(kinds or ()) if column.kind == "category"]
        counts = table.count_categories(content, classes, columns).columns if columns else []
        rows = table.stats.rows / table.stats.n  # that a weight of one is worth
        in_rows = [replace(counted, counts=counted.counts * rows) for counted in counts]
        encoding = fit_encoding(kinds, table.stats, sample.rows, in_rows)
        sample = replace(sample, rows=encoding(sample.rows))
        stats = encoding.stats(table.stats, sample.rows, counts)
        by_class = None
        if of_class:
            raw = table.sample_by_class(content, classes, of_class).samples
            by_class = ClassSamples([_encoded(own, encoding) for own in raw])
        n_jobs = table.n_jobs if isinstance(table, InMemory) else 1
        return cls(encoding, stats, content, sample, by_class, table.dtype, n_jobs)

    def draw(self, spec: Any) -> Any:
        """φ as specified."""
        with one_blas_thread():
            if isinstance(spec, ForestSpec):
                return self._grow(spec)
            given = spec, self._encoding(spec), self.stats, self.sample, self.content, self.dtype
            move = self.stats.rows >= MANY_ROWS
            if not spec.learns_relevance or self.by_class is None:
                return draw(*given, move=move)
            if spec.scale not in self.learned:
                rows = self.stats, self.sample, self.by_class.samples, self.content
                threads = Threads(self.n_jobs)
                self.learned[spec.scale] = learn_relevance(spec.scale, *rows, threads)
            relevance = self.learned[spec.scale]
            phi = draw(*given, relevance.used, alone=relevance.alone, move=move)
            return replace(phi, relevance=relevance.weights)

    def _grow(self, spec: ForestSpec) -> Forest:
        """A forest as specified."""
        assert self.by_class is not None  # a forest learns relevance
        rows = self.stats, self.sample, self.by_class.samples, self.content
        return grow(spec, self.encoding, *rows, self.dtype, Threads(self.n_jobs))

    def _encoding(self, spec: Spec) -> Encoding:
        """The encoding, which needs no sampled rows where φ needs none."""
        encoding = self.encoding
        if spec.sample_size or encoding.kinds is not None or len(encoding.gaps):
            return encoding
        return fit_encoding(None, self.stats, self.sample.rows[:0], ())

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


def answer_block(
    block: Block, dtype: np.dtype[Any], columns: Columns, predictor: AnyPredictor, kind: Answer
) -> Array:
    """The answer to each row of a block, perhaps to none."""
    X, _, _ = check_block(block, dtype, columns)
    return predictor.answer(kind, predictor.project(X, Threads(1)))


def name_of_answer(kind: Answer) -> str:
    """What a column with such answers is called."""
    if isinstance(kind, str):
        return "prediction" if kind == "label" else kind.replace(" ", "_")
    return "prediction_set"


def explain_block(
    block: Block, dtype: np.dtype[Any], columns: Columns, predictor: AnyPredictor
) -> Array:
    """What each column adds to the scores of each row of a block, perhaps of none."""
    X, _, _ = check_block(block, dtype, columns)
    return predictor.explain(X, Threads(1))


def count_correct(rows: InMemory, predictor: AnyPredictor) -> Array:
    """The weight of rows whose class is predicted, and of all rows."""
    correct = predictor.answer("label", predictor.project(rows.X, Threads(1))) == rows.y
    weight = np.ones(len(correct)) if rows.weight is None else rows.weight
    return np.array([weight[correct].sum(), weight.sum()])
