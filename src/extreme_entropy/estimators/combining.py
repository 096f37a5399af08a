"""Sums of rows taken out, added and shared between classifiers: forget, merge and twins."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from ..engines.threads import in_turn
from ..errors import ForcedWarning, ForgetError, MergeError, warn
from ..features.feature_map import same
from ..moments.summary import Summary
from .fitted import FittedState, Learned
from .inputs import columns_of, fitted_columns
from .tables import as_table

DIGITS = 1e-6  # of the weight of all rows, that rounding may have taken from it


class Combinable(FittedState):
    """What follows from a fit being a sum: its terms can be subtracted, and sums be merged."""

    decision: str

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier to rows and their labels."""
        raise NotImplementedError

    def forget(self, X: Any, y: Any, sample_weight: Any = None, *, force: bool = False) -> Self:
        """Remove rows from the classifier, as if it had never learnt them.

        The feature map φ stays, with what it keeps of rows: see `redraw`. Rows that were not learnt
        are refused, and nothing changes. With up to 262 144 distinct rows learnt, all such rows are
        noticed; with more, k of them are noticed with probability 1 − (1 − s)^k, where s is the
        share of rows that the classifier can look up, 131 072 or more.

        Parameters
        ----------
        X, y, sample_weight
            Rows learnt before, as for `fit`.
        force : bool, default=False
            Remove rows even if they are not found among those learnt, say because their values
            have been rounded since. If they were never learnt, the classifier becomes wrong.

        Returns
        -------
        self
            The classifier without the rows.
        """
        with in_turn(self):
            learned = self._with_sums()
            table = as_table(self, X, y, sample_weight, reset=False, learned=True)
            summary = learned.summary
            part = table.learn(learned.feature_map, learned.classes, summary.n_folds)
            rest = without_rows(summary, part, force=force)
            self._learned, self._solved = learned._replace(summary=rest), None
            return self

    def redraw(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit again on these rows alone, so that nothing is left of any other row.

        `forget` leaves φ as it was drawn: ranges and quantiles of columns, categories and how they
        go with the classes, landmarks, weights of columns, splits between leaves, and the rows kept
        for probabilities are still those of the rows that φ was drawn from. If no trace of a row
        may be left, pass all other rows to this method. It equals `fit` of a new classifier; the
        `fit` of a twin would keep φ.

        Parameters
        ----------
        X, y, sample_weight
            All rows to learn from, as for `fit`.

        Returns
        -------
        self
            The classifier, as if just made and fitted on these rows.
        """
        with in_turn(self):
            self.__dict__ = self._unfitted().fit(X, y, sample_weight).__dict__
            return self

    def merge(self, other: Combinable, *, force: bool = False) -> Self:
        """Add everything that another classifier has learnt to this one.

        Both must have the same feature map φ: make the other one with `twin()`. `a + b` does the
        same without changing either.

        Parameters
        ----------
        other : classifier of the same kind
            A twin of this one, fitted on other rows.
        force : bool, default=False
            Merge even if this classifier has already learnt rows of the other one; they then count
            twice.

        Returns
        -------
        self
            This classifier, as if fitted on the rows of both.
        """
        if not isinstance(other, Combinable):
            raise MergeError(
                f"Only a fitted classifier can be merged; got {type(other).__name__}. Pass a twin "
                "of this classifier, fitted on other rows; `load` reads one from its file."
            )
        with in_turn(self):
            # Once: another thread may change the other meanwhile.
            mine, theirs = self._with_sums(), other._with_sums()
            _check_alike(self, other, mine, theirs)
            shared = mine.summary.rows.share_of(theirs.summary.rows, certain=True)
            if shared and not force:
                raise MergeError(
                    f"{100 * shared:.3g} % of the other classifier's rows have already been learnt "
                    "by this one and would count twice. Nothing was changed. Merge each part once; "
                    "if these are different rows that happen to be equal, use "
                    "merge(other, force=True)."
                )
            self._learned = mine._replace(summary=mine.summary + theirs.summary)
            self._solved = None
            return self

    def __add__(self, other: Combinable) -> Self:
        if not isinstance(other, Combinable):
            return NotImplemented
        return copy.copy(self).merge(other)

    def __radd__(self, other: Any) -> Self:
        # `sum(parts)` begins with 0.
        return copy.copy(self) if isinstance(other, int) and other == 0 else NotImplemented

    def twin(self) -> Self:
        """Return an empty classifier with the same φ and classes, to fit elsewhere and merge.

        Returns
        -------
        classifier
            Its `fit` and `partial_fit` keep φ, and their rows may lack some of the classes.
        """
        learned = self._with_sums()
        columns = columns_of(fitted_columns(self), learned.feature_map.encoding.kinds)
        return self._unfitted().set_fitted(columns, learned.emptied()._replace(is_twin=True))

    def __sklearn_clone__(self) -> Self:
        """A twin's clone is a twin: it keeps φ."""
        return self.twin() if self.is_twin else self._unfitted()


def without_rows(summary: Summary, part: Summary, *, force: bool) -> Summary:
    """The summary less that of rows to be forgotten, if they were learnt or it is forced."""
    unknown = summary.rows.lacks(part.rows)
    if (unknown and not force) or (part.cells > summary.most).any():
        which = f"at least {unknown}" if unknown else "some"
        raise ForgetError(
            f"You can only forget rows that were learnt; {which} of the rows passed were "
            "never learnt, or not with that weight. Nothing was changed. Pass the same rows, "
            "labels and weights that you passed to fit or partial_fit."
        )
    if unknown:
        warn(
            f"At least {unknown} of these rows were not found among those learnt, and were "
            "taken out all the same. If they were never learnt, the classifier is wrong now.",
            ForcedWarning,
        )
    rest = summary - part
    lost = rest.rows.lost(rest.counts) - summary.rows.lost(summary.counts)
    if not unknown and lost > DIGITS * max(rest.counts.sum(), 1.0):
        raise ForgetError(
            f"Rows to be forgotten must not outweigh all others; they weigh "
            f"{part.counts.sum():g}, and sums with them have lost a weight of {lost:g} of the "
            "others. Nothing was changed. Fit anew on the rows that remain: redraw."
        )
    return rest


def _check_alike(a: Combinable, b: Combinable, of_a: Learned, of_b: Learned) -> None:
    """Raise unless what two classifiers have learned can be added up."""
    if type(a) is not type(b) or not same(of_a.feature_map, of_b.feature_map):
        raise MergeError(
            "Classifiers can be merged only if they share φ (the same neurons and scaling); "
            "these two were drawn apart. Make one of them with `other = classifier.twin()` "
            "and fit that on its rows."
        )
    if not np.array_equal(of_a.classes, of_b.classes):
        raise MergeError(
            f"Classifiers can be merged only if they know the same classes; one knows "
            f"{of_a.classes.tolist()}, the other {of_b.classes.tolist()}. "
            "Pass all `classes` to the first partial_fit."
        )
    if of_a.summary.n_folds != of_b.summary.n_folds:
        raise MergeError(
            "Classifiers can be merged only if both have the same `decision`; "
            f"one has {a.decision!r}, the other {b.decision!r}."
        )
