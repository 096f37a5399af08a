"""S += α HᵀH in place, on one triangle, without holding Python's lock.

SciPy's own wrappers of BLAS hold the lock, and `H.T @ H` writes both triangles of a new matrix. So
?syrk is called through the function pointers that SciPy exports for compiled callers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cython_blas

Array = np.ndarray[Any, Any]

TILE = 128


def add_gram(H: Array, S: Array, factor: float = 1.0) -> None:
    """S += factor · HᵀH on the lower triangle of S; both C-contiguous and of one precision."""
    n, h = H.shape
    number = ctypes.c_double if H.dtype == np.float64 else ctypes.c_float
    size, one = ctypes.c_int(h), number(1.0)
    # Read by columns, as Fortran does, H is Hᵀ and the lower triangle the upper one.
    _SYRK[H.dtype.char](
        b"U",
        b"N",
        ctypes.byref(size),
        ctypes.byref(ctypes.c_int(n)),
        ctypes.byref(number(factor)),
        H.ctypes.data,
        ctypes.byref(size),
        ctypes.byref(one),
        S.ctypes.data,
        ctypes.byref(size),
    )


def mirrored(S: Array) -> Array:
    """The symmetric matrix of which S holds the lower triangle; S is overwritten."""
    h = len(S)
    for i in range(0, h, TILE):  # in tiles that stay in cache while they are turned
        j = min(i + TILE, h)
        corner = np.tril(S[i:j, i:j])
        S[i:j, i:j] = corner + np.tril(corner, -1).T
        S[i:j, j:] = S[j:, i:j].T
    return S


def _syrk(name: str) -> Callable[..., None]:
    capsule = cython_blas.__pyx_capi__[name]
    read_name = ctypes.pythonapi.PyCapsule_GetName
    read_name.restype, read_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    read_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    read_pointer.restype = ctypes.c_void_p
    read_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    pointer = read_pointer(capsule, read_name(capsule))
    integer, address = ctypes.POINTER(ctypes.c_int), ctypes.c_void_p
    signature = ctypes.CFUNCTYPE(
        None,
        *(ctypes.c_char_p, ctypes.c_char_p, integer, integer),
        *(address, address, integer, address, address, integer),
    )
    return signature(pointer)


_SYRK = {"d": _syrk("dsyrk"), "f": _syrk("ssyrk")}
