"""Spark: partitions of a DataFrame, classic or Connect, worked on where they lie.

Every partition becomes one sum. Executors add sums up in two stages: that of partition i goes to
group ⌊√i⌋, so that n partitions make √n groups of at most 2√n sums; then one task adds the groups.
Only its sum comes to the driver. What an executor had not finished when it died, or kept for
others, Spark runs again.
"""

from __future__ import annotations

import gc
import io
import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import groupby
from math import isqrt
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..errors import ExtremeEntropyError, TooLargeError
from ..shapes import Array
from .blocks import Block, add_in_turn, attempted, on_block
from .threads import one_blas_thread

try:
    import pyarrow as pa
    from pyspark import TaskContext
    from pyspark.sql import types

    from .columns import ColumnBlocks, Roles, column_of, roles_of
except ImportError as error:
    raise ImportError("Spark input needs pyspark: pip install 'extreme-entropy[spark]'") from error

T = TypeVar("T")
Batches = Iterator[Any]  # of pyarrow.RecordBatch

SUMS = "place long, number long, sum binary"  # a sum, its number, and where it is added to others
DIED = ("ExecutorLostFailure", "Python worker exited unexpectedly", "OutOfMemoryError")
ABSENT = "No module named 'extreme_entropy"


class SparkBlocks(ColumnBlocks):
    """The partitions of a DataFrame."""

    def add_up(self, work: Callable[[Block], T]) -> T:
        """Σ work(block), on executors."""
        columns, no_rows = self.table.columns, self.no_rows.select(self.roles.names)
        rows = _numbered(self.table).select([f"c{columns.index(x)}" for x in self.roles.names])
        task = partial(_sum_of_partition, work, self.roles, no_rows)
        sums = rows.mapInArrow(task, SUMS)
        for places in ("place", 1):
            ordered = sums.repartition(places).sortWithinPartitions("place", "number")
            sums = ordered.mapInArrow(_sum_of_each_place, SUMS)
        for total in _read(_computed(sums).to_batches()):
            if isinstance(total.sum, ExtremeEntropyError):
                raise total.sum
            return total.sum
        return on_block(0, work, self.roles.block(self.no_rows))  # there is no partition

    def each(self, work: Callable[[Block], Array], *, like: Array, name: str) -> Any:
        """The DataFrame with a further column, work(block)."""
        self.check_new(name, "withColumnRenamed", "drop")
        schema = types.StructType([*self.table.schema, types.StructField(name, _type_of(like))])
        task = partial(_answers, work, self.roles.features, like.dtype, schema.names)
        return _numbered(self.table).mapInArrow(task, schema)


def blocks(X: Any, y: Any = None, weight: Any = None) -> SparkBlocks:
    """The partitions of a DataFrame; its columns hold labels and weights, too."""
    roles = roles_of(X.dtypes, y, weight, "Spark DataFrame")
    no_rows = X.limit(0).toArrow()
    return SparkBlocks(X, no_rows, roles)


def _numbered(frame: Any) -> Any:
    """The same rows with plain names: mapInArrow does not take those with dots."""
    return frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))


def _computed(sums: Any) -> Any:
    """Sums as a table of Arrow, or an error that says what to do."""
    try:
        return sums.toArrow()
    except Exception as error:
        text = str(error)
        if ABSENT in text:
            raise ImportError(
                "The executors must have extreme-entropy installed, too; they cannot import it. "
                "Install it there, or ship it with the session (addArtifacts, --archives)."
            ) from error
        if any(sign in text for sign in DIED):
            raise TooLargeError(
                "Executors must survive their work; they died on it, most likely for lack of "
                "memory. Use smaller partitions (repartition), a smaller model, or executors with "
                "more memory (spark.executor.memory and spark.executor.memoryOverhead)."
            ) from error
        raise


# -------------------------------------------------------------------- on executors


class Sum(NamedTuple):
    """A sum, or the error there was instead, and where it is to be added to others."""

    place: int
    number: int
    sum: Any


