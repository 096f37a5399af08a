"""The README's front table: the paper's data sets and the large tables, from their newest rows."""

from __future__ import annotations

import click
import numpy as np
from scipy.stats import rankdata

from ..places import ROOT
from ..store import Run, newest, rows_of
from . import defaults, large
from .markdown import embed

OURS = "ExtremeEntropyClassifier"
BASELINES = (
    *("LightGBM, tuned threshold", "XGBoost, balanced", "BalancedRandomForest", "EasyEnsemble"),
    *("SVC, balanced", "HistGradientBoosting, at the prior", "Nystroem+LDA"),
)


def front_table() -> list[str]:
    """Two tables, and where they were measured."""
    small, big = newest("defaults", by="model"), newest("large", by="dataset")
    return [*small_tables(small), "", *large_tables(big), "", measured_on([*small, *big])]


def small_tables(runs: list[Run]) -> list[str]:
    """Means over the paper's data sets."""
    found = rows_of(runs)
    rows = [row for row in found if row["model"] in (OURS, *BASELINES)]
    names = defaults.models_of(rows)
    gmean, auc, loss = (defaults.table(rows, one) for one in ("gmean", "auc", "log_loss"))
    ranks = rankdata(-gmean, axis=1).mean(axis=0)
    lines = [
        f"| {len(gmean)} data sets of 200 to 8000 rows, most with a rare class "
        "| mean GMean, % | mean rank | mean AUC, % | mean log-loss |",
        "|---|--:|--:|--:|--:|",
    ]
    for i, name in enumerate(names):
        shown = f"**{name}**" if name == OURS else name
        cells = [f"{gmean[:, i].mean():.1f}", f"{ranks[i]:.1f}"]
        for measure, form in ((auc, ".1f"), (loss, ".3f")):
            mean = measure[:, i].mean()
            cells.append("" if np.isnan(mean) else format(mean, form))
        lines.append(f"| {shown} | " + " | ".join(cells) + " |")
    return lines


def large_tables(runs: list[Run]) -> list[str]:
    """GMean on each large table."""
    rows = rows_of(runs)
    models = [name for name in large.MODELS if any(row["model"] == name for row in rows)]
    lines = ["| large tables: GMean, % | rows | " + " | ".join(models) + " |"]
    lines.append("|---|--:|" + "--:|" * len(models))
    for name in (*large.ARRAYS, *large.FRAMES):
        own = {row["model"]: row for row in rows if row["dataset"] == name}
        if OURS not in own:
            continue
        best = max(round(row["gmean"], 1) for row in own.values())
        cells = []
        for model in models:
            value = round(own[model]["gmean"], 1) if model in own else None
            cells.append("" if value is None else f"**{value}**" if value == best else f"{value}")
        title = name.replace("_", " ")
        lines.append(f"| {title} | {own[OURS]['rows']:,} | " + " | ".join(cells) + " |")
    return lines


def measured_on(runs: list[Run]) -> str:
    """Where, when and at which commits."""
    computers = dict.fromkeys(run.facts["computer"] for run in runs)
    commits = dict.fromkeys(run.facts["commit"] for run in runs)
    dates = sorted({run.facts["run"][:10] for run in runs})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return f"Measured on {'; '.join(computers)}, {when}, commits {', '.join(commits)}."


def with_table(readme: str) -> str:
    """The README with its front table made anew."""
    return embed(readme, "front", front_table())


@click.command("front-page")
def front_page() -> None:
    """Make the README's front table from the rows."""
    readme = ROOT / "README.md"
    readme.write_text(with_table(readme.read_text()))
