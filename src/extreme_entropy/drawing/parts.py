"""The features of a leaf, drawn part by part from scaled sampled rows.

Everything but the number of neurons or landmarks is taken from the first `SAMPLE_ROWS` sampled
rows, so that fewer features are always the first of more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..features.kernels import Cosine, CustomKernel, KernelLayer, Laplacian, Polynomial
from ..features.layers import Features, Part
from ..features.neurons import Radial, Similarity
from ..features.scaling import SAMPLE_ROWS

Array = np.ndarray[Any, Any]

LEAST = 1e-3  # of the largest weight: columns that count for less are left out


class LeafSpec(Protocol):
    """What a user asks of the features of a leaf."""

    @property
    def scale(self) -> str | None: ...

    @property
    def size(self) -> int:
        """Neurons or landmarks."""

    @property
    def kind(self) -> Any:
        """The activation or kernel."""

    @property
    def parts(self) -> tuple[str, str]:
        """What "mixed" stands for without weights of columns, and beside the Laplacian part."""

    def part(self, kind: Any, h: int, seen: SeenRows, drawn: DrawnFrom, /) -> Part:
        """A part of h neurons or landmarks."""


@dataclass(frozen=True, slots=True)
class DrawnFrom:
    """What features are drawn from."""

    rows: Array  # sampled, encoded and scaled
    seed: int
    dtype: np.dtype[Any]  # precision of the rows that will be learnt
    # How much each column counts. In "mixed" layers these are the weights of the Laplacian part
    # alone: beside it the plain part sees all columns alike, so that nothing is lost where weights
    # mislead; unless the Laplacian part shall stand `alone`.
    weights: Array | None = None
    alone: bool = False
    move: bool = True  # landmarks of Laplacian layers a little, which makes φ faster (`codes`)


@dataclass(frozen=True, slots=True)
class SeenRows:
    """Scaled sampled rows as a part sees them: the columns that count, weighted."""

    rows: Array
    n_typical: int  # the first of them are typical of all
    columns: Array | None  # which they are; all without it
    weights: Array | None

    @classmethod
    def of(cls, rows: Array, n_typical: int, weights: Array | None) -> SeenRows:
        """Rows with columns weighted so."""
        if weights is None:
            return cls(rows, n_typical, None, None)
        kept = np.flatnonzero(weights > LEAST * weights.max())
        columns = None if len(kept) == len(weights) else kept
        return cls(rows[:, kept] * weights[kept], n_typical, columns, weights[kept])


def draw_features(spec: LeafSpec, drawn: DrawnFrom) -> Features:
    """Features as specified."""
    plain, beside = spec.parts
    kinds: list[tuple[Any, Array | None]]
    if spec.kind != "mixed":
        kinds = [(spec.kind, drawn.weights)]
    elif drawn.alone and drawn.weights is not None:
        kinds = [("laplacian", drawn.weights)]
    elif drawn.weights is None and not beside:
        kinds = [(plain, None)]
    else:
        kinds = [(plain, None), ("laplacian", drawn.weights)]
    # Landmarks of all parts are apart, and those of fewer are the first of those of more.
    rows = drawn.rows
    p = max(min(len(kinds), spec.size, len(rows)), 1)
    parts = []
    for i, (kind, weights) in enumerate(kinds[:p]):
        seen = SeenRows.of(rows[i::p], len(rows[:SAMPLE_ROWS][i::p]), weights)
        parts.append(spec.part(kind, len(range(i, spec.size, p)), seen, drawn))
    return Features(tuple(parts))


def kernel_layer(
    kernel: str | Callable[..., float], landmarks: Array, gamma: float, scale: str | None
) -> KernelLayer | Radial | Similarity:
    """The layer of a kernel over landmarks that were scaled so."""
    if not isinstance(kernel, str):
        return CustomKernel(kernel, landmarks)
    if kernel == "rbf":
        return Radial.about(landmarks, np.full(len(landmarks), gamma))
    if kernel == "laplacian":
        return Laplacian(landmarks, np.full(len(landmarks), gamma))
    if kernel == "polynomial":
        return Polynomial(landmarks, gamma, 1.0, 3)
    if kernel == "linear":
        return Polynomial(landmarks, 1.0, 0.0, 1)
    if kernel == "cosine":
        # Seen from a corner of the cube, all rows lie in nearly the same direction.
        return Cosine(landmarks, 0.5 if scale in ("minmax", "quantile") else 0.0)
    return Similarity("tanimoto", landmarks.T.copy())
