"""Rows ↦ cells ↦ verdicts: what we measured beside what the paper prints."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .claims import SCORES, Claim, claims
from .protocol import MODELS, N_FOLDS, settings_of

Array = np.ndarray[Any, Any]

CLOSE = 1.0  # points of GMean that count as the same
VERDICTS = ("within 1 point", "within the printed spread", "differs", "not run", "not claimed")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table: the claim, our figure, and what to say of them."""

    claim: Claim
    value: float | None
    spread: float | None  # standard deviation over the folds
    setting: str | None  # of the best mean, where one setting gives the cell
    folds: int
    verdict: str
    reason: str = ""  # where it was not run


@dataclass(frozen=True, slots=True)
class Trials:
    """What was measured of one model on one data set, by setting and fold."""

    settings: list[str]
    gmean: Array  # (settings, folds)
    gaussian: Array  # D_CS of the training projections
    kde: Array
    seconds: Array
    skipped: str = ""

    @property
    def complete(self) -> Array:
        """Folds in which every setting that can be tried was."""
        return np.asarray(np.isfinite(self.gmean).all(axis=0))


def gather(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, str], Trials]:
    """Rows by data set and model."""
    by_cell: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row.get("model") in MODELS:
            by_cell[row["dataset"], row["model"]].append(row)
    return {cell: _trials(cell[1], found) for cell, found in by_cell.items()}


def _trials(model: str, rows: list[dict[str, Any]]) -> Trials:
    skipped = {_name(row): row["skipped"] for row in rows if "skipped" in row}
    settings = [
        name
        for setting in settings_of(model)
        if (name := json.dumps(setting, sort_keys=True)) not in skipped
    ]
    position = {name: i for i, name in enumerate(settings)}
    numbers = sorted({(row["repeat"], row["fold"]) for row in rows if "gmean" in row})
    column = {number: j for j, number in enumerate(numbers)}
    values = np.full((4, len(settings), len(numbers)), np.nan)
    for row in rows:
        if "gmean" in row:
            place = position[_name(row)], column[row["repeat"], row["fold"]]
            for table, field in zip(
                values, ("gmean", "dcs_gaussian", "dcs_kde", "fit_seconds"), strict=True
            ):
                table[place] = np.nan if row.get(field) is None else row[field]
    return Trials(
        settings, values[0], values[1], values[2], values[3], next(iter(skipped.values()), "")
    )


def _name(row: dict[str, Any]) -> str:
    return json.dumps(row["setting"], sort_keys=True)


def cells(table: str, trials: dict[tuple[str, str], Trials]) -> list[Cell]:
    """The cells of a table with verdicts."""
    return [_cell(claim, trials.get((claim.dataset, claim.model))) for claim in claims(table)]


def _cell(claim: Claim, trials: Trials | None) -> Cell:
    if trials is None or not trials.complete.any():
        reason = trials.skipped if trials and trials.skipped else "not in these rows"
        return Cell(claim, None, None, None, 0, "not run", reason)
    done = trials.complete
    gmean = trials.gmean[:, done]
    best = int(gmean.mean(axis=1).argmax())
    setting: str | None = trials.settings[best]
    if claim.table in ("gaussian", "kde"):
        divergence = getattr(trials, claim.table)[:, done]
        chosen = np.nan_to_num(divergence, nan=-np.inf).argmax(axis=0)
        values, setting = gmean[chosen, np.arange(gmean.shape[1])], None
    elif claim.table in SCORES:  # times
        values = trials.seconds[best, done]
    else:
        values = gmean[best]
    value, spread = float(values.mean()), float(values.std())
    return Cell(claim, value, spread, setting, len(values), _verdict(claim, value))


def _verdict(claim: Claim, value: float) -> str:
    if claim.value is None:
        return "not claimed"
    if claim.table.endswith("times"):
        # Other machines, other decades: only the order of magnitude is comparable.
        return "faster" if value < claim.value else "slower"
    difference = abs(value - claim.value)
    if difference <= CLOSE:
        return "within 1 point"
    if claim.spread is not None and difference <= claim.spread:
        return "within the printed spread"
    return "differs"


def counts(found: list[Cell]) -> dict[str, int]:
    """How many cells have each verdict."""
    tally: dict[str, int] = {}
    for cell in found:
        tally[cell.verdict] = tally.get(cell.verdict, 0) + 1
    return tally


def whole_repeats(found: list[Cell]) -> int:
    """How many repetitions of all folds every cell that was run has."""
    return min((cell.folds // N_FOLDS for cell in found if cell.folds), default=0)
