"""Rows of `beyond` ↦ means of every score over test folds, by data set and model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..store import Row
from .beyond import DATASETS, MODELS
from .protocol import N_FOLDS

Array = np.ndarray[Any, Any]

FIELDS = ("gmean", "balanced_accuracy", "auc", "brier", "fit_cpu_seconds")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Means over test folds, of data sets × models; NaN where a model was not run."""

    datasets: list[str]
    models: list[str]
    means: dict[str, Array]  # by field
    repeats: Array  # whole repetitions behind each row
    reasons: list[str]  # why models are missing

    @property
    def complete(self) -> Array:
        """Data sets on which all models ran."""
        return np.asarray(np.isfinite(self.means["gmean"]).all(axis=1))

    def counted(self, field: str) -> Array:
        """The means of the data sets on which all models ran."""
        return np.asarray(self.means[field][self.complete])


def compare(rows: Iterable[Row]) -> Comparison:
    """Means over those repetitions of a data set that every model run there has finished."""
    rows = [r for r in rows if r.get("model") in MODELS and r["dataset"] in DATASETS]
    whole = _whole_repeats(row for row in rows if "gmean" in row)
    models = [model for model in MODELS if any(m == model for _, m in whole)]
    shared = [_shared(whole, dataset) for dataset in DATASETS]
    means = {field: np.full((len(DATASETS), len(models)), np.nan) for field in FIELDS}
    for place in np.ndindex(len(DATASETS), len(models)):
        repeats = whole.get((DATASETS[place[0]], models[place[1]]), {})
        folds = [row for r in shared[place[0]] if r in repeats for row in repeats[r]]
        for field in FIELDS if folds else ():
            # Rounded, so that what is equal but for the order of summation is a tie.
            means[field][place] = round(float(np.mean([row[field] for row in folds])), 9)
    reasons = {
        r["model"]: r["skipped"] for r in rows if "skipped" in r and r["model"] not in models
    }
    counts = np.array([len(repeats) for repeats in shared])
    return Comparison(DATASETS, models, means, counts, list(reasons.values()))


def _whole_repeats(rows: Iterable[Row]) -> dict[tuple[str, str], dict[int, list[Row]]]:
    """Rows by data set, model and repetition, where all folds of it are there."""
    folds: dict[tuple[str, str], dict[int, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        folds[row["dataset"], row["model"]][row["repeat"]].append(row)
    whole = {
        place: {repeat: some for repeat, some in repeats.items() if len(some) == N_FOLDS}
        for place, repeats in folds.items()
    }
    return {place: repeats for place, repeats in whole.items() if repeats}


def _shared(whole: dict[tuple[str, str], dict[int, Any]], dataset: str) -> list[int]:
    """Repetitions that every model with any on a data set has."""
    sets = [set(repeats) for (name, _), repeats in whole.items() if name == dataset]
    return sorted(set.intersection(*sets)) if sets else []
