"""Rows in folds, wherever they lie: what is summed by fold, and scores of held-out rows.

Rows in memory carry the folds that they were put into; those in blocks are in folds by their
content, so that no block needs to know of another. There only sums and counts come back: a score
is computed from the confusion matrix, which adds up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from ..drawing.sampling import Sampled, Spec
from ..engines.threads import Executor, Threads
from ..errors import InputError
from ..estimators.fitted import EstimatorMixin
from ..estimators.tables import InMemory, Table
from ..features.content import ContentHash, folds_of
from ..features.feature_map import FeatureMap
from ..machine.machine import Machine
from ..machine.predictor import Predictor
from ..metrics import predicted_classes
from ..moments.summary import FoldMoments
from ..shapes import Array
from .folds import UNTESTED

Machines = list[list[Machine]]  # by size and fold


@dataclass(frozen=True, slots=True)
class FoldRule:
    """The fold in which a row is tested; rows that φ was drawn from are in none."""

    n_folds: int
    content: ContentHash
    classes: Array
    sampled: Sampled | None = None  # what φ was drawn from, if its rows are not to be tested

    def __call__(self, rows: InMemory) -> Array:
        folds = rows.folds
        if folds is None:
            folds = folds_of(rows.hashes(self.content), self.n_folds).astype(np.intp)
        if self.sampled is None:
            return folds
        hashes, labels = rows.hashes(self.sampled.content), rows.encode(self.classes)
        return np.where(self.sampled.saw(hashes, labels), UNTESTED, folds)

    def counts(self, rows: InMemory) -> Array:
        """Rows of each class in each fold   (n_classes · n_folds,)."""
        folds = self(rows)
        tested = folds != UNTESTED
        groups = rows.encode(self.classes)[tested].astype(np.intp) * self.n_folds + folds[tested]
        return np.bincount(groups, minlength=len(self.classes) * self.n_folds)


class Parts(NamedTuple):
    """How rows in folds, and those in none, are numbered by part."""

    n_folds: int
    per_fold: int
    untested: int

    @property
    def total(self) -> int:
        return self.n_folds * self.per_fold + self.untested


@dataclass(frozen=True, slots=True)
class PartRule:
    """The part of a fold that a row is in, by its content."""

    rule: FoldRule
    content: ContentHash
    parts: Parts

    def __call__(self, rows: InMemory) -> Array:
        folds, (n_folds, per_fold, untested) = self.rule(rows), self.parts
        held_out = folds != UNTESTED
        parts = np.where(held_out, folds, n_folds) * per_fold
        within = np.where(held_out, per_fold, untested).astype(np.uint64)
        return parts + (rows.hashes(self.content) % within).astype(parts.dtype)


@dataclass(frozen=True, slots=True)
class FoldedTable:
    """Rows in folds, and what φ is drawn from."""

    table: Table
    classes: Array
    rule: FoldRule
    scorer: Any
    seed: int
    specs: Sequence[Spec]
    sampled: Sampled

    @property
    def n_folds(self) -> int:
        return self.rule.n_folds

    def unseen(self, least: float) -> FoldedTable | None:
        """The same with sampled rows in no fold; None where too few others would be left.

        Each class must keep a share of at least `least` of its rows in each fold.
        """
        if not self.sampled.rows_sampled:
            return self
        rule = replace(self.rule, sampled=self.sampled)
        before, after = self.table.add_up(partial(_counts_by, (self.rule, rule)))
        return replace(self, rule=rule) if (after >= least * before).all() else None

    def without(self, fold: int) -> FoldedTable:
        """The training set of a fold, with a sample of its own."""
        table = self.table.where(partial(_is_outside, self.rule, fold))
        sampled = Sampled.of(table, self.seed, self.specs, self.classes)
        return replace(self, table=table, sampled=sampled)

    def summarise(self, phi: FeatureMap, parts: Parts, sizes: Sequence[int]) -> list[FoldMoments]:
        """Summaries by part, for each number of features."""
        rule = PartRule(self.rule, self.sampled.content, parts)
        work = partial(
            InMemory.summarise,
            phi=phi,
            classes=self.classes,
            n_folds=parts.total,
            rule=rule,
            sizes=sizes,
        )
        return self.table.add_up(work).values

    def scores(
        self, phi: FeatureMap, machines: Machines, folds: Sequence[int], sizes: Sequence[int]
    ) -> Array:
        """Scores of the machines on each of these folds   (sizes, folds)."""
        solved = FoldMachines(phi, machines, self.rule, folds, sizes)
        if self.table.is_in_memory:
            return self.table.add_up(partial(_scores, solved, self.scorer))
        confusion = self.table.add_up(partial(_confusion, solved))
        scores = np.empty(confusion.shape[:2])
        for place in np.ndindex(scores.shape):
            scores[place] = score_counts(self.scorer, self.classes, confusion[place])
        return scores


@dataclass(frozen=True, slots=True)
class FoldMachines:
    """Machines by size and fold, each to be scored on the rows of its fold."""

    phi: FeatureMap
    machines: Machines
    rule: FoldRule
    folds: Sequence[int]
    sizes: Sequence[int]

    def project(
        self, table: InMemory
    ) -> Iterator[tuple[tuple[int, int], Machine, InMemory, Array]]:
        """Size and fold, machine, held-out rows of the fold, and their projections."""
        tested_in = self.rule(table)
        for j, fold in enumerate(self.folds):
            rows = table.at(tested_in == fold)
            if not rows.X.shape[0]:
                continue
            machines = [by_fold[j] for by_fold in self.machines]
            X, execute = rows.to_learn(self.phi), Threads(rows.n_jobs)
            paths = project_all(self.phi, machines, self.sizes, X, execute)
            for k, (machine, projections) in enumerate(zip(machines, paths, strict=True)):
                yield (k, j), machine, rows, projections


def project_all(
    phi: FeatureMap, machines: list[Machine], sizes: Sequence[int], X: Any, execute: Executor
) -> list[Array]:
    """The projections of rows by the machine of each size, from one pass of φ."""
    # Operators of all sizes side by side, zero on features that a size lacks.
    operators = [np.zeros((len(machine.pairs), phi.h)) for machine in machines]
    for padded, machine, k in zip(operators, machines, sizes, strict=True):
        padded[:, :k] = machine.leaves[0].operators
    stacked, [leaf] = np.vstack(operators), machines[0].leaves
    leaf = replace(leaf, operators=stacked, constants=np.zeros(len(stacked)))
    machine = replace(machines[0], pairs=((0, 1),) * len(stacked), leaves=(leaf,))
    projections = Predictor(phi, machine, np.empty(0)).project(X, execute)
    return np.split(projections, np.cumsum([len(m.pairs) for m in machines])[:-1], axis=1)


# -------------------------------------------------------------------- work on rows


def _counts_by(rules: Sequence[FoldRule], rows: InMemory) -> Array:
    return np.array([rule.counts(rows) for rule in rules])


def _is_outside(rule: FoldRule, fold: int, rows: InMemory) -> Array:
    return rule(rows) != fold


def _scores(solved: FoldMachines, scorer: Any, table: InMemory) -> Array:
    """The score of each machine on the rows of its fold   (sizes, folds)."""
    scores = np.empty((len(solved.sizes), len(solved.folds)))
    for place, machine, rows, projections in solved.project(table):
        weight = {} if rows.weight is None else {"sample_weight": rows.weight}
        prefitted = OnProjections(solved.rule.classes, machine)
        scores[place] = scorer(prefitted, projections, rows.y, **weight)
    return scores


def _confusion(solved: FoldMachines, table: InMemory) -> Array:
    """Confusion matrices   (sizes, folds, n_classes, n_classes)."""
    n = len(solved.rule.classes)
    confusion = np.zeros((len(solved.sizes), len(solved.folds), n, n))
    for place, machine, rows, projections in solved.project(table):
        labels = rows.encode(solved.rule.classes).astype(np.intp)
        pairs = labels * n + predicted_classes(machine.scores(projections))
        counts = np.bincount(pairs, weights=rows.weight, minlength=n * n)
        confusion[place] = counts.reshape(n, n)
    return confusion


# -------------------------------------------------------------------- what scorers are given


class Prefitted(EstimatorMixin):
    """A classifier that is fitted from the start: all that a scorer asks, and nothing to fit."""

    def __init__(self, classes: Array, machine: Machine | None = None) -> None:
        self.classes = self.classes_ = classes
        self.machine: Any = machine

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing is left to fit; scorers expect the method."""
        return self


