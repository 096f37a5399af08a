"""What a saved classifier may hold: types, sizes that fit together, ranges.

`FIELDS` names every field of every dataclass that is ever built from a file. A size has a name and
is the same wherever it is named; in parts of `FRESH` some names stand for sizes of that part alone.
`LAWS` says what else must hold of parts whose fields are right. `check` does the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from ..columns.category import Category, EncodedCategory
from ..columns.date import PARTS, Date, EncodedDate
from ..columns.encoding import Encoding
from ..columns.number import EncodedGaps, EncodedNumbers
from ..columns.number import Number as NumberKind
from ..columns.statistics import N_FOLDS
from ..columns.unused import Empty, Identifier
from ..features.content import ContentHash
from ..features.feature_map import FeatureMap, HeldRows, Tree
from ..features.feature_settings import FEATURES
from ..features.kernels import Cosine, Laplacian, Polynomial, Radial, Similarity
from ..features.layers import Features, Part
from ..features.neurons import Relu, Sigmoid
from ..features.scaling import Affine, Identity, Quantile, Shift
from ..machine.decision import GaussianPair, Line
from ..machine.machine import Leaf, Machine
from ..moments.sketch import RowSketch
from ..moments.summary import ClassCounts, ClassMoments, FoldMoments, Summary

Array = np.ndarray[Any, Any]
Sizes = dict[str, int]

LARGEST = 1e100  # so that products of a few numbers are finite
FINITE = float(np.finfo(float).max)
TINY = float(np.finfo(float).smallest_subnormal)
ROUNDING = 1e-6  # and more
HALF = re.compile("[\ud800-\udfff]")  # of a character
LOG = 700.0  # the largest number whose exponential is finite, and a little less


def require(holds: Any, where: str, what: str, came: Any) -> None:
    """Raise ValueError unless it holds, with a clause that says what must and what came."""
    if isinstance(came, np.ndarray):
        came = f"an array of {came.dtype} and shape {came.shape}"
    if not holds:
        raise ValueError(f"{where} must be {what}; it is {str(came)[:80]}")


def is_text(value: Any) -> bool:
    """Whether it is a string of whole characters, which can be written anywhere."""
    return isinstance(value, str) and not HALF.search(value)


class Rule(Protocol):
    """What a value must be."""

    def check(self, value: Any, sizes: Sizes, where: str) -> None: ...


@dataclass(frozen=True)
class Number:
    """A number in a range."""

    least: float = -LARGEST
    most: float = LARGEST

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        inside = type(value) in (int, float) and self.least <= value <= self.most
        require(inside, where, f"a number from {self.least:g} to {self.most:g}", value)


@dataclass(frozen=True)
class Whole:
    """A whole number in a range, below a size, or equal to one."""

    least: int = 0
    most: int = 2**63 - 1
    below: str | None = None
    equal: str | None = None

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        most = self.most if self.below is None else sizes[self.below] - 1
        inside = type(value) is int and self.least <= value <= most
        require(inside, where, f"a whole number from {self.least} to {most}", value)
        if self.equal is not None:
            require(fits(self.equal, value, sizes), where, f"{sizes[self.equal]}", value)


@dataclass(frozen=True)
class Text:
    """A string, one of those named if some are."""

    allowed: Collection[str] = ()

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        known = is_text(value) and (value in self.allowed or not self.allowed)
        require(known, where, " or ".join(map(repr, self.allowed)) or "text", value)


class Scalar:
    """A label, or a name."""

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        known = is_text(value) or isinstance(value, bool | int | float)
        require(known and value == value, where, "text, a number or a truth value", value)


class Flag:
    """True or False."""

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        require(isinstance(value, bool), where, "true or false", value)


class Numbers:
    """An array of such a shape, whose numbers lie in a range; sizes are names, numbers or None."""

    dtypes: tuple[str, ...] = ("float64",)
    shape: tuple[str | int | None, ...]
    least: float
    most: float | str
    gaps: bool

    def __init__(
        self,
        *shape: str | int | None,
        least: float = -LARGEST,
        most: float | str = LARGEST,
        gaps: bool = False,
    ) -> None:
        self.shape, self.least, self.most, self.gaps = shape, least, most, gaps

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        typed = isinstance(value, np.ndarray) and value.dtype.name in self.dtypes
        require(typed, where, f"an array of {self.dtypes[0]}", value)
        shaped = value.ndim == len(self.shape) and all(
            fits(name, n, sizes) for name, n in zip(self.shape, value.shape, strict=True)
        )
        wanted = ", ".join(
            str(sizes.get(str(name), "any" if name is None else name)) for name in self.shape
        )
        require(shaped, where, f"of shape ({wanted})", value)
        most = sizes[self.most] - 1 if isinstance(self.most, str) else self.most
        value = value[~np.isnan(value)] if self.gaps else value
        if value.size:
            low, high = value.min().item(), value.max().item()  # NaN, if there is one
            inside = f"numbers from {self.least:g} to {most:g}"
            require(self.least <= low and high <= most, where, inside, f"{low:g} to {high:g}")


class Indices(Numbers):
    """The same of whole numbers from 0, or `least`."""

    dtypes: tuple[str, ...] = (
        "int64",
        "int32",
        "int16",
        "int8",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
    )

    def __init__(
        self, *shape: str | int | None, least: int = 0, most: float | str = 2.0**62
    ) -> None:
        super().__init__(*shape, least=least, most=most)


@dataclass(frozen=True)
class Maybe:
    """None, or what another rule says."""

    rule: Rule

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        if value is not None:
            self.rule.check(value, sizes, where)


@dataclass(frozen=True)
class Each:
    """A tuple of so many of a kind."""

    rule: Rule
    count: str | int | None = None

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        require(isinstance(value, tuple), where, "a tuple", type(value).__name__)
        same = fits(self.count, len(value), sizes)
        require(same, where, f"{sizes.get(str(self.count), self.count)} parts", len(value))
        for i, one in enumerate(value):
            self.rule.check(one, sizes, f"{where}[{i}]")


class One:
    """A dataclass among some, all of whose fields are right."""

    def __init__(self, *kinds: type) -> None:
        self.kinds = kinds

    def check(self, value: Any, sizes: Sizes, where: str) -> None:
        kind = type(value)
        names = " or ".join(one.__name__ for one in self.kinds)
        require(kind in self.kinds, where, names, kind.__name__)
        if kind in FRESH:
            sizes = {name: n for name, n in sizes.items() if name not in FRESH[kind]}
        for name, rule in FIELDS[kind].items():
            rule.check(getattr(value, name), sizes, f"{where}.{name}")
        if kind in LAWS:
            what, law = LAWS[kind]
            require(law(value, sizes), where, what, "not")


def fits(name: str | int | None, n: int, sizes: Sizes) -> bool:
    """Whether n is the size of this name, which may be "size+2"; a new name becomes n."""
    if name is None or isinstance(name, int):
        return name is None or n == name
    name, _, more = name.partition("+")
    n -= int(more or 0)
    return sizes.setdefault(name, n) == n


def increases(values: Array) -> bool:
    return bool((values[1:] > values[:-1]).all())


in_units: partial[Numbers] = partial(Numbers, least=-FINITE, most=FINITE)  # of the user's own
ENCODED = (EncodedNumbers, EncodedGaps, EncodedDate, EncodedCategory)
LAYERS = (Cosine, Laplacian, Polynomial, Radial, Relu, Sigmoid, Similarity)
PHI: dict[str, Rule] = {
    "content": One(ContentHash),
    "encoding": One(Encoding),
    "scaling": One(Affine, Identity, Quantile, Shift),
}
DECISION: dict[str, Rule] = {
    "log_priors": Numbers("classes", least=-2 * LOG, most=LOG),
    "log_costs": Numbers("classes", least=-2 * LOG, most=2 * LOG),
    "cost_matrix": Maybe(Numbers("classes", "classes", least=0, most=FINITE)),
    "curves": Each(One(GaussianPair, Line), "pairs"),
    "pairs": Each(Each(Whole(), 2), "pairs"),
    "diagnostics": Each(Text(("degenerate", "one row", "not cross-fitted"))),
}
FIELDS: dict[type, dict[str, Rule]] = {
    ContentHash: {
        "seed": Whole(most=2**64 - 1),
        "low": in_units("d"),
        "per_unit": Numbers("d", least=0, most=np.inf),
    },
    NumberKind: {},
    Date: {},
    Category: {"labels": Maybe(Each(Scalar()))},
    Identifier: {"reason": Text()},
    Empty: {},
    EncodedNumbers: {"columns": Indices(None, most="d")},
    EncodedGaps: {"columns": Indices(None, most="d")},
    EncodedDate: {"column": Whole(below="d"), "parts": Each(Text(PARTS))},
    EncodedCategory: {
        "column": Whole(below="d"),
        "values": in_units("values"),
        "own": Indices("values+2", least=-1),
        "n_own": Whole(),
        "log_odds": Numbers("values+2", N_FOLDS + 1, None, least=-2 * LOG, most=2 * LOG),
    },
    Encoding: {
        "kinds": Maybe(Each(One(NumberKind, Date, Category, Identifier, Empty), "d")),
        "typical": in_units("d", gaps=True),
        "parts": Each(One(*ENCODED)),
    },
    Identity: {"d": Whole(equal="encoded")},
    Shift: {"origin": in_units("encoded")},
    Affine: {
        "offset": in_units("encoded"),
        "factor": in_units("encoded", least=0),
    },
    Quantile: {
        "offset": in_units("encoded"),
        "factor": in_units("encoded", least=0),
        "first": Numbers("encoded", least=0),
        "last": Numbers("encoded", least=0),
        "even": Indices("even", most="encoded"),
        "heights": Numbers("bins"),
        "slopes": Numbers("bins", least=-ROUNDING, most=1 + ROUNDING),
        "uneven": Indices("uneven", most="encoded"),
        "knots": in_units("knots"),
        "levels": Numbers("knots", least=0, most=1),
        "starts": Indices("uneven+1"),
    },
    Sigmoid: {"weights": Numbers("seen", "hidden"), "biases": Numbers("hidden")},
    Relu: {"weights": Numbers("seen", "hidden"), "biases": Numbers("hidden")},
    Radial: {
        "columns": Numbers("seen+2", "hidden"),
        "log_height": Number(-LOG, LOG),
        "n_linear": Whole(),
    },
    Similarity: {
        "kind": Text(("tanimoto", "sorensen")),
        "centres": Numbers("seen", "hidden"),
    },
    Laplacian: {
        "landmarks": Numbers("hidden", "seen"),
        "rates": Numbers("hidden", least=0),
        "log_height": Number(-LOG, LOG),
    },
    Polynomial: {
        "landmarks": Numbers("hidden", "seen"),
        "gamma": Number(),
        "constant": Number(),
        "degree": Whole(1, 3),
    },
    Cosine: {"landmarks": Numbers("hidden", "seen"), "origin": Number()},
    Part: {
        "columns": Maybe(Indices("seen", most="encoded")),
        "weights": Maybe(Numbers("seen", least=0)),
        "layer": One(*LAYERS),
        "whitening": Maybe(Numbers("hidden", "hidden")),
    },
    Features: {"parts": Each(One(Part))},
    Tree: {
        "columns": Indices("nodes", most="encoded"),
        "thresholds": Numbers("nodes"),
        "children": Indices("nodes", 2, least=-(2**62)),
    },
    HeldRows: {
        "Z": Numbers("held", "encoded"),
        "labels": Indices("held", most="classes"),
        "folds": Indices("held", most=N_FOLDS - 1),
        "counts": Numbers("held", least=TINY),
    },
    FeatureMap: {
        **PHI,
        "trees": Each(One(Tree), "trees"),
        "leaves": Each(One(Features)),
        "held": One(HeldRows),
        "relevance": Maybe(Numbers("encoded", least=0)),
    },
    ClassMoments: {
        "n": Number(0),
        "mean": Numbers("h"),
        "scatter": Numbers("h", "h", least=-(LARGEST**1.5), most=LARGEST**1.5),
        "cubic": in_units("h"),
        "quartic": Number(-FINITE, FINITE),
        "squares": Number(0),
        "n_error": Number(0),
        "scatter_error": Number(0, LARGEST**1.5),
        "quartic_error": Number(0, FINITE),
    },
    RowSketch: {
        "level": Whole(most=63),
        "keys": Indices("rows", most=2.0**64),
        "weights": Numbers("rows", least=TINY),
        "squares": Numbers("rows", least=0),
    },
    FoldMoments: {"cells": Each(Each(One(ClassMoments), "folds"), "classes")},
    Summary: {
        "leaves": Each(One(FoldMoments)),
        "n_leaves": Each(Whole(1), "trees"),
        "rows": One(RowSketch),
    },
    ClassCounts: {"learnt": Numbers("classes", least=TINY)},
    GaussianPair: {"means": Each(Number(), 2), "variances": Each(Number(1 / LARGEST), 2)},
    Line: {"factor": Number(), "variance": Number(1 / LARGEST)},
    Leaf: {
        "operators": Numbers("own pairs", "h"),
        "columns": Indices("own pairs", most="pairs"),
        "curves": Each(One(GaussianPair, Line), "own pairs"),
        "shifts": Numbers("pairs", least=-2 * LOG, most=2 * LOG),
        "shrinkage": Numbers(None, least=0, most=1),
        "ridges": Numbers("own pairs"),
    },
    Machine: {
        **DECISION,
        "leaves": Each(One(Leaf)),
        "shares": Numbers("trees", "pairs", least=0, most=1),
        "held_out": Each(Numbers(None, 2)),
    },
}
# Sizes that each of these parts has for itself.
FRESH: dict[type, tuple[str, ...]] = {
    EncodedCategory: ("values",),
    Part: ("seen", "hidden"),
    Tree: ("nodes",),
    RowSketch: ("rows",),
    FoldMoments: ("h",),
    Leaf: ("own pairs", "h"),
}


def _is_encoding(encoding: Encoding, sizes: Sizes) -> bool:
    """Whether each column is encoded once, as its kind says."""
    kinds = encoding.kinds or (NumberKind(),) * encoding.d
    at: dict[type, list[int]] = {NumberKind: [], Date: [], Category: [], Identifier: [], Empty: []}
    for j, kind in enumerate(kinds):
        at[type(kind)].append(j)
    parts: dict[type, list[Any]] = {kind: [] for kind in ENCODED}
    for part in encoding.parts:
        parts[type(part)].append(part)
    order = [ENCODED.index(type(part)) for part in encoding.parts]
    gaps = np.array([j for part in parts[EncodedGaps] for j in part.columns], np.intp)
    unknown = set(np.flatnonzero(np.isnan(encoding.typical)).tolist())
    labelled = ((part, kinds[part.column].labels) for part in parts[EncodedCategory])
    return (
        order == sorted(order)
        and [j for part in parts[EncodedNumbers] for j in part.columns] == at[NumberKind]
        and [part.column for part in parts[EncodedDate]] == at[Date]
        and [part.column for part in parts[EncodedCategory]] == at[Category]
        and unknown.issubset(at[Category])
        and increases(gaps)
        and {*at[NumberKind], *at[Date]}.issuperset(gaps.tolist())
        and all(
            labels is None or set(part.values.tolist()) <= set(range(len(labels)))
            for part, labels in labelled
        )
    )


def _is_curve(scaling: Quantile, sizes: Sizes) -> bool:
    """Whether each column of bins has as many as it needs, and each other one knots."""
    starts, steps = scaling.starts.astype(np.int64), np.diff(scaling.knots) > 0
    if starts[0] or starts[-1] != len(scaling.knots) or (np.diff(starts) < 2).any():
        return False
    steps[starts[1:-1] - 1] = True  # from one column to the next
    return (
        len(scaling.heights) == len(scaling.even) * (FEATURES.bins + 1)
        and increases(scaling.even)
        and increases(scaling.uneven)
        and bool(steps.all())
        and bool((scaling.first <= scaling.last).all())
    )


def _is_tree(tree: Tree, sizes: Sizes) -> bool:
    """Whether each node but the first, and each leaf, is below one earlier node."""
    n, below = len(tree.columns), tree.children
    once = not n or np.array_equal(np.sort(below, axis=None), np.r_[-n - 1 : 0, 1:n])
    return once and bool(((below < 0) | (below > np.arange(n)[:, np.newaxis])).all())


def _takes_turns(features: Features, sizes: Sizes) -> bool:
    """Whether features of all parts can take turns."""
    own, p = [part.layer.size for part in features.parts], len(features.parts)
    return p > 0 and all(n and n == len(range(i, sum(own), p)) for i, n in enumerate(own))


Law = tuple[str, Callable[[Any, Sizes], Any]]
LAWS: dict[type, Law] = {
    EncodedCategory: (
        "categories in increasing order, each with one of its columns or none",
        lambda one, sizes: (
            increases(one.values) and one.own.max() < one.n_own <= sizes["values"] + 2
        ),
    ),
    Encoding: ("an encoding of each column as its kind says", _is_encoding),
    Quantile: ("a curve for each column", _is_curve),
    Radial: (
        "neurons of which at most each second is linear",
        lambda one, sizes: 2 * one.n_linear <= sizes["hidden"],
    ),
    Part: (
        "a layer on columns of its own in increasing order, or on all",
        lambda one, sizes: (
            sizes["seen"] == sizes["encoded"] if one.columns is None else increases(one.columns)
        ),
    ),
    Features: ("parts that take turns", _takes_turns),
    RowSketch: (
        "keys of uint64 in increasing order, below the bound of its level",
        lambda one, sizes: (
            one.keys.dtype == np.uint64
            and increases(one.keys)
            and not any(int(key) >> (64 - one.level) for key in one.keys[-1:])
        ),
    ),
    Tree: ("a tree of later nodes and leaves", _is_tree),
    FeatureMap: (
        "trees with features for each leaf, on columns as they are encoded",
        lambda one, sizes: (
            sizes["encoded"] == one.encoding.size
            and one.trees
            and len(one.leaves) == sum(one.n_leaves)
        ),
    ),
    Summary: (
        f"sums of 1 or {N_FOLDS} folds for each leaf",
        lambda one, sizes: (
            len(one.leaves) == sum(one.n_leaves)
            and one.n_folds in (1, N_FOLDS)
            and all(leaf.n_folds == one.n_folds for leaf in one.leaves)
        ),
    ),
    Machine: (
        "a machine of each pair of classes",
        lambda one, sizes: one.pairs == tuple(combinations(range(len(one.log_priors)), 2)),
    ),
    Leaf: ("of some pairs of classes", lambda one, sizes: increases(one.columns)),
}


def check_parts(fitted: dict[str, Any], rules: dict[str, Rule]) -> None:
    """Raise ValueError unless these are classes, columns, and parts that the rules ask for."""
    rules = {"n_features_in_": Whole(1, equal="d"), **rules}
    names = {*rules, "classes_", *{"feature_names_in_"} & set(fitted)}
    require(set(fitted) == names, "fitted", " and ".join(sorted(names)), sorted(fitted))
    classes = fitted["classes_"]
    sorted_labels = isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 1
    sorted_labels = sorted_labels and np.array_equal(np.unique(classes), classes)
    require(sorted_labels, "classes_", "two or more labels in increasing order", classes)
    n = len(classes)
    sizes = {"classes": n, "pairs": n * (n - 1) // 2}
    for name, rule in rules.items():
        rule.check(fitted[name], sizes, name)
    if "feature_names_in_" in fitted:
        columns = fitted["feature_names_in_"]
        named = isinstance(columns, np.ndarray) and columns.shape == (sizes["d"],)
        named = named and all(isinstance(name, str) for name in columns.tolist())
        require(named, "feature_names_in_", f"{sizes['d']} names", columns)


def check_machine(fitted: dict[str, Any], *, one_leaf: bool) -> None:
    """Raise ValueError unless these are φ, sums and machine of one fitted classifier."""
    slim = isinstance(fitted.get("summary_"), ClassCounts)
    rules: dict[str, Rule] = {
        "feature_map_": One(FeatureMap),
        "summary_": One(ClassCounts if slim else Summary),
        "machine": One(Machine) if slim else Maybe(One(Machine)),
        "is_twin": Flag(),
    }
    check_parts(fitted, rules)
    phi, summary, machine = (fitted[name] for name in ("feature_map_", "summary_", "machine"))
    sizes = [features.h for features in phi.leaves]
    require(not one_leaf or len(sizes) == 1, "feature_map_", "of one leaf", f"of {len(sizes)}")
    if machine is not None:
        own = [leaf.operators.shape[1] for leaf in machine.leaves]
        require(own == sizes, "the machine", "of the features of φ", "not")
        n = 0 if one_leaf else len(machine.log_priors)
        require(len(machine.held_out) == n, "held_out", f"of {n} classes", len(machine.held_out))
    if not slim:
        require(phi.n_leaves == summary.n_leaves, "summary_", "of the same trees as φ", "not")
        own = [leaf.h for leaf in summary.leaves]
        require(own == sizes, "summary_", "of the features of φ", "not")
