"""What a saved classifier may hold: what the types of its parts say, and `LAWS` that they cannot.

Parts of a file are the dataclasses that types lead to from `Fitted`; each field says beside it what
it may hold (`shapes`). A class with a field that does not, such as a function of the user's own, is
no part of any file. A name of a size belongs to the outermost part with a field that names it, and
is the same number in all that lies inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..columns.category import Category, EncodedCategory
from ..columns.encoding import Encoding
from ..columns.kind import ColumnKind
from ..columns.kinds import ENCODED, of_matrix
from ..columns.number import EncodedGaps, Number
from ..columns.statistics import N_FOLDS
from ..columns.words import EncodedWords, Word
from ..features.additive import Codes
from ..features.feature_map import FeatureMap, Tree
from ..features.feature_settings import FEATURES
from ..features.kernels import Radial
from ..features.layers import Features, Part
from ..features.scaling import Quantile
from ..machine.machine import Machine, all_pairs, with_first
from ..moments.sketch import RowSketch
from ..moments.step_sums import StepSums
from ..moments.summary import ClassCounts, FoldMoments, Summary
from ..shapes import Among, Array, Bound, Count, Indices, Labels, Numbers, OneOf, Sizes, require

PLAIN: dict[Any, Bound] = {float: Numbers(), int: Indices(), str: OneOf(), bool: OneOf(False, True)}


@dataclass(frozen=True)
class Fitted:
    """What is saved of a fitted classifier, beside its parameters."""

    classes_: Annotated[Array, Labels("classes")]
    n_features_in_: Annotated[int, Count("columns")]
    feature_map_: FeatureMap
    summary_: Summary | ClassCounts
    is_twin: bool
    machine: Machine | None
    feature_names_in_: Annotated[Array | None, Labels("columns", names=True)] = None


# -------------------------------------------------------------------- types


@cache
def types_of(part: type) -> dict[str, Any]:
    """The annotated types of the fields of a dataclass, by their names."""
    hints = get_type_hints(part, include_extras=True)
    return {field.name: hints[field.name] for field in fields(part)}


@cache
def is_stored(part: Any) -> bool:
    """Whether it is a dataclass whose fields all say what they may hold."""
    return is_dataclass(part) and all(map(_says_all, types_of(part).values()))  # type: ignore[arg-type]


def _says_all(kind: Any) -> bool:
    """Whether a type says what its values may hold."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return not isinstance(inner[1], Count) or _says_all(inner[0])
    if origin in (tuple, Union, UnionType):
        return all(map(_says_all, set(inner) - {..., NoneType}))
    return kind in PLAIN or is_dataclass(kind)


def _inside(kind: Any) -> Iterator[Any]:
    """A type, and all that it is made of."""
    yield kind
    inner = get_args(kind)
    for part in inner[1].classes if isinstance(inner[1:] and inner[1], Among) else inner:
        yield from _inside(part)


def _parts(kind: Any) -> Iterator[type]:
    """The dataclasses that files may hold where there is such a type."""
    for part in filter(is_stored, _inside(kind)):
        yield part
        for inner in types_of(part).values():
            yield from _parts(inner)


PARTS = {part.__name__: part for part in _parts(Fitted) if part is not Fitted}


@cache
def _sizes_of(part: type) -> frozenset[str]:
    """The names of sizes that fields of a dataclass name."""
    bounds = (inner for kind in types_of(part).values() for inner in _inside(kind))
    sizes = (size for bound in bounds if isinstance(bound, Bound) for size in bound.sizes)
    return frozenset(size.partition("+")[0] for size in sizes if isinstance(size, str))


def check(kind: Any, value: Any, sizes: Sizes, where: str) -> None:
    """Raise ValueError unless a value is what its annotated type says."""
    kind, bound = get_args(kind) if get_origin(kind) is Annotated else (kind, None)
    options = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    options = bound.classes if isinstance(bound, Among) else options
    if value is None and NoneType in options:
        return
    if parts := list(filter(is_stored, options)):
        names = " or ".join(part.__name__ for part in parts)
        require(type(value) in parts, where, names, type(value).__name__)
        return _check_fields(value, sizes, where)
    [kind] = set(options) - {NoneType}
    if get_origin(kind) is tuple:
        return _check_tuple(get_args(kind), bound, value, sizes, where)
    (bound or PLAIN[kind]).check(value, sizes, where)


