"""What a report is about, as its sections see it, and what a section of the page is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..metrics import label_text
from ..plots.operating import OperatingDisplay
from .about import About
from .classifiers import Reported, names_of
from .evaluation import Evaluation
from .evidence import Evidence
from .harmless_text import visible
from .ranking import Economy, Ranking, economy, rank
from .report_settings import ReportSettings
from .svg import Picture

Array = np.ndarray[Any, Any]

# Labels that mean little without the name of their column.
BARE = {"yes", "no", "y", "n", "true", "false", "t", "f", "positive", "negative", "0", "1"}


@dataclass(frozen=True, slots=True)
class TwoClasses:
    """What a report knows of two classes only."""

    rare: int  # the class to be found
    ranking: Ranking
    economy: Economy
    operating: OperatingDisplay
    priors: list[float]  # of the classifier
    priors_differ: bool  # from the frequencies of the rows

    @property
    def other(self) -> int:
        """The class whose rows are false alarms."""
        return 1 - self.rare


@dataclass(frozen=True, slots=True)
class Subject:
    """A classifier and the rows it was evaluated on."""

    classifier: Reported
    evidence: Evidence
    about: About
    settings: ReportSettings
    classes: list[str]  # as the page names them
    columns: list[str]
    two: TwoClasses | None  # None where there are more classes

    @property
    def evaluation(self) -> Evaluation:
        """Of all rows."""
        return self.evidence.evaluation

    @property
    def counts(self) -> list[int]:
        """Rows of each class."""
        return self.evaluation.counts.tolist()

    @property
    def coloured(self) -> bool:
        """Whether each class has a colour."""
        return len(self.classes) <= self.settings.colours

    @property
    def recalls(self) -> list[float]:
        """Of each class; NaN where it has no rows."""
        return self.evaluation.outcome.recalls.tolist()

    @property
    def precisions(self) -> list[float]:
        """Of each class; NaN where it is never predicted."""
        return self.evaluation.outcome.precisions.tolist()

    @property
    def of_library(self) -> bool:
        """Whether the classifier is of this library, and so knows the rows it was trained on."""
        return self.classifier.trained_on is not None


@dataclass(frozen=True, kw_only=True)
class SectionContent:
    """What a section says. Its template reads the fields as those of `section`."""

    # Those that the page's script draws again, by the names it knows them by.
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    script: Mapping[str, Any] = field(default_factory=dict)  # further data of the page's script


class Section(NamedTuple):
    """A part of the page."""

    template: str  # in `assets`
    content: Callable[[Subject], SectionContent | None]  # None where there is nothing to say


def subject_of(
    classifier: Reported, evidence: Evidence, about: About, settings: ReportSettings
) -> Subject:
    """All that sections may ask for."""
    longest = settings.class_letters
    classes = [class_name(label, about.target, longest) for label in classifier.classes_.tolist()]
    columns = list(about.columns)
    if len(columns) != evidence.rows.shape[1]:
        columns = names_of(classifier, evidence.rows)
    two = _two_classes(classifier, evidence, settings) if len(classes) == 2 else None
    return Subject(classifier, evidence, about, settings, classes, columns, two)


def _two_classes(classifier: Reported, evidence: Evidence, settings: ReportSettings) -> TwoClasses:
    counts, rare = evidence.counts, evidence.rare
    if not counts.all():
        raise InputError("A report on two classes needs rows of both.")
    ranking = rank(classifier, evidence, rare)
    shown = evidence.proportional()
    operating = OperatingDisplay.from_projections(
        classifier,
        evidence.values[shown, 0],
        evidence.labels[shown],
        positive=rare,
    )
    priors = np.exp(classifier.machine_.log_priors)
    return TwoClasses(
        rare=rare,
        ranking=ranking,
        economy=economy(classifier, evidence, ranking, settings.same_weight),
        operating=operating,
        priors=priors.tolist(),
        priors_differ=not np.allclose(priors, counts / counts.sum(), atol=0.005, rtol=0.05),
    )


def class_name(label: Any, target: str, longest: int = 80) -> str:
    """A class as text; a bare "yes" or 1 means little without the name of its column."""
    text = label_text(label)
    bare = not isinstance(label, str) or text.lower() in BARE
    return visible(f"{target} = {text}" if target and bare else text, longest)
