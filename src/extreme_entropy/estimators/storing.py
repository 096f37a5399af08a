"""A fitted classifier in files: its own, which can go on learning, and ONNX models."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Literal, Self

import numpy as np

from .. import persistence
from ..machine.predictor import Predictor
from ..shapes import require
from .fitted import FittedState, Learned, Solved
from .inputs import Costs, Priors, columns_of, fitted_columns, log_priors_and_costs
from .schema import check_fitted


class Storable(FittedState):
    """`save`, `to_onnx`, and what a file holds of a classifier."""

    priors: Priors
    costs: Costs | None
    _has_one_leaf: ClassVar[bool] = True

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
