"""Costs of mistakes: the matrix of two classes, which the reader's costs change."""

from __future__ import annotations

from dataclasses import dataclass

from ..subject import SectionContent, Subject
from .pairs import PairPicture, draw_pair


@dataclass(frozen=True, kw_only=True)
class MistakesContent(SectionContent):
    """The rows of both classes, projected, among which costs move the decision."""

    pair: PairPicture


def mistakes(subject: Subject) -> MistakesContent | None:
    """For two classes."""
    if subject.two is None:
        return None
    pair = draw_pair(subject, 0)
    return MistakesContent(pair=pair, pictures={"projection": pair.picture})
