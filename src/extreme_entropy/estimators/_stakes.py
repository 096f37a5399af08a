"""What is at stake: priors and costs as users give them, as logarithms in class order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError

Array = np.ndarray[Any, Any]


def check(priors: Any, costs: Mapping[Any, float] | None, classes: Array) -> None:
    """Raise where priors or costs do not fit the classes."""
    log_costs(costs, classes)
    if not isinstance(priors, str):
        log_priors(priors, classes, np.ones(len(classes)))


def log_priors(priors: Any, classes: Array, counts: Array) -> Array:
    """ln π of each class: equal, as counted, or as given."""
    if isinstance(priors, str):
        shares = counts if priors == "empirical" else np.ones(len(classes))
        return np.log(shares / shares.sum())
    if isinstance(priors, Mapping):
        missing = [label for label in classes.tolist() if label not in priors]
        if missing or len(priors) != len(classes):
            raise InputError(
                f"`priors` must name each class once; the classes are {classes.tolist()}, "
                f"priors has {list(priors)}."
            )
        priors = [priors[label] for label in classes.tolist()]
    shares = _numbers(priors)
    if shares.shape != (len(classes),) or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-6:
        raise InputError(
            f"`priors` must be {len(classes)} positive numbers that sum to one, in the order of "
            f"the classes {classes.tolist()}; got {priors!r}. "
            "Use 'balanced' or 'empirical' if unsure."
        )
    return np.log(shares)


def log_costs(costs: Mapping[Any, float] | None, classes: Array) -> Array:
    """ln C of each class; a class that is not named costs 1."""
    costs = costs or {}
    strange = [label for label in costs if label not in classes.tolist()]
    if strange:
        raise InputError(
            f"`costs` may name only the classes {classes.tolist()}; it also names {strange}."
        )
    values = _numbers([costs.get(label, 1.0) for label in classes.tolist()])
    if not (np.isfinite(values) & (values > 0)).all():
        raise InputError(
            f"Costs must be positive and finite numbers; got {dict(costs)}. "
            "To ignore a class, give it a small cost."
        )
    return np.log(values)


def _numbers(values: Any) -> Array:
    """Values as floats; NaN, which every check refuses, where they are none."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return np.array([np.nan])
