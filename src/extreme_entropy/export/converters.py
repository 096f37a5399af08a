"""Classifiers as operators of skl2onnx, which converts whole pipelines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..columns.encoding import Encoding
from ..errors import InputError
from ..machine.predictor import Predictor
from .encoded import Rows, is_coded
from .graph import VERSIONS, Graph
from .onnx_model import OUTPUTS, answers, labels_of, precision_of_layers


def register(kinds: Iterable[type]) -> None:
    """Tell skl2onnx how classifiers of these types are converted."""
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError(
            "Conversion of pipelines needs the package skl2onnx: pip install skl2onnx; a "
            "classifier alone has `to_onnx`, which does not."
        ) from error
    # Those that calibrate or combine classifiers ask for raw scores, as `decision_function` has.
    options = {"zipmap": [False], "raw_scores": [True, False]}
    for kind in kinds:
        update_registered_converter(
            kind, _alias(kind), _set_types, _convert, parser=_parse, options=options
        )


def _alias(kind: type) -> str:
    return f"ExtremeEntropy{kind.__name__}"


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """An operator with two outputs, and no ZipMap after it."""
    operator = scope.declare_local_operator(_alias(type(model)), model)
    operator.inputs = inputs
    for name in OUTPUTS:
        operator.outputs.append(scope.declare_local_variable(name, missing_type=True))
    return operator.outputs


def _set_types(operator: Any) -> None:
    """The types of both outputs, from the labels and the precision of the input."""
    from skl2onnx.common import data_types

    classes = labels_of(_predictor(operator).classes)
    types = {
        "i": data_types.Int64TensorType,
        "b": data_types.BooleanTensorType,
        "f": data_types.DoubleTensorType,
        "O": data_types.StringTensorType,
    }
    single = _precision(operator) == np.float32
    kind = data_types.FloatTensorType if single else data_types.DoubleTensorType
    operator.outputs[0].type = types[classes.dtype.kind]([None])
    operator.outputs[1].type = kind([None, len(classes)])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the operators of a classifier to those of the pipeline."""
    if container.target_opset < VERSIONS[""]:
        raise InputError(
            f"`target_opset` must be {VERSIONS['']} or more for classifiers of this library; it is "
            f"{container.target_opset}."
        )
    predictor, precision = _predictor(operator), _precision(operator)
    prefix = f"{scope.get_unique_variable_name('extreme_entropy')}_"
    graph = Graph(precision_of_layers(predictor, precision), prefix=prefix)
    label, second = (output.full_name for output in operator.outputs)
    raw = container.get_options(operator.raw_operator, {"raw_scores": False})["raw_scores"]
    rows = _rows(graph, predictor.feature_map.encoding, operator)
    place, p = answers(graph, predictor, rows, raw=raw)
    graph("Gather", labels_of(predictor.classes), place, output=label)
    graph.cast(p, precision, output=second)
    container.nodes.extend(graph.nodes)
    container.initializers.extend(graph.constants)
    used = {node.domain for node in graph.nodes}
    container.node_domain_version_pair_sets.update((k, VERSIONS[k]) for k in used)


def _rows(graph: Graph, encoding: Encoding, operator: Any) -> Rows:
    """The inputs of an operator: one matrix of numbers, or each column."""
    names = [variable.full_name for variable in operator.inputs]
    if len(names) == 1 and not is_coded(encoding):
        return Rows(graph, names[0], {})
    if len(names) != len(encoding.table_kinds):
        raise InputError(
            f"The classifier must be given one matrix of numbers, or each of its "
            f"{len(encoding.table_kinds)} "
            f"columns as an input of shape (rows, 1) where some hold text or dates; "
            f"{len(names)} inputs came. Without a pipeline, `to_onnx` of the classifier does this."
        )
    return Rows(graph, None, dict(enumerate(names)))


def _predictor(operator: Any) -> Predictor:
    """The solved classifier of an operator, of a search its best."""
    model = operator.raw_operator
    classifier = getattr(model, "best_estimator_", model)
    return Predictor(classifier.feature_map_, classifier.machine_, classifier.classes_)


def _precision(operator: Any) -> np.dtype[Any]:
    """Double where some input is."""
    kinds = {type(variable.type).__name__ for variable in operator.inputs}
    return np.dtype(np.float64 if "DoubleTensorType" in kinds else np.float32)
