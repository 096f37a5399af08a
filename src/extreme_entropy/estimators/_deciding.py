"""Deciding: summary ↦ machine ↦ projections, probabilities and labels."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from ..engines.blocks import engine_of
from ..engines.threads import one_blas_thread, run
from ..errors import DegenerateWarning, FewRowsWarning, IncompleteError
from ..features.chunks import FEW_LANES
from ..machine.machine import Machine, solve
from . import _stakes
from ._line import (
    Answer,
    Line,
    answer,
    count_right,
    labels,
    log_probabilities,
    none,
    positions,
    probabilities,
    scores,
)
from ._rows import check_x
from ._state import State
from ._tables import in_blocks

Array = np.ndarray[Any, Any]


class Decider(State):
    """The methods that use what a machine has learnt."""

    def project(self, X: Any) -> Array:
        """βᵀφ(x): where each row falls on the line.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_pairs) with more than two classes
            Projections; with more classes one column for each pair of classes.
        """
        return self._answer(X, positions)

    def decision_function(self, X: Any) -> Array:
        """Log-odds of the second class, costs and priors included; ln(C p) with more classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            Positive means the second class; with more classes the largest column wins.
        """
        return self._answer(X, scores)

    def predict(self, X: Any) -> Array:
        """The class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        return self._answer(X, labels)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of `predict_proba`, exact also where probabilities vanish.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        return self._answer(X, log_probabilities)

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class under the priors. Costs do not change probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`; rows sum to one.
        """
        return self._answer(X, probabilities)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            Accuracy; for rare classes see `gmean_score`.
        """
        engine = engine_of(X)
        if engine is None:
            return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))
        table = in_blocks(self, engine(X, y, sample_weight), reset=False)
        right, total = table.add_up(count_right, self._line())
        return float(right / total)

    def with_costs(self, costs: Mapping[Any, float] | None = None, *, priors: Any = None) -> Self:
        """The same machine under other costs and priors, at once and without data.

        Only the thresholds move; β and the Gaussians stay.

        Parameters
        ----------
        costs : dict of label to cost, optional
            Cost of taking a row of that label for another. Labels left out cost 1.
        priors : optional
            As in the constructor; None keeps the present ones.

        Returns
        -------
        classifier
            A new fitted classifier; this one is unchanged.
        """
        machine = self.machine_
        other = copy.copy(self)
        other.costs = costs
        other.priors = self.priors if priors is None else priors
        other._validate_params()
        _stakes.check(other.priors, other.costs, other.classes_)
        other._solved = (machine.with_stakes(*other._log_stakes()), self._ready()[1])
        return other

    # ---------------------------------------------------------------- what was fitted

    @property
    def machine_(self) -> Machine:
        """The solved machine: operators, Gaussians, shrinkage, priors and costs."""
        return self._ready()[0]

    @property
    def beta_(self) -> Array:
        """β on φ(x), (h,); with more than two classes one row for each pair."""
        return self._one(self.machine_.operators)

    @property
    def thresholds_(self) -> Any:
        """Where the decision changes on the line: an array of none, one or two points."""
        return self._one(self.machine_.thresholds)

    @property
    def shrinkage_(self) -> Array:
        """ε of each class."""
        return self.machine_.shrinkage

    @property
    def ridge_(self) -> Any:
        """What was added to the diagonal of Σ: `ridge`, or what "auto" chose."""
        return self._one(self.machine_.ridges)

    @property
    def divergence_(self) -> Any:
        """D_CS of the two Gaussians on the line."""
        return self._one(self.machine_.divergences)

    @property
    def means_(self) -> Array:
        """Means of the two Gaussians on the line, in the order of `classes_`."""
        return self._one(np.array([g.means for g in self.machine_.gaussians]))

    @property
    def variances_(self) -> Array:
        """Variances of the two Gaussians on the line, in the order of `classes_`."""
        return self._one(np.array([g.variances for g in self.machine_.gaussians]))

    def _one(self, by_pair: Any) -> Any:
        return by_pair[0] if len(self.classes_) == 2 else by_pair

    # ---------------------------------------------------------------- the steps

    def _solve(self) -> tuple[Machine, Array]:
        log_priors, log_costs = self._log_stakes()
        with one_blas_thread():
            machine = solve(
                self.summary_,
                shrinkage=self.shrinkage,
                ridge=self.ridge,
                cross_fitted=self.decision == "cross-fitted",
                log_priors=log_priors,
                log_costs=log_costs,
                run=partial(run, n_jobs=self.n_jobs, ahead=FEW_LANES),
            )
        self._solved = (machine, self.feature_map_.readout(machine.operators))
        self._warn(machine)
        return self._solved

    def _ready(self) -> tuple[Machine, Array]:
        """The machine and its readout, solved when first needed."""
        check_is_fitted(self)
        if self._solved is None:
            missing = self._classes_without_rows()
            if missing:
                raise IncompleteError(
                    f"Every class needs rows before the machine can decide; {missing} "
                    "has none yet. Learn rows of it with partial_fit, or merge a machine that has."
                )
            return self._solve()
        return self._solved

    def _line(self) -> Line:
        """All that an answer to a row needs."""
        machine, readout = self._ready()
        return Line(self.feature_map_, readout, machine, self.classes_)

    def _answer(self, X: Any, kind: Answer) -> Any:
        """An answer to each row: at once, or when it is asked for where X lies in blocks."""
        line = self._line()
        engine = engine_of(X)
        if engine is None:
            return kind(line, self._project(X))
        table = in_blocks(self, engine(X, None, None), reset=False)
        shared = table.dtype, table.d, line, kind
        return table.blocks.each(answer, *shared, like=none(line, kind))

    def _project(self, X: Any) -> Array:
        X = check_x(self, X, reset=False)
        return self._line().project(X, partial(run, n_jobs=self.n_jobs, ahead=FEW_LANES))

    def _log_stakes(self) -> tuple[Array, Array]:
        counts = np.sum(self.summary_.counts, axis=1)
        return (
            _stakes.log_priors(self.priors, self.classes_, counts),
            _stakes.log_costs(self.costs, self.classes_),
        )

    def _warn(self, machine: Machine) -> None:
        if "degenerate" in machine.remarks:
            warnings.warn(
                "Two classes have the same mean in feature space, so the machine cannot tell them "
                "apart and gives a constant answer (probabilities are the priors). Either the "
                "features carry no information, or the neurons are saturated: all rows look alike "
                "to them, as with activation='sig' on many columns. "
                "Try another activation or scale, such as the default ones.",
                DegenerateWarning,
                stacklevel=4,
            )
        counts = np.sum(self.summary_.counts, axis=1)
        if "one row" in machine.remarks:
            warnings.warn(
                f"Class {self.classes_[counts <= 1].tolist()} has one row only; its covariance is "
                "taken as 0 and the other classes carry the solve. "
                "Expect little of this class until it has more rows.",
                FewRowsWarning,
                stacklevel=4,
            )
        elif "not cross-fitted" in machine.remarks:
            warnings.warn(
                f"A class has too few distinct rows to be held out (the fewest: {counts.min():g}), "
                "so the Gaussians of its training rows decide, as with decision='paper'.",
                FewRowsWarning,
                stacklevel=4,
            )
