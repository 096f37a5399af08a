"""scikit-learn's own checks: all of them for every estimator, those of numbers for every layer."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from extreme_entropy import (
    DivergenceSearch,
    EEKMClassifier,
    EEKMClassifierCV,
    EEMClassifier,
    EEMClassifierCV,
    ExtremeEntropyClassifier,
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


ESTIMATORS = [
    ExtremeEntropyClassifier(n_landmarks=20, random_state=0),
    EEMClassifier(40, random_state=0),
    EEMClassifier.paper(n_hidden=40, random_state=0),
    EEKMClassifier(20, relevance="uniform", random_state=0),
    EEMClassifierCV((5, 15), activation=("rbf", "sig"), cv=2, random_state=0),
    EEKMClassifierCV((5, 15), gamma=(0.5, 2.0), relevance="uniform", cv=2, random_state=0),
    DivergenceSearch(EEMClassifier(40, activation="rbf", random_state=0), {"n_hidden": [5, 10]}),
]

# The same estimators with other layers, scalings and solutions, and with more neurons than rows.
# Relevance is learnt by three of them; it is most of a fit.
LAYERS = [
    ExtremeEntropyClassifier(n_leaves=4, n_landmarks=20, random_state=0),
    EEMClassifier(120, random_state=0),
    *(
        EEMClassifier(40, activation=activation, relevance="uniform", random_state=0)
        for activation in ("nsig", "rbf", "tanimoto", "sorensen", Waves())
    ),
    *(
        EEMClassifier(40, relevance="uniform", random_state=0, **settings)
        for settings in (
            {"activation": "relu", "scale": "standard", "shrinkage": "oas", "ridge": 0.01},
            {"activation": "sig", "scale": None, "shrinkage": None, "decision": "paper"},
        )
    ),
    EEKMClassifier(120, kernel="laplacian", random_state=0),
    *(
        EEKMClassifier(20, kernel=kernel, relevance="uniform", random_state=0)
        for kernel in ("polynomial", "linear", "cosine", "tanimoto", Rational())
    ),
    EEKMClassifier.paper(40, random_state=0),
]

# Checks whose outcome a layer can change. The others are about the door that all layers share:
# names, tags, parameters, shapes and messages.
OF_NUMBERS = {
    "check_classifiers_classes",
    "check_classifiers_one_label",
    "check_classifiers_train",
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}

pytestmark = [
    pytest.mark.filterwarnings("ignore::extreme_entropy.errors.ExtremeEntropyWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    """No expected failures are listed: the estimators keep every convention."""
    check(estimator)


@pytest.mark.parametrize("estimator", LAYERS, ids=str)
def test_every_layer_passes_the_checks_of_numbers(estimator):
    """Precision, storage, order, repetition, weights and copies, whatever φ is."""
    done = set()
    for fresh, check in estimator_checks_generator(estimator):
        if check.func.__name__ in OF_NUMBERS:
            check(fresh)
            done.add(check.func.__name__)
    assert done == OF_NUMBERS
