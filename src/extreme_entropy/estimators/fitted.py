"""What a classifier has learned: frozen values that are replaced whole, and attributes of them."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..features.feature_map import FeatureMap
from ..machine.column_importance import importances
from ..machine.machine import Machine
from ..machine.predictor import Predictor
from ..moments.summary import ClassCounts
from .inputs import Columns
from .mixin import EstimatorMixin

Array = np.ndarray[Any, Any]


class Learned(NamedTuple):
    """What a classifier has learned; it is replaced whole, so that no thread sees a part of it."""

    classes: Array
    feature_map: FeatureMap
    summary: Any  # a Summary; of a slim classifier ClassCounts
    is_twin: bool = False  # φ and classes are another classifier's, and stay

    def emptied(self) -> Learned:
        """The same φ and classes without any rows."""
        return self._replace(summary=self.summary.emptied())

    @property
    def is_complete(self) -> bool:
        """Whether each class has rows, so that there can be predictions."""
        return bool(self.summary.counts.any(axis=1).all())


class Solved(NamedTuple):
    """A solved machine, and what it was solved from."""

    learned: Learned
    predictor: Predictor


class FittedState(EstimatorMixin):
    """The state of a classifier, and what users read of it."""

    n_features_in_: int
    feature_names_in_: Array
    _learned: Learned | None = None
    _solved: Solved | None = None  # until a machine is first needed

    def _solve(self) -> Solved:
        """The solved machine with its φ."""
        raise NotImplementedError

    def set_fitted(self, columns: Columns, learned: Learned) -> Self:
        """Become the classifier that has learnt this of rows with these columns."""
        raise NotImplementedError

    def _with_sums(self) -> Learned:
        """What was learned, or an error if there are no sums to add to or to take from."""
        check_is_fitted(self)
        assert self._learned is not None
        if isinstance(self._learned.summary, ClassCounts):
            raise InputError(
                "Rows can be learnt, merged and forgotten only where sums are kept; this "
                "classifier was made by slim(), or saved with sums=False, for predictions alone. "
                "Use the classifier it was made from."
            )
        return self._learned

    def _unfitted(self) -> Self:
        """A classifier with the same parameters that has learnt nothing."""
        return super().__sklearn_clone__()

    def __sklearn_is_fitted__(self) -> bool:
        return self._learned is not None

    @property
    def is_twin(self) -> bool:
        """Whether φ and classes are another classifier's, and stay."""
        return self._learned is not None and self._learned.is_twin

    @property
    def classes_(self) -> Array:
        """Labels, sorted."""
        return self._of_learned("classes")

    @property
    def feature_map_(self) -> FeatureMap:
        """φ, drawn once and frozen."""
        return self._of_learned("feature_map")

    @property
    def summary_(self) -> Any:
        """The sums of the rows, by class and fold."""
        return self._of_learned("summary")

    def _of_learned(self, name: str) -> Any:
        if self._learned is None:
            raise AttributeError(
                f"This {type(self).__name__} has no {name}_ until it is fitted; call fit first."
            )
        return getattr(self._learned, name)

    @property
    def machine_(self) -> Machine:
        """The solved machine: operators, Gaussians, shrinkage, priors and costs."""
        return self._solve().predictor.machine

    @property
    def beta_(self) -> Array:
        """β on φ(x), (h,); with more than two classes one row for each pair."""
        return self._by_pair(self.machine_.leaves[0].operators)

    @property
    def thresholds_(self) -> Any:
        """Projections at which the decision changes: an array of none, one or two."""
        return self._by_pair(self.machine_.thresholds)

    @property
    def shrinkage_(self) -> Array:
        """ε of each class."""
        return self.machine_.leaves[0].shrinkage

    @property
    def ridge_(self) -> Any:
        """What was added to the diagonal of Σ: `ridge`, or what "auto" chose."""
        return self._by_pair(self.machine_.leaves[0].ridges)

    @property
    def divergence_(self) -> Any:
        """D_CS of the two Gaussians of projections."""
        return self._by_pair(self.machine_.divergences)

    @property
    def means_(self) -> Array:
        """Means of the two Gaussians of projections, in the order of `classes_`."""
        return self._by_pair(np.array([curve.means for curve in self.machine_.curves]))

    @property
    def variances_(self) -> Array:
        """Variances of the two Gaussians of projections, in the order of `classes_`."""
        return self._by_pair(np.array([curve.variances for curve in self.machine_.curves]))

    @property
    def feature_importances_(self) -> Array:
        """How much each column of X matters; they sum to one.

        Measured on the rows kept with φ, or learned as relevance where none are kept.
        """
        check_is_fitted(self)
        phi = self.feature_map_
        if len(phi.held.Z):
            return importances(self._solve().predictor)
        weights, encoding = phi.relevance, phi.encoding
        if weights is None:
            raise AttributeError(
                "feature_importances_ needs relevance='learned'; this classifier was fitted with "
                "relevance='uniform', which takes all columns alike."
            )
        shares = np.bincount(
            encoding.origins, weights=weights**2, minlength=len(encoding.table_kinds)
        )
        return shares / shares.sum()

    def _by_pair(self, values: Any) -> Any:
        return values[0] if len(self.classes_) == 2 else values
