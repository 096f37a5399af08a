"""The page of `beyond`: GMean by data set, then all scores, ranks and tests over data sets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..baselines import CLASSIFIERS
from ..store import Row
from . import ranks
from .beyond import MODELS
from .comparison import FIELDS, Comparison, compare
from .diagram import critical_difference_svg
from .protocol import N_FOLDS
from .render import PageTable, html, latex, markdown

Array = np.ndarray[Any, Any]

LEVEL = 0.05
CLEAR = 1.0  # points of GMean
ALONE = "EEM-default"  # the one of ours to be ranked among the others by itself


def page(rows: Iterable[Row]) -> dict[str, str | bytes]:
    """Both tables in all formats, and the diagram of critical differences where it can be drawn."""
    found = compare(rows)
    tables = [by_dataset(found), overall(found)]
    picture = _picture(found)
    files: dict[str, str | bytes] = {
        ".md": "\n".join(map(markdown, tables)) + (_EMBEDDED if picture else ""),
        ".html": _in_one([html(table) for table in tables], picture or ""),
        ".tex": "\n".join(map(latex, tables)),
    }
    if picture:
        files[".svg"] = picture
    return files


_EMBEDDED = "\n![Mean ranks and the critical difference](beyond.svg)\n"


def _in_one(pages: list[str], picture: str) -> str:
    """The first page with the bodies of the others and the picture in it."""
    end = "</body></html>\n"
    bodies = [page.split("<body>", 1)[1].removesuffix(end) for page in pages[1:]]
    return pages[0].removesuffix(end) + "".join(bodies) + picture[picture.find("<svg") :] + end


def by_dataset(found: Comparison) -> PageTable:
    """GMean of each model on each data set."""
    rows = [
        [dataset, *_marked(scores)]
        for dataset, scores in zip(found.datasets, found.means["gmean"], strict=True)
    ]
    return PageTable(
        "Beyond the paper: GMean on the same folds", LEGEND, found.models, rows, _extent(found)
    )


LEGEND = (
    "GMean in percent, the mean over the test folds of the paper's protocol; * marks the best of "
    "a row. Every model has its plain defaults on every data set. Chosen inside the training rows "
    "are only the threshold of LightGBM and the size and kernel width of ours with -CV. The "
    "defaults of ours were once settled on these data sets among others, which is in their favour."
)


def _marked(scores: Array) -> list[str]:
    best = np.nanmax(scores) if np.isfinite(scores).any() else np.nan
    return [
        "–" if np.isnan(score) else f"{score:.1f}{' *' if score == best else ''}"
        for score in scores
    ]


def overall(found: Comparison) -> PageTable:
    """Means over data sets, mean ranks, and what the tests say; best ranks first."""
    columns = ["mean rank", "best on", "GMean", "balanced accuracy", "AUC", "Brier", "fit, s", "p"]
    gmean = found.counted("gmean")
    if not gmean.size:
        nothing = "There is no data set yet on which all models ran."
        return PageTable("Over data sets", OVERALL, columns, [], [nothing])
    mean_ranks = ranks.mean_ranks(gmean)
    order = np.argsort(mean_ranks, kind="stable")
    wins = (gmean == gmean.max(axis=1, keepdims=True)).sum(axis=0)
    p = ranks.against(gmean, int(order[0]))
    plain = [found.counted(field).mean(axis=0) for field in FIELDS[:4]]
    seconds = np.exp(np.log(found.counted("fit_cpu_seconds")).mean(axis=0))
    rows = [
        [
            found.models[j],
            f"{mean_ranks[j]:.2f}",
            str(wins[j]),
            *(f"{column[j]:.1f}" for column in plain[:3]),
            f"{plain[3][j]:.3f}",
            f"{seconds[j]:.2f}",
            "–" if np.isnan(p[j]) else f"{p[j]:.2g}",
        ]
        for j in order
    ]
    return PageTable("Over data sets", OVERALL, columns, rows, _findings(found))


OVERALL = (
    "Ranks are by GMean, 1 is best; ties share their mean rank and count as best for each. Scores "
    "are means over data sets; seconds are those of the processor for one fit, choosing included, "
    "on one thread, as geometric means. AUC and the Brier score (lower is better) are those of the "
    "probabilities as they come: models that let classes count equally answer for equal classes, "
    "which the Brier score holds against them where one is rare. p is Wilcoxon's against the best "
    "rank, with Holm's correction."
)


def _extent(found: Comparison) -> list[str]:
    """How much was run, and why the rest was not."""
    run = np.isfinite(found.means["gmean"])
    reasons = [f"Not run: {reason}." for reason in found.reasons]
    if not run.any():
        return ["No model has run all folds of a data set yet.", *reasons]
    return [
        f"{run.sum()} cells of {len(run)} data sets and {len(MODELS)} models run, each on "
        f"{found.repeats[run.any(axis=1)].min()} or more whole repetitions of {N_FOLDS} folds.",
        *reasons,
    ]


def _findings(found: Comparison) -> list[str]:
    """Sentences that follow from the figures."""
    n, k = found.counted("gmean").shape
    counted = (
        f"Ranks, means and tests count the {n} of {len(found.datasets)} data sets on which all "
        f"{k} models ran."
    )
    if n < 2 or k < 3:
        return [counted, "Friedman's test needs two data sets and three models."]
    return [counted, _friedman(found), _nemenyi(found), *_trees(found), *_alone(found)]


def _friedman(found: Comparison) -> str:
    test = ranks.friedman(found.counted("gmean"))
    finding = "do not all rank alike" if test.p < LEVEL else "are not shown to rank differently"
    return (
        f"Friedman's test (Iman and Davenport): F({test.freedom[0]}, {test.freedom[1]}) = "
        f"{test.statistic:.2f}, p = {test.p:.2g}: at the level {LEVEL:g} the models {finding}."
    )


def _nemenyi(found: Comparison) -> str:
    gmean = found.counted("gmean")
    n, k = gmean.shape
    mean_ranks = ranks.mean_ranks(gmean)
    difference = ranks.critical_difference(k, n, LEVEL)
    order = np.argsort(mean_ranks, kind="stable")
    best = order[0]
    near = [found.models[j] for j in order[1:] if mean_ranks[j] - mean_ranks[best] < difference]
    far = [found.models[j] for j in order[1:] if mean_ranks[j] - mean_ranks[best] >= difference]
    return (
        f"The best mean rank is that of {found.models[best]}. Nemenyi's critical difference at "
        f"{LEVEL:g} is {difference:.2f}: behind by that or more are {_listed(far)}; not "
        f"distinguished from it are {_listed(near)}."
    )


def _trees(found: Comparison) -> list[str]:
    """Where the best of the trees and the best of ours are clearly apart."""
    kinds = np.array([CLASSIFIERS[model].kind for model in found.models])
    if not {"ours", "trees"} <= set(kinds):
        return []
    gmean = found.counted("gmean")
    lead = gmean[:, kinds == "trees"].max(axis=1) - gmean[:, kinds == "ours"].max(axis=1)
    names = [d for d, counts in zip(found.datasets, found.complete, strict=True) if counts]

    def listed(gaps: Array) -> str:
        clear = [j for j in np.argsort(-gaps, kind="stable") if gaps[j] > CLEAR]
        return f"{len(clear)} ({_listed([f'{names[j]} by {gaps[j]:.1f}' for j in clear])})"

    return [
        f"The best of the trees is more than {CLEAR:g} point above the best of ours on "
        f"{listed(lead)} of {len(names)} data sets; the best of ours is as clearly above the best "
        f"of the trees on {listed(-lead)}."
    ]


def _alone(found: Comparison) -> list[str]:
    """Ranks where only one of ours takes part: relatives of a model crowd the others' ranks."""
    kept = [
        j
        for j, model in enumerate(found.models)
        if model == ALONE or CLASSIFIERS[model].kind != "ours"
    ]
    if ALONE not in found.models or len(kept) in (1, len(found.models)):
        return []
    mean_ranks = ranks.mean_ranks(found.counted("gmean")[:, kept])
    ranked = [f"{found.models[kept[i]]} {mean_ranks[i]:.2f}" for i in np.argsort(mean_ranks)]
    return [f"Mean ranks with {ALONE} as the only one of ours: {', '.join(ranked)}."]


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _picture(found: Comparison) -> str | None:
    gmean = found.counted("gmean")
    if len(gmean) < 2 or len(found.models) < 3:
        return None
    difference = ranks.critical_difference(len(found.models), len(gmean), LEVEL)
    ours = [CLASSIFIERS[model].kind == "ours" for model in found.models]
    return critical_difference_svg(found.models, ranks.mean_ranks(gmean), difference, ours)
