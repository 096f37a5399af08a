"""βᵀφ(x): rows through the hidden layer onto the lines of the operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..features.chunks import chunk_rows, chunks, dense
from ..features.feature_map import FeatureMap

Array = np.ndarray[Any, Any]


def project(phi: FeatureMap, X: Any, readout: Array) -> Array:
    """Rows through the hidden layer onto lines: the work of one lane."""
    width = phi.width
    projections = np.empty((X.shape[0], readout.shape[1]), X.dtype)
    room = phi.room(min(chunk_rows(width), X.shape[0]), X.dtype)
    for stretch in chunks(X.shape[0], width):
        projections[stretch] = phi.hidden(dense(X[stretch]), room) @ readout
    return projections
