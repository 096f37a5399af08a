"""Data frames as matrices of numbers: categories by their codes, dates in seconds, gaps as NaN.

What each column holds is decided by the first rows, from types alone: categories are columns of
text and those whose type says so (or that `categorical_features` names), whatever their values.
Where it is categories in some rows and numbers in others, its numbers are categories, too: the same
value is the same category, whatever type carries it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from numbers import Integral, Number, Real
from typing import Any

import numpy as np

from ..errors import IdentifierWarning, InputError, PrecisionWarning, UnseenWarning, warn
from ..features.encoding import ColumnKind

Array = np.ndarray[Any, Any]

LIBRARIES = ("pandas", "polars", "pyarrow")
DISTINCT = 0.9  # of the rows: text with more different values is an identifier
CHUNK_ROWS = 1024  # rows whose columns are put side by side while they stay in cache
SEVERAL = 20  # rows, from which on a column may be recognised as an identifier
MANY = 1000  # rows, from which on whole numbers that all differ are one
MOST_UNSEEN = 0.5  # of the values, that may be categories which came late, as rare ones do
LARGE = 2.0**53  # from which on a float may stand for several whole numbers
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:$|[T ])")  # the day, perhaps with a time


@dataclass(frozen=True, slots=True)
class Cells:
    """A column as numbers: as they are, in seconds, or as positions in a list of labels."""

    kind: str  # "number", "date" or "category"
    values: Array  # NaN where missing
    labels: Sequence[Any] = ()
    whole: bool = False  # whether its type says whole numbers
    exact: bool = False  # whether its cells may be more than floats: of more digits, or booleans


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What is known of a column from some of its rows: a monoid."""

    kinds: frozenset[str]  # those of `Cells`; one in rows of one type
    n: int  # values
    counts: Counter[Any]  # of labels
    low: float = np.inf
    high: float = -np.inf
    distinct: bool = False  # whole numbers that all differ
    rounded: bool = False  # numbers with more digits than floats

    @classmethod
    def of(cls, cells: Cells, rows: Any) -> ColumnProfile:
        """The profile of the cells of some rows."""
        values = cells.values[rows]
        values = values[~np.isnan(values)]
        n, kinds = len(values), frozenset([cells.kind])
        if cells.kind == "category":
            counts = np.bincount(values.astype(np.intp), minlength=len(cells.labels))
            present = {k: int(n) for k, n in zip(cells.labels, counts, strict=True) if n}
            return cls(kinds, n, Counter(present))
        rounded = bool(cells.exact and n and abs(values).max() >= LARGE)
        if not n or not cells.whole:
            return cls(kinds, n, Counter(), rounded=rounded)
        low, high = float(values.min()), float(values.max())
        # For most columns the range decides, or the first values.
        may = high - low >= n - 1 and len(np.unique(values[:MANY])) == min(n, MANY)
        distinct = may and len(np.unique(values)) == n
        return cls(kinds, n, Counter(), low, high, distinct, rounded)

    def __add__(self, other: ColumnProfile) -> ColumnProfile:
        if not self.n or not other.n:
            return self if self.n else other
        apart = self.high < other.low or other.high < self.low
        return ColumnProfile(
            self.kinds | other.kinds,
            self.n + other.n,
            self.counts + other.counts,
            min(self.low, other.low),
            max(self.high, other.high),
            self.distinct and other.distinct and apart,
            self.rounded or other.rounded,
        )

    def decide(self, *, named: bool) -> ColumnKind:
        """What the column holds; one that `categorical_features` names is no identifier."""
        if not self.n:
            return ColumnKind("empty")
        many = self.n >= SEVERAL and not named
        if "category" in self.kinds:
            if many and len(self.counts) > DISTINCT * self.n:
                reason = f"text with {len(self.counts)} different values in {self.n} rows"
                return ColumnKind("left out", None, reason)
            return ColumnKind("category", tuple(sorted(self.counts, key=_order)))
        if many and self.distinct and self.high - self.low < self.n:
            return ColumnKind("left out", None, "it only numbers the rows")
        if many and self.distinct and self.n >= MANY:
            return ColumnKind("left out", None, "whole numbers that all differ")
        (kind,) = self.kinds
        return ColumnKind(kind)


def is_frame(X: Any) -> bool:
    """Whether X is a table with a type for each column."""
    return _library(X) in LIBRARIES and hasattr(type(X), "columns")


def is_arrow(X: Any) -> bool:
    """Whether X is a table that NumPy cannot read."""
    return _library(X) == "pyarrow"


