"""What the columns of X hold: what users ask for, what the first rows show, what users are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..columns.category import Category
from ..columns.cells import Profiles
from ..columns.frames import is_mixed, is_numeric, names_of
from ..columns.kind import ColumnKind
from ..columns.kinds import of_matrix, recognise
from ..columns.number import Number
from ..columns.text_date import TextDate, dates_among, look_like_dates
from ..columns.text_number import TextNumber, numbers_among
from ..columns.unused import Identifier
from ..errors import (
    DateWarning,
    IdentifierWarning,
    InputError,
    NumberWarning,
    PrecisionWarning,
    UnseenWarning,
    warn,
)
from ..shapes import Array

MOST_UNSEEN = 0.5  # of the values, that may be categories which came late, as rare ones do


def kinds_of_matrix(categorical_features: Any, X: Any) -> tuple[ColumnKind, ...] | None:
    """What each column of a matrix holds, as the user says; None if it is no matrix."""
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:
        return None  # which will be refused
    named = named_columns(categorical_features, shape[1], None)
    return tuple(Category() if is_named else Number() for is_named in named)


def kinds_of_frames(
    estimator: Any, frames: Sequence[Any], profiles: Callable[[Array], Profiles]
) -> tuple[ColumnKind, ...] | None:
    """What each column of the first rows holds, in frames alike; None if all hold numbers."""
    wanted, names = getattr(estimator, "categorical_features", None), names_of(frames[0])
    by_type = wanted is None or isinstance(wanted, str)
    takes_categories = hasattr(estimator, "categorical_features")
    if by_type and not (takes_categories and any(map(is_mixed, frames))):
        return None
    kinds = _recognised(names, named_columns(wanted, len(names), names), profiles)
    if wanted is None:
        _refuse_categories(kinds, names)
    plain = all(map(is_numeric, frames)) and all(kind == Number() for kind in kinds)
    return None if plain else of_matrix(kinds)


def _recognised(
    names: list[Any], named: Array, profiles: Callable[[Array], Profiles]
) -> tuple[ColumnKind, ...]:
    """What each column of data frames holds; users are told of what is left out or rounded."""
    profiled = profiles(named)
    _check_dates(profiled, names)
    if profiled.several.any():  # numbers of one type are categories in another
        profiled = profiles(named | profiled.several)
    pairs = zip(profiled.columns, named, strict=True)
    kinds = tuple(recognise(column, named=bool(is_named)) for column, is_named in pairs)
    _warn_left_out(kinds, names)
    _warn_of_dates(kinds, profiled, named, names)
    _warn_of_numbers(kinds, profiled, named, names)
    columns = zip(names, kinds, profiled.columns, strict=True)
    warn_rounded([name for name, kind, column in columns if kind == Number() and column.rounded])
    return kinds


def named_columns(categorical_features: Any, n: int, names: Sequence[Any] | None) -> Array:
    """Which columns a user calls categorical, by names, positions or a mask   (n,) bool."""
    named = np.zeros(n, dtype=bool)
    if categorical_features is None or isinstance(categorical_features, str):
        return named
    columns = np.asarray(categorical_features)
    if columns.ndim != 1 or columns.dtype.kind not in "biuUO":
        raise InputError(
            "`categorical_features` must be 'from_dtype', None, or a list of names, positions or "
            f"booleans; got {categorical_features!r}."
        )
    if columns.dtype.kind != "b":
        named[_positions(columns, n, names)] = True
        return named
    if len(columns) != n:
        raise InputError(
            f"`categorical_features` as booleans must have one for each of {n} columns; "
            f"{len(columns)} came."
        )
    return columns


def _positions(columns: Array, n: int, names: Sequence[Any] | None) -> list[int]:
    """The positions of columns, which are named or counted, also from the last."""
    if columns.dtype.kind in "iu":
        known = {j: j for j in range(-n, n)}
    else:
        known = {name: j for j, name in enumerate(names or ())}
    strange = [column for column in columns.tolist() if column not in known]
    if strange:
        raise InputError(
            f"`categorical_features` must name columns of X; {strange[0]!r} is none of "
            + (f"its {n} positions." if names is None else f"{some_names(list(names))}.")
        )
    return [known[column] for column in columns.tolist()]


def _refuse_categories(kinds: Sequence[ColumnKind], names: Sequence[Any]) -> None:
    """Raise if columns hold categories, which the user does not want."""
    texts = [x for x, kind in zip(names, kinds, strict=True) if isinstance(kind, Category)]
    if texts:
        raise InputError(
            "With categorical_features=None all columns must be numbers or dates; "
            f"{some_names(texts)} hold text or categories. Use 'from_dtype', or leave them out."
        )


def _warn_left_out(kinds: Sequence[ColumnKind], names: Sequence[Any]) -> None:
    """Warn about columns that are left out, and raise if that is all."""
    pairs = zip(names, kinds, strict=True)
    left_out = [(name, kind.reason) for name, kind in pairs if isinstance(kind, Identifier)]
    listed = "; ".join(f"{name!r} ({reason})" for name, reason in left_out[:5])
    listed += " and others" if left_out[5:] else ""
    if len(left_out) == len(kinds):
        raise InputError(
            f"Some column must be more than an identifier; none is: {listed}. Name those to be "
            "used in `categorical_features`."
        )
    if left_out:
        warn(
            f"Columns that look like identifiers are left out: {listed}. To use one, name it in "
            "`categorical_features`, or pass numbers as floats.",
            IdentifierWarning,
        )


def _warn_of_dates(
    kinds: Sequence[ColumnKind], profiles: Profiles, named: Array, names: Sequence[Any]
) -> None:
    """Warn about dates as text that are read in doubt, in part, or not at all."""
    for name, kind, column, asked in zip(names, kinds, profiles.columns, named, strict=True):
        if asked:
            continue
        found = dates_among(column) if isinstance(kind, TextDate) else None
        if found is None and (example := look_like_dates(column)):
            warn(
                f"Column {name!r} looks like dates, such as {example!r}, but is not read as dates: "
                "too few of its cells are dates in one order, with a year of four digits, or "
                "pyarrow is not installed. Convert it to dates, or name it in "
                "`categorical_features`.",
                DateWarning,
            )
        elif found is not None and found.strays:
            warn(
                f"Column {name!r} holds dates as text, but {found.strays} of its cells are not, "
                f"such as {found.example!r}. They count as missing. To use the column as "
                "categories, name it in `categorical_features`.",
                DateWarning,
            )
        elif found is not None and found.ambiguous:
            warn(
                f"Dates in column {name!r}, such as {found.example!r}, could have the day or the "
                "month first; they are read with the month first. If that is wrong, convert the "
                "column to dates.",
                DateWarning,
            )


def _warn_of_numbers(
    kinds: Sequence[ColumnKind], profiles: Profiles, named: Array, names: Sequence[Any]
) -> None:
    """Warn about numbers as text that are read in doubt, in part, or not at all."""
    for name, kind, column, asked in zip(names, kinds, profiles.columns, named, strict=True):
        if asked or not isinstance(kind, TextNumber | Category | Identifier):
            continue
        reading = numbers_among(column)
        if reading is not None and (told := reading.told(name)):
            remedy = (
                "To use the column as categories,"
                if reading.is_read
                else "The column is not read as numbers. If it holds numbers, convert it; if not,"
            )
            warn(f"{told} {remedy} name it in `categorical_features`.", NumberWarning)


def _check_dates(profiles: Profiles, names: Sequence[Any]) -> None:
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
        for j, (name, kind) in enumerate(zip(names_of(X), kinds, strict=False))
        if kind.is_labelled and np.mean(matrix[:, j] < 0) > MOST_UNSEEN
    ]
    if unseen:
        warn(
            f"Most values of {some_names(unseen)} are categories that the first rows did not hold, "
            "so they are all treated as one. If the rows are sorted, shuffle them; or draw the "
            "feature map from a sample of all rows, and fit its twin().",
            UnseenWarning,
        )


def some_names(names: list[Any]) -> str:
    """The first few names, for a message."""
    return ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
