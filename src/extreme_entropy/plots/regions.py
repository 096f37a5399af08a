"""What the machine decides over a plane of its columns.

One or two columns are a plane, and the machine is asked at every point of a grid. More columns are
seen in the plane of their first two principal components, after the machine's scaling. A point of
that plane is no row, so there the ground has the colour that most of its nearest rows get.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.neighbors import NearestNeighbors

from .process import input_plane
from .projection import labels_of, machine_and_rows, project_onto
from .style import CLASS_COLOURS, CURVE_COLOURS, CURVE_MARKERS, INK, head, plain, pyplot

Array = np.ndarray[Any, Any]

MOST_POINTS = 800  # drawn one by one, of all classes together
ACROSS, DOWN = 80, 120  # points of the grid
NEIGHBOURS = 15  # odd, so that two classes never tie


class RegionsDisplay:
    """Picture of the regions a machine gives to each class, with rows on them.

    With one or two columns the ground is what the machine decides at that very point. With more,
    rows lie in the plane of their first two principal components, after the machine's scaling, and
    the ground is what it decides for most of the 15 rows drawn nearest. Rows that the machine takes
    for another class are ringed.

    Parameters
    ----------
    points : ndarray of shape (n_points, 2)
        Rows in the plane.
    labels : ndarray of int of shape (n_points,)
        Their classes.
    own : ndarray of shape (n_points,) or (n_points, n_classes)
        Their scores, as in `scores`.
    x, y : ndarray of shape (80,), (120,)
        The grid.
    scores : ndarray of shape (120, 80) or (120, 80, n_classes)
        What decides at each point of the grid: positive means the second class; with more classes
        the largest wins.
    exact : bool
        Whether the ground is the machine's answer itself.
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
        Around rows taken for another class.

    See Also
    --------
    ProcessDisplay : Probabilities in input space, beside feature space and the line.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from extreme_entropy import EEMClassifier
    >>> from extreme_entropy.plots import RegionsDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> machine = EEMClassifier(50, random_state=0).fit(X, y)
    >>> RegionsDisplay.from_estimator(machine, X, y).exact
    True
    """

    def __init__(
        self,
        *,
        points: Array,
        labels: Array,
        own: Array,
        x: Array,
        y: Array,
        scores: Array,
        exact: bool,
        class_names: list[str],
        axis_names: tuple[str, str],
    ) -> None:
        self.points = points
        self.labels = labels
        self.own = own
        self.x = x
        self.y = y
        self.scores = scores
        self.exact = exact
        self.class_names = class_names
        self.axis_names = axis_names

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, n_points: int = MOST_POINTS
    ) -> Self:
        """Draw rows and the machine's regions.

        Parameters
        ----------
        estimator : EEMClassifier, EEKMClassifier, or a pipeline that ends in one
            Fitted. The plane is of the machine's columns, after earlier steps.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels.
        ax : matplotlib Axes, optional
            As for `plot`.
        n_points : int, default=800
            The most rows that are drawn, evenly taken of each class, and as many of each if there
            are enough.

        Returns
        -------
        RegionsDisplay
            The picture.
        """
        pyplot(cls.__name__)
        machine, X = machine_and_rows(estimator, X, cls.__name__)
        labels = labels_of(machine, X, y)
        shown = evenly_of_each(labels, n_points)
        return cls._of(machine, X[shown], labels[shown]).plot(ax)

    @classmethod
    def _of(cls, machine: Any, X: Any, labels: Array) -> Self:
        """The picture of all of these rows, not drawn yet."""
        plane = input_plane(machine, X)
        points = np.asarray(plane.points, dtype=float)
        solved = machine.machine_
        own = solved.scores(project_onto(machine, X, solved.operators))
        x, y = grid(points)
        places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        exact = X.shape[1] <= 2
        if exact:
            rows = places[:, : X.shape[1]].astype(X.dtype)
            scores = solved.scores(project_onto(machine, rows, solved.operators))
        else:
            scores = _votes(points, own, places)
        return cls(
            points=points,
            labels=labels,
            own=own,
            x=x,
            y=y,
            scores=scores.reshape(DOWN, ACROSS, *own.shape[1:]),
            exact=exact,
            class_names=[str(label) for label in machine.classes_],
            axis_names=plane.names,
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. By default a new figure is made.

        Returns
        -------
        self
            The picture.
        """
        plt = pyplot(type(self).__name__)
        if ax is None:
            _, ax = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        n = len(self.class_names)
        colours = CLASS_COLOURS if n == 2 else CURVE_COLOURS
        self.grounds_ = [self._ground(c, colours[c % len(colours)]) for c in range(n)]
        order = np.argsort(-np.bincount(self.labels, minlength=n), kind="stable")
        drawn = {int(c): self._rows(int(c), colours[c % len(colours)]) for c in order}
        self.rows_ = [drawn[c] for c in range(n)]
        wrong = self.points[self.labels != decide(self.own)]
        self.rings_ = ax.scatter(
            *wrong.T, s=52, facecolors="none", edgecolors=INK, linewidths=1.2, zorder=4
        )
        ax.set(xlim=self.x[[0, -1]], ylim=self.y[[0, -1]])
        ax.set_xlabel(self.axis_names[0])
        ax.set_ylabel(self.axis_names[1])
        labels = [plain(name) for name in self.class_names] + ["taken for another class"]
        head(ax, "What the machine decides", [*self.rows_, self.rings_], labels)
        return self

    def _ground(self, c: int, colour: str) -> Any:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        if self.scores.ndim == 2:
            # A score of zero is the first class's, as `predict` has it.
            decisive = np.where(self.scores == 0, -np.finfo(float).tiny, self.scores)
            heights = decisive if c else -decisive
        else:
            others = np.delete(self.scores, c, axis=2).max(axis=2)
            heights = self.scores[:, :, c] - others
        boxes = [
            [(a, low), (b, low), (b, high), (a, high), (a, low)]
            for a, b, low, high in strips(heights, self.x, self.y)
        ]
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
        corners = np.array(boxes, dtype=float).reshape(-1, 2)
        path = Path(corners, codes * len(boxes))
        return self.ax_.add_patch(
            PathPatch(path, facecolor=colour, alpha=0.16, linewidth=0, zorder=0)
        )

    def _rows(self, c: int, colour: str) -> Any:
        return self.ax_.scatter(
            *self.points[self.labels == c].T,
            s=20,
            marker=CURVE_MARKERS[0 if c == 0 else c + 1] if c < 7 else "o",
            color=colour,
            edgecolors="white",
            linewidths=0.4,
            zorder=2,
        )


