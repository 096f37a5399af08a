"""The paper's data sets and the large tables side by side, from their newest rows.

A table and a picture for the first page of the site's evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import numpy as np
from scipy.stats import rankdata

from ..places import ROOT
from ..store import Row, Run, newest, rows_of
from . import large
from .front_picture import draw
from .markdown import embed

Array = np.ndarray[Any, Any]

OURS = "ExtremeEntropyClassifier"
# A kind of classifier ↦ its model on the small tables, and on the large ones.
KINDS = {
    OURS: (OURS, OURS),
    "LightGBM": ("LightGBM, tuned threshold", large.LIGHTGBM),
    "CatBoost": ("", "CatBoost, at the prior"),
    "XGBoost": ("XGBoost, balanced", "XGBoost, at the prior"),
    "HistGradientBoosting": ("HistGradientBoosting, at the prior",) * 2,
    "BalancedRandomForest": ("BalancedRandomForest",) * 2,
    "EasyEnsemble": ("EasyEnsemble", ""),
    "SVC": ("SVC, balanced", ""),
    "Nystroem + LDA": ("Nystroem+LDA", ""),
}
PAGE = ROOT / "docs" / "evidence" / "index.md"
PICTURE = ROOT / "docs" / "images" / "front.svg"


def measured() -> tuple[list[Run], list[Run]]:
    """The small tables and the large ones."""
    return newest("defaults", by="model"), newest("large", by="dataset")


def measured_on(runs: list[Run]) -> str:
    """Where, when and at which commits."""
    computers = dict.fromkeys(run.facts["computer"] for run in runs)
    commits = dict.fromkeys(run.facts["commit"] for run in runs)
    dates = sorted({run.facts["run"][:10] for run in runs})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    word = "commit" if len(commits) == 1 else "commits"
    return f"Measured on {'; '.join(computers)}, {when}, {word} {', '.join(commits)}."


def means(rows: list[Row], models: list[str], measure: str) -> dict[str, Array]:
    """Table ↦ the mean of a measure over its rows for each model; NaN where there is none."""
    found: dict[str, list[list[float]]] = {}
    for row in rows:
        if row["model"] in models and measure in row:
            by_model = found.setdefault(row["dataset"], [[] for _ in models])
            by_model[models.index(row["model"])].append(row[measure])
    return {
        name: np.array([np.mean(values) if values else np.nan for values in by_model])
        for name, by_model in found.items()
    }


def table() -> list[str]:
    """A line for each kind of classifier: how it does on the small tables, and on the large."""
    small, big = measured()
    n_small, *first = _columns(small, 0, "log_loss", np.mean, ".3f")
    n_large, *second = _columns(big, 1, "fit_seconds", np.sum, ".0f")
    lines = [
        f"| | {n_small} small tables: mean GMean, % | mean rank | mean log-loss "
        f"| {n_large} large tables: mean GMean, % | mean rank | seconds to fit all |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, *cells in zip(KINDS, *first, *second, strict=True):
        shown = f"**{name}**" if name == OURS else name
        lines.append(f"| {shown} | " + " | ".join(cells) + " |")
    return [*lines, "", measured_on([*small, *big])]


def _columns(runs: list[Run], which: int, measure: str, over: Any, form: str) -> Iterator[Any]:
    """How many tables there are; then GMean, its rank and another measure of each kind."""
    models, rows = [kind[which] for kind in KINDS.values()], rows_of(runs)
    gmeans = np.stack([*means(rows, models, "gmean").values()])
    ranks = rankdata(-gmeans, axis=1, nan_policy="omit")
    others = over([*means(rows, models, measure).values()], axis=0)
    yield len(gmeans)
    for values, shape in ((gmeans.mean(0), ".1f"), (ranks.mean(0), ".1f"), (others, form)):
        yield ["" if np.isnan(value) else format(value, shape) for value in values]


def picture() -> str:
    """GMean of ours less that of LightGBM, on each table."""
    groups = {}
    for runs, which in zip(measured(), (0, 1), strict=True):
        rows = rows_of(runs)
        found = means(rows, [KINDS[OURS][which], KINDS["LightGBM"][which]], "gmean")
        sizes = {row["dataset"]: row["rows"] for row in rows if "rows" in row}
        lead = {
            name.replace("_", " ") + (f", {sizes[name]:,} rows" if name in sizes else ""): a - b
            for name, (a, b) in found.items()
        }
        title = f"{len(lead)} {'large' if which else 'small'} tables"
        groups[title] = dict(sorted(lead.items(), key=lambda item: -item[1]))
    return draw(groups, "Lead of ExtremeEntropyClassifier over LightGBM, points of GMean")


def with_table(page: str) -> str:
    """The page with its table made anew."""
    return embed(page, "front", table())


@click.command("front-page")
def front_page() -> None:
    """Make the table and the picture of the evidence's first page from the rows."""
    PAGE.write_text(with_table(PAGE.read_text()))
    PICTURE.write_text(picture())
