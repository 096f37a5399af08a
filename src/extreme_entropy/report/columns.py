"""Which columns matter, to the classifier as a whole and to its decision about single rows.

Where a classifier does not say it itself, a column matters as much as the class-balanced log-loss
grows when its cells are shuffled among the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from .classifiers import Reported
from .evidence import Evidence
from .rows import stacked, take, with_column_of
from .telling import KINDS, TellingRow

Array = np.ndarray[Any, Any]

MOST_SHUFFLED = 400  # rows
MOST_COLUMNS = 500  # that are shuffled, or replaced one by one
SHUFFLES = 2
MOST_BARS = 12
MOST_PARTS = 5  # columns that explain a row
LEAST_P = 1e-9


@dataclass(frozen=True, slots=True)
class ImportantColumns:
    """How much each column matters; shares of all."""

    names: list[str]
    shares: Array
    shuffled: bool  # measured on these rows, instead of told by the classifier

    @property
    def others(self) -> float:
        """What the columns that are not drawn have together."""
        return float(np.sort(self.shares)[:-MOST_BARS].sum())


@dataclass(frozen=True, slots=True)
class Part:
    """A column's part in the decision about a row."""

    name: str
    cell: str
    value: float  # in log-odds; positive speaks for the class
    share: float  # of the largest on the page


@dataclass(frozen=True, slots=True)
class ExplainedRow:
    """A row, why it was decided so, and how sure."""

    kind: str
    number: int
    label: int
    predicted: int
    towards: int  # the class that positive parts speak for
    probability: float  # of that class
    parts: list[Part]


def important_columns(
    classifier: Reported, evidence: Evidence, names: Sequence[str]
) -> ImportantColumns | None:
    """The columns that matter, or None where nothing can be told."""
    told = classifier.importances
    if told is not None and len(told) == len(names):
        return ImportantColumns(list(names), np.asarray(told, dtype=float), False)
    if not 1 < len(names) <= MOST_COLUMNS:
        return None
    growth = np.maximum(_loss_when_shuffled(classifier, evidence), 0.0)
    if not growth.sum() > 0:
        return None
    return ImportantColumns(list(names), growth / growth.sum(), True)


def _loss_when_shuffled(classifier: Reported, evidence: Evidence) -> Array:
    random = np.random.default_rng(0)
    n = len(evidence.row_labels)
    some = np.sort(random.permutation(n)[:MOST_SHUFFLED])
    X, labels = take(evidence.rows, some), evidence.row_labels[some]
    weights = 1 / np.bincount(labels)[labels]
    weights /= weights.sum()

    def loss(rows: Any) -> float:
        p = classifier.machine_.probabilities(classifier.values(rows))
        own = p[np.arange(len(labels)), labels]
        return float(-weights @ np.log(np.maximum(own, LEAST_P)))

    before, d = loss(X), X.shape[1]
    orders = [random.permutation(len(labels)) for _ in range(SHUFFLES)]
    return np.array(
        [np.mean([loss(with_column_of(X, j, X, o)) for o in orders]) - before for j in range(d)]
    )


def explained_rows(
    classifier: Reported, evidence: Evidence, names: Sequence[str], rare: int | None
) -> list[ExplainedRow]:
    """The telling rows with the columns that decided; `rare` is the class to be found of two."""
    rows = [row for row in evidence.telling if len(row.cells) == len(names)]
    if not rows or len(names) > MOST_COLUMNS:
        return []
    contributions = classifier.contributions(stacked([row.row for row in rows]), evidence.rows)
    return [
        _explained(classifier, evidence, row, parts, names, rare)
        for row, parts in zip(rows, contributions, strict=True)
    ]


def _explained(
    classifier: Reported,
    evidence: Evidence,
    row: TellingRow,
    contributions: Array,
    names: Sequence[str],
    rare: int | None,
) -> ExplainedRow:
    machine = classifier.machine_
    if rare is None:
        towards, values = row.predicted, contributions[row.predicted]
        probability = float(machine.probabilities(row.values)[0, towards])
    else:
        towards, values = rare, contributions * (-1, 1)[rare]
        n = evidence.counts
        ratio = float(machine.curves[0].log_ratio(row.values[0, 0])) + np.log(n[1] / n[0])
        probability = float(expit((-1, 1)[rare] * ratio))
    order = np.argsort(-np.abs(values), kind="stable")[:MOST_PARTS]
    most = float(np.abs(values).max()) or 1.0
    parts = [
        Part(names[j], row.cells[j], float(values[j]), float(values[j]) / most)
        for j in order
        if values[j] != 0
    ]
    return ExplainedRow(
        KINDS[row.kind], row.number, row.label, row.predicted, towards, probability, parts
    )
