"""A column of pandas, polars or Arrow as numbers: dates in seconds, labels by their codes.

What is known of such cells (`ValueProfile`) adds up over rows, and decides of which kind a column
is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from numbers import Integral, Number, Real
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

LARGE = 2.0**53  # from which on a float may stand for several whole numbers


@dataclass(frozen=True, slots=True)
class Cells:
    """A column as numbers: as they are, in seconds, or as positions in a list of labels."""

    kind: str  # "number", "date" or "category", by the type of the column
    values: Array  # NaN where missing
    labels: Sequence[Any] = ()
    whole: bool = False  # whether its type says whole numbers
    exact: bool = False  # whether its cells may be more than floats: of more digits, or booleans
    is_text: bool = False  # whether labels are cells of text, which no type calls categories
    meant: str = ""  # "text" as it is spelt, or "words", where somebody says so

    def looked_up(self, table: Array) -> Array:
        """What a table has for the label of each cell, and at its end for missing ones."""
        missing = np.isnan(self.values)
        return table[np.where(missing, len(self.labels), self.values).astype(np.intp)]


@dataclass(frozen=True, slots=True)
class ValueProfile:
    """What is known of the values of a column from some of its rows."""

    kinds: frozenset[str]  # those of `Cells`; one in rows of one type
    n: int  # values
    counts: Counter[Any]  # of labels
    low: float = np.inf  # of numbers and dates
    high: float = -np.inf
    distinct: bool = False  # whole numbers that all differ
    rounded: bool = False  # numbers with more digits than floats
    direction: int = 0  # 1 if each whole number is above the one before, −1 if below
    is_text: bool = False  # whether all are text, which no type calls categories
    meant: str = ""  # what somebody says that its text is, as in `Cells`

    @classmethod
    def of(cls, cells: Cells, rows: Any = slice(None)) -> ValueProfile:
        """The profile of the cells of some rows."""
        values = cells.values[rows]
        values = values[~np.isnan(values)]
        n, kinds = len(values), frozenset([cells.kind])
        if cells.kind == "category":
            counts = np.bincount(values.astype(np.intp), minlength=len(cells.labels))
            present = {k: int(n) for k, n in zip(cells.labels, counts, strict=True) if n}
            return cls(kinds, n, Counter(present), is_text=cells.is_text, meant=cells.meant)
        low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
        rounded = cells.exact and max(-low, high) >= LARGE
        distinct, direction = _order(values, high - low) if cells.whole else (False, 0)
        return cls(kinds, n, Counter(), low, high, distinct, rounded, direction)

    def __add__(self, other: ValueProfile) -> ValueProfile:
        if not self.n or not other.n:
            return self if self.n else other
        direction = int(self.high < other.low) - int(other.high < self.low)
        return ValueProfile(
            self.kinds | other.kinds,
            self.n + other.n,
            self.counts + other.counts,
            min(self.low, other.low),
            max(self.high, other.high),
            self.distinct and other.distinct and direction != 0,
            self.rounded or other.rounded,
            direction if self.direction == direction == other.direction else 0,
            self.is_text and other.is_text,
            self.meant or other.meant,
        )


def _order(values: Array, width: float) -> tuple[bool, int]:
    """Whether numbers all differ, and whether each is above (1) or below (−1) the one before."""
    # For most columns the range decides, or the first values.
    first = values[:1000]
    if not len(first) or width < len(values) - 1 or len(np.unique(first)) < len(first):
        return False, 0
    if len(np.unique(values)) < len(values):
        return False, 0
    steps = np.sign(np.diff(values))
    return True, int(steps[0]) if len(steps) and (steps == steps[0]).all() else 0


@dataclass(frozen=True, slots=True)
class Profiles:
    """Profiles of all columns: a monoid."""

    columns: tuple[ValueProfile, ...]

    @property
    def several(self) -> Array:
        """Which columns hold both numbers and categories, in rows of different types."""
        return np.array([len(column.kinds) > 1 for column in self.columns])

    def __add__(self, other: Profiles) -> Profiles:
        return Profiles(tuple(a + b for a, b in zip(self.columns, other.columns, strict=True)))


def cells_of(column: Any, dtype: Any, library: str, *, named: bool) -> Cells:
    """The cells of a column of a library, as categories if the user names it so.

    TypeError, ValueError, OverflowError or NotImplementedError if they cannot be numbers.
    """
    cells = READERS[library](column)
    if named and cells.kind == "number" and (cells.exact or str(dtype) == "object"):
        cells = _exact(column, library)
    if named and cells.kind != "category":
        values, positions = np.unique(cells.values, return_inverse=True)
        missing = np.isnan(values)
        codes = np.where(missing[positions], np.nan, positions)
        return Cells("category", codes, _plain(values[~missing]))
    return cells


def _categories(codes: Array, labels: Sequence[Any]) -> Cells:
    """Cells of codes, negative where missing."""
    return Cells("category", np.where(codes < 0, np.nan, codes), _plain(labels))


def _plain(labels: Sequence[Any]) -> list[Any]:
    """Labels as text, numbers or booleans, which can be saved."""
    return list(map(_plain_label, labels))


def _plain_label(label: Any) -> Any:
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, timedelta):  # as a number, in a column of its own
        label = label.total_seconds()
    if isinstance(label, bool | str):
        return label
    if isinstance(label, Integral):
        return int(label)
    if isinstance(label, Real | Decimal):  # of equal numbers, the one without a point
        whole = math.isfinite(label) and label % 1 == 0
        return math.floor(label) if whole else float(label)
    return str(label)


def _exact(column: Any, library: str) -> Cells:
    """Numbers as categories, also those that are beyond the precision of floats."""
    if library == "pandas":
        import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package

        codes, labels = pd.factorize(column)
        return _categories(codes, labels)
    column = column.to_arrow() if library == "polars" else column
    column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    return _dictionary(column.dictionary_encode())


def _pandas(column: Any) -> Cells:
    import pandas as pd

    dtype = column.dtype
    letter = getattr(dtype, "kind", "O")
    if isinstance(dtype, pd.ArrowDtype):
        import pyarrow as pa

        return arrow_cells(pa.array(column))
    if isinstance(dtype, pd.CategoricalDtype):
        return _categories(column.cat.codes.to_numpy().astype(np.float64), column.cat.categories)
    if isinstance(dtype, pd.PeriodDtype):
        return Cells("date", seconds(column.dt.to_timestamp().to_numpy("datetime64[us]")))
    if pd.api.types.is_datetime64_any_dtype(dtype):
        local = column.dt.tz_localize(None) if getattr(dtype, "tz", None) is not None else column
        return Cells("date", seconds(local.to_numpy("datetime64[us]")))
    if pd.api.types.is_timedelta64_dtype(dtype):
        return Cells("number", column.dt.total_seconds().to_numpy(np.float64))
    if letter in "biuf":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return Cells("number", values, whole=letter in "iu", exact=letter in "iub")
    if letter not in "OUST":
        raise TypeError(dtype)
    return _objects(column)


def _objects(column: Any) -> Cells:
    """A column of pandas whose cells are objects of Python."""
    import pandas as pd

    codes, labels = pd.factorize(column)

    def hold(kind: type) -> bool:
        return all(isinstance(label, kind) for label in labels)

    if hold(Number):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        whole = (label for label in labels if isinstance(label, Integral | Decimal))
        return Cells("number", values, exact=any(abs(float(label)) >= LARGE for label in whole))
    if hold(timedelta):
        lengths = np.array([label.total_seconds() for label in labels] + [np.nan])
        return Cells("number", lengths[codes])
    if hold(date):
        # Cell by cell: times that are equal in different time zones share a label.
        pairs = zip(column, codes, strict=True)
        local = [local_time(cell) if code >= 0 else None for cell, code in pairs]
        return Cells("date", seconds(np.array(local, "datetime64[us]")))
    is_text = all(isinstance(label, str) for label in labels)
    return replace(_categories(codes, labels), is_text=is_text)


def _polars(column: Any) -> Cells:
    import polars as pl

    dtype = column.dtype
    if dtype.is_numeric() or dtype == pl.Boolean or dtype == pl.Null:
        values = column.cast(pl.Float64).to_numpy()
        return Cells("number", values, whole=dtype.is_integer(), exact=not dtype.is_float())
    if dtype == pl.Datetime or dtype == pl.Date:
        local = column.dt.replace_time_zone(None) if dtype == pl.Datetime else column
        return Cells("date", seconds(local.cast(pl.Datetime("us")).to_numpy()))
    if dtype == pl.Duration:
        return Cells("number", column.dt.total_microseconds().cast(pl.Float64).to_numpy() / 1e6)
    try:
        text = column.cast(pl.String)
    except pl.exceptions.PolarsError as error:  # lists, arrays, bytes
        raise TypeError(dtype) from error
    labels = text.drop_nulls().unique().sort().to_list()
    codes = text.cast(pl.Enum(labels)).to_physical().cast(pl.Float64)
    return Cells("category", codes.to_numpy(), labels, is_text=dtype == pl.String)


def arrow_cells(column: Any) -> Cells:
    """The cells of a column of Arrow."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return _dictionary(column.dictionary_decode().dictionary_encode())
    if types.is_null(kind):
        return Cells("number", np.full(len(column), np.nan))
    if types.is_floating(kind):
        return Cells("number", _numpy(column))
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_decimal(kind):
        column = column.cast(pa.int8()) if types.is_boolean(kind) else column
        values = _numpy(pc.cast(column, pa.float64(), safe=False))
        return Cells("number", values, whole=types.is_integer(kind), exact=True)
    if types.is_date(kind) or types.is_timestamp(kind):
        column = pc.local_timestamp(column) if getattr(kind, "tz", None) is not None else column
        return Cells("date", seconds(_numpy(column.cast(pa.timestamp("us"), safe=False))))
    if types.is_duration(kind):
        return Cells("number", _numpy(column.cast(pa.duration("us")).cast(pa.int64())) / 1e6)
    cells = _dictionary(column.cast(pa.string()).dictionary_encode())
    return replace(cells, is_text=types.is_string(kind) or types.is_large_string(kind))


def _dictionary(encoded: Any) -> Cells:
    """A column of Arrow with a dictionary."""
    codes = _numpy(encoded.indices.cast("float64"))
    return Cells("category", codes, _plain(encoded.dictionary.to_pylist()))


def _numpy(column: Any) -> Array:
    return column.to_numpy(zero_copy_only=False)


def local_time(cell: date) -> np.datetime64:
    """A date, or a time by the clock of its own place."""
    local = cell.replace(tzinfo=None) if isinstance(cell, datetime) else cell
    return np.datetime64(local, "us")


def seconds(dates: Array) -> Array:
    """Dates as seconds since 1970."""
    return np.where(np.isnat(dates), np.nan, dates.astype("datetime64[us]").astype(np.int64) / 1e6)


def python_value(cell: Any) -> Any:
    """A cell of Arrow; dates that Python has no numbers for as they are counted."""
    try:
        return cell.as_py()
    except (OverflowError, ValueError):
        return f"{cell.value} ({cell.type})"


READERS = {"pandas": _pandas, "polars": _polars, "pyarrow": arrow_cells}
