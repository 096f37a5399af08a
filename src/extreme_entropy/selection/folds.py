"""Folds as users give them (a number, a splitter, a list of splits), as one number for each row.

A number means folds by content: they do not depend on the order of rows, repeated rows are never
split, and the sums of the folds add up to a classifier that can learn more rows. Where a class is
too rare for that, its rows are assigned to the folds in turn, in the order of their hashes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from ..errors import FewRowsWarning, InputError, warn
from ..features.content import folds_of
from ..metrics import FEWEST_JUDGED
from ..shapes import Array

UNTESTED = -1  # the fold of rows that are in every training set


def by_content(n_folds: int, hashes: Array, labels: Array, least: int) -> Array | None:
    """The fold of each row from its hash; None where one has fewer than `least` of a class."""
    folds = folds_of(hashes, n_folds).astype(np.intp)
    counts = np.bincount(labels * n_folds + folds, minlength=(labels.max() + 1) * n_folds)
    return folds if (counts >= least).all() else None


def dealt(n_folds: int, hashes: Array, labels: Array) -> Array:
    """The fold of each row: those of a class, in the order of their hashes, go to folds in turn.

    Equal rows stay together unless too few of a class differ.
    """
    _check_number(n_folds, labels)
    folds = np.empty(len(labels), np.intp)
    for label in np.unique(labels):
        rows = labels == label
        unlike, ranks = np.unique(hashes[rows], return_inverse=True)
        if len(unlike) < n_folds:
            ranks = hashes[rows].argsort(kind="stable").argsort()
        folds[rows] = ranks % n_folds
    return folds


def split(cv: Any, X: Any, y: Array, groups: Any = None) -> Array:
    """The fold each row is tested in; no row may be tested twice."""
    splitter = check_cv(cv, y, classifier=True)
    _check_number(splitter.get_n_splits(X, y, groups), y)
    folds = np.full(len(y), UNTESTED)
    for fold, (_, tested) in enumerate(splitter.split(X, y, groups)):
        if (folds[tested] != UNTESTED).any():
            raise InputError(
                "Sums by fold need folds that do not overlap; cv tests some rows more than once "
                f"(fold {fold} repeats rows). Use StratifiedKFold, or GridSearchCV for others."
            )
        folds[tested] = fold
    return folds


def judged(y: Array, n_folds: int) -> Array:
    """Which rows belong to classes with enough rows to be scored, if two classes are left then.

    Others would decide by one or two rows of a fold. They are named in a warning.
    """
    classes, labels, counts = np.unique(y, return_inverse=True, return_counts=True)
    few = counts < max(FEWEST_JUDGED, n_folds)
    left_out = few if (~few).sum() >= 2 else np.zeros(len(few), dtype=bool)
    if few.any() and (left_out.any() or counts.min() >= n_folds):
        named = dict(zip(classes[few].tolist(), counts[few].tolist(), strict=True))
        what = (
            "They are learnt, and the others decide."
            if left_out.any()
            else "The scores, and the choice, are uncertain."
        )
        warn(
            f"Classes need {max(FEWEST_JUDGED, n_folds)} rows to be judged in {n_folds} folds; "
            f"these have fewer: {named}. {what} Add rows of these classes, or set fewer folds.",
            FewRowsWarning,
        )
    return ~left_out[labels]


def check_folds(folds: Array, y: Array) -> int:
    """How many folds there are; each must hold rows of each class."""
    n_folds = int(folds.max(initial=UNTESTED)) + 1
    _check_number(n_folds, y)
    for fold in range(n_folds):
        missing = np.setdiff1d(y, y[folds == fold])
        if len(missing):
            raise InputError(
                f"Each fold must hold rows of each class; fold {fold} has none of "
                f"{missing.tolist()}. Use stratified folds, or fewer of them."
            )
    return n_folds


def check_counts(counts: Array, least: int) -> None:
    """Raise unless each fold by content has rows enough of each class   (n_classes, n_folds)."""
    if (counts < least).any():
        raise InputError(
            f"Rows that lie in blocks are put into folds by their content, and each of "
            f"{counts.shape[1]} folds must hold {least} rows of each class; one holds "
            f"{counts.min()}, and the rarest class has {counts.sum(axis=1).min()} rows. Use fewer "
            "folds, or gather the rows."
        )


def _check_number(n_folds: int, y: Array) -> None:
    classes, counts = np.unique(y, return_counts=True)
    rarest = counts.argmin()
    if counts[rarest] < n_folds:
        raise InputError(
            f"Each fold must hold rows of each class; cv={n_folds} folds came for class "
            f"{classes.tolist()[rarest]!r}, which has {counts[rarest]} rows. "
            "Use fewer folds, or gather more rows of that class."
        )