def _sum_of_partition(
    work: Callable[[Block], Any], roles: Roles, no_rows: Any, batches: Batches
) -> Batches:
    """work(block) of the block that a partition is."""
    _keep_imports()
    number, parts = _partition(), list(batches)
    rows = pa.Table.from_batches(parts).rename_columns(roles.names) if parts else no_rows
    total = attempted(number, work, roles.block(rows))
    yield _written(Sum(isqrt(number), number, total))


def _sum_of_each_place(batches: Batches) -> Batches:
    """One sum for each place, numbered by it, to be added to the others at one place."""
    _keep_imports()
    for place, parts in groupby(_read(batches), key=itemgetter(0)):
        with one_blas_thread():
            total = add_in_turn((part.sum for part in parts), _add)
        yield _written(Sum(0, place, total))


def _add(a: Any, b: Any) -> Any:
    """a + b; the first error, if there is one."""
    if isinstance(a, ExtremeEntropyError):
        return a
    return b if isinstance(b, ExtremeEntropyError) else a + b


def _answers(
    work: Callable[[Block], Array],
    features: list[str],
    dtype: np.dtype[Any],
    names: list[str],
    batches: Batches,
) -> Batches:
    """The rows with a column of answers, the last of these names."""
    _keep_imports()
    number = _partition()
    for batch in batches:
        rows = pa.Table.from_batches([batch]).rename_columns(names[:-1])
        with one_blas_thread():
            answers = on_block(number, work, Block(rows.select(features)))
        yield pa.RecordBatch.from_arrays([*batch, column_of(answers, dtype)], names)


@cache
def _keep_imports() -> None:
    """Leave all that is imported out of garbage collections.

    After each task Spark has its Python collect garbage, and with NumPy, SciPy, scikit-learn and us
    to look through, that takes longer than many a task.
    """
    gc.freeze()


def _partition() -> int:
    context = TaskContext.get()
    assert context is not None  # this runs in a task
    return int(context.partitionId())


def _written(total: Sum) -> Any:
    sums = pa.array([packed(total.sum)], pa.binary())
    arrays = [pa.array([total.place]), pa.array([total.number]), sums]
    return pa.RecordBatch.from_arrays(arrays, list(Sum._fields))


def _read(batches: Iterable[Any]) -> Iterator[Sum]:
    for batch in batches:
        for place, number, total in zip(*batch.columns, strict=True):
            value = pickle.loads(total.as_buffer())  # noqa: S301 (our own bytes)
            yield Sum(place.as_py(), number.as_py(), value)


def packed(value: Any) -> bytes:
    """Pickled, with half of each symmetric matrix: summaries consist of them."""
    file = io.BytesIO()
    _Packer(file, protocol=5).dump(value)
    return file.getvalue()


class _Packer(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if not (isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == 2):
            return NotImplemented
        bits = value.view(np.int64) if value.flags.c_contiguous else None
        if bits is None or len(bits) != len(bits.T) or not np.array_equal(bits, bits.T):
            return NotImplemented
        rows = [value[i, : i + 1] for i in range(len(value))]
        return _mirrored, (np.concatenate([np.empty(0), *rows]), len(value))


def _mirrored(lower: Array, n: int) -> Array:
    """The symmetric matrix with this lower triangle, row after row."""
    matrix, start = np.empty((n, n)), 0
    for i in range(n):
        row = lower[start : start + i + 1]
        matrix[i, : i + 1] = matrix[: i + 1, i] = row
        start += i + 1
    return matrix


# -------------------------------------------------------------------- types


def _type_of(like: Array) -> Any:
    """Spark's type for one of these answers; more dimensions are arrays in arrays."""
    if like.ndim > 1:
        return types.ArrayType(_type_of(like[:, 0] if like.shape[1] else like.reshape(0)))
    if like.dtype.kind in "iu":
        return types.LongType()
    if like.dtype.kind == "f":
        return types.FloatType() if like.dtype.itemsize == 4 else types.DoubleType()
    return types.BooleanType() if like.dtype.kind == "b" else types.StringType()
