"""Projected values βᵀφ(x) of two classes, their two Gaussians and the thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.stats import norm

from ..errors import InputError
from ..machine.decision import GaussianPair
from ..machine.machine import all_pairs
from ..shapes import Array
from .drawn_rows import inputs_to_draw, project_rows
from .style import CLASS_COLOURS, INK, OnePanel, escaped, title_and_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle, StepPatch


@dataclass(kw_only=True, eq=False, repr=False)
class ProjectionDisplay(OnePanel):
    """Picture of the projection that separates two classes.

    Histograms of the projected values of both classes, the classifier's two Gaussians and its
    thresholds. Every density integrates to one, however rare its class. Where costs balance the
    priors, as by default, the thresholds are where the Gaussians cross; others move them. An
    ExtremeEntropyClassifier projects a row to its log-odds. It does not take those to be Gaussian,
    and no curves are drawn for it.

    Parameters
    ----------
    projections : ndarray of shape (n_samples,)
        Projected values of the rows.
    positive : ndarray of bool of shape (n_samples,)
        Which rows are of the second class.
    means, variances : array-like of shape (2,)
        Those of the two Gaussians.
    thresholds : ndarray of shape (0,), (1,) or (2,)
        Where the decision changes.
    class_names : tuple of (str, str)
        Names of the classes.
    bias : float, default=0.0
        What priors and costs add to the log-odds of the second class.
    gaussian : bool, default=True
        Whether the projection is taken to be Gaussian, which is then drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    histograms_ : list of matplotlib StepPatch
        One for each class.
    gaussians_ : list of matplotlib Line2D
        One for each class; none for an ExtremeEntropyClassifier.
    threshold_lines_ : list of matplotlib Line2D
        One for each threshold among the projections; there is none for those far off.
    regions_ : list of matplotlib Rectangle
        Where each class wins; empty if not asked for.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from extreme_entropy import EEMClassifier
    >>> from extreme_entropy.plots import ProjectionDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = EEMClassifier(50, random_state=0).fit(X, y)
    >>> display = ProjectionDisplay.from_estimator(classifier, X, y)
    >>> bool((display.thresholds == classifier.thresholds_).all())
    True
    """

    projections: Array  # βᵀφ(x)                            (n,)
    positive: Array  # which rows are of the second class     (n,)
    means: Any  # of the two Gaussians                        (2,)
    variances: Any  # (2,)
    thresholds: Array  # where the decision changes           (0,), (1,) or (2,)
    class_names: tuple[str, str]
    bias: float = 0.0  # what priors and costs add to the log-odds of the second class
    gaussian: bool = True  # whether the projection is taken to be Gaussian, which is then drawn

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        pair: int = 0,
        ax: Axes | None = None,
        bins: Any = 30,
        regions: bool = True,
    ) -> Self:
        """Draw the projected values of rows.

        Parameters
        ----------
        estimator : a classifier of this library, or a pipeline that ends in one
            Fitted.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows: training rows, or new ones.
        y : array-like of shape (n_samples,)
            Their labels. Rows of other classes than the pair's are left out.
        pair : int, default=0
            Which two of more than two classes: 0 is the first and the second, 1 the first and the
            third, and so on, as in `itertools.combinations(classes_, 2)`.
        ax, bins, regions
            As for `plot`.
        """
        classifier, X, labels = inputs_to_draw(estimator, X, y, cls.__name__)
        machine, pairs = classifier.machine_, all_pairs(len(classifier.classes_))
        if not 0 <= pair < len(pairs):
            names = [tuple(classifier.classes_[list(two)].tolist()) for two in pairs]
            raise InputError(
                f"`pair` must be below {len(names)}, the number of pairs of classes; it is {pair}. "
                f"The pairs are, in this order, {names[:10]}{' …' if len(names) > 10 else ''}."
            )
        rows = np.flatnonzero(np.isin(labels, pairs[pair]))
        weights = machine.contrast(*pairs[pair]).weights
        projections = project_rows(classifier, X[rows]) @ weights if len(rows) else rows
        display = cls.from_projections(classifier, projections, labels[rows], pair=pair)
        return display.plot(ax, bins=bins, regions=regions)

    @classmethod
    def from_projections(
        cls, classifier: Any, projections: Array, labels: Array, *, pair: int = 0
    ) -> Self:
        """The picture of values that are projected already; `plot` draws it.

        Parameters
        ----------
        classifier : ExtremeEntropyClassifier, EEMClassifier or EEKMClassifier
            Fitted.
        projections : ndarray of shape (n_samples,)
            βᵀφ(x) for this pair of classes.
        labels : ndarray of int of shape (n_samples,)
            Positions in `classes_`. Rows of other classes than the pair's are left out.
        pair : int, default=0
            As for `from_estimator`.
        """
        i, j = all_pairs(len(classifier.classes_))[pair]
        contrast = classifier.machine_.contrast(i, j)
        for c in (i, j):
            if not (labels == c).any():
                raise InputError(
                    f"There must be rows of both classes to draw; y holds none of "
                    f"{classifier.classes_.tolist()[c]!r}."
                )
        rows = (labels == i) | (labels == j)
        return cls(
            projections=projections[rows],
            positive=labels[rows] == j,
            means=np.array(contrast.curve.means),
            variances=np.array(contrast.curve.variances),
            thresholds=contrast.thresholds,
            class_names=(str(classifier.classes_[i]), str(classifier.classes_[j])),
            bias=contrast.bias,
            gaussian=contrast.curve.is_gaussian,
        )

    def plot(self, ax: Axes | None = None, *, bins: Any = 30, regions: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. By default a new figure is made.
        bins : int, sequence or str, default=30
            As for `numpy.histogram_bin_edges`; both classes share them.
        regions : bool, default=True
            Shade the ground in the colour of the class that wins there.
        """
        ax = self._take(ax, (6.4, 4.2))
        edges = np.histogram_bin_edges(self.projections, bins, self._view())
        self.histograms_: list[StepPatch] = []
        self.gaussians_: list[Line2D] = []
        low, high = edges[0], edges[-1]
        for c in range(2):
            self._draw_histogram(c, edges)
            if self.gaussian:
                deviation = np.sqrt(self.variances[c])
                low = min(low, self.means[c] - 3.5 * deviation)
                high = max(high, self.means[c] + 3.5 * deviation)
                self._draw_gaussian(c, deviation)
        inside = [t for t in self.thresholds if low < t < high]
        self.threshold_lines_: list[Line2D] = [
            ax.axvline(t, color=INK, linewidth=1.4, linestyle="--") for t in inside
        ]
        ends = np.array([low, *inside, high])
        self.regions_: list[Rectangle] = self._shade(ends) if regions else []
        ax.set(xlim=(low, high), ylabel="density")
        ax.set_ylim(bottom=0)
        names = ("log-odds of the leaves", r"projection $\beta^T\varphi(x)$")
        ax.set_xlabel(names[self.gaussian])
        self._name()
        return self

    def _view(self, far: float = 5.0) -> tuple[float, float]:
        """From the least to the largest projection, but for single ones that are far off.

        Those are so many distances between quartiles from the nearer quartile of their class.
        """
        near = []
        for side in (False, True):
            values = self.projections[self.positive == side]
            first, third = np.quantile(values, [0.25, 0.75])
            reach = far * (third - first) or np.inf
            near.append(values[(values >= first - reach) & (values <= third + reach)])
        return float(min(part.min() for part in near)), float(max(part.max() for part in near))

    def _draw_histogram(self, c: int, edges: Array) -> None:
        rows = self.projections[self.positive == bool(c)]
        density = np.histogram(rows, edges)[0] / (len(rows) * np.diff(edges))
        look: dict[str, Any] = {"color": CLASS_COLOURS[c], "alpha": 0.35, "linewidth": 0}
        self.histograms_.append(self.ax_.stairs(density, edges, fill=True, **look))

    def _draw_gaussian(self, c: int, deviation: float) -> None:
        t = self.means[c] + np.linspace(-4.5, 4.5, 361) * deviation  # all but 7e-6 of it
        density, style = norm.pdf(t, self.means[c], deviation), ("-", "-.")[c]
        self.gaussians_ += self.ax_.plot(t, density, color=CLASS_COLOURS[c], linestyle=style)

    def _shade(self, ends: Array) -> list[Rectangle]:
        middles = (ends[:-1] + ends[1:]) / 2
        (m0, m1), (s0, s1) = self.means, self.variances
        wins = (GaussianPair((m0, m1), (s0, s1)).log_ratio(middles) + self.bias > 0).astype(int)
        return [
            self.ax_.axvspan(a, b, color=CLASS_COLOURS[c], alpha=0.09, linewidth=0, zorder=0)
            for a, b, c in zip(ends[:-1], ends[1:], wins, strict=True)
        ]

    def _name(self) -> None:
        handles: list[Any] = [*self.histograms_]
        if self.gaussian:
            handles = list(zip(self.histograms_, self.gaussians_, strict=True))
        labels = [escaped(name) for name in self.class_names]
        if self.threshold_lines_:
            handles.append(self.threshold_lines_[0])
            labels.append("threshold" if len(self.threshold_lines_) == 1 else "thresholds")
        title_and_legend(self.ax_, "Densities of the projection", handles, labels)
