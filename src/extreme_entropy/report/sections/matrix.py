"""A confusion matrix of many classes that can be taken in, with shaded cells, and their costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..subject import SectionContent, Subject

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ShownMatrix:
    """The classes that are shown, and the shade of each cell: its share of the row."""

    classes: list[int]
    cells: list[list[int]]
    shades: list[list[int]]  # from 0, no row, to all rows of the class
    left_out: int  # classes


@dataclass(frozen=True, kw_only=True)
class MatrixContent(SectionContent):
    """Rows by true and predicted class."""

    shown: ShownMatrix
    costs: list[float]  # of each class
    cost_matrix: list[list[float]] | None  # where they depend on the class predicted


def matrix(subject: Subject) -> MatrixContent | None:
    """For more than two classes."""
    if subject.two is not None:
        return None
    evaluation, settings = subject.evaluation, subject.settings
    costs = evaluation.costs
    by_class = costs == costs.max(axis=1)[:, np.newaxis] * (1 - np.eye(len(costs)))
    return MatrixContent(
        shown=shown_matrix(evaluation.confusion, settings.matrix_classes, settings.shades),
        costs=evaluation.class_costs,
        cost_matrix=None if by_class.all() else costs.tolist(),
    )


def shown_matrix(confusion: Array, most_classes: int, shades: int) -> ShownMatrix:
    """All classes, or those with the most mistakes."""
    mistakes = confusion.sum(axis=0) + confusion.sum(axis=1) - 2 * np.diag(confusion)
    shown = np.sort(np.argsort(-mistakes, kind="stable")[:most_classes])
    part = confusion[np.ix_(shown, shown)]
    rows = np.maximum(confusion.sum(axis=1)[shown], 1)
    # A few mistakes must show: shades grow with the root of the share.
    shade = np.ceil(shades * np.sqrt(part / rows[:, np.newaxis])).astype(int)
    return ShownMatrix(shown.tolist(), part.tolist(), shade.tolist(), len(confusion) - len(shown))
