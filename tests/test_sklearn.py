"""scikit-learn's own checks, for every activation and kernel family."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from extreme_entropy import (
    DivergenceSearch,
    EEKMClassifier,
    EEKMClassifierCV,
    EEMClassifier,
    EEMClassifierCV,
)


@dataclass(frozen=True)
class Waves:
    """An activation a user might bring: random Fourier features."""

    frequency: float = 3.0

    def __call__(self, Z, weights, biases):
        return np.cos(self.frequency * Z @ weights.T + 2 * np.pi * biases)


@dataclass(frozen=True)
class Rational:
    """A kernel of two rows a user might bring."""

    power: float = 1.0

    def __call__(self, a, b):
        return (1 + np.sum((a - b) ** 2)) ** -self.power


MACHINES = [
    EEMClassifier(random_state=0),
    *(
        EEMClassifier(40, activation=activation, random_state=0)
        for activation in ("sig", "nsig", "rbf", "tanimoto", "sorensen", "relu", Waves())
    ),
    EEMClassifier.paper(n_hidden=40, random_state=0),
    EEMClassifier(40, scale="standard", shrinkage="oas", ridge=0.01, random_state=0),
    EEMClassifier(40, scale=None, shrinkage=None, decision="paper", random_state=0),
    EEKMClassifier(random_state=0),
    *(
        EEKMClassifier(20, kernel=kernel, random_state=0)
        for kernel in ("rbf", "laplacian", "polynomial", "linear", "cosine", "tanimoto", Rational())
    ),
    EEKMClassifier.paper(40, random_state=0),
    EEMClassifierCV((5, 15), activation=("rbf", "mixed"), cv=2, random_state=0),
    EEKMClassifierCV((5, 15), cv=2, random_state=0),
    DivergenceSearch(EEMClassifier(random_state=0), {"n_hidden": [5, 10]}),
]


@pytest.mark.filterwarnings("ignore::extreme_entropy.errors.ExtremeEntropyWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@parametrize_with_checks(MACHINES)
def test_scikit_learn_checks(estimator, check):
    """No expected failures are listed: the estimators keep every convention."""
    check(estimator)
