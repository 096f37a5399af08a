"""Bars of columns: how much each matters to a classifier, or what each adds to one decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..errors import InputError
from ..metrics import predicted_classes
from ..shapes import Array
from .drawn_rows import (
    class_position,
    classifier_and_rows,
    column_names,
    own_classifier,
    predictor_of,
)
from .style import CLASS_COLOURS, INK, OnePanel, escaped, title_and_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer


@dataclass(kw_only=True, eq=False, repr=False)
class RelevanceDisplay(OnePanel):
    """Picture of how much each column matters, to a classifier or to its decision about one row.

    Horizontal bars, the largest at the top. Where there are too many columns to draw, the last bar
    is the sum of the others. Bars of one decision go to the right where the column speaks for the
    class in the title, to the left where it speaks against it.

    Parameters
    ----------
    values : ndarray of shape (n_features,)
        One for each column.
    names : sequence of str
        Names of the columns.
    title : str, default="Importance of columns"
        Title of the picture.
    label : str, default="share of all"
        What the bars measure.
    colours : tuple of (str, str), optional
        Colours of bars to the left and to the right.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
        From top to bottom.

    See Also
    --------
    ProjectionDisplay : The projection that the decision is made on.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from extreme_entropy import EEMClassifier
    >>> from extreme_entropy.plots import RelevanceDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> classifier = EEMClassifier(50, relevance="learned", random_state=0).fit(X, y)
    >>> display = RelevanceDisplay.from_estimator(classifier, max_features=5)
    >>> len(display.bars_)  # five columns and the others
    6
    >>> display = RelevanceDisplay.from_row(classifier, X[:1])
    """

    values: Array  # of each column                                        (d,)
    names: Any  # of the columns                                           (d,)
    title: str = "Importance of columns"
    label: str = "share of all"
    colours: tuple[str, str] = CLASS_COLOURS[:1] * 2  # of bars to the left, and to the right

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Axes | None = None, max_features: int = 20
    ) -> Self:
        """Draw the `feature_importances_` of a classifier.

        Parameters
        ----------
        estimator : EEMClassifier or EEKMClassifier with relevance="learned", or a pipeline that \
ends in one
            Fitted.
        ax, max_features
            As for `plot`.
        """
        classifier = own_classifier(estimator, cls.__name__)
        display = cls(values=classifier.feature_importances_, names=column_names(classifier))
        return display.plot(ax, max_features=max_features)

    @classmethod
    def from_row(
        cls,
        estimator: Any,
        X: Any,
        *,
        label: Any = None,
        ax: Axes | None = None,
        max_features: int = 20,
    ) -> Self:
        """Draw what each column adds to the decision about one row, by `explain`.

        Parameters
        ----------
        estimator : a classifier of this library, or a pipeline that ends in one
            Fitted.
        X : {array-like, sparse matrix, data frame} of shape (1, n_features)
            One row.
        label : optional
            The class that bars to the right speak for; by default the one predicted.
        ax, max_features
            As for `plot`.
        """
        classifier, X = classifier_and_rows(estimator, X, cls.__name__)
        if X.shape[0] != 1:
            raise InputError(
                f"{cls.__name__}.from_row draws one row; {X.shape[0]} came. Pass X[i : i + 1]."
            )
        predictor, classes = predictor_of(classifier), classifier.classes_.tolist()
        if label is not None:
            c = class_position(classifier, label, "label")
        else:
            c = int(predicted_classes(classifier.machine_.scores(predictor.project(X)))[0])
        (contributions,) = predictor.explain(X)
        if len(classes) == 2:
            contributions = np.stack([-contributions, contributions])
        display = cls(
            values=contributions[c],
            names=column_names(classifier),
            title=f"For class {escaped(_short(str(classes[c])))}",
            label=f"{'log-odds' if len(classes) == 2 else 'ln p'}, compared with a typical row",
            colours=CLASS_COLOURS[::-1] if len(classes) == 2 and c == 0 else CLASS_COLOURS,
        )
        return display.plot(ax, max_features=max_features)

    def plot(self, ax: Axes | None = None, *, max_features: int = 20) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. By default a new figure is made, as high as the bars need.
        max_features : int, default=20
            The largest columns that get a bar of their own.
        """
        if max_features < 1:
            raise InputError(f"`max_features` must be at least 1; it is {max_features}.")
        if len(self.names) != len(self.values):
            raise InputError(
                f"There must be a name for each column; {len(self.names)} names came for "
                f"{len(self.values)} values."
            )
        order = np.argsort(-np.abs(self.values), kind="stable")
        drawn, others = order[:max_features], order[max_features:]
        widths = [float(self.values[i]) for i in drawn]
        names = [escaped(_short(str(self.names[i]))) for i in drawn]
        if len(others):
            widths.append(float(np.sum(self.values[others])))
            names.append(f"{len(others)} other{'s' if len(others) > 1 else ''}")
        ax = self._take(ax, (6.4, 1.2 + 0.26 * len(widths)))
        colours = [self.colours[int(width > 0)] for width in widths]
        self.bars_: BarContainer = ax.barh(range(len(widths)), widths, color=colours, height=0.72)
        if len(others):
            self.bars_[-1].set_alpha(0.45)
        ax.set_yticks(range(len(widths)), names)
        ax.set(ylim=(len(widths) - 0.4, -0.6), xlabel=self.label)
        ax.tick_params(axis="y", length=0)
        if min(widths) < 0:
            ax.axvline(0, color=INK, linewidth=0.8)
        ax.spines[["top", "right", "left"]].set_visible(False)
        title_and_legend(ax, self.title)
        return self


def _short(name: str, longest: int = 40) -> str:
    """A name that fits beside the bars; beginning and end stay, since names often share one."""
    return name if len(name) <= longest else f"{name[:24]}…{name[-(longest - 25) :]}"
