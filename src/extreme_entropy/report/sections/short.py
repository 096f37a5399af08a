"""In short: what the classifier finds and what its mistakes cost, in a sentence and in scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from ...metrics import Outcome, ScoreInterval, by_class, probability_scores
from ..evaluation import METRICS, Evaluation, Metric
from ..subject import SectionContent, Subject
from ..verdict import Verdict, answer, verdict

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ScoreCard:
    """A score, its 95 % interval, and what it means."""

    name: str
    interval: ScoreInterval
    meaning: str


@dataclass(frozen=True, slots=True)
class Confusion:
    """Rows of a class that are taken for another."""

    true: int
    predicted: int
    rows: int
    share: float  # of all rows of the true class


@dataclass(frozen=True, kw_only=True)
class ShortContent(SectionContent):
    """What a reader should take away."""

    scores: list[ScoreCard]
    without_rows: list[int]  # classes
    without_mistake: list[tuple[int, float]]  # classes, and the share that may be mistaken still
    sampled: int  # rows in pictures, if not all are
    right: int  # rows
    worst: list[Confusion]
    hardest: int  # the class found least often
    verdict: Verdict | None  # None where a class has no rows
    outcome: Outcome  # at the costs of the verdict
    points: list[tuple[str, Outcome]]  # the model at its threshold and at others


def short(subject: Subject) -> ShortContent:
    """The headline, the scores, and what limits them."""
    evaluation, evidence = subject.evaluation, subject.evidence
    outcome = judged_outcome(subject)
    saved = outcome.saving_on_constant(outcome.cheapest_constant)
    rare = None if subject.two is None else subject.two.rare
    return ShortContent(
        verdict=verdict(outcome, saved, subject.classes, rare, evaluation.share_learnt)
        if evaluation.counts.all()
        else None,
        outcome=outcome,
        points=other_thresholds(subject, outcome),
        scores=[
            *score_cards(evaluation, subject.settings.metrics),
            *_at_these_frequencies(subject),
        ],
        without_rows=np.flatnonzero(evaluation.counts == 0).tolist(),
        without_mistake=possible_mistakes(evaluation.confusion),
        sampled=len(evidence.labels) if evidence.sampled else 0,
        right=int(np.trace(evaluation.confusion)),
        worst=worst_confusions(evaluation.confusion, subject.settings.told_confusions),
        hardest=int(np.nanargmin(subject.recalls)),
    )


def judged_outcome(subject: Subject) -> Outcome:
    """At the costs of the model; if nobody gave any, at those that its decisions imply."""
    outcome = subject.evaluation.outcome
    if subject.two is None:
        return outcome
    money = subject.two.economy
    if money.stated or money.agrees or money.miss != money.alarm:
        return outcome
    return Outcome(
        outcome.confusion, by_class(np.where(np.arange(2) == subject.two.rare, money.weight, 1))
    )


def other_thresholds(subject: Subject, outcome: Outcome) -> list[tuple[str, Outcome]]:
    """For two classes: the model as it is, where mistakes cost least, and constant answers."""
    if subject.two is None:
        best = outcome.cheapest_constant
        return [
            ("This model", outcome),
            (answer(best, subject.classes, None), outcome.constant(best)),
        ]
    rare = subject.two.rare
    miss, alarm = outcome.costs[rare, 1 - rare], outcome.costs[1 - rare, rare]
    cheapest, n = subject.two.ranking.cheapest(miss, alarm), outcome.rows
    at_best = np.zeros((2, 2))
    at_best[rare, rare], at_best[1 - rare, rare] = cheapest.found, cheapest.alarms
    at_best[:, 1 - rare] = n - at_best[:, rare]
    return [
        ("This model", outcome),
        ("Its cheapest threshold", Outcome(at_best, outcome.costs)),
        ("Flagging no row", outcome.constant(1 - rare)),
        ("Flagging every row", outcome.constant(rare)),
    ]


def score_cards(evaluation: Evaluation, metrics: Sequence[Metric] = METRICS) -> list[ScoreCard]:
    """Scores of all rows, as far as they are defined."""
    return [
        ScoreCard(metric.title, score, metric.meaning(len(evaluation.confusion)))
        for metric, score in evaluation.scores(metrics)
        if score.value is not None
    ]


def _at_these_frequencies(subject: Subject) -> list[ScoreCard]:
    """The Brier score of two classes whose frequencies are not those the classifier decides for."""
    if subject.two is None or not subject.two.priors_differ:
        return []
    classifier, evidence = subject.classifier, subject.evidence
    shown = evidence.proportional()
    values = evidence.values[shown, 0]
    prior = np.log(evidence.counts[1] / evidence.counts[0])
    odds = classifier.machine_.curves[0].log_ratio(values) + prior
    p = np.column_stack([expit(-odds), expit(odds)])
    return [
        ScoreCard(
            "Brier score at these frequencies",
            probability_scores(evidence.labels[shown], p)["brier"],
            "The same with the class frequencies of these rows as priors, as in the reliability "
            "curve below.",
        )
    ]


def possible_mistakes(confusion: Array) -> list[tuple[int, float]]:
    """Classes without a mistake, and the share that may be mistaken still, at 95 %: largest first.

    n rows without a mistake have probability (1 − p)ⁿ, which is 5 % at p = 1 − 0.05^(1/n).
    """
    possible = [
        (c, float(1 - 0.05 ** (1 / row.sum())))
        for c, row in enumerate(confusion)
        if row.sum() and row[c] == row.sum()
    ]
    return sorted(possible, key=lambda item: -item[1])


def worst_confusions(confusion: Array, most: int = 3) -> list[Confusion]:
    """The pairs of classes confused most often, by rows."""
    mistakes = confusion - np.diag(np.diag(confusion))
    order = np.argsort(-mistakes, axis=None, kind="stable")[:most]
    worst = [divmod(int(at), len(confusion)) for at in order]
    totals = confusion.sum(axis=1)
    return [
        Confusion(i, j, int(mistakes[i, j]), float(mistakes[i, j] / totals[i]))
        for i, j in worst
        if mistakes[i, j]
    ]
