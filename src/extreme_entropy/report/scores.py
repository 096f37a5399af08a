"""How good the answers are, in numbers and words; the numbers are those of `eem evaluate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from ..plots.regions import decide
from ..tables.scores import confusion, judge
from .evidence import Evidence

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Score:
    """A number about the machine, its 95 % interval, and what it means."""

    name: str
    value: float
    low: float
    high: float
    meaning: str


@dataclass(frozen=True, slots=True)
class Answers:
    """What the machine says of the rows."""

    labels: Array  # (n,)
    probabilities: Array  # (n, classes), under the machine's priors
    confusion: Array  # rows by class (down) and by what they are taken for (across)


def answers_of(machine: Any, evidence: Evidence) -> Answers:
    """Decisions and probabilities of all rows."""
    solved, n_classes = machine.machine_, len(machine.classes_)
    decided = decide(solved.scores(evidence.projections))
    return Answers(
        evidence.labels,
        solved.probabilities(evidence.projections),
        confusion(evidence.labels, decided, n_classes),
    )


def scores_of(answers: Answers, at_shares: Array | None = None) -> list[Score]:
    """Scores of the answers; `at_shares` are log-odds of two classes as frequent as they are."""
    judged = judge(answers.confusion, answers.labels, answers.probabilities)
    if at_shares is not None:
        told = np.column_stack([expit(-at_shares), expit(at_shares)])
        judged["told"] = judge(answers.confusion, answers.labels, told)["brier"]
    names = _names(answers.probabilities.shape[1])
    scores = []
    for key, score in judged.items():
        value, low, high = score["value"], score["low"], score["high"]
        if value is not None and low is not None and high is not None:
            scores.append(Score(names[key][0], value, low, high, names[key][1]))
    return scores


def most_missed(matrix: Array) -> list[tuple[int, float]]:
    """Classes without a mistake, and the share that may be mistaken still, at 95 %.

    n rows without a mistake have probability (1 − p)ⁿ, which is 5 % at p = 1 − 0.05^(1/n).
    """
    return [
        (c, float(1 - 0.05 ** (1 / row.sum())))
        for c, row in enumerate(matrix)
        if row.sum() and row[c] == row.sum()
    ]


def _names(n: int) -> dict[str, tuple[str, str]]:
    """Scores in words."""
    area = (
        "How often a row of one class is ranked right against a row of the other."
        if n == 2
        else "How often a row of a class is ranked right against one of the others, on average."
    )
    return {
        "gmean": (
            "GMean",
            "How well every class is found: 1 is no mistake, 0 means that some class is never "
            "found.",
        ),
        "balanced_accuracy": (
            "Balanced accuracy",
            "The share of a class that is found, averaged over the classes. "
            f"Guessing gives {1 / n:.2g}.",
        ),
        "auc": ("AUC", f"{area} Guessing gives 0.5."),
        "brier": (
            "Brier score",
            "Mean squared error of the probabilities: 0 is perfect, and calling all classes "
            f"equally likely gives {0.25 if n == 2 else 1 - 1 / n:.2g}.",
        ),
        "told": (
            "Brier score, told how rare",
            "The same once the machine is told how frequent the classes are in these rows, as in "
            "the picture of its probabilities below.",
        ),
    }
