"""A table and its target ↦ a model: a pass over its columns, an estimate, a pass to learn."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast

import numpy as np
import pyarrow as pa
from sklearn.base import clone

from ..columns import frames
from ..columns.kinds import kind_called
from ..columns.text import Column, without
from ..columns.unused import FILE_RULES, reason_to_leave_out
from ..columns.words import FreeText
from ..errors import ExtremeEntropyWarning, InputError, UnseenWarning
from ..estimators.base import EntropyClassifier
from ..estimators.classifier import ExtremeEntropyClassifier
from ..estimators.eekm import EEKMClassifier
from ..estimators.eem import EEMClassifier
from ..estimators.inputs import NamedPriors
from ..metrics import FEWEST_JUDGED, label_text
from ..progress import ADDING_UP, begin_step, expect, steps_shown
from ..versions import installed_versions
from .column_profile import profiles_of
from .costs import Priors, by_text, costs_by_label, priors_by_label
from .estimate import EstimateSettings, Split, Terms, estimate_outcome
from .hints import hints
from .labels import check_classes
from .model import FitFacts, LabelledRows, TableModel
from .notes import in_words_of_the_command, notes_on
from .profile import SETTINGS, TableProfile, asked_kinds, profile
from .reading import TableSource
from .used_columns import TableColumns

Array = np.ndarray[Any, Any]

MODELS: dict[str, type[EntropyClassifier]] = {
    "auto": ExtremeEntropyClassifier,
    "eem": EEMClassifier,
    "eekm": EEKMClassifier,
}
SIZE_NAMES = {"auto": "n_landmarks", "eem": "n_hidden", "eekm": "n_landmarks"}


@dataclass(frozen=True)
class FitRequest:
    """What is asked of a fit to a table; labels of costs and priors are texts."""

    target: str  # the column that holds the labels
    model: str = "auto"  # a key of MODELS
    size: int | None = None  # neurons or landmarks, of each leaf with "auto"; None is the default
    classes: bool = False  # whether each number in the target is a class, however many there are
    costs: Mapping[str, float] | None = None  # of taking a row of a label for another
    priors: Priors | None = None  # as in the table, with balanced costs unless some are given
    seed: int = 0  # of the sample and the model
    drop: Sequence[str] = ()  # columns to leave out
    # Columns by "text", "number", "category" or "date", which may have its order: "born=dmy".
    read_as: Mapping[str, Sequence[str]] = field(default_factory=dict)
    missing: Sequence[str] = ()  # further texts of cells that hold no value
    time: str | None = None  # the column by which the last rows are held out for the estimate
    group: str | None = None  # a column whose equal values are held out together; not learnt
    baseline: bool = False  # whether gradient boosting is estimated on the same rows
    progress: bool = False  # bars, where stderr is a terminal
    n_jobs: int = -1  # threads
    settings: EstimateSettings = field(default_factory=EstimateSettings)

    def check(self, source: TableSource) -> None:
        """Raise unless the columns that it names can play their parts."""
        if self.target in self.drop:
            raise InputError(
                f"The target {self.target!r} must not be among the columns to leave out."
            )
        for option, name in (("--time", self.time), ("--group", self.group)):
            if name is not None:
                source.require(name)
                if name in (self.target, *self.drop):
                    raise InputError(
                        f"The column of {option} must not be the target or left out; {name!r} is."
                    )

    def classifier(self, columns: TableColumns) -> EntropyClassifier:
        """Not fitted, for rows of these columns."""
        classifier = MODELS[self.model](n_jobs=self.n_jobs, random_state=self.seed)
        categories = [column.name for column in columns.used if column.kind == "category"]
        if categories:
            classifier.set_params(categorical_features=categories)
        if self.size is not None:
            classifier.set_params(**{SIZE_NAMES[self.model]: self.size})
        return classifier


@dataclass(frozen=True)
class _SampledTable:
    """What a pass over a table has shown of it."""

    profile: TableProfile
    columns: TableColumns  # to learn from
    X: pa.Table  # sampled rows
    y: Array
    split: Split  # how they are held out
    costs: dict[Any, float] | None  # by label
    priors: NamedPriors | dict[Any, float]
    notes: list[str]


def fit_table(source: TableSource, request: FitRequest) -> TableModel:
    """Fit a model to all rows of a table that have a label."""
    request.check(source)
    sampled = _sample(source, request)
    notes = sampled.notes
    with _library_warnings() as messages:
        empty = _empty_model(sampled, request)
        n_rows = int(sampled.profile.counts.sum())
        del sampled  # which takes memory, and has done its work
        fitted = _learn(empty, source, n_rows, request.progress)
    return _with_notes(fitted, [*notes, *notes_on(fitted), *messages])


def _sample(source: TableSource, request: FitRequest) -> _SampledTable:
    """Pass over the columns once."""
    asked = asked_kinds(request.read_as, source.schema.names)
    profiled = profile(
        source,
        request.target,
        request.drop,
        request.seed,
        asked=asked,
        missing=request.missing,
        progress=request.progress,
    )
    if not request.classes:
        check_classes(profiled.classes, request.target)
    costs = costs_by_label(request.costs, profiled.classes, profiled.label_kind)
    frequent = request.priors or "empirical"
    priors = priors_by_label(frequent, profiled.classes, profiled.label_kind, profiled.counts)
    split, columns = _split(profiled, request.time, request.group), profiled.columns
    if request.group is not None and request.group not in asked:
        columns = _without_group(columns, request.group)
    notes = [
        profiled.notes[column.name] for column in columns.used if column.name in profiled.notes
    ]
    columns = _without_identifiers(columns, profiled.sample.rows)
    X, y = columns.read(profiled.sample.rows), profiled.sample.labels
    notes += _on_small_classes(profiled.classes, profiled.counts)
    looked_at = _some_of_each(y, request.settings.hinted_rows, request.seed)
    notes += hints(X, np.searchsorted(profiled.classes, y), looked_at, split=split.how)
    if split.how == "time" and (undated := float(np.isnan(split.values).mean())):
        notes.append(
            f"{undated:.1%} of the rows have no value in {split.column!r}; they are learnt, and "
            "take no part in the estimate by --time."
        )
    return _SampledTable(profiled, columns, X, y, split, costs, priors, notes)


def _empty_model(sampled: _SampledTable, request: FitRequest) -> TableModel:
    """A model that has learnt no row: its φ is drawn from the sample, its estimate made there."""
    profiled, X, y = sampled.profile, sampled.X, sampled.y
    classifier = request.classifier(sampled.columns)
    rows = _some_of_each(y, request.settings.rows_of(len(sampled.columns.used)), request.seed)
    estimate = estimate_outcome(
        classifier,
        X.take(rows),
        y[rows],
        request.seed,
        terms=_terms(sampled, request),
        split=sampled.split.take(rows),
        baseline=request.baseline,
        progress=request.progress,
        settings=request.settings,
    )
    costs = sampled.costs if sampled.costs or request.priors else "balanced"
    drawing = clone(classifier).set_params(costs=costs, priors=sampled.priors)
    size = request.size or getattr(classifier, SIZE_NAMES[request.model])
    if request.model == "auto":  # its size follows from all rows, not from the sample
        n_rows, n_classes = float(profiled.counts.sum()), len(profiled.classes)
        rarest = float(profiled.counts.min())
        size_of_all = classifier.specification().size(n_rows, n_classes, rarest)
        size = size_of_all.landmarks
        drawing.set_params(n_leaves=size_of_all.leaves, n_landmarks=size)
    # φ is drawn from a uniform sample of all rows, since the first ones may be all alike.
    uniform = np.flatnonzero(profiled.sample.uniform)
    with steps_shown(request.progress, terminal_only=True):
        drawing.partial_fit(X.take(uniform), y[uniform], profiled.classes)
    reason = estimate if isinstance(estimate, str) else ""
    facts = FitFacts(
        model=request.model,
        size=size,
        seed=request.seed,
        costs=by_text(sampled.costs),
        missing=profiled.missing,
        profiles=profiles_of(X.take(uniform)),
        estimated_rows=None if reason else len(rows),
        estimate=None if isinstance(estimate, str) else estimate,
        no_estimate=reason,
    )
    return TableModel(drawing.twin(), sampled.columns, request.target, profiled.label_kind, facts)


def _terms(sampled: _SampledTable, request: FitRequest) -> Terms:
    """The costs and class frequencies that the model is to decide by."""
    counts, labels = sampled.profile.counts, sampled.profile.classes.tolist()
    if not (sampled.costs or request.priors):
        return Terms.balanced(counts)
    shares = counts / counts.sum()
    if isinstance(sampled.priors, dict):
        shares = np.array([sampled.priors[label] for label in labels])
    elif sampled.priors == "balanced":
        shares = np.full(len(labels), 1 / len(labels))
    costs = sampled.costs or {}
    return Terms(np.array([costs.get(label, 1.0) for label in labels]), shares)


def _with_notes(fitted: TableModel, notes: Sequence[str]) -> TableModel:
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
    times = column.numbers(without(rows[time].combine_chunks(), missing))
    if len(np.unique(times[~np.isnan(times)])) < 2:
        raise InputError(f"The column of --time must hold different times; {time!r} does not.")
    return Split("time", time, times)


def _without_group(columns: TableColumns, group: str) -> TableColumns:
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
    share = min(SETTINGS.class_rows, most // (2 * len(labels)))
    of_each = np.concatenate([order[y[order] == label][:share] for label in labels])
    rest = np.setdiff1d(order, of_each, assume_unique=True)[: most - len(of_each)]
    return np.sort(np.concatenate([of_each, rest]))


def _without_identifiers(columns: TableColumns, rows: pa.Table) -> TableColumns:
    """The columns but those that a classifier would leave out, or that count along the file."""
    cells = {
        column.name: _identifying(
            column, without(rows[column.name].combine_chunks(), columns.missing)
        )
        for column in columns.used
    }
    named = np.array([column.kind == "category" for column in columns.used])
    profiled = frames.profile(columns.typed(cells.values()), named).columns
    profiles = zip(cells, profiled, named, strict=True)
    reasons = {
        name: reason_to_leave_out(profile, FILE_RULES)
        for name, profile, is_named in profiles
        if not is_named and FreeText.recognise(profile, named=False) is None
    }
    gone = {name: reason for name, reason in reasons.items() if reason}
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


def _on_small_classes(classes: Array, counts: Array) -> list[str]:
    """Which classes have too few rows to be judged."""
    small = {label_text(classes[c]): int(counts[c]) for c in np.flatnonzero(counts < FEWEST_JUDGED)}
    if not small:
        return []
    named = ", ".join(f"{name!r} ({n})" for name, n in list(small.items())[:10])
    named += f" and {len(small) - 10} more" if len(small) > 10 else ""
    rest = (
        "They are learnt, and the estimated GMean is that of the other classes."
        if len(small) < len(classes) - 1
        else "GMean needs two classes, so there is no estimate."
    )
    return [
        f"How well a class is predicted can be estimated from {FEWEST_JUDGED} rows on. These have "
        f"fewer: {named}. {rest}"
    ]


def fit_like(
    source: TableSource,
    like: TableModel,
    costs: Mapping[str, float] | None = None,
    priors: Priors | None = None,
    *,
    progress: bool = False,
) -> TableModel:
    """Fit a model with the encoding and φ of another, so that the two can be merged."""
    twin, counts = like.classifier.twin(), like.classifier.summary_.counts.sum(axis=1)
    by_label = costs_by_label(costs or like.facts.costs, twin.classes_, like.label_kind)
    chosen = priors and priors_by_label(priors, twin.classes_, like.label_kind, counts)
    if costs or chosen:
        twin.set_params(costs=by_label, priors=chosen or like.classifier.priors)
    facts = FitFacts(
        model=like.facts.model,
        size=like.facts.size,
        seed=like.facts.seed,
        costs=by_text(by_label),
        no_estimate="a model made with --like is a part of another",
    )
    with _library_warnings() as messages:
        fitted = _learn(replace(like, classifier=twin, facts=facts), source, source.rows, progress)
    return _with_notes(fitted, [*notes_on(fitted), *messages])


def _learn(
    empty: TableModel, source: TableSource, n_rows: int | None, progress: bool
) -> TableModel:
    """All rows, of which there are so many, learnt into an empty model, and counted."""
    rows = LabelledRows(empty, source, "learn from")
    with steps_shown(progress, terminal_only=True):
        begin_step(ADDING_UP, n_rows, " rows")
        for X, y in rows:
            if n_rows is None and source.share > 0:
                expect(round(rows.rows / source.share))
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
