"""How much each column matters: how far probabilities move when its values are exchanged.

    I_j = mean of ½ Σ_c |p_c(z with column j of z′) − p_c(z)|

over pairs of rows z, z′ that are kept with φ and drawn as if all classes were equally frequent. The
probabilities are those for such classes, so that neither priors nor costs change what matters. All
encoded columns of a column are exchanged together. Shares of the sum are what users see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .predictor import Predictor

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ImportanceSettings:
    """How many pairs of rows are drawn."""

    pairs: int = 1000
    # Fewer where a table has many columns, each of which is exchanged in every pair.
    most_predictions: int = 2**16
    fewest: int = 50
    seed: int = 0


IMPORTANCE = ImportanceSettings()


def importances(predictor: Predictor, settings: ImportanceSettings = IMPORTANCE) -> Array:
    """The share of each column of a table; all alike if none matters   (d,)."""
    phi, machine = predictor.feature_map, predictor.machine.at_equal_priors()
    held, d = phi.held, len(phi.encoding.table_kinds)

    def probabilities(Z: Array) -> Array:
        return machine.probabilities(predictor.project_scaled(Z))

    n = int(np.clip(settings.most_predictions // d, settings.fewest, settings.pairs))
    chances = held.counts / np.bincount(held.labels, held.counts)[held.labels]
    random = np.random.default_rng(settings.seed)
    rows, others = random.choice(len(chances), (2, n), p=chances / chances.sum())
    Z, donors = held.Z[rows], held.Z[others]
    before, moved = probabilities(Z), np.zeros(d)
    for j in np.unique(phi.encoding.origins):
        columns = np.flatnonzero(phi.encoding.origins == j)
        differ = np.flatnonzero((Z[:, columns] != donors[:, columns]).any(axis=1))
        if not len(differ):  # as for most columns of a sparse matrix
            continue
        exchanged = Z[differ]
        exchanged[:, columns] = donors[np.ix_(differ, columns)]
        moved[j] = abs(probabilities(exchanged) - before[differ]).sum() / (2 * n)
    if not moved.any():
        moved[phi.encoding.origins] = 1.0
    return moved / moved.sum()
