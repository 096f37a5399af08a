"""Which machine, and of what size: all compared by cross-validated GMean on a sample.

The estimate is honest about the choice: in each fold it takes the score of the candidate that the
other folds would have chosen, so that no row both chooses and judges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone

from ..errors import InputError
from ..estimators.base import EntropyClassifier
from ..estimators.eekm import EEKMClassifier
from ..estimators.eem import EEMClassifier
from ..selection.eekm_cv import EEKMClassifierCV
from ..selection.eem_cv import EEMClassifierCV

Array = np.ndarray[Any, Any]

MODELS = ("eem", "eekm")
SEARCHES: dict[str, Callable[..., Any]] = {"eem": EEMClassifierCV, "eekm": EEKMClassifierCV}
MACHINES: dict[str, Callable[..., EntropyClassifier]] = {
    "eem": EEMClassifier,
    "eekm": EEKMClassifier,
}
SIZES = {"eem": "n_hidden", "eekm": "n_landmarks"}
TRIED = {"eem": (50, 100, 250, 500), "eekm": (50, 100, 250)}
FOLDS = 10


@dataclass(frozen=True, slots=True)
class Choice:
    """The machine to fit on all rows, and what is known of it."""

    largest: EntropyClassifier  # unfitted; the machine is a part of it
    model: str
    size: int
    estimate: dict[str, Any] | None  # GMean with an interval; None where classes are too small
    path: list[dict[str, Any]]  # one entry for each candidate

    def empty(self, X: Array, y: Array, classes: Array, **params: Any) -> EntropyClassifier:
        """The machine with φ of these rows, drawn as it was for the candidates; no rows learnt."""
        drawn = self.largest.set_params(**params).partial_fit(X, y, classes)
        # Fewer landmarks are drawn as they come; fewer neurons may be drawn otherwise than many.
        return drawn._smaller_twin(self.size) if isinstance(drawn, EEMClassifier) else drawn.twin()


def choose(
    X: Array,
    y: Array,
    models: tuple[str, ...],
    *,
    size: int | None,
    seed: int,
    n_jobs: int,
    watch: Callable[[Any, str], Any],
) -> Choice:
    """The best of the models and sizes for these rows."""
    folds = min(FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        return _unjudged(models[0], size, seed, n_jobs)
    searches = {}
    for model in watch(models, "comparing machines"):
        # More neurons than half the rows are never needed.
        sizes = (size,) if size else [k for k in TRIED[model] if k == 50 or 2 * k <= len(y)]
        options = {SIZES[model]: sizes, "cv": folds, "n_jobs": n_jobs, "random_state": seed}
        search = SEARCHES[model](**options)
        searches[model] = search.fit(X, y)
    winner = max(searches, key=lambda model: round(searches[model].best_score_, 12))
    best = searches[winner]
    scores = np.concatenate([s.path_.scores.reshape(-1, folds) for s in searches.values()])
    largest = clone(best.best_estimator_)
    if winner == "eem":
        largest.set_params(n_hidden=int(best.path_.sizes[-1]))
    return Choice(
        largest,
        winner,
        int(best.best_params_[SIZES[winner]]),
        estimate(scores),
        [entry for model, search in searches.items() for entry in _entries(model, search.path_)],
    )


def estimate(scores: Array) -> dict[str, Any]:
    """GMean of a choice by scores (candidates, folds), and its 95 % interval over the folds."""
    n_folds = scores.shape[1]
    others = (scores.sum(axis=1, keepdims=True) - scores) / (n_folds - 1)
    held_out = scores[others.argmax(axis=0), np.arange(n_folds)]
    mean = held_out.mean()
    reach = student.ppf(0.975, n_folds - 1) * held_out.std(ddof=1) / np.sqrt(n_folds)
    return {
        "gmean": float(mean),
        "low": float(max(0.0, mean - reach)),
        "high": float(min(1.0, mean + reach)),
        "folds": n_folds,
        "candidates": len(scores),
    }


def _unjudged(model: str, size: int | None, seed: int, n_jobs: int) -> Choice:
    sizes = {} if size is None else {SIZES[model]: size}
    machine = MACHINES[model](n_jobs=n_jobs, random_state=seed, **sizes)
    return Choice(machine, model, getattr(machine, SIZES[model]), None, [])


def _entries(model: str, path: Any) -> list[dict[str, Any]]:
    return [
        {
            "model": model,
            "setting": setting,
            "size": int(size),
            "gmean": float(path.mean_scores[i, k]),
            "divergence": float(path.divergences[i, k]),
        }
        for i, setting in enumerate(path.labels)
        for k, size in enumerate(path.sizes)
    ]


def match_costs(costs: dict[str, float] | None, labels: dict[str, Any]) -> dict[Any, float] | None:
    """Costs by label, from costs by the words for labels."""
    strange = [word for word in costs or {} if word not in labels]
    if strange:
        raise InputError(
            f"A cost must be that of a label; {strange[0]!r} is none. "
            f"The labels are {', '.join(map(repr, labels))}."
        )
    return {labels[word]: cost for word, cost in costs.items()} if costs else None
