"""Table 1 beside the paper's: ours cell by cell, and how near all other forms come."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

import numpy as np

from ..datasets import list_datasets
from ..store import Row
from .correlation import MODELS, PREFIX, SIZES
from .render import PageTable

CHOSEN = ("rbf", "normal", "plain")  # activation, operators and form of the table
CLOSE = 0.05
HIGH = 0.9  # a correlation at which one term does for the whole


@cache
def printed() -> dict[str, tuple[float, ...]]:
    """The paper's correlations of each data set, by size."""
    text = (files(__package__) / "printed" / "correlation.csv").read_text()
    return {
        row["dataset"]: tuple(float(row[f"h{h}"]) for h in SIZES)
        for row in csv.DictReader(text.splitlines())
    }


Found = dict[tuple[str, str, str], dict[tuple[str, int], float | None]]


def gather(rows: Iterable[Row]) -> Found:
    """By activation, operators and form: the correlation for each data set and size."""
    found: Found = {}
    for row in rows:
        if row.get("model") in MODELS and "correlations" in row:
            activation = row["model"].removeprefix(PREFIX)
            for form, value in row["correlations"].items():
                name = activation, row["setting"]["operators"], form
                found.setdefault(name, {})[row["dataset"], row["setting"]["h"]] = value
    return found


def page(rows: Iterable[Row]) -> PageTable:
    """Ours beside the paper's figures, and how near other forms come."""
    found = gather(rows)
    ours = found.get(CHOSEN, {})
    verdicts = [_verdict(ours.get((d, h)), p) for d, h, p in _claims()]
    return PageTable(
        "Spearman's correlation of D_CS and its last term",
        "Each cell: ours / the paper's. Columns are dimensions of the feature space. "
        f"= within {CLOSE}, ≠ differs. Ours: rbf neurons, normal operators, plain moments.",
        [f"h = {h}" for h in SIZES],
        [
            [d, *(_shown(ours.get((d, h)), p) for h, p in zip(SIZES, values, strict=True))]
            for d, values in printed().items()
        ],
        [
            f"{verdicts.count('=')} of {len(verdicts)} cells within {CLOSE}, "
            f"{verdicts.count('≠')} differ, {verdicts.count('')} not run.",
            *_claim([value for value in ours.values() if value is not None]),
            *_nearness(found),
        ],
    )


def _claim(values: list[float]) -> list[str]:
    """How far the paper's claim, that the last term says nearly all, holds in our figures."""
    if not values:
        return []
    high = sum(value >= HIGH for value in values)
    return [
        f"Ours is {HIGH} or more in {high} of {len(values)} cells; the median is "
        f"{np.median(values):.3f}, the least {min(values):.3f}."
    ]


def _claims() -> Iterator[tuple[str, int, float]]:
    for dataset, values in printed().items():
        for h, value in zip(SIZES, values, strict=True):
            yield dataset, h, value


def _verdict(ours: float | None, theirs: float) -> str:
    if ours is None:
        return ""
    return "=" if abs(ours - theirs) <= CLOSE else "≠"


def _shown(ours: float | None, theirs: float) -> str:
    figure = "–" if ours is None else f"{ours:.3f}"
    return f"{figure} / {theirs:.3f} {_verdict(ours, theirs)}".rstrip()


def _nearness(found: Found) -> list[str]:
    """How far each form is from the printed figures, the nearest first."""
    uci = {dataset.name for dataset in list_datasets("uci")}
    gaps: list[tuple[float, str]] = []
    for name, values in found.items():
        known = [
            (d in uci, abs(values[d, h] - p))  # type: ignore[operator]
            for d, h, p in _claims()
            if values.get((d, h)) is not None
        ]
        basic = [gap for is_uci, gap in known if is_uci]
        other = [gap for is_uci, gap in known if not is_uci]
        if basic and other:
            near = sum(gap <= CLOSE for _, gap in known)
            mean = float(np.mean([gap for _, gap in known]))
            gaps.append(
                (
                    mean,
                    f"{name[0]}, {name[1]} operators, {name[2]}: mean difference "
                    f"{np.mean(basic):.2f} on the UCI sets, {np.mean(other):.2f} on the others; "
                    f"{near} of {len(known)} cells within {CLOSE}.",
                )
            )
    if not gaps:
        return []
    said = [words for _, words in sorted(gaps)]
    return [f"All {len(said)} forms, the nearest first:", *said]
