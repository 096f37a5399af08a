"""The limits: only what no fit and no prediction can avoid, with threads, chunk by chunk.

Chunks are as large as stay in the processor's cache. BLAS has one thread in each of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from extreme_entropy.engines.blas import add_gram
from extreme_entropy.features.feature_map import FeatureMap
from extreme_entropy.features.layers import Features

Array = np.ndarray[Any, Any]

CHUNK_NUMBERS = 2**19  # numbers in a chunk of hidden rows: 4 MiB of float64
PARTS = 16  # of the rows, each with a matrix of its own


def fit_limit(X: Array, weights: Array, threads: int | None) -> Array:
    """The product with the weights, the exponential, and HᵀH added to one matrix."""
    h = weights.shape[1]

    def gram(part: slice) -> Array:
        rows, S = X[part], np.zeros((h, h), X.dtype)
        for chunk in _slices(len(rows), _chunk_rows(h)):
            H = rows[chunk] @ weights
            np.exp(H, out=H)
            add_gram(H, S)
        return S

    parts = _slices(len(X), max(8192, -(-len(X) // PARTS)))
    return np.asarray(sum(_run(gram, parts, threads)))


def predict_limit(X: Array, weights: Array, readout: Array, threads: int | None) -> Array:
    """The product with the weights, the exponential, and the product with the operator."""

    def project(chunk: slice) -> Array:
        H = X[chunk] @ weights
        np.exp(H, out=H)
        return np.asarray(H @ readout)

    chunks = _slices(len(X), _chunk_rows(weights.shape[1]))
    return np.concatenate(_run(project, chunks, threads))


def _chunk_rows(h: int) -> int:
    return int(np.clip(CHUNK_NUMBERS // h, 64, 4096))


def _slices(n: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def _run(work: Callable[[slice], Array], parts: list[slice], threads: int | None) -> list[Array]:
    with _pools().limit(limits=1):
        if len(parts) == 1:
            return [work(parts[0])]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(work, parts))


@cache
def _pools() -> ThreadpoolController:
    """Looked up once: that takes longer than a prediction of one row."""
    return ThreadpoolController()


def map_limit(phi: FeatureMap, X: Array, threads: int | None) -> Callable[[], None]:
    """What no fit with this φ can avoid, made ready: the features of each leaf, and HᵀH.

    Rows are sent to their leaves and scaled beforehand.
    """
    work, at = [], phi.leaves_of(X)
    for leaf in np.unique(at):
        own = np.flatnonzero(at == leaf)
        features = phi.leaves[leaf].in_precision(X.dtype)
        Z = phi.scaled(X[own])
        work += [(features, Z[some]) for some in _slices(len(own), 8192)]

    def add_up(features: Features, Z: Array) -> None:
        h, longest = features.h, _chunk_rows(features.h)
        S, buffers = np.zeros((h, h), Z.dtype), features.buffers(longest, Z.dtype)
        for chunk in _slices(len(Z), longest):
            add_gram(features(Z[chunk], buffers), S)

    def limit() -> None:
        with _pools().limit(limits=1), ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(lambda task: add_up(*task), work):
                pass

    return limit
