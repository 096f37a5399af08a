"""A table and its target ↦ a model: a pass over its columns, an estimate, a pass to learn."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import numpy as np
import pyarrow as pa
from sklearn.base import clone

from ..columns import frames
from ..columns.kinds import kind_called, recognise
from ..columns.unused import RULES, Identifier
from ..errors import ExtremeEntropyWarning, InputError, UnseenWarning
from ..estimators.base import EntropyClassifier
from ..estimators.classifier import ExtremeEntropyClassifier
from ..estimators.eekm import EEKMClassifier
from ..estimators.eem import EEMClassifier
from ..metrics import FEWEST_JUDGED, label_text
from ..versions import installed_versions
from .columns import Column, Columns, as_numbers, without
from .costs import Priors, by_text, costs_by_label, priors_by_label
from .estimate import Split, estimate_gmean
from .hints import hints
from .kinds import asked_kinds
from .model import FitFacts, LabelledRows, TableModel
from .notes import in_words_of_the_command, notes_on
from .profile import CLASS_ROWS, TableProfile, profile
from .reading import Source

Array = np.ndarray[Any, Any]

MODELS: dict[str, type[EntropyClassifier]] = {
    "auto": ExtremeEntropyClassifier,
    "eem": EEMClassifier,
    "eekm": EEKMClassifier,
}
SIZE_NAMES = {"auto": "n_landmarks", "eem": "n_hidden", "eekm": "n_landmarks"}
MOST_ESTIMATED = 12_000  # rows
MOST_NUMBERS = 2**24  # in those rows
FEWEST_ESTIMATED = 2000  # rows, however many columns
MOST_HINTED = 2000  # rows that leaks are looked for in


def fit_table(
    source: Source,
    target: str,
    *,
    model: str = "auto",
    size: int | None = None,
    costs: Mapping[str, float] | None = None,
    priors: Priors = "balanced",
    seed: int = 0,
    drop: Sequence[str] = (),
    read_as: Mapping[str, Sequence[str]] | None = None,
    missing: Sequence[str] = (),
    time: str | None = None,
    group: str | None = None,
    baseline: bool = False,
    progress: bool = False,
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
        `ExtremeEntropyClassifier`, `EEMClassifier` or `EEKMClassifier`.
    size : int, optional
        Neurons or landmarks, those of each leaf with "auto"; by default as the classifier has it.
    costs : dict of str to float, optional
        Cost of taking a row of a label for another, by the label as text.
    priors : {"balanced", "empirical"} or dict of str to float, default="balanced"
        Classes equally frequent, as frequent as in the table, or of these shares, by the label as
        text. The estimate is made for equal priors and costs.
    seed : int, default=0
        Random seed of the sample and the model.
    drop : sequence of str, default=()
        Columns to leave out.
    read_as : dict of str to sequence of str, optional
        Columns by the kind they are to be read as: "text", "number", "category" or "date". A date
        may be followed by its order, as in "born=dmy".
    missing : sequence of str, default=()
        Further texts of cells that hold no value.
    time : str, optional
        Hold out the rows that are last in this column for the estimate, and not random ones.
    group : str, optional
        Hold out rows of the same value of this column together. It is learnt only if `read_as`
        names it.
    baseline : bool, default=False
        Estimate gradient boosting on the same rows, too.
    progress : bool, default=False
        Show bars where stderr is a terminal.
    n_jobs : int, default=-1
        Threads.

    Returns
    -------
    TableModel
        Fitted on all rows that have a label.
    """
    if target in drop:
        raise InputError(f"The target {target!r} must not be among the columns to leave out.")
    asked = asked_kinds(read_as or {}, source.schema.names)
    for option, named in (("--time", time), ("--group", group)):
        if named is not None:
            source.require(named)
            if named == target or named in drop:
                raise InputError(
                    f"The column of {option} must not be the target or left out; {named!r} is."
                )
    profiled = profile(source, target, drop, seed, asked=asked, missing=missing, progress=progress)
    costs_of = costs_by_label(costs, profiled.classes, profiled.label_kind)
    priors_of = priors_by_label(priors, profiled.classes, profiled.label_kind, profiled.counts)
    sample, split = profiled.sample, _split(profiled, time, group)
    columns = profiled.columns
    if group is not None and group not in asked:
        columns = _without_group(columns, group)
    noted = [column.name for column in columns.used if column.name in profiled.notes]
    columns = _without_identifiers(columns, sample.rows)
    X, y = columns.read(sample.rows), sample.labels
    n_estimated = min(MOST_ESTIMATED, max(FEWEST_ESTIMATED, MOST_NUMBERS // len(columns.used)))
    some = _some_of_each(y, n_estimated, seed)
    categories = [column.name for column in columns.used if column.kind == "category"]
    classifier = MODELS[model](n_jobs=n_jobs, random_state=seed)
    if categories:
        classifier.set_params(categorical_features=categories)
    if size is not None:
        classifier.set_params(**{SIZE_NAMES[model]: size})
    notes = [profiled.notes[name] for name in noted]
    notes += _on_small_classes(profiled.classes, profiled.counts)
    labels, few = np.searchsorted(profiled.classes, y), _some_of_each(y, MOST_HINTED, seed)
    notes += hints(X, labels, few, split=split.how)
    if split.how == "time" and (undated := float(np.isnan(split.values).mean())):
        notes.append(
            f"{undated:.1%} of the rows have no value in {split.column!r}; they are learnt, and "
            "take no part in the estimate by --time."
        )
    with _library_warnings() as messages:
        estimate = estimate_gmean(
            *(classifier, X.take(some), y[some], seed),
            split=split.take(some),
            baseline=baseline,
            progress=progress,
        )
        # φ is drawn from a uniform sample of all rows, since the first ones may be all alike.
        uniform = np.flatnonzero(sample.uniform)
        drawing = clone(classifier).set_params(costs=costs_of, priors=priors_of)
        spec, n_classes = classifier.specification(), len(profiled.classes)
        if model == "auto":  # its leaves follow from all rows, not from the sample
            leaves = spec.size(float(profiled.counts.sum()), n_classes).leaves
            drawing.set_params(n_leaves=leaves)
            size = spec.landmarks(n_classes, leaves)
        drawing.partial_fit(X.take(uniform), y[uniform], profiled.classes)
        facts = FitFacts(
            model=model,
            size=size or getattr(classifier, SIZE_NAMES[model]),
            seed=seed,
            costs=by_text(costs_of),
            missing=profiled.missing,
            estimated_rows=None if isinstance(estimate, str) else len(some),
            estimate=None if isinstance(estimate, str) else estimate,
            no_estimate=estimate if isinstance(estimate, str) else "",
        )
        fitted = TableModel(drawing.twin(), columns, target, profiled.label_kind, facts)
        del profiled, sample, X, drawing  # which take memory, and have done their work
        fitted = _learn(fitted, source, progress)
    notes += [*notes_on(fitted), *messages]
    return replace(fitted, facts=replace(fitted.facts, warnings=tuple(notes)))


def _split(profiled: TableProfile, time: str | None, group: str | None) -> Split:
    """How rows are held out for the estimate, from their sample."""
    rows, missing = profiled.sample.rows, profiled.columns.missing
    if group is not None:
        cells = without(rows[group].combine_chunks(), missing).dictionary_encode()
        codes = cells.indices.to_numpy(zero_copy_only=False).astype(float)
        alone = len(cells.dictionary) + np.arange(len(codes))  # where no group is given
        groups = np.where(np.isnan(codes), alone, codes)
        if len(np.unique(groups)) < 2:
            raise InputError(
                f"The column of --group must hold two groups or more; {group!r} has one."
            )
        return Split("group", group, groups)
    if time is None:
        return Split()
    column = profiled.kinds[time]
    if column.kind not in ("date", "number"):
        raise InputError(
            f"The column of --time must hold dates or numbers; {time!r} is read as "
            f"{kind_called(column.kind).title}. If it holds dates, say so with --date "
            f"{shlex.quote(time)}"
        )
    times = as_numbers(without(rows[time].combine_chunks(), missing), column)
    if len(np.unique(times[~np.isnan(times)])) < 2:
        raise InputError(f"The column of --time must hold different times; {time!r} does not.")
    return Split("time", time, times)


def _without_group(columns: Columns, group: str) -> Columns:
    """The columns but the one whose rows are kept together, which new rows will not share."""
    used = tuple(column for column in columns.used if column.name != group)
    if not used:
        raise InputError(f"There must be a column to learn from beside that of --group, {group!r}.")
    return replace(columns, used=used, dropped={**columns.dropped, group: "it is the --group"})


def _some_of_each(y: Array, most: int, seed: int) -> Array:
    """Which of the sampled rows to take if not all; rare classes keep their rows."""
    if len(y) <= most:
        return np.arange(len(y))
    order, labels = np.random.default_rng(seed).permutation(len(y)), np.unique(y)
    each = min(CLASS_ROWS, most // (2 * len(labels)))
    kept = np.concatenate([order[y[order] == label][:each] for label in labels])
    others = np.setdiff1d(order, kept, assume_unique=True)[: most - len(kept)]
    return np.sort(np.concatenate([kept, others]))


def _without_identifiers(columns: Columns, rows: pa.Table) -> Columns:
    """The columns but those that a classifier would leave out, or that count along the file."""
    cells = {}
    for column in columns.used:
        known = without(rows[column.name].combine_chunks(), columns.missing)
        cells[column.name] = _identifying(column, known)
    named = np.array([column.kind == "category" for column in columns.used])
    profiles = zip(cells, frames.profile(pa.table(cells), named).columns, named, strict=True)
    kinds = {name: recognise(profile, named=bool(is_named)) for name, profile, is_named in profiles}
    gone = {name: kind.reason for name, kind in kinds.items() if isinstance(kind, Identifier)}
    for name, array in cells.items():
        if pa.types.is_integer(array.type) and _is_increasing(array):
            gone.setdefault(name, "whole numbers that increase from row to row")
    used = tuple(column for column in columns.used if column.name not in gone)
    if not used:
        raise InputError(
            "The table must have a column to learn from that is no identifier; none is left: "
            + "; ".join(f"{name}: {reason}" for name, reason in list(gone.items())[:5])
        )
    return replace(columns, used=used, dropped={**columns.dropped, **gone})


def _identifying(column: Column, cells: pa.Array) -> pa.Array:
    """The cells of a column, whole numbers as such."""
    whole = pa.types.is_integer(cells.type) or pa.types.is_string(cells.type)
    if column.kind == "number" and whole:
        try:
            return cells.cast(pa.int64())
        except pa.ArrowException:
            pass
    return column.read(cells)


def _is_increasing(cells: pa.Array) -> bool:
    """Whether enough numbers all increase, or all decrease."""
    steps = np.sign(np.diff(cells.drop_null().to_numpy()))
    return len(steps) >= RULES.several and abs(int(steps.sum())) == len(steps)


def _on_small_classes(classes: Array, counts: Array) -> list[str]:
    """Which classes have too few rows to be judged."""
    few = {label_text(classes[c]): int(counts[c]) for c in np.flatnonzero(counts < FEWEST_JUDGED)}
    if not few:
        return []
    listed = ", ".join(f"{name!r} ({n})" for name, n in few.items())
    rest = (
        "They are learnt, and the estimated GMean is that of the other classes."
        if len(few) < len(classes) - 1
        else "GMean needs two classes, so there is no estimate."
    )
    return [
        f"How well a class is predicted can be estimated from {FEWEST_JUDGED} rows on. These have "
        f"fewer: {listed}. {rest}"
    ]


def fit_like(
    source: Source,
    like: TableModel,
    *,
    costs: Mapping[str, float] | None = None,
    priors: Priors | None = None,
    progress: bool = False,
) -> TableModel:
    """Fit a model with the encoding and φ of another, so that the two can be merged."""
    twin, counts = like.classifier.twin(), like.classifier.summary_.counts.sum(axis=1)
    by_label = costs_by_label(costs or like.facts.costs, twin.classes_, like.label_kind)
    chosen = priors and priors_by_label(priors, twin.classes_, like.label_kind, counts)
    twin.set_params(costs=by_label, priors=chosen or like.classifier.priors)
    facts = FitFacts(
        model=like.facts.model,
        size=like.facts.size,
        seed=like.facts.seed,
        costs=by_text(by_label),
        no_estimate="a model made with --like is a part of another",
    )
    with _library_warnings() as messages:
        fitted = _learn(replace(like, classifier=twin, facts=facts), source, progress)
    notes = (*notes_on(fitted), *messages)
    return replace(fitted, facts=replace(fitted.facts, warnings=notes))


def _learn(empty: TableModel, source: Source, progress: bool) -> TableModel:
    """All rows learnt into an empty model, and counted."""
    rows = LabelledRows(empty, source, "learn from", progress="learning" if progress else None)
    for X, y in rows:
        empty.classifier.partial_fit(X, y)
    if all(rows.class_counts.values()):
        _ = empty.classifier.machine_  # solved now, with its warnings
    facts = replace(
        empty.facts,
        source=source.name,
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=installed_versions("pyarrow"),
        rows=rows.rows,
        rows_without_label=rows.rows_without_label,
        class_counts=rows.class_counts,
        missing=empty.facts.missing or {name: n for name, n in rows.missing.items() if n},
    )
    return replace(empty, facts=facts)


@contextmanager
def _library_warnings() -> Iterator[list[str]]:
    """The library's warnings in words of the command, each once; those of others go their way.

    What they say of the fitted model is left to `notes_on`.
    """
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ExtremeEntropyWarning)
        yield messages
    for warning in caught:
        if not issubclass(warning.category, ExtremeEntropyWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
        elif warning.category in (ExtremeEntropyWarning, UnseenWarning):
            text = in_words_of_the_command(cast(Warning, warning.message))
            if text not in messages:  # which a batch may repeat
                messages.append(text)
