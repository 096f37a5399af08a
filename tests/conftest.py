"""What the tests share: seeded data, fitted classifiers, and relevance at a small size."""

from dataclasses import replace

import numpy as np
import pytest
from fleet import of_fleet
from hypothesis import settings

from extreme_entropy.drawing.settings import DRAWING
from extreme_entropy.estimators.base import EntropyClassifier

# Fixed examples on every run and machine; numerical work is slower than the default deadline.
settings.register_profile("seeded", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("seeded")

FEW_LANDMARKS = replace(DRAWING, relevance=replace(DRAWING.relevance, landmarks=40))


@pytest.fixture
def rng():
    """A seeded generator, new for each test."""
    return np.random.default_rng(20150101)


@pytest.fixture(scope="module", autouse=True)
def few_landmarks():
    """Relevance is learnt on fewer landmarks than users have: it is most of a small fit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EntropyClassifier, "settings", FEW_LANDMARKS)
        yield


@pytest.fixture
def all_landmarks(monkeypatch):
    """As many as users have, for tests of how well relevance is learnt."""
    monkeypatch.setattr(EntropyClassifier, "settings", DRAWING)


@pytest.fixture(scope="session")
def fleet():
    """`fleet("default", "moons")`: a fitted classifier with its rows and labels (fleet.py).

    Each is fitted when it is first asked for, on few landmarks; do not ask with all of them.
    """
    return of_fleet
