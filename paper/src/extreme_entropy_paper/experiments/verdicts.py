"""Rows ↦ cells ↦ verdicts: what we measured beside what the paper prints."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..datasets import list_datasets
from ..store import name_of
from .claims import Claim, claims
from .protocol import MODELS, N_FOLDS, settings_of

Array = np.ndarray[Any, Any]

CLOSE = 1.0  # points of GMean that count as the same
CHOSEN = ("gaussian", "kde")  # tables whose settings D_CS chose
ALL_ROWS = (
    "with as many neurons as training rows a model fits each of them, and the divergence of "
    "those rows prefers that; without such sizes it would be within the printed spread"
)
COLLAPSED = 1e3  # a divergence between classes that are projected to points
COLLAPSE = (
    "in most folds some settings carry each class of the training rows to a point, where D_CS "
    "grows without bound and rounding chooses among them"
)
HOUR = 3600.0
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
    reason: str = ""  # why it was not run, or what was computed of why it differs


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
    skipped = {name_of(row["setting"]): row["skipped"] for row in rows if "skipped" in row}
    settings = [name for setting in settings_of(model) if (name := name_of(setting)) not in skipped]
    position = {name: i for i, name in enumerate(settings)}
    numbers = sorted({(row["repeat"], row["fold"]) for row in rows if "gmean" in row})
    column = {number: j for j, number in enumerate(numbers)}
    values = np.full((4, len(settings), len(numbers)), np.nan)
    for row in rows:
        if "gmean" in row:
            place = position[name_of(row["setting"])], column[row["repeat"], row["fold"]]
            for table, field in zip(
                values, ("gmean", "dcs_gaussian", "dcs_kde", "fit_seconds"), strict=True
            ):
                table[place] = np.nan if row.get(field) is None else row[field]
    return Trials(
        settings, values[0], values[1], values[2], values[3], next(iter(skipped.values()), "")
    )


def cells(table: str, trials: dict[tuple[str, str], Trials]) -> list[Cell]:
    """The cells of a table with verdicts."""
    return [_cell(claim, trials.get((claim.dataset, claim.model))) for claim in claims(table)]


def _cell(claim: Claim, trials: Trials | None) -> Cell:
    if trials is None or not trials.complete.any():
        absent = (
            "not in these rows" if claim.value is not None else "the paper has no figure either"
        )
        reason = _reason(claim.model, trials) if trials else absent
        return Cell(claim, None, None, None, 0, "not run", reason)
    if claim.table in CHOSEN:
        return _chosen_cell(claim, trials)
    gmean = trials.gmean[:, trials.complete]
    best = int(gmean.mean(axis=1).argmax())
    times = claim.table.endswith("times")
    values = trials.seconds[best, trials.complete] if times else gmean[best]
    cell = _as_cell(claim, values, trials.settings[best])
    if cell.verdict != "differs":
        return cell
    return replace(cell, reason=_why_best(claim, trials.settings, gmean.mean(axis=1), best))


def _as_cell(claim: Claim, values: Array, setting: str | None, reason: str = "") -> Cell:
    value, spread = float(values.mean()), float(values.std())
    return Cell(claim, value, spread, setting, len(values), _verdict(claim, value), reason)


def _why_best(claim: Claim, settings: list[str], means: Array, best: int) -> str:
    """Whether ours is better than printed only because its layer is larger, or nothing."""
    if claim.value is None or means[best] < claim.value:
        return ""
    sizes = np.array([json.loads(name).get("h", 0) for name in settings])
    for h in np.unique(sizes[sizes < sizes[best]])[::-1]:
        if _verdict(claim, float(means[sizes == h].max())) != "differs":
            return (
                f"the score grows with the layer; with {h} neurons ours is where the paper has it"
            )
    return ""


def _chosen_cell(claim: Claim, trials: Trials) -> Cell:
    """The cell for which D_CS of the training rows chose, fold by fold."""
    gmean = trials.gmean[:, trials.complete]
    divergence = getattr(trials, claim.table)[:, trials.complete]
    cell = _as_cell(claim, at_largest(divergence, gmean), None)
    if cell.verdict != "differs":
        return cell
    return replace(cell, reason=_why_chosen(claim, trials.settings, divergence, gmean))


def at_largest(divergence: Array, gmean: Array) -> Array:
    """In each fold, the score of the setting with the largest divergence that is a number."""
    chosen = np.nan_to_num(divergence, nan=-np.inf).argmax(axis=0)
    return gmean[chosen, np.arange(gmean.shape[1])]


def _why_chosen(claim: Claim, settings: list[str], divergence: Array, gmean: Array) -> str:
    """What of the choice by D_CS explains a difference, or nothing."""
    (about,) = (data for data in list_datasets() if data.name == claim.dataset)
    rows = about.rows * (N_FOLDS - 1) // N_FOLDS
    fewer = [i for i, name in enumerate(settings) if json.loads(name).get("h", 0) < rows]
    if 0 < len(fewer) < len(settings):
        value = float(at_largest(divergence[fewer], gmean[fewer]).mean())
        if _verdict(claim, value) != "differs":
            return ALL_ROWS
    largest = np.nan_to_num(divergence, nan=-np.inf).max(axis=0)
    return COLLAPSE if np.median(largest) > COLLAPSED else ""


def _reason(model: str, trials: Trials) -> str:
    """Why no fold is whole: it cannot be tried, or what was tried shows how long it would take."""
    if trials.skipped:
        return trials.skipped
    seconds = float(np.nanmean(trials.seconds))
    fits = len(trials.settings) * N_FOLDS
    if fits * seconds < HOUR:
        return "begun, and no fold is whole in these rows"
    return (
        f"beyond the budget: the {fits} fits of {model} would take {fits * seconds / HOUR:.0f} "
        f"hours at {seconds:.0f} s each (measured: {np.isfinite(trials.seconds).sum()})"
    )


def _verdict(claim: Claim, value: float) -> str:
    if claim.value is None:
        return "not claimed"
    if claim.table.endswith("times"):
        # Other computers, other decades: only the order of magnitude is comparable.
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
