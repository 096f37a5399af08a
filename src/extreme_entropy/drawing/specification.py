"""What users ask of φ: a layer of neurons, or a kernel on landmarks, drawn from a sample of rows.

Everything but the number of neurons or landmarks is taken from the first sampled rows, which are
typical of all, so that fewer features are always the first of more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ..columns.encoding import fit_encoding
from ..engines.threads import Threads
from ..features.codes import on_knots
from ..features.feature_map import FeatureMap, HeldRows, Tree
from ..features.kernels import kernel_layer, median_gamma, whitening
from ..features.layers import Features, Part
from ..features.neurons import (
    UNIFORM,
    NeuronLayer,
    draw_laplacian,
    draw_neurons,
    draw_radial,
    log_deviation,
)
from ..features.scaling import fit_scaling
from ..shapes import Array
from .relevance import Relevance, RelevanceRows, learn_relevance
from .sampling import Sampled, SampleSizes
from .settings import DRAWING, DrawingSettings


@dataclass(frozen=True, slots=True)
class DrawnFrom:
    """What the features of a leaf are drawn from."""

    rows: Array  # sampled, encoded and scaled
    seed: int
    dtype: np.dtype[Any]  # precision of the rows that will be learnt
    # How much each column counts. In "mixed" layers these are the weights of the Laplacian part
    # alone: beside it the plain part sees all columns alike, so that nothing is lost where weights
    # mislead; unless the Laplacian part shall stand `alone`.
    weights: Array | None = None
    alone: bool = False
    move: bool = True  # landmarks of Laplacian layers a little, which makes φ faster (`codes`)


class LeafSpec:
    """What a user asks of the features of a leaf, or of all rows."""

    __slots__ = ()
    plain: ClassVar[str]  # what "mixed" stands for without weights of columns
    laplacian_beside: ClassVar[bool]  # whether a Laplacian part stands beside it even then
    distance_kinds: ClassVar[tuple[str, ...]]  # see rows by their distances alone
    size: int  # neurons or landmarks
    kind: Any  # the activation or kernel
    scale: str | None
    relevance: str
    settings: DrawingSettings

    @property
    def learns_relevance(self) -> bool:
        """Whether columns are weighted by what they are found to matter."""
        auto = self.relevance == "auto" and self.kind in ("mixed", "laplacian")
        return auto or self.relevance == "learned"

    @property
    def sample_size(self) -> int:
        """How many rows must be sampled."""
        return max(self.size, self.settings.features.typical_rows)

    def sample_sizes(self, n: float, n_classes: int, d: int) -> SampleSizes:
        """The same, and of each class: so many, whatever the table."""
        of_class = self.settings.relevance.class_rows if self.learns_relevance else 0
        return SampleSizes(self.sample_size, of_class)

    def part(self, kind: Any, h: int, rows: Array, typical: Array, drawn: DrawnFrom) -> Part:
        """A part of h neurons or landmarks, from rows as it sees them."""
        raise NotImplementedError

    def draw(self, sampled: Sampled) -> FeatureMap:
        """φ of one leaf as specified."""
        encoding, settings = sampled.encoding, self.settings
        if not self.sample_size and encoding.kinds is None and encoding.plain:
            # Of numbers without gaps, where φ needs no sampled rows.
            encoding = fit_encoding(None, sampled.stats, sampled.sample.rows[:0], {})
        scaling = fit_scaling(
            self.scale,
            sampled.stats,
            sampled.sample.rows,
            by_distance=self.kind in self.distance_kinds,
            settings=settings.features,
        )
        drawn = DrawnFrom(
            scaling(sampled.sample.rows),
            sampled.content.seed,
            sampled.dtype,
            move=sampled.stats.rows >= settings.many_rows,
        )
        weights = None
        if self.learns_relevance and sampled.by_class is not None:
            relevance = relevance_of(sampled, self.scale, settings)
            weights = relevance.weights
            used = weights if relevance.is_used else None
            drawn = replace(drawn, weights=used, alone=relevance.is_alone)
        features = self.features(drawn)
        held = HeldRows.none(len(sampled.stats.low))
        return FeatureMap(
            sampled.content, encoding, scaling, Tree.uncut(), (features,), held, weights
        )

    def features(self, drawn: DrawnFrom) -> Features:
        """The features of a leaf as specified."""
        kinds: list[tuple[Any, Array | None]] = [(self.kind, drawn.weights)]
        if self.kind == "mixed":
            kinds = [(self.plain, None), ("laplacian", drawn.weights)]
            if drawn.weights is None and not self.laplacian_beside:
                kinds = kinds[:1]
            elif drawn.weights is not None and drawn.alone:
                kinds = kinds[1:]
        # Landmarks of all parts are apart, and those of fewer are the first of those of more.
        rows, typical = drawn.rows, drawn.rows[: self.settings.features.typical_rows]
        p = max(min(len(kinds), self.size, len(rows)), 1)
        parts = []
        for i, (kind, weights) in enumerate(kinds[:p]):
            seen, columns, n_typical = rows[i::p], None, len(typical[i::p])
            if weights is not None:
                least = self.settings.relevance.least_weight * weights.max()
                columns = np.flatnonzero(weights > least)
                seen, weights = seen[:, columns] * weights[columns], weights[columns]
                columns = None if len(columns) == rows.shape[1] else columns
            part = self.part(kind, len(range(i, self.size, p)), seen, seen[:n_typical], drawn)
            parts.append(replace(part, columns=columns, weights=weights))
        return Features(tuple(parts))


@dataclass(frozen=True, slots=True)
class NeuronSpec(LeafSpec):
    """What a user asks of a layer of random neurons."""

    plain: ClassVar[str] = "radial"
    laplacian_beside: ClassVar[bool] = False
    distance_kinds: ClassVar[tuple[str, ...]] = ("mixed", "laplacian")

    size: int = field(metadata={"parameter": "n_hidden"})
    kind: str | Callable[..., Array] = field(metadata={"parameter": "activation"})
    scale: str | None
    relevance: str = "uniform"
    settings: DrawingSettings = DRAWING

    @property
    def sample_size(self) -> int:
        """How many rows must be sampled: perhaps none for neurons that are drawn without rows."""
        typical_rows = self.settings.features.typical_rows
        uniform = callable(self.kind) or self.kind in UNIFORM
        if uniform and not self.learns_relevance:
            return typical_rows if self.scale == "quantile" else 0
        return max(self.size, typical_rows)

    def part(self, kind: Any, h: int, rows: Array, typical: Array, drawn: DrawnFrom) -> Part:
        """A part of h neurons."""
        layer: NeuronLayer
        seed, settings = drawn.seed, self.settings.features
        if kind == "radial":
            layer = draw_radial(h, rows, typical, seed, settings)
        elif kind == "laplacian":
            layer = draw_laplacian(h, rows, typical, seed, move=drawn.move, settings=settings)
        else:
            layer = draw_neurons(kind, h, rows, seed)
        return Part(layer)


@dataclass(frozen=True, slots=True)
class KernelSpec(LeafSpec):
    """What a user asks of a Nyström approximation of a kernel."""

    plain: ClassVar[str] = "rbf"
    laplacian_beside: ClassVar[bool] = True
    distance_kinds: ClassVar[tuple[str, ...]] = ("mixed", "rbf", "laplacian")

    size: int = field(metadata={"parameter": "n_landmarks"})
    kind: str | Callable[..., float] = field(metadata={"parameter": "kernel"})
    gamma: float | str
    scale: str | None
    relevance: str = "uniform"
    settings: DrawingSettings = DRAWING

    def part(self, kind: Any, h: int, rows: Array, typical: Array, drawn: DrawnFrom) -> Part:
        """A part of h landmarks, the first sampled rows, and its whitening."""
        gamma, balanced = self.gamma, self.settings.features.balanced
        if isinstance(gamma, str):
            gamma = median_gamma(kind, typical)
        elif self.kind == "mixed":  # a multiple, since the two parts measure differently
            gamma *= median_gamma(kind, typical)
        landmarks = rows[: max(h, balanced) if self.kind == "mixed" else h]
        if kind == "laplacian" and drawn.move:
            landmarks = on_knots(landmarks, typical, self.settings.features)
        layer = kernel_layer(kind, landmarks, gamma, self.scale)
        W = whitening(layer(landmarks), drawn.dtype)
        if self.kind == "mixed":  # both parts vary alike, by their first features
            first = layer.first(balanced)(typical) @ W[:balanced, :balanced]
            W = W * np.exp(-log_deviation(first))
        return Part(layer, whitening=W).first(h)


def relevance_of(sampled: Sampled, scale: str | None, settings: DrawingSettings) -> Relevance:
    """How much each column counts, which is learned once for each way to scale them.

    Classes without rows do not count.
    """
    if scale in sampled.learned:
        return sampled.learned[scale]
    samples = sampled.by_class or []
    first = slice(settings.relevance.class_rows)
    by_class = [sample.at(first) for sample in samples if len(sample.rows)]
    relevance = Relevance(np.ones(len(sampled.stats.low)))
    if len(by_class) > 1:
        landmarks = settings.relevance.landmarks
        spec = KernelSpec(landmarks, "mixed", "median", scale, settings=settings)
        rows = sampled.sample.rows
        scaling = fit_scaling(scale, sampled.stats, rows, settings=settings.features)
        # Landmarks stay where they are: on few knots, gradients would have few steps.
        precision = np.dtype(np.float64)
        drawn = DrawnFrom(scaling(rows), sampled.content.seed, precision, move=False)
        relevance = learn_relevance(
            RelevanceRows.of(scaling, by_class),
            lambda weights: spec.features(replace(drawn, weights=weights)),
            settings.relevance,
            Threads(sampled.n_jobs),
        )
    sampled.learned[scale] = relevance
    return relevance
