"""A fitted classifier as a report sees it, one of this library or any with `predict_proba`.

Whatever it is, it gives each row and pair of classes a value t, and decides between the two by

    r(t) + ln(π₊ C₊ / π₋ C₋)

A classifier of this library has its projection as t and the log-ratio of two Gaussians as r. Of any
other only probabilities p are known, learnt where classes had frequencies that it does not tell.
They are taken for those of the rows, n₊ and n₋: t = ln(p₊/p₋) − ln(n₊/n₋), r(t) = t, and π are the
frequencies of the rows. That is the log-ratio of two Gaussians of variance 1 at ±½, so that all
pictures and the closed form of costs are the same for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..estimators.inputs import check_x
from ..features.content import keys_of
from ..machine.decision import GaussianPair
from ..machine.machine import Decision
from ..machine.predictor import Predictor
from ..moments.sketch import NO_ROWS, RowSketch
from ..pipelines import last_step
from ..plots.inputs import label_positions, project_rows
from .rows import as_rows, column_as_array, column_names, with_column_of
from .text import visible

Array = np.ndarray[Any, Any]

LEAST = 1e-12  # probability: log-odds stay finite
STRAIGHT = GaussianPair((-0.5, 0.5), (1.0, 1.0))  # of which the log-ratio is t itself


class Reported(Protocol):
    """What a report asks of a classifier."""

    @property
    def classes_(self) -> Array:
        """Labels, sorted."""

    @property
    def machine_(self) -> Decision:
        """What turns values into log-odds, probabilities and decisions."""

    @property
    def gaussian(self) -> bool:
        """Whether the classifier takes its projections to be Gaussian; otherwise r(t) = a t."""

    @property
    def stated_costs(self) -> bool:
        """Whether somebody gave costs; what they are, its machine knows."""

    @property
    def trained_on(self) -> Array | None:
        """Training rows of each class, if it knows them."""

    @property
    def names(self) -> list[str]:
        """Of its columns, if it knows them."""

    @property
    def importances(self) -> Array | None:
        """How much each column matters, as the classifier itself has it; they sum to one."""

    @property
    def seed(self) -> Any:
        """`random_state`."""

    def settings(self) -> str:
        """What it is, with the parameters that are not default."""

    def checked(self, X: Any) -> Any:
        """Rows as the other methods take them, which positions select."""

    def values(self, X: Any) -> Array:
        """t of checked rows   (n, columns)."""

    def pair_values(self, values: Array, pair: int) -> Array:
        """t of one pair of classes   (n,)."""

    def contributions(self, X: Any, others: Any) -> Array:
        """What columns add to the scores of rows, beside others   (n, d) or (n, classes, d)."""

    def sketch(self, X: Any, labels: Array) -> RowSketch:
        """Which rows these are, with the positions of their classes."""

    def share_learnt(self, rows: RowSketch) -> float:
        """The share of rows that are those of the fit, as far as can be told."""

    def notes_on(self, X: Any) -> list[str]:
        """What a reader should know of these predictions."""


def reported(estimator: Any, y: Any = None) -> Reported:
    """An estimator as a report sees it; `y` are the labels of all rows."""
    classifier = last_step(estimator)
    if hasattr(type(classifier), "machine_"):
        check_is_fitted(classifier)
        return LibraryClassifier(classifier)
    if not hasattr(estimator, "predict_proba"):
        raise InputError(
            "A report needs a classifier with probabilities, a method predict_proba; "
            f"{type(estimator).__name__} has none. Calibrate it with scikit-learn's "
            "CalibratedClassifierCV, or pass another."
        )
    check_is_fitted(estimator)
    return AnyClassifier.evaluated_on(estimator, y)


@dataclass(frozen=True)
class LibraryClassifier:
    """A classifier of this library."""

    classifier: Any

    @property
    def classes_(self) -> Array:
        return self.classifier.classes_

    @property
    def machine_(self) -> Any:
        return self.classifier.machine_

    @property
    def gaussian(self) -> bool:
        return all(curve.is_gaussian for curve in self.machine_.curves)

    @property
    def stated_costs(self) -> bool:
        return self.classifier.costs is not None

    @property
    def trained_on(self) -> Array | None:
        return self.classifier.summary_.counts.sum(axis=1)

    @property
    def names(self) -> list[str]:
        return [str(name) for name in getattr(self.classifier, "feature_names_in_", [])]

    @property
    def importances(self) -> Array | None:
        return getattr(self.classifier, "feature_importances_", None)

    @property
    def seed(self) -> Any:
        return self.classifier.random_state

    def settings(self) -> str:
        defaults = type(self.classifier)().get_params(deep=False)
        changed = [
            f"{name} = {visible(repr(value))}"
            for name, value in self.classifier.get_params(deep=False).items()
            if name not in ("random_state", "n_jobs") and repr(value) != repr(defaults[name])
        ]
        kind = type(self.classifier).__name__
        return f"{kind} with {', '.join(changed) or 'its default settings'}"

    def checked(self, X: Any) -> Any:
        return check_x(self.classifier, X)

    def values(self, X: Any) -> Array:
        return project_rows(self.classifier, X)

    def pair_values(self, values: Array, pair: int) -> Array:
        return values[:, pair]

    def contributions(self, X: Any, others: Any) -> Array:
        # Not `classifier.explain`, which would miss the column names of checked rows.
        classifier = self.classifier
        predictor = Predictor(classifier.feature_map_, self.machine_, classifier.classes_)
        return predictor.explain(X)

    def sketch(self, X: Any, labels: Array) -> RowSketch:
        return NO_ROWS.with_rows(keys_of(self.classifier.feature_map_.content(X), labels))

    def share_learnt(self, rows: RowSketch) -> float:
        return self.classifier.summary_.rows.share_of(rows)

    def notes_on(self, X: Any) -> list[str]:
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionOfProbabilities(Decision):
    """Decisions where ln p of each class is known, under the priors of the rows."""

    def log_odds(self, projections: Array) -> Array:
        """Log-odds of each pair's positive class."""
        if len(self.pairs) == 1:
            return Decision.log_odds(self, projections)
        first, second = np.array(self.pairs).T
        return projections[:, second] - projections[:, first]

    def log_probabilities(self, projections: Array) -> Array:
        """ln p of each class."""
        if len(self.pairs) == 1:
            return Decision.log_probabilities(self, projections)
        return projections


