"""Numbers as people write them ↦ floats, and how a column of text writes them.

    1234.5   -1.5e3   .5          as programs write them
    1,234.50   1'234.50           with signs between thousands
    2,5   1.234,50                with a decimal comma
    $5   -€5   12 %   70.1 kg     with a unit, the same in all cells that have one
    >10   <= 5   ~3               with a bound, which is read as the number itself
    (255.57)                      as accountants write -255.57

A comma or point may be a decimal sign or stand between thousands. A column is read with the decimal
sign that makes numbers of most of its cells. Where both make as many, commas stand between
thousands, but in files separated by semicolons they are decimal signs.

Text of which all cells are numbers becomes numbers; of more than `several` different cells nearly
all suffice, or half if the others are a word or two such as "unknown", and those are missing. Whole
numbers with a few codes among them, such as 98121-3032 among zip codes, are text.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

# Text that means that there is no value, in files; among numbers also in frames.
MISSING = (
    *("", "?", "NA", "N/A", "n/a", "na", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan"),
    *("null", "NULL", "Null", "None"),
)
INFINITE = re.compile(r"(?i)[+-]?(inf(inity)?|nan)")
SYMBOL = r"[$\xa2-\xa5\u20a0-\u20c0]"  # of a currency
SEPARATORS = "'\u2019\xa0\u202f"  # of thousands, beside the comma or the point
CELL = re.compile(
    r"(?P<open>\()?(?P<bound>[<>≤≥~≈]=?)?\s?(?P<sign>[-−+])?\s?"
    rf"(?P<before>{SYMBOL})?\s?(?P<second>[-−+])?"
    rf"(?P<digits>\d[\d.,{SEPARATORS}]*|[.,]\d+)(?P<power>[eE][-+]?\d+)?"
    rf"\s?(?P<after>[%‰]|{SYMBOL}|(?<=\s)[^\W\d_]{{1,10}})?(?P<close>\))?"
)
WHOLE = r"(?:[1-9]\d{{0,2}}(?P<between>[{signs}])\d{{3}}(?:(?P=between)\d{{3}})*|\d*)"
DIGITS = {
    "point": re.compile(WHOLE.format(signs="," + SEPARATORS) + r"(?:\.\d*)?"),
    "comma": re.compile(WHOLE.format(signs="." + SEPARATORS) + r"(?:,\d*)?"),
}
PLAIN = {
    "point": re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"),
    "comma": re.compile(r"[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?"),
}
AS_PYTHON = {
    "point": str.maketrans("", "", "," + SEPARATORS),
    "comma": str.maketrans(",", ".", "." + SEPARATORS),
}


@dataclass(frozen=True)
class NumberTextSettings:
    """How many cells of text must be numbers for the column to be read as numbers."""

    several: int = 20  # different cells; of fewer, all must be numbers
    mostly: float = 0.9  # of the cells: the others are missing
    half: float = 0.5  # of the cells, where few others differ; or text may have been meant so
    few_strays: int = 3  # different cells that are no numbers, but mean that none is known
    most_strays: int = 20  # different cells that are no numbers; of more, the column is text
    most_forms: int = 100  # ways to write numbers that are distinguished


SETTINGS = NumberTextSettings()


class Form(NamedTuple):
    """How a cell writes a number."""

    point: str = ""  # with a decimal point "plain", as programs do, or "marked"; empty if it cannot
    comma: str = ""  # the same with a decimal comma
    unit: str = ""
    whole: bool = False  # digits alone

    def fits(self, decimal: str, unit: str) -> bool:
        """Whether it is a number with this decimal sign, and of no other unit."""
        return bool(getattr(self, decimal)) and self.unit in ("", unit)


NO_NUMBER, WHOLE_NUMBER, FRACTION = Form(), Form("plain", "plain", whole=True), Form("plain")


def is_gap(text: str) -> bool:
    """Whether a text says that there is no number."""
    return text in MISSING or (len(text) < 10 and INFINITE.fullmatch(text) is not None)


def _matched(text: str) -> tuple[re.Match[str], str, str] | None:
    """The parts of a text that may be a number, with its digits and its unit."""
    match = CELL.fullmatch(text)
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    if (match["sign"] and match["second"]) or (match["before"] and match["after"]):
        return None
    return match, match["digits"].rstrip("\xa0\u202f"), match["before"] or match["after"] or ""


def form_of(text: str) -> Form:
    """How a text writes a number."""
    if (parts := _matched(text)) is None:
        return NO_NUMBER
    _, digits, unit = parts
    fits = {
        decimal: ("plain" if PLAIN[decimal].fullmatch(text) else "marked")
        if pattern.fullmatch(digits)
        else ""
        for decimal, pattern in DIGITS.items()
    }
    if not any(fits.values()):
        return NO_NUMBER
    return Form(**fits, unit=unit, whole=text.isascii() and text.isdigit())


def number_of(text: str, decimal: str, unit: str) -> float | None:
    """The number that a text is, NaN if it says that there is none, and None if it is another."""
    text = text.strip()
    if is_gap(text):
        return math.nan
    parts = _matched(text)
    if parts is None or parts[2] not in ("", unit) or not DIGITS[decimal].fullmatch(parts[1]):
        return None
    match, digits, _ = parts
    value = float(digits.translate(AS_PYTHON[decimal]) + (match["power"] or ""))
    value = value if math.isfinite(value) else math.nan
    negative = match["open"] or {match["sign"], match["second"]} & {"-", "−"}
    return -value if negative else value


class NumberReading(NamedTuple):
    """A column of text as numbers."""

    decimal: str  # "point" or "comma"
    unit: str
    fitting: int  # cells that are numbers so
    strays: int  # cells that are none
    stray: tuple[int, str]  # the row and text of the first one
    marked: str  # a cell that programs would write otherwise, if there is one
    doubted: str  # a cell that is another number with the other decimal sign, where nothing tells
    is_read: bool  # whether the column is to be read so; if not, it was perhaps meant to be

    @property
    def shown(self) -> str:
        """A cell that shows how numbers are read."""
        return self.doubted or self.marked

    def told(self, name: Any) -> str:
        """What to know of a column that is read so, or is not; empty where nothing is in doubt."""
        if not self.is_read:
            return f"Column {name!r} holds numbers, but {self._odd}"
        sentences = []
        if self.shown:
            sentences.append(
                f"Column {name!r} is read as numbers, such as {_shown(self.shown)} as "
                f"{number_of(self.shown, self.decimal, self.unit):.15g}."
            )
        if self.doubted:
            other = "comma" if self.decimal == "point" else "point"
            sentences.append(
                f"It could also be {number_of(self.doubted, other, self.unit):.15g}; no cell of "
                "the column tells which sign is the decimal one."
            )
        if self.strays:
            beginning = "But" if sentences else f"Column {name!r} holds numbers, but"
            sentences.append(f"{beginning} {self._odd} Such cells count as missing.")
        return " ".join(sentences)

    @property
    def _odd(self) -> str:
        """Which cells are no numbers."""
        row, cell = self.stray
        cells = "1 cell is not:" if self.strays == 1 else f"{self.strays:,} cells are not, such as"
        where = f" in row {row:,} below the header" if row else ""
        return f"{cells} {_shown(cell)}{where}."


@dataclass(frozen=True, slots=True)
class NumberTally:
    """How cells of a column write numbers, counted; a monoid over rows."""

    cells: Counter[Form] = field(default_factory=Counter)
    first: Mapping[Form, tuple[int, str]] = field(default_factory=dict)  # row and text of each form
    strays: tuple[str, ...] = ()  # different cells that are no numbers, and one more than are kept
    has_gaps: bool = False  # whether cells say that there is no number
    padded: bool = False  # whether cells are digits with a zero in front, as codes have it

    def with_texts(
        self, counted: Iterable[tuple[str, int]], row_of: Callable[[str], int] = lambda cell: 0
    ) -> NumberTally:
        """The tally after further texts, each with its number of cells."""
        cells, first, strays = Counter(self.cells), dict(self.first), dict.fromkeys(self.strays)
        has_gaps, padded = self.has_gaps, self.padded
        for cell, times in counted:
            text = cell.strip()
            if is_gap(text):
                has_gaps = True
                continue
            padded = padded or (len(text) > 1 and text[0] == "0" and text.isdigit())
            form = form_of(text)
            if form not in cells and len(cells) >= SETTINGS.most_forms:
                form = NO_NUMBER
            cells[form] += times
            if form not in first:
                first[form] = row_of(cell), cell
            if form == NO_NUMBER and len(strays) <= SETTINGS.most_strays:
                strays[cell] = None
        return NumberTally(cells, first, tuple(strays), has_gaps, padded)

    def with_numbers(self, values: Array, whole: Array, rows: Array) -> NumberTally:
        """The tally after cells as programs write them, some of them as whole numbers."""
        cells, first = Counter(self.cells), dict(self.first)
        for form, alike in ((WHOLE_NUMBER, whole), (FRACTION, ~whole)):
            if n := int(alike.sum()):
                place = int(alike.argmax())
                cells[form] += n
                first.setdefault(form, (int(rows[place]), f"{values[place]:.15g}"))
        return replace(self, cells=cells, first=first)

    @property
    def is_plain(self) -> bool:
        """Whether all cells are numbers as programs write them."""
        return all(form.point == "plain" for form in self.cells)

    @property
    def n(self) -> int:
        """Cells that do not say that there is no number."""
        return self.cells.total()

    def reading(
        self, distinct: int, *, commas: bool = False, spelt: bool = False
    ) -> NumberReading | None:
        """The column as numbers, if it holds many.

        It has so many different cells. `commas` is whether these are decimal signs where nothing
        tells, and `spelt` whether its type is text: whole numbers are then codes, unless there are
        gaps that made them text.
        """
        best = self.best(commas=commas)
        others = [form for form in self.cells if not form.fits(best.decimal, best.unit)]
        numbers = [form for form in self.cells if form not in others]
        whole = all(form.whole for form in numbers)
        codes = whole and spelt and (self.padded or not (others or self.has_gaps))
        if not numbers or (codes and not others):
            return None
        if not others:
            return best
        if distinct <= SETTINGS.several or best.fitting < SETTINGS.half * self.n:
            return None
        few = others == [NO_NUMBER] and len(self.strays) <= SETTINGS.few_strays
        codes = codes or (whole and self._strays_have_digits)
        enough = best.fitting >= (SETTINGS.half if few else SETTINGS.mostly) * self.n
        many = len(self.strays) > SETTINGS.most_strays
        return best._replace(is_read=enough and not many and not codes)

    @property
    def _strays_have_digits(self) -> bool:
        return bool(self.strays) and all(any(map(str.isdigit, cell)) for cell in self.strays)

    def best(self, *, commas: bool = False) -> NumberReading:
        """As many cells as numbers as can be, whether they are many or few."""
        units = sorted({"", *(form.unit for form in self.cells)}, key=lambda unit: (not unit, unit))
        fitting = {
            (decimal, unit): sum(n for form, n in self.cells.items() if form.fits(decimal, unit))
            for decimal in (("comma", "point") if commas else ("point", "comma"))
            for unit in units
        }
        decimal, unit = max(fitting, key=lambda reading: fitting[reading])  # the first of equals
        fits = [form for form in self.first if form.fits(decimal, unit)]
        odd = [self.first[form] for form in self.first if form not in fits]
        usual = "comma" if commas else "point"
        marked = [
            self.first[form][1]
            for form in fits
            if "plain" not in (form.point, getattr(form, usual))
        ]
        either = fitting["point", unit] == fitting["comma", unit]
        doubted = [
            self.first[form][1]
            for form in fits
            if form.point == "marked" and form.comma and differs(self.first[form][1], unit)
        ]
        return NumberReading(
            decimal,
            unit,
            fitting[decimal, unit],
            self.n - fitting[decimal, unit],
            min(odd, default=(0, "")),
            next(iter(marked), ""),
            next(iter(doubted), "") if either else "",
            is_read=True,
        )


def differs(text: str, unit: str) -> bool:
    """Whether a text is another number with a decimal comma than with a decimal point."""
    return number_of(text, "point", unit) != number_of(text, "comma", unit)


def _shown(cell: str) -> str:
    text = repr(cell)
    return text if len(text) <= 60 else text[:60] + "…"
