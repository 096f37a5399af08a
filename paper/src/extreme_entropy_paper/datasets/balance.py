"""UCI's balance scale, generated: weights and distances from 1 to 5 on either arm, 5⁴ rows.

+1 where the arms balance, w·d = w′·d′ (49 rows); −1 where one side falls (576).
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def generate() -> tuple[Array, Array]:
    """The 625 rows in UCI's order.

    >>> X, y = generate()
    >>> X[1], int(y[1])
    (array([1., 1., 1., 2.]), -1)
    """
    X = np.array(list(product(range(1, 6), repeat=4)), dtype=float)
    balanced = X[:, 0] * X[:, 1] == X[:, 2] * X[:, 3]
    return X, np.where(balanced, 1, -1).astype(np.int8)
