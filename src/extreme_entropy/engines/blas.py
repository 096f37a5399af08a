"""Functions of BLAS that work in place and without holding Python's lock.

SciPy's own wrappers hold the lock, and NumPy has neither function. So they are called through the
pointers that SciPy exports for compiled callers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import byref as ref
from typing import Any

import numpy as np
from scipy.linalg import cython_blas

from ..shapes import Array

NUMBERS: dict[str, Any] = {"d": ctypes.c_double, "f": ctypes.c_float}


def add_gram(H: Array, S: Array, factor: float = 1.0) -> None:
    """S += factor · HᵀH on the lower triangle of S; both C-contiguous and of one precision."""
    (n, h), (data, gram) = map(ctypes.c_int, H.shape), (H.ctypes.data, S.ctypes.data)
    alpha, beta = map(NUMBERS[H.dtype.char], (factor, 1.0))
    # Read by columns, as Fortran does, H is Hᵀ and the lower triangle the upper one.
    _SYRK[H.dtype.char](
        b"U", b"N", ref(h), ref(n), ref(alpha), data, ref(h), ref(beta), gram, ref(h)
    )


def times_upper(H: Array, W: Array) -> Array:
    """H W for an upper triangular W, written over H where both have one precision."""
    if H.dtype != W.dtype or W.shape != (H.shape[1], H.shape[1]):
        return H @ W
    H = np.ascontiguousarray(H)
    if W.strides[1] != W.itemsize or W.strides[0] < W.itemsize * max(len(W), 1):
        W = np.ascontiguousarray(W)
    n, h, stride = map(ctypes.c_int, (*H.shape, W.strides[0] // W.itemsize))
    alpha, data, weights = NUMBERS[H.dtype.char](1.0), H.ctypes.data, W.ctypes.data
    # Read by columns, H is Hᵀ and W its transpose, which is lower triangular: Hᵀ ← Wᵀ Hᵀ.
    if H.size:
        _TRMM[H.dtype.char](
            b"L", b"L", b"N", b"N", ref(h), ref(n), ref(alpha), weights, ref(stride), data, ref(h)
        )
    return H


def mirrored(S: Array) -> Array:
    """The symmetric matrix of which S holds the lower triangle; S is overwritten."""
    h, tile = len(S), 128  # numbers along each side of what stays in cache while it is turned
    for i in range(0, h, tile):
        j = min(i + tile, h)
        corner = np.tril(S[i:j, i:j])
        S[i:j, i:j] = corner + np.tril(corner, -1).T
        S[i:j, j:] = S[j:, i:j].T
    return S


def _function(name: str, arguments: Sequence[Any]) -> Callable[..., None]:
    capsule = cython_blas.__pyx_capi__[name]
    read_name = ctypes.pythonapi.PyCapsule_GetName
    read_name.restype, read_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    read_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    read_pointer.restype = ctypes.c_void_p
    read_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(None, *arguments)(read_pointer(capsule, read_name(capsule)))


# Arguments of both functions: letters, integers by reference, and addresses of numbers.
_TYPES = {"c": ctypes.c_char_p, "i": ctypes.POINTER(ctypes.c_int), "p": ctypes.c_void_p}
_SYRK, _TRMM = (
    {
        char: _function(letter + name, [_TYPES[kind] for kind in arguments])
        for char, letter in (("d", "d"), ("f", "s"))
    }
    for name, arguments in (("syrk", "cciippippi"), ("trmm", "cccciippipi"))
)
