"""An mlflow flavour: fitted classifiers are logged as the files that `save` writes."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, Protocol, get_args

from . import __version__
from .estimators.saving import load

try:
    import mlflow.pyfunc
    from mlflow.models import Model, infer_signature
except ImportError as _error:
    raise ImportError("The mlflow flavour needs mlflow: pip install mlflow-skinny") from _error

NAME = "extreme_entropy"  # of the flavour
FILE = "model.eem"

Method = Literal["predict", "predict_proba", "decision_function"]


class Savable(Protocol):
    """A fitted classifier, or a search that found one."""

    def save(self, path: Path, /) -> None: ...


def save_model(
    classifier: Savable,
    path: str | Path,
    *,
    method: Method = "predict",
    mlflow_model: Model | None = None,
    **options: Any,
) -> None:
    """Write a fitted classifier as an mlflow model to a folder.

    Nothing in it is pickled, so no types must be trusted: the classifier is the file that its
    `save` writes, and loading it runs no code from the file.

    Parameters
    ----------
    classifier : fitted classifier of this library
        Or a search, of which its best classifier is written.
    path : path-like
        The folder, which must not exist yet.
    method : {"predict", "predict_proba", "decision_function"}, default="predict"
        What `mlflow.pyfunc.load_model(path).predict` answers. `model_config={"method": …}` at
        loading asks for another one.
    mlflow_model : mlflow.models.Model, default=None
        What the flavour is added to; a new one if None.
    **options
        Those of `mlflow.pyfunc.save_model`, such as `signature` (by default that of
        `input_example`, if there is one), `metadata` and `pip_requirements` (by default this
        version of extreme-entropy).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import extreme_entropy.mlflow
    >>> from sklearn.datasets import load_iris
    >>> from extreme_entropy import EEMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = EEMClassifier(30, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     extreme_entropy.mlflow.save_model(classifier, Path(folder, "model"))
    ...     again = extreme_entropy.mlflow.load_model(Path(folder, "model"))
    >>> bool((again.predict_proba(X) == classifier.predict_proba(X)).all())
    True
    """
    if options.get("conda_env") is None:
        options.setdefault("pip_requirements", [f"extreme-entropy=={__version__}"])
    example = options.get("input_example")
    if example is not None and options.get("signature") is None:
        options["signature"] = infer_signature(example, getattr(classifier, method)(example))
    model = Model() if mlflow_model is None else mlflow_model
    model.add_flavor(NAME, version=__version__, data=f"data/{FILE}")
    with TemporaryDirectory() as folder:
        file = Path(folder, FILE)
        classifier.save(file)
        mlflow.pyfunc.save_model(
            str(path),
            loader_module=__name__,
            data_path=str(file),
            mlflow_model=model,
            model_config={"method": method},
            **options,
        )


def log_model(classifier: Savable, name: str = "model", **options: Any) -> Any:
    """Log a fitted classifier to the current run.

    Parameters
    ----------
    classifier : fitted classifier of this library
        Or a search, of which its best classifier is written.
    name : str, default="model"
        Of the logged model.
    **options
        Those of `save_model`, and of `mlflow.models.Model.log`, such as `registered_model_name`.

    Returns
    -------
    mlflow.models.model.ModelInfo
        With `model_uri`, which `load_model` takes.
    """
    flavour = sys.modules[__name__]
    return Model.log(None, name=name, flavor=flavour, classifier=classifier, **options)


def load_model(model_uri: str | Path) -> Any:
    """The classifier that `log_model` or `save_model` wrote.

    Parameters
    ----------
    model_uri : str or path-like
        What `log_model` returned as `model_uri`, or the folder of `save_model`.

    Returns
    -------
    classifier
        The fitted classifier; its predictions are the same to the last bit.
    """
    folder = mlflow.artifacts.download_artifacts(str(model_uri))
    return load(Path(folder, Model.load(folder).flavors[NAME]["data"]))


class _Answers:
    """What `mlflow.pyfunc` asks for predictions."""

    def __init__(self, classifier: Any, method: str) -> None:
        self.classifier = classifier
        self.method = method

    def predict(self, X: Any, params: dict[str, Any] | None = None) -> Any:
        return getattr(self.classifier, self.method)(X)


def _load_pyfunc(path: str, model_config: dict[str, Any] | None = None) -> _Answers:
    """What `mlflow.pyfunc.load_model` calls."""
    method = (model_config or {}).get("method", "predict")
    if method not in get_args(Method):
        raise ValueError(f"`method` must be one of {', '.join(get_args(Method))}; got {method!r}.")
    return _Answers(load(path), method)
