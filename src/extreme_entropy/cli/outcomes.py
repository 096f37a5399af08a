"""What models find, miss and cost, as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..metrics import Outcome
from ..report.numbers import amount, percent
from ..report.verdict import answer, cost_text, recall_text
from .output import quoted, rest

GMEAN = (
    "GMean is the geometric mean of the recalls: 1 means no mistake, 0 that a class is never found."
)


def classes_text(counts: Mapping[str, int], most: int = 12) -> str:
    """Labels with their rows and shares; of very many the most frequent ones."""
    total, names = max(1, sum(counts.values())), list(counts)
    shown = sorted(names, key=lambda name: -counts[name])[:most] if len(names) > most else names
    parts = [
        f"{quoted(name)}: {counts[name]:,} {'row' if counts[name] == 1 else 'rows'} "
        f"({percent(counts[name] / total)})"
        for name in names
        if name in shown
    ]
    return plain(", ".join(parts)) + rest(len(names) - most)


def plain(text: str) -> str:
    """The same without spaces that do not break, which a page needs and a terminal does not."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


def table_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Cells in columns, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        plain(
            f"{first:{widths[0]}}"
            + "".join(f"  {c:>{w}}" for c, w in zip(cells, widths[1:], strict=True))
        ).rstrip()
        for first, *cells in rows
    ]


def outcome_lines(
    outcomes: Mapping[str, Outcome], names: Sequence[str], rare: int | None
) -> list[str]:
    """What models find, miss and cost, below each other, with constant answers for comparison."""
    first = next(iter(outcomes.values()))
    best = first.cheapest_constant
    rows = dict(outcomes)
    for c in (best, 1 - best) if rare is not None else (best,):
        title = answer(c, [quoted(name) for name in names], rare)
        rows[title[0].upper() + title[1:]] = first.constant(c)
    cost = "cost" if first.shares is None else "cost per 1,000 rows"
    if rare is None:
        cells = [["", "correct", "missed", "lowest recall", cost]]
        for title, outcome in rows.items():
            right, n = int(np.trace(outcome.confusion)), int(outcome.rows.sum())
            correct = f"{right:,} of {n:,} ({percent(right / n)})"
            lowest = percent(float(np.nanmin(outcome.recalls)))
            cells.append([title, correct, f"{n - right:,}", lowest, cost_text(outcome)])
        return table_lines(cells)
    cells = [["", f"{quoted(names[rare])} found", "missed", "false alarms", "precision", cost]]
    for title, outcome in rows.items():
        missed, alarms = outcome.confusion[rare, 1 - rare], outcome.confusion[1 - rare, rare]
        share = percent(alarms / max(1, outcome.rows[1 - rare]))
        precision = percent(outcome.precisions[rare])
        texts = [recall_text(outcome, rare), f"{missed:,}", f"{alarms:,} ({share})", precision]
        cells.append([title, *texts, cost_text(outcome)])
    return table_lines(cells)


def costs_line(
    costs: Sequence[float], names: Sequence[str], rare: int | None, *, stated: bool
) -> str:
    """What mistakes cost, in words."""
    if rare is not None:
        miss = f"a missed {quoted(names[rare])}"
        ratio = costs[rare] / costs[1 - rare]
        price = (
            f"{miss} costs as much as {amount(ratio)} false alarms"
            if ratio != 1
            else f"{miss} costs as much as a false alarm"
        )
        if stated:
            return f"Costs: {price}."
        return f"Costs: none were given, so both classes count alike: {price}. --cost changes that."
    if len(set(costs)) == 1:
        return "Costs: every mistake costs the same."
    if not stated:
        return (
            "Costs: none were given, so all classes count alike: the rarer, the costlier to miss."
        )
    listed = [f"{quoted(n)} {amount(c)}" for n, c in zip(names, costs, strict=True) if c != 1]
    more = rest(len(listed) - 8)
    return f"Costs of missing a row: {', '.join(listed[:8])}{more}, others 1."
