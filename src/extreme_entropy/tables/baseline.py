"""What gradient boosting makes of the same rows, for comparison with a fit.

It is scikit-learn's `HistGradientBoostingClassifier`, with leaves of a fifth of the rows where 20
would be too many, and a ridge of 1, without which it overfits rare classes. Its threshold is set as
ours is: with p its probabilities and n the rows of each class that it was fitted on, it predicts
the class with the largest p / n times cost times frequency.

Its time grows with the columns: of more than 20 it cuts values into 63 ranges instead of 255, and
of more than 50 it has fewer rounds with a higher learning rate, which its name then says.
Categories are codes, which it splits as such; those that are too rare for a code share one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class BoostingSettings:
    """How much boosting there is, so that it takes about as long as the fit it is compared with."""

    leaf_rows: int = 20  # in a leaf at least, as scikit-learn has it
    leaf_share: float = 0.2  # of all rows, which is less where they are few
    ridge: float = 1.0

    rounds: int = 100  # as scikit-learn has it
    fewest_rounds: int = 20
    trees: int = 5000  # rounds times columns, at most
    rate: float = 0.1  # as scikit-learn has it, and more in proportion where rounds are fewer
    highest_rate: float = 0.3
    fine_columns: int = 20  # up to which values are cut into as many ranges as can be


class Boosting:
    """Gradient boosting of some rows of a table."""

    def __init__(self, X: pa.Table, seed: int, settings: BoostingSettings | None = None) -> None:
        self._settings = settings = settings or BoostingSettings()
        self._bins = 255 if X.num_columns <= settings.fine_columns else 63
        columns = [_as_numbers(column.combine_chunks(), self._bins - 1) for column in X.columns]
        self._matrix = np.column_stack(columns)
        self._is_code = [pa.types.is_string(kind) for kind in X.schema.types]
        fewer = max(settings.fewest_rounds, settings.trees // X.num_columns)
        self._rounds = min(settings.rounds, fewer)
        self._seed = seed

    @property
    def name(self) -> str:
        """What to call it."""
        rounds = f" ({self._rounds} rounds)" if self._rounds < self._settings.rounds else ""
        return f"gradient boosting{rounds}"

    def decisions(self, learnt: Array, labels: Array, held_out: Array, weights: Array) -> Array:
        """Labels of the rows held out, by a model of those learnt; weights are cost times share."""
        settings, y = self._settings, labels[learnt]
        model = HistGradientBoostingClassifier(
            categorical_features=self._is_code if any(self._is_code) else None,
            max_bins=self._bins,
            max_iter=self._rounds,
            learning_rate=min(
                settings.highest_rate, settings.rate * settings.rounds / self._rounds
            ),
            min_samples_leaf=max(1, min(settings.leaf_rows, int(settings.leaf_share * len(y)))),
            l2_regularization=settings.ridge,
            random_state=self._seed,
        )
        X = self._matrix[learnt]
        X[:, np.isnan(X).all(axis=0)] = 0  # scikit-learn takes no column without a value
        # Its threads wait for each other actively: many of them are slow where cores are shared.
        with threadpool_limits(1, user_api="openmp"):
            p = model.fit(X, y).predict_proba(self._matrix[held_out])
        seen = model.classes_
        return seen[(p * (weights[seen] / np.bincount(y)[seen])).argmax(axis=1)]


def _as_numbers(column: pa.Array, most_codes: int) -> Array:
    """Numbers as they are, dates in days, categories as codes by their frequency."""
    if pa.types.is_string(column.type):
        counts = pc.value_counts(column.drop_null())
        order = pc.sort_indices(counts.field(1), sort_keys=[("", "descending")])
        frequent = counts.field(0).take(order[:most_codes])
        codes = pc.index_in(column, value_set=frequent, skip_nulls=True)
        codes = pc.if_else(pc.and_(codes.is_null(), column.is_valid()), most_codes, codes)
        return codes.cast(pa.float64()).to_numpy(zero_copy_only=False)
    if pa.types.is_timestamp(column.type):
        column = pc.divide(column.cast(pa.int64()).cast(pa.float64(), safe=False), 86_400e6)
    return column.to_numpy(zero_copy_only=False).astype(np.float64)
