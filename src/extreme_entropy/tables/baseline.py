"""What gradient boosting makes of the same rows, for comparison with a fit.

It is scikit-learn's `HistGradientBoostingClassifier` with balanced class weights, and otherwise as
it comes. Categories are codes, which it splits as such; of very many only the most frequent have
one of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.ensemble import HistGradientBoostingClassifier

Array = np.ndarray[Any, Any]

NAME = "gradient boosting"
MOST_CODES = 254  # categories of a column that scikit-learn takes, but one for all others


class Boosting:
    """Gradient boosting of some rows of a table."""

    def __init__(self, X: pa.Table, seed: int) -> None:
        columns = [_as_numbers(column.combine_chunks()) for column in X.columns]
        self._matrix = np.column_stack(columns)
        self._is_code = [pa.types.is_string(kind) for kind in X.schema.types]
        self._seed = seed

    def predictions(self, learnt: Array, y: Array, held_out: Array) -> Array:
        """Labels of the rows that are held out, by a model of those that are learnt."""
        model = HistGradientBoostingClassifier(
            class_weight="balanced",
            categorical_features=self._is_code if any(self._is_code) else None,
            random_state=self._seed,
        )
        return model.fit(self._matrix[learnt], y[learnt]).predict(self._matrix[held_out])


def _as_numbers(column: pa.Array) -> Array:
    """Numbers as they are, dates in days, categories as codes by their frequency."""
    if pa.types.is_string(column.type):
        counts = pc.value_counts(column.drop_null())
        most = pc.sort_indices(counts.field(1), sort_keys=[("", "descending")])[:MOST_CODES]
        codes = pc.index_in(column, value_set=counts.field(0).take(most), skip_nulls=True)
        codes = pc.if_else(pc.and_(codes.is_null(), column.is_valid()), MOST_CODES, codes)
        return codes.cast(pa.float64()).to_numpy(zero_copy_only=False)
    if pa.types.is_timestamp(column.type):
        column = pc.divide(column.cast(pa.int64()).cast(pa.float64(), safe=False), 86_400e6)
    return column.to_numpy(zero_copy_only=False).astype(np.float64)
