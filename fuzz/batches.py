"""The same rows in batches and blocks, cut anywhere and carried by any type: the model of `fit`.

    python -m fuzz.batches --seconds 60 --seed 0
    python -m fuzz.batches --seed 0 --case 17    one case again, with its traceback

A case follows from the seed and its number. Case 0 is one classifier that learns small batches, one
after another: 10 000 of them, fewer if there is less than a minute. All others are a table whose
columns hold words, numbers, flags or several of them; rows are fewer than those that decide what
columns hold, so that `fit_batches` and Dask must give the model of `fit`, or refuse the rows with a
sentence of ours.
"""

from __future__ import annotations

import resource
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
from sklearn.base import clone

from extreme_entropy import EEMClassifier
from extreme_entropy.errors import ExtremeEntropyError

from . import main, run_cases
from .estimators import assert_same, classifier

Array = np.ndarray[Any, Any]
Parts = list[tuple[Any, Array]]

STEPS = 10_000  # of partial_fit
MEGABYTES = 100  # by which memory may grow meanwhile: sums and the sketch of rows have their size
PER_MEGABYTE = 2**20 if sys.platform == "darwin" else 2**10  # units of ru_maxrss
# Values of a column; those with words may also be carried as categories.
POOLS: list[list[Any]] = [
    ["a", "b", "c"],
    ["a", "b", 2],
    ["a", "2", 2, 2.5],
    ["a", True, False],
    ["", None, "a"],
    ["a", 2**60, 2**60 + 1],
    [0, 1, 2, 3, 4, 5],
    [0, 1, None],
    [0.5, 1.0, 2.0, None],
    [True, False],
    [True, 0, 2.5],
    [10**15, 10**15 + 1, 10**15 + 2],
]
LABELS: list[list[Any]] = [
    ["no", "yes"],
    ["0", "1", "2"],
    [0, 1],
    [0, 1, 2],
    [2**53, 2**53 + 1],
    [-(2**62), 2**62 + 1],
]


def carriers(cells: list[Any], words: bool) -> list[Callable[[list[Any]], Any]]:
    """Types of pandas that can hold these cells as they are."""
    values = [cell for cell in cells if cell is not None]
    full = len(values) == len(cells)
    flags = bool(values) and all(isinstance(cell, bool) for cell in values)
    numbers = bool(values) and all(isinstance(cell, int | float) for cell in values)
    whole = numbers and not flags and all(cell == int(cell) for cell in values)
    exact = numbers and all(abs(cell) < 2**53 for cell in values)
    types: dict[str, bool] = {
        "object": True,
        "category": words,
        "str": bool(values) and all(isinstance(cell, str) for cell in values),
        "bool": flags and full,
        "boolean": flags,
        "int64": whole and full,
        "Int64": whole,
        "int64[pyarrow]": whole,
        "float64": exact,
        "float32": numbers and all(float(np.float32(cell)) == cell for cell in values),
        "double[pyarrow]": exact,
    }
    if types["str"]:
        types["string[pyarrow]"] = True
    return [_carrier(name) for name, possible in types.items() if possible]


def _carrier(name: str) -> Callable[[list[Any]], Any]:
    def carry(cells: list[Any]) -> Any:
        objects = pd.Series(cells, dtype=object)
        if name == "int64[pyarrow]":  # which takes no whole floats
            objects = objects.astype("Int64")
        return objects.astype("float64").astype(name) if "float" in name else objects.astype(name)

    return carry


def carried(rng: np.random.Generator, frame: pd.DataFrame, mixed: set[str]) -> Any:
    """Rows in random types, of which `mixed` columns hold words somewhere."""
    columns: dict[str, Any] = {}
    for name in frame.columns[1:]:
        cells = frame[name].tolist()
        possible = carriers(cells, name in mixed)
        columns[name] = possible[rng.integers(len(possible))](cells)
    result = pd.DataFrame({"x": frame["x"].to_numpy(), **columns})
    library = rng.integers(4)
    if library < 2 and all(str(dtype) not in ("object", "category") for dtype in result.dtypes):
        polars = pl.from_pandas(result)
        return polars if library else polars.to_arrow()
    return result


def labels_in_types(rng: np.random.Generator, y: list[Any]) -> Array:
    """Labels in a random type that holds them."""
    if isinstance(y[0], str):
        return np.array(y, dtype=object if rng.random() < 0.5 else None)
    types: list[Any] = [np.int64]
    types += [np.uint64] if min(y) >= 0 else []
    types += [np.float64, np.uint8] if min(y) >= 0 and max(y) < 256 else []
    types += [np.bool_] if set(y) <= {0, 1} else []
    return np.array(y, dtype=types[rng.integers(len(types))])


def table(rng: np.random.Generator) -> tuple[pd.DataFrame, list[Any], Parts]:
    """Rows as objects, their labels, and both in batches of random types."""
    n = int(rng.integers(40, 300))
    pools = [POOLS[i] for i in rng.integers(0, len(POOLS), rng.integers(1, 4))]
    classes = LABELS[rng.integers(len(LABELS))]
    codes = [rng.integers(0, len(pool), n) for pool in pools]
    noise = rng.random(n) < 0.2
    at = np.where(noise, rng.integers(0, len(classes), n), codes[0] % len(classes))
    at[: len(classes)] = np.arange(len(classes))
    if rng.random() < 0.5:  # so that batches differ in their values, and so in their types
        order = np.argsort(codes[0], kind="stable")
        codes, at = [own[order] for own in codes], at[order]
    frame = pd.DataFrame({"x": rng.normal(size=n)})
    for j, (pool, own) in enumerate(zip(pools, codes, strict=True)):
        frame[f"c{j}"] = pd.Series([pool[i] for i in own], dtype=object)
    y = [classes[i] for i in at]
    cuts = np.sort(rng.integers(0, n + 1, rng.integers(1, 6)))
    rows = [part for part in np.split(np.arange(n), cuts) if len(part)]
    rows = [rows[i] for i in rng.permutation(len(rows))]
    mixed = {f"c{j}" for j, pool in enumerate(pools) if any(isinstance(v, str) for v in pool)}
    parts = [
        (carried(rng, frame.iloc[part], mixed), labels_in_types(rng, [y[i] for i in part]))
        for part in rows
    ]
    everywhere = np.concatenate(rows)
    return frame.iloc[everywhere].reset_index(drop=True), [y[i] for i in everywhere], parts


