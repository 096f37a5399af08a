"""The protocol: the paper's Evaluation section, and what we chose where it is silent.

From the paper: features scaled to [0, 1]; repeated stratified 10-fold cross-validation; GMean; the
grids below; balance weights for WELM, LS-SVM and SVM; random weights and biases uniform on [0, 1].

Our choices:

- *Scaling* is learnt from each training fold, so that no test row has a say in it.
- *Folds* are shuffled, with the number of the repetition as seed. Every fold has neurons of its
  own: on some data one draw differs from the next by more than the figures compared.
- *A cell* is the mean over all folds of the setting whose mean is best, as the paper's tables can
  only be read. That is optimistic, most of all for the models with the largest grids.
- *By D_CS*: in each fold the setting with the largest divergence of the training projections.
- *Seconds* are those of one fit with the setting of the cell, on one thread.
- *SVM* stops after 10⁵ iterations (C = 10¹⁰ need not converge); its kernel cache is 500 MB. What
  it has by then is scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Any, cast

from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from extreme_entropy import EEKMClassifier, EEMClassifier
from extreme_entropy.features.neurons import Uniform

from ..elm import WELMClassifier
from ..lssvm import LSSVMClassifier, memory_needed
from .jobs import Array, Setting

SIZES = (50, 100, 250, 500, 1000)
GAMMAS = tuple(float(f"1e{k}") for k in range(-10, 1))
COSTS = tuple(float(f"1e{k}") for k in range(-1, 11))
N_FOLDS = 10
MEMORY = 8e9  # bytes that a fit may take
SVM_ITERATIONS = 10**5

MODELS = (
    *("WELM-sig", "EEM-sig", "WELM-nsig", "EEM-nsig", "WELM-rbf", "EEM-rbf"),
    *("LS-SVM-rbf", "EEKM-rbf", "SVM-rbf"),
)


def settings_of(model: str) -> list[Setting]:
    """The paper's grid for a column of its tables."""
    if model.startswith(("WELM", "EEM")):
        return [{"h": h} for h in SIZES]
    if model.startswith("EEKM"):
        return [{"h": h, "gamma": gamma} for h, gamma in product(SIZES, GAMMAS)]
    return [{"C": C, "gamma": gamma} for C, gamma in product(COSTS, GAMMAS)]


def classifier(model: str, setting: Setting, seed: int) -> Any:
    """The classifier of a column with one setting."""
    name, kind = model.rsplit("-", 1)
    activation = cast(Uniform, kind)
    if name == "EEM":
        return EEMClassifier.paper(activation, int(setting["h"]), random_state=seed)
    if name == "WELM":
        return WELMClassifier(int(setting["h"]), activation=activation, random_state=seed)
    gamma = setting["gamma"]
    if name == "EEKM":
        return EEKMClassifier.paper(int(setting["h"]), gamma=gamma, random_state=seed)
    if name == "LS-SVM":
        return LSSVMClassifier(setting["C"], gamma=gamma, max_memory=MEMORY)
    svm = SVC(
        C=setting["C"],
        gamma=gamma,
        class_weight="balanced",
        cache_size=500,
        max_iter=SVM_ITERATIONS,
    )
    return make_pipeline(MinMaxScaler(), svm)


def folds(X: Array, y: Array, repeat: int) -> Iterator[tuple[Array, Array]]:
    """Training and test rows of each fold of one repetition."""
    yield from StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat).split(X, y)


def fold_of(X: Array, y: Array, repeat: int, fold: int) -> tuple[Array, Array]:
    """Training and test rows of one fold."""
    return next(islice(folds(X, y, repeat), fold, None))


def seed_of(repeat: int, fold: int) -> int:
    """Of the neurons and landmarks of a fold."""
    return repeat * N_FOLDS + fold


def obstacle(model: str, n: int, d: int) -> str | None:
    """Why fits on so many rows are not tried, or None."""
    rows = n * (N_FOLDS - 1) // N_FOLDS
    need = memory_needed(rows, d) if model.startswith("LS-SVM") else 0
    if need > MEMORY:
        return f"{model.rsplit('-', 1)[0]} would need {need / 1e9:.0f} GB"
    return None
