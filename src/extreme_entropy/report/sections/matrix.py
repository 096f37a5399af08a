"""A confusion matrix of many classes that can be taken in, with shaded cells, and their costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..subject import SectionContent, Subject

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, kw_only=True)
class MatrixContent(SectionContent):
    """The classes that are shown, and the shade of each cell: its share of the row."""

    classes: list[int]
    cells: list[list[int]]
    shades: list[list[int]]  # from 0, no row, to all rows of the class
    left_out: int  # classes


def matrix(subject: Subject) -> MatrixContent | None:
    """For more than two classes."""
    settings = subject.settings
    if subject.two is not None:
        return None
    return shown_matrix(subject.evaluation.confusion, settings.matrix_classes, settings.shades)


def shown_matrix(confusion: Array, most_classes: int, shades: int) -> MatrixContent:
    """All classes, or those with the most mistakes."""
    mistakes = confusion.sum(axis=0) + confusion.sum(axis=1) - 2 * np.diag(confusion)
    shown = np.sort(np.argsort(-mistakes, kind="stable")[:most_classes])
    part = confusion[np.ix_(shown, shown)]
    rows = np.maximum(confusion.sum(axis=1)[shown], 1)
    # A few mistakes must show: shades grow with the root of the share.
    shade = np.ceil(shades * np.sqrt(part / rows[:, np.newaxis])).astype(int)
    return MatrixContent(
        classes=shown.tolist(),
        cells=part.tolist(),
        shades=shade.tolist(),
        left_out=len(confusion) - len(shown),
    )
