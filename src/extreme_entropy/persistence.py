"""A file of named arrays and plain values, without pickle: safetensors with a header of ours.

The header is JSON: format, version, the library's version, plain values and a SHA-256 over all of
it and every array. Reading checks everything before it uses anything, and can never run code.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load as from_bytes
from safetensors.numpy import save as to_bytes
from safetensors.numpy import save_file

from .errors import FileFormatError, WriteError
from .files import written_whole
from .shapes import Array

FORMAT = "extreme-entropy"
VERSION = 11  # that files are written with
READ = (11,)  # versions that are read, each with golden files (docs/guide/stability.md)


def write(
    path: str | Path | BinaryIO,
    values: dict[str, Any],
    arrays: dict[str, Array],
    *,
    durable: bool = False,
) -> None:
    """Write plain values and arrays to `path`, whole or not at all (see `files.written_whole`).

    To a file object they are written as they come.
    """
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
        "sha256": _digest(str(VERSION), text, arrays),
    }
    if not isinstance(path, str | os.PathLike):
        path.write(to_bytes(arrays, metadata=header))
        return
    try:
        with written_whole(path, durable=durable) as temporary:
            save_file(arrays, temporary, metadata=header)
    except SafetensorError as error:  # what the system said, in a class of the library's own
        quoted = re.search('message: "(.*)"', str(error))  # before 0.6
        said = quoted[1] if quoted else str(error).rpartition(": ")[2]
        raise WriteError(
            f"{str(path)!r} could not be written ({said}); what was "
            "there before is unchanged. Make room, or name another place."
        ) from error


def name_of(path: str | Path | bytes | BinaryIO) -> str:
    """What messages call the place that is read from."""
    if isinstance(path, str | os.PathLike):
        return str(path)
    return "bytes" if isinstance(path, bytes) else str(getattr(path, "name", "a file object"))


def read(path: str | Path | bytes | BinaryIO) -> tuple[dict[str, Any], dict[str, Array]]:
    """The values and arrays that `write` wrote, checked."""
    name = name_of(path)
    if isinstance(path, str | os.PathLike) and not Path(path).is_file():
        raise FileNotFoundError(f"There is no file {name!r} to load a model from.")
    try:
        header, arrays = _opened(path)
    except (SafetensorError, OSError, ValueError, TypeError, AttributeError) as error:
        raise FileFormatError(
            f"{name!r} cannot be read as a saved model ({error}). It is damaged, cut "
            "short, or another kind of file; load a file written by `save()`."
        ) from error
    if header.get("format") != FORMAT:
        raise FileFormatError(
            f"{name!r} is a safetensors file, but not a model of this library. "
            "Load files written by `save()`."
        )
    version, text = header.get("version", ""), header.get("values", "")
    if version not in map(str, READ):
        known = " and ".join(map(str, READ))
        raise FileFormatError(
            f"{name!r} has file version {version!r}; this library reads version {known}. "
            "Load it with the version of extreme-entropy that wrote it, or fit the model again."
        )
    if header.get("sha256") != _digest(version, text, arrays):
        raise FileFormatError(
            f"{name!r} was altered after it was saved: its checksum does not match. "
            "Take an intact copy."
        )
    try:
        return json.loads(text, parse_constant=_no_number), arrays
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"The header of {name!r} is not JSON ({error}).") from error


def _opened(path: str | Path | bytes | BinaryIO) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header, and the arrays if it is one of ours."""
    if isinstance(path, str | os.PathLike):
        with safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            names = file.keys() if header.get("format") == FORMAT else []
            # Of no more bytes than the file has: its header was compared with its size.
            return header, {name: file.get_tensor(name) for name in names}
    data = path if isinstance(path, bytes) else path.read()
    arrays = from_bytes(data)  # which checks all sizes
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")]).get("__metadata__") or {}
    return header, arrays if header.get("format") == FORMAT else {}


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _digest(version: str, text: str, arrays: dict[str, Array]) -> str:
    digest = hashlib.sha256(f"{FORMAT} {version}\n{text}\n".encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
