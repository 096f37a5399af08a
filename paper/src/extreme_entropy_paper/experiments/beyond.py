"""Beyond the paper: what people use today for rare classes, beside ours, on the protocol's folds.

The models and their settings are those of `baselines`: plain defaults on every data set, nothing
tuned by hand. What is chosen inside the training rows (the threshold of LightGBM, the size and γ
of our …-CV classifiers) is part of the fit and of its seconds.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence

from sklearn.metrics import brier_score_loss, roc_auc_score
from threadpoolctl import threadpool_limits

from extreme_entropy.metrics import balanced_accuracy, gmean_score

from ..baselines import CLASSIFIERS, Given, make, missing
from ..datasets import list_datasets
from ..store import Row
from .claims import datasets_of
from .jobs import Array, Job, data_of
from .protocol import N_FOLDS, fold_of, seed_of

DATASETS = [*datasets_of("uci"), *datasets_of("unbalanced")]
# Quick ones first.
MODELS = (
    *("EEM-default", "EEKM-default", "Nystroem+LDA", "HistGradientBoosting", "LightGBM"),
    *("BalancedRandomForest", "EasyEnsemble", "EEKM-CV", "EEM-CV"),
)


def plan(
    datasets: Sequence[str], models: Sequence[str], repeats: int
) -> Iterator[tuple[Job, str | None]]:
    """One job for each fold, and why not to try it. Quick ones come first."""
    size = {dataset.name: dataset.rows for dataset in list_datasets()}
    reasons = {model: missing(model) for model in models}
    for repeat in range(repeats):
        for model in (name for name in MODELS if name in models):
            reason = reasons[model]
            # A skip goes by another setting, so that it is no longer in the way once the
            # package has been installed.
            setting = {"without": CLASSIFIERS[model].package} if reason else {}
            for name in sorted(datasets, key=lambda name: size[name]):
                for fold in range(N_FOLDS):
                    yield Job(name, model, repeat, fold, (setting,)), reason


def work(job: Job) -> list[Row]:
    """Fit on the training rows of a fold, score on its test rows; one thread each."""
    X, y = data_of(job.dataset)
    train, test = fold_of(X, y, job.repeat, job.fold)
    seed = seed_of(job.repeat, job.fold)
    model = make(job.model, Given(len(train), seed))  # imports before threads are limited
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
        "fit_cpu_seconds": round(cpu_seconds, 5),  # whatever else the computer does
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
