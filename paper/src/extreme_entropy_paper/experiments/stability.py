"""The stability figure: GMean of EEM with h = 5, 10, …, 500 neurons on the UCI sets.

The paper's settings and the protocol's folds. In each fold all sizes come from one pass over the
training rows: the neurons of a smaller model are the first of the largest one's, and otherwise
each model is the one that a fit of its own would give. Columns are scaled by the training rows.

The paper says that from about 100 neurons on more of them have a minor effect. Here that is a
number: how much the curve, averaged over WINDOW neighbouring sizes, varies from h = 100 on, and the
least size at which it comes within a point of its best.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from extreme_entropy import EEMClassifierCV
from extreme_entropy.features.neurons import Uniform
from extreme_entropy.plots.style import CURVE_COLOURS, INK

from ..datasets import list_datasets
from ..store import Row
from .claims import datasets_of
from .jobs import Array, Job, data_of
from .pictures import svg
from .protocol import N_FOLDS, fold_of
from .render import FORMATS, PageTable

PREFIX = "stability "
ACTIVATIONS: tuple[Uniform, ...] = ("rbf", "sig", "nsig")  # the paper's figure has the first
MODELS = tuple(PREFIX + activation for activation in ACTIVATIONS)
SIZES = tuple(range(5, 501, 5))
SETTING = {"first": SIZES[0], "last": SIZES[-1], "step": 5}
ENOUGH = 100  # neurons, says the paper
WINDOW = 5  # sizes that are averaged
MINOR = 2.0  # points of GMean
SPAN = 25  # points that every panel shows, so that a flat curve looks flat
NEAR = 1.0


# ------------------------------------------------------------------ measuring


def plan(
    datasets: Sequence[str], models: Sequence[str], repeats: int
) -> Iterator[tuple[Job, str | None]]:
    """One job for each fold."""
    about = {dataset.name: dataset for dataset in list_datasets()}
    for repeat in range(repeats):
        for model in models:
            for name in sorted(datasets, key=lambda name: about[name].rows):
                for fold in range(N_FOLDS):
                    yield Job(name, model, repeat, fold, (SETTING,)), None


def work(job: Job) -> list[Row]:
    """The scores of all sizes on one fold, as one row."""
    X, y = data_of(job.dataset)
    train, test = fold_of(X, y, job.repeat, job.fold)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant models are scored
        activation = cast(Uniform, job.model.removeprefix(PREFIX))
        scores = path(X, y, train, test, activation, job.repeat)
    return [
        {
            **job.about(setting),
            "gmeans": [round(100 * float(score), 2) for score in scores],
            "seed": job.repeat,
        }
        for setting in job.settings
    ]


def path(
    X: Array,
    y: Array,
    train: Array,
    test: Array,
    activation: Uniform,
    seed: int,
    sizes: Sequence[int] = SIZES,
) -> Array:
    """GMean on the test rows of the paper's machine of each size, fitted on the training rows."""
    search = EEMClassifierCV(
        sizes,
        activation=(activation,),
        cv=[(train, test)],
        scale=None,
        ridge=0.0,
        decision="paper",
        priors="balanced",
        costs=None,
        random_state=seed,
    )
    search.fit(MinMaxScaler().fit(X[train]).transform(X), y)
    return np.asarray(search.path_.scores)[0, :, 0]


# ------------------------------------------------------------------ the page


Curves = dict[tuple[str, str], Array]  # by data set and activation


def gather(rows: Iterable[Row]) -> Curves:
    """Scores by data set and activation, (folds, sizes)."""
    found: dict[tuple[str, str], list[list[float]]] = {}
    for row in rows:
        if row.get("model") in MODELS and "gmeans" in row:
            name = row["dataset"], row["model"].removeprefix(PREFIX)
            found.setdefault(name, []).append(row["gmeans"])
    return {name: np.array(scores) for name, scores in found.items()}


def smoothed(curve: Array) -> Array:
    """Each value averaged with its neighbours, as many on either side as there are up to half."""
    half = WINDOW // 2
    sides = [min(half, i, len(curve) - 1 - i) for i in range(len(curve))]
    return np.array([curve[i - k : i + k + 1].mean() for i, k in enumerate(sides)])


def variation(curve: Array) -> float:
    """How many points the smoothed curve varies by from ENOUGH neurons on."""
    return float(np.ptp(smoothed(curve)[np.array(SIZES) >= ENOUGH]))


