"""At the paper's settings the classifiers land where the paper says.

Each claim is the paper's mean GMean and ± in 10-fold cross-validation with the best setting of its
grid (Tables "uci" and "unb").
"""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from extreme_entropy import (
    EEKMClassifier,
    EEMClassifier,
    gmean_score,
)
from extreme_entropy.errors import DegenerateWarning
from extreme_entropy.metrics import gmean_scorer
from extreme_entropy_paper import LSSVMClassifier, WELMClassifier
from extreme_entropy_paper.experiments.alternatives import by_parts
from extreme_entropy_paper.experiments.claims import claims
from extreme_entropy_paper.experiments.protocol import folds

OURS = ("heart", "sonar", "ionosphere", "ecoli", "liver_disorders", "breast_cancer")
BASELINES = ("heart", "ecoli")
# Part of the paper's grid: all of it changes these means by a point at most.
GRIDS = {
    "EEM-rbf": [EEMClassifier.paper("rbf", h, random_state=0) for h in (100, 500)],
    "EEKM-rbf": [
        EEKMClassifier.paper(h, gamma=gamma, random_state=0)
        for h in (50, 250)
        for gamma in (0.01, 0.1, 1.0)
    ],
    "WELM-sig": [WELMClassifier(h, random_state=0) for h in (50, 100, 250)],
    "WELM-rbf": [WELMClassifier(h, activation="rbf", random_state=0) for h in (50, 100, 250)],
    "LS-SVM-rbf": [
        LSSVMClassifier(C, gamma=gamma) for C in (0.1, 10.0, 1e3) for gamma in (0.01, 0.1, 1.0)
    ],
}
CLAIMS = [
    claim
    for table in ("uci", "unbalanced")
    for claim in claims(table)
    if claim.model in GRIDS and claim.dataset in (OURS if claim.model[:2] == "EE" else BASELINES)
]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: f"{c.dataset}-{c.model}")
def test_the_papers_settings_land_within_the_papers_spread(claim, paper_data):
    """Best of the grid by mean GMean over stratified 10 folds, as the paper reports it."""
    X, y = paper_data(claim.dataset)
    splits = list(folds(X, y, 0))
    best = max(
        100 * cross_val_score(model, X, y, cv=splits, scoring=gmean_scorer).mean()
        for model in GRIDS[claim.model]
    )
    assert abs(best - claim.value) <= claim.spread


def test_isolet_saturates_the_papers_sigmoid_and_the_default_does_not(paper_data):
    """The paper prints 0.0 for isolet with sig; the neurons are saturated and we say so."""
    X, y = paper_data("isolet")
    train, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    with pytest.warns(DegenerateWarning, match="saturated"):
        constant = EEMClassifier.paper("sig", 100, random_state=0).fit(X[train], y[train])
    assert gmean_score(y[test], constant.predict(X[test])) == 0.0
    default = EEMClassifier(random_state=0).fit(X[train], y[train])
    assert gmean_score(y[test], default.predict(X[test])) > 0.95


def test_arythmia_saturates_the_papers_sigmoid_too(paper_data):
    """What is left of the classes' difference is rounding; docs/reproduction.md says so."""
    X, y = paper_data("arythmia")
    X = X.astype(float)
    with pytest.warns(DegenerateWarning, match="saturated"):
        model = EEMClassifier.paper("sig", 500, random_state=0).fit(X, y)
    H = model.feature_map_(X)
    assert (1 - H).max() < 2e-13
    assert np.linalg.norm(H[y > 0].mean(axis=0) - H[y < 0].mean(axis=0)) < 1e-14
    # Rounding taken for a difference gives about the figure that the paper prints.
    (printed,) = (
        c for c in claims("unbalanced") if (c.dataset, c.model) == ("arythmia", "EEM-sig")
    )
    scores = [
        100 * gmean_score(y[test], by_parts(model, X[train], y[train], X[test]))
        for train, test in folds(X, y, 0)
    ]
    assert abs(np.mean(scores) - printed.value) < printed.spread
