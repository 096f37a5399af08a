"""A graph of ONNX operators, put down one after another.

An operator's inputs are names of earlier results, or arrays and numbers, which become constants;
its result is a name. Operators are those of the oldest versions that have all that is needed, so
that old runtimes read the file too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..shapes import Array
from ..versions import installed_versions

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as _error:
    raise ImportError(
        "Export to ONNX needs the package onnx: pip install 'extreme-entropy[onnx]'"
    ) from _error

Operand = str | Array | float | int

ROWS = "rows"  # as many as there are

ML = "ai.onnx.ml"  # the domain of LabelEncoder
MORE = "com.microsoft"  # that of Tokenizer, which onnxruntime has
VERSIONS = {"": 13, ML: 2, MORE: 1}  # of operators: those of 2020
IR_VERSION = 7  # of the file, of the same year
TEXT = np.dtype(object)


class Tensor(NamedTuple):
    """The name of a result, or an array, with its type and shape."""

    name: Any
    dtype: Any
    shape: tuple[int | str, ...]

    def described(self, name: str = "", rows: str = ROWS) -> onnx.ValueInfoProto:
        """Its type and shape, perhaps under another name and with one for the number of rows."""
        shape = [rows if n == ROWS else n for n in self.shape]
        kind = element_type(np.dtype(self.dtype))
        return helper.make_tensor_value_info(name or self.name, kind, shape)


class Graph:
    """Nodes and constants; `prefix` begins the names of all of them, `taken` are used by others.

    Layers and their numbers are in a `precision`; all else is in double precision.
    """

    def __init__(
        self, precision: Any = np.float64, *, prefix: str = "", taken: Iterable[str] = ()
    ) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.precision: np.dtype[Any] = np.dtype(precision)
        self._prefix, self._taken = prefix, set(taken)
        self._known: dict[tuple[Any, ...], str] = {}  # constants by their content

    def __call__(self, operator: str, *operands: Operand, **options: Any) -> str:
        """Add an operator; the name of its result, which is a new one if none is given."""
        return self._add(operator, operands, **options)

    def _add(
        self, operator: str, operands: Iterable[Operand], output: str = "", **options: Any
    ) -> str:
        inputs = [x if isinstance(x, str) else self.constant(np.asarray(x)) for x in operands]
        output = output or self.name(operator)
        self.nodes.append(helper.make_node(operator, inputs, [output], output, **options))
        return output

    def name(self, stem: str) -> str:
        """A name that nothing else has."""
        count, name = len(self._taken), f"{self._prefix}{stem}"
        while name in self._taken:
            name, count = f"{self._prefix}{stem}_{count}", count + 1
        self._taken.add(name)
        return name

    def constant(self, values: Array) -> str:
        """The name of a constant, of which equal ones are kept once."""
        values = np.ascontiguousarray(values).reshape(values.shape)
        content = tuple(values.ravel().tolist()) if values.dtype == TEXT else values.tobytes()
        key = (values.dtype.str, values.shape, content)
        if key not in self._known:
            self._known[key] = self.name("constant")
            self.constants.append(numpy_helper.from_array(values, self._known[key]))
        return self._known[key]

    def real(self, values: Any) -> Array:
        """Numbers in the precision of layers."""
        return np.asarray(values, self.precision)

    def cast(self, x: str, dtype: Any, output: str = "") -> str:
        """Numbers in another type."""
        return self("Cast", x, output=output, to=element_type(np.dtype(dtype)))

    def columns(self, x: str, columns: Array | list[int]) -> str:
        """Some columns of a matrix."""
        return self("Gather", x, np.asarray(columns, np.int64), axis=1)

    def row_sums(self, x: str) -> str:
        """The sums of the rows of a matrix   (n, 1)."""
        return self("ReduceSum", x, np.array([1]), keepdims=1)

    def sum(self, parts: list[str]) -> str:
        """The sum of matrices."""
        return parts[0] if len(parts) == 1 else self("Add", parts[0], self.sum(parts[1:]))

    def beside(self, parts: Iterable[str], axis: int = 1) -> str:
        """Matrices beside one another."""
        parts = list(parts)
        return parts[0] if len(parts) == 1 else self._add("Concat", parts, axis=axis)

    def flat(self, x: str) -> str:
        """A matrix of one column as a vector."""
        return self("Reshape", x, np.array([-1]))

    def repeat(
        self, step: Callable[[list[str]], str], state: Tensor, sequences: Sequence[Tensor]
    ) -> str:
        """What `step([state, *items])` makes of a state, item after item of some sequences.

        The shape of a sequence is that of its items, which lie along its first axis. Constants of
        the step are kept with it, since not every runtime lets a loop see those of the whole.
        """
        shared = self.constants, self._known
        self.constants, self._known = [], {}
        rows = self.name(ROWS)  # which may be the rows of a leaf
        inner = [tensor.described(self.name("inner"), rows) for tensor in (state, *sequences)]
        nodes, result = self._apart(lambda: step([tensor.name for tensor in inner]))
        outer = [state.described(result, rows)]
        body = helper.make_graph(nodes, self.name("body"), inner, outer, self.constants)
        self.constants, self._known = shared
        operands = [tensor.name for tensor in (state, *sequences)]
        return self._add("Scan", operands, body=body, num_scan_inputs=len(sequences))

    def unless_empty(self, rows: str, work: Callable[[], str], n: int) -> str:
        """What `work()` makes of rows, doubles of shape (rows, n); done only if there are some."""
        branches = []
        for do in (work, lambda: self("Identity", np.empty((0, n)))):
            nodes, result = self._apart(do)
            outer = [Tensor(result, np.float64, (self.name(ROWS), n)).described()]
            branches.append(helper.make_graph(nodes, self.name("branch"), [], outer))
        not_empty = self("Greater", self("Size", rows), 0)
        return self("If", not_empty, then_branch=branches[0], else_branch=branches[1])

    def _apart(self, work: Callable[[], str]) -> tuple[list[onnx.NodeProto], str]:
        """The operators that some work adds, which are not added here, and its result."""
        outside, self.nodes = self.nodes, []
        result = work()
        nodes, self.nodes = self.nodes, outside
        return nodes, result

    def model(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> onnx.ModelProto:
        """The whole, with what goes in and out."""
        first, last = ([tensor.described() for tensor in side] for side in (inputs, outputs))
        graph = helper.make_graph(self.nodes, "extreme_entropy", first, last, self.constants)
        used = {node.domain for node in self.nodes}
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid(k, n) for k, n in VERSIONS.items() if k in used],
            producer_name="extreme-entropy",
            producer_version=installed_versions().get("extreme-entropy", ""),
        )
        model.ir_version = IR_VERSION
        return model


def element_type(dtype: np.dtype[Any]) -> int:
    """ONNX's number of a type."""
    if dtype.kind in "OU":
        return int(TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(dtype))
