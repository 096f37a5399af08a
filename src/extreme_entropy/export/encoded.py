"""x ↦ encoded columns as ONNX operators: one function for each part of an encoding (`columns`).

Rows come as one matrix of numbers, or column by column (n, 1). A gap is NaN in numbers and an empty
string in text; a date is seconds since 1970.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns.category import Category, EncodedCategory
from ..columns.date import DAY, EncodedDate
from ..columns.encoding import Encoding
from ..columns.kind import ColumnKind
from ..columns.number import EncodedGaps, EncodedNumbers
from ..columns.statistics import N_FOLDS
from ..columns.words import EncodedWords, FreeText, spellings
from ..errors import InputError
from ..shapes import Array
from .graph import ML, MORE, TEXT, Graph, Operand

WIDE = np.dtype(np.float64)  # of dates, too, whose seconds single precision cannot hold
UNIX_EPOCH = 719_468.0  # days from 1 March of the year 0, of which each era of 400 years has
ERA = 146_097.0  # days
# `words.WORD` in the syntax of RE2, whose \\w is of ASCII alone
ONE_WORD = r"[\p{L}\p{Nl}\p{No}]+|\p{Nd}+"


@dataclass(frozen=True, slots=True)
class InputColumn:
    """A column that is an input of its own."""

    position: int
    name: str
    dtype: np.dtype[Any]


def is_coded(encoding: Encoding) -> bool:
    """Whether some column cannot be part of a matrix of numbers."""
    return any(kind.needs_frame for kind in encoding.kinds or ())


def columns_of(encoding: Encoding, names: Sequence[str], dtype: np.dtype[Any]) -> list[InputColumn]:
    """The columns that are looked at, with the type that each has as an input."""
    kinds = encoding.table_kinds
    used = [(j, kind) for j, kind in enumerate(kinds) if kind.is_used]
    return [InputColumn(j, names[j], _type_of(kind, names[j], dtype)) for j, kind in used]


def _type_of(kind: ColumnKind, name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Numbers have this type, but those that it cannot hold double precision."""
    if isinstance(kind, FreeText):
        return TEXT
    if not isinstance(kind, Category):
        return WIDE if kind.needs_frame else dtype
    text = {isinstance(label, str) for label in kind.labels or ()}
    if len(text) > 1:
        raise InputError(
            f"A column of categories must hold either text or numbers to be exported to ONNX; "
            f"{name!r} holds both. Convert it to text, and fit again."
        )
    if text == {True}:
        return TEXT
    exact = all(float(dtype.type(label)) == label for label in kind.labels or ())
    return dtype if exact else WIDE


class Rows:
    """Columns of X in a graph, from one matrix or from an input for each."""

    def __init__(self, graph: Graph, matrix: str | None, columns: dict[int, str]) -> None:
        self._graph, self._matrix, self._columns = graph, matrix, columns

    def numbers(self, columns: Array, d: int) -> str:
        """Columns of numbers side by side, in double precision   (n, columns)."""
        g = self._graph
        if self._matrix is None:
            return g.beside(g.cast(self._columns[j], np.float64) for j in columns.tolist())
        matrix = g.cast(self._matrix, np.float64)
        every = np.array_equal(columns, np.arange(d))
        return matrix if every else g.columns(matrix, columns)

    def text(self, column: int) -> str:
        """A column that is an input of its own   (n, 1)."""
        return self._columns[column]


def encoded(graph: Graph, encoding: Encoding, rows: Rows) -> str:
    """Encoded columns, in double precision   (n, encoded)."""
    return graph.beside(FORMS[type(part)](graph, part, encoding, rows) for part in encoding.parts)


def _filled(g: Graph, columns: Array, encoding: Encoding, rows: Rows) -> str:
    """Numbers with what is typical where they are missing."""
    x = rows.numbers(columns, encoding.d)
    return g("Where", g("IsNaN", x), encoding.typical[columns], x)


def _numbers(g: Graph, part: EncodedNumbers, encoding: Encoding, rows: Rows) -> str:
    return _filled(g, part.columns, encoding, rows)


def _gaps(g: Graph, part: EncodedGaps, encoding: Encoding, rows: Rows) -> str:
    return g.cast(g("IsNaN", rows.numbers(part.columns, encoding.d)), np.float64)


def _date(g: Graph, part: EncodedDate, encoding: Encoding, rows: Rows) -> str:
    x = _filled(g, np.array([part.column]), encoding, rows)
    return g.beside(PARTS[name](g, x) for name in part.parts)


def _category(g: Graph, part: EncodedCategory, encoding: Encoding, rows: Rows) -> str:
    """The 0/1 columns and log-odds of a category   (n, size)."""
    k, values = len(part.values), part.values
    table = np.zeros((k + 2, part.size))  # a row for each value, for missing, for unseen
    own = np.flatnonzero(part.own >= 0)
    table[own, part.own[own]] = 1.0
    table[:, part.n_own :] = part.log_odds[:, N_FOLDS]
    kind = encoding.kinds[part.column] if encoding.kinds else None
    if isinstance(kind, Category) and kind.labels is not None:
        known = [kind.labels[int(value)] for value in values]
        if any(isinstance(label, str) for label in kind.labels):
            return _by_text(g, rows.text(part.column), known, table)
        values = np.array(known, dtype=float)
        strange = [label for label in known if float(label) != label]
        if strange:
            raise InputError(
                f"Categories that are numbers must be exact in double precision to be exported to "
                f"ONNX; column {rows.text(part.column)!r} holds {strange[0]}. Convert the "
                "column to text, and fit again."
            )
    x = rows.numbers(np.array([part.column]), encoding.d)
    missing, unseen = table[k], table[k + 1]
    result: Operand = unseen
    if k:
        hits = g.cast(g("Equal", x, values), np.float64)
        result = g("Add", g("MatMul", hits, table[:k] - unseen), unseen)
    return g("Where", g("IsNaN", x), missing, result)


