"""The operating point of a classifier on its ROC, precision–recall and reliability curves.

All three follow from the log-ratio of the two Gaussians, r(t) = ln N(m₊,S₊)[t] − ln N(m₋,S₋)[t].
The first two depend on its order alone. The third is of probabilities, so it needs the frequency of
the positive class: p = expit(r + ln(n₊/n₋)) with the counts of the very rows that are drawn,
whatever priors the classifier has. The decision changes where r + bias = 0, hence at
p = expit(ln(n₊/n₋) − bias).
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

import numpy as np
from scipy.special import expit
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

from ..errors import InputError
from ..shapes import Array
from .drawn_rows import class_position, inputs_to_draw, project_rows
from .style import CURVE_COLOURS, INK, axes_to_draw_on, escaped, figure_of, ring, title_and_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


Panel = Literal["roc", "precision_recall", "reliability"]


# What guessing would give.
CHANCE: dict[str, Any] = {"color": INK, "linewidth": 0.8, "linestyle": ":", "zorder": 0}


class Curve(NamedTuple):
    """Points of a curve."""

    x: Array
    y: Array


@dataclass(kw_only=True, eq=False, repr=False)
class OperatingDisplay:
    """Picture of what a classifier of two classes trades, and its operating point on the curves.

    Three panels: the share of positive rows found against the share of false alarms (ROC);
    precision against recall; and how often rows are positive against their predicted probability.
    The point, and in the last panel the vertical line, is where the thresholds are under the
    present priors and costs. Where the class to be found is rarer than one row in twenty, false
    alarms and probabilities are on logarithmic scales, and each point of the last panel stands for
    as many rows of that class; otherwise all would lie in a corner.

    Parameters
    ----------
    roc, precision_recall, reliability : Curve
        Points of each curve, with fields `x` and `y`.
    roc_auc : float
        Area under the ROC curve.
    average_precision : float
        Average precision.
    point : tuple of (float, float, float)
        False-alarm rate, recall and precision of the predictions; precision is NaN where the class
        is never predicted.
    limit : float
        The probability at which the decision changes.
    share : float
        Share of positive rows.
    name : str
        Name of the positive class.
    floors : tuple of (float, float), optional
        Where the logarithmic axes of false alarms and of probabilities begin; linear if None.

    Attributes
    ----------
    axes_ : ndarray of shape (3,) of matplotlib Axes
        ROC, precision–recall, reliability.
    figure_ : matplotlib Figure
        What holds them.
    curves_ : list of matplotlib Line2D
        One in each panel.
    marks_ : list of matplotlib Line2D
        Two points, and a vertical line in the last panel.

    See Also
    --------
    ProjectionDisplay : The thresholds among projected values.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from extreme_entropy import EEMClassifier
    >>> from extreme_entropy.plots import OperatingDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = EEMClassifier(50, random_state=0).fit(X, y)
    >>> display = OperatingDisplay.from_estimator(classifier, X, y, positive=0)
    >>> display.name, bool(display.roc_auc > 0.9)
    ('0', True)
    """

    roc: Curve
    precision_recall: Curve
    reliability: Curve
    roc_auc: float
    average_precision: float
    point: tuple[float, float, float]  # false-alarm rate, recall, precision (NaN: never predicted)
    limit: float  # the probability at which the decision changes
    share: float  # of positive rows
    name: str  # of the positive class
    # The least rate of false alarms, and the least probability, on logarithmic scales.
    floors: tuple[float, float] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        positive: Any = None,
        axes: Any = None,
        bins: int = 10,
    ) -> Self:
        """Draw the curves of rows and a classifier of two classes.

        Parameters
        ----------
        estimator : a classifier of this library, or a pipeline that ends in one
            Fitted on two classes.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows, preferably held out.
        y : array-like of shape (n_samples,)
            Their labels, of both classes.
        positive : label, optional
            The class to be found; by default the rarer one in y, the second if neither is.
        axes : array-like of three matplotlib Axes, optional
            As for `plot`.
        bins : int, default=10
            Points of the reliability curve; each stands for as many rows, or of a rare class for
            as many rows of it.
        """
        classifier, X, labels = inputs_to_draw(estimator, X, y, cls.__name__, two_classes="")
        if positive is None:
            index = int(2 * (labels == 1).sum() <= len(labels))
        else:
            index = class_position(classifier, positive, "positive")
        projections = project_rows(classifier, X)[:, 0]
        display = cls.from_projections(classifier, projections, labels, positive=index, bins=bins)
        return display.plot(axes)

    @classmethod
    def from_projections(
        cls, classifier: Any, projections: Array, labels: Array, *, positive: int, bins: int = 10
    ) -> Self:
        """The picture of values that are projected already; `plot` draws it.

        Parameters
        ----------
        classifier : ExtremeEntropyClassifier, EEMClassifier or EEKMClassifier
            Fitted on two classes.
        projections : ndarray of shape (n_samples,)
            βᵀφ(x).
        labels : ndarray of int of shape (n_samples,)
            Positions in `classes_`.
        positive : int
            Position of the class to be found.
        bins : int, default=10
            Points of the reliability curve.
        """
        truth = labels == positive
        if truth.all() or not truth.any():
            raise InputError(
                "There must be rows of both classes to draw; y holds only "
                f"{classifier.classes_.tolist()[int(labels[0])]!r}."
            )
        machine, sign = classifier.machine_, (-1, 1)[positive]
        ratio = sign * machine.curves[0].log_ratio(projections)
        predicted = (machine.scores(projections[:, np.newaxis]) > 0) == bool(positive)
        frequency = float(np.log(truth.sum() / (~truth).sum()))
        fpr, tpr, _ = roc_curve(truth, ratio)
        precision, recall, _ = precision_recall_curve(truth, ratio, drop_intermediate=True)
        rare = bool(truth.mean() < 0.05)  # scales are logarithmic then
        reliability = _reliability(truth, expit(ratio + frequency), bins, rare)
        least = min(reliability.x.min(), reliability.y.min())
        hits, alarms = int((predicted & truth).sum()), int((predicted & ~truth).sum())
        return cls(
            roc=Curve(fpr, tpr),
            precision_recall=Curve(recall, precision),
            reliability=reliability,
            roc_auc=float(auc(fpr, tpr)),
            average_precision=float(average_precision_score(truth, ratio)),
            point=(
                alarms / int((~truth).sum()),
                hits / int(truth.sum()),
                hits / (hits + alarms) if hits + alarms else float("nan"),
            ),
            limit=float(expit(frequency - sign * classifier.machine_.contrast(0, 1).bias)),
            share=float(truth.mean()),
            name=str(classifier.classes_[positive]),
            floors=(0.5 / float((~truth).sum()), float(least) / 2) if rare else None,
        )

    def plot(self, axes: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        axes : array-like of three matplotlib Axes, optional
            Where to draw: ROC, precision–recall, reliability. By default a new figure is made.
        """
        self.axes_: Array = np.array(axes_to_draw_on(type(self).__name__, axes, 3, (12.6, 4.4)))
        self.figure_: Figure = figure_of(self.axes_[0])
        drawn = [self.plot_panel(p, ax) for p, ax in zip(get_args(Panel), self.axes_, strict=True)]
        self.curves_: list[Line2D] = [curve for curve, _ in drawn]
        self.marks_: list[Line2D] = [mark for _, mark in drawn]
        return self

    def plot_panel(self, panel: Panel, ax: Axes) -> tuple[Line2D, Line2D]:
        """Draw one of the panels: its curve, and the mark of the operating point.

        Parameters
        ----------
        panel : {"roc", "precision_recall", "reliability"}
            Which curve.
        ax : matplotlib Axes
            Where to draw it.

        Returns
        -------
        tuple of (Line2D, Line2D)
            The curve and the mark.
        """
        draw = {
            "roc": self._draw_roc,
            "precision_recall": self._draw_precision,
            "reliability": self._draw_reliability,
        }[panel]
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        return draw(ax, escaped(shorten(self.name, 24, placeholder=" …")))

    def _draw_roc(self, ax: Axes, name: str) -> tuple[Line2D, Line2D]:
        alarms, recall, _ = self.point
        least = 0.0
        if self.floors is not None:
            least = self.floors[0]
            ax.set(xscale="log", xlim=(least, 1.2))
        ax.set(xlabel="false alarms", ylabel=f"found of {name}")
        title_and_legend(ax, f"ROC, area {self.roc_auc:.3f}")
        self._draw_diagonal(ax)
        curve = _line(ax, Curve(np.maximum(self.roc.x, least), self.roc.y))
        return curve, ring(ax, max(alarms, least), recall, 9, "white")

    def _draw_precision(self, ax: Axes, name: str) -> tuple[Line2D, Line2D]:
        _, recall, precision = self.point
        ax.set(xlabel="recall", ylabel="precision")
        title_and_legend(ax, f"Precision and recall, area {self.average_precision:.3f}")
        ax.axhline(self.share, **CHANCE)
        curve = _line(ax, self.precision_recall, drawstyle="steps-post")
        return curve, ring(ax, recall, precision, 9, "white")

    def _draw_reliability(self, ax: Axes, name: str) -> tuple[Line2D, Line2D]:
        if self.floors is not None:
            ends = (self.floors[1], 1.2)
            ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
        ax.set(xlabel=f"probability of {name}", ylabel=f"frequency of {name}")
        title_and_legend(ax, "Reliability")
        self._draw_diagonal(ax)
        curve = _line(ax, self.reliability, marker="o", markersize=4)
        return curve, ax.axvline(self.limit, color=INK, linewidth=1.4, linestyle="--")

    def _draw_diagonal(self, ax: Axes) -> None:
        t = np.linspace(0, 1, 2) if self.floors is None else np.geomspace(1e-12, 1, 200)
        ax.plot(t, t, **CHANCE)


def _line(ax: Axes, curve: Curve, **look: Any) -> Line2D:
    return ax.plot(curve.x, curve.y, color=CURVE_COLOURS[2], linewidth=2, **look)[0]


def _reliability(truth: Array, p: Array, bins: int, rare: bool) -> Curve:
    """Mean probability and frequency of parts with as many rows each, or as many positive ones."""
    if rare:
        hits = np.sort(p[truth])
        ends = np.array([part[-1] for part in np.array_split(hits, min(bins, len(hits)))][:-1])
    else:
        ends = np.percentile(p, np.linspace(0, 100, bins + 1))[1:-1]
    parts = np.searchsorted(ends, p)  # rows of equal probability stay together
    n = np.bincount(parts)
    means, shares = (np.bincount(parts, values)[n > 0] / n[n > 0] for values in (p, truth))
    return Curve(means, shares)
