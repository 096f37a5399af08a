"""Columns that are not used: identifiers, which only tell rows apart, and those without a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .cells import Cells, ValueProfile
from .kind import ColumnKind

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class IdentifierRules:
    """From how many values on a column is taken for an identifier."""

    several: int = 20  # values; fewer differ by chance
    many: int = 1000  # whole numbers that all differ; measurements of so many rows repeat
    suspicious: int = 100  # the same, from which on they are pointed out, but used
    distinct: float = 0.9  # of the values: text with more different ones
    # Whether the order of rows counts. In files it does: a column that goes up from row to row was
    # written with them, and one that numbers them from the first to the last needs few rows.
    in_order: bool = False
    fewest_numbered: int = 3


RULES = IdentifierRules()
FILE_RULES = IdentifierRules(in_order=True)
ONLY_NUMBERS = "it only numbers the rows"


def reason_to_leave_out(profile: ValueProfile, rules: IdentifierRules = RULES) -> str:
    """Why a column of such values only tells rows apart; empty if it does not."""
    n = profile.n
    if n < rules.several:
        return ""
    if "category" in profile.kinds:
        told_apart = len(profile.counts) > rules.distinct * n
        return f"text with {len(profile.counts)} different values in {n} rows" if told_apart else ""
    if profile.distinct and profile.high - profile.low < n:
        return ONLY_NUMBERS
    if profile.distinct and n >= rules.many:
        return "whole numbers that all differ"
    if rules.in_order and profile.direction and n > rules.several:
        return "whole numbers that increase from row to row"
    return ""


class Empty(ColumnKind):
    """No values at all when φ was drawn; whatever comes later is not looked at."""

    name = "empty"
    title = "no values"
    is_used = False

    @classmethod
    def recognise(cls, profile: ValueProfile, *, named: bool) -> Self | None:
        return None if profile.n else cls()

    def code(self, cells: Cells, name: Any, *, trained: bool) -> Array:
        return np.zeros(len(cells.values))


@dataclass(frozen=True)
class Identifier(Empty):
    """Values that only tell rows apart; a column that the user names as categories is none."""

    name = "identifier"
    title = "identifiers"

    reason: str = ""  # why it is left out

    @classmethod
    def recognise(cls, profile: ValueProfile, *, named: bool) -> Self | None:
        reason = "" if named else reason_to_leave_out(profile)
        return cls(reason) if reason else None