def rows_of(X: Any) -> Any:
    """X, or the rows of a query: of a polars LazyFrame, a DuckDB relation or the like."""
    library = _library(X)
    if library == "polars" and hasattr(X, "collect_schema") and hasattr(X, "collect"):
        return X.collect()
    if library in LIBRARIES or not hasattr(X, "__arrow_c_stream__"):
        return X
    from pyarrow import RecordBatchReader

    return RecordBatchReader.from_stream(X).read_all()


def must_be_read(X: Any, kinds: Sequence[ColumnKind] | None) -> bool:
    """Whether scikit-learn alone cannot make numbers of X."""
    return is_frame(X) and (kinds is not None or is_arrow(X) or not is_numeric(X))


def with_names(X: Any) -> Any:
    """X as a table whose names scikit-learn can see, which a record batch is not."""
    if is_arrow(X) and (twice := [name for name, n in Counter(names_of(X)).items() if n > 1]):
        raise InputError(
            f"The columns of X must have different names; {twice[0]!r} comes "
            f"{names_of(X).count(twice[0])} times. Rename one of them."
        )
    if type(X).__name__ != "RecordBatch" or not is_arrow(X):
        return X
    import pyarrow as pa

    return pa.Table.from_batches([X])


def without_cells(X: Any) -> Any:
    """Made-up rows of pandas, with gaps in columns that do not hold numbers."""
    if _library(X) != "pandas" or not is_frame(X):
        return X
    X = X.copy()
    for j in [j for j, dtype in enumerate(_types(X)) if not _is_number(dtype)]:
        X.isetitem(j, [None] * len(X))
    return X


def is_mixed(X: Any) -> bool:
    """Whether a data frame has columns that are no floats or booleans."""
    whole = ("int", "uint", "decimal")
    return any(not _is_number(t) or str(t).lower().startswith(whole) for t in _types(X))


def is_numeric(X: Any) -> bool:
    """Whether all columns of a data frame are of types of numbers."""
    return all(map(_is_number, _types(X)))


def named_columns(categorical_features: Any, n: int, names: Sequence[Any] | None) -> Array:
    """Which columns a user calls categorical, by names, positions or a mask   (n,) bool."""
    named = np.zeros(n, dtype=bool)
    if categorical_features is None or isinstance(categorical_features, str):
        return named
    given = np.asarray(categorical_features)
    if given.ndim != 1 or given.dtype.kind not in "biuUO":
        raise InputError(
            "`categorical_features` must be 'from_dtype', None, or a list of names, positions or "
            f"booleans; got {categorical_features!r}."
        )
    if given.dtype.kind == "b":
        if len(given) != n:
            raise InputError(
                f"`categorical_features` as booleans must have one for each of {n} columns; "
                f"{len(given)} came."
            )
        return given
    if given.dtype.kind in "iu":
        strange: list[Any] = [int(j) for j in given if not -n <= j < n]
        if not strange:
            named[given] = True
    else:
        known = {name: j for j, name in enumerate([] if names is None else names)}
        strange = [name for name in given.tolist() if name not in known]
        named[[known[name] for name in given.tolist() if name in known]] = True
    if strange:
        raise InputError(
            f"`categorical_features` must name columns of X; {strange[0]!r} is none of "
            + (f"its {n} positions." if names is None else f"{some_names(list(names))}.")
        )
    return named


def profile(X: Any, named: Array, weight: Any = None) -> Profiles:
    """What is known of each column of a data frame, from rows that have weight."""
    rows = slice(None) if weight is None else np.asarray(weight) > 0
    return Profiles(tuple(ColumnProfile.of(cells, rows) for cells in _cells(X, named)))


@dataclass(frozen=True, slots=True)
class Profiles:
    """Profiles of all columns: a monoid."""

    columns: tuple[ColumnProfile, ...]

    @property
    def several(self) -> Array:
        """Which columns hold both numbers and categories, in rows of different types."""
        return np.array([len(column.kinds) > 1 for column in self.columns])

    def __add__(self, other: Profiles) -> Profiles:
        return Profiles(tuple(a + b for a, b in zip(self.columns, other.columns, strict=True)))

    def kinds(self, named: Array) -> tuple[ColumnKind, ...]:
        """What each column holds."""
        return tuple(p.decide(named=bool(n)) for p, n in zip(self.columns, named, strict=True))


