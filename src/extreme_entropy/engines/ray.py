"""Ray: the blocks of a Dataset, worked on where they lie.

Every block becomes one task, every sum of two another; only the last sum comes to the driver. A
worker that dies takes nothing along: Ray runs its tasks again, and they give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from ..errors import ExtremeEntropyError, InputError, TooLargeError
from ..shapes import Array
from .blocks import Block, add_in_turn, attempted
from .threads import one_blas_thread

try:
    import pyarrow as pa
    import ray
    from ray.exceptions import OutOfMemoryError, WorkerCrashedError

    from .columns import ColumnBlocks, column_of, roles_of
except ImportError as error:
    raise ImportError("Ray input needs ray: pip install 'extreme-entropy[ray]'") from error


class RayBlocks(ColumnBlocks):
    """The blocks of a Dataset."""

    def add_up(self, work: Callable[[Block], Any]) -> Any:
        """Σ work(block), on workers."""
        try:
            return ray.get(add_in_turn(self._sums(work), _add.remote))
        except (OutOfMemoryError, WorkerCrashedError) as error:
            raise TooLargeError(
                "Workers must survive their work; they died on it, most likely for lack of memory. "
                "Use smaller blocks (repartition), a smaller model, or workers with more memory."
            ) from error

    def _sums(self, work: Callable[[Block], Any]) -> Iterator[Any]:
        """Where the sum of each block will be, begun as workers become free."""
        once = ray.put((work, self.roles, self.no_rows))
        running, most = list[Any](), 2 * ray.cluster_resources().get("CPU", 1)
        table = self.table.select_columns(self.roles.names)
        options = table.context.execution_options
        before, options.preserve_order = options.preserve_order, True
        try:
            refs = (
                ref for bundle in table.iter_internal_ref_bundles() for ref in bundle.block_refs
            )
            for number, rows in enumerate(chain([next(refs, self.no_rows)], refs)):
                total, failed = _begin.remote(number, rows, once)
                yield total
                running.append(failed)
                if len(running) > most and (error := ray.get(running.pop(0))):
                    raise error
        finally:
            options.preserve_order = before
            del refs  # and with it all that Ray still computes for it
        for error in filter(None, ray.get(running)):
            raise error

    def each(self, work: Callable[[Block], Array], *, like: Array, name: str) -> Any:
        """The Dataset with a further column, work(block)."""
        self.check_new(name, "rename_columns", "drop_columns")
        features, dtype = self.roles.features, like.dtype

        def answers(rows: Any) -> Any:
            with one_blas_thread():
                column = column_of(work(Block(rows.select(features))), dtype)
            return rows.append_column(name, column)

        return self.table.map_batches(answers, batch_size=None, batch_format="pyarrow")


def blocks(X: Any, y: Any = None, weight: Any = None) -> RayBlocks:
    """The blocks of a Dataset; its columns hold labels and weights, too."""
    schema = X.schema()
    if schema is not None and not isinstance(schema.base_schema, pa.Schema):  # that of pandas
        X = X.map_batches(lambda rows: rows, batch_size=None, batch_format="pyarrow")
        schema = X.schema()
    if schema is None:
        raise InputError("There must be rows to find columns in; the Dataset has none.")
    columns = list(zip(schema.names, map(str, schema.types), strict=True))
    roles = roles_of(columns, y, weight, "Ray Dataset")
    return RayBlocks(X, schema.base_schema.empty_table(), roles)


def _sum_of_block(number: int, rows: Any, once: tuple[Any, ...]) -> tuple[Any, Any]:
    """work(block), or None; and an error of ours, or None, for the driver to wait for."""
    work, roles, no_rows = once
    block = roles.block(rows if rows.num_rows else no_rows)  # a block without rows may lack columns
    total = attempted(number, work, block)
    return (None, total) if isinstance(total, ExtremeEntropyError) else (total, None)


_begin = ray.remote(num_returns=2)(_sum_of_block)
_add = ray.remote(lambda a, b: None if a is None or b is None else a + b)
