"""A confusion matrix of many classes that can be taken in: shaded cells, and the worst of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

MOST_CLASSES = 30  # in a matrix
MOST_CONFUSIONS = 3  # told in words
SHADES = 9


@dataclass(frozen=True, slots=True)
class Confusion:
    """Rows of a class that are taken for another."""

    true: int
    predicted: int
    rows: int
    share: float  # of all rows of the true class


@dataclass(frozen=True, slots=True)
class ShownMatrix:
    """The classes that are shown, and the shade of each cell: its share of the row."""

    classes: list[int]
    cells: list[list[int]]
    shades: list[list[int]]  # from 0, no row, to SHADES, all rows of the class
    left_out: int  # classes


def shown_matrix(confusion: Array) -> ShownMatrix:
    """All classes, or those with the most mistakes."""
    k = len(confusion)
    mistakes = confusion.sum(axis=0) + confusion.sum(axis=1) - 2 * np.diag(confusion)
    shown = np.sort(np.argsort(-mistakes, kind="stable")[:MOST_CLASSES])
    part = confusion[np.ix_(shown, shown)]
    rows = np.maximum(confusion.sum(axis=1)[shown], 1)
    # A few mistakes must show: shades grow with the root of the share.
    shades = np.ceil(SHADES * np.sqrt(part / rows[:, np.newaxis])).astype(int)
    return ShownMatrix(shown.tolist(), part.tolist(), shades.tolist(), k - len(shown))


def worst_confusions(confusion: Array) -> list[Confusion]:
    """The pairs of classes confused most often, by rows."""
    mistakes = confusion - np.diag(np.diag(confusion))
    order = np.argsort(-mistakes, axis=None, kind="stable")[:MOST_CONFUSIONS]
    found = [divmod(int(at), len(confusion)) for at in order]
    totals = confusion.sum(axis=1)
    return [
        Confusion(i, j, int(mistakes[i, j]), float(mistakes[i, j] / totals[i]))
        for i, j in found
        if mistakes[i, j]
    ]
