"""Dates: days since 1970, and as far as they vary the month, the weekday and the hour."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar

import numpy as np

from ..shapes import Indices, OneOf
from .cells import Cells, local_time, seconds
from .kind import ColumnKind, EncodedPart, Seen
from .statistics import ColumnStats

Array = np.ndarray[Any, Any]

DAY = 86_400.0  # seconds
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:$|[T ])")  # the day, perhaps with a time
SHAPE = r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))($|[ T])"


def _days(x: Array) -> Array:
    return x / DAY


def _months(x: Array) -> Array:
    return x.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64) % 12 + 1


def _weekdays(x: Array) -> Array:
    return (np.floor(x / DAY) + 3) % 7  # 1970 began on a Thursday; Monday is 0


def _hours(x: Array) -> Array:
    return x % DAY / 3600


PARTS = {"days": _days, "month": _months, "weekday": _weekdays, "hour": _hours}


@dataclass(frozen=True, slots=True)
class EncodedDate:
    """A column of dates, and the parts of it that are used."""

    column: Annotated[int, Indices(below="d")]
    parts: tuple[Annotated[str, OneOf("days", "month", "weekday", "hour")], ...]  # "days" first
    needs_folds: ClassVar[bool] = False

    @property
    def columns(self) -> Array:
        return np.full(len(self.parts), self.column)

    def names(self, columns: Sequence[Any], kinds: Sequence[ColumnKind]) -> list[str]:
        return [f"{part} of {columns[self.column]}" for part in self.parts]

    def encode(self, X: Array, typical: Array, folds: Array | None, out: Array) -> None:
        x = X[:, self.column].astype(np.float64)
        x[np.isnan(x)] = typical[self.column]
        for i, part in enumerate(self.parts):
            out[:, i] = PARTS[part](x)

    def stats(self, seen: Seen, encoded: Array) -> ColumnStats:
        filled = seen.stats.of_columns([self.column]).filled(seen.typical[[self.column]])
        return ColumnStats.of(encoded).between(0, filled.low[0] / DAY, filled.high[0] / DAY)


class Date(ColumnKind):
    """Dates and times by the clock of their own place, in seconds since 1970."""

    name = "date"
    title = "dates"
    cells = "date"
    encoded: ClassVar[type | None] = EncodedDate
    widest: ClassVar[int] = len(PARTS)
    marks_gaps = True

    @property
    def needs_frame(self) -> bool:
        return True

    def code(self, cells: Cells, name: Any, *, trained: bool) -> Array:
        dates = _iso_dates(cells.labels)
        return (
            super().code(cells, name, trained=trained) if dates is None else cells.looked_up(dates)
        )

    @classmethod
    def fit(cls, columns: list[int], seen: Seen) -> list[EncodedPart]:
        return [_fit_date(j, seen.sample[:, j], seen.typical[j]) for j in columns]


def order_of(fits: Mapping[str, int], *, dotted: bool) -> str:
    """The order of year, month and day in which most cells are dates.

    Of equals it is that with the year first, and that with the day first only where dots separate.
    """
    usual = ("ymd", *(("dmy", "mdy") if dotted else ("mdy", "dmy")))
    return max(usual, key=lambda order: fits.get(order, 0))


def _iso_dates(labels: Sequence[Any]) -> Array | None:
    """Text as dates in seconds, and NaN at the end; None unless all are dates as 2026-11-17."""
    times = [time for label in labels if (time := iso_time(label)) is not None]
    if not times or len(times) < len(labels):
        return None
    return np.append(seconds(np.array(list(map(local_time, times)))), np.nan)


def iso_time(label: Any) -> datetime | None:
    """A date in text as 2026-11-17, perhaps with a time; None if it is none."""
    if not isinstance(label, str) or not ISO_DATE.match(label):
        return None
    try:
        return datetime.fromisoformat(label)
    except ValueError:  # the 30th of February
        return None


def _fit_date(column: int, values: Array, typical: float) -> EncodedDate:
    """Those parts of a date that vary."""
    x = np.where(np.isnan(values), typical, values)
    parts = [name for name, of in PARTS.items() if name == "days" or np.ptp(of(x)) > 0]
    return EncodedDate(column, tuple(parts))
