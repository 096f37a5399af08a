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
    distinct: float = 0.9  # of the values: text with more different ones


RULES = IdentifierRules()


def reason_to_leave_out(profile: ValueProfile, rules: IdentifierRules = RULES) -> str:
    """Why a column of such values only tells rows apart; empty if it does not."""
    n = profile.n
    if n < rules.several:
        return ""
    if "category" in profile.kinds:
        told_apart = len(profile.counts) > rules.distinct * n
        return f"text with {len(profile.counts)} different values in {n} rows" if told_apart else ""
    if profile.distinct and profile.high - profile.low < n:
        return "it only numbers the rows"
    if profile.distinct and n >= rules.many:
        return "whole numbers that all differ"
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
