"""Random tables through the laws of the classifiers, for a few seconds."""

import pytest

estimators = pytest.importorskip("fuzz.estimators")  # which is not installed


def test_random_tables_keep_the_laws():
    """`python -m fuzz.estimators` goes on for as long as one likes."""
    assert estimators.run(seconds=5, seed=0) > 0
