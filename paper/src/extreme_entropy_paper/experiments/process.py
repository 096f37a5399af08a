"""The process figure: rows, their image in feature space, the projection, the decision.

The paper does not say which data it shows ("linearly non separable data"). Ours are two seeded
half-moons, and the machine has the paper's settings with radial neurons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.datasets import make_moons

from extreme_entropy import EEMClassifier

from ..process_display import ProcessDisplay
from ..store import Row
from .jobs import Array, Job
from .pictures import svg

DATASET = "moons"
MODEL = "process"
SETTING: dict[str, Any] = {"h": 100, "activation": "rbf", "rows": 300, "noise": 0.15}


def plan(
    datasets: Sequence[str], models: Sequence[str], repeats: int
) -> Iterator[tuple[Job, str | None]]:
    """One job: what the picture shows, in numbers."""
    for model in models:
        for name in datasets:
            yield Job(name, model, 0, 0, (SETTING,)), None


def work(job: Job) -> list[Row]:
    """D_CS, thresholds and the share of rows classified correctly by the machine in the picture."""
    fitted, X, y = example()
    return [
        {
            **job.about(setting),
            "accuracy": round(100 * fitted.score(X, y), 2),
            "divergence": round(fitted.divergence_, 4),
            "thresholds": np.round(fitted.thresholds_, 4).tolist(),
            "seed": 0,
        }
        for setting in job.settings
    ]


def example() -> tuple[Any, Array, Array]:
    """The machine in the picture, and its rows."""
    X, lower = make_moons(SETTING["rows"], noise=SETTING["noise"], random_state=0)
    y = np.where(lower, "positive", "negative")
    model = EEMClassifier.paper(SETTING["activation"], SETTING["h"], random_state=0)
    return model.fit(X, y), X, y


def page(rows: Iterable[Row]) -> dict[str, str | bytes]:
    """The figure, and what it shows in numbers."""
    picture = svg(10, 8.6, draw)
    lines = ["## The process of classification", "", *map(_sentence, _found(rows))]
    if picture is None:
        return {".md": "\n".join([*lines, "The figure needs matplotlib.", ""])}
    return {
        ".md": "\n".join([*lines, "![From rows to the decision](process.svg)", ""]),
        ".svg": picture,
    }


def _found(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row.get("model") == MODEL and "divergence" in row]


def _sentence(row: Row) -> str:
    thresholds = " and ".join(f"{t:.2f}" for t in row["thresholds"])
    return (
        f"{SETTING['rows']} rows in two half-moons, {SETTING['h']} {SETTING['activation']} "
        f"neurons: D_CS is {row['divergence']:.2f}, the decision changes at {thresholds}, "
        f"{row['accuracy']:.1f} % of the rows are classified correctly.\n"
    )


def draw(figure: Any) -> None:
    """The four panels."""
    ProcessDisplay.from_estimator(*example(), axes=figure.subplots(2, 2))
