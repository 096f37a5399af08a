"""A table and its target ↦ a model: a pass over its columns, a choice on a sample, a pass to learn.

The choice is by cross-validated GMean. Its estimate allows for the choice: in each fold it takes
the score of the candidate that the other folds would have chosen, so that no row both chooses and
scores.
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

from ..errors import ExtremeEntropyWarning, InputError
from ..estimators import frames
from ..estimators.base import EntropyClassifier
from ..estimators.eekm import EEKMClassifier
from ..estimators.eem import EEMClassifier
from ..metrics import label_text
from ..progress import with_progress
from ..selection.eekm_cv import EEKMClassifierCV
from ..selection.eem_cv import EEMClassifierCV
from ..versions import installed_versions
from .columns import Columns
from .model import Candidate, FitFacts, GMeanEstimate, LabelledRows, TableModel
from .profile import CLASS_ROWS, TableSample, profile
from .reading import Source

Array = np.ndarray[Any, Any]

MODELS: dict[str, tuple[Any, Any]] = {
    "eem": (EEMClassifier, EEMClassifierCV),
    "eekm": (EEKMClassifier, EEKMClassifierCV),
}
SIZE_NAMES = {"eem": "n_hidden", "eekm": "n_landmarks"}
SETTINGS: dict[str, dict[str, Any]] = {
    "eem": {"activation": ("mixed",)},
    "eekm": {"gamma": (1.0,)},
}  # the defaults alone
SIZE = 500
FOLDS = 5
MOST_COMPARED = 20_000  # rows
MOST_NUMBERS = 2**24  # that are compared
FEWEST_COMPARED = 2000  # rows, however many columns


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
        "auto" takes what has the better cross-validated GMean.
    size : int, default=500
        Neurons or landmarks.
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
    some = _to_compare(y, len(columns.used), seed)
    with _library_warnings() as messages:
        classifier, facts = choose(
            X.take(some), y[some], model, size=size, seed=seed, n_jobs=n_jobs, progress=progress
        )
        # φ is drawn from a uniform sample of all rows, since the first ones may be all alike.
        classifier.set_params(costs=costs_by_label)
        uniform = np.flatnonzero(sample.uniform)
        classifier.partial_fit(X.take(uniform), y[uniform], profiled.classes)
        facts = replace(facts, costs=costs, missing=profiled.missing)
        fitted = TableModel(classifier.twin(), columns, target, profiled.label_kind, facts)
        fitted = _learn(fitted, source, progress)
    return replace(fitted, facts=replace(fitted.facts, warnings=tuple(messages)))


def _to_compare(y: Array, n_columns: int, seed: int) -> Array:
    """Which sampled rows models are compared on: of a wide table fewer.

    Rare classes keep their rows.
    """
    most = min(MOST_COMPARED, max(FEWEST_COMPARED, MOST_NUMBERS // n_columns))
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


def choose(
    X: Any,
    y: Array,
    model: str,
    *,
    size: int | None,
    seed: int,
    n_jobs: int,
    progress: bool = False,
) -> tuple[EntropyClassifier, FitFacts]:
    """The best of the models and sizes for these rows, unfitted, and how it was chosen."""
    names = list(MODELS) if model == "auto" else [model]
    options = {"n_jobs": n_jobs, "random_state": seed}
    folds = min(FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        given = {} if size is None else {SIZE_NAMES[names[0]]: size}
        classifier = MODELS[names[0]][0](**options, **given)
        size = getattr(classifier, SIZE_NAMES[names[0]])
        return classifier, FitFacts(model=names[0], size=size, seed=seed)
    searches: dict[str, Any] = {}
    steps = with_progress(names, label="comparing models", unit="kind", terminal_only=True)
    for name in steps if progress else names:
        sizes = {SIZE_NAMES[name]: (size or SIZE,)}
        search = MODELS[name][1](**sizes, **SETTINGS[name], cv=folds, **options)
        searches[name] = search.fit(X, y)
    winner = max(searches, key=lambda name: round(searches[name].best_score_, 12))
    best = searches[winner]
    path = tuple(
        Candidate(name, setting, int(k), float(gmean), float(divergence))
        for name, path in ((name, search.path_) for name, search in searches.items())
        for setting, *by_size in zip(path.labels, path.mean_scores, path.divergences, strict=True)
        for k, gmean, divergence in zip(path.sizes, *by_size, strict=True)
    )
    scores = np.concatenate([s.path_.scores.reshape(-1, folds) for s in searches.values()])
    return clone(best.best_estimator_), FitFacts(
        model=winner,
        size=int(best.best_params_[SIZE_NAMES[winner]]),
        seed=seed,
        compared_rows=len(y),
        estimate=estimate_choice(scores),
        path=path,
    )


def estimate_choice(scores: Array) -> GMeanEstimate:
    """GMean of a choice by scores (candidates, folds), and its 95 % interval over the folds."""
    n_folds = scores.shape[1]
    others = (scores.sum(axis=1, keepdims=True) - scores) / (n_folds - 1)
    held_out = scores[others.argmax(axis=0), np.arange(n_folds)]
    mean = float(held_out.mean())
    reach = float(student.ppf(0.975, n_folds - 1) * held_out.std(ddof=1) / np.sqrt(n_folds))
    return GMeanEstimate(mean, max(0.0, mean - reach), min(1.0, mean + reach), n_folds, len(scores))


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
