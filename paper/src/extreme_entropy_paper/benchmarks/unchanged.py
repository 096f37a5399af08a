"""Are predictions what they were? Probabilities of held-out rows, recorded to the last digit.

A change of structure must not change a prediction. The rows of `rows/unchanged.jsonl` say what
each of the paper's classifiers answered on its data sets and on mixed frames before such a change;
the tests ask again. Rows of `ExtremeEntropyClassifier` there are not asked: it was another model
then, an average of the paper's machines, and may be improved at any time.
"""

from __future__ import annotations

import warnings
from typing import Any

import click
import numpy as np
import pandas as pd
from sklearn.base import clone

from extreme_entropy import EEKMClassifier, EEMClassifier

from ..datasets import list_datasets
from ..store import Row, add_run
from .samples import shuffled

LEARNED, ASKED = 800, 12  # rows; few enough to test all sets
FRAMES = ("mixed", "gaps", "many classes")
EQUAL: Any = {"priors": "balanced", "costs": None}
CLASSIFIERS: dict[str, Any] = {
    "EEM": EEMClassifier(150, **EQUAL, random_state=0),
    "EEM of the paper": EEMClassifier.paper(n_hidden=150, random_state=0),
    "EEKM": EEKMClassifier(150, **EQUAL, random_state=0),
}


def table(name: str) -> tuple[Any, Any]:
    """Rows and labels of a data set or of a made-up frame."""
    return _frame(name) if name in FRAMES else shuffled(name, LEARNED + ASKED)


def _frame(name: str) -> tuple[Any, Any]:
    """Numbers, words of few and of many kinds, dates, flags; perhaps gaps, perhaps five classes."""
    rng = np.random.default_rng(FRAMES.index(name))
    n = LEARNED + ASKED
    y = rng.integers(0, 5 if name == "many classes" else 2, n)
    frame = pd.DataFrame(
        {
            "amount": rng.lognormal(size=n) * (1 + y),
            "count": rng.poisson(3 + y),
            "colour": rng.choice(["red", "green", "blue"], n),
            "shop": np.char.add("shop ", rng.integers(0, 60, n).astype(str)),
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "member": rng.random(n) < 0.4 + 0.1 * y,
        }
    )
    if name == "gaps":
        for column in ("amount", "colour", "shop", "since"):
            frame[column] = frame[column].where(rng.random(n) > 0.15)
    return frame, np.array(["a", "b", "c", "d", "e"])[y]


def answers(name: str, model: str) -> list[float]:
    """Probabilities of the second class, or of all, for rows that were not learnt."""
    X, y = table(name)
    learned, asked = (X[:-ASKED], X[-ASKED:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(CLASSIFIERS[model]).fit(learned, y[:-ASKED])
        p = fitted.predict_proba(asked)
    return (p[:, 1] if p.shape[1] == 2 else p.ravel()).tolist()


def tables() -> list[str]:
    """All tables, by name."""
    return [*(dataset.name for dataset in list_datasets()), *FRAMES]


@click.command()
def unchanged() -> None:
    """Record what the classifiers answer on all tables."""
    measured: list[Row] = []
    for name in tables():
        for model in CLASSIFIERS:
            measured.append({"table": name, "model": model, "probabilities": answers(name, model)})
            click.echo(f"{name}, {model}: {measured[-1]['probabilities'][:3]}")
    add_run("unchanged", measured)
