"""What the tests share: seeded data, and the paper's data where they are to be had."""

import os
from pathlib import Path

import numpy as np
import pytest

from extreme_entropy_paper.datasets import load_dataset


@pytest.fixture
def rng():
    """A seeded generator, new for each test."""
    return np.random.default_rng(20150101)


@pytest.fixture
def paper_data():
    """`paper_data(name)` gives X and y of one of the paper's data sets, or skips the test."""
    folder = os.environ.get("EXTREME_ENTROPY_DATA")

    def load(name):
        if name == "balance":  # which is generated, so that no file is needed
            return load_dataset(name, return_X_y=True)
        path = Path(folder or "") / f"{name}.npz"
        if not folder or not path.is_file():
            pytest.skip(
                "the paper's data are not ours to ship: "
                f"set EXTREME_ENTROPY_DATA to a folder that holds {name}.npz"
            )
        with np.load(path) as arrays:
            return arrays["X"], arrays["y"]

    return load
