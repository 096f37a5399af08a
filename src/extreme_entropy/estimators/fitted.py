"""What a classifier has learned: frozen values that are replaced whole, attributes of them, files.

Files are its own, from which it can go on learning, and ONNX models.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import persistence
from ..drawing.sampling import Columns
from ..errors import InputError
from ..features.feature_map import FeatureMap
from ..machine.column_importance import importances
from ..machine.machine import Machine
from ..machine.predictor import Predictor
from ..moments.summary import ClassCounts
from ..shapes import Array, require
from .inputs import Costs, Priors, columns_of, fitted_columns, log_priors_and_costs
from .schema import check_fitted

if TYPE_CHECKING:

    class EstimatorMixin:
        """What our bases may call of scikit-learn's `BaseEstimator`, which ships no types.

        A class that derives from an untyped base is partly unknown to type checkers, and so is all
        that takes or returns one: our bases derive from this, and classifiers from both.
        """

        def __init__(self, **params: Any) -> None: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def _validate_params(self) -> None: ...
        def __sklearn_clone__(self) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

else:
    EstimatorMixin = object


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
    """The state of a classifier, what users read of it, and what files hold of it."""

    priors: Priors
    costs: Costs | None
    _has_one_leaf: ClassVar[bool] = True
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

    # ---------------------------------------------------------------- files

    def slim(self) -> Self:
        """Return a smaller copy of the classifier, for predictions only."""
        raise NotImplementedError

    def save(self, path: str | Path | BinaryIO, *, sums: bool = True) -> None:
        """Save the fitted classifier to a file, which `extreme_entropy.load` reads.

        Parameters
        ----------
        path : path-like or binary file object
            Where to. A file is written completely or not at all.
        sums : bool, default=True
            False writes what `slim()` keeps: a small file, for predictions only.
        """
        from .saving import pack  # which knows all classifiers, and so comes after them

        values, arrays = pack(self if sums else self.slim())
        persistence.write(path, values, arrays)

    def to_onnx(
        self,
        path: str | Path,
        *,
        dtype: Literal["float64", "float32"] = "float64",
        columns: bool | None = None,
    ) -> None:
        """Export the fitted classifier as an ONNX model, which runs without Python.

        Scaling, features, leaves, priors and costs are part of the model, and so is the handling of
        missing values, dates and text that the classifier was fitted on. The outputs, `label` and
        `probabilities`, are those of `predict` and `predict_proba`. Needs the extra `onnx`.

        Parameters
        ----------
        path : path-like
            Where to. The file is written completely or not at all.
        dtype : {"float64", "float32"}, default="float64"
            Precision of inputs, features and probabilities. Single precision halves the file.
        columns : bool, optional
            Whether each column is an input of its own, of shape (rows, 1) and with the name of the
            column; otherwise all of them are one matrix `X`. By default they are where some hold
            text or dates. Columns that the classifier left out are no inputs then.

        See Also
        --------
        extreme_entropy.register_skl2onnx : Convert pipelines.

        Notes
        -----
        A missing number is NaN, and a missing text the empty string. Dates are seconds since 1970
        by the clock of their place, always in double precision.

        Examples
        --------
        >>> import tempfile
        >>> import onnxruntime
        >>> from sklearn.datasets import load_iris
        >>> from extreme_entropy import EEMClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> classifier = EEMClassifier(30, random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     classifier.to_onnx(Path(folder) / "iris.onnx")
        ...     session = onnxruntime.InferenceSession(Path(folder) / "iris.onnx")
        >>> label, probabilities = session.run(None, {"X": X})
        >>> bool((label == classifier.predict(X)).all())
        True
        >>> bool(abs(probabilities - classifier.predict_proba(X)).max() < 1e-6)
        True
        """
        from ..export.onnx_model import onnx_model, write_onnx  # which need the extra

        names = getattr(self, "feature_names_in_", None)
        write_onnx(path, partial(onnx_model, self._solve().predictor, names, dtype, columns))

    def fitted_parts(self, *, solved: bool = True) -> dict[str, Any]:
        """What a file holds, by name; with the machine, if it is wanted and can be solved."""
        learned = self._learned
        return {
            **fitted_columns(self),
            "feature_map_": self.feature_map_,
            "summary_": self.summary_,
            "is_twin": self.is_twin,
            "machine": self.machine_ if solved and learned and learned.is_complete else None,
        }

    def set_fitted_parts(self, parts: dict[str, Any]) -> Self:
        """Become fitted; ValueError unless these are the parts of one such classifier."""
        check_fitted(parts, one_leaf=self._has_one_leaf)
        phi, classes, machine = (parts[name] for name in ("feature_map_", "classes_", "machine"))
        log_priors_and_costs(self.priors, self.costs, classes)
        learned = Learned(classes, phi, parts["summary_"], parts["is_twin"])
        self.set_fitted(columns_of(parts, phi.encoding.kinds), learned)
        if machine is not None:
            predictor = Predictor(phi, machine, classes)
            with np.errstate(all="ignore"):
                projection = predictor.project(phi.encoding.typical[np.newaxis])
                total = float(predictor.answer("probability", projection).sum())
            require(abs(total - 1) < 1e-6, "the probabilities of a typical row", "1 in all", total)
            self._solved = Solved(learned, predictor)
        return self