def _check_tuple(
    kinds: tuple[Any, ...], count: Bound | None, value: Any, sizes: Sizes, where: str
) -> None:
    """Raise ValueError unless a value is a tuple of these types, or of any number of the first."""
    require(isinstance(value, tuple), where, "a tuple", type(value).__name__)
    alike = kinds[-1] is ...
    length = f"the length of {where}"
    require(alike or len(value) == len(kinds), length, str(len(kinds)), len(value))
    if count:
        count.check(len(value), sizes, length)
    for i, item in enumerate(value):
        check(kinds[0 if alike else i], item, sizes, f"{where}[{i}]")


def _check_fields(part: Any, sizes: Sizes, where: str) -> None:
    """Raise ValueError unless all fields of a part are right, and fit together."""
    kind: Any = type(part)
    sizes = {name: [] for name in _sizes_of(kind)} | sizes
    for name, inner in types_of(kind).items():
        check(inner, getattr(part, name), sizes, f"{where}.{name}")
    if kind in LAWS:
        what, law = LAWS[kind]
        require(law(part, sizes), where, what, "not")


# -------------------------------------------------------------------- laws


def _is_encoding(encoding: Encoding, sizes: Sizes) -> bool:
    """Whether each column is encoded once, as its kind says, and parts are in their order."""
    kinds = encoding.kinds or (Number(),) * encoding.d
    columns: dict[type, list[int]] = {part: [] for part in ENCODED}
    for part in encoding.parts:
        columns[type(part)] += dict.fromkeys(part.columns.tolist())
    gaps = columns.pop(EncodedGaps)
    as_kinds_say = {part: [j for j, k in enumerate(kinds) if k.encoded is part] for part in columns}
    order = list(map(ENCODED.index, map(type, encoding.parts)))
    unknown = np.flatnonzero(np.isnan(encoding.typical)).tolist()
    return (
        columns == as_kinds_say
        and order == sorted(order)
        and gaps == [j for j in sorted({*gaps}) if kinds[j].marks_gaps]
        and all(kinds[j].is_counted for j in unknown)
        and all(_is_labelled(part, kinds) for part in encoding.parts)
        and _has_words(encoding)
    )


def _is_labelled(part: Any, kinds: tuple[ColumnKind, ...]) -> bool:
    """Whether categories, if it is a part of those, are codes of the labels that they may have."""
    kind = kinds[part.column] if isinstance(part, EncodedCategory) else None
    labels = kind.labels if isinstance(kind, Category) else None
    return labels is None or {*part.values.tolist()} <= {*range(len(labels))}


def _has_words(encoding: Encoding) -> bool:
    """Whether each free text has the columns of its words, and each known word its evidence."""
    kinds, texts = encoding.table_kinds, [p for p in encoding.parts if isinstance(p, EncodedWords)]
    slots = [slot for part in texts for slot in part.slots.tolist()]
    return (
        of_matrix(kinds) == (encoding.kinds or kinds)
        and slots == list(range(len(kinds), encoding.d))
        and all(
            kinds[part.column].more == (Word(),) * len(part.slots)
            and len(getattr(kinds[part.column], "words", ())) + 1 == len(part.log_odds)
            for part in texts
        )
    )


def _is_curve(scaling: Quantile, sizes: Sizes) -> bool:
    """Whether each column of bins has as many as it needs, and each other one knots."""
    starts, steps = scaling.starts.astype(np.int64), np.diff(scaling.knots) > 0
    if starts[0] or starts[-1] != len(scaling.knots) or (np.diff(starts) < 2).any():
        return False
    steps[starts[1:-1] - 1] = True  # from one column to the next
    n_bins = len(scaling.even) * (FEATURES.bins + 1)
    ordered = steps.all() and (scaling.first <= scaling.last).all()
    return len(scaling.heights) == n_bins and bool(ordered)


def _is_tree(tree: Tree, sizes: Sizes) -> bool:
    """Whether each node but the first, and each leaf, is below one earlier node."""
    n, below = len(tree.columns), tree.children
    once = not n or np.array_equal(np.sort(below, axis=None), np.r_[-n - 1 : 0, 1:n])
    return once and bool(((below < 0) | (below > np.arange(n)[:, np.newaxis])).all())


def _outputs_of(sizes: Sizes) -> list[int]:
    """How many outputs a logistic regression of these classes has."""
    return [1 if n == 2 else n for n in sizes["classes"]]


def _is_map(phi: FeatureMap, sizes: Sizes) -> bool:
    """Whether each leaf has features of the encoded columns, and all have a pilot or none has."""
    pilots, leaves = phi.pilots, phi.leaves
    return (
        sizes["encoded"] == [phi.encoding.size]
        and len(leaves) == phi.tree.n_leaves
        and (not pilots or [len(pilot) - 1 for pilot in pilots] == [leaf.h for leaf in leaves])
        and (not pilots or sizes["outputs"] == _outputs_of(sizes))
    )


