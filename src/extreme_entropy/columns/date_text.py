"""Dates as people write them ↦ microseconds since 1970, in an order of year, month and day.

    ymd   1990-09-30, 1990/9/30, 19900930, with a time and an offset from Greenwich perhaps
    dmy   30.09.1990, 30/9/1990 14:05, 30-Sep-1990
    mdy   9/30/1990 0:00:00, 09-30-1990 2:05 PM, Sep 30, 1990

The year first is understood in each order, since nobody writes year, day and month. A cell such as
5/6/1990 could be of two orders; the other cells of its column decide. Years of two
digits are read as POSIX does (69 is 1969, 68 is 2068), and only where a column is said to hold
dates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .date import SHAPE

Array = np.ndarray[Any, Any]

ORDERS = ("ymd", "dmy", "mdy")
MONTHS = [
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
]
NAMED = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS) + "|sept"
CELL = (
    rf"(?i)^(?P<first>\d{{1,4}})(?P<sign>[-/.])(?P<middle>\d{{1,2}}|{NAMED})[-/.]"
    r"(?P<last>\d{1,4})"
    r"(?:(?:T| +)(?P<hour>\d{1,2})"
    r"(?::(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<part>[.,]\d{1,9})?)?)?"
    r"(?: ?(?P<half>[ap])\.?m\.?)?(?: ?(?P<zone>Z|[+-]\d{2}(?::?\d{2})?))?)?$"
)
MONTH_FIRST = rf"(?i)^({NAMED})\.? (\d{{1,2}}),? (\d{{4}})"  # Sep 30, 1990
SPACED = rf"(?i)^(\d{{1,2}})\.? ({NAMED})\.?,? (\d{{4}})"  # 30 September 1990
COMPACT = r"^(\d{4})(\d{2})(\d{2})$"


@dataclass(frozen=True, slots=True)
class DateCells:
    """Cells that may be dates, read in each order."""

    values: dict[str, Array]  # by order; NaT where it is no date
    short: Array  # whether the year has two digits   (n,) bool
    dotted: Array  # whether dots separate   (n,) bool

    def fit(self, order: str) -> Array:
        """Which cells are dates in this order, with a year of four digits."""
        return ~np.isnat(self.values[order]) & ~self.short

    @property
    def either(self) -> Array:
        """Which cells are another date with day and month exchanged."""
        return self.fit("dmy") & self.fit("mdy") & (self.values["dmy"] != self.values["mdy"])


def read_dates(texts: pa.Array, order: str) -> pa.Array:
    """Timestamps; null where a cell is no date of this order."""
    dates = date_cells(texts).values[order]
    return pa.array(dates, pa.timestamp("us"), mask=np.isnat(dates))


def look_like_dates(texts: pa.Array) -> Array:
    """Which cells have the shape of a date, whatever it means."""
    return truth(pc.match_substring_regex(texts, SHAPE))


def date_cells(texts: pa.Array) -> DateCells:
    """Cells read in each order."""
    texts = pc.replace_substring_regex(texts, COMPACT, r"\1-\2-\3")
    texts = pc.replace_substring_regex(texts, MONTH_FIRST, r"\2-\1-\3")
    texts = pc.replace_substring_regex(texts, SPACED, r"\1-\2-\3")
    cells = pc.extract_regex(texts, CELL)
    valid = truth(cells.is_valid())
    part = {field.name: cells.field(i) for i, field in enumerate(cells.type)}
    digits = {name: pc.utf8_length(part[name]).to_numpy(zero_copy_only=False) for name in part}
    first, last = _numbers(part["first"]), _numbers(part["last"])
    named = _month_numbers(part["middle"])
    middle = np.where(named > 0, named, _numbers(part["middle"]))
    day_time = _time(part)
    short = valid & (digits["last"] == 2) & (digits["first"] <= 2)
    year = np.where(short, last + np.where(last < 69, 2000, 1900), last)
    four = digits["last"] == 4
    year_first = valid & (digits["first"] == 4) & (digits["last"] <= 2)
    day_first = valid & (four | short) & (digits["first"] <= 2)
    values = {
        "ymd": _stamps(first, middle, last, day_time, where=year_first),
        "dmy": _stamps(year, middle, first, day_time, where=day_first),
        "mdy": _stamps(
            year,
            np.where(named > 0, middle, first),
            np.where(named > 0, first, middle),
            day_time,
            where=day_first,
        ),
    }
    for order in ("dmy", "mdy"):
        values[order] = np.where(year_first, values["ymd"], values[order])
    return DateCells(values, short, valid & truth(pc.equal(part["sign"], ".")))


def _stamps(year: Array, month: Array, day: Array, time: Array, *, where: Array) -> Array:
    """Dates and times; NaT where a month has no such day, or where there is none."""
    good = where & (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & ~np.isnat(time)
    year, month, day = (np.where(good, part, 1) for part in (year, month, day))
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    dates = months.astype("datetime64[D]") + (day - 1).astype("timedelta64[D]")
    good &= dates.astype("datetime64[M]") == months  # no 31st of April
    return np.where(good, dates.astype("datetime64[us]") + time, np.datetime64("NaT", "us"))


def _time(part: dict[str, pa.Array]) -> Array:
    """Time since midnight in Greenwich, or where no offset is given by the clock; NaT if none."""
    hour, minute, second = (_numbers(part[name]) for name in ("hour", "minute", "second"))
    half = pc.utf8_lower(part["half"])
    afternoon, twelve = truth(pc.equal(half, "p")), truth(pc.not_equal(half, ""))
    good = (hour <= 23) & (minute <= 59) & (second <= 60) & ~(twelve & ((hour < 1) | (hour > 12)))
    hour = np.where(twelve, hour % 12 + 12 * afternoon, hour)
    fraction = pc.utf8_slice_codeunits(pc.utf8_rpad(part["part"], 7, "0"), 1, 7)
    offset = pc.extract_regex(part["zone"], r"^(?P<sign>[+-])(?P<h>\d{2}):?(?P<m>\d{2})?$")
    ahead = _numbers(offset.field(1)) * 60 + _numbers(offset.field(2))
    ahead = np.where(truth(pc.equal(offset.field(0), "-")), -ahead, ahead)
    seconds = (hour * 60 + minute - ahead) * 60 + second
    time = (seconds * 1_000_000 + _numbers(fraction)).astype("timedelta64[us]")
    return np.where(good, time, np.timedelta64("NaT", "us"))


def _month_numbers(texts: pa.Array) -> Array:
    """1 to 12 for names of months, otherwise 0."""
    short = pc.utf8_slice_codeunits(pc.utf8_lower(texts), 0, 3)
    months = pc.index_in(short, pa.array([month[:3] for month in MONTHS]))
    return pc.add(pc.fill_null(months, -1), 1).to_numpy(zero_copy_only=False).astype(np.int64)


def _numbers(texts: pa.Array) -> Array:
    """Digits as whole numbers; 0 where there are none."""
    digits = pc.match_substring_regex(texts, r"^\d+$")
    numbers = pc.if_else(pc.fill_null(digits, False), texts, pa.scalar("0")).cast(pa.int64())
    return numbers.to_numpy(zero_copy_only=False)


def truth(array: pa.Array) -> Array:
    """Booleans of Arrow as those of NumPy, false where nothing is known."""
    return pc.fill_null(array, False).to_numpy(zero_copy_only=False).astype(bool)
