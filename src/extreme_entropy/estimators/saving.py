"""A fitted classifier as plain values and arrays, and back.

Only the dataclasses of `schema` are ever built from a file, and only from arrays and plain values,
so that loading cannot run code. What was built is checked before it is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import persistence
from ..errors import FileFormatError, InputError
from ..shapes import Array, Scalar, require
from .base import EntropyClassifier
from .fitted import FittedState
from .schema import PARTS, types_of

# What can be saved ↦ the module that it lies in, imported where a file names it.
CLASSIFIERS = {
    "EEMClassifier": "extreme_entropy.estimators.eem",
    "EEKMClassifier": "extreme_entropy.estimators.eekm",
    "ExtremeEntropyClassifier": "extreme_entropy.estimators.classifier",
}
SECTIONS = ("estimator", "parameters", "fitted", "table", "checkpoint")
WRONG = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
FEWEST_HALVED = 8  # rows of a square array of which only half is written
LABEL = Scalar()
LONGEST_LABEL = 1000  # characters, which each predicted label takes
# What else classifiers and searches hold, in modules of which many are above this one.
BESIDE = (
    *("estimators.fitted.Learned", "estimators.fitted.Solved", "machine.predictor.Predictor"),
    *("selection.divergence_search.DivergenceSearch", "selection.path_cv.Path"),
    *("selection.eem_cv.EEMClassifierCV", "selection.eekm_cv.EEKMClassifierCV"),
)
# For tools that put an estimator together only from types they are told to trust, as skops does,
# and mlflow with it. None of these runs code when it is put together.
TRUSTED_TYPES: list[str] = sorted(
    [
        *(f"{module}.{name}" for name, module in CLASSIFIERS.items()),
        *(f"{part.__module__}.{name}" for name, part in PARTS.items()),
        *(f"extreme_entropy.{name}" for name in BESIDE),
    ]
)


def pack(estimator: FittedState, *, solved: bool = True) -> tuple[dict[str, Any], dict[str, Array]]:
    """A fitted classifier as plain values and arrays, which `unpack` takes."""
    check_is_fitted(estimator)
    parameters, fitted = plain_parameters(estimator), estimator.fitted_parts(solved=solved)
    arrays: dict[str, Array] = {}
    values = {
        "estimator": type(estimator).__name__,
        "parameters": _pack_items(parameters, "parameters", arrays),
        "fitted": {name: _pack(value, name, arrays) for name, value in fitted.items()},
    }
    try:
        unpack(values, arrays, "")
    except FileFormatError as error:
        raise InputError(
            f"Only what can be loaded again is saved; {error.__cause__}. Numbers so large or small "
            "come of columns without a scale; any classifier can be pickled."
        ) from error
    return values, arrays


def plain_parameters(estimator: FittedState) -> dict[str, Any]:
    """All parameters; a generator, which cannot be written down, has done its work."""
    parameters = estimator.get_params(deep=False)
    drawn = {k: None for k, v in parameters.items() if isinstance(v, np.random.RandomState)}
    return parameters | drawn


def load(path: str | Path | bytes | BinaryIO) -> Any:
    """Read a classifier that `save` wrote.

    Parameters
    ----------
    path : path-like, bytes or binary file object
        What the `save` of a classifier wrote.

    Returns
    -------
    classifier
        The fitted classifier, of the class that was saved; its predictions are the same to the
        last bit.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_breast_cancer
    >>> from extreme_entropy import EEMClassifier, load
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = EEMClassifier(50, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     classifier.save(Path(folder) / "tumours.eem")
    ...     again = load(Path(folder) / "tumours.eem")
    >>> bool((again.predict_proba(X) == classifier.predict_proba(X)).all())
    True
    """
    values, arrays = persistence.read(path)
    return unpack(values, arrays, persistence.name_of(path))


def unpack(values: dict[str, Any], arrays: dict[str, Array], path: str | Path) -> EntropyClassifier:
    """The classifier in the values and arrays of a file."""
    with understood(path):
        require(isinstance(values, dict), "the header", "an object", type(values).__name__)
        require(set(values) <= set(SECTIONS), "the header", f"among {SECTIONS}", sorted(values))
        name, arrays = values["estimator"], dict(arrays)
        require(name in CLASSIFIERS, "the estimator", " or ".join(CLASSIFIERS), name)
        parameters = {k: _unpack(v, arrays) for k, v in values["parameters"].items()}
        fitted = {k: _unpack(v, arrays) for k, v in values["fitted"].items()}
        require(not arrays, "each array", "a part of the classifier", next(iter(arrays), ""))
        kind = getattr(import_module(CLASSIFIERS[name]), name)
        known = kind().get_params(deep=False)
        names = " and ".join(known)
        require(set(parameters) == set(known), "parameters", names, sorted(parameters))
        estimator = kind(**parameters)
        estimator._validate_params()
        return estimator.set_fitted_parts(fitted)


@contextmanager
def understood(path: str | Path) -> Iterator[None]:
    """What is wrong with the content of a file becomes one error, and one sentence."""
    try:
        yield
    except WRONG as e:
        reason = str(e) if isinstance(e, ValueError) else repr(e)
        raise FileFormatError(
            f"{str(path)!r} is whole, but holds something this version does not understand "
            f"({reason}). Load it with the version of extreme-entropy that wrote it."
        ) from e


def _pack(value: Any, name: str, arrays: dict[str, Array]) -> Any:
    """A value as JSON; arrays go to `arrays` under their name."""
    kind: Any = type(value)
    if value is None or isinstance(value, str | Real | np.generic):
        return None if value is None else _label(value)
    if isinstance(value, np.ndarray):
        return _pack_array(value, name, arrays)
    if isinstance(value, tuple | list):
        items = _pack_items(dict(enumerate(value)), name, arrays)
        return {"tuple" if isinstance(value, tuple) else "list": list(items.values())}
    if isinstance(value, dict):
        items = _pack_items(dict(enumerate(value.values())), name, arrays)
        return {"dict": list(zip(map(_label, value), items.values(), strict=True))}
    if kind not in PARTS.values():
        raise InputError(
            f"A saved classifier holds numbers, strings and arrays only, never code; {name} is "
            f"{kind.__name__}. Those with activations or kernels of your own can be pickled."
        )
    fields = {field: getattr(value, field) for field in types_of(kind)}
    return {"part": kind.__name__, "fields": _pack_items(fields, name, arrays)}


def _pack_items(items: dict[Any, Any], name: str, arrays: dict[str, Array]) -> dict[Any, Any]:
    """Values by their keys as JSON, each under the name of all and its key."""
    return {key: _pack(item, f"{name}.{key}", arrays) for key, item in items.items()}


def _pack_array(array: Array, name: str, arrays: dict[str, Array]) -> dict[str, Any]:
    """Labels, or where an array of numbers is: half of it, if the other half follows from that."""
    if array.dtype.kind in "biuf":
        half, arrays[name] = _halved(array)
        return {"array": name, "half": half} if half else {"array": name}
    if array.dtype.kind == "U" and array.dtype.itemsize > 4 * LONGEST_LABEL:
        raise InputError(
            f"Labels must be of a type of at most {LONGEST_LABEL} characters to be saved; "
            f"{name} is {array.dtype}. Give them shorter names."
        )
    return {"labels": [_label(item) for item in array.tolist()], "dtype": array.dtype.str}


def _halved(array: Array) -> tuple[str, Array]:
    """What square arrays (…, n, n) are, and their upper halves; or nothing, and the arrays."""
    n = array.shape[-1] if array.ndim > 1 else 0
    if array.dtype.kind == "f" and n >= FEWEST_HALVED and array.shape[-2] == n:
        upper = ~np.tri(n, k=-1, dtype=bool)
        if np.array_equal(array, array.swapaxes(-1, -2)):
            return "symmetric", array[..., upper]
        if not array[..., ~upper].any():
            return "triangular", array[..., upper]
    return "", array


def _whole(half: Array, kind: str) -> Array:
    """The square arrays that `_halved` took a half of."""
    require(kind in ("symmetric", "triangular"), "a square array", "symmetric or triangular", kind)
    size = half.shape[-1] if half.ndim else 0
    n = int((8 * size + 1) ** 0.5) // 2
    require(half.ndim and size == n * (n + 1) // 2, "half of a matrix", "n (n + 1) / 2", half.shape)
    upper, array = ~np.tri(n, k=-1, dtype=bool), np.zeros((*half.shape[:-1], n, n), half.dtype)
    array[..., upper] = half
    if kind == "symmetric":
        array.swapaxes(-1, -2)[..., upper] = half
    return array


def _label(value: Any) -> Any:
    """A number, a text or a truth value as JSON."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str | bool):
        return value
    if isinstance(value, Real):
        return int(value) if isinstance(value, Integral) else float(value)
    raise InputError(
        f"Labels must be strings, numbers or booleans to be saved; got {type(value).__name__}."
    )


def _unpack(packed: Any, arrays: dict[str, Array]) -> Any:
    """A value from JSON; each array is taken out of `arrays`, so that none is used twice."""
    if not isinstance(packed, dict):
        return packed
    keys = " ".join(sorted(packed))
    require(keys in READERS, "a value", "of a known kind", keys)
    return READERS[keys](packed, arrays)


def _part(packed: dict[str, Any], arrays: dict[str, Array]) -> Any:
    """A dataclass that files may hold."""
    part, fields = PARTS[packed["part"]], packed["fields"]
    known = types_of(part)
    require(set(fields) == set(known), part.__name__, " and ".join(known), sorted(fields))
    return part(**{name: _unpack(item, arrays) for name, item in fields.items()})


READERS: dict[str, Callable[[dict[str, Any], dict[str, Array]], Any]] = {
    "array": lambda packed, arrays: arrays.pop(packed["array"]),
    "array half": lambda packed, arrays: _whole(arrays.pop(packed["array"]), packed["half"]),
    "dtype labels": lambda packed, arrays: _labels(packed["labels"], packed["dtype"]),
    "tuple": lambda packed, arrays: tuple(_unpack(item, arrays) for item in packed["tuple"]),
    "list": lambda packed, arrays: [_unpack(item, arrays) for item in packed["list"]],
    "dict": lambda packed, arrays: {key: _unpack(v, arrays) for key, v in packed["dict"]},
    "fields part": _part,
}


def _labels(labels: Any, dtype: Any) -> Array:
    """Labels or names, whose type says no more than they need."""
    require(isinstance(labels, list), "labels", "a list", type(labels).__name__)
    for label in labels:
        LABEL.check(label, {}, "a label")
    if dtype == "|O":
        return np.array(labels, dtype=object)
    width = re.fullmatch("<U([0-9]{1,4})", str(dtype))
    allowed = f"'|O' or '<U' and at most {LONGEST_LABEL}"
    require(width and int(width[1]) <= LONGEST_LABEL, "the type of labels", allowed, dtype)
    text = np.array(labels, dtype=dtype)
    require(text.tolist() == labels, "labels", f"text of type {dtype}", labels)
    return text
