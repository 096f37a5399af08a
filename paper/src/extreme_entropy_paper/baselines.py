"""The one list of classifiers that are compared: ours, and the baselines beside them.

Every comparison takes its models from here by name, so that one name is one model in all rows and
pages. Each has its plain defaults but for what its line says; nothing is tuned by hand. Nystroem
has as many components as ours have neurons or landmarks, on standardised columns, and the
discriminant after it shrinks its covariance by Ledoit and Wolf, as ours do, since components often
outnumber rows. The thresholds of some are chosen inside the training rows, as part of the fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.covariance import LedoitWolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve
from sklearn.model_selection import (
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight

from extreme_entropy import (
    EEKMClassifier,
    EEKMClassifierCV,
    EEMClassifier,
    EEMClassifierCV,
    ExtremeEntropyClassifier,
)
from extreme_entropy.metrics import gmean_scorer

from .neurons import PaperNeurons

Array = np.ndarray[Any, Any]

SIZE = 500  # neurons, landmarks or components: the default of ours
INNER_FOLDS = 5  # for the threshold of LightGBM
CATBOOST_TREES = 300  # of its 1000: with all, our widest table alone takes a quarter of an hour


@dataclass(frozen=True, slots=True)
class Given:
    """What a model may be told before it is fitted."""

    rows: int  # of the training set
    seed: int
    size: int = SIZE
    threads: int = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A model of the list: what makes one, of which kind it is, and which package it needs."""

    make: Callable[[Given], Any]
    kind: str  # "ours", "trees", "kernel" or "pseudo-inverse"
    package: str | None = None


# ------------------------------------------------------------------ ours


def _sized(kind: type, given: Given) -> Any:
    return kind(given.size, n_jobs=_jobs(given), random_state=given.seed)


def _start(given: Given) -> Any:
    return ExtremeEntropyClassifier(random_state=given.seed, n_jobs=_jobs(given))


def _choosing(kind: type, given: Given) -> Any:
    return kind(n_jobs=_jobs(given), random_state=given.seed)


def _paper(given: Given) -> Any:
    return EEMClassifier.paper("rbf", given.size, n_jobs=_jobs(given), random_state=given.seed)


def _jobs(given: Given) -> int | None:
    return given.threads if given.threads > 1 else None


# ------------------------------------------------------------------ trees


def _forest(given: Given) -> Any:
    from imblearn.ensemble import BalancedRandomForestClassifier

    return BalancedRandomForestClassifier(n_jobs=given.threads, random_state=given.seed)


def _easy_ensemble(given: Given) -> Any:
    from imblearn.ensemble import EasyEnsembleClassifier

    return EasyEnsembleClassifier(n_jobs=given.threads, random_state=given.seed)


def _boosting(given: Given) -> Any:
    return HistGradientBoostingClassifier(class_weight="balanced", random_state=given.seed)


def _boosting_at_the_prior(given: Given) -> Any:
    return AtThePrior(HistGradientBoostingClassifier(random_state=given.seed))


def _lightgbm(given: Given, **changes: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=given.threads, random_state=given.seed, verbose=-1, **changes)


def _lightgbm_with_threshold(given: Given) -> Any:
    # Shuffled, since tables may be sorted.
    folds = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=given.seed)
    return TunedThresholdClassifierCV(
        _lightgbm(given), scoring=gmean_scorer, cv=folds, n_jobs=1, random_state=given.seed
    )


def _lightgbm_tuned(given: Given) -> Any:
    return TunedThreshold(_lightgbm(given), given.seed)


def _lightgbm_at_the_prior(given: Given) -> Any:
    return AtThePrior(_lightgbm(given))


def _xgboost(given: Given) -> Any:
    from xgboost import XGBClassifier

    return Weighted(XGBClassifier(n_jobs=given.threads, random_state=given.seed))


def _xgboost_at_the_prior(given: Given) -> Any:
    from xgboost import XGBClassifier

    return AtThePrior(
        XGBClassifier(enable_categorical=True, n_jobs=given.threads, random_state=given.seed)
    )


def _catboost_at_the_prior(given: Given) -> Any:
    return AtThePrior(_catboost(given, auto_class_weights=None))


def _catboost(given: Given, **changes: Any) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        iterations=CATBOOST_TREES,
        **{"auto_class_weights": "Balanced", **changes},
        thread_count=given.threads,
        random_seed=given.seed,
        logging_level="Silent",
        allow_writing_files=False,
    )


