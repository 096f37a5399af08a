"""A fitted classifier as plain values and arrays, and back.

Only the dataclasses of `schema` are ever built from a file, and only from arrays and plain values,
so that loading cannot run code. What was built is checked before it is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import persistence
from ..errors import FileFormatError, InputError
from .base import EntropyClassifier
from .schema import FIELDS, Scalar, require

Array = np.ndarray[Any, Any]

# What can be saved ↦ the module that it lies in, imported where a file names it.
CLASSIFIERS = {
    "EEMClassifier": "extreme_entropy.estimators.eem",
    "EEKMClassifier": "extreme_entropy.estimators.eekm",
    "ExtremeEntropyClassifier": "extreme_entropy.estimators.classifier",
}
PARTS = {cls.__name__: cls for cls in FIELDS}
SECTIONS = ("estimator", "parameters", "fitted", "table", "checkpoint")
WRONG = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
FEWEST_HALVED = 8  # rows of a square array of which only half is written
LONGEST_LABEL = 1000  # characters, which each predicted label takes
WIDTHS = f"'|O' or '<U' and at most {LONGEST_LABEL}"


class Savable(Protocol):
    """A classifier that can be written to a file."""

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    def fitted_parts(self) -> dict[str, Any]:
        """All that was learnt, by name: plain values, arrays and dataclasses of `schema`."""

    def set_fitted_parts(self, parts: dict[str, Any]) -> Self:
        """Become fitted; ValueError unless these are the parts of one such classifier."""


def save(estimator: Savable, path: str | Path | BinaryIO) -> None:
    """Write a fitted classifier to a file."""
    persistence.write(path, *pack(estimator))


def pack(estimator: Savable, **options: bool) -> tuple[dict[str, Any], dict[str, Array]]:
    """A fitted classifier as plain values and arrays, which `unpack` takes.

    Options are those of its `fitted_parts`.
    """
    check_is_fitted(estimator)
    fitted = estimator.fitted_parts(**options)
    arrays: dict[str, Array] = {}
    values = {
        "estimator": type(estimator).__name__,
        "parameters": {
            name: _pack(value, f"parameters.{name}", arrays)
            for name, value in plain_parameters(estimator).items()
        },
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


def plain_parameters(estimator: Savable) -> dict[str, Any]:
    """All parameters; a generator, which cannot be written down, has done its work."""
    parameters = estimator.get_params(deep=False)
    return {
        name: None if isinstance(value, np.random.RandomState) else value
        for name, value in parameters.items()
    }


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
    return unpack(*persistence.read(path), persistence.name_of(path))


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
        require(
            set(parameters) == set(known), "parameters", " and ".join(known), sorted(parameters)
        )
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
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        half, arrays[name] = _halved(value)
        return {"array": name, "half": half} if half else {"array": name}
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "U" and value.dtype.itemsize > 4 * LONGEST_LABEL:
            raise InputError(
                f"Labels must be of a type of at most {LONGEST_LABEL} characters to be saved; "
                f"{name} is {value.dtype}. Give them shorter names."
            )
        return {"labels": [_label(item) for item in value.tolist()], "dtype": value.dtype.str}
    if isinstance(value, tuple | list):
        parts = [_pack(item, f"{name}.{i}", arrays) for i, item in enumerate(value)]
        return {type(value).__name__: parts}
    if isinstance(value, dict):
        items = [
            [_label(k), _pack(v, f"{name}.{i}", arrays)] for i, (k, v) in enumerate(value.items())
        ]
        return {"dict": items}
    if is_dataclass(value) and type(value).__name__ in PARTS:
        inside = {
            f.name: _pack(getattr(value, f.name), f"{name}.{f.name}", arrays) for f in fields(value)
        }
        return {"part": type(value).__name__, "fields": inside}
    raise InputError(
        f"A saved classifier holds numbers, strings and arrays only, never code; {name} is "
        f"{type(value).__name__}. Those with activations or kernels of your own can be pickled."
    )


def _halved(array: Array) -> tuple[str, Array]:
    """An array; of a square one the half that it follows from, and which half that is."""
    n = len(array) if array.ndim else 0
    if array.dtype.kind != "f" or array.shape != (n, n) or n < FEWEST_HALVED:
        return "", array
    lower = np.tri(n, dtype=bool)
    if np.array_equal(array, array.T):
        return "symmetric", array[lower]
    if not array[~lower].any():
        return "lower", array[lower]
    return ("", array) if array[~lower.T].any() else ("upper", array[lower.T])


def _whole(kind: str, half: Array) -> Array:
    """The square array that `_halved` took a half of."""
    n = int((8 * half.size + 1) ** 0.5) // 2
    require(half.shape == (n * (n + 1) // 2,), "half of a matrix", "n (n + 1) / 2", half.shape)
    lower, array = np.tri(n, dtype=bool), np.zeros((n, n), half.dtype)
    array[lower if kind != "upper" else lower.T] = half
    if kind == "symmetric":
        array.T[lower] = half
    return array


def _label(value: Any) -> Any:
    """A class label or feature name as JSON."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | bool | int | float):
        return value
    raise InputError(
        f"Labels must be strings, numbers or booleans to be saved; got {type(value).__name__}."
    )


def _unpack(packed: Any, arrays: dict[str, Array]) -> Any:
    """A value from JSON; each array is taken out of `arrays`, so that none is used twice."""
    if not isinstance(packed, dict):
        return packed
    match packed:
        case {"array": name, **rest} if not rest:
            return arrays.pop(name)
        case {"array": name, "half": "lower" | "upper" | "symmetric" as kind, **rest} if not rest:
            return _whole(kind, arrays.pop(name))
        case {"labels": labels, "dtype": dtype, **rest} if not rest:
            return _labels(labels, dtype)
        case {"tuple": items, **rest} if not rest:
            return tuple(_unpack(item, arrays) for item in items)
        case {"list": items, **rest} if not rest:
            return [_unpack(item, arrays) for item in items]
        case {"dict": items, **rest} if not rest:
            return {label: _unpack(item, arrays) for label, item in items}
        case {"part": name, "fields": inside, **rest} if not rest:
            rules = FIELDS[PARTS[name]]
            require(set(inside) == set(rules), name, " and ".join(rules), sorted(inside))
            return PARTS[name](**{key: _unpack(item, arrays) for key, item in inside.items()})
    raise ValueError(f"a value must be of a known kind; it has {sorted(packed)}")


def _labels(labels: Any, dtype: Any) -> Array:
    """Labels or names, whose type says no more than they need."""
    require(isinstance(labels, list), "labels", "a list", type(labels).__name__)
    for label in labels:
        Scalar().check(label, {}, "a label")
    if dtype == "|O":
        return np.array(labels, dtype=object)
    length = re.fullmatch("<U([0-9]{1,4})", str(dtype))
    require(length and int(length[1]) <= LONGEST_LABEL, "the type of labels", WIDTHS, dtype)
    text = np.array(labels, dtype=dtype)
    require(text.tolist() == labels, "labels", f"text of type {dtype}", labels)
    return text