def warn_left_out(kinds: Sequence[ColumnKind], names: Sequence[Any]) -> None:
    """Warn about columns that are left out, and raise if that is all."""
    gone = [(x, k.reason) for x, k in zip(names, kinds, strict=True) if k.kind == "left out"]
    listed = "; ".join(f"{name!r} ({reason})" for name, reason in gone[:5])
    listed += " and others" if gone[5:] else ""
    if len(gone) == len(kinds):
        raise InputError(
            f"Some column must be more than an identifier; none is: {listed}. Name those to be "
            "used in `categorical_features`."
        )
    if gone:
        warn(
            f"Columns that look like identifiers are left out: {listed}. To use one, name it in "
            "`categorical_features`, or pass numbers as floats.",
            IdentifierWarning,
        )


def check_dates(profiles: Profiles, names: Sequence[Any]) -> None:
    """Raise if a column holds dates in rows of one type, and something else in others."""
    for column, name in zip(profiles.columns, names, strict=True):
        others = sorted(column.kinds - {"date"})
        if "date" in column.kinds and others:
            raise InputError(
                f"A column must hold either dates or other values; {name!r} holds dates in some "
                f"rows and {'numbers' if others == ['number'] else 'text'} in others. Convert all "
                "of it to dates, or to text."
            )


def warn_rounded(columns: Sequence[Any]) -> None:
    """Warn about columns of numbers with more digits than floats, by name or position."""
    if columns:
        warn(
            f"Whole numbers beyond 2⁵³ are rounded to the nearest float, which may be the same "
            f"for several of them; such numbers are in the columns {some_names(list(columns))}. "
            "Subtract a constant from such a column first, or in a data frame convert it to text "
            "if its numbers are codes.",
            PrecisionWarning,
        )


def warn_unseen(X: Any, matrix: Array, kinds: Sequence[ColumnKind]) -> None:
    """Warn about columns of a data frame where most categories were not seen before."""
    unseen = [
        name
        for j, (name, kind) in enumerate(zip(names_of(X), kinds, strict=True))
        if kind.labels and np.mean(matrix[:, j] < 0) > MOST_UNSEEN
    ]
    if unseen:
        warn(
            f"Most values of {some_names(unseen)} are categories that the first rows did not hold, "
            "so they are all treated as one. If the rows are sorted, shuffle them; or draw the "
            "feature map from a sample of all rows, and fit its twin().",
            UnseenWarning,
        )