class Weighted(ClassifierMixin, BaseEstimator):
    """A classifier that knows labels 0, 1, … only, with weights so that all classes count alike."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_, labels = np.unique(y, return_inverse=True)
        weights = compute_sample_weight("balanced", labels)
        self.fitted_ = clone(self.estimator).fit(X, labels, sample_weight=weights)
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.fitted_.predict_proba(X)

    def predict(self, X: Any) -> Any:
        return self.classes_[self.fitted_.predict(X)]


class AtThePrior(ClassifierMixin, BaseEstimator):
    """A classifier that predicts the class whose probability is largest for its share in training.

    Of two classes it predicts the second where its probability exceeds its share.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_, labels, counts = np.unique(y, return_inverse=True, return_counts=True)
        self.fitted_ = clone(self.estimator).fit(X, labels)
        self.priors_ = counts / counts.sum()
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.fitted_.predict_proba(X)

    def predict(self, X: Any) -> Any:
        return self.classes_[(self.fitted_.predict_proba(X) / self.priors_).argmax(axis=1)]


class TunedThreshold(ClassifierMixin, BaseEstimator):
    """A classifier of two classes whose threshold has the best GMean on held-out inner folds.

    All held-out probabilities are tried. `TunedThresholdClassifierCV` tries 100 at equal distances,
    which is too few where a class is rare: with 1 % of the rows, most probabilities of trees are
    under the second of them.
    """

    def __init__(self, estimator: Any, seed: int) -> None:
        self.estimator, self.seed = estimator, seed

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_, labels = np.unique(y, return_inverse=True)
        folds = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=self.seed)
        p = cross_val_predict(self.estimator, X, labels, cv=folds, method="predict_proba")[:, 1]
        false_alarms, hits, thresholds = roc_curve(labels, p, drop_intermediate=False)
        self.threshold_ = thresholds[np.argmax(hits * (1 - false_alarms))]  # GMean, squared
        self.fitted_ = clone(self.estimator).fit(X, labels)
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.fitted_.predict_proba(X)

    def predict(self, X: Any) -> Any:
        positive = self.fitted_.predict_proba(X)[:, 1] >= self.threshold_
        return self.classes_[positive.astype(int)]


# ------------------------------------------------------------------ kernels


def _standardised(*steps: Any) -> Any:
    return make_pipeline(StandardScaler(), *steps)


def _nystroem(given: Given) -> Any:
    return Nystroem(n_components=min(given.size, given.rows), random_state=given.seed)


def _nystroem_lda(given: Given) -> Any:
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto", priors=[0.5, 0.5])
    return _standardised(_nystroem(given), lda)


def _nystroem_logistic(given: Given) -> Any:
    return _standardised(_nystroem(given), LogisticRegression(class_weight="balanced"))


def _svc(given: Given) -> Any:
    return _standardised(SVC())


def _svc_balanced(given: Given) -> Any:
    return _standardised(SVC(class_weight="balanced"))


def _lda(given: Given) -> Any:
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")


# ------------------------------------------------------------------ pseudo-inverses


class TwoGaussians:
    """The paper's machine from ready parts, on rows of a feature space.

    β = (Σ₋+Σ₊)⁺(m₊−m₋), then N(βᵀm±, βᵀΣ±β), with scikit-learn's Ledoit and Wolf and NumPy's
    pseudo-inverse. Differences of the size of rounding are taken for differences.
    """

    def fit(self, negative: Array, positive: Array) -> Self:
        fits = [LedoitWolf(store_precision=False).fit(H) for H in (negative, positive)]
        means, covariances = [f.location_ for f in fits], [f.covariance_ for f in fits]
        self.beta = np.linalg.pinv(sum(covariances)) @ (means[1] - means[0])
        self.means = np.array([self.beta @ mean for mean in means])
        self.variances = np.array([self.beta @ cov @ self.beta for cov in covariances])
        return self

    def predict(self, H: Array) -> Array:
        """0 or 1 for each row: the class with the larger density."""
        projected = (H @ self.beta)[:, None]
        surprise = (projected - self.means) ** 2 / self.variances + np.log(self.variances)
        return np.asarray(surprise[:, 1] < surprise[:, 0]).astype(int)  # −2 ln density


class OnPaperNeurons:
    """What the three below share: columns scaled to [0, 1], and the paper's rbf neurons."""

    def __init__(self, given: Given) -> None:
        self.given = given

    def draw(self, X: Array, y: Array) -> Array:
        """Scaled rows, after the classes, the scaling and the neurons are settled."""
        self.classes = np.unique(y)
        self.scaler = MinMaxScaler()
        # As EEMClassifier draws them: all have the very same neurons.
        seed = check_random_state(self.given.seed).randint(2**31 - 1)
        rng = np.random.default_rng(seed)
        self.neurons = PaperNeurons.draw("rbf", self.given.size, X.shape[1], rng)
        return np.asarray(self.scaler.fit_transform(X))

    def hidden(self, X: Array) -> Array:
        return self.neurons(self.scaler.transform(X))


