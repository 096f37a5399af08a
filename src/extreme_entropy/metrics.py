"""GMean, the paper's score: the geometric mean of the accuracies within each class."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import recall_score


def gmean_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Geometric mean of the recalls of all classes in `y_true`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    float
        Between 0 (some class is never found) and 1 (no mistake).

    Examples
    --------
    >>> from extreme_entropy import gmean_score
    >>> gmean_score(["ill", "ill", "well", "well"], ["ill", "well", "well", "well"])
    0.7071067811865476
    """
    recalls = recall_score(
        y_true,
        y_pred,
        labels=np.unique(y_true),
        average=None,
        sample_weight=sample_weight,
        zero_division=0.0,
    )
    return float(np.prod(recalls) ** (1.0 / len(recalls)))
