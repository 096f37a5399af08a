"""What the tests share: seeded data."""

import numpy as np
import pytest
from hypothesis import settings

# Fixed examples on every run and machine; numerical work is slower than the default deadline.
settings.register_profile("seeded", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("seeded")


@pytest.fixture
def rng():
    """A seeded generator, new for each test."""
    return np.random.default_rng(20150101)
