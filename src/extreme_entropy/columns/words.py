"""Free text: how many words a cell has, and the evidence of these words for each class.

The evidence of a word is its smoothed log-odds, as of a category with many values (`category.py`):
counted by class and fold, so that a row to be learnt does not see its own label. That of a text is
the mean over its words (naive Bayes as a feature). The words that are known are those that occur in
some of the first rows. A cell becomes its number of words, and one further column of the matrix for
each of its known words, the rarest first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from ..shapes import Indices, Logs, OneOf
from .category import log_odds_by_fold
from .cells import Cells, ValueProfile
from .kind import ColumnKind, EncodedPart, Seen
from .statistics import N_FOLDS, CategoryCounts, ColumnStats

Array = np.ndarray[Any, Any]

WORD = re.compile(r"[^\W\d_]+|\d+")  # letters alone, or digits alone


@dataclass(frozen=True)
class WordSettings:
    """Which text is free text, and which of its words are known."""

    distinct: float = 0.5  # of the cells: text with fewer different ones is categories
    several: int = 20  # cells; of fewer, no words are learnt
    pieces: float = 3.0  # between spaces, in a cell on average; shorter text is a name or a code
    fewest_rows: int = 5  # that hold a known word; rarer ones tell rows, not classes
    frequent: float = 0.9  # of the cells: a word in more of them tells no classes apart
    most_words: int = 5000
    most_of_cell: int = 64  # known words of a cell that count; of more, the rarest


SETTINGS = WordSettings()


@dataclass(frozen=True, slots=True)
class EncodedWords:
    """A column of free text: its number of words, and their evidence."""

    column: Annotated[int, Indices(below="d")]
    slots: Annotated[Array, Indices(None, below="d", increasing=True)]  # columns of its words
    # Of each known word, and 0 for none; by fold that is left out, the last leaves none out.
    log_odds: Annotated[Array, Logs("words+1", N_FOLDS + 1, None)]
    needs_folds: ClassVar[bool] = True

    @property
    def columns(self) -> Array:
        return np.full(1 + self.log_odds.shape[2], self.column)

    def names(self, columns: Sequence[Any], kinds: Sequence[ColumnKind]) -> list[str]:
        column = columns[self.column]
        return [f"words in {column}", *[f"evidence of {column}"] * self.log_odds.shape[2]]

    def encode(self, X: Array, typical: Array, folds: Array | None, out: Array) -> None:
        length, words = X[:, self.column], X[:, self.slots]
        out[:, 0] = np.where(np.isnan(length), typical[self.column], length)
        known = ~np.isnan(words)
        places = np.where(known, words, len(self.log_odds) - 1).astype(np.intp)
        left_out = np.full(len(X), N_FOLDS) if folds is None else folds.astype(np.intp)
        total = np.zeros((len(X), self.log_odds.shape[2]))
        for column in places.T:  # word by word, which needs no more memory
            total += self.log_odds[column, left_out]
        out[:, 1:] = total / np.maximum(known.sum(axis=1), 1)[:, np.newaxis]

    def stats(self, seen: Seen, encoded: Array) -> ColumnStats:
        filled = seen.stats.of_columns([self.column]).filled(seen.typical[[self.column]])
        least, most = self.log_odds.min(axis=(0, 1)), self.log_odds.max(axis=(0, 1))
        return ColumnStats.of(encoded).between(
            slice(None), np.append(filled.low, least), np.append(filled.high, most)
        )


@dataclass(frozen=True)
class FreeText(ColumnKind):
    """Sentences, names and notes: text that mostly differs, but repeats words."""

    name = "free text"
    title = "text"
    encoded: ClassVar[type | None] = EncodedWords
    widest: ClassVar[int] = 2

    words: tuple[Annotated[str, OneOf()], ...] = ()  # those known, the rarest first
    n_slots: Annotated[int, Indices(least=1, most=SETTINGS.most_of_cell)] = 1

    @property
    def needs_frame(self) -> bool:
        return True

    @property
    def more(self) -> tuple[Word, ...]:
        return (Word(),) * self.n_slots

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each known word."""
        return {word: place for place, word in enumerate(self.words)}

    @classmethod
    def recognise(cls, profile: ValueProfile, *, named: bool) -> Self | None:
        if named or not is_free_text(profile):
            return None
        texts = {str(text): times for text, times in profile.counts.items()}
        words = {text: set(words_of(text)) for text in texts}
        held = Counter[str]()
        for text, times in texts.items():
            held.update(dict.fromkeys(words[text], times))
        most = SETTINGS.frequent * profile.n
        known = [word for word, n in held.items() if SETTINGS.fewest_rows <= n <= most]
        known = sorted(known, key=lambda word: (held[word], word))[-SETTINGS.most_words :]
        if not known:
            return None
        among = set(known)
        longest = max(len(of_cell & among) for of_cell in words.values())
        return cls(tuple(known), min(longest, SETTINGS.most_of_cell))

    def code(self, cells: Cells, name: Any, *, trained: bool) -> Array:
        if cells.kind != "category":
            super().code(cells, name, trained=trained)
            return np.full((len(cells.values), 1 + self.n_slots), np.nan)
        table = np.full((len(cells.labels) + 1, 1 + self.n_slots), np.nan)
        for row, label in zip(table, cells.labels, strict=False):
            words = words_of(str(label))
            known = sorted({self.places[word] for word in words if word in self.places})
            row[0], known = len(words) or np.nan, known[: self.n_slots]
            row[1 : 1 + len(known)] = known
        return cells.looked_up(table)

    @classmethod
    def fit(cls, columns: list[int], seen: Seen) -> list[EncodedPart]:
        parts, start = list[EncodedPart](), len(seen.kinds) - seen.kinds.count(Word())
        for j in columns:
            slots = np.arange(start, start + seen.kinds[j].n_slots)
            parts.append(_fit_words(j, slots, len(seen.kinds[j].words), seen.counts))
            start += len(slots)
        return parts


