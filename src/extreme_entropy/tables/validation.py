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
        for one in inner:
            try:
                return from_plain(one, value)
            except TypeError:
                continue
    elif origin is tuple and isinstance(value, list | tuple):
        return tuple(from_plain(inner[0], one) for one in value)
    elif origin is Mapping and isinstance(value, dict):
        return {str(key): from_plain(inner[1], one) for key, one in value.items()}
    elif is_dataclass(kind) and isinstance(value, dict):
        hints = get_type_hints(kind)
        unknown = sorted(set(value) - set(hints))
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no field of {kind}")
        make: Any = kind
        return make(**{name: from_plain(hints[name], one) for name, one in value.items()})
    elif kind is float and type(value) is int:
        return float(value)
    elif isinstance(kind, type) and type(value) is kind and (kind is not str or is_text(value)):
        return value
    raise TypeError(f"{str(value)[:80]!r} is not {kind}")
