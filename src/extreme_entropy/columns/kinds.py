"""The kinds of columns, and which of them a column is.

The kind that stands last in the list is asked first whether a column is of it. Encoded columns
come in the order of the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from .category import Category, Text
from .cells import ValueProfile
from .date import Date
from .kind import ColumnKind
from .number import Boolean, EncodedGaps, EncodedNumbers, Number
from .text_date import TextDate
from .text_number import TextNumber
from .unused import Empty, Identifier
from .words import FreeText, Word

KINDS: list[type[ColumnKind]] = [
    Number,
    Boolean,
    Date,
    Category,
    Text,
    Identifier,
    FreeText,
    Word,
    TextNumber,
    TextDate,
    Empty,
]
# The parts of an encoding, in their order.
ENCODED: list[type] = [EncodedNumbers, EncodedGaps]
ENCODED += [kind.encoded for kind in KINDS if kind.encoded and kind.encoded not in ENCODED]


def recognise(profile: ValueProfile, *, named: bool) -> ColumnKind:
    """The kind of a column with such values, which the user may have named as one of categories."""
    kinds = (kind.recognise(profile, named=named) for kind in reversed(KINDS))
    return next(kind for kind in kinds if kind is not None)


def of_matrix(kinds: Sequence[ColumnKind]) -> tuple[ColumnKind, ...]:
    """What each column of the matrix holds that columns of a table become."""
    return (*kinds, *chain.from_iterable(kind.more for kind in kinds))


def kind_called(name: str) -> type[ColumnKind]:
    """The kind with a name; KeyError if there is none."""
    return {kind.name: kind for kind in KINDS}[name]
