"""The whole process, as in the paper's Fig. 2: x ↦ φ(x) ↦ βᵀφ(x) ↦ the decision on x.

Feature space is shown in the plane of β and of v, the direction across β in which Σ = Σ₊ + Σ₋ is
widest. Rows have coordinates A φ(x), A = (β, v)ᵀ, so their class has covariance A Σ± Aᵀ there, and
the thresholds, which are hyperplanes across β, are vertical lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.linalg import eigh

from extreme_entropy.engines.threads import dense
from extreme_entropy.errors import InputError
from extreme_entropy.machine.operator import shrink
from extreme_entropy.plots import ProjectionDisplay
from extreme_entropy.plots.drawn_rows import inputs_to_draw, project_rows
from extreme_entropy.plots.regions import InputPlane, grid_over, input_plane
from extreme_entropy.plots.style import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    INK,
    axes_to_draw_on,
    escaped,
    figure_of,
    title_and_legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.colorbar import Colorbar
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.contour import QuadContourSet
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Array = np.ndarray[Any, Any]

MOST_POINTS = 2000  # drawn one by one
GRID = 200  # points along each side of the input space
DEVIATIONS = (1, 2)  # at which ellipses are drawn


class FeaturePlane(NamedTuple):
    """Feature space in the plane of β and v."""

    points: Array  # A φ(x)       (n, 2)
    means: Array  # A m±          (2, 2)
    covariances: Array  # A Σ± Aᵀ  (2, 2, 2)


class Predicted(NamedTuple):
    """Predictions of rows."""

    probabilities: Array  # of the second class
    decisions: Array  # log-odds with costs: positive means the second class


class PredictedGrid(NamedTuple):
    """Predictions of a grid over two columns."""

    x: Array  # (g,)
    y: Array  # (g,)
    predicted: Predicted  # (g, g) each


@dataclass(kw_only=True, eq=False, repr=False)
class ProcessDisplay:
    """Picture of the whole process, from rows to the decision about them.

    Four panels, as in the paper's Fig. 2: rows in input space; in feature space, with the two
    classes' covariances; the densities of the projection; the decision in input space. Feature
    space is shown in the plane of β and of the direction across it in which the classes are widest,
    where the thresholds are vertical lines. More than two columns are shown in the plane of their
    first two principal components, after scaling.

    Parameters
    ----------
    inputs : InputPlane
        Rows in input space.
    positive : ndarray of bool of shape (n_samples,)
        Which of them are of the second class.
    features : FeaturePlane
        The same rows in feature space.
    projection : ProjectionDisplay
        The projection of all rows.
    predicted : Predicted
        Probabilities and decisions of the rows.
    grid : PredictedGrid, optional
        Predictions over the input space, if that has two columns.

    Attributes
    ----------
    axes_ : ndarray of shape (4,) of matplotlib Axes
        Input space, feature space, projection, decision.
    figure_ : matplotlib Figure
        What holds them.
    ellipses_ : list of list of matplotlib Line2D
        For each class, at one and two standard deviations.
    boundary_ : matplotlib QuadContourSet or None
        Where the decision changes in input space; None without a grid, or where it never does.
    colorbar_ : matplotlib Colorbar
        Probabilities of the second class.

    See Also
    --------
    ProjectionDisplay : The projection alone, also of one pair of more than two classes.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from extreme_entropy import EEMClassifier
    >>> from extreme_entropy_paper import ProcessDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> classifier = EEMClassifier(50, random_state=0).fit(X, y)
    >>> display = ProcessDisplay.from_estimator(classifier, X, y)
    >>> [ax.get_title(loc="left") for ax in display.axes_]
    ['Input space', 'Feature space', 'Densities of the projection', 'Decision in input space']
    """

    inputs: InputPlane  # rows in input space
    positive: Array  # which of them are of the second class   (n,)
    features: FeaturePlane  # the same rows in feature space
    projection: ProjectionDisplay  # of all rows
    predicted: Predicted  # of the rows
    grid: PredictedGrid | None = None  # over the input space, if that has two columns

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, axes: Any = None, n_points: int = MOST_POINTS
    ) -> Self:
        """Draw the process for rows and a classifier of two classes.

        Parameters
        ----------
        estimator : EEMClassifier, EEKMClassifier, or a pipeline that ends in one
            Fitted on two classes; leaves of an ExtremeEntropyClassifier have feature spaces of
            their own. The input space is the classifier's, after earlier steps.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows: training rows, or new ones.
        y : array-like of shape (n_samples,)
            Their labels, of both classes.
        axes : array-like of four matplotlib Axes, optional
            As for `plot`.
        n_points : int, default=2000
            The most rows that are drawn one by one, taken evenly. Densities are of all rows.
        """
        instead = ", or draw one pair with ProjectionDisplay(pair=…)"
        classifier, X, labels = inputs_to_draw(estimator, X, y, cls.__name__, two_classes=instead)
        if not hasattr(classifier, "beta_"):
            raise InputError(
                f"{cls.__name__} shows one feature space; each leaf of {type(classifier).__name__} "
                "has its own. Pass an EEMClassifier or EEKMClassifier, or draw ProjectionDisplay."
            )
        projections = project_rows(classifier, X)[:, 0]
        shown = np.unique(np.linspace(0, len(labels) - 1, n_points).astype(int))
        rows, positive = X[shown], labels[shown] == 1
        inputs = input_plane(classifier, rows)
        return cls(
            inputs=inputs,
            positive=positive,
            features=_feature_plane(classifier, rows),
            projection=ProjectionDisplay.from_projections(classifier, projections, labels),
            predicted=_predict(classifier, rows),
            grid=_grid(classifier, inputs.points, X.dtype) if X.shape[1] == 2 else None,
        ).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        axes : array-like of four matplotlib Axes, optional
            Where to draw, in reading order. By default a new figure of two by two is made.
        """
        self.axes_: Array = np.array(axes_to_draw_on(type(self).__name__, axes, 4, (10, 8.6)))
        self.figure_: Figure = figure_of(self.axes_[0])
        inputs, features, projection, decision = self.axes_
        classes = self._scatter(inputs, self.inputs.points)
        names = [escaped(name) for name in self.projection.class_names]
        _finish(inputs, "Input space", self.inputs.names, classes, names)
        self._draw_features(features)
        self.projection.plot(projection)
        self.boundary_: QuadContourSet | None = None
        if self.grid is None:
            self._draw_predicted(decision)
        else:
            self._draw_boundary(decision, self.grid)
        return self

    def _scatter(self, ax: Axes, points: Array, **look: Any) -> list[PathCollection]:
        """Both classes' rows, the rarer class on top."""
        rarer = self.positive.mean() <= 0.5
        of_class = [points[self.positive == bool(c)] for c in range(2)]
        return [
            ax.scatter(
                of_class[c][:, 0],
                of_class[c][:, 1],
                s=18,
                marker=CLASS_MARKERS[c],
                color=CLASS_COLOURS[c],
                edgecolors="white",
                linewidths=0.4,
                zorder=2 + (rarer == bool(c)),
                **look,
            )
            for c in range(2)
        ]

    def _draw_features(self, ax: Axes) -> None:
        self._scatter(ax, self.features.points, alpha=0.55)
        self.ellipses_: list[list[Line2D]] = [[], []]
        for c, k in product(range(2), DEVIATIONS):
            points = ellipse(self.features.means[c], self.features.covariances[c], k)
            self.ellipses_[c] += ax.plot(
                *points.T,
                color=CLASS_COLOURS[c],
                linestyle=("-", "-.")[c],
                linewidth=(2.2, 1.6)[k - 1],
                zorder=5,
            )
        handles = ax.plot([], [], color=INK)
        labels = ["1 and 2 standard deviations"]
        low, high = ax.get_xlim()
        inside = [t for t in self.projection.thresholds if low < t < high]
        lines = [ax.axvline(t, color=INK, linewidth=1.4, linestyle="--", zorder=4) for t in inside]
        if lines:
            handles, labels = [*handles, lines[0]], [*labels, "threshold" + "s" * (len(lines) > 1)]
        names = (r"$\beta^T\varphi(x)$", r"$v^T\varphi(x)$, widest across $\beta$")
        _finish(ax, "Feature space", names, handles, labels)

    def _draw_boundary(self, ax: Axes, grid: PredictedGrid) -> None:
        shades = ax.contourf(
            grid.x,
            grid.y,
            grid.predicted.probabilities,
            levels=np.linspace(0, 1, 11),
            cmap=probability_colours(0.5),
        )
        if grid.predicted.decisions.min() < 0 < grid.predicted.decisions.max():
            self.boundary_ = ax.contour(
                grid.x, grid.y, grid.predicted.decisions, levels=[0.0], colors=INK, linewidths=1.8
            )
        self._scatter(ax, self.inputs.points)
        handles = [ax.plot([], [], color=INK)[0]] if self.boundary_ else []
        self._finish_decision(ax, shades, handles, ["decision changes"] * len(handles))

    def _draw_predicted(self, ax: Axes) -> None:
        mistaken = (self.predicted.decisions > 0) != self.positive
        for c, wrong in product(range(2), (False, True)):
            rows = (self.positive == bool(c)) & (mistaken == wrong)
            points = self.inputs.points[rows]
            shades = ax.scatter(
                points[:, 0],
                points[:, 1],
                c=self.predicted.probabilities[rows],
                s=34 if wrong else 18,
                marker=CLASS_MARKERS[c],
                cmap=probability_colours(1.0),
                vmin=0,
                vmax=1,
                edgecolors=INK if wrong else "0.6",
                linewidths=1.4 if wrong else 0.4,
                zorder=3 + wrong,
            )
        ring = ax.scatter([], [], s=34, c="white", edgecolors=INK, linewidths=1.4)
        self._finish_decision(ax, shades, [ring], ["misclassified"])

    def _finish_decision(
        self, ax: Axes, shades: Any, handles: list[Any], labels: list[str]
    ) -> None:
        name = escaped(shorten(self.projection.class_names[1], 30, placeholder=" …"))
        self.colorbar_: Colorbar = self.figure_.colorbar(
            shades, ax=ax, pad=0.02, aspect=30, ticks=np.linspace(0, 1, 6)
        )
        self.colorbar_.set_label(f"probability of {name}")
        _finish(ax, "Decision in input space", self.inputs.names, handles, labels)


