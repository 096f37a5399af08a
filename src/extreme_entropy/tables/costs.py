"""Costs and priors by the text of labels, as a command line gives them ↦ by the labels themselves.

cost    of missing a row of the label; a label that is not named costs 1
prior   how frequent the label is; labels that are not named share the rest, in proportion to
        their rows in training
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import IncompleteError, InputError
from ..estimators.inputs import NamedPriors
from ..metrics import label_text
from .labels import listed
from .model import TableModel

Array = np.ndarray[Any, Any]

SHARE_TOLERANCE = 1e-6  # that the sum of shares may miss one by
Priors = NamedPriors | Mapping[str, float]  # "balanced", "empirical", or the share of each label


def with_costs(
    fitted: TableModel, costs: Mapping[str, float] | None, priors: Priors | None
) -> TableModel:
    """The same model under other costs and priors, without refitting; None keeps its own.

    Priors alone also replace balanced costs, which only stood in for missing ones.
    """
    classifier, kind = fitted.classifier, fitted.label_kind
    counts = classifier.summary_.counts.sum(axis=1)
    if not counts.all():
        raise IncompleteError(
            f"Every class needs rows before there can be a prediction; "
            f"{fitted.label_names[int(counts.argmin())]!r} has none yet. Put the model together "
            "with one that has: eem merge"
        )
    if costs is None and priors is None:
        return fitted
    by_label = classifier.costs
    if costs is not None or isinstance(by_label, str):
        by_label = costs_by_label(costs, classifier.classes_, kind)
    chosen = None if priors is None else priors_by_label(priors, classifier.classes_, kind, counts)
    return replace(fitted, classifier=classifier.with_costs(by_label, priors=chosen))


def costs_by_label(
    costs: Mapping[str, float] | None, classes: Array, kind: str
) -> dict[Any, float] | None:
    """Costs by label; None where there are none."""
    return _by_label(costs, classes, kind, "cost") if costs else None


def priors_by_label(
    priors: Priors, classes: Array, kind: str, counts: Array
) -> NamedPriors | dict[Any, float]:
    """Priors of all labels, or the word that stands for them."""
    if isinstance(priors, str):
        return priors
    shares = _by_label(priors, classes, kind, "prior")
    labels, rest = classes.tolist(), 1 - sum(shares.values())
    unnamed = {x: n for x, n in zip(labels, counts.tolist(), strict=True) if x not in shares}
    if (unnamed and rest <= 0) or (not unnamed and abs(rest) > SHARE_TOLERANCE):
        names = ", ".join(repr(label_text(label)) for label in unnamed)
        left = f"leave a share for {names}" if unnamed else "sum to one"
        raise InputError(f"Priors must {left}; these sum to {1 - rest:g}.")
    n = sum(unnamed.values())
    shares |= {x: rest * (m / n if n else 1 / len(unnamed)) for x, m in unnamed.items()}
    return {label: shares[label] / sum(shares.values()) for label in labels}


def by_text(values: Mapping[Any, float] | None) -> dict[str, float] | None:
    """Costs or priors by the text of their labels."""
    return {label_text(label): value for label, value in values.items()} if values else None


def _by_label(
    values: Mapping[str, float], classes: Array, kind: str, what: str
) -> dict[Any, float]:
    """Values by label; the text of a boolean may be in any case."""
    labels = {label_text(label): label for label in classes.tolist()}
    by_label = {}
    for text, value in values.items():
        known = text.lower() if kind == "boolean" else text
        if known not in labels:
            raise InputError(
                f"A {what} must be that of a label; {text!r} is none. "
                f"The labels are {listed(list(labels))}."
            )
        by_label[labels[known]] = value
    return by_label
