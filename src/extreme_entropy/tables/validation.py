"""Plain values from a file as the frozen dataclasses they were, checked by their annotations."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from ..shapes import is_text


def from_plain(kind: Any, value: Any) -> Any:
    """A plain value as the type it should be; TypeError or ValueError where it is none.

    The type is str, int, float, bool, a dataclass of such, or `X | Y`, `tuple[X, ...]` or
    `Mapping[str, X]` of them.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (types.UnionType, Union):
        return _one_of(inner, value)
    if origin is tuple and isinstance(value, list | tuple):
        return tuple(from_plain(inner[0], item) for item in value)
    if origin is Mapping and isinstance(value, dict):
        return {str(key): from_plain(inner[1], item) for key, item in value.items()}
    if is_dataclass(kind) and isinstance(value, dict):
        return _made(kind, value)
    return _scalar(kind, value)


def _one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    """The first of several types that fits; the error of the last where none does."""
    for kind in kinds[:-1]:
        try:
            return from_plain(kind, value)
        except TypeError:
            continue
    return from_plain(kinds[-1], value)


def _made(kind: Any, values: dict[str, Any]) -> Any:
    hints = get_type_hints(kind)
    if unknown := sorted(set(values) - set(hints)):
        raise ValueError(f"{unknown[0]!r} is no field of {kind}")
    return kind(**{name: from_plain(hints[name], item) for name, item in values.items()})


def _scalar(kind: Any, value: Any) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    if isinstance(kind, type) and type(value) is kind and (kind is not str or is_text(value)):
        return value
    raise TypeError(f"{str(value)[:80]!r} is not {kind}")