def probability_colours(strength: float) -> LinearSegmentedColormap:
    """Colours from the negative class's through white to the positive class's."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    negative, positive = (
        [1 - strength * (1 - part) for part in to_rgb(colour)] for colour in CLASS_COLOURS
    )
    return LinearSegmentedColormap.from_list("probability", [negative, (1, 1, 1), positive])


def ellipse(mean: Array, covariance: Array, k: float) -> Array:
    """Points at k standard deviations of a Gaussian in the plane."""
    values, vectors = np.linalg.eigh(covariance)
    angles = np.linspace(0, 2 * np.pi, 181)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    return mean + k * circle @ (vectors * np.sqrt(np.maximum(values, 0))).T


def _finish(ax: Axes, title: str, names: tuple[str, str], handles: Any, labels: Any) -> None:
    ax.set(xlabel=names[0], ylabel=names[1])
    ax.locator_params(nbins=6)
    title_and_legend(ax, title, handles, labels)


def _feature_plane(classifier: Any, X: Any) -> FeaturePlane:
    """Rows and classes in the plane of β and v."""
    beta = classifier.beta_
    moments = classifier.summary_.leaves[0]
    classes = [shrink(total, classifier.shrinkage) for total in moments.totals]
    plane = np.array([beta, widest_across(beta, classes[0].covariance + classes[1].covariance)])
    return FeaturePlane(
        classifier.feature_map_(dense(X)) @ plane.T,
        np.array([plane @ shrunk.mean for shrunk in classes]),
        np.array([plane @ shrunk.covariance @ plane.T for shrunk in classes]),
    )


def widest_across(beta: Array, covariance: Array) -> Array:
    """The unit direction orthogonal to β along which the covariance is largest."""
    size = np.linalg.norm(beta)
    along = beta / size if size else beta
    # P Σ P with P = I − bbᵀ.
    right = covariance - np.outer(covariance @ along, along)
    across = right - np.outer(along, along @ right)
    last = len(beta) - 1
    direction = eigh(across, subset_by_index=(last, last))[1][:, 0]
    direction = direction - along * (along @ direction)
    # Either sign would do; this one is the same everywhere.
    return direction * np.sign(direction[abs(direction).argmax()])


def _predict(classifier: Any, X: Any) -> Predicted:
    projections = project_rows(classifier, X)
    machine = classifier.machine_
    return Predicted(machine.probabilities(projections)[:, 1], machine.scores(projections))


def _grid(classifier: Any, points: Array, dtype: np.dtype[Any]) -> PredictedGrid:
    """Predictions over the room that rows of two columns take."""
    x, y = grid_over(points, GRID, GRID)
    rows = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2).astype(dtype)
    predicted = _predict(classifier, rows)
    return PredictedGrid(x, y, Predicted(*(part.reshape(GRID, GRID) for part in predicted)))