def _by_text(g: Graph, x: str, known: list[str], table: Array) -> str:
    """The rows of a table that belong to texts; an empty one is a gap."""
    keys, places = list(known), list(range(len(known)))
    if "" not in known:
        keys, places = [*keys, ""], [*places, len(known)]
    elif (table[keys.index("")] != table[len(known)]).any():
        raise InputError(
            "In ONNX the empty string stands for a missing text, so it cannot be a category; "
            f"column {x!r} holds the empty string as a category. Replace it, with 'none' for "
            "example or with a missing value, and fit again."
        )
    place = g(
        "LabelEncoder",
        x,
        domain=ML,
        keys_strings=keys,
        values_int64s=places,
        default_int64=len(known) + 1,
    )
    return g("Gather", table, g("Reshape", place, np.array([-1])), axis=0)


def _words(g: Graph, part: EncodedWords, encoding: Encoding, rows: Rows) -> str:
    """The number of words of a text, and the evidence of those known   (n, 1 + outputs)."""
    kind = encoding.table_kinds[part.column]
    assert isinstance(kind, FreeText)
    k, typical = len(kind.words), encoding.typical[part.column]
    keys = [
        (form, place) for place, word in enumerate(kind.words) for form in sorted(spellings(word))
    ]
    texts = g.flat(rows.text(part.column))
    words = g(
        "Tokenizer", texts, domain=MORE, mark=0, mincharnum=1, pad_value="", tokenexp=ONE_WORD
    )
    places = g(
        "LabelEncoder",
        words,
        domain=ML,
        keys_strings=[*(form for form, _ in keys), ""],
        values_int64s=[*(place for _, place in keys), k + 1],
        default_int64=k,
    )
    is_word = g.cast(g("Not", g("Equal", places, np.array(k + 1))), np.float64)
    length = g.row_sums(is_word)
    length = g("Where", g("Equal", length, 0.0), typical, length)
    shape = g("Concat", g("Shape", texts), np.array([k + 2]), axis=0)
    none = g("Expand", 0.0, shape)
    held = g("ScatterElements", none, places, is_word, axis=1)
    held = g.columns(held, np.arange(k))
    first = g("LessOrEqual", g("CumSum", held, np.array(1)), float(kind.n_slots))
    held = g("Mul", held, g.cast(first, np.float64))
    n = g("Max", g.row_sums(held), 1.0)
    return g.beside([length, g("Div", g("MatMul", held, part.log_odds[:k, N_FOLDS]), n)])


def _days(g: Graph, x: str) -> str:
    return g("Div", x, DAY)


def _weekdays(g: Graph, x: str) -> str:
    return _modulo(g, g("Add", g("Floor", _days(g, x)), 3.0), 7.0)  # 1970 began on a Thursday


def _hours(g: Graph, x: str) -> str:
    return g("Div", _modulo(g, x, DAY), 3600.0)


def _months(g: Graph, x: str) -> str:
    """The month of the Gregorian calendar, counted in days since 1 March of the year 0."""
    whole = g.cast(g.cast(x, np.int64), np.float64)  # seconds, towards zero
    days = g("Add", g("Floor", _days(g, whole)), UNIX_EPOCH)
    day = _modulo(g, days, ERA)  # of the era

    def times(x: str, length: float) -> str:
        return g("Floor", g("Div", x, length))

    # Without its leap days each year of the era has 365 days.
    leap = g("Add", g("Sub", times(day, 1460.0), times(day, 36_524.0)), times(day, ERA - 1))
    year = times(g("Sub", day, leap), 365.0)
    before = g("Add", g("Mul", year, 365.0), g("Sub", times(year, 4.0), times(year, 100.0)))
    of_year = g("Sub", day, before)
    # Months from March on: 153 days for every five of them.
    since_march = times(g("Add", g("Mul", of_year, 5.0), 2.0), 153.0)
    return g("Add", _modulo(g, g("Add", since_march, 2.0), 12.0), 1.0)


def _modulo(g: Graph, x: str, length: float) -> str:
    """What is left of x beyond the last whole multiple of a length, never negative."""
    return g("Sub", x, g("Mul", g("Floor", g("Div", x, length)), length))


PARTS = {"days": _days, "month": _months, "weekday": _weekdays, "hour": _hours}
FORMS: dict[type, Callable[[Graph, Any, Encoding, Rows], str]] = {
    EncodedNumbers: _numbers,
    EncodedGaps: _gaps,
    EncodedDate: _date,
    EncodedCategory: _category,
    EncodedWords: _words,
}