def enough(curve: Array) -> int:
    """The least size at which the smoothed curve comes within NEAR of its best."""
    smooth = smoothed(curve)
    return SIZES[int((smooth >= smooth.max() - NEAR).argmax())]


def page(rows: Iterable[Row]) -> dict[str, str | bytes]:
    """The table of what the figure shows, and the figure."""
    scores = gather(rows)
    curves = {name: folds.mean(axis=0) for name, folds in scores.items()}
    table = summarise(curves, min(map(len, scores.values()), default=0))
    pages: dict[str, str | bytes] = {ending: write(table) for ending, write in FORMATS.items()}
    picture = svg(10, 8.4, lambda figure: draw(figure, curves)) if curves else None
    if picture is not None:
        pages[".md"] = f"{pages['.md']!s}\n![GMean against the number of neurons](stability.svg)\n"
        shown = "<p><img src='stability.svg' alt='GMean against the number of neurons'/></p>"
        pages[".html"] = str(pages[".html"]).replace("</body>", f"{shown}\n</body>")
        pages[".svg"] = picture
    return pages


def summarise(curves: Curves, folds: int) -> PageTable:
    """How stable each curve is, in numbers."""
    names = datasets_of("uci")
    known = {a: [curves[d, a] for d in names if (d, a) in curves] for a in ACTIVATIONS}
    return PageTable(
        "Stability of EEM: GMean with 5, 10, ..., 500 neurons",
        f"Each cell: points by which GMean varies from {ENOUGH} neurons on / least number of "
        f"neurons with which it is within {NEAR:g} point of its best; curves averaged over "
        f"{WINDOW} sizes. The paper's figure has rbf.",
        [*ACTIVATIONS, f"rbf, GMean with {ENOUGH}", "rbf, GMean with 500"],
        [
            [d, *(_shown(curves.get((d, a))) for a in ACTIVATIONS), *_ends(curves.get((d, "rbf")))]
            for d in names
        ],
        [
            f"Every curve is the mean over {folds} or more folds.",
            *(_sentence(activation, found) for activation, found in known.items()),
        ],
    )


def _shown(curve: Array | None) -> str:
    return "– / –" if curve is None else f"{variation(curve):.1f} / {enough(curve)}"


def _ends(curve: Array | None) -> list[str]:
    if curve is None:
        return ["–", "–"]
    smooth = smoothed(curve)
    return [f"{smooth[SIZES.index(h)]:.1f}" for h in (ENOUGH, SIZES[-1])]


def _sentence(activation: str, curves: list[Array]) -> str:
    if not curves:
        return f"{activation}: not run."
    minor = sum(variation(curve) <= MINOR for curve in curves)
    return (
        f"{activation}: from {ENOUGH} neurons on GMean varies by at most {MINOR:g} points on "
        f"{minor} of {len(curves)} sets, and by {max(map(variation, curves)):.1f} at most."
    )


def draw(figure: Any, curves: Curves) -> None:
    """One panel for each data set, one line for each activation."""
    names = [name for name in datasets_of("uci") if any((name, a) in curves for a in ACTIVATIONS)]
    across = min(3, len(names))
    panels = figure.subplots(-(-len(names) // across), across, sharex=True, squeeze=False)
    for ax in panels.flat[len(names) :]:
        ax.axis("off")
    for ax, name in zip(panels.flat, names, strict=False):
        _panel(ax, name, curves)
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper left", ncols=len(labels), frameon=False, fontsize=10
    )
    figure.supxlabel(f"neurons (every panel shows {SPAN} points of GMean)", fontsize=10)
    figure.supylabel(f"GMean, % (thin: each size; thick: mean of {WINDOW} sizes)", fontsize=10)


def _panel(ax: Any, name: str, curves: Curves) -> None:
    best = max(curves[name, a].max() for a in ACTIVATIONS if (name, a) in curves)
    top = int(np.ceil(best)) + 1
    ax.set_ylim(top - SPAN, top)
    for activation, colour in zip(ACTIVATIONS, CURVE_COLOURS, strict=False):
        curve = curves.get((name, activation))
        if curve is not None:
            ax.plot(SIZES, curve, color=colour, linewidth=0.6, alpha=0.45)
            ax.plot(SIZES, smoothed(curve), color=colour, linewidth=1.6, label=activation)
    ax.axvline(ENOUGH, color=INK, linewidth=0.8, linestyle=":", zorder=0)
    ax.set_title(name, loc="left", fontsize=10)
    ax.set_xlim(0, SIZES[-1])