class LedoitWolfPinv(OnPaperNeurons):
    """The paper's machine, put together from the parts of scikit-learn and NumPy."""

    def fit(self, X: Array, y: Array) -> Self:
        Z = self.draw(X, y)
        self.solved = TwoGaussians().fit(*(self.neurons(Z[y == label]) for label in self.classes))
        return self

    def predict(self, X: Array) -> Array:
        return np.asarray(self.classes[self.solved.predict(self.hidden(X))])


class WeightedPinv(OnPaperNeurons):
    """Weighted ELM: β = (BH)⁺BT with B² = 1 / size of the row's class and T = ±1."""

    def fit(self, X: Array, y: Array) -> Self:
        Z = self.draw(X, y)
        H = self.neurons(Z)
        positive = y == self.classes[1]
        weights = 1 / np.sqrt(np.where(positive, positive.sum(), (~positive).sum()))
        H *= weights[:, None]
        self.beta = np.linalg.pinv(H) @ np.where(positive, weights, -weights)
        return self

    def predict(self, X: Array) -> Array:
        positive = self.hidden(X) @ self.beta > 0
        return np.asarray(self.classes[positive.astype(int)])


class Hpelm(OnPaperNeurons):
    """hpelm's weighted classification. Its rbf_l2 neuron is exp(−‖w−z‖²/B)."""

    def __init__(self, given: Given) -> None:
        from hpelm import ELM

        super().__init__(given)
        self.make = ELM

    def fit(self, X: Array, y: Array) -> Self:
        Z, size = self.draw(X, y), self.given.size
        self.elm = self.make(Z.shape[1], 2)
        self.elm.add_neurons(size, "rbf_l2", self.neurons.weights.T, 1 / self.neurons.biases)
        self.elm.train(Z, (y[:, None] == self.classes).astype(float), "wc")
        return self

    def predict(self, X: Array) -> Array:
        scores = self.elm.predict(self.scaler.transform(X))
        return np.asarray(self.classes[scores.argmax(axis=1)])


# ------------------------------------------------------------------ the list

CLASSIFIERS = {
    "EEM, paper's rbf": Entry(_paper, "ours"),
    "ExtremeEntropyClassifier": Entry(_start, "ours"),
    "EEM-default": Entry(partial(_sized, EEMClassifier), "ours"),
    "EEKM-default": Entry(partial(_sized, EEKMClassifier), "ours"),
    "EEM-CV": Entry(partial(_choosing, EEMClassifierCV), "ours"),
    "EEKM-CV": Entry(partial(_choosing, EEKMClassifierCV), "ours"),
    "LedoitWolf+pinv": Entry(LedoitWolfPinv, "pseudo-inverse"),
    "WELM by pinv": Entry(WeightedPinv, "pseudo-inverse"),
    "hpelm, weighted": Entry(Hpelm, "pseudo-inverse", "hpelm"),
    "LDA": Entry(_lda, "kernel"),
    "Nystroem+LDA": Entry(_nystroem_lda, "kernel"),
    "Nystroem+LogisticRegression": Entry(_nystroem_logistic, "kernel"),
    "SVC": Entry(_svc, "kernel"),
    "SVC, balanced": Entry(_svc_balanced, "kernel"),
    "HistGradientBoosting": Entry(_boosting, "trees"),
    "HistGradientBoosting, at the prior": Entry(_boosting_at_the_prior, "trees"),
    "LightGBM": Entry(_lightgbm_with_threshold, "trees", "lightgbm"),
    "LightGBM, tuned threshold": Entry(_lightgbm_tuned, "trees", "lightgbm"),
    "LightGBM, at the prior": Entry(_lightgbm_at_the_prior, "trees", "lightgbm"),
    "LightGBM, balanced": Entry(partial(_lightgbm, class_weight="balanced"), "trees", "lightgbm"),
    "XGBoost, balanced": Entry(_xgboost, "trees", "xgboost"),
    "XGBoost, at the prior": Entry(_xgboost_at_the_prior, "trees", "xgboost"),
    "CatBoost, balanced": Entry(_catboost, "trees", "catboost"),
    "CatBoost, at the prior": Entry(_catboost_at_the_prior, "trees", "catboost"),
    "BalancedRandomForest": Entry(_forest, "trees", "imblearn"),
    "EasyEnsemble": Entry(_easy_ensemble, "trees", "imblearn"),
}


def make(name: str, given: Given) -> Any:
    """A model of the list, not yet fitted."""
    return CLASSIFIERS[name].make(given)


def missing(name: str) -> str | None:
    """Why a model cannot be had here, or None."""
    package = CLASSIFIERS[name].package
    try:
        if package:
            import_module(package)
    except (ImportError, OSError):  # OSError: LightGBM without its OpenMP runtime
        return f"{name} needs the package {package}"
    return None
