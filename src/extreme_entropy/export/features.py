"""Encoded columns ↦ scaled columns ↦ hidden layers ↦ projections as ONNX operators.

Columns are scaled in double precision, as they are in Python (`features.scaling`), and layers are
in the precision of the model; where columns have no scale, squared distances would lose too many
digits, and layers are in double precision always. The whitening is folded into β, so that a layer
is followed by one product, in double precision: single precision would lose digits in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InputError
from ..features.additive import Codes
from ..features.codes import Coded, coded
from ..features.kernels import Cosine, Laplacian, Polynomial, Radial, Similarity
from ..features.layers import Features, Part
from ..features.neurons import Relu, Sigmoid
from ..features.scaling import Affine, Identity, Quantile, Scaling, Shift
from ..shapes import Array
from .graph import ROWS, Graph, Tensor


def scaled(g: Graph, scaling: Scaling, x: str) -> str:
    """Scaled columns, in double precision   (n, encoded)."""
    if isinstance(scaling, Identity):
        return x
    if isinstance(scaling, Shift):
        return g("Sub", x, scaling.origin)
    t = g("Mul", g("Sub", x, scaling.offset), scaling.factor)
    if isinstance(scaling, Affine):
        return g("Clip", t, -scaling.far, scaling.far)
    return _quantile(g, scaling, x, g("Min", g("Max", t, scaling.first), scaling.last))


def _quantile(g: Graph, scaling: Quantile, x: str, t: str) -> str:
    """Straight columns as they are, others through bins or knots; then all in their order."""
    even, uneven = scaling.even.astype(np.int64), scaling.uneven.astype(np.int64)
    straight = np.setdiff1d(np.arange(len(scaling.offset)), [*even, *uneven])
    groups = []
    if len(straight):
        groups.append((straight, g.columns(t, straight) if len(even) or len(uneven) else t))
    if len(even):
        groups.append((even, _by_bins(g, scaling, g.columns(t, even))))
    if len(uneven):
        groups.append((uneven, _by_knots(g, scaling, g.columns(x, uneven))))
    order = np.concatenate([columns for columns, _ in groups])
    z = g.beside(name for _, name in groups)
    return z if (np.diff(order) > 0).all() else g.columns(z, np.argsort(order))


def _by_bins(g: Graph, scaling: Quantile, t: str) -> str:
    """Straight between the ends of each bin: z = c_b + (t − b)(c_{b+1} − c_b), b = ⌊t⌋."""
    ends = scaling.heights + scaling.slopes * np.arange(len(scaling.heights))
    at = g.cast(t, np.int64)
    # The last bin of a column is one point: what follows it does not matter.
    after = g("Min", g("Add", at, 1), len(ends) - 1)
    low, high = (
        g.cast(g("Gather", g.real(ends), place, axis=0), np.float64) for place in (at, after)
    )
    within = g("Sub", t, g.cast(at, np.float64))
    return g("Add", low, g("Mul", within, g("Sub", high, low)))


def _by_knots(g: Graph, scaling: Quantile, x: str) -> str:
    """Straight between knots, which are found by halving; flat beyond the ends."""
    runs = list(pairwise(scaling.starts.tolist()))
    room = 1 << max(int(b - a) - 1 for a, b in runs).bit_length()  # of each column, a power of two
    knots = np.full((len(runs), room), np.inf)
    levels, slopes = np.zeros(knots.shape), np.zeros(knots.shape)
    for j, (a, b) in enumerate(runs):
        knots[j, : b - a], levels[j, : b - a] = scaling.knots[a:b], scaling.levels[a:b]
        slopes[j, : b - a - 1] = np.diff(scaling.levels[a:b]) / np.diff(scaling.knots[a:b])
    flat, first = knots.ravel(), np.arange(len(runs)) * room
    at = g("Add", g.cast(g("Mul", x, 0.0), np.int64), first)  # the first knot of each column
    step = room // 2
    while step:
        next_ = g("Add", at, step)
        at = g("Where", g("LessOrEqual", g("Gather", flat, next_, axis=0), x), next_, at)
        step //= 2
    beyond = g("Sub", g("Max", x, knots[:, 0]), g("Gather", flat, at, axis=0))
    slope = g("Gather", slopes.ravel(), at, axis=0)
    return g("Add", g("Gather", levels.ravel(), at, axis=0), g("Mul", slope, beyond))


def projected(g: Graph, phi: Features, operators: Array, z: str) -> str:
    """βᵀφ(x) of scaled rows, in double precision   (n, pairs)."""
    folded = phi.folded(operators, np.dtype(np.float64))
    pairs = zip(phi.parts, folded, strict=True)
    return g.sum([_projected(g, part, beta, z) for part, beta in pairs])


def _projected(g: Graph, part: Part, beta: Array, z: str) -> str:
    """The share of one part in projections."""
    layer: Any = part.layer
    if type(layer) not in LAYERS:
        raise InputError(
            "Only activations and kernels of this library can be exported to ONNX; this classifier "
            f"has a function of your own, {getattr(layer, 'function', layer)!r}. Fit one with a "
            "named activation or kernel."
        )
    if part.columns is not None:
        z = g.columns(z, part.columns)
    if part.weights is not None:
        z = g("Mul", z, g.real(part.weights))
    if not isinstance(layer, Radial):
        return _product(g, LAYERS[type(layer)](g, layer, z), beta)
    centre = _centre(g, layer)
    z, layer = g("Sub", z, centre), _seen_from(centre.astype(np.float64), layer)
    # Linear neurons and their β are one product.
    places = np.arange(1, 2 * layer.n_linear, 2)
    weights = layer.columns[:, places] @ beta[places]
    linear = [g("Add", _product(g, z, weights[:-2]), weights[-1])] if len(places) else []
    layer = Radial(np.delete(layer.columns, places, axis=1), layer.log_height)
    return g.sum([_product(g, _radial(g, layer, z), np.delete(beta, places, axis=0)), *linear])


def _product(g: Graph, hidden: str, beta: Array) -> str:
    """A hidden layer times β, in double precision: its terms are large, and their sum is small."""
    return g("MatMul", g.cast(hidden, np.float64), beta)


def _centre(g: Graph, layer: Radial) -> Array:
    """A point amid the centres, from which the squares of rows are smaller."""
    slopes, squares = layer.columns[:-2], layer.columns[-2]
    return g.real(slopes[:, squares != 0].sum(axis=1) / (-2 * squares.sum() or 1.0))


def _seen_from(centre: Array, layer: Radial) -> Radial:
    """The layer of rows seen from a point c.

    With z = u + c, 2b⟨w,z⟩ − b‖z‖² + a is 2b⟨w−c,u⟩ − b‖u‖² + (a + 2b⟨w,c⟩ − b‖c‖²).
    """
    slopes, squares, constants = layer.columns[:-2], layer.columns[-2], layer.columns[-1]
    constants = constants + centre @ slopes + squares * (centre @ centre)
    columns = np.vstack([slopes + 2 * centre[:, np.newaxis] * squares, squares, constants])
    return replace(layer, columns=columns)


def _affine(g: Graph, layer: Sigmoid | Relu, z: str) -> str:
    return g("Sub", g("MatMul", z, g.real(layer.weights)), g.real(layer.biases))


def _radial(g: Graph, layer: Radial, z: str) -> str:
    """exp(2b⟨w,z⟩ − b‖z‖² − b‖w‖² + ln c)."""
    rows = g.beside([z, g.row_sums(g("Mul", z, z))])
    columns = g.real(layer.columns)
    exponents = g("Add", g("MatMul", rows, columns[:-1]), columns[-1])
    return g("Exp", g("Min", exponents, g.real(layer.log_height)))


def _laplacian(g: Graph, layer: Laplacian, z: str) -> str:
    """c·exp(−b‖z−l‖₁), for columns of at most two values (flags) by a product (`features.codes`).

    Over other columns distances are summed up one by one.
    """
    few = np.array([len(np.unique(values)) <= 2 for values in layer.landmarks.T])
    flags = coded(layer.landmarks[:, few], layer.rates, layer.log_height) if few.any() else None
    if flags is None:
        few[:] = False
        terms = [g.constant(g.real([layer.log_height]))]
    else:
        terms = [_of_flags(g, flags, g.columns(z, np.flatnonzero(few)))]
    if not few.all():
        rest = g.columns(z, np.flatnonzero(~few)) if few.any() else z
        distance = _distance(g, g.real(layer.landmarks[:, ~few]), rest)
        terms.append(g("Mul", distance, -g.real(layer.rates)))
    return g("Exp", g.sum(terms))


def _of_flags(g: Graph, flags: Coded, z: str) -> str:
    """ln c − b‖z−l‖₁ where landmarks have at most two values in each column."""
    above = g("Sub", z, g.real(flags.origin))
    inside = g("Min", g("Max", above, g.real(0)), g.real(flags.reach))
    beyond = g.row_sums(g("Abs", g("Sub", above, inside)))
    codes = g.beside([g.columns(inside, flags.column[:-2]), beyond])
    product = g.real(flags.product)
    return g("Add", g("MatMul", codes, product[:-1]), product[-1])


def _distance(g: Graph, landmarks: Array, z: str) -> str:
    """‖z−l‖₁ of each row and landmark, added up column by column   (n, h)."""
    h = len(landmarks)

    def add(names: list[str]) -> str:
        distance, z, landmarks = names
        apart = g("Sub", g("Reshape", z, np.array([-1, 1])), landmarks)
        return g("Add", distance, g("Abs", apart))

    none = g("MatMul", g.columns(z, [0]), g.real(np.zeros((1, h))))
    rows = Tensor(g("Transpose", z, perm=[1, 0]), g.precision, (ROWS,))
    columns = Tensor(np.ascontiguousarray(landmarks.T), g.precision, (h,))
    return g.repeat(add, Tensor(none, g.precision, (ROWS, h)), [rows, columns])


def _polynomial(g: Graph, layer: Polynomial, z: str) -> str:
    product = g("MatMul", z, g.real(layer.gamma * layer.landmarks.T))
    inner = power = g("Add", product, g.real(layer.constant)) if layer.constant else product
    for _ in range(layer.degree - 1):
        power = g("Mul", power, inner)
    return power


def _cosine(g: Graph, layer: Cosine, z: str) -> str:
    origin = g.real(layer.origin)
    z = g("Sub", z, origin)
    length = g("Sqrt", g.row_sums(g("Mul", z, z)))
    # Rows at the origin have no direction: their product is 0 already.
    divisor = g("Where", g("Greater", length, g.real(0)), length, g.real(1))
    landmarks = layer.landmarks - layer.origin
    lengths = np.linalg.norm(landmarks, axis=1)[:, np.newaxis]
    unit = landmarks / np.where(lengths > 0, lengths, 1.0)
    return g("MatMul", g("Div", z, divisor), g.real(unit.T))


def _codes(g: Graph, layer: Codes, z: str) -> str:
    """clip((z[column] − low) gain, 0, height)."""
    above = g("Sub", g.columns(z, layer.column), g.real(layer.low))
    codes = g("Max", g("Mul", above, g.real(layer.gain)), g.real(0))
    return g("Min", codes, g.real(layer.height))


def _similarity(g: Graph, layer: Similarity, z: str) -> str:
    centres = g.real(layer.centres)
    shared = g("MatMul", z, centres)
    union = g("Add", g.row_sums(g("Mul", z, z)), np.vecdot(centres.T, centres.T))
    if layer.kind == "tanimoto":
        union = g("Sub", union, shared)
    else:
        shared = g("Mul", shared, g.real(2))
    positive, unit = g("Greater", union, g.real(0)), g.real(1)
    return g("Where", positive, g("Div", shared, g("Where", positive, union, unit)), unit)


LAYERS: dict[type, Callable[..., str]] = {
    Sigmoid: lambda g, layer, z: g("Sigmoid", _affine(g, layer, z)),
    Relu: lambda g, layer, z: g("Relu", _affine(g, layer, z)),
    Radial: _radial,
    Laplacian: _laplacian,
    Polynomial: _polynomial,
    Cosine: _cosine,
    Similarity: _similarity,
    Codes: _codes,
}