class OnProjections(Prefitted, ClassifierMixin, BaseEstimator):
    """A solved machine whose rows are projections."""

    def decision_function(self, X: Array) -> Array:
        return self.machine.scores(X)

    def predict(self, X: Array) -> Array:
        return self.classes_[predicted_classes(self.machine.scores(X))]

    def predict_proba(self, X: Array) -> Array:
        return self.machine.probabilities(X)


class OnLabels(Prefitted, ClassifierMixin, BaseEstimator):
    """A classifier whose rows are the positions of the labels it predicts."""

    def predict(self, X: Array) -> Array:
        return self.classes_[X[:, 0]]

    def predict_proba(self, X: Array) -> Array:
        """Probabilities do not add up over blocks."""
        raise InputError(
            "Rows that lie in blocks can be scored by their labels alone, since only counts add "
            "up. Use 'gmean', 'balanced_accuracy', 'f1' or the like, or gather the rows."
        )

    decision_function = predict_proba
    predict_log_proba = predict_proba


def score_counts(scorer: Any, classes: Array, confusion: Array) -> float:
    """The score of a confusion matrix."""
    true, predicted = np.nonzero(confusion)
    weight = confusion[true, predicted]
    rows = predicted[:, np.newaxis]
    return float(scorer(OnLabels(classes), rows, classes[true], sample_weight=weight))


def check_scorer(scorer: Any, name: Any) -> None:
    """Raise unless the scorer needs labels alone, and takes weights: before the rows are read."""
    try:
        score_counts(scorer, np.array([0, 1]), np.array([[3.0, 1.0], [2.0, 4.0]]))
    except TypeError as error:
        raise InputError(
            f"Rows that lie in blocks are scored from counts, so that scoring={name!r} must take "
            f"`sample_weight`; it does not ({error}). Use a scorer made with make_scorer."
        ) from error
