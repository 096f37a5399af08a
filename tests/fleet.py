"""Tables and classifiers that several tests share; the fixture `fleet` fits each pair once."""

from copy import copy
from functools import cache

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_moons

from extreme_entropy import EEKMClassifier, EEMClassifier, ExtremeEntropyClassifier


def moons():
    """Two columns, two classes."""
    X, y = make_moons(240, noise=0.25, random_state=0)
    return X, np.array(["no", "yes"])[y]


def wide():
    """Five columns, a rare class."""
    rng = np.random.default_rng(3)
    y = np.repeat(["common", "rare"], [180, 30])
    return rng.normal(size=(210, 5)) + 1.5 * (y == "rare")[:, None], y


def ternary():
    """Three columns, three classes."""
    rng = np.random.default_rng(7)
    y = np.repeat([10, 20, 30], [80, 50, 30])
    return rng.normal(size=(160, 3)) + y[:, None] / 8, y


TABLES = {table.__name__: table() for table in (moons, wide, ternary)}
FLEET = {
    "default": ExtremeEntropyClassifier(n_landmarks=30, random_state=0),
    "EEM": EEMClassifier(30, random_state=0),
    "EEKM": EEKMClassifier(30, random_state=0),
}
for rows_and_labels in TABLES.values():  # which tests share
    for array in rows_and_labels:
        array.flags.writeable = False


@cache
def fitted(kind, table):
    return clone(FLEET[kind]).fit(*TABLES[table])


def of_fleet(kind, table):
    """A fitted classifier, and its rows and labels: a copy, which a test may change."""
    return copy(fitted(kind, table)), *TABLES[table]
