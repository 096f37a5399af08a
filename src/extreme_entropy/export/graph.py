"""A graph of ONNX operators, put down one after another.

An operator's inputs are names of earlier results, or arrays and numbers, which become constants;
its result is a name. Operators are those of the oldest versions that have all that is needed, so
that old runtimes read the file too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..versions import installed_versions

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as _error:
    raise ImportError(
        "Export to ONNX needs the package onnx: pip install 'extreme-entropy[onnx]'"
    ) from _error

Array = np.ndarray[Any, Any]
Operand = str | Array | float | int
Shape = tuple[int | str, ...]  # where ROWS is as many as there are

ROWS = "rows"

ML = "ai.onnx.ml"  # the domain of LabelEncoder
VERSIONS = {"": 13, ML: 2}  # of operators: those of 2020
IR_VERSION = 7  # of the file, of the same year
TEXT = np.dtype(object)


class Graph:
    """Nodes and constants; `prefix` begins the names of all of them, `taken` are used by others."""

    def __init__(self, prefix: str = "", taken: Iterable[str] = ()) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._prefix, self._taken = prefix, set(taken)
        self._known: dict[tuple[Any, ...], str] = {}  # constants by their content

    def __call__(
        self,
        operator: str,
        *operands: Operand,
        output: str = "",
        domain: str = "",
        **attributes: Any,
    ) -> str:
        """Add an operator; the name of its result, which is a new one if none is given."""
        inputs = [x if isinstance(x, str) else self.constant(np.asarray(x)) for x in operands]
        output = output or self.name(operator)
        node = helper.make_node(operator, inputs, [output], output, domain=domain, **attributes)
        self.nodes.append(node)
        return output

    def name(self, wanted: str) -> str:
        """A name that nothing else has."""
        count, name = len(self._taken), f"{self._prefix}{wanted}"
        while name in self._taken:
            name, count = f"{self._prefix}{wanted}_{count}", count + 1
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

    def cast(self, x: str, dtype: Any, output: str = "") -> str:
        """Numbers in another type."""
        return self("Cast", x, output=output, to=element_type(np.dtype(dtype)))

    def columns(self, x: str, columns: Array) -> str:
        """Some columns of a matrix."""
        return self("Gather", x, np.asarray(columns, np.int64), axis=1)

    def row_sums(self, x: str) -> str:
        """The sums of the rows of a matrix   (n, 1)."""
        return self("ReduceSum", x, np.array([1]), keepdims=1)

    def beside(self, *parts: str, axis: int = 1) -> str:
        """Matrices beside one another."""
        return parts[0] if len(parts) == 1 else self("Concat", *parts, axis=axis)

    def repeat(
        self,
        step: Callable[..., str],
        state: tuple[str, Any, Shape],
        *sequences: tuple[Operand, Any, Shape],
    ) -> str:
        """What `step(state, *items)` makes of a state, item after item of some sequences.

        Each comes with its type and its shape, that of a sequence being the shape of its items,
        which lie along its first axis. Constants of the step are kept with it, since not every
        runtime lets a loop see those of the whole.
        """
        shared = self.constants, self._known
        self.constants, self._known = [], {}
        here = self.name(ROWS)  # which may be the rows of a leaf

        def described(name: str, dtype: Any, shape: Shape) -> onnx.ValueInfoProto:
            return _described(name, dtype, [here if n == ROWS else n for n in shape])

        given = [described(self.name("inner"), *rest) for _, *rest in (state, *sequences)]
        nodes, result = self._apart(lambda: step(*(one.name for one in given)))
        found = described(result, *state[1:])
        body = helper.make_graph(nodes, self.name("body"), given, [found], self.constants)
        self.constants, self._known = shared
        operands = [values for values, *_ in sequences]
        return self("Scan", state[0], *operands, body=body, num_scan_inputs=len(operands))

    def unless_empty(self, rows: str, work: Callable[[], str], n: int) -> str:
        """What `work()` makes of rows, doubles of shape (rows, n); done only if there are some."""
        branches = []
        for do in (work, lambda: self("Identity", np.empty((0, n)))):
            nodes, result = self._apart(do)
            found = _described(result, np.float64, [self.name(ROWS), n])
            branches.append(helper.make_graph(nodes, self.name("branch"), [], [found]))
        some = self("Greater", self("Size", rows), 0)
        return self("If", some, then_branch=branches[0], else_branch=branches[1])

    def _apart(self, work: Callable[[], str]) -> tuple[list[onnx.NodeProto], str]:
        """The operators that some work adds, which are not added here, and its result."""
        outside, self.nodes = self.nodes, []
        result = work()
        nodes, self.nodes = self.nodes, outside
        return nodes, result

    def model(
        self,
        inputs: Sequence[tuple[str, Any, int]],
        outputs: Sequence[tuple[str, Any, int | None]],
    ) -> onnx.ModelProto:
        """The whole, with names, types and columns of what goes in and out; None is no matrix."""

        def described(name: str, dtype: Any, n: int | None) -> onnx.ValueInfoProto:
            return _described(name, dtype, [ROWS] if n is None else [ROWS, n])

        graph = helper.make_graph(
            self.nodes,
            "extreme_entropy",
            [described(*one) for one in inputs],
            [described(*one) for one in outputs],
            self.constants,
        )
        used = {node.domain for node in self.nodes}
        model = helper.make_model(
            graph,
            opset_imports=[
                helper.make_opsetid(domain, n) for domain, n in VERSIONS.items() if domain in used
            ],
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


def _described(name: str, dtype: Any, shape: Sequence[str | int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element_type(np.dtype(dtype)), shape)
