"""Which kind a column is, decided by all of its cells, or by somebody who says so.

The cells of a typed file are of the kind its type says. A column of text is of the first kind that
all its cells are: numbers, true and false, dates in one order of day and month, text. Where nearly
all are numbers or dates, or the others are one word or two such as "unknown", these are taken for
missing; but where they look like codes, such as 98121-3032 among zip codes, or are of many kinds,
all is text. What was decided in doubt is said in a note, with the option that decides otherwise.

Memory is bounded: a column keeps at most 10 000 counts.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..columns.cells import LARGE
from ..columns.date_text import ORDERS, date_cells, look_like_dates, truth
from ..columns.kinds import kind_called
from ..columns.text import DECIMAL_COMMA, NUMBER, Column, numbers_or_gaps, with_points
from ..columns.unused import FILE_RULES, ONLY_NUMBERS
from ..errors import InputError

Array = np.ndarray[Any, Any]

MOST_COUNTED = 10_000  # categories
SEVERAL = 20  # values, from which on numbers with a stray word are no categories
MOSTLY = 0.9  # of the cells, from which on a column of numbers or dates has strays
HALF = 0.5  # of the cells, from which on text may have been meant for numbers
FEW_STRAYS = 3  # different cells that are no numbers, up to which they mean that none is known
MOST_STRAYS = 20  # different cells that are no numbers, above which they are text
# $16,947 and 9.3% and (255.57) and 1'234 and 70.1 kg
LIKE_NUMBER = (
    r"^\(?[-+−]?\s?[$€£¥]?\s?[-+−]?\d[\d,'\x{a0}\x{202f}]*(\.\d*)?"
    r"(\s?[%$€£¥]|\s[a-zA-Z]{1,3})?\)?$"
)
MAY_BE_DATE = r"^\d{1,4}[-/. ]|^[A-Za-z]{3,9}\.? \d|^\d{8}$"


@dataclass(frozen=True)
class Asked:
    """How somebody wants a column to be read."""

    kind: str = ""  # the name of a kind, or "" where its cells are to decide
    order: str = ""  # of year, month and day in dates


def asked_kinds(options: Mapping[str, Sequence[str]], names: list[str]) -> dict[str, Asked]:
    """Columns with the kind that an option says, as in {"number": ("age",)}.

    A date may be followed by its order, as in born=dmy.
    """
    asked: dict[str, Asked] = {}
    for kind, columns in options.items():
        for given in columns:
            name, sign, order = given.rpartition("=")
            if kind != "date" or given in names or not sign:
                name, order = given, ""
            elif order not in ORDERS:
                raise InputError(
                    f"The order of a date must be one of {', '.join(ORDERS)}, as in "
                    f"--date {name}=dmy; got {order!r}."
                )
            if name in asked and asked[name].kind != kind:
                raise InputError(
                    f"A column must be read in one way; {name!r} is named by --{asked[name].kind} "
                    f"and --{kind}."
                )
            asked[name] = Asked(kind, order)
    return asked


@dataclass
class ColumnProfile:
    """What is known of one column so far."""

    name: str
    type: pa.DataType | None  # None where only its cells can tell
    asked: Asked = field(default_factory=Asked)
    decimal_commas: bool = False  # whether commas of the file are more likely decimal signs
    rows: int = 0
    missing: int = 0
    counts: Counter[str] | None = field(default_factory=Counter)  # of text; None: too many
    fits: Counter[str] = field(default_factory=Counter)  # cells of text that are of a kind or order
    first_odd: dict[str, tuple[int, str]] = field(default_factory=dict)  # that are not: row, cell
    strays: set[str] = field(default_factory=set)  # cells that are no numbers, some of them
    whole: bool = True  # whether all numbers are whole
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

    def add(self, array: pa.Array, row_numbers: Array) -> None:
        """Take in the cells of rows of these numbers."""
        if self._of_text:
            self._add_texts(array, row_numbers)
        elif self.asked.kind not in ("text", "category"):
            self._add_values(self._typed_column.numbers(array), row_numbers)
        else:
            self._count(_counted(array.cast(pa.string())))
            self.missing += array.null_count
        self.rounded = self.rounded or _rounded(array)
        self.rows += len(array)

    @property
    def _of_text(self) -> bool:
        return self.type is None or pa.types.is_string(self.type)

    @property
    def _typed_column(self) -> Column:
        """The column as its type has it, or as somebody wants it."""
        types, kind = pa.types, self.type
        is_date = types.is_date(kind) or types.is_timestamp(kind)
        wanted = self.asked.kind
        if (wanted == "number" and is_date) or (wanted == "date" and types.is_boolean(kind)):
            raise InputError(
                f"Column {self.name!r} holds {kind}, which cannot be read as "
                f"{kind_called(wanted).title}; leave out --{wanted} {shlex.quote(self.name)}."
            )
        if types.is_boolean(kind):
            return Column(self.name, "boolean")
        if is_date or wanted == "date":
            return Column(self.name, "date", lenient=wanted == "date")
        if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            return Column(self.name, "number")
        raise InputError(
            f"Columns must hold numbers, booleans, dates or text; {self.name!r} holds {kind}. "
            f"Leave it out with --drop {self._option}"
        )

    def _add_values(self, values: Array, row_numbers: Array) -> None:
        gone = np.isnan(values)
        self.missing += int(gone.sum())
        known = values[~gone]
        if len(known):
            self.low, self.high = min(self.low, known.min()), max(self.high, known.max())
            self.whole &= bool((known == np.floor(known)).all())
        if self.rows == 0 and len(values):
            self.first = values[0] - row_numbers[0]
        self.numbers_rows &= bool((values == self.first + row_numbers).all())

    def _add_texts(self, array: pa.Array, row_numbers: Array) -> None:
        found = None
        if self.counts is not None:
            found = _counted(array)
            self._count(found)
        decided = self.type is not None or self.asked.kind not in ("", "number")
        if not decided and self.fits["number"] == self.present and not self._has_commas(array):
            try:
                values = Column(self.name, "number").numbers(array)
            except pa.ArrowException:
                pass
            else:
                for kind in ("number", "any number"):
                    self.fits[kind] += len(values) - int(np.isnan(values).sum())
                self._add_values(values, row_numbers)
                return
        self.numbers_rows = False
        self.missing += array.null_count
        if array.null_count < len(array):
            self._classify(array, found or _counted(array), row_numbers)

    def _has_commas(self, array: pa.Array) -> bool:
        """Whether there are commas that may be decimal signs."""
        return self.decimal_commas and bool(pc.any(pc.match_substring(array, ",")).as_py())

    def _count(self, found: tuple[pa.Array, pa.Array]) -> None:
        if self.counts is None:
            return
        for text, n in zip(found[0].to_pylist(), found[1].to_pylist(), strict=True):
            self.counts[text] += n
            if not self.padded and len(text) > 1 and text[0] == "0" and text.isdigit():
                self.padded = text
        if len(self.counts) > MOST_COUNTED:
            self.counts = None

    def _classify(
        self, array: pa.Array, found: tuple[pa.Array, pa.Array], row_numbers: Array
    ) -> None:
        """Count which cells are of which kind."""
        texts, times = found[0], found[1].to_numpy(zero_copy_only=False)
        understood = _understood(
            texts, short=self.asked.kind == "date", decimal_commas=self.decimal_commas
        )
        for kind, fitting in understood.items():
            self.fits[kind] += int(times[fitting].sum())
            if kind not in self.first_odd and not fitting.all():
                cell = texts[int(np.argmin(fitting))]
                self.first_odd[kind] = int(row_numbers[pc.index(array, cell).as_py()]), cell.as_py()
            if kind == "number":
                some = texts.filter(pa.array(~fitting)).slice(0, MOST_STRAYS + 1)
                if len(self.strays) <= MOST_STRAYS:
                    self.strays.update(some.to_pylist())
                plain = pc.match_substring_regex(texts.filter(pa.array(fitting)), r"^\d+$")
                self.whole &= pc.all(plain, min_count=0).as_py()

    # ---------------------------------------------------------------- what it is

    def decide(self) -> tuple[Column, str]:
        """The column as it is to be read, and what was decided in doubt."""
        if not self._of_text and self.asked.kind in ("", "number", "date"):
            return self._typed_column, ""
        if self.asked.kind:
            return self._as_asked()
        if self.type is not None:
            return Column(self.name, "text"), self._note_on_text()
        if self.fits["number"] == self.present:
            note = self._note_on_zeros() or self._note_on_commas()
            return Column(self.name, "number", decimal_comma=self._decimal_comma), note
        if self.fits["boolean"] == self.present:
            return Column(self.name, "boolean"), ""
        if found := self._fitting_order():
            return self._dates(found)
        if self.fits["any number"] == self.present:
            return self._numbers_with_commas()
        few = len(self.strays) <= FEW_STRAYS and self.fits["number"] >= HALF * self.present
        if (few or self.fits["number"] >= MOSTLY * self.present) and self._several:
            return self._numbers_with_strays()
        order = max(ORDERS, key=lambda order: self.fits[order])
        if self.fits[order] >= MOSTLY * self.present and self._several:
            column = Column(self.name, "date", "" if order == "ymd" else order, lenient=True)
            return column, self._strays(order, "dates", self._as_gaps)
        return Column(self.name, "text"), self._note_on_text()

    def missing_as(self, column: Column) -> int:
        """Cells without a value if the column is read so."""
        if not self._of_text or not column.lenient:
            return self.missing
        return self.missing + self.present - self.fits[self._kept(column)]

    @staticmethod
    def _kept(column: Column) -> str:
        if column.kind == "date":
            return column.order or "ymd"
        return "number" if column.decimal_comma else "any number"

    @property
    def _decimal_comma(self) -> bool:
        """Whether commas are decimal signs: in most files of their kind, if that is possible."""
        return self.fits["decimal comma"] > 0 and self.fits["number"] >= self.fits["any number"]

    @property
    def _several(self) -> bool:
        return self.counts is None or len(self.counts) > SEVERAL

    @property
    def _option(self) -> str:
        """The name of the column, as an option takes it."""
        return shlex.quote(self.name)

    def _as_asked(self) -> tuple[Column, str]:
        kind = self.asked.kind
        if kind in ("text", "category"):
            return Column(self.name, kind), ""
        order, note = self.asked.order, ""
        if kind == "date" and not order:
            order = max(ORDERS, key=lambda order: self.fits[order])
            note = self._note_on_order(order)
        order, comma = "" if order == "ymd" else order, kind == "number" and self._decimal_comma
        column = Column(self.name, kind, order, lenient=True, decimal_comma=comma)
        kept = self._kept(column)
        if self.fits["number"] == self.present and kind == "number":
            return column, ""
        if not self.fits[kept] and self.present:
            raise InputError(
                f"Column {self.name!r} must hold {kind_called(kind).title} to be read by --{kind}; "
                f"it has none, but {next(iter(self.counts or ['other text']))!r}."
            )
        if self.fits[kept] < self.present:
            note = self._strays(kept, kind_called(kind).title, "Such cells count as missing.")
        return column, note

    def _fitting_order(self) -> str:
        """The order of day and month in which all cells are dates, if there is one."""
        orders = [order for order in ORDERS if self.fits[order] == self.present]
        if "dmy" in orders and "mdy" in orders and not self.fits["dotted"]:
            return "mdy"
        return orders[0] if orders else ""

    def _dates(self, order: str) -> tuple[Column, str]:
        column = Column(self.name, "date", "" if order == "ymd" else order)
        return column, self._note_on_order(order)

    def _note_on_order(self, order: str) -> str:
        """That day and month could be exchanged, where nothing tells."""
        same = self.fits["dmy"] == self.fits["mdy"] and not self.fits["dotted"]
        if order == "ymd" or not same or not self.fits["either"]:
            return ""
        other = "dmy" if order == "mdy" else "mdy"
        words = {"dmy": "the day first", "mdy": "the month first"}
        return (
            f"Dates in column {self.name!r} could be read with {words[order]} or with "
            f"{words[other]}; they are read with {words[order]}. For the other order: "
            f"--date {self._option}={other}"
        )

    def _note_on_zeros(self) -> str:
        """That numbers look like codes."""
        if not self.padded:
            return ""
        return (
            f"Column {self.name!r} has zeros in front, as in {_shown(self.padded)}, and is read as "
            f"numbers. If these are codes: --category {self._option}"
        )

    def note_on_rounding(self, column: Column) -> str:
        """That numbers lose their last digits, if the column is read so."""
        if not self.rounded or column.kind != "number":
            return ""
        return (
            f"Column {self.name!r} has whole numbers with too many digits for a 64-bit float, such "
            f"as {self.rounded}. They are rounded, so different numbers may become equal. If they "
            f"are codes, use --category {self._option}"
        )

    def _note_on_commas(self) -> str:
        """That decimal signs could be between thousands, where nothing tells."""
        if not self._decimal_comma or self.fits["any number"] < self.present:
            return ""
        cell = next((text for text in self.counts or () if "," in text), "1,234")
        return (
            f"Commas in column {self.name!r} are read as decimal signs, as in {_shown(cell)}, "
            "since the file is separated by semicolons. If they are between thousands, take them "
            "out of the file."
        )

    def _numbers_with_commas(self) -> tuple[Column, str]:
        _, cell = self.first_odd["number"]
        return Column(self.name, "number", lenient=True), (
            f"Column {self.name!r} has commas between thousands, as in {_shown(cell)}, and is read "
            f"as numbers. To read it as text: --text {self._option}"
        )

    def _numbers_with_strays(self) -> tuple[Column, str]:
        codes = self.whole and all(any(map(str.isdigit, stray)) for stray in self.strays)
        if codes or len(self.strays) > MOST_STRAYS:
            return Column(self.name, "text"), self._strays("number", "numbers", self._as_text)
        column = Column(self.name, "number", lenient=True, decimal_comma=self._decimal_comma)
        return column, self._strays("number", "numbers", self._as_gaps)

    def _strays(self, kept: str, kinds: str, end: str) -> str:
        """Which cells are not like most, and what becomes of them."""
        n = self.present - self.fits[kept]
        row, cell = self.first_odd[kept]
        cells = "1 cell is not:" if n == 1 else f"{n:,} cells are not, such as"
        return (
            f"Column {self.name!r} holds {kinds}, but {cells} {_shown(cell)} in row {row:,} below "
            f"the header. {end}"
        )

    @property
    def _as_text(self) -> str:
        return (
            "The column is read as text. To read it as numbers, and such cells as missing: "
            f"--number {self._option}"
        )

    @property
    def _as_gaps(self) -> str:
        return f"Such cells count as missing. To read the column as text: --text {self._option}"

    def _note_on_text(self) -> str:
        """That text looks like dates, or is mostly numbers."""
        if not self._several or not self.present:
            return ""
        if self.fits["looks like a date"] >= MOSTLY * self.present:
            example = next(iter(self.counts or self.strays), "")
            return (
                f"Column {self.name!r} looks like dates ({_shown(example)}), but is read as text. "
                f"To read it as dates: --date {self._option}"
            )
        if self.fits["looks like a number"] >= MOSTLY * self.present:
            example = next(iter(self.counts or self.strays), "")
            return (
                f"Column {self.name!r} looks like numbers ({_shown(example)}), but is read as "
                "text. Write them without signs of currencies, units and percent to have them "
                "used as numbers."
            )
        if self.type is None and self.fits["number"] >= HALF * self.present:
            return self._strays("number", "many numbers", self._as_text)
        return ""

    # ---------------------------------------------------------------- whether it is of use

    def reason_to_drop(self, column: Column) -> str:
        """Why a model cannot use the column; empty if it can."""
        if self.missing_as(column) == self.rows:
            return "all its values are missing"
        if self.missing_as(column):
            return ""
        if self.low == self.high and column.kind == "number":
            if abs(self.low) > LARGE and (self.counts is None or len(self.counts) != 1):
                return (
                    "its numbers are too large to be distinguished; "
                    f"--category {self._option} uses them as codes"
                )
            return f"it is always {self.low:g}"
        if self.counts is not None and len(self.counts) == 1:
            return f"it is always {_shown(next(iter(self.counts)))}"
        if self.low == self.high:
            date = np.datetime64(int(self.low * 1e6), "us").item()
            return f"it is always {date if column.kind == 'date' else bool(self.low)}"
        enough = self.rows >= FILE_RULES.fewest_numbered
        if self.numbers_rows and enough and column.kind == "number":
            return ONLY_NUMBERS
        return ""


def _understood(texts: pa.Array, *, short: bool, decimal_commas: bool) -> dict[str, Array]:
    """Which of these cells are numbers, booleans, or dates in each order."""
    numbers = with_points(texts) if decimal_commas else texts
    found = {
        "number": truth(pc.match_substring_regex(numbers, NUMBER)),
        "any number": truth(numbers_or_gaps(texts).is_valid()),
        "looks like a number": truth(pc.match_substring_regex(texts, LIKE_NUMBER)),
        "boolean": truth(pc.match_substring_regex(texts, "(?i)^(true|false)$")),
    }
    if decimal_commas:
        found["decimal comma"] = truth(pc.match_substring_regex(texts, DECIMAL_COMMA))
    if not pc.any(pc.match_substring_regex(texts, MAY_BE_DATE), min_count=0).as_py():
        return found | {order: np.zeros(len(texts), bool) for order in ORDERS}
    dates = date_cells(texts)
    for order in ORDERS:
        found[order] = ~np.isnat(dates.values[order]) if short else dates.fit(order)
    return found | {
        "either": dates.either,
        "dotted": dates.dotted,
        "looks like a date": look_like_dates(texts),
    }


def _counted(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Different cells, and how often each comes."""
    found, numbers = pc.value_counts(texts.drop_null()).flatten()
    return found, numbers


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
