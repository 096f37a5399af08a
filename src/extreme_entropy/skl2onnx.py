"""Our classifiers as steps of pipelines that skl2onnx converts."""

from __future__ import annotations

from .estimators.classifier import ExtremeEntropyClassifier
from .estimators.eekm import EEKMClassifier
from .estimators.eem import EEMClassifier
from .selection.eekm_cv import EEKMClassifierCV
from .selection.eem_cv import EEMClassifierCV

CLASSIFIERS = (
    *(ExtremeEntropyClassifier, EEMClassifier, EEKMClassifier),
    *(EEMClassifierCV, EEKMClassifierCV),
)


def register_skl2onnx() -> None:
    """Let `skl2onnx.to_onnx` convert pipelines that end in a classifier of this library.

    Needs the extra `onnx` and the package skl2onnx. Labels and probabilities are plain
    tensors, without a ZipMap. Calling it again changes nothing.

    See Also
    --------
    ExtremeEntropyClassifier.to_onnx : A classifier alone, which needs no skl2onnx.

    Examples
    --------
    >>> import onnxruntime
    >>> import skl2onnx
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from extreme_entropy import EEMClassifier, register_skl2onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), EEMClassifier(30, random_state=0)).fit(X, y)
    >>> register_skl2onnx()
    >>> model = skl2onnx.to_onnx(pipeline, X[:1])
    >>> session = onnxruntime.InferenceSession(model.SerializeToString())
    >>> label, probabilities = session.run(None, {"X": X})
    >>> bool(abs(probabilities - pipeline.predict_proba(X)).max() < 1e-6)
    True
    """
    from .export.converters import register  # which needs the extra `onnx`

    register(CLASSIFIERS)
