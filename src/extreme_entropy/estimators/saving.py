"""A fitted classifier as plain values and arrays, and back.

Only the dataclasses named here are ever built from a file, and only from arrays and plain values,
so that loading cannot run code.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import persistence
from ..errors import FileFormatError, InputError
from ..features.content import ContentHash
from ..features.encoding import Category, ColumnKind, Date, Encoding
from ..features.feature_map import FeatureMap, Part
from ..features.forest import Forest, HeldRows, Tree
from ..features.kernels import Cosine, Laplacian, Polynomial
from ..features.neurons import Radial, Relu, Sigmoid, Similarity
from ..features.scaling import Affine, Identity, Quantile
from ..machine.decision import GaussianPair
from ..machine.forest import ForestMachine, Leaf
from ..machine.machine import Machine
from ..machine.predictor import predictor_of
from ..moments.sketch import RowSketch
from ..moments.summary import ClassMoments, ForestSummary, Summary
from .base import EntropyClassifier
from .classifier import ExtremeEntropyClassifier
from .eekm import EEKMClassifier
from .eem import EEMClassifier
from .inputs import Columns

Array = np.ndarray[Any, Any]

ESTIMATORS: dict[str, type[EntropyClassifier]] = {
    cls.__name__: cls for cls in (EEMClassifier, EEKMClassifier, ExtremeEntropyClassifier)
}
PARTS = {
    cls.__name__: cls
    for cls in (
        *(Affine, Category, ClassMoments, ColumnKind, ContentHash, Cosine, Date, Encoding),
        *(FeatureMap, Forest, ForestMachine, ForestSummary, GaussianPair, HeldRows, Identity),
        *(Laplacian, Leaf, Machine, Part, Polynomial, Quantile, Radial, Relu, Sigmoid, Similarity),
        *(RowSketch, Summary, Tree),
    )
}
# What fit sets, and what each may be; names of columns come only where X had some.
FITTED: dict[str, type | tuple[type, ...]] = {
    "classes_": np.ndarray,
    "n_features_in_": int,
    "feature_names_in_": np.ndarray,
    "feature_map_": (FeatureMap, Forest),
    "summary_": (Summary, ForestSummary),
    "is_twin": bool,
    "machine": (Machine, ForestMachine, NoneType),
}
# Annotations of the fields of PARTS, and what may stand there.
FIELD_TYPES: dict[str, type | tuple[type, ...]] = {
    "Array": np.ndarray,
    "Array | None": (np.ndarray, NoneType),
    "float": (float, int),
    "int": int,
    "str": str,
    "ContentHash": ContentHash,
    "Encoding": Encoding,
    "Scaling": (Affine, Identity, Quantile),
    "HeldRows": HeldRows,
    "RowSketch": RowSketch,
    "Machine | None": (Machine, NoneType),
}


def save(estimator: EntropyClassifier, path: str | Path) -> None:
    """Write a fitted classifier to a file."""
    persistence.write(path, *pack(estimator))


def pack(
    estimator: EntropyClassifier, *, solved: bool = True
) -> tuple[dict[str, Any], dict[str, Array]]:
    """A fitted classifier as plain values and arrays; with its machine, if that can be solved."""
    check_is_fitted(estimator)
    solved &= bool(estimator.summary_.counts.any(axis=1).all())
    fitted = {name: getattr(estimator, name) for name in FITTED if hasattr(estimator, name)}
    fitted["is_twin"] = estimator._is_twin
    fitted["machine"] = estimator.machine_ if solved else None
    arrays: dict[str, Array] = {}
    values = {
        "estimator": type(estimator).__name__,
        "parameters": {
            name: _pack(value, f"parameters.{name}", arrays)
            for name, value in plain_parameters(estimator).items()
        },
        "fitted": {name: _pack(value, name, arrays) for name, value in fitted.items()},
    }
    return values, arrays


def plain_parameters(estimator: EntropyClassifier) -> dict[str, Any]:
    """All parameters; a generator, which cannot be written down, has done its work."""
    parameters = estimator.get_params(deep=False)
    return {
        name: None if isinstance(value, np.random.RandomState) else value
        for name, value in parameters.items()
    }


def load(path: str | Path) -> EntropyClassifier:
    """Read a classifier that `save` wrote.

    Parameters
    ----------
    path : path-like
        A file written by the `save` of a classifier.

    Returns
    -------
    ExtremeEntropyClassifier, EEMClassifier or EEKMClassifier
        The fitted classifier; its predictions are the same to the last bit.

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
    return unpack(*persistence.read(path), path)


def unpack(values: dict[str, Any], arrays: dict[str, Array], path: str | Path) -> EntropyClassifier:
    """The classifier in the values and arrays of a file."""
    try:
        cls = ESTIMATORS[values["estimator"]]
        estimator = cls(**{k: _unpack(v, arrays) for k, v in values["parameters"].items()})
        fitted = {name: _unpack(value, arrays) for name, value in values["fitted"].items()}
        _check_fitted(fitted)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise FileFormatError(
            f"{str(path)!r} is whole, but holds something this version does not understand "
            f"({error!r}). Load it with the version of extreme-entropy that wrote it."
        ) from error
    classes, phi, machine = fitted["classes_"], fitted["feature_map_"], fitted["machine"]
    names = fitted.get("feature_names_in_")
    columns = Columns(fitted["n_features_in_"], names, phi.encoding.kinds)
    estimator.set_fitted(columns, classes, phi, fitted["summary_"])
    estimator._is_twin = fitted["is_twin"]
    if machine is not None:
        estimator._predictor = predictor_of(phi, machine, classes)
    return estimator


