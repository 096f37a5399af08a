"""Dates as text, in the order of year, month and day that the first rows show.

A column of text holds dates if all of its cells are dates in one order, or nearly all of many: the
others are then missing. ISO dates need nothing; other forms are read with pyarrow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from importlib.util import find_spec
from itertools import islice
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from ..shapes import OneOf
from .cells import Cells, ValueProfile, local_time, seconds
from .date import SHAPE, Date, EncodedDate, iso_time, order_of
from .kind import ColumnKind

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class TextDateSettings:
    """How many cells must be dates for text to be read as dates."""

    looked_at: int = 100  # different cells, of which half must be dates, or none is looked for
    several: int = 20  # different cells; of fewer, all must be dates
    mostly: float = 0.9  # of the cells: the others are missing


SETTINGS = TextDateSettings()


class ReadDates(NamedTuple):
    """A column of text as dates."""

    order: str  # of year, month and day
    strays: int  # cells that are not dates
    example: str  # one of them; or a date whose day and month nothing tells apart

    @property
    def ambiguous(self) -> bool:
        """Whether day and month could be exchanged in all of them."""
        return bool(self.example) and not self.strays


@dataclass(frozen=True)
class TextDate(Date):
    """Text that holds dates; new cells that hold none are missing."""

    name = "text date"
    title = "dates as text"
    encoded_as: ClassVar[type[ColumnKind] | None] = Date
    encoded: ClassVar[type | None] = EncodedDate

    order: Annotated[str, OneOf("ymd", "dmy", "mdy")] = "ymd"

    @classmethod
    def recognise(cls, profile: ValueProfile, *, named: bool) -> Self | None:
        found = None if named else dates_among(profile)
        return None if found is None else cls(found.order)

    def code(self, cells: Cells, name: Any, *, trained: bool) -> Array:
        if cells.kind != "category":
            return super().code(cells, name, trained=trained)
        dates = _dates(list(map(str, cells.labels)), self.order)
        return cells.looked_up(np.append(seconds(dates), np.nan))


def dates_among(profile: ValueProfile) -> ReadDates | None:
    """Text of such cells as dates, if it holds any."""
    if not profile.is_text or profile.meant or not _may_be_dates(profile.counts):
        return None
    texts, times = list(profile.counts), np.array(list(profile.counts.values()))
    read = {order: _dates(texts, order) for order in _orders()}
    n = {order: int(times[~np.isnat(dates)].sum()) for order, dates in read.items()}
    dotted = any("." in text for text in texts[: SETTINGS.looked_at])
    order = order_of(n, dotted=dotted)
    strays = np.isnat(read[order])
    if n[order] < (1.0 if len(texts) <= SETTINGS.several else SETTINGS.mostly) * times.sum():
        return None
    doubted = strays
    if not strays.any() and not dotted and order == "mdy" and n["dmy"] == n["mdy"]:
        doubted = read["dmy"] != read["mdy"]
    example = texts[int(doubted.argmax())] if doubted.any() else ""
    return ReadDates(order, int(times[strays].sum()), example)


def look_like_dates(profile: ValueProfile) -> str:
    """One of the texts, if most of the first have the shape of a date."""
    dated = profile.is_text and not profile.meant
    texts = list(islice(profile.counts, SETTINGS.looked_at)) if dated else []
    shaped = [text for text in texts if re.match(SHAPE, text)]
    return shaped[0] if len(shaped) > len(texts) / 2 else ""


def _may_be_dates(counts: Mapping[Any, int]) -> bool:
    """Whether the first texts are such that it is worth reading all."""
    texts = list(islice(counts, SETTINGS.looked_at))
    if not texts or all(text.replace(".", "", 1).isdigit() for text in texts):
        return False  # numbers such as 20261117 may be anything
    dates = (_dates(texts, order) for order in _orders())
    return any(2 * np.isnat(found).sum() <= len(texts) for found in dates)


def _orders() -> tuple[str, ...]:
    return ("ymd", "dmy", "mdy") if find_spec("pyarrow") else ("ymd",)


def _dates(texts: Sequence[str], order: str) -> Array:
    """Dates, in Greenwich time where a cell gives an offset; NaT where a text holds none."""
    iso = [_iso(text) for text in texts] if order == "ymd" else [None] * len(texts)
    dates = np.array([np.datetime64("NaT") if x is None else x for x in iso], "datetime64[us]")
    rest = np.flatnonzero(np.isnat(dates))
    if len(rest) and find_spec("pyarrow"):
        import pyarrow as pa

        from .date_text import date_cells

        cells = date_cells(pa.array([texts[i].strip() for i in rest.tolist()], pa.string()))
        dates[rest] = np.where(cells.fit(order), cells.values[order], np.datetime64("NaT", "us"))
    return dates


def _iso(text: str) -> np.datetime64 | None:
    """A date as 2026-11-17, perhaps with a time."""
    time = iso_time(text)
    if time is None:
        return None
    try:
        return local_time(time.astimezone(UTC) if time.tzinfo else time)
    except OverflowError:  # 9999-12-31T23:59:59-05:00, which pyarrow reads
        return None