@dataclass(frozen=True)
class AnyClassifier:
    """A classifier of which only probabilities are known."""

    estimator: Any
    machine_: DecisionOfProbabilities

    gaussian = False
    trained_on = None
    stated_costs = False

    @classmethod
    def evaluated_on(cls, estimator: Any, y: Any) -> AnyClassifier:
        """The classifier, whose probabilities are taken to be for the frequencies of labels y."""
        k = len(estimator.classes_)
        counts = np.bincount(label_positions(estimator, np.asarray(y), y), minlength=k)
        pairs = tuple(combinations(range(k), 2))
        # Frequencies only count where they may change, between two classes that both have rows.
        shares = counts / counts.sum() if counts.all() else np.full(k, 1 / k)
        return cls(
            estimator,
            DecisionOfProbabilities(
                pairs=pairs,
                curves=(STRAIGHT,) * len(pairs),
                log_priors=np.log(shares),
                log_costs=np.zeros(k),
            ),
        )

    @property
    def classes_(self) -> Array:
        return np.asarray(self.estimator.classes_)

    @property
    def names(self) -> list[str]:
        return [str(name) for name in getattr(self.estimator, "feature_names_in_", [])]

    @cached_property
    def importances(self) -> Array | None:
        if isinstance(self.estimator, Pipeline):  # those of its last step are of other columns
            return None
        given = getattr(self.estimator, "feature_importances_", None)
        if given is None:
            return None
        given = np.asarray(given, dtype=float)
        return given / given.sum() if given.sum() > 0 else None

    @property
    def seed(self) -> Any:
        return getattr(last_step(self.estimator), "random_state", None)

    def settings(self) -> str:
        return visible(" ".join(repr(self.estimator).split()), 600)

    def checked(self, X: Any) -> Any:
        return as_rows(X)

    def values(self, X: Any) -> Array:
        p = np.asarray(self.estimator.predict_proba(X), dtype=float)
        shape = (X.shape[0], len(self.classes_))
        if p.shape != shape or not np.isfinite(p).all():
            raise InputError(
                f"predict_proba must give finite numbers of shape {shape}; "
                f"{type(self.estimator).__name__} gave {p.shape}"
                f"{'' if np.isfinite(p).all() else ' with NaN or infinity'}."
            )
        log_p = np.log(np.maximum(p, LEAST))
        if p.shape[1] > 2:
            return log_p
        prior = self.machine_.log_priors[1] - self.machine_.log_priors[0]
        return (log_p[:, 1] - log_p[:, 0] - prior)[:, np.newaxis]

    def pair_values(self, values: Array, pair: int) -> Array:
        if values.shape[1] == 1:
            return values[:, 0]
        i, j = self.machine_.pairs[pair]
        priors = self.machine_.log_priors
        return values[:, j] - values[:, i] - (priors[j] - priors[i])

    def contributions(self, X: Any, others: Any) -> Array:
        """The change of scores where a column has its typical cell instead of its own."""
        n, d = X.shape
        before = self.machine_.scores(self.values(X))
        found = np.empty((*before.shape, d))
        for j in range(d):
            typical = with_column_of(X, j, others, np.full(n, typical_row(others, j)))
            found[..., j] = before - self.machine_.scores(self.values(typical))
        return found

    def sketch(self, X: Any, labels: Array) -> RowSketch:
        return NO_ROWS

    def share_learnt(self, rows: RowSketch) -> float:
        return 0.0

    def notes_on(self, X: Any) -> list[str]:
        """Where `predict` does not choose the largest probability."""
        p = np.asarray(self.estimator.predict_proba(X))
        differ = int((np.asarray(self.estimator.predict(X)) != self.classes_[p.argmax(1)]).sum())
        if not differ:
            return []
        return [
            f"predict does not choose the most probable class in {differ:,} of {len(p):,} rows. "
            "This page decides by probabilities and costs."
        ]


def typical_row(X: Any, j: int) -> int:
    """The position of a row with the median of a column of numbers, or with its commonest cell."""
    cells = column_as_array(X, j)
    if np.issubdtype(cells.dtype, np.number):
        known = np.flatnonzero(np.isfinite(cells))
        if not len(known):
            return 0
        order = known[np.argsort(cells[known], kind="stable")]
        return int(order[(len(order) - 1) // 2])
    _, first, counts = np.unique(cells.astype(str), return_index=True, return_counts=True)
    return int(first[counts.argmax()])


def names_of(classifier: Reported, X: Any) -> list[str]:
    """Names of the columns; their numbers, if they have none."""
    known = classifier.names or column_names(X)
    return known if len(known) == X.shape[1] else [f"column {j}" for j in range(X.shape[1])]
