"""A fitted classifier as one ONNX model: rows ↦ labels and probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..files import check_writable, written_whole
from ..machine.predictor import Predictor
from .decision import largest, log_odds, probabilities, scores
from .encoding import Rows, columns_of, encoded, is_coded
from .features import precision_of_layers, scaled
from .graph import Graph
from .leaves import averaged

Array = np.ndarray[Any, Any]

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
    coded = is_coded(encoding)
    if coded and columns is False:
        raise InputError(
            "Columns of text or dates cannot be part of one matrix of numbers; leave `columns` "
            "out, and each column is an input of its own."
        )
    if coded or columns:
        named = columns_of(encoding, _input_names(names, encoding.d), precision)
        inputs = [(column.name, column.dtype, 1) for column in named]
    else:
        named, inputs = [], [("X", precision, encoding.d)]
    taken = [name for name, *_ in inputs]
    outputs = [_unlike(taken, name) for name in OUTPUTS]
    graph = Graph(taken=[*taken, *outputs])
    matrix = None if named else "X"
    rows = Rows(graph, matrix, {column.position: column.name for column in named})
    answered(graph, predictor, rows, precision, outputs[0], outputs[1])
    classes = predictor.classes
    kinds = (labels_of(classes).dtype, None), (precision, len(classes))
    return graph.model(inputs, [(name, *kind) for name, kind in zip(outputs, kinds, strict=True)])


def answered(
    g: Graph,
    predictor: Predictor,
    rows: Rows,
    dtype: np.dtype[Any],
    label: str,
    second: str,
    *,
    raw: bool = False,
) -> None:
    """Add all that makes labels and probabilities of rows, under these names.

    If they shall be `raw`, the second are what decides, of two classes with either sign.
    """
    phi, machine = predictor.feature_map, predictor.machine
    z = scaled(g, phi.scaling, encoded(g, phi.encoding, rows), dtype)
    inner = precision_of_layers(phi.scaling, dtype)
    t = averaged(g, phi, machine, z, inner)
    odds = log_odds(g, machine, t)
    p = probabilities(g, machine, odds)
    scored = scores(g, machine, odds, p)
    g("Gather", labels_of(predictor.classes), largest(g, scored, len(machine.pairs)), output=label)
    if raw:
        p = scored if len(machine.pairs) > 1 else g.beside(g("Neg", scored), scored)
    g.cast(p, dtype, output=second)


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


def _input_names(names: Sequence[Any] | None, d: int) -> list[str]:
    """What inputs are called: as their columns, or as scikit-learn calls columns without a name."""
    given = [None] * d if names is None else list(names)
    return [name if isinstance(name, str) and name else f"x{j}" for j, name in enumerate(given)]


def _unlike(taken: Sequence[str], name: str) -> str:
    """The name of an output; with an underscore where a column is called so."""
    return name if name not in taken else _unlike(taken, f"{name}_")
