"""What the tests share: seeded data, and relevance at a small size."""

import numpy as np
import pytest
from hypothesis import settings

from extreme_entropy.drawing import relevance

# Fixed examples on every run and machine; numerical work is slower than the default deadline.
settings.register_profile("seeded", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("seeded")

LANDMARKS = relevance.LANDMARKS


@pytest.fixture
def rng():
    """A seeded generator, new for each test."""
    return np.random.default_rng(20150101)


@pytest.fixture(scope="module", autouse=True)
def few_landmarks():
    """Relevance is learnt on fewer landmarks than users have: it is most of a small fit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relevance, "LANDMARKS", 40)
        yield


@pytest.fixture
def all_landmarks(monkeypatch):
    """As many as users have, for tests of how well relevance is learnt."""
    monkeypatch.setattr(relevance, "LANDMARKS", LANDMARKS)