def read(X: Any, kinds: Sequence[ColumnKind] | None) -> Array:
    """A data frame as a matrix, for columns of these kinds; without them all are numbers."""
    names, trained = names_of(X), "" if kinds is None else ", as in training"
    kinds = [ColumnKind()] * len(names) if kinds is None else kinds
    named = np.array([kind.labels is not None for kind in kinds])
    columns = _cells(X, named)
    numbers = [t for t, kind in zip(_types(X), kinds, strict=True) if kind.kind != "category"]
    single = bool(numbers) and all(map(_is_single, numbers))
    matrix = np.empty((X.shape[0], len(columns)), np.float32 if single else np.float64)
    coded = [_coded(*given, trained) for given in zip(columns, kinds, names, strict=True)]
    for start in range(0, len(matrix), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        for j, values in enumerate(coded):
            matrix[rows, j] = values[rows]
    return matrix


def _coded(cells: Cells, kind: ColumnKind, name: Any, trained: str) -> Array:
    """The numbers of a column that is of this kind."""
    if kind.kind in ("left out", "empty"):
        return np.zeros(len(cells.values))
    if kind.labels is None:
        wanted = "date" if kind.kind == "date" else "number"
        if wanted == "date" and (days := _iso_dates(cells.labels)) is not None:
            missing = np.isnan(cells.values)
            return days[np.where(missing, len(cells.labels), cells.values).astype(np.intp)]
        if cells.kind != wanted and not np.isnan(cells.values).all():
            held = repr(cells.labels[0]) if len(cells.labels) else f"{cells.kind}s"
            raise InputError(
                f"Column {name!r} must hold {wanted}s{trained}; it holds {held}. "
                f"Convert it{', or leave the cells empty' if trained else ''}."
            )
        return cells.values
    codes = kind.codes
    text, theirs = ({isinstance(x, str) for x in labels} for labels in (codes, cells.labels))
    if len(text) == 1 and theirs and text.isdisjoint(theirs):
        words = "text" if text == {True} else "numbers"
        raise InputError(
            f"Column {name!r} must hold {words}, as in training; it holds {cells.labels[0]!r}. "
            "Convert it to the type it had."
        )
    positions = np.array([codes.get(label, -1) for label in cells.labels] + [np.nan])
    missing = np.isnan(cells.values)
    return positions[np.where(missing, len(cells.labels), cells.values).astype(np.intp)]


def _iso_dates(labels: Sequence[Any]) -> Array | None:
    """Text as dates in seconds, and NaN at the end; None unless all are dates as 2026-11-17."""
    found = []
    for label in labels:
        if not isinstance(label, str) or not ISO_DATE.match(label):
            return None
        try:
            found.append(_local(datetime.fromisoformat(label)))
        except ValueError:  # the 30th of February
            return None
    return np.append(_seconds(np.array(found)), np.nan) if found else None


def _order(label: Any) -> tuple[str, Any]:
    return ("" if isinstance(label, Real) else "text", label)


def _plain(labels: Sequence[Any]) -> list[Any]:
    """Labels as text, numbers or booleans, which can be saved."""
    found: list[Any] = []
    for label in labels:
        label = label.item() if isinstance(label, np.generic) else label
        if isinstance(label, timedelta):  # as a number, in a column of its own
            label = label.total_seconds()
        if isinstance(label, bool | str):
            found.append(label)
        elif isinstance(label, Integral):
            found.append(int(label))
        elif isinstance(label, Real | Decimal):  # of equal numbers, the one without a point
            whole = math.isfinite(label) and label % 1 == 0
            found.append(math.floor(label) if whole else float(label))
        else:
            found.append(str(label))
    return found


# -------------------------------------------------------------------- the three libraries


def names_of(X: Any) -> list[Any]:
    """The names of a data frame's columns."""
    return list(X.schema.names if is_arrow(X) else X.columns)


def _types(X: Any) -> list[Any]:
    return list(X.schema.types if is_arrow(X) else X.dtypes)


def _library(X: Any) -> str:
    """The library that its type, or one from which that derives, is of."""
    modules = [base.__module__.partition(".")[0] for base in type(X).__mro__]
    return next((module for module in modules if module in LIBRARIES), modules[0])


def _is_number(dtype: Any) -> bool:
    """Whether a type is one of numbers or booleans."""
    library = _library(dtype)
    if library == "polars":
        import polars as pl

        return dtype.is_numeric() or dtype == pl.Boolean
    if library == "pyarrow":
        from pyarrow import types

        of = (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal)
        return any(is_one(dtype) for is_one in of)
    return getattr(dtype, "kind", "O") in "biuf" and str(dtype) != "category"


def _is_single(dtype: Any) -> bool:
    """Whether a type has no more than single precision."""
    return str(dtype).lower() in ("float32", "float16", "float", "halffloat")


def _cells(X: Any, named: Array) -> list[Cells]:
    """The columns of a data frame as numbers."""
    read_one = {"pandas": _pandas, "polars": _polars, "pyarrow": _arrow}[_library(X)]
    columns, types = [], _types(X)
    for j, name in enumerate(names_of(X)):
        column = _column(X, j, name)
        try:
            cells = read_one(column)
            if named[j] and cells.kind == "number" and (cells.exact or str(types[j]) == "object"):
                cells = _exact(column)
        except (TypeError, ValueError, OverflowError, NotImplementedError) as error:
            raise InputError(
                f"Columns must hold numbers, booleans, dates or text; {name!r} holds "
                f"{types[j]}. Convert it, or leave it out."
            ) from error
        if named[j] and cells.kind != "category":
            values, positions = np.unique(cells.values, return_inverse=True)
            missing = np.isnan(values)
            codes = np.where(missing[positions], np.nan, positions)
            cells = Cells("category", codes, _plain(values[~missing]))
        elif cells.kind == "category" and not isinstance(cells.labels, list):
            cells = Cells("category", cells.values, _plain(cells.labels))
        columns.append(cells)
    return columns


def _column(X: Any, j: int, name: Any) -> Any:
    """A column by its position, since names may come twice."""
    if _library(X) == "pandas":
        return X.iloc[:, j]
    return X.column(j) if is_arrow(X) else X[name]


def _exact(column: Any) -> Cells:
    """Numbers as categories, also those that are beyond the precision of floats."""
    if _library(column) == "pandas":
        import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package

        codes, labels = pd.factorize(column)
        return Cells("category", np.where(codes < 0, np.nan, codes), _plain(labels))
    column = column.to_arrow() if _library(column) == "polars" else column
    column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    encoded = column.dictionary_encode()
    return Cells("category", _codes(encoded), _plain(encoded.dictionary.to_pylist()))


def _pandas(column: Any) -> Cells:
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.ArrowDtype):
        import pyarrow as pa

        return _arrow(pa.array(column))
    if isinstance(dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy().astype(np.float64)
        return Cells("category", np.where(codes < 0, np.nan, codes), column.cat.categories)
    if pd.api.types.is_datetime64_any_dtype(dtype):
        local = column.dt.tz_localize(None) if getattr(dtype, "tz", None) is not None else column
        return Cells("date", _seconds(local.to_numpy("datetime64[us]")))
    if pd.api.types.is_timedelta64_dtype(dtype):
        return Cells("number", column.dt.total_seconds().to_numpy(np.float64))
    if getattr(dtype, "kind", "O") in "biuf":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return Cells("number", values, whole=dtype.kind in "iu", exact=dtype.kind in "iub")
    if getattr(dtype, "kind", "O") not in "OUST":
        raise TypeError(dtype)
    codes, labels = pd.factorize(column)
    if all(isinstance(label, Number) for label in labels):  # numbers kept as objects
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        whole = (label for label in labels if isinstance(label, Integral | Decimal))
        return Cells("number", values, exact=any(abs(float(label)) >= LARGE for label in whole))
    if all(isinstance(label, timedelta) for label in labels):
        seconds = np.array([label.total_seconds() for label in labels] + [np.nan])
        return Cells("number", seconds[codes])
    if all(isinstance(label, date) for label in labels):
        # Cell by cell: times that are equal in different time zones share a label.
        local = [
            _local(cell) if code >= 0 else None for cell, code in zip(column, codes, strict=True)
        ]
        return Cells("date", _seconds(np.array(local, "datetime64[us]")))
    return Cells("category", np.where(codes < 0, np.nan, codes), labels)


def _local(cell: date) -> np.datetime64:
    """A date, or a time by the clock of its own place."""
    local = cell.replace(tzinfo=None) if isinstance(cell, datetime) else cell
    return np.datetime64(local, "us")


def _polars(column: Any) -> Cells:
    import polars as pl

    dtype = column.dtype
    if dtype.is_numeric() or dtype == pl.Boolean or dtype == pl.Null:
        values = column.cast(pl.Float64).to_numpy()
        exact = not dtype.is_float()
        return Cells("number", values, whole=dtype.is_integer(), exact=exact)
    if dtype == pl.Datetime or dtype == pl.Date:
        local = column.dt.replace_time_zone(None) if dtype == pl.Datetime else column
        return Cells("date", _seconds(local.cast(pl.Datetime("us")).to_numpy()))
    if dtype == pl.Duration:
        return Cells("number", column.dt.total_microseconds().cast(pl.Float64).to_numpy() / 1e6)
    try:
        text = column.cast(pl.String)
    except pl.exceptions.PolarsError as error:  # lists, arrays, bytes
        raise TypeError(dtype) from error
    labels = text.drop_nulls().unique().sort().to_list()
    codes = text.cast(pl.Enum(labels)).to_physical().cast(pl.Float64)
    return Cells("category", codes.to_numpy(), labels)


def _arrow(column: Any) -> Cells:
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        encoded = column.dictionary_decode().dictionary_encode()
        return Cells("category", _codes(encoded), _plain(encoded.dictionary.to_pylist()))
    if types.is_null(kind):
        return Cells("number", np.full(len(column), np.nan))
    if types.is_boolean(kind):
        column = column.cast(pa.int8())
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_decimal(kind):
        values = _numpy(pc.cast(column, pa.float64(), safe=False))
        return Cells("number", values, whole=types.is_integer(kind), exact=True)
    if types.is_floating(kind):
        return Cells("number", _numpy(column))
    if types.is_date(kind) or types.is_timestamp(kind):
        if types.is_timestamp(kind) and kind.tz is not None:
            column = pc.local_timestamp(column)
        return Cells("date", _seconds(_numpy(column.cast(pa.timestamp("us"), safe=False))))
    if types.is_duration(kind):
        return Cells("number", _numpy(column.cast(pa.duration("us")).cast(pa.int64())) / 1e6)
    encoded = column.cast(pa.string()).dictionary_encode()
    return Cells("category", _codes(encoded), encoded.dictionary.to_pylist())


def _codes(encoded: Any) -> Array:
    return _numpy(encoded.indices.cast("float64"))


def _numpy(column: Any) -> Array:
    return column.to_numpy(zero_copy_only=False)


def _seconds(dates: Array) -> Array:
    """Dates as seconds since 1970."""
    return np.where(np.isnat(dates), np.nan, dates.astype("datetime64[us]").astype(np.int64) / 1e6)


def some_names(names: list[Any]) -> str:
    """The first few names, for a message."""
    return ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
