"""A table and its target ↦ a model: a pass over its columns, an estimate, a pass to learn.

The estimate is the GMean of models that are fitted on parts of a sample and predict the rest of it,
over the classes that have enough rows to be judged.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from ..errors import ExtremeEntropyWarning, InputError
from ..estimators import frames
from ..estimators.base import EntropyClassifier
from ..estimators.classifier import ExtremeEntropyClassifier
from ..estimators.eekm import EEKMClassifier
from ..estimators.eem import EEMClassifier
from ..features.forest import ForestSpec
from ..metrics import FEWEST_JUDGED, label_text, recall_scores
from ..progress import with_progress
from ..versions import installed_versions
from .columns import Column, Columns
from .hints import hints
from .model import FitFacts, GMeanEstimate, LabelledRows, TableModel
from .profile import CLASS_ROWS, profile
from .reading import Source

Array = np.ndarray[Any, Any]

MODELS: dict[str, type[EntropyClassifier]] = {
    "auto": ExtremeEntropyClassifier,
    "eem": EEMClassifier,
    "eekm": EEKMClassifier,
}
SIZE_NAMES = {"auto": "n_landmarks", "eem": "n_hidden", "eekm": "n_landmarks"}
FOLDS = 5
MOST_ESTIMATED = 12_000  # rows
MOST_NUMBERS = 2**24  # in those rows
FEWEST_ESTIMATED = 2000  # rows, however many columns
MOST_HINTED = 2000  # rows that leaks are looked for in
MANY = 5000  # rows, of which one fold is held out and not each in turn


def fit_table(
    source: Source,
    target: str,
    *,
    model: str = "auto",
    size: int | None = None,
    costs: dict[str, float] | None = None,
    priors: str = "balanced",
    seed: int = 0,
    drop: Sequence[str] = (),
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
    priors : {"balanced", "empirical"}, default="balanced"
        Classes equally frequent, or as frequent as in the table. The estimate is made for equal
        priors and costs.
    seed : int, default=0
        Random seed of the sample and the model.
    drop : sequence of str, default=()
        Columns to leave out.
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
    profiled = profile(source, target, drop, seed, progress=progress)
    costs_by_label = _costs_by_label(costs, profiled.classes, profiled.label_kind)
    sample, columns = profiled.sample, _without_identifiers(profiled.columns, profiled.sample.rows)
    X, y = columns.read(sample.rows), sample.labels
    n_estimated = min(MOST_ESTIMATED, max(FEWEST_ESTIMATED, MOST_NUMBERS // len(columns.used)))
    some = _some_of_each(y, n_estimated, seed)
    classifier = MODELS[model](n_jobs=n_jobs, random_state=seed)
    if size is not None:
        classifier.set_params(**{SIZE_NAMES[model]: size})
    notes = _on_small_classes(profiled.classes, profiled.counts)
    labels, few = np.searchsorted(profiled.classes, y), _some_of_each(y, MOST_HINTED, seed)
    notes += hints(X, labels, few)
    with _library_warnings() as messages:
        estimate = estimate_gmean(classifier, X.take(some), y[some], seed, progress=progress)
        # φ is drawn from a uniform sample of all rows, since the first ones may be all alike.
        uniform = np.flatnonzero(sample.uniform)
        drawing = clone(classifier).set_params(costs=costs_by_label, priors=priors)
        spec, n_classes = classifier.specification(), len(profiled.classes)
        if isinstance(spec, ForestSpec):  # its leaves follow from all rows, not from the sample
            leaves = spec.size(float(profiled.counts.sum()), n_classes).leaves
            drawing.set_params(n_leaves=leaves)
            size = spec.landmarks(n_classes, leaves)
        drawing.partial_fit(X.take(uniform), y[uniform], profiled.classes)
        facts = FitFacts(
            model=model,
            size=size or getattr(classifier, SIZE_NAMES[model]),
            seed=seed,
            costs=_by_text(costs_by_label),
            missing=profiled.missing,
            estimated_rows=len(some) if estimate else None,
            estimate=estimate,
        )
        fitted = TableModel(drawing.twin(), columns, target, profiled.label_kind, facts)
        del profiled, sample, X, drawing  # which take memory, and have done their work
        fitted = _learn(fitted, source, progress)
    return replace(fitted, facts=replace(fitted.facts, warnings=(*notes, *messages)))


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
    cells = {column.name: _identifying(column, rows[column.name]) for column in columns.used}
    named = np.zeros(len(cells), dtype=bool)
    kinds = frames.profile(pa.table(cells), named).kinds(named)
    gone = {n: k.reason for n, k in zip(cells, kinds, strict=True) if k.kind == "left out"}
    for name, array in cells.items():
        if pa.types.is_integer(array.type) and _is_increasing(array):
            gone.setdefault(name, "whole numbers that increase from row to row")
    used = tuple(column for column in columns.used if column.name not in gone)
    if not used:
        raise InputError(
            "The table must have a column to learn from that is no identifier; none is left: "
            + "; ".join(f"{name}: {reason}" for name, reason in list(gone.items())[:5])
        )
    return Columns(used, {**columns.dropped, **gone})


def _identifying(column: Column, cells: pa.ChunkedArray) -> pa.Array:
    """The cells of a column, whole numbers as such."""
    whole = pa.types.is_integer(cells.type) or pa.types.is_string(cells.type)
    if column.kind == "number" and whole:
        try:
            return cells.combine_chunks().cast(pa.int64())
        except pa.ArrowException:
            pass
    return column.read(cells.combine_chunks())


def _is_increasing(cells: pa.Array) -> bool:
    """Whether enough numbers all increase, or all decrease."""
    steps = np.sign(np.diff(cells.drop_null().to_numpy()))
    return len(steps) >= frames.SEVERAL and abs(int(steps.sum())) == len(steps)


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
    costs: dict[str, float] | None = None,
    priors: str | None = None,
    progress: bool = False,
) -> TableModel:
    """Fit a model with the encoding and φ of another, so that the two can be merged."""
    twin = like.classifier.twin()
    by_label = _costs_by_label(costs, twin.classes_, like.label_kind)
    twin.set_params(costs=by_label, priors=priors or like.classifier.priors)
    model, size, seed = like.facts.model, like.facts.size, like.facts.seed
    facts = FitFacts(model=model, size=size, seed=seed, costs=_by_text(by_label))
    with _library_warnings() as messages:
        fitted = _learn(replace(like, classifier=twin, facts=facts), source, progress)
    return replace(fitted, facts=replace(fitted.facts, warnings=tuple(messages)))


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


def estimate_gmean(
    classifier: EntropyClassifier, X: Any, y: Array, seed: int, *, progress: bool = False
) -> GMeanEstimate | None:
    """GMean of the classifier on rows it has not learnt, and its 95 % interval.

    Each fold is held out in turn, or the first alone where rows of all classes are many. Classes
    of fewer than `FEWEST_JUDGED` rows are learnt and not judged. None where fewer than two are.
    """
    classes, labels, counts = np.unique(y, return_inverse=True, return_counts=True)
    judged = counts >= FEWEST_JUDGED
    if judged.sum() < 2:
        return None
    rows = np.flatnonzero(judged[labels])
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(rows, labels[rows])
    one = len(y) > MANY and counts[judged].min() >= FOLDS * FEWEST_JUDGED
    folds = [rows[fold] for _, fold in splits][: 1 if one else FOLDS]
    chosen: Any = folds
    if progress:
        chosen = with_progress(folds, label="estimating", unit="fold", terminal_only=True)
    found = np.zeros(len(classes))
    for held_out in chosen:
        learnt = np.setdiff1d(np.arange(len(y)), held_out)
        fitted = clone(classifier).fit(X.take(learnt), y[learnt])
        right = fitted.predict(X.take(held_out)) == y[held_out]
        found += np.bincount(labels[held_out], weights=right, minlength=len(classes))
    n = np.bincount(labels[np.concatenate(folds)], minlength=len(classes))
    score = recall_scores(found[judged], n[judged])["gmean"]
    names = tuple(label_text(label) for label in classes[~judged])
    return GMeanEstimate(score.value or 0.0, score.low or 0.0, score.high or 0.0, len(folds), names)


def _costs_by_label(
    costs: dict[str, float] | None, classes: Array, kind: str
) -> dict[Any, float] | None:
    """Costs by label, from costs by the text of labels; that of booleans in any case."""
    labels = {label_text(label): label for label in classes.tolist()}
    if costs and kind == "boolean":
        costs = {text.lower(): cost for text, cost in costs.items()}
    strange = [text for text in costs or {} if text not in labels]
    if strange:
        raise InputError(
            f"A cost must be that of a label; {strange[0]!r} is none. "
            f"The labels are {', '.join(map(repr, labels))}."
        )
    return {labels[text]: cost for text, cost in costs.items()} if costs else None


def _by_text(costs: dict[Any, float] | None) -> dict[str, float] | None:
    return {label_text(label): cost for label, cost in costs.items()} if costs else None


@contextmanager
def _library_warnings() -> Iterator[list[str]]:
    """The library's warnings as a list, each once; those of others go their way."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ExtremeEntropyWarning)
        yield messages
    for warning in caught:
        if not issubclass(warning.category, ExtremeEntropyWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
        elif str(warning.message) not in messages:
            messages.append(str(warning.message))