def _belongs_together(fitted: Fitted, sizes: Sizes) -> bool:
    """Whether φ, sums and machine are of the same columns, leaves and features."""
    phi, summary, machine = fitted.feature_map_, fitted.summary_, fitted.machine
    h = [features.h for features in phi.leaves]
    if not fitted.n_features_in_ or fitted.n_features_in_ != len(phi.encoding.table_kinds):
        return False
    if isinstance(summary, Summary) and (
        h != [leaf.h for leaf in summary.leaves]
        or any(isinstance(leaf, StepSums) != bool(phi.pilots) for leaf in summary.leaves)
    ):
        return False
    if machine is None:
        return isinstance(summary, Summary)
    return h == [leaf.operators.shape[1] for leaf in machine.leaves]


LAWS: dict[type, tuple[str, Callable[[Any, Sizes], Any]]] = {
    Fitted: ("φ, sums and machine of one classifier", _belongs_together),
    EncodedCategory: (
        "categories each with one of its columns or none",
        lambda part, sizes: part.own.max() < part.n_own <= len(part.own),
    ),
    Encoding: ("an encoding of each column as its kind says", _is_encoding),
    Quantile: ("a curve for each column", _is_curve),
    Radial: (
        "neurons of which at most each second is linear",
        lambda part, sizes: 2 * part.n_linear <= part.size,
    ),
    Part: (
        "a layer on columns of its own, or on all",
        lambda part, sizes: part.columns is not None or sizes["seen"] == sizes["encoded"],
    ),
    Codes: (
        "codes of which those of a column stand together",
        lambda part, sizes: (np.diff(part.column.astype(np.int64)) >= 0).all(),
    ),
    Features: (
        "parts that each have features",
        lambda part, sizes: part.parts and all(p.layer.size for p in part.parts),
    ),
    RowSketch: (
        "keys of uint64 below the bound of its level",
        lambda part, sizes: (
            part.keys.dtype == np.uint64
            and not any(int(key) >> (64 - part.level) for key in part.keys[-1:])
        ),
    ),
    Tree: ("a tree of later nodes and leaves", _is_tree),
    FeatureMap: (
        "a tree with features, and perhaps a pilot, for each leaf, on columns as they are encoded",
        _is_map,
    ),
    FoldMoments: (
        "sums of the same features",
        lambda part, sizes: all(len(cell.mean) == part.h for cells in part.cells for cell in cells),
    ),
    StepSums: (
        "sums with an output for each class, or one for two",
        lambda part, sizes: sizes["outputs"] == _outputs_of(sizes),
    ),
    Summary: (
        f"sums of 1 or {N_FOLDS} folds for each leaf",
        lambda part, sizes: (
            bool(part.leaves)
            and part.n_folds in (1, N_FOLDS)
            and all(leaf.n_folds == part.n_folds for leaf in part.leaves)
        ),
    ),
}


def check_fitted(parts: dict[str, Any], *, one_leaf: bool) -> None:
    """Raise ValueError unless these are what was fitted of one classifier."""
    known = types_of(Fitted)
    names = [name for name in known if name in parts or name != "feature_names_in_"]
    require(sorted(parts) == sorted(names), "fitted", " and ".join(names), sorted(parts))
    fitted = Fitted(**parts)
    check(Fitted, fitted, {}, "fitted")
    n_leaves, n_held = len(fitted.feature_map_.leaves), len(fitted.classes_) * (not one_leaf)
    n_pilots = len(fitted.feature_map_.pilots)
    require(n_leaves == 1 or not one_leaf, "feature_map_", "of one leaf", f"of {n_leaves}")
    require(n_pilots == n_leaves * (not one_leaf), "pilots", "one for each leaf, or none", n_pilots)
    if fitted.machine is None:
        return
    pairs, held = fitted.machine.pairs, len(fitted.machine.held_out)
    known_pairs = (all_pairs if one_leaf else with_first)(len(fitted.classes_))
    require(pairs == known_pairs, "pairs", "all" if one_leaf else "those of the first class", pairs)
    n_ridges = len(fitted.machine.leaves[0].ridges)
    require(n_ridges == len(pairs) * one_leaf, "ridges", "one for each pair, or none", n_ridges)
    require(held == n_held, "held_out", f"of {n_held} classes", held)
