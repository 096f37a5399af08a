"""The default layer. Provisional."""

from __future__ import annotations

from typing import Any

import numpy as np

from .neurons import Radial

Array = np.ndarray[Any, Any]


def draw_mixed(h: int, rows: Array, rng: np.random.Generator) -> Radial:
    from .kernels import median_gamma

    g = median_gamma("rbf", rows)
    return Radial(rows[np.arange(h) % len(rows)].T.copy(), g * 10 ** rng.uniform(-1, 1, h))
