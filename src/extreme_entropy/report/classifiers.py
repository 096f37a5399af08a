"""A fitted classifier as a report sees it, one of this library or any with `predict_proba`.

Whatever it is, it gives each row and pair of classes a value t, and decides between the two by

    r(t) + ln(π₊ C₊ / π₋ C₋)

A classifier of this library has its projection as t and the log-ratio of two Gaussians as r. Of any
other only probabilities p are known, learnt where classes had frequencies that it does not tell.
They are taken for those of the rows, n₊ and n₋: t = ln(p₊/p₋) − ln(n₊/n₋), r(t) = t, and π are the
frequencies of the rows. With more than two classes, there is such a t for the first class with each
other one. So all pictures and the closed form of costs are the same for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..estimators.inputs import check_x
from ..machine.decision import Line
from ..machine.machine import Decision, with_first
from ..machine.predictor import Predictor
from ..moments.sketch import NO_ROWS, RowSketch, keys_of
from ..pipelines import last_step
from ..plots.drawn_rows import label_positions, project_rows
from .harmless_text import visible
from .rows import as_rows, column_as_array, column_names, with_column_of

Array = np.ndarray[Any, Any]

LEAST_PROBABILITY = 1e-12  # so that log-odds stay finite


def reported(estimator: Any, y: Any = None) -> Reported:
    """An estimator as a report sees it; `y` are the labels of all rows."""
    classifier = last_step(estimator)
    if hasattr(type(classifier), "machine_"):
        check_is_fitted(classifier)
        return LibraryClassifier(classifier, classifier.machine_)
    if not hasattr(estimator, "predict_proba"):
        raise InputError(
            "A report needs a classifier with probabilities, a method predict_proba; "
            f"{type(estimator).__name__} has none. Calibrate it with scikit-learn's "
            "CalibratedClassifierCV, or pass another."
        )
    check_is_fitted(estimator)
    k = len(estimator.classes_)
    counts = np.bincount(label_positions(estimator, np.asarray(y), y), minlength=k)
    # Frequencies only count where they may change, between two classes that both have rows.
    shares = counts / counts.sum() if counts.all() else np.full(k, 1 / k)
    decision = Decision(
        pairs=with_first(k),
        curves=(Line(1.0),) * (k - 1),
        log_priors=np.log(shares),
        log_costs=np.zeros(k),
    )
    return Reported(estimator, decision)


@dataclass(frozen=True)
class Reported:
    """A classifier of which only probabilities are known."""

    classifier: Any
    machine_: Decision  # what turns values into log-odds, probabilities and decisions

    @property
    def classes_(self) -> Array:
        """Labels, sorted."""
        return np.asarray(self.classifier.classes_)

    @property
    def gaussian(self) -> bool:
        """Whether the classifier takes its projections to be Gaussian; otherwise r(t) = a t."""
        return False

    @property
    def priors(self) -> str:
        """The name of the class frequencies it decides for: "balanced", "empirical" or "own"."""
        return "own"

    @property
    def stated_costs(self) -> bool:
        """Whether somebody gave costs; what they are, its machine knows."""
        return False

    @property
    def costs(self) -> Array:
        """Of taking a row of each class (down) for each class (across)."""
        return self.machine_.costs

    @property
    def trained_on(self) -> Array | None:
        """Training rows of each class, if it knows them."""
        return None

    @property
    def names(self) -> list[str]:
        """Names of its columns, if it knows them."""
        return [str(name) for name in getattr(self.classifier, "feature_names_in_", [])]

    @property
    def importances(self) -> Array | None:
        """How much each column matters, as the classifier itself has it; they sum to one."""
        told = getattr(self.classifier, "feature_importances_", None)  # a pipeline has none
        told = None if told is None else np.asarray(told, dtype=float)
        return None if told is None or not told.sum() > 0 else told / told.sum()

    @property
    def seed(self) -> Any:
        """`random_state`."""
        return getattr(last_step(self.classifier), "random_state", None)

    def settings(self) -> str:
        """What it is, with the parameters that are not default."""
        return visible(" ".join(repr(self.classifier).split()), 600)

    def checked(self, X: Any) -> Any:
        """Rows as the other methods take them, which positions select."""
        return as_rows(X)

    def values(self, X: Any) -> Array:
        """t of checked rows   (n, columns)."""
        p = np.asarray(self.classifier.predict_proba(X), dtype=float)
        shape = (X.shape[0], len(self.classes_))
        if p.shape != shape or not np.isfinite(p).all():
            raise InputError(
                f"predict_proba must give finite numbers of shape {shape}; "
                f"{type(self.classifier).__name__} gave {p.shape}"
                f"{'' if np.isfinite(p).all() else ' with NaN or infinity'}."
            )
        logits = np.log(np.maximum(p, LEAST_PROBABILITY)) - self.machine_.log_priors
        return logits[:, 1:] - logits[:, :1]

    def contributions(self, X: Any, others: Any) -> Array:
        """What each column adds to the scores of rows   (n, d) or (n, classes, d).

        It is what would be lost if the column had its typical cell among other rows.
        """
        n, d = X.shape
        before = self.machine_.scores(self.values(X))
        parts = np.empty((*before.shape, d))
        for j in range(d):
            typical = with_column_of(X, j, others, np.full(n, typical_row(others, j)))
            parts[..., j] = before - self.machine_.scores(self.values(typical))
        return parts

    def sketch(self, X: Any, labels: Array) -> RowSketch:
        """Which rows these are, with the positions of their classes."""
        return NO_ROWS

    def share_learnt(self, rows: RowSketch) -> float:
        """The share of rows that are those of the fit, as far as can be told."""
        return 0.0

    def notes_on(self, X: Any) -> list[str]:
        """What a reader should know: where `predict` does not choose the largest probability."""
        p = np.asarray(self.classifier.predict_proba(X))
        differ = int((np.asarray(self.classifier.predict(X)) != self.classes_[p.argmax(1)]).sum())
        if not differ:
            return []
        return [
            f"predict does not choose the most probable class in {differ:,} of {len(p):,} rows. "
            "This page decides by probabilities and costs."
        ]


@dataclass(frozen=True)
class LibraryClassifier(Reported):
    """A classifier of this library, which knows more of itself."""

    @property
    def gaussian(self) -> bool:
        return all(curve.is_gaussian for curve in self.machine_.curves)

    @property
    def priors(self) -> str:
        return self.classifier.priors if isinstance(self.classifier.priors, str) else "own"

    @property
    def stated_costs(self) -> bool:
        return self.classifier.costs is not None and not isinstance(self.classifier.costs, str)

    @property
    def costs(self) -> Array:
        costs: Array = self.machine_.costs
        return costs if self.stated_costs else costs / costs[costs > 0].min()

    @property
    def trained_on(self) -> Array | None:
        return self.classifier.summary_.counts.sum(axis=1)

    @property
    def importances(self) -> Array | None:
        return getattr(self.classifier, "feature_importances_", None)

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

    def contributions(self, X: Any, others: Any) -> Array:
        # Not `classifier.explain`, which would miss the column names of checked rows.
        classifier = self.classifier
        predictor = Predictor(classifier.feature_map_, classifier.machine_, classifier.classes_)
        return predictor.explain(X)

    def sketch(self, X: Any, labels: Array) -> RowSketch:
        return NO_ROWS.with_rows(keys_of(self.classifier.feature_map_.content(X), labels))

    def share_learnt(self, rows: RowSketch) -> float:
        return self.classifier.summary_.rows.share_of(rows)

    def notes_on(self, X: Any) -> list[str]:
        return []


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
