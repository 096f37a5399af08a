"""The whole process, as in the paper's Fig. 2: x ↦ φ(x) ↦ βᵀφ(x) ↦ the decision on x.

Feature space is shown in the plane of β and of v, the direction across β in which Σ = Σ₊ + Σ₋ is
widest. Rows have coordinates A φ(x), A = (β, v)ᵀ, so their class has covariance A Σ± Aᵀ there, and
the thresholds, which are hyperplanes across β, are vertical lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.decomposition import PCA

from ..errors import InputError
from ..features.chunks import dense
from ..machine.covariance import shrink
from .inputs import classifier_and_rows, label_positions, project_rows, require_two_classes
from .projection import ProjectionDisplay
from .style import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    INK,
    head,
    plain,
    probability_colours,
    pyplot,
)

Array = np.ndarray[Any, Any]

MOST_POINTS = 2000  # drawn one by one
GRID = 200  # points along each side of the input space
DEVIATIONS = (1, 2)  # at which ellipses are drawn


class InputPlane(NamedTuple):
    """Rows in two dimensions."""

    points: Array  # (n, 2)
    names: tuple[str, str]  # of the axes


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
    positive : ndarray of bool of shape (n_points,)
        Which of them are of the second class.
    features : FeaturePlane
        The same rows in feature space.
    projection : ProjectionDisplay
        The projected values of all rows.
    predicted : Predicted
        Predictions of the rows.
    grid : PredictedGrid or None
        Predictions of a grid over the input space; None unless that has two columns.

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
    >>> from extreme_entropy.plots import ProcessDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> classifier = EEMClassifier(50, random_state=0).fit(X, y)
    >>> display = ProcessDisplay.from_estimator(classifier, X, y)
    >>> [ax.get_title(loc="left") for ax in display.axes_]
    ['Input space', 'Feature space', 'Densities of the projection', 'Decision in input space']
    """

    inputs: InputPlane
    positive: Array
    features: FeaturePlane
    projection: ProjectionDisplay
    predicted: Predicted
    grid: PredictedGrid | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, axes: Any = None, n_points: int = MOST_POINTS
    ) -> Self:
        """Draw the process for rows and a classifier of two classes.

        Parameters
        ----------
        estimator : EEMClassifier, EEKMClassifier, or a pipeline that ends in one
            Fitted on two classes. The input space is the classifier's, after earlier steps.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows: those learnt, or new ones.
        y : array-like of shape (n_samples,)
            Their labels, of both classes.
        axes : array-like of four matplotlib Axes, optional
            As for `plot`.
        n_points : int, default=2000
            The most rows that are drawn one by one, taken evenly. Densities are of all rows.

        Returns
        -------
        ProcessDisplay
            The picture.
        """
        pyplot(cls.__name__)
        classifier, X = classifier_and_rows(estimator, X, cls.__name__)
        require_two_classes(
            classifier, cls.__name__, ", or draw one pair with ProjectionDisplay(pair=…)"
        )
        labels = label_positions(classifier, X, y)
        projections = project_rows(classifier, X)[:, 0]
        shown = np.unique(np.linspace(0, len(labels) - 1, n_points).astype(int))
        some, positive = X[shown], labels[shown] == 1
        inputs = input_plane(classifier, some)
        return cls(
            inputs=inputs,
            positive=positive,
            features=_feature_plane(classifier, some),
            projection=ProjectionDisplay.from_projections(classifier, projections, labels),
            predicted=_predict(classifier, some),
            grid=_grid(classifier, inputs.points, X.dtype) if X.shape[1] == 2 else None,
        ).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        axes : array-like of four matplotlib Axes, optional
            Where to draw, in reading order. By default a new figure of two by two is made.

        Returns
        -------
        self
            The picture.
        """
        plt = pyplot(type(self).__name__)
        if axes is None:
            _, axes = plt.subplots(2, 2, figsize=(10, 8.6), layout="constrained")
        self.axes_ = np.ravel(axes)
        if len(self.axes_) != 4:
            raise InputError(f"There must be four axes to draw on; {len(self.axes_)} came.")
        self.figure_ = self.axes_[0].figure
        inputs, features, projection, decision = self.axes_
        self._draw_inputs(inputs)
        self._draw_features(features)
        self.projection.plot(projection)
        if self.grid is None:
            self._draw_predicted(decision)
        else:
            self._draw_boundary(decision, self.grid)
        return self

    def _scatter(self, ax: Any, points: Array, **look: Any) -> list[Any]:
        """Both classes' rows, the rarer class on top."""
        rarer = self.positive.mean() <= 0.5
        return [
            ax.scatter(
                *points[self.positive == bool(c)].T,
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

    def _draw_inputs(self, ax: Any) -> None:
        classes = self._scatter(ax, self.inputs.points)
        _name(ax, self.inputs.names)
        head(ax, "Input space", classes, [plain(name) for name in self.projection.class_names])

    def _draw_features(self, ax: Any) -> None:
        self._scatter(ax, self.features.points, alpha=0.55)
        self.ellipses_ = [
            [
                ax.plot(
                    *ellipse(mean, covariance, k).T,
                    color=colour,
                    linewidth=(2.2, 1.6)[k - 1],
                    linestyle=style,
                    zorder=5,
                )[0]
                for k in DEVIATIONS
            ]
            for mean, covariance, colour, style in zip(
                self.features.means,
                self.features.covariances,
                CLASS_COLOURS,
                ("-", "-."),
                strict=True,
            )
        ]
        handles = ax.plot([], [], color=INK)
        labels = ["1 and 2 standard deviations"]
        low, high = ax.get_xlim()
        inside = [t for t in self.projection.thresholds if low < t < high]
        lines = [ax.axvline(t, color=INK, linewidth=1.4, linestyle="--", zorder=4) for t in inside]
        if lines:
            handles, labels = [*handles, lines[0]], [*labels, "threshold" + "s" * (len(lines) > 1)]
        _name(ax, (r"$\beta^T\varphi(x)$", r"$v^T\varphi(x)$, widest across $\beta$"))
        head(ax, "Feature space", handles, labels)

    def _draw_boundary(self, ax: Any, grid: PredictedGrid) -> None:
        shades = ax.contourf(
            grid.x,
            grid.y,
            grid.predicted.probabilities,
            levels=np.linspace(0, 1, 11),
            cmap=probability_colours(0.5),
        )
        self.boundary_ = None
        if grid.predicted.decisions.min() < 0 < grid.predicted.decisions.max():
            self.boundary_ = ax.contour(
                grid.x, grid.y, grid.predicted.decisions, levels=[0.0], colors=INK, linewidths=1.8
            )
        self._scatter(ax, self.inputs.points)
        handles = [ax.plot([], [], color=INK)[0]] if self.boundary_ else []
        self._finish_decision(ax, shades, handles, ["decision changes"] * len(handles))

    def _draw_predicted(self, ax: Any) -> None:
        self.boundary_ = None
        mistaken = (self.predicted.decisions > 0) != self.positive
        for c, marker in enumerate(CLASS_MARKERS):
            for wrong in (False, True):
                rows = (self.positive == bool(c)) & (mistaken == wrong)
                shades = ax.scatter(
                    *self.inputs.points[rows].T,
                    c=self.predicted.probabilities[rows],
                    cmap=probability_colours(1.0),
                    vmin=0,
                    vmax=1,
                    s=34 if wrong else 18,
                    marker=marker,
                    edgecolors=INK if wrong else "0.6",
                    linewidths=1.4 if wrong else 0.4,
                    zorder=3 + wrong,
                )
        ring = ax.scatter([], [], s=34, c="white", edgecolors=INK, linewidths=1.4)
        self._finish_decision(ax, shades, [ring], ["misclassified"])

    def _finish_decision(self, ax: Any, shades: Any, handles: list[Any], labels: list[str]) -> None:
        name = plain(shorten(self.projection.class_names[1], 30, placeholder=" …"))
        self.colorbar_ = self.figure_.colorbar(
            shades,
            ax=ax,
            pad=0.02,
            aspect=30,
            ticks=np.linspace(0, 1, 6),
            label=f"probability of {name}",
        )
        _name(ax, self.inputs.names)
        head(ax, "Decision in input space", handles, labels)


def ellipse(mean: Array, covariance: Array, k: float) -> Array:
    """Points at k standard deviations of a Gaussian in the plane."""
    values, vectors = np.linalg.eigh(covariance)
    angles = np.linspace(0, 2 * np.pi, 181)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    return mean + k * circle @ (vectors * np.sqrt(np.maximum(values, 0))).T


def _name(ax: Any, names: tuple[str, str]) -> None:
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.locator_params(nbins=6)


def input_plane(classifier: Any, X: Any) -> InputPlane:
    """Rows by their two columns, or by two principal components of more, once scaled."""
    rows = dense(X)
    d = rows.shape[1]
    names = [str(name) for name in getattr(classifier, "feature_names_in_", [])]
    names = names or [f"column {i}" for i in range(d)]
    if d == 1:
        return InputPlane(np.column_stack([rows[:, 0], np.zeros(len(rows))]), (plain(names[0]), ""))
    if d == 2:
        return InputPlane(rows, (plain(names[0]), plain(names[1])))
    pca = PCA(2, random_state=0)
    with np.errstate(invalid="ignore"):  # rows that are all alike
        points = pca.fit_transform(classifier.feature_map_.scaling(rows))
    first, second = (f" ({share:.0%})" for share in np.nan_to_num(pca.explained_variance_ratio_))
    return InputPlane(points, (f"principal component 1{first}", f"principal component 2{second}"))


def _feature_plane(classifier: Any, X: Any) -> FeaturePlane:
    """Rows and classes in the plane of β and v."""
    beta = classifier.beta_
    classes = [shrink(classifier.summary_.of_class(c), classifier.shrinkage) for c in range(2)]
    plane = np.array([beta, _widest_across(beta, classes[0].covariance + classes[1].covariance)])
    return FeaturePlane(
        project_rows(classifier, X, plane),
        np.array([plane @ one.mean for one in classes]),
        np.array([plane @ one.covariance @ plane.T for one in classes]),
    )


def _widest_across(beta: Array, covariance: Array) -> Array:
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
    low, high = points.min(axis=0).astype(float), points.max(axis=0).astype(float)
    margin = np.where(high > low, 0.06 * (high - low), 0.5)
    x, y = np.linspace(low - margin, high + margin, GRID).T
    rows = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2).astype(dtype)
    predicted = _predict(classifier, rows)
    return PredictedGrid(x, y, Predicted(*(part.reshape(GRID, GRID) for part in predicted)))
