"""What the paper prints: every cell of its result tables."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

# Our name of each table, and its label in the paper.
TABLES = {
    "uci": "uci",
    "unbalanced": "unb",
    "unbalanced-times": "unbt",
    "big": "big",
    "big-times": "bigt",
    "gaussian": "enthyperdcsnor",
    "kde": "enthyperdcs",
}
TITLES = {
    "uci": "GMean on UCI data, hyper-parameters by cross-validation",
    "unbalanced": "GMean on unbalanced data, hyper-parameters by cross-validation",
    "unbalanced-times": "Seconds of training on unbalanced data",
    "big": "GMean on big data, hyper-parameters by cross-validation",
    "big-times": "Seconds of training on big data",
    "gaussian": "GMean on UCI data, hyper-parameters by D_CS of Gaussians",
    "kde": "GMean on UCI data, hyper-parameters by D_CS of kernel densities",
}
# What each table is computed from: times come with the scores.
SCORES = {"unbalanced-times": "unbalanced", "big-times": "big", "gaussian": "uci", "kde": "uci"}


@dataclass(frozen=True, slots=True)
class Claim:
    """One printed cell."""

    table: str
    dataset: str
    model: str
    value: float | None  # GMean in percent, or seconds; None where the paper has none
    spread: float | None  # the printed ±
    over: bool  # printed as "more than"


@cache
def claims(table: str) -> tuple[Claim, ...]:
    """The cells of a table, in the paper's order."""
    text = (files(__package__) / "printed" / "results.csv").read_text()
    return tuple(
        Claim(
            table,
            row["dataset"],
            row["model"],
            float(row["value"]) if row["value"] else None,
            float(row["std"]) if row["std"] else None,
            row["note"] == "over",
        )
        for row in csv.DictReader(text.splitlines())
        if row["table"] == TABLES[table]
    )


def datasets_of(table: str) -> list[str]:
    """The data sets of a table, in the paper's order."""
    return list(dict.fromkeys(claim.dataset for claim in claims(table)))


def models_of(table: str) -> list[str]:
    """The columns of a table, in the paper's order."""
    return list(dict.fromkeys(claim.model for claim in claims(table)))
