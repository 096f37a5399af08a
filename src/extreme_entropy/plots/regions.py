"""Decision regions over a plane of the columns.

One or two columns are a plane, and the classifier predicts every point of a grid. More columns are
shown in the plane of their first two principal components, after scaling. A point of that plane is
no row, so there the ground has the colour predicted for most of its nearest rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from ..engines.threads import dense
from ..metrics import predicted_classes
from ..shapes import Array
from .drawn_rows import column_names, inputs_to_draw, project_rows
from .style import (
    CLASS_COLOURS,
    CURVE_COLOURS,
    CURVE_MARKERS,
    INK,
    OnePanel,
    escaped,
    title_and_legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.patches import PathPatch


NEIGHBOURS = 15  # odd, so that two classes never tie


class InputPlane(NamedTuple):
    """Rows in two dimensions."""

    points: Array  # (n, 2)
    names: tuple[str, str]  # of the axes


@dataclass(kw_only=True, eq=False, repr=False)
class RegionsDisplay(OnePanel):
    """Picture of the regions in which each class is predicted, with rows on them.

    With one or two columns the ground is the class predicted at that very point. With more, rows
    lie in the plane of their first two principal components, after scaling, and the ground is the
    class predicted for most of the 15 rows drawn nearest. Misclassified rows are ringed.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2)
        Rows in the plane.
    labels : ndarray of int of shape (n_samples,)
        Positions of their classes.
    own : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Their scores, as `scores`.
    x, y : ndarray
        The grid of the ground.
    scores : ndarray of shape (len(y), len(x)) or (len(y), len(x), n_classes)
        Of two classes: positive for the second. Otherwise the largest wins.
    exact : bool
        Whether the scores are those of each point itself.
    class_names : list of str
        Names of the classes.
    axis_names : tuple of (str, str)
        Names of the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    grounds_ : list of matplotlib PathPatch
        The region of each class.
    rows_ : list of matplotlib PathCollection
        The rows of each class.
    rings_ : matplotlib PathCollection
        Around misclassified rows.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from extreme_entropy import EEMClassifier
    >>> from extreme_entropy.plots import RegionsDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> classifier = EEMClassifier(50, random_state=0).fit(X, y)
    >>> RegionsDisplay.from_estimator(classifier, X, y).exact
    True
    """

    points: Array  # rows in the plane                       (n, 2)
    labels: Array  # positions of their classes               (n,)
    own: Array  # their scores, as below                      (n,) or (n, classes)
    x: Array  # the grid                                      (80,)
    y: Array  # (120,)
    scores: Array  # positive for the second of two classes   (120, 80)
    #                or one for each class; the largest wins  (120, 80, classes)
    exact: bool  # whether the scores are those of each point itself
    class_names: list[str]
    axis_names: tuple[str, str]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, n_points: int = 800
    ) -> Self:
        """Draw rows and decision regions.

        Parameters
        ----------
        estimator : a classifier of this library, or a pipeline that ends in one
            Fitted. The plane is of the classifier's columns, after earlier steps.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels.
        ax : matplotlib Axes, optional
            As for `plot`.
        n_points : int, default=800
            The most rows that are drawn, evenly taken of each class, and as many of each if there
            are enough.
        """
        classifier, X, labels = inputs_to_draw(estimator, X, y, cls.__name__)
        shown = evenly_of_each(labels, n_points)
        return cls.from_rows(classifier, X[shown], labels[shown]).plot(ax)

    @classmethod
    def from_rows(cls, classifier: Any, X: Any, labels: Array) -> Self:
        """The picture of all of these rows; `plot` draws it.

        Parameters
        ----------
        classifier : ExtremeEntropyClassifier, EEMClassifier or EEKMClassifier
            Fitted.
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Rows as the classifier takes them.
        labels : ndarray of int of shape (n_samples,)
            Positions in `classes_`.
        """
        plane = input_plane(classifier, X)
        points = np.asarray(plane.points, dtype=float)
        placed = ~np.isnan(points).any(axis=1)  # a row without a value has no place
        if placed.any() and not placed.all():
            X, points, labels = X[placed], points[placed], labels[placed]
        machine = classifier.machine_
        row_scores = machine.scores(project_rows(classifier, X))
        x, y = grid_over(points, 80, 120)
        places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        exact = X.shape[1] <= 2
        if exact:
            rows = places[:, : X.shape[1]].astype(X.dtype)
            scores = machine.scores(project_rows(classifier, rows))
        else:
            scores = _votes(points, row_scores, places)
        return cls(
            points=points,
            labels=labels,
            own=row_scores,
            x=x,
            y=y,
            scores=scores.reshape(len(y), len(x), *row_scores.shape[1:]),
            exact=exact,
            class_names=[str(label) for label in classifier.classes_],
            axis_names=plane.names,
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. By default a new figure is made.
        """
        ax, n = self._take(ax, (6.4, 5.2)), len(self.class_names)
        colours = CLASS_COLOURS if n == 2 else CURVE_COLOURS
        looks: list[dict[str, Any]] = [
            {
                "color": colours[c % len(colours)],
                "marker": CURVE_MARKERS[c + (c > 0)] if c < 7 else "o",
            }
            for c in range(n)
        ]
        self.grounds_: list[PathPatch] = [self._ground(c, looks[c]["color"]) for c in range(n)]
        self.rows_: list[PathCollection] = [
            ax.scatter(rows[:, 0], rows[:, 1], s=20, edgecolors="white", linewidths=0.4, **looks[c])
            for c, rows in enumerate(self.points[self.labels == c] for c in range(n))
        ]
        # Rarer classes on top; artists of the same height are drawn in the order of their making.
        ranks = np.argsort(np.argsort(-np.bincount(self.labels, minlength=n), kind="stable"))
        for rows, rank in zip(self.rows_, ranks, strict=True):
            rows.set_zorder(2 + rank / n)
        wrong = self.points[self.labels != predicted_classes(self.own)]
        look: dict[str, Any] = {"facecolors": "none", "edgecolors": INK, "linewidths": 1.2}
        self.rings_: PathCollection = ax.scatter(wrong[:, 0], wrong[:, 1], s=52, zorder=4, **look)
        ax.set(xlim=self.x[[0, -1]], ylim=self.y[[0, -1]])
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        labels = [escaped(name) for name in self.class_names] + ["misclassified"]
        title_and_legend(ax, "Decision regions", [*self.rows_, self.rings_], labels)
        return self

    def _ground(self, c: int, colour: str) -> PathPatch:
        """Boxes on each row of the grid, along which heights are taken as straight."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        if self.scores.ndim == 2:
            # A score of zero is the first class's, as `predict` has it.
            decisive = np.where(self.scores == 0, -np.finfo(float).tiny, self.scores)
            heights = decisive if c else -decisive
        else:
            heights = self.scores[:, :, c] - np.delete(self.scores, c, axis=2).max(axis=2)
        half = (self.y[1] - self.y[0]) / 2
        corners: list[tuple[float, float]] = []
        for strip, middle in zip(heights, self.y, strict=True):
            ends, low, high = crossings(strip, self.x), middle - half, middle + half
            for a, b in zip(ends[::2], ends[1::2], strict=True):
                corners += [(a, low), (b, low), (b, high), (a, high), (a, low)]
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
        path = Path(np.array(corners, dtype=float).reshape(-1, 2), codes * (len(corners) // 5))
        ground = PathPatch(path, facecolor=colour, alpha=0.16, linewidth=0, zorder=0)
        self.ax_.add_patch(ground)
        return ground


def input_plane(classifier: Any, X: Any) -> InputPlane:
    """Rows by their two columns, or by two principal components of more, once scaled."""
    rows = dense(X)
    names = [escaped(name) for name in column_names(classifier)]
    if rows.shape[1] == 1:
        return InputPlane(np.column_stack([rows[:, 0], np.zeros(len(rows))]), (names[0], ""))
    if rows.shape[1] == 2:
        return InputPlane(rows, (names[0], names[1]))
    pca = PCA(2, random_state=0)
    with np.errstate(invalid="ignore"):  # rows that are all alike
        points = pca.fit_transform(classifier.feature_map_.scaled(rows))
    shares = 100 * np.nan_to_num(pca.explained_variance_ratio_)
    first, second = (f" ({share:.0f}\N{NO-BREAK SPACE}%)" for share in shares)
    return InputPlane(points, (f"principal component 1{first}", f"principal component 2{second}"))


def grid_over(points: Array, across: int, down: int) -> tuple[Array, Array]:
    """A grid over the room that points take, and a little more."""
    low, high = points.min(axis=0).astype(float), points.max(axis=0).astype(float)
    margin = np.where(high > low, 0.05 * (high - low), 0.5)
    low, high = low - margin, high + margin
    return np.linspace(low[0], high[0], across), np.linspace(low[1], high[1], down)


def crossings(heights: Array, x: Array) -> list[float]:
    """Where a run of positive heights begins and ends, in turn."""
    positive = heights > 0
    changes = np.flatnonzero(positive[1:] != positive[:-1])
    before, after = heights[changes], heights[changes + 1]
    inner = x[changes] + (x[changes + 1] - x[changes]) * before / (before - after)
    return [*x[:1][positive[:1]], *inner.tolist(), *x[-1:][positive[-1:]]]


def evenly_of_each(labels: Array, most: int) -> Array:
    """Positions of at most so many rows, as many of each class if there are enough."""
    rows = [np.flatnonzero(labels == c) for c in np.unique(labels)]
    share = max(1, most // len(rows))
    drawn = [np.linspace(0, len(of_class) - 1, share).astype(int) for of_class in rows]
    parts = [of_class[np.unique(places)] for of_class, places in zip(rows, drawn, strict=True)]
    return np.sort(np.concatenate(parts))


def _votes(points: Array, scores: Array, places: Array) -> Array:
    """What most of the nearest rows get: their middle score, or their votes for each class."""
    # An odd number; of an even one the middle score would be a mean.
    k = min(NEIGHBOURS, len(points) - (len(points) % 2 == 0))
    near = NearestNeighbors(n_neighbors=max(k, 1)).fit(points).kneighbors(places)[1]
    if scores.ndim == 1:
        return np.median(scores[near], axis=1)
    chosen = predicted_classes(scores)[near]
    # A vote counts a little more the nearer its row, so that ties are broken by nearness.
    weight = 1 - np.arange(near.shape[1]) / (2.0 * near.shape[1] ** 2)
    return np.stack([((chosen == c) * weight).sum(axis=1) for c in range(scores.shape[1])], axis=1)
