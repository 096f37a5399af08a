"""Beyond the paper: what people use today for rare classes, beside ours, on the protocol's folds.

Every model has its plain defaults on every data set; nothing is tuned by hand. Two things are
chosen inside the training rows, as part of the fit and of its seconds: the threshold of LightGBM,
for GMean on five inner folds, and the size (and γ) of our …-CV classifiers. Nystroem has as many
components as our machines have neurons, on standardised columns, and the discriminant after it
shrinks its covariance by Ledoit and Wolf, as ours do, since components often outnumber rows.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ..datasets import list_datasets
from ..estimators.eekm import EEKMClassifier
from ..estimators.eem import EEMClassifier
from ..metrics import balanced_accuracy, gmean_score, gmean_scorer
from ..selection.eekm_cv import EEKMClassifierCV
from ..selection.eem_cv import EEMClassifierCV
from .claims import datasets_of
from .jobs import Array, Job, data_of
from .protocol import N_FOLDS, fold_of, seed_of
from .store import Row

DATASETS = [*datasets_of("uci"), *datasets_of("unbalanced")]
COMPONENTS = 500  # of Nystroem: the default size of our machines
INNER_FOLDS = 5  # for LightGBM's threshold


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model to compare: what makes one for rows and a seed, and what it needs."""

    make: Callable[[int, int], Any]
    kind: str  # "ours", "trees" or "kernel"
    library: str | None = None  # of the extra `bench`


def _forest(rows: int, seed: int) -> Any:
    from imblearn.ensemble import BalancedRandomForestClassifier

    return BalancedRandomForestClassifier(n_jobs=1, random_state=seed)


def _easy_ensemble(rows: int, seed: int) -> Any:
    from imblearn.ensemble import EasyEnsembleClassifier

    return EasyEnsembleClassifier(n_jobs=1, random_state=seed)


def _boosting(rows: int, seed: int) -> Any:
    return HistGradientBoostingClassifier(class_weight="balanced", random_state=seed)


def _lightgbm(rows: int, seed: int) -> Any:
    from lightgbm import LGBMClassifier

    trees = LGBMClassifier(n_jobs=1, random_state=seed, verbose=-1)
    return TunedThresholdClassifierCV(
        trees,
        scoring=gmean_scorer,
        cv=StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed),  # tables may be sorted
        n_jobs=1,
        random_state=seed,
    )


def _nystroem(rows: int, seed: int) -> Any:
    kernel = Nystroem(n_components=min(COMPONENTS, rows), random_state=seed)
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto", priors=[0.5, 0.5])
    return make_pipeline(StandardScaler(), kernel, lda)


def _ours(kind: type, rows: int, seed: int) -> Any:
    return kind(random_state=seed)


# Quick ones first.
CANDIDATES = {
    "EEM-default": Candidate(partial(_ours, EEMClassifier), "ours"),
    "EEKM-default": Candidate(partial(_ours, EEKMClassifier), "ours"),
    "Nystroem+LDA": Candidate(_nystroem, "kernel"),
    "HistGradientBoosting": Candidate(_boosting, "trees"),
    "LightGBM": Candidate(_lightgbm, "trees", "lightgbm"),
    "BalancedRandomForest": Candidate(_forest, "trees", "imblearn"),
    "EasyEnsemble": Candidate(_easy_ensemble, "trees", "imblearn"),
    "EEKM-CV": Candidate(partial(_ours, EEKMClassifierCV), "ours"),
    "EEM-CV": Candidate(partial(_ours, EEMClassifierCV), "ours"),
}


def plan(
    datasets: Sequence[str], models: Sequence[str], repeats: int
) -> Iterator[tuple[Job, str | None]]:
    """One job for each fold, and why not to try it. Quick ones come first."""
    size = {dataset.name: dataset.rows for dataset in list_datasets()}
    reasons = {model: missing(model) for model in models}
    for repeat in range(repeats):
        for model in (name for name in CANDIDATES if name in models):
            reason = reasons[model]
            # A skip goes by another setting, so that it is no longer in the way once the
            # library has been installed.
            setting = {"without": CANDIDATES[model].library} if reason else {}
            for name in sorted(datasets, key=lambda name: size[name]):
                for fold in range(N_FOLDS):
                    yield Job(name, model, repeat, fold, (setting,)), reason


def missing(model: str) -> str | None:
    """Why a model cannot be had here, or None."""
    library = CANDIDATES[model].library
    try:
        if library:
            import_module(library)
    except (ImportError, OSError):  # OSError: LightGBM without its OpenMP runtime
        return f"{model} needs the extra bench: pip install 'extreme-entropy[bench]'"
    return None


def work(job: Job) -> list[Row]:
    """Fit on the training rows of a fold, score on its test rows; one thread each."""
    X, y = data_of(job.dataset)
    train, test = fold_of(X, y, job.repeat, job.fold)
    seed = seed_of(job.repeat, job.fold)
    model = CANDIDATES[job.model].make(len(train), seed)  # imports before threads are limited
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with few rows, which are the point here
        start, busy = time.perf_counter(), time.process_time()
        model.fit(X[train], y[train])
        fit_seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - busy
        start = time.perf_counter()
        answers = model.predict(X[test])
        predict_seconds = time.perf_counter() - start
        probabilities = model.predict_proba(X[test])
    found = {
        **scores(y[test], answers, probabilities, model.classes_),
        "fit_seconds": round(fit_seconds, 5),
        "fit_cpu_seconds": round(cpu_seconds, 5),  # what else runs on the machine has no say in it
        "predict_seconds": round(predict_seconds, 5),
        "seed": seed,
    }
    return [{**job.about(setting), **found} for setting in job.settings]


def scores(y: Array, answers: Array, probabilities: Array, classes: Array) -> dict[str, float]:
    """GMean, balanced accuracy and AUC in percent, and the Brier score.

    The last two are the same whichever of two classes is called positive.
    """
    positive, chance = y == classes[1], probabilities[:, 1]
    return {
        "gmean": round(100 * gmean_score(y, answers), 4),
        "balanced_accuracy": round(100 * float(balanced_accuracy(y, answers)), 4),
        "auc": round(100 * float(roc_auc_score(positive, chance)), 4),
        "brier": round(float(brier_score_loss(positive, chance)), 6),
    }
