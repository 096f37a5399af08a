"""Which kind a column of a file is, decided by all of its cells, or by somebody who says so.

The cells of a typed file are of the kind its type says. A column of text is of the first kind that
all its cells are: numbers, true and false, dates in one order of day and month, text. Where nearly
all are numbers or dates, or the others are one word or two such as "unknown", these are taken for
missing; but where they look like codes, such as 98121-3032 among zip codes, or are of many kinds,
all is text. What was decided in doubt is said in a note, with the option that decides otherwise.

Memory is bounded: a column keeps at most so many values as the settings say.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from .cells import LARGE
from .date import order_of
from .date_text import ORDERS, date_cells, look_like_dates, truth
from .kinds import kind_called
from .number_text import NumberReading, NumberTally
from .text import NUMBER, Column
from .text_date import SETTINGS as DATES
from .unused import FILE_RULES, ONLY_NUMBERS

Array = np.ndarray[Any, Any]

EITHER = r"^[1-9]\d{0,2}\.\d{3}$"  # 1.234 may be a whole number
MAY_BE_DATE = r"^\d{1,4}[-/. ]|^[A-Za-z]{3,9}\.? \d|^\d{8}$"
FIRST = {"dmy": "the day first", "mdy": "the month first"}


@dataclass(frozen=True)
class RecognitionSettings:
    """What is kept of the cells of a column."""

    most_counted: int = 10_000  # different cells that are counted


SETTINGS = RecognitionSettings()


@dataclass(frozen=True, slots=True)
class ValueSample:
    """How often each value comes, as long as no more than `most` differ."""

    most: int
    counts: Mapping[str, int] = field(default_factory=dict)  # the first value alone, if full
    is_full: bool = False  # whether more differ

    def with_values(self, values: Mapping[str, int]) -> ValueSample:
        """The sample after further values."""
        if self.is_full or not values:
            return self
        counts = Counter(self.counts)
        counts.update(values)
        if len(counts) <= self.most:
            return replace(self, counts=counts)
        return ValueSample(self.most, {self.example or next(iter(values)): 1}, is_full=True)

    def __len__(self) -> int:
        """How many values differ, or one more than are kept."""
        return self.most + 1 if self.is_full else len(self.counts)

    @property
    def example(self) -> str:
        """The value that came first."""
        return next(iter(self.counts), "")


class Asked(NamedTuple):
    """How somebody wants a column to be read."""

    kind: str = ""  # the name of a kind, or "" where its cells are to decide
    order: str = ""  # of year, month and day in dates
    by_words: bool = False  # whether the words of text count even if there are few in a cell


class KindDecision(NamedTuple):
    """How a column is to be read."""

    column: Column
    note: str  # what was decided in doubt
    missing: int  # cells without a value
    reason: str  # why a model cannot use it; empty if it can


@dataclass(frozen=True)
class FileColumn:
    """A column of a file, and what is known of it so far."""

    name: str
    type: pa.DataType | None  # None where only its cells can tell
    asked: Asked
    decimal_commas: bool  # whether commas of the file are more likely decimal signs
    rows: int = 0
    missing: int = 0
    values: ValueSample = ValueSample(SETTINGS.most_counted)  # of text
    numbers: NumberTally = field(default_factory=NumberTally)  # how cells of text write numbers
    fits: Counter[str] = field(default_factory=Counter)  # cells of text that are of a kind or order
    first_odd: Mapping[str, tuple[int, str]] = field(default_factory=dict)  # not so: row, cell
    low: float = np.inf
    high: float = -np.inf
    first: float = np.nan  # value less the number of its row
    numbers_rows: bool = True  # whether it goes up by one from row to row
    padded: str = ""  # a cell of digits with a zero in front, as codes have it
    rounded: str = ""  # a whole number that no float is equal to

    @property
    def present(self) -> int:
        """Cells with a value."""
        return self.rows - self.missing

    @property
    def _is_text(self) -> bool:
        return self.type is None or pa.types.is_string(self.type)

    # ---------------------------------------------------------------- what its cells are

    def with_cells(self, array: pa.Array, row_numbers: Array) -> FileColumn:
        """The column after the cells of rows of these numbers."""
        if self._is_text:
            column = self._with_texts(array, row_numbers)
        elif self.asked.kind not in ("text", "category"):
            column = self._with_values(self._typed().numbers(array), row_numbers)
        else:
            texts, times = _counts(array.cast(pa.string()))
            column = replace(self._counted(texts, times), missing=self.missing + array.null_count)
        rounded = self.rounded or _rounded(array)
        return replace(column, rounded=rounded, rows=self.rows + len(array))

    def _with_values(self, values: Array, row_numbers: Array) -> FileColumn:
        known = values[~np.isnan(values)]
        first = values[0] - row_numbers[0] if self.rows == 0 and len(values) else self.first
        return replace(
            self,
            missing=self.missing + len(values) - len(known),
            low=min(self.low, known.min(initial=np.inf)),
            high=max(self.high, known.max(initial=-np.inf)),
            first=first,
            numbers_rows=self.numbers_rows and bool((values == first + row_numbers).all()),
        )

    def _with_texts(self, array: pa.Array, row_numbers: Array) -> FileColumn:
        column, counts = self, None if self.values.is_full else _counts(array)
        if counts is not None:
            column = self._counted(counts[0], counts[1])
        if self._may_be_numbers(array):
            try:
                floats = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
            except pa.ArrowException:
                pass
            else:
                values, known = np.where(np.isfinite(floats), floats, np.nan), np.isfinite(floats)
                whole, rows = values[known] == np.floor(values[known]), row_numbers[known]
                numbers = column.numbers.with_numbers(values[known], whole, rows)
                return replace(column._with_values(values, row_numbers), numbers=numbers)
        # Their range is not known before it is decided how they are read.
        column = replace(column, numbers_rows=False, missing=self.missing + array.null_count)
        column = replace(column, low=-np.inf, high=np.inf)
        if array.null_count == len(array):
            return column
        texts, times = counts or _counts(array)
        return column._classified(array, texts, times, row_numbers)

    def _may_be_numbers(self, array: pa.Array) -> bool:
        """Whether all cells may be numbers, and none has a comma that may be a decimal sign."""
        if self.type is not None or self.asked.kind not in ("", "number"):
            return False
        commas = self.decimal_commas and pc.any(pc.match_substring(array, ",")).as_py()
        return self.numbers.is_plain and not commas

    def _counted(self, texts: pa.Array, times: Array) -> FileColumn:
        counts = dict(zip(texts.to_pylist(), times.tolist(), strict=True))
        padded = (x for x in counts if len(x) > 1 and x[0] == "0" and x.isdigit())
        values = self.values.with_values(counts)
        return replace(self, values=values, padded=self.padded or next(padded, ""))

    def _classified(
        self, array: pa.Array, texts: pa.Array, times: Array, row_numbers: Array
    ) -> FileColumn:
        """The column after cells of text, of which it is counted how many are of which kind."""
        kinds, odd = _understood(texts, short=self.asked.kind == "date"), dict(self.first_odd)

        def row_of(cell: Any) -> int:
            return int(row_numbers[pc.index(array, cell).as_py()])

        for kind, fitting in kinds.items():
            if kind not in odd and not fitting.all():
                cell = texts[int(np.argmin(fitting))]
                odd[kind] = row_of(cell), cell.as_py()
        plain = truth(pc.match_substring_regex(array, NUMBER))
        plain &= ~truth(pc.match_substring_regex(array, EITHER))
        cells = array.filter(pa.array(plain))
        whole = truth(pc.match_substring_regex(cells, r"^\d+$"))
        numbers = self.numbers.with_numbers(
            cells.cast(pa.float64()).to_numpy(), whole, row_numbers[plain]
        )
        rest = np.flatnonzero(~truth(pc.is_in(texts, value_set=cells)))
        counted = zip(texts.take(pa.array(rest)).to_pylist(), times[rest].tolist(), strict=True)
        return replace(
            self,
            fits=self.fits + Counter({kind: int(times[fit].sum()) for kind, fit in kinds.items()}),
            first_odd=odd,
            numbers=numbers.with_texts(counted, row_of),
        )

    # ---------------------------------------------------------------- what it is

    def decide(self) -> KindDecision:
        """How the column is to be read, once all its cells are known."""
        if not self._is_text and self.asked.kind in ("", "number", "date"):
            column, note = self._typed(), ""
        elif self.asked.kind:
            column, note = self._as_asked()
        else:
            column, note = self._recognised()
        missing = self.missing
        if self._is_text and column.kind == "number":
            missing = self.rows - self.numbers.best(commas=self.decimal_commas).fitting
        elif self._is_text and column.lenient:
            missing += self.present - self.fits[column.order or "ymd"]
        reason = self._reason_to_drop(column, missing)
        return KindDecision(column, note or self._note_on_rounding(column), missing, reason)

    def _typed(self) -> Column:
        """The column as its type has it, or as somebody wants it."""
        types, kind, wanted = pa.types, self.type, self.asked.kind
        is_date = types.is_date(kind) or types.is_timestamp(kind)
        if (wanted == "number" and is_date) or (wanted == "date" and types.is_boolean(kind)):
            raise InputError(
                f"Column {self.name!r} holds {kind}, which cannot be read as "
                f"{kind_called(wanted).title}; leave out {self._option(wanted)}."
            )
        if types.is_boolean(kind):
            return Column(self.name, "boolean")
        if is_date or wanted == "date":
            return Column(self.name, "date", lenient=wanted == "date")
        if any(is_one(kind) for is_one in (types.is_integer, types.is_floating, types.is_decimal)):
            return Column(self.name, "number")
        raise InputError(
            f"Columns must hold numbers, booleans, dates or text; {self.name!r} holds {kind}. "
            f"Leave it out with {self._option('drop')}"
        )

    def _as_asked(self) -> tuple[Column, str]:
        kind, order, note = self.asked.kind, self.asked.order, ""
        if kind in ("text", "category"):
            return Column(self.name, kind, by_words=self.asked.by_words), ""
        if kind == "date" and not order:
            order = self._order
            note = self._note_on_order(order)
        reading = self.numbers.best(commas=self.decimal_commas)
        column = Column(self.name, kind, _but_iso(order), lenient=True)
        if kind == "number":
            column = replace(self._as_numbers(reading), lenient=True)
        fitting = reading.fitting if kind == "number" else self.fits[order]
        if not fitting and self.present:
            raise InputError(
                f"Column {self.name!r} must hold {kind_called(kind).title} to be read by --{kind}; "
                f"it has none, but {self.values.example or 'other text'!r}."
            )
        if kind == "number" and reading.strays:
            note = f"{reading.told(self.name)}"
        elif kind == "date" and fitting < self.present:
            note = self._note_on_strays(order)
        return column, note

    def _as_numbers(self, reading: NumberReading) -> Column:
        comma = reading.decimal == "comma"
        return Column(
            *(self.name, "number"),
            lenient=reading.strays > 0,
            decimal_comma=comma,
            unit=reading.unit,
        )

    def _recognised(self) -> tuple[Column, str]:
        """The column as the kind that all cells of text are, or most, or as text."""
        name, spelt = self.name, self.type is not None
        if not self.present:
            return Column(name, "text" if spelt else "number"), ""
        reading = self.numbers.reading(len(self.values), commas=self.decimal_commas, spelt=spelt)
        is_read = reading is not None and reading.is_read
        if reading is not None and is_read and not reading.strays:
            note = reading.told(name)
            note = f"{note} To read it as text: {self._option('text')}" if note else ""
            return self._as_numbers(reading), note or self._note_on_zeros()
        if self.fits["boolean"] == self.present and not spelt:
            return Column(name, "boolean"), ""
        order = self._order
        if self.fits[order] == self.present:
            return Column(name, "date", _but_iso(order)), self._note_on_order(order)
        if reading is not None and is_read:
            note = f"{reading.told(name)} To read the column as text: {self._option('text')}"
            return self._as_numbers(reading), note
        many = len(self.values) > DATES.several
        if many and self.fits[order] >= DATES.mostly * self.present:
            note = f"{self._note_on_strays(order)} To read the column as text: "
            column = Column(name, "date", _but_iso(order), lenient=True)
            return column, note + self._option("text")
        if self.fits["looks like a date"] > self.present / 2:
            return Column(name, "text"), (
                f"Column {name!r} looks like dates ({_shown(self.values.example)}), but is read as "
                f"text. To read it as dates: {self._option('date')}"
            )
        note = (
            f"{reading.told(name)} The column is read as text. To read it as numbers, and such "
            f"cells as missing: {self._option('number')}"
            if reading
            else ""
        )
        return Column(name, "text"), note

    @property
    def _order(self) -> str:
        return order_of(self.fits, dotted=self.fits["dotted"] > 0)

    def _reason_to_drop(self, column: Column, missing: int) -> str:
        """Why a model cannot use the column; empty if it can."""
        if missing == self.rows:
            return "all its values are missing"
        if missing:
            return ""
        if self.low == self.high and column.kind == "number":
            if abs(self.low) > LARGE and len(self.values) != 1:
                return (
                    "its numbers are too large to be distinguished; "
                    f"{self._option('category')} uses them as codes"
                )
            return f"it is always {self.low:g}"
        if len(self.values) == 1:
            return f"it is always {_shown(self.values.example)}"
        if self.low == self.high:
            date = np.datetime64(int(self.low * 1e6), "us").item()
            return f"it is always {date if column.kind == 'date' else bool(self.low)}"
        enough = self.rows >= FILE_RULES.fewest_numbered
        return ONLY_NUMBERS if self.numbers_rows and enough and column.kind == "number" else ""

    # ---------------------------------------------------------------- notes, for the command

    def _option(self, kind: str, order: str = "") -> str:
        """What decides otherwise, on the command line."""
        return f"--{kind} {shlex.quote(self.name)}{'=' if order else ''}{order}"

    def _note_on_strays(self, order: str) -> str:
        """Which cells are no dates."""
        n = self.present - self.fits[order]
        row, cell = self.first_odd[order]
        cells = "1 cell is not:" if n == 1 else f"{n:,} cells are not, such as"
        return (
            f"Column {self.name!r} holds dates, but {cells} {_shown(cell)} in row {row:,} below "
            "the header. Such cells count as missing."
        )

    def _note_on_order(self, order: str) -> str:
        """That day and month could be exchanged, where nothing tells."""
        same = self.fits["dmy"] == self.fits["mdy"] and not self.fits["dotted"]
        if order == "ymd" or not same or not self.fits["either"]:
            return ""
        other = "dmy" if order == "mdy" else "mdy"
        return (
            f"Dates in column {self.name!r} could be read with {FIRST[order]} or with "
            f"{FIRST[other]}; they are read with {FIRST[order]}. For the other order: "
            + self._option("date", other)
        )

    def _note_on_zeros(self) -> str:
        """That numbers look like codes."""
        if not self.padded:
            return ""
        return (
            f"Column {self.name!r} has zeros in front, as in {_shown(self.padded)}, and is read as "
            f"numbers. If these are codes: {self._option('category')}"
        )

    def _note_on_rounding(self, column: Column) -> str:
        """That numbers lose their last digits, if the column is read so."""
        if not self.rounded or column.kind != "number":
            return ""
        return (
            f"Column {self.name!r} has whole numbers with too many digits for a 64-bit float, such "
            f"as {self.rounded}. They are rounded, so different numbers may become equal. If they "
            f"are codes, use {self._option('category')}"
        )


def _but_iso(order: str) -> str:
    """An order of day and month as `Column` has it."""
    return "" if order == "ymd" else order


def _understood(texts: pa.Array, *, short: bool) -> dict[str, Array]:
    """Which of these cells are booleans, or dates in each order."""
    kinds = {"boolean": truth(pc.match_substring_regex(texts, "(?i)^(true|false)$"))}
    if not pc.any(pc.match_substring_regex(texts, MAY_BE_DATE), min_count=0).as_py():
        return kinds | {order: np.zeros(len(texts), bool) for order in ORDERS}
    dates = date_cells(texts)
    for order in ORDERS:
        kinds[order] = ~np.isnat(dates.values[order]) if short else dates.fit(order)
    return kinds | {
        "either": dates.either,
        "dotted": dates.dotted,
        "looks like a date": look_like_dates(texts),
    }


def _counts(texts: pa.Array) -> tuple[pa.Array, Array]:
    """The different cells, and how often each comes."""
    values, counts = pc.value_counts(texts.drop_null()).flatten()
    return values, counts.to_numpy(zero_copy_only=False)


def _rounded(array: pa.Array) -> str:
    """One of the whole numbers among the cells that is not exact as a float, if there are any."""
    if pa.types.is_integer(array.type):
        ends = pc.min_max(array).as_py().values()
        if all(end is None or abs(end) <= LARGE for end in ends):
            return ""
        array = array.cast(pa.string())
    elif not pa.types.is_string(array.type):
        return ""
    # 2⁵³ has 16 digits, and the largest float has 309.
    texts = array.filter(pc.match_substring_regex(array, r"^[-+]?\d{16,308}$"))
    return next((text for text in texts.to_pylist() if int(text) != int(float(text))), "")


def _shown(cell: str) -> str:
    text = repr(cell)
    return text if len(text) <= 60 else text[:60] + "…"
