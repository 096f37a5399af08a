"""Rows to learn from, in memory or in blocks elsewhere, and what is added up over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from importlib import import_module
from operator import add
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from ..columns.cells import LARGE
from ..columns.statistics import N_FOLDS, CategoryCounts, ColumnStats
from ..drawing.sampling import Addends, Columns, with_folds
from ..engines.blocks import ENGINES, Block, Blocks
from ..engines.threads import (
    RowGroups,
    Threads,
    chunks,
    filled,
    one_blas_thread,
    row_batches,
    row_slices,
    unseen,
)
from ..errors import InputError
from ..features.content import ContentHash, RowSample, first_of, folds_of
from ..features.feature_map import FeatureMap
from ..moments.reduction import summarise
from ..moments.sketch import NO_ROWS, RowSketch, keys_of
from ..moments.step_sums import StepSums, step_sums
from ..moments.summary import FoldMoments, Summary
from ..progress import advance
from ..shapes import Array
from .column_kinds import warn_rounded
from .inputs import (
    cast_exactly,
    check_block,
    check_columns,
    check_rows,
    check_x,
    joined,
)

T = TypeVar("T")


class Scan(NamedTuple):
    """What a first pass over rows finds: labels, and statistics of the columns."""

    labels: Array
    stats: ColumnStats

    def __add__(self, other: Scan) -> Scan:  # type: ignore[override]  # the monoid, not the tuple
        labels = [scan.labels for scan in (self, other) if len(scan.labels)]
        both = np.unique(joined(labels)) if len(labels) == 2 else (labels or [self.labels])[0]
        return Scan(both, self.stats + other.stats)


@dataclass(frozen=True)
class InMemory:
    """Checked rows; threads share the work."""

    columns: Columns
    X: Any
    y: Array | None
    weight: Array | None = None
    n_jobs: int | None = 1
    folds: Array | None = None  # that rows were put into, where these do not follow from content
    hashed: dict[str, Any] = field(default_factory=dict)  # the last hash, and that of each row
    advance: Callable[[int], object] = unseen  # is given the number of rows added up
    is_in_memory: ClassVar[bool] = True

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.X.dtype

    @property
    def extent(self) -> tuple[int, str]:
        return self.X.shape[0], " rows"

    def add_up(self, work: Callable[[InMemory], T]) -> T:
        return work(self)

    def where(self, keep: Callable[[InMemory], Array]) -> InMemory:
        return self.at(keep(self))

    def at(self, chosen: Array | slice) -> InMemory:
        """Some of the rows, by positions, a mask or a slice."""
        y, weight, folds = (
            None if values is None else values[chosen]
            for values in (self.y, self.weight, self.folds)
        )
        hashed = dict(self.hashed)
        if hashed:
            hashed["hashes"] = hashed["hashes"][chosen]
        return InMemory(self.columns, self.X[chosen], y, weight, self.n_jobs, folds, hashed)

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
                parts = chunks(X.shape[0], d)
                weights = (None if weight is None else weight[s] for s in parts)
                return reduce(add, map(ColumnStats.of, (X[s] for s in parts), weights))

        if not n:
            return ColumnStats.empty(d)
        with np.errstate(over="ignore", invalid="ignore"):
            return reduce(add, Threads(self.n_jobs)(partial(scan, s) for s in row_slices(n)))

    def scan(self) -> Scan:
        """Labels and statistics of the columns."""
        return Scan(self.labels, self.stats)

    def sample(
        self, content: ContentHash, k: int, rows: Array | None = None, weight: Array | None = None
    ) -> RowSample:
        """The k rows with the smallest hashes among all rows, or those at these positions."""
        hashes, sample = self.hashes(content), RowSample.empty(k, self.X.shape[1])
        rows = np.arange(len(hashes)) if rows is None else rows
        rows = rows[first_of(hashes[rows], k)]  # no more rows are looked at than it takes
        for s in row_batches(len(rows), self.X.shape[1]):
            counted = None if weight is None else weight[rows[s]]
            sample = sample.with_rows(hashes[rows[s]], self.X[rows[s]], counted)
        return sample

    def sample_by_class(self, content: ContentHash, classes: Array, k: int) -> Addends[RowSample]:
        """A sample of k rows of each class."""
        labels = self.encode(classes)
        by_class = (np.flatnonzero(labels == c) for c in range(len(classes)))
        return Addends([self.sample(content, k, rows, self.weight) for rows in by_class])

    def hashes(self, content: ContentHash) -> Array:
        """The hash of each row, which is computed once."""
        if self.hashed.get("content") is not content:
            n, d = self.X.shape
            threads = Threads(self.n_jobs)
            hashes = filled(np.empty(n, np.uint64), lambda s: content(self.X[s]), threads, d)
            self.hashed.update(content=content, hashes=hashes)
        return self.hashed["hashes"]

    def to_learn(self, phi: FeatureMap, chosen: slice | None = None) -> Any:
        """The rows, or some, with their folds as a last column if the encoding of φ needs them."""
        X = self.X if chosen is None else self.X[chosen]
        if not phi.encoding.by_fold:
            return X
        hashes = self.hashes(phi.content)
        return with_folds(X, hashes if chosen is None else hashes[chosen])

    def count_categories(
        self, content: ContentHash, classes: Array, columns: Sequence[int]
    ) -> Addends[CategoryCounts]:
        """How often each value of these columns comes, by class and fold."""
        labels, folds = self.encode(classes), folds_of(self.hashes(content), N_FOLDS)
        X = self.X[:, columns]
        X = X.toarray() if sp.issparse(X) else X
        return Addends(
            [
                CategoryCounts.of(X[:, i], labels, folds, self.weight, len(classes))
                for i in range(len(columns))
            ]
        )

    def encode(self, classes: Array) -> Array:
        """Labels as positions in `classes`."""
        assert self.y is not None
        labels, y = self.labels, self.y
        kinds = {labels.dtype.kind, classes.dtype.kind}
        if len(kinds) == 2 and kinds <= set("iuf") and len(labels):
            # In the type of the classes, since numbers of two types are compared as floats.
            exact = cast_exactly(labels, classes.dtype) is not None
            labels, y = (part.astype(classes.dtype if exact else object) for part in (labels, y))
        strange = np.setdiff1d(labels, classes)
        if len(strange):
            raise InputError(
                f"Labels must be among the classes {classes.tolist()}; y also holds "
                f"{strange[:5].tolist()}. Pass all `classes` to the first partial_fit, "
                "or fit a new classifier."
            )
        positions = np.searchsorted(classes, y)
        return positions.astype(np.min_scalar_type(len(classes)), copy=False)

    def sketch(self, content: ContentHash, classes: Array) -> RowSketch:
        hashes, labels, rows = self.hashes(content), self.encode(classes), NO_ROWS
        for s in row_batches(*self.X.shape):
            weight = None if self.weight is None else self.weight[s]
            rows = rows.with_rows(keys_of(hashes[s], labels[s]), weight)
        return rows

    def learn(self, phi: FeatureMap, classes: Array, n_folds: int) -> Summary:
        """The summary of all rows, in folds by their content."""
        if not phi.pilots:
            moments = self.summarise(phi, classes, n_folds).values
            return Summary(tuple(moments), self.sketch(phi.content, classes))
        leaves = [features.in_precision(self.dtype) for features in phi.leaves]
        totals, threads = list[StepSums](), Threads(self.n_jobs)
        for X, groups in self.parts(phi, classes, n_folds):
            sums = step_sums(
                leaves, phi.pilots, X, groups, threads, scaled=phi.scaled, advance=self.advance
            )
            totals = list(map(add, totals, sums)) if totals else sums
        totals = totals or [StepSums.empty(len(classes), n_folds, leaf.h) for leaf in leaves]
        return Summary(tuple(totals), self.sketch(phi.content, classes))

    def summarise(
        self,
        phi: FeatureMap,
        classes: Array,
        n_folds: int,
        rule: Callable[[InMemory], Array] | None = None,
        sizes: Sequence[int] | None = None,
    ) -> Addends[FoldMoments]:
        """The moments of all rows, for each size: by default that of all features.

        The rule says which fold each row is in; by default that follows from its content.
        """
        features = phi.only().in_precision(self.dtype)
        sizes = sizes or [features.h]
        totals, threads = list[FoldMoments](), Threads(self.n_jobs)
        for X, groups in self.parts(phi, classes, n_folds, rule):
            path = summarise(
                features, X, groups, threads, scaled=phi.scaled, sizes=sizes, advance=self.advance
            )
            totals = list(map(add, totals, path)) if totals else path
            del path  # or it would stay while the next one is made
        empty = partial(FoldMoments.empty, len(classes), n_folds)
        return Addends(totals or [empty(k) for k in sizes])

    def parts(
        self,
        phi: FeatureMap,
        classes: Array,
        n_folds: int,
        rule: Callable[[InMemory], Array] | None = None,
    ) -> Iterator[tuple[Any, RowGroups]]:
        """Rows in parts that are short enough to be sorted, with their groups; folds by a rule."""
        labels, shape, folds = self.encode(classes), (len(classes), n_folds), self.folds
        if rule is not None:
            folds = rule(self)
        elif n_folds > 1:
            folds = folds_of(self.hashes(phi.content), n_folds)
        threads = Threads(self.n_jobs)
        for s in row_batches(*self.X.shape):
            rows, in_folds = self.to_learn(phi, s), None if folds is None else folds[s]
            weight = None if self.weight is None else self.weight[s]
            at = phi.leaves_of(rows, threads) if len(phi.leaves) > 1 else None
            yield rows, RowGroups(labels[s], in_folds, weight, shape, at)


@dataclass(frozen=True)
class InBlocks:
    """Rows that are checked where they lie, block by block, on one thread each."""

    columns: Columns
    blocks: Blocks
    dtype: np.dtype[Any]
    keep: Callable[[InMemory], Array] | None = None  # which rows; all without it
    is_in_memory: ClassVar[bool] = False
    n_jobs: ClassVar[int] = 1

    @cached_property
    def first_scan(self) -> Scan:
        """Labels and statistics of the columns, in one pass."""
        scan = self.add_up(InMemory.scan)
        if not scan.stats.n:
            raise InputError(
                "There must be rows to learn from; all blocks are empty, or all weights are zero."
            )
        if self.keep is None and getattr(self.blocks.like, "dtype", None) in ("int64", "uint64"):
            size = np.maximum(abs(scan.stats.low), abs(scan.stats.high))
            warn_rounded(np.flatnonzero(size >= LARGE).tolist())
        return scan

    @property
    def labels(self) -> Array:
        return self.first_scan.labels

    @property
    def extent(self) -> tuple[int, str]:
        return getattr(self.blocks, "extent", (1, ""))

    @property
    def stats(self) -> ColumnStats:
        return self.first_scan.stats

    def sample(self, content: ContentHash, k: int) -> RowSample:
        return self.add_up(partial(InMemory.sample, content=content, k=k))

    def sample_by_class(self, content: ContentHash, classes: Array, k: int) -> Addends[RowSample]:
        return self.add_up(partial(InMemory.sample_by_class, content=content, classes=classes, k=k))

    def count_categories(
        self, content: ContentHash, classes: Array, columns: Sequence[int]
    ) -> Addends[CategoryCounts]:
        return self.add_up(
            partial(InMemory.count_categories, content=content, classes=classes, columns=columns)
        )

    def learn(self, phi: FeatureMap, classes: Array, n_folds: int) -> Summary:
        return self.add_up(partial(InMemory.learn, phi=phi, classes=classes, n_folds=n_folds))

    def add_up(self, work: Callable[[InMemory], T]) -> T:
        return self.blocks.add_up(OnRows(work, self.dtype, self.columns, self.keep))

    def each(self, work: Callable[[InMemory], Array], name: str) -> Any:
        """work(rows) of each block, also of rows without weight, when it is asked for."""
        made_up = InMemory(self.columns, np.zeros((1, self.columns.n), self.dtype), None)
        on_rows = OnRows(work, self.dtype, self.columns, weighted=False)
        return self.blocks.each(on_rows, like=work(made_up)[:0], name=name)

    def where(self, keep: Callable[[InMemory], Array]) -> InBlocks:
        both = keep if self.keep is None else partial(_keep_both, self.keep, keep)
        return replace(self, keep=both)


def _keep_both(
    first: Callable[[InMemory], Array], second: Callable[[InMemory], Array], rows: InMemory
) -> Array:
    """Which rows both keep."""
    return first(rows) & second(rows)


@dataclass(frozen=True)
class OnRows:
    """Work on rows in memory as work on a block."""

    work: Callable[[InMemory], Any]
    dtype: np.dtype[Any]
    columns: Columns
    keep: Callable[[InMemory], Array] | None = None
    weighted: bool = True  # whether rows without weight are left out

    @property
    def __name__(self) -> str:
        return getattr(self.work, "func", self.work).__name__

    def __call__(self, block: Block) -> Any:
        block = block if self.weighted else Block(block.X)
        X, y, weight = check_block(block, self.dtype, self.columns)
        rows = InMemory(self.columns, X, y, weight)
        return self.work(rows if self.keep is None else rows.where(self.keep))


Table = InMemory | InBlocks


def engine_for(X: Any) -> Callable[[Any, Any, Any], Blocks] | None:
    """What makes blocks of X, y and weights, imported only now; None where X is in memory."""
    module = ENGINES.get(type(X).__module__.partition(".")[0])
    return None if module is None else import_module(module).blocks


def as_table(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool, learned: bool = False
) -> Table:
    """What a user gives to learn from, or has `learned` from before, as a table."""
    engine = engine_for(X)
    if engine is not None:
        return in_blocks(estimator, engine(X, y, sample_weight), reset=reset)
    columns, X, y, weight = check_rows(estimator, X, y, sample_weight, reset=reset, learned=learned)
    return InMemory(columns, X, y, weight, estimator.n_jobs, advance=advance)


def in_blocks(estimator: Any, blocks: Blocks, *, reset: bool) -> InBlocks:
    """Blocks whose columns are those that the estimator knows, or shall know."""
    names, select = getattr(estimator, "feature_names_in_", None), getattr(blocks, "select", None)
    if not reset and names is not None and select is not None:
        blocks = select(names.tolist())
    columns, dtype = check_columns(estimator, blocks, reset=reset)
    return InBlocks(columns, blocks, dtype)


def answer_rows(estimator: Any, X: Any, work: Callable[[InMemory], Array], name: str) -> Any:
    """work(rows) of a fitted estimator's X: at once, or lazily where X lies in blocks."""
    engine = engine_for(X)
    if engine is not None:
        return in_blocks(estimator, engine(X, None, None), reset=False).each(work, name)
    with one_blas_thread():
        rows = check_x(estimator, X)
        return work(InMemory(Columns(rows.shape[1], None), rows, None, n_jobs=estimator.n_jobs))