class Word(ColumnKind):
    """A known word of a text, by its place among them; no column of a table is of this kind."""

    name = "word"
    title = "words"
    widest = 0
    is_counted = True

    @classmethod
    def recognise(cls, profile: ValueProfile, *, named: bool) -> Self | None:
        return None


def is_free_text(profile: ValueProfile) -> bool:
    """Whether cells are text that mostly differs, and have several words each or are said to."""
    distinct = len(profile.counts)
    if not profile.is_text or distinct < max(SETTINGS.several, SETTINGS.distinct * profile.n):
        return False
    if profile.meant == "words":
        return True
    pieces = sum(len(str(text).split()) for text in profile.counts)
    return pieces >= SETTINGS.pieces * distinct


def words_of(text: str) -> list[str]:
    """The words of a text, in small letters unless these are mixed with others, as in iPhone."""
    return [as_small(word) for word in WORD.findall(text)]


def as_small(word: str) -> str:
    """A word in small letters, if it is written so, with a first capital, or in capitals."""
    small = word.lower()
    return small if word in (small, word.capitalize(), word.upper()) else word


def spellings(word: str) -> set[str]:
    """All that become a word in small letters."""
    forms = {word, word.capitalize(), word.upper()}
    return {form for form in forms if as_small(form) == word}


def _fit_words(
    column: int, slots: Array, n_words: int, counts: Mapping[int, CategoryCounts]
) -> EncodedWords:
    """The evidence of words that are counted in several columns."""
    counted = reduce(add, (counts[j] for j in slots.tolist()))
    is_word = ~np.isnan(counted.values)
    by_word = np.zeros((n_words, *counted.counts.shape[1:]))
    by_word[counted.values[is_word].astype(np.intp)] = counted.counts[is_word]
    return EncodedWords(column, slots, log_odds_by_fold(by_word, n_words)[: n_words + 1])
