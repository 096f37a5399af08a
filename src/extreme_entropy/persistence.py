"""A file of named arrays and plain values, without pickle: safetensors with a header of ours.

The header is JSON: format, version, the library's version, plain values and a SHA-256 over all of
it and every array. A file is written beside its place and renamed, so it is there whole or not at
all. Reading checks everything before it believes anything, and can never run code.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from .errors import FileFormatError

Array = np.ndarray[Any, Any]

FORMAT = "extreme-entropy"
VERSION = 2


def write(path: str | Path, values: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write plain values and arrays to `path`, whole or not at all."""
    path = Path(path)
    # A sorted dump, since the digest is over its text.
    text = json.dumps(values, sort_keys=True, allow_nan=False)
    arrays = {
        name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        for name, array in arrays.items()
    }
    header = {
        "format": FORMAT,
        "version": str(VERSION),
        "values": text,
        "sha256": _digest(VERSION, text, arrays),
    }
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    try:
        save_file(arrays, beside, metadata=header)
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """The values and arrays of a file that `write` made, checked."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {str(path)!r} to load a machine from.")
    try:
        with safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            if header.get("format") != FORMAT:
                raise FileFormatError(
                    f"{str(path)!r} is a safetensors file, but not a machine of this library. "
                    "Load files written by `save()`."
                )
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no dict)
    except (SafetensorError, OSError, UnicodeDecodeError) as error:
        raise FileFormatError(
            f"{str(path)!r} cannot be read as a saved machine ({error}). It is damaged, cut "
            "short, or another kind of file; load a file written by `save()`."
        ) from error
    version, text = header.get("version", ""), header.get("values", "")
    if version != str(VERSION):
        raise FileFormatError(
            f"{str(path)!r} has file version {version!r}; this library reads version {VERSION}. "
            "Load it with the version of extreme-entropy that wrote it, or fit the model again."
        )
    if header.get("sha256") != _digest(VERSION, text, arrays):
        raise FileFormatError(
            f"{str(path)!r} was altered after it was saved: its checksum does not match. "
            "Take an intact copy."
        )
    try:
        return json.loads(text), arrays
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"The header of {str(path)!r} is not JSON ({error}).") from error


def _digest(version: int, text: str, arrays: dict[str, Array]) -> str:
    digest = hashlib.sha256(f"{FORMAT} {version}\n{text}\n".encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _umask() -> int:
    """The permissions this process withholds from new files (it can only be read by setting)."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
