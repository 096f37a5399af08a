"""What a machine is made of: its parameters, and what it has learnt and solved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..features.feature_map import FeatureMap, Layer
from ..machine.machine import Machine
from ..moments.summary import Summary

Array = np.ndarray[Any, Any]


class State:
    """Attributes that learning and deciding share; each new state replaces the old one whole."""

    # Set by the constructors of the two classifiers.
    scale: str | None
    shrinkage: str | float
    ridge: float | str
    decision: str
    priors: Any
    costs: Mapping[Any, float] | None
    n_jobs: int | None
    random_state: Any
    # Set by learning.
    classes_: Array
    feature_names_in_: Array
    feature_map_: FeatureMap
    summary_: Summary
    # A twin's φ and classes are another machine's, and stay.
    _is_twin: bool = False
    # The machine and its operators on the hidden layer, solved when first asked for.
    _solved: tuple[Machine, Array] | None

    # scikit-learn's: raises where a parameter is not what it may be.
    _validate_params: Callable[[], None]

    def _rows_to_draw(self) -> int:
        """How many rows of the data the layer wants to see."""
        raise NotImplementedError

    def _draw_layer(
        self, d: int, rows: Array, dtype: np.dtype[Any], seed: int
    ) -> tuple[Layer, Array | None]:
        """The hidden layer, and the whitening that follows it, for scaled drawn rows."""
        raise NotImplementedError

    def _solve(self) -> tuple[Machine, Array]:
        """Solve for β from what was learnt."""
        raise NotImplementedError

    def _ready(self) -> tuple[Machine, Array]:
        """The machine and its readout, solved when first needed."""
        raise NotImplementedError

    def _classes_without_rows(self) -> list[Any]:
        counts = np.sum(self.summary_.counts, axis=1)
        return self.classes_[counts == 0].tolist()
