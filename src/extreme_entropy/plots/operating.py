"""Where a machine of two classes stands: ROC, precision–recall and reliability curves.

All three follow from the log-ratio of the two Gaussians, r(t) = ln N(m₊,S₊)[t] − ln N(m₋,S₋)[t].
The first two are of its order alone. The third is of probabilities, so it needs to know how often
the positive class comes: p = expit(r + ln(n₊/n₋)) with the counts of the very rows that are drawn,
whatever priors the machine has. The decision changes where r + bias = 0, hence at
p = expit(ln(n₊/n₋) − bias).
"""

from __future__ import annotations

from textwrap import shorten
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit
from sklearn.calibration import calibration_curve
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

from ..errors import InputError
from .projection import labels_of, machine_and_rows, project_onto, require_two_classes
from .style import CURVE_COLOURS, INK, head, plain, pyplot

Array = np.ndarray[Any, Any]

BINS = 10


class Curve(NamedTuple):
    """Points of a curve."""

    x: Array
    y: Array


class OperatingDisplay:
    """Picture of what a machine of two classes trades, and where on these curves it stands.

    Three panels: the share of positive rows found against the share of false alarms (ROC);
    precision against recall; and how often rows are positive against the probability the machine
    gives them. The point, and in the last panel the line, is where the machine's thresholds are
    under its present priors and costs.

    Parameters
    ----------
    roc, precision_recall, reliability : Curve
        The three curves, as x and y.
    roc_auc, average_precision : float
        Areas under the first two.
    point : tuple of (float, float, float)
        False-alarm rate, recall and precision of the machine. Precision is NaN where it never
        says the positive class.
    limit : float
        The probability at which the decision changes.
    share : float
        Share of positive rows.
    name : str
        Name of the positive class.

    Attributes
    ----------
    axes_ : ndarray of shape (3,) of matplotlib Axes
        ROC, precision–recall, reliability.
    curves_ : list of matplotlib Line2D
        One in each panel.
    marks_ : list of matplotlib Line2D
        The point, the point and the line.

    See Also
    --------
    ProjectionDisplay : The thresholds on the line.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from extreme_entropy import EEMClassifier
    >>> from extreme_entropy.plots import OperatingDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = EEMClassifier(50, random_state=0).fit(X, y)
    >>> display = OperatingDisplay.from_estimator(machine, X, y, positive=0)
    >>> display.name, bool(display.roc_auc > 0.9)
    ('0', True)
    """

    def __init__(
        self,
        *,
        roc: Curve,
        precision_recall: Curve,
        reliability: Curve,
        roc_auc: float,
        average_precision: float,
        point: tuple[float, float, float],
        limit: float,
        share: float,
        name: str,
    ) -> None:
        self.roc = roc
        self.precision_recall = precision_recall
        self.reliability = reliability
        self.roc_auc = roc_auc
        self.average_precision = average_precision
        self.point = point
        self.limit = limit
        self.share = share
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        positive: Any = None,
        axes: Any = None,
        bins: int = BINS,
    ) -> Self:
        """Draw the curves of rows and a machine of two classes.

        Parameters
        ----------
        estimator : EEMClassifier, EEKMClassifier, or a pipeline that ends in one
            Fitted on two classes.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows, best such as were not learnt.
        y : array-like of shape (n_samples,)
            Their labels, of both classes.
        positive : label, optional
            The class to be found; by default the rarer one in y, the second if neither is.
        axes : array-like of three matplotlib Axes, optional
            As for `plot`.
        bins : int, default=10
            Points of the reliability curve; each stands for as many rows.

        Returns
        -------
        OperatingDisplay
            The picture.
        """
        pyplot(cls.__name__)
        machine, X = machine_and_rows(estimator, X, cls.__name__)
        require_two_classes(machine, cls.__name__)
        labels = labels_of(machine, X, y)
        if positive is None:
            index = rarer(labels)
        elif positive in machine.classes_.tolist():
            index = machine.classes_.tolist().index(positive)
        else:
            raise InputError(
                f"`positive` must be one of the classes {machine.classes_.tolist()}; "
                f"it is {positive!r}."
            )
        projections = project_onto(machine, X, machine.machine_.operators)
        return cls._of(machine, projections, labels, index, bins).plot(axes)

    @classmethod
    def _of(
        cls, machine: Any, projections: Array, labels: Array, index: int, bins: int = BINS
    ) -> Self:
        """The picture of projected rows, not drawn yet; class `index` is to be found."""
        truth = labels == index
        if truth.all() or not truth.any():
            raise InputError(
                "There must be rows of both classes to draw; y holds only "
                f"{machine.classes_.tolist()[int(labels[0])]!r}."
            )
        solved, sign = machine.machine_, (-1, 1)[index]
        ratio = sign * solved.gaussians[0].log_ratio(projections[:, 0])
        said = (solved.scores(projections) > 0) == bool(index)
        stakes = solved.log_priors + solved.log_costs
        frequency = float(np.log(truth.sum() / (~truth).sum()))
        fpr, tpr, _ = roc_curve(truth, ratio)
        precision, recall, _ = precision_recall_curve(truth, ratio, drop_intermediate=True)
        seen, given = calibration_curve(
            truth, expit(ratio + frequency), n_bins=bins, strategy="quantile"
        )
        hits, alarms = int((said & truth).sum()), int((said & ~truth).sum())
        return cls(
            roc=Curve(fpr, tpr),
            precision_recall=Curve(recall, precision),
            reliability=Curve(given, seen),
            roc_auc=float(auc(fpr, tpr)),
            average_precision=float(average_precision_score(truth, ratio)),
            point=(
                alarms / int((~truth).sum()),
                hits / int(truth.sum()),
                hits / (hits + alarms) if hits + alarms else float("nan"),
            ),
            limit=float(expit(frequency - sign * (stakes[1] - stakes[0]))),
            share=float(truth.mean()),
            name=str(machine.classes_[index]),
        )

    def plot(self, axes: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        axes : array-like of three matplotlib Axes, optional
            Where to draw: ROC, precision–recall, reliability. By default a new figure is made.

        Returns
        -------
        self
            The picture.
        """
        plt = pyplot(type(self).__name__)
        if axes is None:
            _, axes = plt.subplots(1, 3, figsize=(12.6, 4.4), layout="constrained")
        self.axes_ = np.ravel(axes)
        if len(self.axes_) != 3:
            raise InputError(f"There must be three axes to draw on; {len(self.axes_)} came.")
        drawn = [self._draw(panel, ax) for panel, ax in enumerate(self.axes_)]
        self.curves_, self.marks_ = (list(part) for part in zip(*drawn, strict=True))
        return self

    def _draw(self, panel: int, ax: Any) -> tuple[Any, Any]:
        """One of the panels: its curve and its mark."""
        alarms, recall, precision = self.point
        chance = {"color": INK, "linewidth": 0.8, "linestyle": ":", "zorder": 0}
        look = {"color": CURVE_COLOURS[2], "linewidth": 2}
        dot = {"marker": "o", "markersize": 9, "markeredgewidth": 1.6, "linestyle": "none"}
        dot |= {"markerfacecolor": "white", "markeredgecolor": INK, "zorder": 5}
        if panel == 0:
            (curve,) = ax.plot(*self.roc, **look)
            (mark,) = ax.plot([alarms], [recall], **dot)
        elif panel == 1:
            (curve,) = ax.plot(*self.precision_recall, drawstyle="steps-post", **look)
            (mark,) = ax.plot([recall], [precision], **dot)
        else:
            (curve,) = ax.plot(*self.reliability, marker="o", markersize=4, **look)
            mark = ax.axvline(self.limit, color=INK, linewidth=1.4, linestyle="--")
        if panel == 1:
            ax.axhline(self.share, **chance)
        else:
            ax.plot([0, 1], [0, 1], **chance)
        x, y, title = self._names()[panel]
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=x, ylabel=y)
        head(ax, title, [], [])
        return curve, mark

    def _names(self) -> list[tuple[str, str, str]]:
        """Of the axes and of the panel."""
        name = plain(shorten(self.name, 24, placeholder=" …"))
        return [
            ("false alarms", f"found of {name}", f"ROC, area {self.roc_auc:.3f}"),
            ("recall", "precision", f"Precision and recall, area {self.average_precision:.3f}"),
            (f"probability given to {name}", f"how often {name}", "Reliability"),
        ]


def rarer(labels: Array) -> int:
    """The class of two with fewer rows; the second where both have as many."""
    return int(2 * (labels == 1).sum() <= len(labels))
