"""A table and its target ↦ a model: a pass over its columns, an estimate, a pass to learn.

The estimate is the GMean of models that are fitted on parts of a sample and predict the rest of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from ..errors import ExtremeEntropyWarning, InputError
from ..estimators import frames
from ..estimators.base import EntropyClassifier
from ..estimators.classifier import ExtremeEntropyClassifier
from ..estimators.eekm import EEKMClassifier
from ..estimators.eem import EEMClassifier
from ..features.forest import ForestSpec
from ..metrics import confusion_counts, gmean_score, label_text, scores_of_matrix
from ..progress import with_progress
from ..versions import installed_versions
from .columns import Columns
from .model import FitFacts, GMeanEstimate, LabelledRows, TableModel
from .profile import CLASS_ROWS, TableSample, profile
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
MANY = 5000  # rows, of which one fold is held out and not each in turn


def fit_table(
    source: Source,
    target: str,
    *,
    model: str = "auto",
    size: int | None = None,
    costs: dict[str, float] | None = None,
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
    costs_by_label = _costs_by_label(costs, profiled.classes)
    sample, columns = profiled.sample, _without_identifiers(profiled.columns, profiled.sample)
    X, y = columns.read(sample.rows), sample.labels
    some = _to_estimate(y, len(columns.used), seed)
    classifier = MODELS[model](n_jobs=n_jobs, random_state=seed)
    if size is not None:
        classifier.set_params(**{SIZE_NAMES[model]: size})
    with _library_warnings() as messages:
        estimate = estimate_gmean(classifier, X.take(some), y[some], seed, progress=progress)
        # φ is drawn from a uniform sample of all rows, since the first ones may be all alike.
        uniform = np.flatnonzero(sample.uniform)
        drawing = clone(classifier).set_params(costs=costs_by_label)
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
            costs=costs,
            missing=profiled.missing,
            estimated_rows=len(some) if estimate else None,
            estimate=estimate,
        )
        fitted = TableModel(drawing.twin(), columns, target, profiled.label_kind, facts)
        del profiled, sample, X, drawing  # which take memory, and have done their work
        fitted = _learn(fitted, source, progress)
    return replace(fitted, facts=replace(fitted.facts, warnings=tuple(messages)))


def _to_estimate(y: Array, n_columns: int, seed: int) -> Array:
    """Which sampled rows the estimate is made on: of a wide table fewer.

    Rare classes keep their rows.
    """
    most = min(MOST_ESTIMATED, max(FEWEST_ESTIMATED, MOST_NUMBERS // n_columns))
    if len(y) <= most:
        return np.arange(len(y))
    order, labels = np.random.default_rng(seed).permutation(len(y)), np.unique(y)
    each = min(CLASS_ROWS, most // (2 * len(labels)))
    kept = np.concatenate([order[y[order] == label][:each] for label in labels])
    others = np.setdiff1d(order, kept, assume_unique=True)[: most - len(kept)]
    return np.sort(np.concatenate([kept, others]))


def _without_identifiers(columns: Columns, sample: TableSample) -> Columns:
    """The columns but those that a classifier would leave out."""
    rows = columns.read(sample.rows)
    named = np.zeros(len(columns.used), dtype=bool)
    kinds = frames.profile(rows, named).kinds(named)
    pairs = list(zip(columns.used, kinds, strict=True))
    used = tuple(column for column, kind in pairs if kind.kind != "left out")
    gone = {column.name: kind.reason for column, kind in pairs if kind.kind == "left out"}
    if not used:
        raise InputError(
            "The table must have a column to learn from that is no identifier; none is left: "
            + "; ".join(f"{name}: {reason}" for name, reason in list(gone.items())[:5])
        )
    return Columns(used, {**columns.dropped, **gone})


def fit_like(
    source: Source,
    like: TableModel,
    *,
    costs: dict[str, float] | None = None,
    progress: bool = False,
) -> TableModel:
    """Fit a model with the encoding and φ of another, so that the two can be merged."""
    twin = like.classifier.twin()
    twin.set_params(costs=_costs_by_label(costs, twin.classes_))
    model, size, seed = like.facts.model, like.facts.size, like.facts.seed
    facts = FitFacts(model=model, size=size, seed=seed, costs=costs)
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

    Each fold is held out in turn, or the first alone where rows are many. None where a class has
    fewer than two rows.
    """
    n_folds = min(FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if n_folds < 2:
        return None
    splits = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
    chosen: Any = list(splits)[: 1 if len(y) > MANY else n_folds]
    if progress:
        chosen = with_progress(chosen, label="estimating", unit="fold", terminal_only=True)
    confusion, scores, classes = np.zeros(()), [], np.unique(y)
    for learnt, held_out in chosen:
        fitted = clone(classifier).fit(X.take(learnt), y[learnt])
        predicted = np.searchsorted(classes, fitted.predict(X.take(held_out)))
        found = confusion_counts(np.searchsorted(classes, y[held_out]), predicted, len(classes))
        confusion = confusion + found
        scores.append(gmean_score(y[held_out], classes[predicted]))
    if len(scores) > 1:
        reach = student.ppf(0.975, len(scores) - 1) * np.std(scores, ddof=1) / np.sqrt(len(scores))
        mean = float(np.mean(scores))
        return GMeanEstimate(mean, max(0.0, mean - reach), min(1.0, mean + reach), len(scores))
    interval = scores_of_matrix(confusion)["gmean"]
    return GMeanEstimate(scores[0], interval.low or 0.0, interval.high or 1.0, 1)


def _costs_by_label(costs: dict[str, float] | None, classes: Array) -> dict[Any, float] | None:
    """Costs by label, from costs by the text of labels."""
    labels = {label_text(label): label for label in classes.tolist()}
    strange = [text for text in costs or {} if text not in labels]
    if strange:
        raise InputError(
            f"A cost must be that of a label; {strange[0]!r} is none. "
            f"The labels are {', '.join(map(repr, labels))}."
        )
    return {labels[text]: cost for text, cost in costs.items()} if costs else None


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
