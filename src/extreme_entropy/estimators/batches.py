"""Batches of rows, as users give them or from what Arrow can read: checked, and put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import add
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from ..columns.cells import Profiles
from ..columns.frames import is_frame, names_of, profile, rows_of
from ..columns.kind import ColumnKind
from ..drawing.sampling import Columns
from ..errors import InputError
from ..shapes import Array
from .column_kinds import kinds_of_frames, some_names
from .inputs import check_rows, joined, known_kinds, set_columns

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """How many rows are read and put together at a time."""

    rows: int = 16384  # are put together before they are summarised
    leaf_rows: int = 8192  # for each of several leaves, since each has sums to be added
    numbers: int = 2**23  # that are put together, at the most
    arrow_rows: int = 65536  # in a batch of columns
    read_rows: int = 16384  # at a time, since pyarrow holds many batches, whatever its settings

    def worth_a_merge(self, learner: Any) -> int:
        """How many rows are put together: more where sums of many leaves have to be added."""
        leaves = len(learner.feature_map_.leaves) if learner.__sklearn_is_fitted__() else 1
        if leaves == 1:
            return self.rows
        return max(self.rows, min(self.leaf_rows * leaves, self.numbers // learner.n_features_in_))


class Batch(NamedTuple):
    """Checked rows with their labels, and weights if there are any."""

    X: Any
    y: Array
    weight: Array | None


class CheckedBatches:
    """Each batch, checked; None for one without rows. The first rows decide what columns hold."""

    def __init__(self, learner: Any, batches: Iterable[Any], settings: BatchSettings) -> None:
        self.learner: Any = learner
        self.settings: BatchSettings = settings
        self.batches: Iterator[Any] = map(_run, batches)
        self.columns: Columns = Columns(0, None, known_kinds(learner))  # until there are rows
        self.known: bool = hasattr(learner, "n_features_in_")  # whether these are their kinds

    def __iter__(self) -> Iterator[Batch | None]:
        first: list[Any] = []
        if not self.known:
            first = self._first_frames()
        for number, batch in enumerate(chain(first, self.batches)):
            try:
                yield self._checked(batch)
            except Exception as error:
                error.add_note(f"This was batch {number} (the first is 0).")
                raise

    def _checked(self, batch: Any) -> Batch | None:
        if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
            raise InputError(
                "Each batch must be (X, y) or (X, y, sample_weight); got "
                f"{type(batch).__name__}. Pass an iterable of them, such as [(X, y)]."
            )
        X, y, weight = (*batch, None)[:3]
        if not (X.shape[0] if hasattr(X, "shape") else len(X)):
            return None
        fresh = not hasattr(self.learner, "n_features_in_")
        known = self.columns if self.known else None
        self.columns, X, y, weight = check_rows(
            self.learner, X, y, weight, reset=fresh, columns=known
        )
        if fresh:
            set_columns(self.learner, self.columns)
            self.known = True
        return Batch(X, y, weight)

    def _first_frames(self) -> list[Any]:
        """The first batches; as far as they are data frames, they say what columns hold."""
        held: list[Any] = []
        frames: list[Any] = []
        for batch in self.batches:
            held.append(batch)
            if not (isinstance(batch, tuple | list) and len(batch) > 1 and is_frame(batch[0])):
                break
            frames.append(batch)
            if sum(X.shape[0] for X, *_ in frames) >= self.settings.rows:
                break
        if frames:
            self.columns, self.known = self.columns._replace(kinds=self._kinds_of(frames)), True
        return held

    def _kinds_of(self, frames: list[Any]) -> tuple[ColumnKind, ...] | None:
        """What columns hold in the first of these batches, and in those with the same names."""
        names = names_of(frames[0][0])
        alike = [(*batch, None)[:3] for batch in frames if names_of(batch[0]) == names]

        def profiles(named: Array) -> Profiles:
            return reduce(add, (profile(X, named, weight) for X, _, weight in alike))

        return kinds_of_frames(self.learner, [X for X, _, _ in alike], profiles)


def _run(batch: Any) -> Any:
    """A batch, with its rows if they are a query."""
    return (rows_of(batch[0]), *batch[1:]) if isinstance(batch, tuple | list) else batch


def gathered(
    batches: Iterable[T],
    rows: Callable[[T], int],
    enough: Callable[[], int],
    join: Callable[[list[T]], T],
) -> Iterator[T]:
    """Batches, joined until they have rows enough.

    Whenever some are yielded, they hold the last batch taken: nothing waits.
    """
    waiting: list[T] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(rows, waiting)) >= enough():
            yield join(waiting)
            waiting = []
    if waiting:
        yield join(waiting)


def stacked(batches: list[Batch]) -> Batch:
    """Batches as one; weights that are all 1 are none."""
    rows, labels, weights = zip(*batches, strict=True)
    if len(batches) == 1:
        X, y = rows[0], labels[0]
    else:
        if any(map(sp.issparse, rows)):
            X = sp.vstack([sp.csr_array(part) for part in rows], format="csr")
        else:
            X = np.concatenate(rows)
        y = joined(labels)
    if all(weight is None for weight in weights):
        return Batch(X, y, None)
    weight = np.concatenate(
        [np.ones(len(batch.y)) if batch.weight is None else batch.weight for batch in batches]
    )
    return Batch(X, y, None if (weight == 1).all() else weight)


# -------------------------------------------------------------------- sources of columns


def batches_of(source: Any, target: str | None, settings: BatchSettings) -> Iterable[Any]:
    """Batches of (X, y), from a source of columns or as they are given."""
    if hasattr(source, "iloc"):
        _check_target(list(source.columns), target)
        return _pandas_batches(source, target, settings.arrow_rows)
    if type(source).__module__.partition(".")[0] != "pyarrow":
        if target is None and not (is_frame(source) or hasattr(source, "__arrow_c_stream__")):
            return source
        source = _reader(source, settings.read_rows)
    _check_target(source.schema.names, target)
    columns = [name for name in source.schema.names if name != target]
    batches = _record_batches(source, settings)
    return ((batch.select(columns), _labels(batch.column(target))) for batch in batches)


def _check_target(names: list[Any], target: Any) -> None:
    """Raise unless a column is named for the labels."""
    if target is None or target not in names:
        raise InputError(
            f"`target` must name the column that holds the labels; it is {target!r}. "
            f"The columns are {some_names(names)}."
        )


def _pandas_batches(frame: Any, target: Any, rows: int) -> Iterator[Any]:
    """Rows of a data frame as they are: its columns may hold what Arrow has no type for."""
    X, y = frame.drop(columns=target), frame[target]
    for start in range(0, len(frame), rows):
        yield X.iloc[start : start + rows], y.iloc[start : start + rows]


def _reader(source: Any, rows: int) -> Any:
    """Rows of a query that is run batch by batch, or of any frame that Arrow can read."""
    if hasattr(source, "collect_batches"):  # a LazyFrame of polars
        schema = source.head(0).collect().to_arrow().schema
        frames = source.collect_batches(chunk_size=rows, maintain_order=True)
        batches = (batch for frame in frames for batch in frame.to_arrow().to_batches())
        from pyarrow import RecordBatchReader

        return RecordBatchReader.from_batches(schema, batches)
    if hasattr(source, "__arrow_c_stream__"):  # DuckDB, polars
        from pyarrow import RecordBatchReader

        return RecordBatchReader.from_stream(source)
    raise InputError(
        "`target` names a column of a source that Arrow can read: a pyarrow dataset, table or "
        "reader, a data frame, a LazyFrame of polars or a relation of DuckDB. `batches` is "
        f"{type(source).__name__}. Give batches of (X, y), or such a source."
    )


def _whole(batch: Any) -> Any:
    """The same batch, if it is whole: offsets of a damaged file lead out of memory."""
    from pyarrow import ArrowInvalid

    try:
        batch.validate(full=True)
    except ArrowInvalid as error:
        raise InputError(
            f"The batches of a pyarrow source must be whole; one is damaged ({error}). Was the "
            "file cut short or changed?"
        ) from error
    return batch


def _record_batches(source: Any, settings: BatchSettings) -> Iterator[Any]:
    from pyarrow import concat_batches

    if hasattr(source, "get_fragments"):  # a dataset
        source = source.to_batches(
            batch_size=settings.read_rows,
            fragment_scan_options=_scan_options(source),
            batch_readahead=1,
            fragment_readahead=1,
        )
    elif hasattr(source, "to_batches"):  # a table, in memory or mapped
        return map(_whole, source.to_batches(max_chunksize=settings.arrow_rows))
    return gathered(map(_whole, source), len, lambda: settings.arrow_rows, concat_batches)


def _scan_options(dataset: Any) -> Any:
    """Parquet would otherwise hold whole row groups beside their rows."""
    from pyarrow import dataset as ds

    if getattr(getattr(dataset, "format", None), "default_extname", "") != "parquet":
        return None
    return ds.ParquetFragmentScanOptions(pre_buffer=False)


def _labels(column: Any) -> Array:
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    return column.to_numpy(zero_copy_only=False)
