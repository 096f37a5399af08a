"""What to know of a table before its estimate is believed: leaks, ordered rows, identifiers.

Each hint is a sentence, and follows from sampled rows in the order of the table.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.stats import spearmanr

from ..columns.cells import Cells, ValueProfile, arrow_cells
from ..columns.unused import RULES
from .labels import listed

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class HintSettings:
    """From which share or number of rows on something is pointed out."""

    gives_away: float = 0.99  # AUC of a column alone, above which it may be a leak
    ranges: int = 64  # of equally many values, that numbers are grouped by
    few: int = 8  # rows of a class, below which it shows nothing
    mostly: float = 0.5  # of the values of a column, below which those known do not stand for it
    several: int = 20  # rows, from which on their order shows something
    most_named: int = 5  # columns
    in_order: float = 0.95  # rank correlation of a date with the row number
    repeated: float = 0.1  # of the rows: as many that are equal to others are no chance
    varied: float = 0.5  # of the distinct rows: with as many values of a column, the same
    most_equal: int = 20  # rows for a value, above which a column is one of categories
    fewest_digits: int = 3  # of numbers that may be codes, which have equally many
    repeated_codes: int = 10  # rows for a value on average; measurements mostly vary more
    gaps: int = 4  # whole numbers in the range for each that comes; years and scores leave out few
    alike: float = 0.3  # how much more often than by chance neighbours share a label, up to 1


SETTINGS = HintSettings()


def hints(X: pa.Table, labels: Array, some: Array, *, split: str = "random") -> list[str]:
    """Sentences about a table, from rows in its order and positions of their labels.

    Leaks are looked for in some of the rows. Their order matters where the estimate splits them at
    random.
    """
    leaks = _on_leaks(X.take(some), labels[some])
    order = _on_order(X, labels) if split == "random" else ""
    repeated = _on_repeats(X, labels) if split == "random" else ""
    return [hint for hint in (leaks, order, repeated, _on_identifiers(X), _on_codes(X)) if hint]


def _on_leaks(X: pa.Table, labels: Array) -> str:
    enough = np.flatnonzero(np.bincount(labels)[labels] >= SETTINGS.few)
    X, (classes, labels) = X.take(enough), np.unique(labels[enough], return_inverse=True)
    if len(classes) < 2:
        return ""
    leaks = [name for name in X.column_names if auc_alone(X[name], labels) > SETTINGS.gives_away]
    if not leaks:
        return ""
    return (
        f"A single column tells the classes apart (AUC over {SETTINGS.gives_away}): "
        f"{_names(leaks)}. If its value is not known before the label is, it gives the label away, "
        "and the estimate is too good: leave it out with --drop."
    )


def auc_alone(column: Any, labels: Array) -> float:
    """AUC of a column alone; with more than two classes the mean of each against the others.

    Numbers are scores as they are, up or down, where most of them are known. Numbers in ranges,
    categories and missing values are scored by the class frequencies of their group, those of one
    half of the rows in the other.
    """
    counts, cells = np.bincount(labels), column.combine_chunks()
    if pa.types.is_string(cells.type):
        groups = cells.dictionary_encode(null_encoding="encode").indices.to_numpy()
        return _auc_of_groups(groups, labels, counts)
    values = arrow_cells(cells).values
    grouped, known = _auc_of_groups(_ranges(values), labels, counts), ~np.isnan(values)
    fewest = np.bincount(labels[known], minlength=len(counts)).min()
    if known.mean() < SETTINGS.mostly or fewest < SETTINGS.few:
        return grouped
    areas = _areas(values[known], np.eye(len(counts))[labels[known]])
    return max(grouped, float(np.maximum(areas, 1 - areas).mean()))


def _ranges(values: Array) -> Array:
    """The range of each number; a frequent number is one of its own, and missing is one."""
    known = values[~np.isnan(values)]
    shares = np.arange(1, SETTINGS.ranges) / SETTINGS.ranges
    edges = np.unique(np.quantile(known, shares)) if len(known) else known
    ranges = np.searchsorted(edges, values) + np.searchsorted(edges, values, side="right")
    return np.where(np.isnan(values), 2 * len(edges) + 1, ranges)


def _auc_of_groups(groups: Array, labels: Array, counts: Array) -> float:
    half = np.random.default_rng(0).permutation(len(labels)) % 2
    shape = (2, int(groups.max()) + 1, len(counts))
    cells = np.ravel_multi_index((half, groups, labels), shape)
    by_half = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)
    areas = []
    for learnt, scored in (by_half, by_half[::-1]):
        scores = (learnt + counts / counts.sum()) / (learnt.sum(axis=1, keepdims=True) + 1)
        areas += [_areas(scores[:, c], scored)[c] for c in range(len(counts))]
    return float(np.mean(areas))


def _areas(scores: Array, rows: Array) -> Array:
    """AUC of scores for each class against the others; ½ where there is nothing to compare.

    `rows` are those of each class that have the score   (scores, classes).
    """
    _, level = np.unique(scores, return_inverse=True)
    own = np.zeros((level.max(initial=-1) + 1, rows.shape[1]))
    np.add.at(own, level, rows)
    others = own.sum(axis=1, keepdims=True) - own
    pairs = own.sum(axis=0) * others.sum(axis=0)
    won = (own * (np.cumsum(others, axis=0) - others / 2)).sum(axis=0)
    return np.divide(won, pairs, out=np.full(len(pairs), 0.5), where=pairs > 0)


def _on_order(X: pa.Table, labels: Array) -> str:
    if len(labels) < SETTINGS.several:
        return ""
    dates = [name for name in X.column_names if _is_ordered_date(X[name])]
    reasons = [f"The rows are in the order of {_names(dates)}"] if dates else []
    if neighbours_alike(labels) > max(SETTINGS.alike, 4 / np.sqrt(len(labels))):
        reasons.append("neighbouring rows often have the same label")
    if not reasons:
        return ""
    told = " and ".join(reasons)
    by_time = f"--time {shlex.quote(dates[0])}" if dates else "--time COLUMN"
    return (
        f"{told[0].upper()}{told[1:]}. The estimate holds out rows at random; rows of a later time "
        "or of another group are harder to predict. If the order means time or groups, hold out "
        f"the last rows with {by_time}, or whole groups with --group COLUMN."
    )


def _on_repeats(X: pa.Table, labels: Array) -> str:
    """Rows that come again, which a random split has on both sides."""
    codes = [
        column.combine_chunks().dictionary_encode(null_encoding="encode").indices.to_numpy()
        for column in X.columns
    ]
    distinct, n = len(np.unique(np.column_stack([*codes, labels]), axis=0)), len(labels)
    most = max(len(np.unique(code)) for code in codes)
    varied = most >= max(SETTINGS.varied * distinct, n / SETTINGS.most_equal)
    if n < SETTINGS.several or distinct > (1 - SETTINGS.repeated) * n or not varied:
        return ""
    return (
        f"{1 - distinct / n:.0%} of the rows are equal to another one in all columns and in the "
        "label. If they were repeated on purpose, the estimates are too good: fit the rows without "
        "their repetitions."
    )


def _is_ordered_date(column: Any) -> bool:
    if not pa.types.is_timestamp(column.type):
        return False
    values = arrow_cells(column).values
    known = np.flatnonzero(~np.isnan(values))
    if len(known) < SETTINGS.several or np.ptp(values[known]) == 0:
        return False
    return bool(abs(spearmanr(known, values[known]).statistic) > SETTINGS.in_order)


def neighbours_alike(labels: Array) -> float:
    """How often neighbours share a label: 0 as often as by chance, 1 always."""
    shares = np.bincount(labels) / len(labels)
    by_chance = float(shares @ shares)
    return float(((labels[1:] == labels[:-1]).mean() - by_chance) / max(1 - by_chance, 1e-12))


def _on_identifiers(X: pa.Table) -> str:
    columns = [name for name in X.column_names if _may_identify(X[name])]
    if not columns:
        return ""
    return (
        f"Whole numbers that all differ: {_names(columns)}. If they only identify rows, leave the "
        "column out with --drop."
    )


def _may_identify(column: Any) -> bool:
    if not pa.types.is_floating(column.type):
        return False
    values = column.drop_null().to_numpy()
    if len(values) < RULES.suspicious or (values != np.floor(values)).any():
        return False
    return ValueProfile.of(Cells("number", values, whole=True)).distinct


def _on_codes(X: pa.Table) -> str:
    columns = [name for name in X.column_names if may_be_codes(X[name])]
    if not columns:
        return ""
    return (
        f"Whole numbers that look like codes: {_names(columns)}. If larger does not mean more, "
        f"read them as categories with --category {shlex.quote(columns[0])}"
        + (" and so on." if columns[1:] else "")
    )


def may_be_codes(column: Any) -> bool:
    """Whether numbers are whole, have equally many digits, repeat, and leave out most between."""
    if not pa.types.is_floating(column.type):
        return False
    values = column.drop_null().to_numpy()
    codes, n = np.unique(values), len(values)
    if len(codes) < 3 or n < SETTINGS.repeated_codes * len(codes) or codes[0] < 0:
        return False
    digits = {len(f"{code:.0f}") for code in codes[[0, -1]]}
    wide = np.ptp(codes) >= SETTINGS.gaps * len(codes)
    whole = (codes == np.floor(codes)).all() and np.gcd.reduce(codes.astype(np.int64)) == 1
    return bool(whole and wide and len(digits) == 1 and min(digits) >= SETTINGS.fewest_digits)


def _names(names: list[str]) -> str:
    return listed(names, SETTINGS.most_named)
