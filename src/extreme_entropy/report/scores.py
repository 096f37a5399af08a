"""How good the predictions are, in numbers and words; the numbers are those of `eem evaluate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from ..metrics import probability_scores, recall_scores
from .evidence import Evidence

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ScoreCard:
    """A score, its 95 % interval, and what it means."""

    name: str
    value: float
    low: float
    high: float
    meaning: str


@dataclass(frozen=True, slots=True)
class Predictions:
    """Rows whose classes are as frequent as in all of them: all, or a sample of very many."""

    labels: Array  # true classes    (n,)
    values: Array  # t               (n, columns)


def predict_rows(evidence: Evidence) -> Predictions:
    """Rows to draw curves of."""
    some = evidence.proportional()
    return Predictions(evidence.labels[some], evidence.values[some])


def score_cards(evidence: Evidence, adjusted: tuple[Array, Array] | None = None) -> list[ScoreCard]:
    """Scores of all rows.

    `adjusted` are labels of rows and their log-odds for two classes as frequent as in the rows.
    """
    confusion = evidence.confusion
    scores = recall_scores(np.diag(confusion), confusion.sum(axis=1))
    scores |= {"auc": evidence.auc, "brier": evidence.brier}
    if adjusted is not None:
        labels, odds = adjusted
        p = np.column_stack([expit(-odds), expit(odds)])
        scores["adjusted"] = probability_scores(labels, p)["brier"]
    texts = _texts(len(confusion))
    return [
        ScoreCard(texts[key][0], score.value, score.low, score.high, texts[key][1])
        for key, score in scores.items()
        if score.value is not None and score.low is not None and score.high is not None
    ]


def possible_mistakes(matrix: Array) -> list[tuple[int, float]]:
    """Classes without a mistake, and the share that may be mistaken still, at 95 %.

    n rows without a mistake have probability (1 − p)ⁿ, which is 5 % at p = 1 − 0.05^(1/n).
    """
    return [
        (c, float(1 - 0.05 ** (1 / row.sum())))
        for c, row in enumerate(matrix)
        if row.sum() and row[c] == row.sum()
    ]


def _texts(n: int) -> dict[str, tuple[str, str]]:
    """The names of scores of n classes, and what they mean."""
    other = "the other" if n == 2 else "one of the others, on average"
    chance = 0.25 if n == 2 else 1 - 1 / n
    return {
        "gmean": (
            "GMean",
            "Geometric mean of the recalls of all classes: 1 is no mistake, 0 means that some "
            "class is never found.",
        ),
        "balanced_accuracy": (
            "Balanced accuracy",
            f"Mean of the recalls of all classes. Guessing gives {1 / n:.2g}.",
        ),
        "auc": (
            "AUC",
            f"How often a row of a class is ranked above a row of {other}. Guessing gives 0.5.",
        ),
        "brier": (
            "Brier score",
            "Mean squared error of the probabilities: 0 is perfect, and equal probabilities for "
            f"all classes give {chance:.2g}.",
        ),
        "adjusted": (
            "Brier score at these frequencies",
            "The same with the class frequencies of these rows as priors, as in the reliability "
            "curve below.",
        ),
    }
