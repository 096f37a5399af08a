"""The score, with its standard error over folds, and D_CS against the size of a classifier."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..pipelines import last_step
from ..shapes import Array
from .style import (
    CURVE_COLOURS,
    CURVE_MARKERS,
    INK,
    OnePanel,
    escaped,
    pyplot,
    ring,
    title_and_legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D


@dataclass(kw_only=True, eq=False, repr=False)
class PathDisplay(OnePanel):
    """Picture of a path: how good classifiers of growing size are.

    Above, one curve for each setting: the mean score over folds in a band of one standard error on
    either side. Below, the Cauchy–Schwarz divergence of the same classifiers.

    Parameters
    ----------
    sizes : array-like of shape (n_sizes,)
        Sizes of the classifiers.
    scores : array-like of shape (n_settings, n_sizes, n_folds)
        Scores of held-out folds.
    divergences : array-like of shape (n_settings, n_sizes)
        Cauchy–Schwarz divergences.
    labels : list of str, optional
        Names of the settings.
    size_name : str, default="n_hidden"
        Name of the size.
    score_name : str, default="GMean"
        Name of the score.
    best : tuple of (int, int), optional
        Setting and size to mark, as indices.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The panel of scores.
    divergence_ax_ : matplotlib Axes
        The panel of divergences.
    figure_ : matplotlib Figure
        What holds both.
    lines_, divergence_lines_ : list of matplotlib Line2D
        Curves of the settings.
    bands_ : list of matplotlib PolyCollection
        Standard errors; none with a single fold.
    best_ : list of matplotlib Line2D
        Marks of the best one.

    Examples
    --------
    >>> from extreme_entropy.plots import PathDisplay
    >>> display = PathDisplay(
    ...     sizes=[50, 100], scores=[[[0.7, 0.8], [0.8, 1.0]]], divergences=[[1.1, 1.6]]
    ... )
    >>> display.means
    array([[0.75, 0.9 ]])
    >>> display.standard_errors
    array([[0.05, 0.1 ]])
    >>> display = display.plot()
    """

    sizes: Any
    scores: Any
    divergences: Any
    labels: Any = None
    size_name: str = "n_hidden"
    score_name: str = "GMean"
    best: tuple[int, int] | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw the path that a classifier has followed.

        Parameters
        ----------
        estimator : classifier with a `path_`, or a pipeline that ends in one
            Fitted.
        ax : matplotlib Axes, optional
            Where to draw; see `plot`.
        """
        pyplot(cls.__name__)
        classifier = last_step(estimator)
        check_is_fitted(classifier)
        if not hasattr(classifier, "path_"):
            raise InputError(
                f"{cls.__name__} draws the `path_` of a classifier that has chosen its size by "
                f"cross-validation; {type(classifier).__name__} has none. "
                "For a single classifier use ProjectionDisplay."
            )
        path = {field.name: getattr(classifier.path_, field.name) for field in fields(cls)}
        return cls(**path).plot(ax)

    @property
    def means(self) -> Array:
        """Mean scores over folds, (n_settings, n_sizes)."""
        return np.mean(self.scores, axis=-1)

    @property
    def standard_errors(self) -> Array:
        """Standard errors of `means`; zero with a single fold, which has none."""
        scores = np.asarray(self.scores, dtype=float)
        folds = scores.shape[-1]
        if folds < 2:
            return np.zeros(scores.shape[:-1])
        return scores.std(axis=-1, ddof=1) / np.sqrt(folds)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. It becomes the panel of scores, and the one of divergences takes the
            lower third of its room. By default a new figure is made.
        """
        pyplot(type(self).__name__)
        self._check()
        self.divergence_ax_: Axes = _panel_below(self._take(ax, (6.4, 5.6)))
        self.lines_: list[Line2D] = []
        self.bands_: list[PolyCollection] = []
        self.divergence_lines_: list[Line2D] = []
        for setting in range(len(self.divergences)):
            self._draw_setting(setting)
        self.best_: list[Line2D] = self._mark_best()
        self._name_axes()
        return self

    def _check(self) -> None:
        scores, divergences = np.shape(self.scores), np.shape(self.divergences)
        if len(scores) != 3 or scores[:2] != divergences or scores[1:2] != np.shape(self.sizes):
            raise InputError(
                "A path has a score for each setting, size and fold and a divergence for each "
                f"setting and size; sizes are of shape {np.shape(self.sizes)}, scores of "
                f"{scores}, divergences of {divergences}. "
                "With one setting, put scores and divergences in a list."
            )
        if self.labels is not None and len(self.labels) != scores[0]:
            raise InputError(
                f"There must be a label for each setting; {len(self.labels)} labels came for "
                f"{scores[0]} settings. Pass labels=None to leave the curves unnamed."
            )
        if self.best is not None and not all(
            0 <= index < n for index, n in zip(self.best, divergences, strict=True)
        ):
            raise InputError(
                f"`best` must be the indices of a setting and a size, below {divergences}; "
                f"it is {tuple(map(int, self.best))}."
            )

    def _draw_setting(self, setting: int) -> None:
        order = np.argsort(self.sizes)
        sizes = np.asarray(self.sizes)[order]
        again, colour = divmod(setting, len(CURVE_COLOURS))
        look: dict[str, Any] = {
            "color": CURVE_COLOURS[colour],
            "linestyle": ("-", "--", ":")[again % 3],
            "marker": CURVE_MARKERS[setting % len(CURVE_MARKERS)],
            "markersize": 5 if len(sizes) < 25 else 0,  # so many need no mark each
        }
        mean, error = self.means[setting, order], self.standard_errors[setting, order]
        self.lines_ += self.ax_.plot(sizes, mean, **look)
        if np.shape(self.scores)[-1] > 1:
            band = self.ax_.fill_between(sizes, mean - error, mean + error, color=look["color"])
            band.set(alpha=0.15, linewidth=0)
            self.bands_.append(band)
        divergence = np.asarray(self.divergences)[setting, order]
        self.divergence_lines_ += self.divergence_ax_.plot(sizes, divergence, **look)

    def _mark_best(self) -> list[Line2D]:
        if self.best is None:
            return []
        size = self.sizes[self.best[1]]
        curves = {self.ax_: self.means, self.divergence_ax_: np.asarray(self.divergences)}
        for ax in curves:
            ax.axvline(size, color=INK, linewidth=0.8, linestyle=":", zorder=0)
        return [ring(ax, size, heights[self.best], 13, "none") for ax, heights in curves.items()]

    def _name_axes(self) -> None:
        upper, lower = self.ax_, self.divergence_ax_
        _space_out(lower, np.unique(self.sizes).astype(float))
        upper.tick_params(axis="x", which="both", labelbottom=False)
        upper.set_ylabel(self.score_name)
        lower.set(xlabel=self.size_name, ylabel="divergence $D_{CS}$")
        self.figure_.align_ylabels([upper, lower])
        names = [] if self.labels is None else [escaped(label) for label in self.labels]
        legend: list[tuple[Any, str]] = list(zip(self.lines_, names, strict=False))
        if self.bands_:
            legend.append((self.bands_[0], "± standard error"))
        if self.best is not None:
            setting, size = self.best
            name = f"{names[setting]}, " if names else ""
            legend.append((self.best_[0], f"best: {name}{self.sizes[size]:g}"))
        handles, labels = [handle for handle, _ in legend], [label for _, label in legend]
        title = f"{self.score_name} by {self.size_name}"
        title_and_legend(upper, title, handles, labels, across=88)


def _panel_below(ax: Axes) -> Axes:
    """A panel in the lower third of the axes' room, which they leave to it."""
    place = ax.get_subplotspec()
    if place is not None:
        grid = place.subgridspec(2, 1, height_ratios=(2, 1), hspace=0.08)
        ax.set_subplotspec(grid[0])
        return ax.figure.add_subplot(grid[1], sharex=ax)
    box = ax.get_position()
    ax.set_position((box.x0, box.y0 + 0.36 * box.height, box.width, 0.64 * box.height))
    return ax.figure.add_axes((box.x0, box.y0, box.width, 0.32 * box.height), sharex=ax)


def _space_out(ax: Axes, sizes: Array) -> None:
    """An even or logarithmic axis, whichever keeps the sizes further apart, with them as ticks."""
    gaps = {
        scale: np.diff(places).min(initial=np.inf) / max(np.ptp(places), 1e-300)
        for scale, places in (("linear", sizes), ("log", np.log(sizes)))
    }
    scale = max(gaps, key=lambda name: gaps[name])
    ax.set_xscale(scale)
    if gaps[scale] >= 1 / 14:  # of the axis, or the numbers under the ticks would touch
        ax.set_xticks(sizes, labels=[f"{size:g}" for size in sizes])
        ax.minorticks_off()
