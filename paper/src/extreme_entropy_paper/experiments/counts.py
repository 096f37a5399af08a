"""The paper's table of data sets: columns and rows of each class, beside those of the data."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ..datasets import Dataset, list_datasets, load_dataset
from ..store import Row
from .claims import TABLES, datasets_of
from .correlation_page import printed as correlated
from .jobs import Job
from .render import PageTable

MODEL = "counts"


class Counts(NamedTuple):
    """What the table says of a data set."""

    columns: int
    negatives: int
    positives: int


def plan(
    datasets: Sequence[str], models: Sequence[str], repeats: int
) -> Iterator[tuple[Job, str | None]]:
    """One job for each data set."""
    for model in models:
        for name in datasets:
            yield Job(name, model, 0, 0, ({},)), None


def work(job: Job) -> list[Row]:
    """Count the rows and columns of what is loaded."""
    X, y = load_dataset(job.dataset, return_X_y=True, download=False)
    found = Counts(X.shape[1], int((y < 0).sum()), int((y > 0).sum()))
    return [{**job.about(setting), **found._asdict()} for setting in job.settings]


@cache
def printed() -> dict[str, Counts]:
    """The paper's counts, in its order."""
    text = (files(__package__) / "printed" / "datasets.csv").read_text()
    return {
        row["dataset"]: Counts(int(row["d"]), int(row["n_negative"]), int(row["n_positive"]))
        for row in csv.DictReader(text.splitlines())
    }


def order() -> list[str]:
    """The printed sets in the paper's order, then those it uses without printing them."""
    names = list(printed())
    return [*names, *(one.name for one in list_datasets() if one.name not in names)]


def page(rows: Iterable[Row]) -> PageTable:
    """Counts beside the paper's, with verdicts and what is known to be uncertain."""
    found = {
        row["dataset"]: Counts(*(row[field] for field in Counts._fields))
        for row in rows
        if row.get("model") == MODEL and "columns" in row
    }
    about = {one.name: one for one in list_datasets()}
    verdicts = {name: _verdict(found.get(name), printed().get(name)) for name in order()}
    return PageTable(
        "Data sets",
        "Each cell: ours / the paper's. = equal, ≠ differs, + the paper's table leaves it out.",
        ["columns", "negative rows", "positive rows", "verdict"],
        [[name, *_cells(found.get(name), printed().get(name)), verdicts[name]] for name in order()],
        [
            _tally(list(verdicts.values())),
            *(f"{name}: {note}" for name in order() for note in _notes(about[name])),
        ],
    )


def _verdict(ours: Counts | None, theirs: Counts | None) -> str:
    if ours is None:
        return "–"
    if theirs is None:
        return "+"
    return "=" if ours == theirs else "≠"


def _cells(ours: Counts | None, theirs: Counts | None) -> list[str]:
    pairs = zip(ours or (None,) * 3, theirs or (None,) * 3, strict=True)
    return [" / ".join("–" if value is None else str(value) for value in pair) for pair in pairs]


def _tally(verdicts: list[str]) -> str:
    return (
        f"Of {len(printed())} printed sets {verdicts.count('=')} have the printed counts, "
        f"{verdicts.count('≠')} differ, {verdicts.count('–')} were not loaded; "
        f"{verdicts.count('+')} are used in the paper but not in this table."
    )


def _notes(dataset: Dataset) -> list[str]:
    """Where the set is used, if that is odd, and the registry's doubts about its coding."""
    name = dataset.name
    scored = any(name in datasets_of(table) for table in TABLES)
    notes = []
    if not scored and name in correlated():
        notes.append("used in the table of correlations only.")
    elif not scored:
        notes.append("printed here, but in no result of the paper.")
    elif name not in printed():
        notes.append(f"in the paper's results without counts; checked against {_source(dataset)}")
    return [*notes, *dataset.doubts]


def _source(dataset: Dataset) -> str:
    return dataset.counted_by.split(":")[0] + "."
