"""The line of two classes: their projections βᵀφ(x), the two Gaussians and the thresholds."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.stats import norm
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..errors import InputError
from ..machine.decision import GaussianPair
from ..machine.projection import project
from .style import CLASS_COLOURS, INK, head, plain, pyplot

Array = np.ndarray[Any, Any]

BINS = 30
REACH = 4.5  # standard deviations of a Gaussian that are drawn: all but 7e-6 of it
IN_VIEW = 3.5  # that are always in view


class ProjectionDisplay:
    """Picture of the line on which two classes are told apart.

    Histograms of the projections of both classes, the machine's two Gaussians and its thresholds.
    Every density integrates to one, however rare its class. With equal priors and costs the
    thresholds are therefore where the Gaussians cross; other priors and costs move them.

    Parameters
    ----------
    projections : ndarray of shape (n_samples,)
        βᵀφ(x).
    positive : ndarray of bool of shape (n_samples,)
        Which rows are of the second class.
    means, variances : array-like of shape (2,)
        The two Gaussians.
    thresholds : ndarray of shape (0,), (1,) or (2,)
        Where the decision changes.
    class_names : tuple of (str, str)
        Names of the two classes.
    bias : float, default=0.0
        What priors and costs add to the log-odds of the second class.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    histograms_ : list of matplotlib StepPatch
        One for each class.
    gaussians_ : list of matplotlib Line2D
        One for each class.
    threshold_lines_ : list of matplotlib Line2D
        One for each threshold.
    regions_ : list of matplotlib Rectangle
        Where each class wins; empty if not asked for.

    See Also
    --------
    ProcessDisplay : The line beside input and feature space.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from extreme_entropy import EEMClassifier
    >>> from extreme_entropy.plots import ProjectionDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = EEMClassifier(50, random_state=0).fit(X, y)
    >>> display = ProjectionDisplay.from_estimator(machine, X, y)
    >>> len(display.threshold_lines_) == len(machine.thresholds_)
    True
    """

    def __init__(
        self,
        *,
        projections: Array,
        positive: Array,
        means: Any,
        variances: Any,
        thresholds: Array,
        class_names: tuple[str, str],
        bias: float = 0.0,
    ) -> None:
        self.projections = projections
        self.positive = positive
        self.means = means
        self.variances = variances
        self.thresholds = thresholds
        self.class_names = class_names
        self.bias = bias

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        pair: int = 0,
        ax: Any = None,
        bins: Any = BINS,
        regions: bool = True,
    ) -> Self:
        """Draw rows on the line of a machine.

        Parameters
        ----------
        estimator : EEMClassifier, EEKMClassifier, or a pipeline that ends in one
            Fitted.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows: those learnt, or new ones.
        y : array-like of shape (n_samples,)
            Their labels. Rows of other classes than the pair's are left out.
        pair : int, default=0
            Which two of more than two classes, as an index into `machine_.pairs`.
        ax, bins, regions
            As for `plot`.

        Returns
        -------
        ProjectionDisplay
            The picture.
        """
        pyplot(cls.__name__)
        machine, X = machine_and_rows(estimator, X, cls.__name__)
        labels = labels_of(machine, X, y)
        display = cls._of(machine, X, labels, pair)
        return display.plot(ax, bins=bins, regions=regions)

    @classmethod
    def _of(cls, machine: Any, X: Any, labels: Array, pair: int) -> Self:
        """The picture of checked rows, not drawn yet."""
        solved = machine.machine_
        if not 0 <= pair < len(solved.pairs):
            names = [tuple(machine.classes_[list(two)].tolist()) for two in solved.pairs]
            raise InputError(
                f"`pair` must be below {len(names)}, the number of pairs of classes; it is {pair}. "
                f"The pairs are, in this order, {names[:10]}{' …' if len(names) > 10 else ''}."
            )
        rows = np.flatnonzero(np.isin(labels, solved.pairs[pair]))
        projections = np.full((len(labels), len(solved.pairs)), np.nan)
        if len(rows):
            line = project_onto(machine, X[rows], solved.operators[[pair]])
            projections[rows, pair] = line[:, 0]
        return cls._on_line(machine, projections, labels, pair)

    @classmethod
    def _on_line(cls, machine: Any, projections: Array, labels: Array, pair: int) -> Self:
        """The picture of rows that are projected already."""
        solved = machine.machine_
        i, j = solved.pairs[pair]
        for c in (i, j):
            if not (labels == c).any():
                raise InputError(
                    f"There must be rows of both classes to draw; y holds none of "
                    f"{machine.classes_.tolist()[c]!r}."
                )
        rows = np.flatnonzero((labels == i) | (labels == j))
        gaussian = solved.gaussians[pair]
        stakes = solved.log_priors + solved.log_costs
        return cls(
            projections=projections[rows, pair],
            positive=labels[rows] == j,
            means=np.array(gaussian.means),
            variances=np.array(gaussian.variances),
            thresholds=solved.thresholds[pair],
            class_names=(str(machine.classes_[i]), str(machine.classes_[j])),
            bias=float(stakes[j] - stakes[i]),
        )

    def plot(self, ax: Any = None, *, bins: Any = BINS, regions: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. By default a new figure is made.
        bins : int, sequence or str, default=30
            As for `numpy.histogram_bin_edges`; both classes share them.
        regions : bool, default=True
            Shade the line in the colour of the class that wins there.

        Returns
        -------
        self
            The picture.
        """
        plt = pyplot(type(self).__name__)
        if ax is None:
            _, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        edges = np.histogram_bin_edges(self.projections, bins)
        self.histograms_: list[Any] = []
        self.gaussians_: list[Any] = []
        for c, colour in enumerate(CLASS_COLOURS):
            self._draw_class(c, colour, edges)
        self.threshold_lines_ = [
            ax.axvline(t, color=INK, linewidth=1.4, linestyle="--") for t in self.thresholds
        ]
        reach = IN_VIEW * np.sqrt(self.variances)
        low = min(edges[0], *(np.asarray(self.means) - reach))
        high = max(edges[-1], *(np.asarray(self.means) + reach))
        self.regions_ = self._shade(low, high) if regions else []
        ax.set_xlim(low, high)
        ax.set_ylim(bottom=0)
        ax.set_xlabel(r"projection $\beta^T\varphi(x)$")
        ax.set_ylabel("density")
        self._name(low, high)
        return self

    def _draw_class(self, c: int, colour: str, edges: Array) -> None:
        rows = self.projections[self.positive == bool(c)]
        density, _ = np.histogram(rows, edges, density=True)
        self.histograms_.append(
            self.ax_.stairs(density, edges, fill=True, color=colour, alpha=0.35, linewidth=0)
        )
        deviation = np.sqrt(self.variances[c])
        t = self.means[c] + np.linspace(-REACH, REACH, 361) * deviation
        self.gaussians_ += self.ax_.plot(
            t, norm.pdf(t, self.means[c], deviation), color=colour, linestyle=("-", "-.")[c]
        )

    def _shade(self, low: float, high: float) -> list[Any]:
        inside = [t for t in self.thresholds if low < t < high]
        ends = np.array([low, *inside, high])
        middles = (ends[:-1] + ends[1:]) / 2
        (m0, m1), (s0, s1) = self.means, self.variances
        odds = GaussianPair((m0, m1), (s0, s1))
        wins = (odds.log_ratio(middles) + self.bias > 0).astype(int)
        return [
            self.ax_.axvspan(a, b, color=CLASS_COLOURS[c], alpha=0.09, linewidth=0, zorder=0)
            for a, b, c in zip(ends[:-1], ends[1:], wins, strict=True)
        ]

    def _name(self, low: float, high: float) -> None:
        handles: list[Any] = list(zip(self.histograms_, self.gaussians_, strict=True))
        labels = [plain(name) for name in self.class_names]
        if self.threshold_lines_:
            handles.append(self.threshold_lines_[0])
            labels.append(_threshold_label(self.thresholds, low, high))
        head(self.ax_, "Densities on the line", handles, labels)


