"""Numbers as text, with the decimal sign and the unit of the first rows (`number_text.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from ..shapes import OneOf
from .cells import Cells, ValueProfile
from .kind import ColumnKind
from .number import Number
from .number_text import NumberReading, NumberTally, number_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class TextNumber(Number):
    """Text that holds numbers; new cells that hold none are missing."""

    name = "text number"
    title = "numbers as text"
    encoded_as: ClassVar[type[ColumnKind] | None] = Number

    decimal: Annotated[str, OneOf("point", "comma")] = "point"
    unit: Annotated[str, OneOf()] = ""

    @property
    def needs_frame(self) -> bool:
        return True

    @classmethod
    def recognise(cls, profile: ValueProfile, *, named: bool) -> Self | None:
        reading = None if named else numbers_among(profile)
        return cls(reading.decimal, reading.unit) if reading and reading.is_read else None

    def code(self, cells: Cells, name: Any, *, trained: bool) -> Array:
        if cells.kind != "category":
            return super().code(cells, name, trained=trained)
        numbers = [
            float(label)  # one of a column of objects, which has no decimal sign
            if isinstance(label, Real)
            else number_of(str(label), self.decimal, self.unit)
            for label in cells.labels
        ]
        return cells.looked_up(np.array([*numbers, None], np.float64))


def numbers_among(profile: ValueProfile) -> NumberReading | None:
    """Text of such cells as numbers, if it holds many."""
    if not profile.is_text or profile.meant:
        return None
    tally = NumberTally().with_texts(profile.counts.items())
    return tally.reading(len(profile.counts), spelt=True)