def in_blocks(parts: Parts, frame: pd.DataFrame) -> tuple[Any, Any]:
    """The batches as partitions of Dask, which announces objects."""
    import dask.dataframe as dd
    from dask.delayed import delayed

    frames = [part if isinstance(part, pd.DataFrame) else part.to_pandas() for part, _ in parts]
    labels = [pd.Series(y) for _, y in parts]
    return tuple(
        dd.from_delayed([delayed(part) for part in some], meta=meta, verify_meta=False)
        for some, meta in ((frames, frame[:0]), (labels, labels[0][:0]))
    )


def refused(call: Callable[[], Any]) -> Any:
    """What a call gives, or the error of ours that it raised."""
    try:
        return call()
    except ExtremeEntropyError as error:
        return error


def check(rng: np.random.Generator) -> None:
    """One table through `fit`, batches and blocks."""
    import dask

    frame, y, parts = table(rng)
    model = classifier(rng)
    theirs = refused(lambda: model.fit(frame, np.array(y)))
    if len(parts) > 1 and rng.random() < 0.1:  # a batch whose labels are of another type
        X, labels = parts[0]
        other = labels.astype(str) if labels.dtype.kind in "biuf" else np.zeros(len(labels), int)
        ours = refused(lambda: clone(model).fit_batches([(X, other), *parts[1:]]))
        assert isinstance(ours, ExtremeEntropyError), "text and numbers were joined as labels"
        return
    ours = refused(lambda: clone(model).fit_batches(parts))
    assert_equal(ours, theirs, frame, "fit_batches", 1e-10)
    with dask.config.set({"dataframe.convert-string": False, "scheduler": "synchronous"}):
        ours = refused(lambda: clone(model).fit(*in_blocks(parts, frame)))
    assert_equal(ours, theirs, frame, "Dask", None)


def assert_equal(ours: Any, theirs: Any, X: Any, law: str, close: float | None) -> None:
    """The same classes, categories and answers, or an error of ours in both."""
    if isinstance(theirs, ExtremeEntropyError):
        assert isinstance(ours, ExtremeEntropyError), f"{law}: took what fit refused: {theirs}"
        return
    assert not isinstance(ours, ExtremeEntropyError), f"{law}: refused: {ours}"
    assert ours.classes_.tolist() == theirs.classes_.tolist(), f"{law}: classes"
    assert ours.summary_.counts.sum() == len(X), f"{law}: rows were lost"
    a, b = (m.feature_map_.encoding.kinds for m in (ours, theirs))
    labels = [[kind.labels for kind in kinds or ()] for kinds in (a, b)]
    assert labels[0] == labels[1] or None in (a, b), f"{law}: categories {labels}"
    assert_same(ours, theirs, X, law)
    if close is not None:
        p, q = ours.predict_proba(X), theirs.predict_proba(X)
        np.testing.assert_allclose(p, q, rtol=0, atol=close, err_msg=law)


def check_steps(rng: np.random.Generator, steps: int) -> None:
    """Many small batches, one after another, are one summary of all rows."""
    drawn = EEMClassifier(8, relevance="uniform", random_state=0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    drawn.fit(X + y[:, None], y)
    ours, kept, before = drawn.twin(), [], 0
    for step in range(steps):
        n = int(rng.integers(1, 6))
        y = rng.integers(0, 2, n)
        X = rng.normal(size=(n, 3)) + y[:, None]
        weight = rng.integers(1, 3, n).astype(float)
        ours.partial_fit(X, y, sample_weight=weight)
        kept.append((X, y, weight))
        if step == steps // 10:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / PER_MEGABYTE
    assert grown < MEGABYTES, f"memory grew by {grown:.0f} MB"
    X, y, weight = (np.concatenate(part) for part in zip(*kept, strict=True))
    theirs = drawn.twin().fit(X, y, sample_weight=weight)
    for c in range(2):
        a, b = (m.summary_.leaves[0].totals[c] for m in (ours, theirs))
        for name in ("n", "mean", "scatter", "cubic", "quartic"):
            u, v = (np.asarray(getattr(part, name)) for part in (a, b))
            np.testing.assert_allclose(u, v, rtol=0, atol=1e-9 * abs(v).max(), err_msg=name)
    p, q = ours.predict_proba(X), theirs.predict_proba(X)
    np.testing.assert_allclose(p, q, rtol=0, atol=1e-9, err_msg="probabilities")


def run(seconds: float, seed: int) -> int:
    """Cases for so many seconds, the first of them with many steps; fewer where time is short."""
    steps = STEPS if seconds >= 60 else STEPS // 100
    return run_cases(partial(run_case, steps=steps), seconds, seed)


def run_case(seed: int, case: int, steps: int = STEPS) -> None:
    """One case, which follows from the seed and its number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rng = np.random.default_rng([seed, case])
        check(rng) if case else check_steps(rng, steps)


if __name__ == "__main__":
    main(__doc__, run, run_case)