def _threshold_label(thresholds: Array, low: float, high: float) -> str:
    """The legend's word for thresholds; it tells where those out of view are."""
    far = [f"{t:.3g}" for t in thresholds if not low < t < high]
    word = "threshold" if len(thresholds) == 1 else "thresholds"
    if not far:
        return word
    return f"{word} ({'also ' if len(far) < len(thresholds) else ''}at {', '.join(far)})"


def machine_and_rows(estimator: Any, X: Any, who: str) -> tuple[Any, Any]:
    """The fitted machine in an estimator, and rows as they reach it."""
    machine = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if not hasattr(type(machine), "machine_"):
        raise InputError(
            f"{who} draws Extreme Entropy Machines; {type(machine).__name__} is none. "
            "Pass an EEMClassifier, an EEKMClassifier, or a pipeline that ends in one."
        )
    check_is_fitted(machine)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        X = estimator[:-1].transform(X)
    X = validate_data(machine, X, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32))
    return machine, X


def require_two_classes(machine: Any, who: str, instead: str = "") -> None:
    """Refuse machines of more classes; `instead` is what else could be done."""
    if len(machine.classes_) != 2:
        raise InputError(
            f"{who} draws two classes; this machine knows {len(machine.classes_)}. "
            f"Fit a machine on two of them{instead}."
        )


def labels_of(machine: Any, X: Any, y: Any) -> Array:
    """Labels as positions in the machine's classes, one for each row."""
    y = column_or_1d(y)
    if len(y) != X.shape[0]:
        raise InputError(f"There must be a label for each row; X has {X.shape[0]}, y {len(y)}.")
    classes = machine.classes_
    strange = np.setdiff1d(y, classes)
    if len(strange):
        raise InputError(
            f"Labels must be among the machine's classes {classes.tolist()}; y also holds "
            f"{strange[:5].tolist()}."
        )
    return np.searchsorted(classes, y)


def project_onto(machine: Any, X: Any, operators: Array) -> Array:
    """Checked rows on the lines of operators on φ, one column each."""
    # Not `machine.project`, which would miss the column names of rows that are already checked.
    phi = machine.feature_map_.in_precision(X.dtype)
    readout = machine.feature_map_.readout(operators).T.astype(X.dtype)
    return project(phi, X, readout).astype(np.float64, copy=False)
