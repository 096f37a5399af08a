"""A table and its target ↦ a model: one pass to look, a choice on a sample, one pass to learn."""

from __future__ import annotations

import platform
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from ..errors import ExtremeEntropyWarning, InputError
from ..estimators.base import EntropyClassifier
from .choosing import MODELS, Choice, choose, match_costs
from .labels import told
from .model import TableModel
from .profile import Profile, Watch, profile, unwatched
from .reading import Source

Array = np.ndarray[Any, Any]

WORTH_A_MERGE = 2**22  # numbers
MOST_NUMBERS = 2**24  # of the encoded sample: 128 MiB
FEWEST_COMPARED = 2000  # rows, however many columns
PACKAGES = ("extreme-entropy", "numpy", "scipy", "scikit-learn", "pyarrow")


def fit_table(
    source: Source,
    target: str,
    *,
    model: str = "auto",
    size: int | None = None,
    costs: dict[str, float] | None = None,
    seed: int = 0,
    drop: Sequence[str] = (),
    watch: Watch = unwatched,
    n_jobs: int = -1,
) -> TableModel:
    """Fit a model to a table.

    Parameters
    ----------
    source : Source
        From `open_table`.
    target : str
        The column that holds the labels.
    model : {"auto", "eem", "eekm"}, default="auto"
        "auto" takes what has the better cross-validated GMean.
    size : int, optional
        Neurons or landmarks; otherwise several are compared.
    costs : dict of str to float, optional
        Cost of taking a row of a label for another, by the word for the label.
    seed : int, default=0
        For the sample and the machine.
    drop : sequence of str, default=()
        Columns to leave out.
    watch : callable, optional
        Wraps batches, to show progress.
    n_jobs : int, default=-1
        Threads.

    Returns
    -------
    TableModel
        Fitted on all rows that have a label.
    """
    if target in drop:
        raise InputError(f"The target {target!r} must not be among the columns to leave out.")
    seen = profile(source, target, drop, seed, watch)
    priced = match_costs(costs, {told(label): label for label in seen.classes.tolist()})
    sample, labels, fair = _encoded(seen, seed)
    with _noted() as notes:
        choice = choose(
            sample,
            labels,
            MODELS if model == "auto" else (model,),
            size=size,
            seed=seed,
            n_jobs=n_jobs,
            watch=lambda steps, label: watch(steps, label, None),
        )
        # φ is drawn from a fair sample of all rows, since the first ones may be all alike.
        machine = choice.empty(sample[fair], labels[fair], seen.classes, costs=priced)
        empty = TableModel(machine, seen.columns, target, seen.label_kind, {})
        classifier, _ = _learn(empty, source, watch)
    facts = {**_facts(source, seed, notes), **_seen(seen), **_chosen(choice, costs)}
    facts["compared_rows"] = len(labels)
    return TableModel(classifier, seen.columns, target, seen.label_kind, facts)


def fit_like(
    source: Source,
    like: TableModel,
    *,
    costs: dict[str, float] | None = None,
    watch: Watch = unwatched,
) -> TableModel:
    """Fit a model with the encoding and φ of another, so that the two can be merged."""
    names = dict(zip(like.label_names, like.classifier.classes_.tolist(), strict=True))
    twin = like.classifier.twin().set_params(costs=match_costs(costs, names))
    with _noted() as notes:
        empty = TableModel(twin, like.columns, like.target, like.label_kind, {})
        classifier, counted = _learn(empty, source, watch)
    kept = {name: like.facts.get(name) for name in ("model", "size", "seed", "dropped")}
    facts = {
        **_facts(source, kept["seed"], notes),
        **kept,
        **counted,
        "costs": costs,
        "estimate": None,
        "path": [],
    }
    return TableModel(classifier, like.columns, like.target, like.label_kind, facts)


def _encoded(seen: Profile, seed: int) -> tuple[Array, Array, Array]:
    """The sample as numbers, its labels and which rows are fair; fewer rows of a wide table."""
    sample, n = seen.sample, len(seen.sample.labels)
    most = max(FEWEST_COMPARED, MOST_NUMBERS // len(seen.columns.names))
    chosen = np.arange(n)
    if n > most:
        chosen = np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
    X = seen.columns.encode(sample.rows.take(chosen))
    return X, sample.labels[chosen], sample.fair[chosen]


def _learn(
    empty: TableModel, source: Source, watch: Watch
) -> tuple[EntropyClassifier, dict[str, Any]]:
    """All rows learnt into an empty classifier, and their counts."""
    columns = empty.require(source)
    counts: Counter[str] = Counter(dict.fromkeys(empty.label_names, 0))
    missing: Counter[str] = Counter()
    read = 0

    def rows() -> Iterator[tuple[Array, Array]]:
        nonlocal read
        for batch in empty.pieces(watch(source.batches(columns), "learning", source)):
            read += batch.num_rows
            there = empty.labelled(batch)
            y = empty.labels(there)
            counts.update(map(told, y.tolist()))
            missing.update({name: there.column(name).null_count for name in columns})
            yield empty.encode(there), y

    classifier = empty.classifier
    for X, y in _gathered(rows()):
        classifier.partial_fit(X, y)
    if not sum(counts.values()):
        raise InputError(
            f"{source.name!r} must have rows with a label in {empty.target!r} to learn from; "
            "it has none."
        )
    if all(counts.values()):
        _ = classifier.machine_  # solved now, so that its warnings are heard
    return classifier, {
        "rows": sum(counts.values()),
        "rows_without_label": read - sum(counts.values()),
        "class_counts": dict(counts),
        "missing": {name: n for name, n in missing.items() if n},
    }


def _gathered(parts: Iterator[tuple[Array, Array]]) -> Iterator[tuple[Array, Array]]:
    """Rows put together until they are worth the cost of a merge."""
    waiting: list[tuple[Array, Array]] = []
    for X, y in parts:
        waiting += [(X, y)] if len(y) else []
        if sum(len(part[1]) for part in waiting) >= min(WORTH_A_MERGE // X.shape[1], 2**14):
            yield _stacked(waiting)
            waiting = []
    if waiting:
        yield _stacked(waiting)


def _stacked(parts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    rows, labels = zip(*parts, strict=True)
    return np.concatenate(rows), np.concatenate(labels)


@contextmanager
def _noted() -> Iterator[list[str]]:
    """The library's warnings as a list, each once; those of others go their way."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ExtremeEntropyWarning)
        yield notes
    for warning in caught:
        if not issubclass(warning.category, ExtremeEntropyWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
        elif str(warning.message) not in notes:
            notes.append(str(warning.message))


def _facts(source: Source, seed: int | None, notes: list[str]) -> dict[str, Any]:
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
        "seed": seed,
        "source": source.name,
        "warnings": notes,
    }


def _seen(seen: Profile) -> dict[str, Any]:
    labels = map(told, seen.classes.tolist())
    return {
        "rows": seen.rows,
        "rows_without_label": seen.unlabelled,
        "class_counts": dict(zip(labels, seen.counts.tolist(), strict=True)),
        "missing": seen.missing,
        "dropped": dict(seen.columns.dropped),
    }


def _chosen(choice: Choice, costs: dict[str, float] | None) -> dict[str, Any]:
    return {
        "model": choice.model,
        "size": choice.size,
        "costs": costs,
        "estimate": choice.estimate,
        "path": choice.path,
    }
