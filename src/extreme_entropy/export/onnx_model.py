"""A fitted classifier as one ONNX model: rows ↦ labels and probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..columns.encoding import Encoding
from ..errors import InputError
from ..features.scaling import Identity, Shift
from ..files import check_writable, written_whole
from ..machine.predictor import Predictor
from ..shapes import Array
from .answering import largest, log_likelihoods, log_ratios, probabilities, scores
from .encoded import InputColumn, Rows, columns_of, encoded, is_coded
from .features import scaled
from .graph import ROWS, Graph, Tensor
from .leaves import projections

PRECISIONS = ("float64", "float32")
OUTPUTS = ("label", "probabilities")


def write_onnx(path: str | Path, make: Callable[[], Any]) -> None:
    """Write the model that is made, whole or not at all."""
    check_writable(path)
    model = make()
    with written_whole(path) as temporary:
        temporary.write_bytes(model.SerializeToString())


def onnx_model(
    predictor: Predictor, names: Sequence[Any] | None, dtype: Any, columns: bool | None
) -> Any:
    """A solved classifier with one input for all columns or one for each; `names` are theirs.

    With columns=None each has its own where some hold text or dates.
    """
    if str(dtype) not in PRECISIONS:
        raise InputError(f"`dtype` must be 'float64' or 'float32'; it is {dtype!r}.")
    precision, encoding = np.dtype(str(dtype)), predictor.feature_map.encoding
    apart = _columns_apart(encoding, names, precision, columns)
    matrix = Tensor("X", precision, (ROWS, encoding.d))
    inputs = [Tensor(column.name, column.dtype, (ROWS, 1)) for column in apart] or [matrix]
    taken = [tensor.name for tensor in inputs]
    label, second = (_unlike(taken, name) for name in OUTPUTS)
    graph = Graph(precision_of_layers(predictor, precision), taken=[*taken, label, second])
    rows = Rows(graph, None if apart else "X", {column.position: column.name for column in apart})
    place, p = answers(graph, predictor, rows)
    labels = labels_of(predictor.classes)
    graph("Gather", labels, place, output=label)
    graph.cast(p, precision, output=second)
    outputs = Tensor(label, labels.dtype, (ROWS,)), Tensor(second, precision, (ROWS, len(labels)))
    return graph.model(inputs, outputs)


def precision_of_layers(predictor: Predictor, precision: np.dtype[Any]) -> np.dtype[Any]:
    """In which a model of this precision computes its layers."""
    unscaled = isinstance(predictor.feature_map.scaling, Identity | Shift)
    return np.dtype(np.float64) if unscaled else precision


def answers(g: Graph, predictor: Predictor, rows: Rows, *, raw: bool = False) -> tuple[str, str]:
    """The position of the class of each row, and the probabilities of all classes.

    If they shall be `raw`, the second are what decides, of two classes with either sign.
    """
    phi, machine = predictor.feature_map, predictor.machine
    z = scaled(g, phi.scaling, encoded(g, phi.encoding, rows))
    ratios = log_ratios(g, machine, projections(g, phi, machine, z))
    likelihoods = log_likelihoods(g, machine, ratios)
    p = probabilities(g, machine, likelihoods)
    scored, n = scores(g, machine, likelihoods, p), len(machine.pairs)
    if raw:
        p = scored if n > 1 else g.beside([g("Neg", scored), scored])
    return largest(g, scored, n), p


def labels_of(classes: Array) -> Array:
    """Labels in a type that ONNX has: whole numbers, booleans, numbers or text."""
    if classes.dtype.kind in "iu" and int(classes[-1]) <= np.iinfo(np.int64).max:
        return classes.astype(np.int64)
    if classes.dtype.kind in "bf":
        return classes.astype(np.float64) if classes.dtype.kind == "f" else classes
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    raise InputError(
        "Labels must be text, numbers below 2⁶³ or booleans to be exported to ONNX; these are "
        f"{classes.dtype}. Convert them, and fit again."
    )


def _columns_apart(
    encoding: Encoding, names: Sequence[Any] | None, dtype: np.dtype[Any], apart: bool | None
) -> list[InputColumn]:
    """Columns that are inputs of their own; they may have no name, as scikit-learn has it."""
    coded = is_coded(encoding)
    if coded and apart is False:
        raise InputError(
            "Columns of text or dates cannot be part of one matrix of numbers; leave `columns` "
            "out, and each column is an input of its own."
        )
    names = [None] * len(encoding.table_kinds) if names is None else names
    texts = [name if isinstance(name, str) and name else f"x{j}" for j, name in enumerate(names)]
    return columns_of(encoding, texts, dtype) if coded or apart else []


def _unlike(taken: Sequence[str], name: str) -> str:
    """The name of an output; with an underscore where a column is called so."""
    return name if name not in taken else _unlike(taken, f"{name}_")
