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

from ...plots.column_bars import RelevanceDisplay
from ..classifiers import Reported
from ..evidence import Evidence
from ..harmless_text import visible
from ..numbers import probability
from ..report_settings import ReportSettings
from ..rows import stacked, take, with_column_of
from ..subject import SectionContent, Subject
from ..svg import Picture, draw
from ..telling import TellingRow

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ImportantColumns:
    """How much each column matters; shares of all."""

    shares: Array
    shuffled: bool  # measured on these rows, instead of told by the classifier


@dataclass(frozen=True, slots=True)
class ColumnPart:
    """A column's part in the decision about a row."""

    name: str
    cell: str
    value: float  # in log-odds; positive speaks for the class
    share: float  # of the largest on the page


@dataclass(frozen=True, slots=True)
class ExplainedRow:
    """A row, why it was decided so, and how sure."""

    row: TellingRow
    towards: int  # the class that positive parts speak for
    probability: float  # of that class
    parts: list[ColumnPart]


@dataclass(frozen=True, kw_only=True)
class ImportanceContent(SectionContent):
    """Columns that matter, and rows that show it."""

    picture: Picture | None
    shuffled: bool
    not_drawn: int  # columns
    share_not_drawn: float
    rows: list[ExplainedRow]


def importance(subject: Subject) -> ImportanceContent | None:
    """Where anything can be told."""
    classifier, evidence, settings = subject.classifier, subject.evidence, subject.settings
    rare = None if subject.two is None else subject.two.rare
    columns = important_columns(classifier, evidence, settings)
    rows = explained_rows(classifier, evidence, subject.columns, rare, settings)
    if columns is None and not rows:
        return None
    return ImportanceContent(
        picture=None if columns is None else _draw(columns, subject),
        shuffled=columns is not None and columns.shuffled,
        not_drawn=max(0, len(subject.columns) - settings.bars),
        share_not_drawn=0.0
        if columns is None
        else float(np.sort(columns.shares)[: -settings.bars].sum()),
        rows=rows,
    )


def important_columns(
    classifier: Reported, evidence: Evidence, settings: ReportSettings
) -> ImportantColumns | None:
    """The columns that matter, or None where nothing can be told."""
    told, d = classifier.importances, evidence.rows.shape[1]
    if told is not None and len(told) == d:
        return ImportantColumns(np.asarray(told, dtype=float), False)
    if not 1 < d <= settings.shuffled_columns:
        return None
    growth = np.maximum(_loss_when_shuffled(classifier, evidence, settings), 0.0)
    if not growth.sum() > 0:
        return None
    return ImportantColumns(growth / growth.sum(), True)


def _loss_when_shuffled(
    classifier: Reported, evidence: Evidence, settings: ReportSettings
) -> Array:
    random = np.random.default_rng(0)
    chosen = np.sort(random.permutation(len(evidence.row_labels))[: settings.shuffled_rows])
    X, labels = take(evidence.rows, chosen), evidence.row_labels[chosen]
    weights = 1 / np.bincount(labels)[labels]
    weights /= weights.sum()

    def loss(rows: Any) -> float:
        p = classifier.machine_.probabilities(classifier.values(rows))
        of_label = p[np.arange(len(labels)), labels]
        return float(-weights @ np.log(np.maximum(of_label, settings.least_probability)))

    before, d = loss(X), X.shape[1]
    orders = [random.permutation(len(labels)) for _ in range(settings.shuffles)]
    return np.array(
        [np.mean([loss(with_column_of(X, j, X, o)) for o in orders]) - before for j in range(d)]
    )


def explained_rows(
    classifier: Reported,
    evidence: Evidence,
    names: Sequence[str],
    rare: int | None,
    settings: ReportSettings,
) -> list[ExplainedRow]:
    """The telling rows with the columns that decided; `rare` is the class to be found of two."""
    rows = [row for row in evidence.telling if len(row.cells) == len(names)]
    if not rows or len(names) > settings.shuffled_columns:
        return []
    contributions = classifier.contributions(stacked([row.row for row in rows]), evidence.rows)
    explained = []
    for row, scores in zip(rows, contributions, strict=True):
        towards = row.predicted if rare is None else rare
        values = scores[towards] if rare is None else scores * (-1, 1)[rare]
        p = _probability(classifier, evidence, row, rare)
        parts = _largest_parts(row, values, names, settings.parts)
        explained.append(ExplainedRow(row, towards, p, parts))
    return explained


def _largest_parts(
    row: TellingRow, values: Array, names: Sequence[str], n: int
) -> list[ColumnPart]:
    most = float(np.abs(values).max()) or 1.0
    return [
        ColumnPart(names[j], row.cells[j], float(values[j]), float(values[j]) / most)
        for j in np.argsort(-np.abs(values), kind="stable")[:n]
        if values[j] != 0
    ]


def _probability(
    classifier: Reported, evidence: Evidence, row: TellingRow, rare: int | None
) -> float:
    """Of the class to be found of two, as frequent as in the rows; else of the class predicted."""
    machine, n = classifier.machine_, evidence.counts
    if rare is None:
        return float(machine.probabilities(row.values)[0, row.predicted])
    odds = float(machine.curves[0].log_ratio(row.values[0, 0])) + np.log(n[1] / n[0])
    return float(expit((-1, 1)[rare] * odds))


def _draw(columns: ImportantColumns, subject: Subject) -> Picture:
    """Bars of the columns that matter most."""
    settings = subject.settings
    most = np.argsort(-columns.shares, kind="stable")[: settings.bars]
    names = [visible(subject.columns[j], settings.axis_letters) for j in most]
    display = RelevanceDisplay(values=columns.shares[most], names=names)

    def plot(ax: Any) -> None:
        display.plot(ax, max_features=settings.bars)
        ax.set_xlabel("share of all columns")
        ax.xaxis.set_major_formatter(lambda value, _: probability(value))

    return draw("columns", "Which columns matter most", plot, (520, 70 + 21 * len(most)))