def _check_fitted(fitted: dict[str, Any]) -> None:
    """Raise unless these are the parts of one classifier, and fit together."""
    for name, kind in FITTED.items():
        if not isinstance(fitted.get(name), kind) and name != "feature_names_in_":
            raise TypeError(f"{name} is {type(fitted.get(name)).__name__}")
    if set(fitted) - set(FITTED):
        raise KeyError(*(set(fitted) - set(FITTED)))
    phi, summary, machine = (fitted[name] for name in ("feature_map_", "summary_", "machine"))
    n_classes, forest = len(fitted["classes_"]), isinstance(phi, Forest)
    if isinstance(summary, ForestSummary) != forest:
        raise TypeError("summary_")
    if machine is not None and isinstance(machine, ForestMachine) != forest:
        raise TypeError("machine")
    shapes: set[tuple[Any, Any]] = {
        (phi.d, fitted["n_features_in_"]),
        (len(fitted.get("feature_names_in_", range(phi.d))), phi.d),
    }
    if not forest:
        shapes |= _shapes_of_machine(phi.h, summary, machine, n_classes)
    else:
        n_leaves, n_pairs = sum(phi.n_leaves), n_classes * (n_classes - 1) // 2
        width = len(phi.encoding.origins)
        for tree in phi.trees:
            _check_tree(tree, width)
        held = phi.held
        shapes |= {(held.Z.shape, (len(held.labels), width))}
        shapes |= {(len(part), len(held.labels)) for part in (held.folds, held.counts)}
        shapes |= {(n_leaves, len(phi.leaves)), (n_leaves, len(summary.leaves))}
        shapes |= {(phi.n_leaves, summary.n_leaves)}
        maps = phi.maps
        for one, leaf in zip(maps, summary.leaves, strict=True):
            shapes |= _shapes_of_machine(one.h, leaf, None, n_classes)
        if machine is not None:
            shapes |= {(n_leaves, len(machine.leaves)), (len(machine.gaussians), n_pairs)}
            shapes |= {(machine.log_priors.shape, (n_classes,)), (len(machine.pairs), n_pairs)}
            shapes |= {(machine.log_costs.shape, (n_classes,))}
            shapes |= {(len(machine.held_out), n_classes)}
            shapes |= {(machine.shares.shape, (len(phi.trees), n_pairs))}
            for one, leaf in zip(maps, machine.leaves, strict=True):
                shapes.add((leaf.shifts.shape, (n_pairs,)))
                if leaf.machine is not None:
                    shapes.add((leaf.machine.operators.shape, (len(leaf.columns), one.h)))
                    shapes.add((len(leaf.machine.gaussians), len(leaf.columns)))
                if not np.isin(leaf.columns, np.arange(n_pairs)).all():
                    raise ValueError("a leaf's pairs of classes")
    wrong = [pair for pair in shapes if pair[0] != pair[1]]
    if wrong:
        raise ValueError(f"sizes that do not fit together: {wrong[0]}")


def _check_tree(tree: Tree, n_columns: int) -> None:
    """Raise unless every way through the tree ends in one of its leaves."""
    nodes = np.arange(len(tree.columns))
    later = tree.children > nodes[:, np.newaxis]
    later &= tree.children < len(nodes)
    leaf = (tree.children < 0) & (tree.children >= -tree.n_leaves)
    sound = tree.children.shape == (len(nodes), 2) and (later | leaf).all()
    sound &= len(tree.thresholds) == len(nodes)
    if not sound or not np.isin(tree.columns, np.arange(n_columns)).all():
        raise ValueError("a tree that is none")


def _shapes_of_machine(
    h: int, summary: Summary, machine: Machine | None, n_classes: int
) -> set[tuple[Any, Any]]:
    """Pairs of sizes that must be equal in sums of h features, and in a machine of them."""
    shapes: set[tuple[Any, Any]] = {(len(summary.moments), n_classes)}
    for folds in summary.moments:
        shapes.add((len(folds), summary.n_folds))
        for part in folds:
            shapes |= {(part.mean.shape, (h,)), (part.scatter.shape, (h, h))}
    if machine is not None:
        n_pairs = n_classes * (n_classes - 1) // 2
        shapes |= {
            (machine.operators.shape, (n_pairs, h)),
            (machine.log_priors.shape, (n_classes,)),
            (machine.log_costs.shape, (n_classes,)),
            (len(machine.gaussians), n_pairs),
            (len(machine.pairs), n_pairs),
        }
    return shapes


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
        arrays[name] = value
        return {"array": name}
    if isinstance(value, np.ndarray):
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
    if not isinstance(packed, dict):
        return packed
    if "array" in packed:
        return arrays[packed["array"]]
    if "labels" in packed:
        return np.array(packed["labels"], dtype=np.dtype(packed["dtype"]))
    if "tuple" in packed:
        return tuple(_unpack(item, arrays) for item in packed["tuple"])
    if "list" in packed:
        return [_unpack(item, arrays) for item in packed["list"]]
    if "dict" in packed:
        return {label: _unpack(item, arrays) for label, item in packed["dict"]}
    part = PARTS[packed["part"]]
    inside = {name: _unpack(item, arrays) for name, item in packed["fields"].items()}
    for field in fields(part):
        kind = FIELD_TYPES.get(str(field.type), object)
        if not isinstance(inside.get(field.name, field.default), kind):
            raise TypeError(f"{packed['part']}.{field.name}")
    return part(**inside)
