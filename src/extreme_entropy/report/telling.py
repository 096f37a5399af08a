"""The rows that tell most about a classifier: the surest of each kind, and those it nearly changed.

How sure a decision is, is by how much the best score exceeds the second best; of two classes that
is the absolute log-odds, costs and priors included.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .rows import cells_of, take

Array = np.ndarray[Any, Any]

MOST = 2  # rows of a kind

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

    kind: str  # a key of KINDS
    number: int  # among all rows, from 1
    label: int
    predicted: int
    margin: float
    values: Array  # t                (1, columns)
    row: Any  # (1, d)
    cells: tuple[str, ...]  # as in the data


class Telling:
    """Looks for such rows in batches."""

    def __init__(self, n_classes: int) -> None:
        self._binary = n_classes == 2
        self._found: dict[Any, list[TellingRow]] = {}
        self._n = 0

    def look(
        self, X: Any, given: Any, values: Array, scores: Array, labels: Array, predicted: Array
    ) -> None:
        """Compare the rows of a batch with those found so far."""
        margins = _margins(scores)
        groups: dict[Any, Array] = {"border": np.ones(len(labels), dtype=bool)}
        if self._binary:
            # Which of the two is to be found is known only at the end.
            groups |= {(c, d): (labels == c) & (predicted == d) for c in (0, 1) for d in (0, 1)}
        else:
            groups |= {"right": labels == predicted, "wrong": labels != predicted}
        for kind, members in groups.items():
            own = np.flatnonzero(members)
            sign = 1 if kind == "border" else -1
            best = own[np.argsort(sign * margins[own], kind="stable")[:MOST]]
            found = self._found.get(kind, [])
            worst = sign * found[-1].margin if len(found) == MOST else np.inf
            found = found + [
                TellingRow(
                    kind=str(kind),
                    number=self._n + int(i) + 1,
                    label=int(labels[i]),
                    predicted=int(predicted[i]),
                    margin=float(margins[i]),
                    values=values[[i]],
                    row=take(X, np.array([i])),
                    cells=tuple(cells_of(given, int(i))),
                )
                for i in best
                if sign * margins[i] < worst
            ]
            found.sort(key=lambda row: sign * row.margin)
            self._found[kind] = found[:MOST]
        self._n += len(labels)

    def chosen(self, counts: Array) -> tuple[TellingRow, ...]:
        """The rows found, kind by kind, each only once."""
        kinds: dict[str, Any] = {}
        if self._binary:
            rare = int(counts[1] <= counts[0])
            kinds = {
                "hit": (rare, rare),
                "alarm": (1 - rare, rare),
                "miss": (rare, 1 - rare),
            }
        else:
            kinds = {"right": "right", "wrong": "wrong"}
        kinds["border"] = "border"
        chosen: dict[int, TellingRow] = {}
        for name, kind in kinds.items():
            for row in self._found.get(kind, []):
                chosen.setdefault(row.number, replace(row, kind=name))
        return tuple(chosen.values())


def _margins(scores: Array) -> Array:
    if scores.ndim == 1:
        return np.abs(scores)
    top = np.partition(scores, -2, axis=1)
    return top[:, -1] - top[:, -2]
