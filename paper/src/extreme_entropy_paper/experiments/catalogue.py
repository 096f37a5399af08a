"""All that can be reproduced: each page, the experiment behind it, and how it is rendered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from ..store import Row
from . import (
    alternatives,
    beyond,
    beyond_page,
    choice,
    correlation,
    correlation_page,
    counts,
    grid,
    nested,
    process,
    stability,
)
from .claims import SCORES, TABLES, datasets_of
from .jobs import Job
from .protocol import MODELS
from .render import FORMATS, PageTable, table_of
from .verdicts import cells, gather

Plan = Callable[[Sequence[str], Sequence[str], int], Iterable[tuple[Job, str | None]]]
Files = dict[str, str | bytes]  # by the ending of their names


@dataclass(frozen=True, slots=True)
class Experiment:
    """Which jobs there are for data sets, models and repeats, and what makes the rows of one."""

    plan: Plan
    work: Callable[[Job], list[Row]]
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A table or figure: the experiment it needs, on which data sets, and its files."""

    experiment: Experiment
    datasets: list[str]
    render: Callable[[list[Row]], Files]


def as_files(table: PageTable) -> Files:
    """A table in all its formats."""
    return {ending: write(table) for ending, write in FORMATS.items()}


def _result(name: str, rows: list[Row]) -> Files:
    return as_files(table_of(name, cells(name, gather(rows))))


GRID = Experiment(grid.plan, grid.work, MODELS)
NESTED = Experiment(nested.plan, nested.work, MODELS)
ALTERNATIVES = Experiment(alternatives.plan, alternatives.work, alternatives.MODELS)
CHOICE = Experiment(choice.plan, choice.work, choice.MODELS)
BEYOND = Experiment(beyond.plan, beyond.work, beyond.MODELS)
COUNTS = Experiment(counts.plan, counts.work, (counts.MODEL,))
CORRELATION = Experiment(correlation.plan, correlation.work, correlation.MODELS)
STABILITY = Experiment(stability.plan, stability.work, stability.MODELS)
PROCESS = Experiment(process.plan, process.work, (process.MODEL,))

PAGES = {
    "data": Page(COUNTS, counts.order(), lambda rows: as_files(counts.page(rows))),
    "correlation": Page(
        CORRELATION,
        list(correlation_page.printed()),
        lambda rows: as_files(correlation_page.page(rows)),
    ),
    **{
        name: Page(GRID, datasets_of(SCORES.get(name, name)), partial(_result, name))
        for name in TABLES
    },
    "nested": Page(
        NESTED,
        [name for table in nested.TABLES for name in datasets_of(table)],
        lambda rows: as_files(nested.page(rows)),
    ),
    "choice": Page(CHOICE, choice.DATASETS, lambda rows: as_files(choice.page(rows))),
    "alternatives": Page(
        ALTERNATIVES, alternatives.DATASETS, lambda rows: as_files(alternatives.page(rows))
    ),
    "beyond": Page(BEYOND, beyond.DATASETS, beyond_page.page),
    "stability": Page(STABILITY, datasets_of("uci"), stability.page),
    "process": Page(PROCESS, [process.DATASET], process.page),
}
