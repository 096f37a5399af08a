"""What a field of a stored value may hold: annotations beside the fields of frozen dataclasses.

    gamma: float
    landmarks: Annotated[Array, Numbers("hidden", "seen")]
    columns: Annotated[Array | None, Indices("seen", below="encoded", increasing=True)]
    curves: Annotated[tuple[Curve, ...], Count("pairs")]

A size is a number, a name, or a name and more ("seen+2"); None is any. The type says the rest: a
float without an annotation is one of `Numbers()`, an int one of `Indices()`. What reads values from
a file checks all of it (`estimators.schema`); nothing is checked when values are made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Size = str | int | None
Sizes = dict[str, list[int]]  # the number that each name stands for, or none yet

LARGEST = 1e100  # so that products of a few numbers are finite
LARGEST_SUM = LARGEST**1.5  # of squares, of which more add up
LARGEST_LOG = 700.0  # whose exponential is finite, and a little less
FINITE = float(np.finfo(float).max)
SMALLEST = float(np.finfo(float).smallest_subnormal)
HALF = re.compile("[\ud800-\udfff]")  # of a character


def require(holds: Any, where: str, what: str, came: Any) -> None:
    """Raise ValueError unless it holds, with a clause that says what must and what came."""
    if isinstance(came, np.ndarray):
        came = f"an array of {came.dtype} and shape {came.shape}"
    if not holds:
        raise ValueError(f"{where} must be {what}; it is {str(came)[:80]}")


def is_text(value: Any) -> bool:
    """Whether it is a string of whole characters, which can be written anywhere."""
    return isinstance(value, str) and not HALF.search(value)


def fits(size: Size, n: int, sizes: Sizes) -> bool:
    """Whether n is a size; a name that stands for nothing yet becomes n."""
    if not isinstance(size, str):
        return size is None or n == size
    name, _, offset = size.partition("+")
    known = sizes[name]
    if not known:
        known.append(n - int(offset or 0))
    return known[0] + int(offset or 0) == n


def told(size: Size, sizes: Sizes) -> str:
    """A size as messages put it."""
    known = sizes.get(str(size))
    return str(known[0]) if known else "any" if size is None else str(size)


class Bound:
    """What a field may hold beside what its type says."""

    sizes: tuple[Size, ...] = ()  # that must agree with those of the same names elsewhere

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        """Raise ValueError unless a value is within the bound."""


class OneOf(Bound):
    """One of these values, or any text if there are none."""

    def __init__(self, *allowed: Any) -> None:
        self.allowed: tuple[str, ...] = allowed

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        kind = type(self.allowed[0]) if self.allowed else str
        known = type(value) is kind and (value in self.allowed or not self.allowed)
        allowed = " or ".join(map(repr, self.allowed)) or "text"
        require(known and (kind is not str or is_text(value)), where, allowed, value)


class Scalar(Bound):
    """A label: text, a number or a truth value."""

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        known = is_text(value) or isinstance(value, bool | int | float)
        require(known and value == value, where, "text, a number or a truth value", value)


class Labels(Bound):
    """An array of two or more labels in increasing order, or of names."""

    def __init__(self, size: Size, *, names: bool = False) -> None:
        self.sizes: tuple[Size, ...] = (size,)
        self.names: bool = names

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        flat = isinstance(value, np.ndarray) and value.ndim == 1
        [size] = self.sizes
        if self.names:
            named = flat and fits(size, len(value), sizes) and all(map(is_text, value.tolist()))
            require(named, where, f"{sizes[str(size)][0]} names", value)
        else:
            ordered = flat and len(value) > 1 and np.array_equal(np.unique(value), value)
            require(ordered, where, "two or more labels in increasing order", value)
            fits(size, len(value), sizes)


class Among(Bound):
    """A value of one of these classes, of which the type says what they have in common."""

    def __init__(self, classes: Sequence[type]) -> None:
        self.classes: tuple[type, ...] = tuple(classes)


class Count(Bound):
    """How many a tuple has, or a number that says how many there are."""

    def __init__(self, size: Size) -> None:
        self.sizes: tuple[Size, ...] = (size,)

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        [size] = self.sizes
        same = type(value) is int and value >= 0 and fits(size, value, sizes)
        require(same, where, "" if same else told(size, sizes), value)


class Numbers(Bound):
    """An array of such a shape, or a number, in a range; perhaps with gaps (NaN), or increasing."""

    plain: tuple[type, ...] = (int, float)
    dtypes: tuple[str, ...] = ("float64",)
    range: tuple[float, float] = (-LARGEST, LARGEST)

    def __init__(
        self,
        *shape: Size,
        least: float | None = None,
        most: float | None = None,
        below: str = "",
        gaps: bool = False,
        increasing: bool = False,
    ) -> None:
        self.sizes: tuple[Size, ...] = shape
        self.below: str = below
        self.gaps: bool = gaps
        self.increasing: bool = increasing
        self.least: float = self.range[0] if least is None else least
        self.most: float = self.range[1] if most is None else most

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        low = high = value
        if self.sizes:
            self._check_array(value, sizes, where)
            values = value[~np.isnan(value)] if self.gaps else value
            if not values.size:
                return
            low, high = values.min().item(), values.max().item()  # NaN, if there is one
        else:
            require(type(value) in self.plain, where, f"a number ({self.plain[0].__name__})", value)
        most = sizes[self.below][0] - 1 if self.below else self.most
        came = f"{low:g} to {high:g}" if self.sizes else value
        inside = self.least <= low and high <= most
        require(inside, where, f"numbers from {self.least:g} to {most:g}", came)

    def _check_array(self, value: Any, sizes: Sizes, where: str) -> None:
        typed = isinstance(value, np.ndarray) and value.dtype.name in self.dtypes
        require(typed, where, f"an array of {self.dtypes[0]}", value)
        shaped = value.ndim == len(self.sizes) and all(
            fits(size, n, sizes) for size, n in zip(self.sizes, value.shape, strict=True)
        )
        wanted = "" if shaped else ", ".join(told(size, sizes) for size in self.sizes)
        require(shaped, where, f"of shape ({wanted})", value)
        ordered = not self.increasing or bool((value[1:] > value[:-1]).all())
        require(ordered, where, "in increasing order", value)


class Unscaled(Numbers):
    """The same in units of the user's own, as large as they may be."""

    range: tuple[float, float] = (-FINITE, FINITE)


class Logs(Numbers):
    """The same of logarithms, whose exponentials and those of their differences are finite."""

    range: tuple[float, float] = (-2 * LARGEST_LOG, 2 * LARGEST_LOG)


class Indices(Numbers):
    """The same of whole numbers, from 0 unless `least` says otherwise."""

    plain: tuple[type, ...] = (int,)
    dtypes: tuple[str, ...] = tuple(
        f"{sign}int{bits}" for bits in (64, 32, 16, 8) for sign in ("", "u")
    )
    range: tuple[float, float] = (0, 2**62)
