"""What users ask of φ: a layer of neurons, or a kernel on landmarks, of all rows alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..engines.threads import Threads
from ..features.codes import on_knots
from ..features.feature_map import FeatureMap
from ..features.kernels import median_gamma
from ..features.landmarks import whitening
from ..features.layers import Layer, Part
from ..features.neurons import (
    BALANCED,
    UNIFORM,
    draw_laplacian,
    draw_neurons,
    draw_radial,
    log_deviation,
)
from ..features.scaling import SAMPLE_ROWS, fit_scaling
from . import relevance
from .parts import DrawnFrom, SeenRows, draw_features, kernel_layer
from .sampling import LEARNING_ROWS, Sampled, SampleSizes

Array = np.ndarray[Any, Any]

MANY_ROWS = 10_000  # from which on a faster φ is worth moving landmarks


def draw_uncut(spec: NeuronSpec | KernelSpec, sampled: Sampled) -> FeatureMap:
    """φ of one leaf as specified."""
    encoding = sampled.encoding
    if not spec.sample_size and encoding.kinds is None and encoding.plain:
        encoding = sampled.encoding_without_rows()
    sample = sampled.sample.rows
    scaling = fit_scaling(
        spec.scale, sampled.stats, sample[:SAMPLE_ROWS], by_distance=spec.by_distance
    )
    move = sampled.stats.rows >= MANY_ROWS
    drawn = DrawnFrom(scaling(sample), sampled.content.seed, sampled.dtype, move=move)
    weights = None
    if spec.learns_relevance and sampled.by_class is not None:
        found = learn_relevance(sampled, spec.scale)
        weights, drawn = found.weights, replace(drawn, weights=found.used, alone=found.alone)
    features = draw_features(spec, drawn)
    return FeatureMap.uncut(sampled.content, encoding, scaling, features, weights)


def learn_relevance(sampled: Sampled, scale: str | None) -> relevance.Relevance:
    """How much each column counts, which is learned once for each way to scale them."""
    if scale not in sampled.learned:
        spec = KernelSpec(relevance.LANDMARKS, "mixed", "median", scale)
        sampled.learned[scale] = relevance.learn_relevance(sampled, spec, Threads(sampled.n_jobs))
    return sampled.learned[scale]


def _learns(relevance: str, kind: Any) -> bool:
    """Whether relevance is learned for a layer: always, never, or with "auto" where it helps."""
    return relevance == "learned" or (relevance == "auto" and kind in ("mixed", "laplacian"))


@dataclass(frozen=True, slots=True)
class NeuronSpec:
    """What a user asks of a layer of random neurons."""

    n_hidden: int
    activation: str | Callable[..., Array]
    scale: str | None
    relevance: str = "uniform"

    @property
    def size(self) -> int:
        return self.n_hidden

    @property
    def kind(self) -> Any:
        return self.activation

    @property
    def parts(self) -> tuple[str, str]:
        return "radial", ""

    @property
    def learns_relevance(self) -> bool:
        """Whether columns are weighted by what they are found to matter."""
        return _learns(self.relevance, self.activation)

    @property
    def sample_size(self) -> int:
        """How many rows must be sampled."""
        uniform = callable(self.activation) or self.activation in UNIFORM
        if uniform and not self.learns_relevance:
            return SAMPLE_ROWS if self.scale == "quantile" else 0
        return max(self.n_hidden, SAMPLE_ROWS)

    @property
    def by_distance(self) -> bool:
        """Whether rows are seen by their distances alone, but for constants that change nothing."""
        return self.activation in ("mixed", "laplacian")

    def sample_sizes(self, n: float, n_classes: int, d: int) -> SampleSizes:
        """The same, and of each class: so many, whatever the table."""
        return SampleSizes(self.sample_size, LEARNING_ROWS * self.learns_relevance)

    def draw(self, sampled: Sampled) -> FeatureMap:
        """φ as specified."""
        return draw_uncut(self, sampled)

    def part(self, kind: Any, h: int, seen: SeenRows, drawn: DrawnFrom) -> Part:
        """A part of h neurons."""
        layer: Layer
        if kind == "radial":
            layer = draw_radial(h, seen.rows, drawn.seed, seen.n_typical)
        elif kind == "laplacian":
            layer = draw_laplacian(h, seen.rows, drawn.seed, seen.n_typical, move=drawn.move)
        else:
            layer = draw_neurons(kind, h, seen.rows, drawn.seed)
        return Part(layer, seen.columns, seen.weights)


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """What a user asks of a Nyström approximation of a kernel."""

    n_landmarks: int
    kernel: str | Callable[..., float]
    gamma: float | str
    scale: str | None
    relevance: str = "uniform"

    @property
    def size(self) -> int:
        return self.n_landmarks

    @property
    def kind(self) -> Any:
        return self.kernel

    @property
    def parts(self) -> tuple[str, str]:
        return "rbf", "laplacian"

    @property
    def learns_relevance(self) -> bool:
        """Whether columns are weighted by what they are found to matter."""
        return _learns(self.relevance, self.kernel)

    @property
    def sample_size(self) -> int:
        """How many rows must be sampled."""
        return max(self.n_landmarks, SAMPLE_ROWS)

    @property
    def by_distance(self) -> bool:
        """Whether rows are seen by their distances alone, but for constants that change nothing."""
        return self.kernel in ("mixed", "rbf", "laplacian")

    def sample_sizes(self, n: float, n_classes: int, d: int) -> SampleSizes:
        """The same, and of each class: so many, whatever the table."""
        return SampleSizes(self.sample_size, LEARNING_ROWS * self.learns_relevance)

    def draw(self, sampled: Sampled) -> FeatureMap:
        """φ as specified."""
        return draw_uncut(self, sampled)

    def part(self, kind: Any, h: int, seen: SeenRows, drawn: DrawnFrom) -> Part:
        """A part of h landmarks, the first sampled rows, and its whitening."""
        rows, typical, gamma = seen.rows, seen.rows[: seen.n_typical], self.gamma
        if isinstance(gamma, str):
            gamma = median_gamma(kind, typical)
        elif self.kernel == "mixed":  # a multiple, since the two parts measure differently
            gamma *= median_gamma(kind, typical)
        landmarks = rows[: max(h, BALANCED) if self.kernel == "mixed" else h]
        if kind == "laplacian" and drawn.move:
            landmarks = on_knots(landmarks, typical)
        layer = kernel_layer(kind, landmarks, gamma, self.scale)
        W = whitening(layer(landmarks), drawn.dtype)
        if self.kernel == "mixed":  # both parts vary alike, by their first features
            first = layer.first(BALANCED)(typical) @ W[:BALANCED, :BALANCED]
            W = W * np.exp(-log_deviation(first))
        return Part(layer, seen.columns, seen.weights, W).first(h)