def strips(heights: Array, x: Array, y: Array) -> list[tuple[float, float, float, float]]:
    """Boxes (left, right, bottom, top) that cover where heights on a grid are positive.

    Each row of the grid is a strip; along it, heights are taken as straight between two points.
    """
    half = (y[1] - y[0]) / 2
    boxes = []
    for line, middle in zip(heights, y, strict=True):
        ends = crossings(line, x)
        boxes += [
            (a, b, middle - half, middle + half) for a, b in zip(ends[::2], ends[1::2], strict=True)
        ]
    return boxes


def crossings(line: Array, x: Array) -> list[float]:
    """Where a run of positive heights begins and ends, in turn."""
    positive = line > 0
    changes = np.flatnonzero(positive[1:] != positive[:-1])
    before, after = line[changes], line[changes + 1]
    inner = x[changes] + (x[changes + 1] - x[changes]) * before / (before - after)
    return [*x[:1][positive[:1]], *inner.tolist(), *x[-1:][positive[-1:]]]


def grid(points: Array) -> tuple[Array, Array]:
    """A grid over the room that points take, and a little more."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, 0.05 * (high - low), 0.5)
    low, high = low - margin, high + margin
    return np.linspace(low[0], high[0], ACROSS), np.linspace(low[1], high[1], DOWN)


def decide(scores: Array) -> Array:
    """Classes by their scores, as `predict` has them."""
    return (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


def evenly_of_each(labels: Array, most: int) -> Array:
    """Positions of at most so many rows, as many of each class if there are enough."""
    present = np.unique(labels)
    share = max(1, most // len(present))
    kept = [np.flatnonzero(labels == c) for c in present]
    return np.sort(
        np.concatenate([k[np.unique(np.linspace(0, len(k) - 1, share).astype(int))] for k in kept])
    )


def _votes(points: Array, scores: Array, places: Array) -> Array:
    """What most of the nearest rows get: their middle score, or their votes for each class."""
    # An odd number; of an even one the middle score would be a mean.
    k = min(NEIGHBOURS, len(points) - (len(points) % 2 == 0))
    near = NearestNeighbors(n_neighbors=max(k, 1)).fit(points).kneighbors(places)[1]
    if scores.ndim == 1:
        return np.median(scores[near], axis=1)
    chosen = decide(scores)[near]
    # A vote counts a little more the nearer its row, so that ties are broken by nearness.
    weight = 1 - np.arange(near.shape[1]) / (2.0 * near.shape[1] ** 2)
    return np.stack([((chosen == c) * weight).sum(axis=1) for c in range(scores.shape[1])], axis=1)
