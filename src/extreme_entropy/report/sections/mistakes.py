"""Costs of mistakes: the matrix of two classes, which the reader's costs change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...metrics import recall_scores
from ..live import is_exact
from ..subject import SectionContent, Subject
from .pairs import PairPicture, draw_pair


@dataclass(frozen=True, kw_only=True)
class MistakesContent(SectionContent):
    """The classifier as it decides, and where its script begins."""

    confusion: list[list[int]]
    costs: list[float]  # of each class
    pair: PairPicture
    gmean: float | None
    balanced_accuracy: float | None
    exact: bool  # whether all rows are in the page


def mistakes(subject: Subject) -> MistakesContent | None:
    """For two classes."""
    if subject.two is None:
        return None
    evaluation = subject.evaluation
    pair = draw_pair(subject, 0)
    scores = recall_scores(np.diag(evaluation.confusion), evaluation.counts)
    return MistakesContent(
        confusion=evaluation.confusion.tolist(),
        costs=evaluation.class_costs,
        pair=pair,
        gmean=scores["gmean"].value,
        balanced_accuracy=scores["balanced_accuracy"].value,
        exact=is_exact(subject.evidence, subject.settings),
        pictures={"projection": pair.picture},
    )
