"""What ELM, WELM and LS-SVM share: outputs f(x) = φ(x)β + b fitted to targets of ±1.

Two classes have one column of targets, +1 for the second class; more have one column each, +1 on
the rows of the class and −1 on all others. The sign, or the largest column, decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..engines.threads import FEW_SLICES, Threads, one_blas_thread
from ..estimators.base import EntropyClassifier
from ..estimators.inputs import (
    check_rows,
    check_x,
    classes_of,
    columns_of,
    fitted_columns,
    set_columns,
)
from ..estimators.mixin import EstimatorMixin
from ..estimators.saving import save
from ..estimators.schema import Rule, check_outputs, require
from ..estimators.tables import InMemory
from ..features.feature_map import FeatureMap
from ..machine.predictor import project
from ..metrics import predicted_classes

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Outputs:
    """f(x) = φ(x)β + b."""

    phi: FeatureMap
    readout: Array  # β   (h, k), by rows as in a file, so that products have the same bits
    bias: Array  # b   (k,)

    def __call__(self, X: Any, n_jobs: int | None) -> Array:
        """The outputs of checked rows         (n, k)."""
        # β may be large and of either sign: nothing may be rounded more than when it was solved.
        dtype = np.result_type(X.dtype, self.readout.dtype)
        phi, readout = self.phi.in_precision(dtype), self.readout.astype(dtype)
        execute = Threads(n_jobs, ahead=FEW_SLICES)
        with one_blas_thread():
            return project(phi, [readout], X.astype(dtype, copy=False), execute) + self.bias


class LeastSquaresClassifier(EstimatorMixin):
    """Base of `ELMClassifier`, `WELMClassifier` and `LSSVMClassifier`: all but the solving."""

    scale: str | None
    n_jobs: int | None
    random_state: Any
    classes_: Array
    _outputs: Outputs
    # What else is fitted, and what it must be.
    _also_fitted: ClassVar[dict[str, Rule]] = {}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: EntropyClassifier._parameter_constraints[name]
        for name in ("scale", "n_jobs", "random_state")
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw φ and solve for the outputs.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows to learn from.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_samples,), optional
            A weight counts as repetition of the row: 2 is the row twice, 0 is no row.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._validate_params()
        columns, X, y, weight = check_rows(self, X, y, sample_weight, reset=True)
        table = InMemory(columns, X, y, weight, self.n_jobs)
        classes = classes_of(table.labels)
        self._outputs = self._solve(table, table.encode(classes), len(classes))
        self.classes_ = classes
        set_columns(self, columns)
        return self

    def project(self, X: Any) -> Array:
        """f(x): the output of each row, fitted to ±1 for its class.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            Outputs; with more classes one column for each.
        """
        check_is_fitted(self)
        return self._by_column(self._outputs(check_x(self, X), self.n_jobs).T).T

    def decision_function(self, X: Any) -> Array:
        """The same as `project`: these classifiers decide by the output itself.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            Positive means the second class; with more classes the largest column wins.
        """
        return self.project(X)

    def predict(self, X: Any) -> Array:
        """The class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        outputs = self.project(X)
        return self.classes_[predicted_classes(outputs)]

    def save(self, path: str | Path | BinaryIO) -> None:
        """Write the fitted classifier to a file, whole or not at all.

        Parameters
        ----------
        path : path-like or binary file object
            Where to. `extreme_entropy.load(path)` reads it back.
        """
        save(self, path)

    def to_onnx(
        self,
        path: str | Path,
        *,
        dtype: Literal["float64", "float32"] = "float64",
        columns: bool | None = None,
    ) -> None:
        """Write the fitted classifier as an ONNX model, which runs without Python.

        It has two outputs, `label` and `decision`, which are those of `predict` and
        `decision_function`; with two classes the second has one column. Needs the extra `onnx`.

        Parameters
        ----------
        path : path-like
            Where to. The file is written whole or not at all.
        dtype : {"float64", "float32"}, default="float64"
            Precision of inputs and `decision`. Features are in double precision in any case.
        columns : bool, optional
            Whether each column is an input of its own, of shape (rows, 1) and with the name of the
            column; otherwise all of them are one matrix `X`.
        """
        check_is_fitted(self)
        from ..export.model import outputs_model, write_onnx  # which need the extra

        outputs, names = self._outputs, getattr(self, "feature_names_in_", None)
        given = outputs.phi, outputs.readout, outputs.bias, self.classes_
        write_onnx(path, partial(outputs_model, *given, names, dtype, columns))

    def fitted_parts(self) -> dict[str, Any]:
        """All that was learnt, by name: what a file holds.

        Returns
        -------
        dict
            Plain values, arrays and frozen dataclasses, for `set_fitted_parts`.
        """
        outputs = self._outputs
        return {
            **fitted_columns(self),
            **{name: getattr(self, name) for name in self._also_fitted},
            "feature_map_": outputs.phi,
            "readout": outputs.readout,
            "bias": outputs.bias,
        }

    def set_fitted_parts(self, parts: dict[str, Any]) -> Self:
        """Become fitted; ValueError unless these are the parts of one such classifier.

        Parameters
        ----------
        parts : dict
            From the `fitted_parts` of another classifier of this kind.

        Returns
        -------
        self
            The fitted classifier.
        """
        check_outputs(parts, self._also_fitted)
        phi = parts["feature_map_"]
        outputs = Outputs(phi, parts["readout"], parts["bias"])
        with np.errstate(all="ignore"):
            of_typical = outputs(phi.encoding.typical[np.newaxis], None)
        require(np.isfinite(of_typical).all(), "the outputs of a typical row", "finite", of_typical)
        self._outputs, self.classes_ = outputs, parts["classes_"]
        set_columns(self, columns_of(parts, phi.encoding.kinds))
        self.__dict__.update({name: parts[name] for name in self._also_fitted})
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_outputs")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _solve(self, table: InMemory, labels: Array, n_classes: int) -> Outputs:
        """The outputs for checked rows with labels 0 … n_classes − 1."""
        raise NotImplementedError

    def _by_column(self, columns: Array) -> Array:
        return columns[0] if len(columns) == 1 else columns


def targets(n_classes: int) -> Array:
    """The targets of a row of each class: (2, 1) for two classes, else (n_classes, n_classes)."""
    return np.array([[-1.0], [1.0]]) if n_classes == 2 else 2 * np.eye(n_classes) - 1
