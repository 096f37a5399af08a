"""Predictions are what they were before the structure of the library changed."""

import numpy as np
import pytest

from extreme_entropy_paper.benchmarks.unchanged import CLASSIFIERS, FRAMES, answers, tables
from extreme_entropy_paper.store import newest, rows_of


@pytest.mark.parametrize("name", tables())
def test_probabilities_are_those_recorded(name, paper_data):
    """To 1e-10: sums may be taken in another order, and nothing else."""
    if name not in FRAMES:
        paper_data(name)
    recorded = {row["model"]: row for row in rows_of(newest("unchanged")) if row["table"] == name}
    assert recorded.keys() >= CLASSIFIERS.keys()
    for model in CLASSIFIERS:
        expected = recorded[model]["probabilities"]
        np.testing.assert_allclose(
            answers(name, model), expected, rtol=0, atol=1e-10, err_msg=model
        )
