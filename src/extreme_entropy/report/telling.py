"""The rows that tell most about a classifier: the surest of each kind, and those it nearly changed.

How sure a decision is, is by how much the best score exceeds the second best; of two classes that
is the absolute log-odds, costs and priors included.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .evaluation import RowBatch
from .rows import cells_of, take

Array = np.ndarray[Any, Any]

KINDS = {
    "hit": "Sure hit",
    "alarm": "Sure false alarm",
    "miss": "Sure miss",
    "right": "Sure and right",
    "wrong": "Sure but wrong",
    "border": "Close decision",
}


@dataclass(frozen=True, slots=True)
class TellingRow:
    """A row, as the classifier takes it and as it was given."""

    kind: str  # in words
    number: int  # among all rows, from 1
    label: int
    predicted: int
    margin: float
    values: Array  # t                (1, columns)
    row: Any  # (1, d)
    cells: tuple[str, ...]  # as in the data


class Telling:
    """Looks for such rows in batches: so many of each kind."""

    def __init__(self, n_classes: int, most: int) -> None:
        self._binary, self._most = n_classes == 2, most
        self._best: dict[Any, list[TellingRow]] = {}
        self._n = 0

    def look(self, batch: RowBatch) -> None:
        """Compare the rows of a batch with the best so far."""
        labels, predicted, margins = batch.labels, batch.predicted, _margins(batch.scores)
        groups: dict[Any, Array] = {"border": np.ones(len(labels), dtype=bool)}
        if self._binary:
            # Which of the two is to be found is known only at the end.
            groups |= {(c, d): (labels == c) & (predicted == d) for c in (0, 1) for d in (0, 1)}
        else:
            groups |= {"right": labels == predicted, "wrong": labels != predicted}
        for kind, members in groups.items():
            sign = 1 if kind == "border" else -1
            candidates = np.flatnonzero(members)
            order = np.argsort(sign * margins[candidates], kind="stable")[: self._most]
            best = self._best.get(kind, [])
            worst = sign * best[-1].margin if len(best) == self._most else np.inf
            best = best + [
                self._row(batch, int(i), float(margins[i]))
                for i in candidates[order]
                if sign * margins[i] < worst
            ]
            self._best[kind] = sorted(best, key=lambda row: sign * row.margin)[: self._most]
        self._n += len(labels)

    def _row(self, batch: RowBatch, i: int, margin: float) -> TellingRow:
        return TellingRow(
            kind="",
            number=self._n + i + 1,
            label=int(batch.labels[i]),
            predicted=int(batch.predicted[i]),
            margin=margin,
            values=batch.values[[i]],
            row=take(batch.rows, np.array([i])),
            cells=tuple(cells_of(batch.original, i)),
        )

    def chosen(self, rare: int) -> tuple[TellingRow, ...]:
        """The best rows, kind by kind, each only once; `rare` is the class to be found of two."""
        hit, alarm, miss = (rare, rare), (1 - rare, rare), (rare, 1 - rare)
        kinds: dict[str, Any] = {"right": "right", "wrong": "wrong"}
        if self._binary:
            kinds = {"hit": hit, "alarm": alarm, "miss": miss}
        chosen: dict[int, TellingRow] = {}
        for name, kind in {**kinds, "border": "border"}.items():
            for row in self._best.get(kind, []):
                chosen.setdefault(row.number, replace(row, kind=KINDS[name]))
        return tuple(chosen.values())


def _margins(scores: Array) -> Array:
    if scores.ndim == 1:
        return np.abs(scores)
    top = np.partition(scores, -2, axis=1)
    return top[:, -1] - top[:, -2]
