"""φ as a transformer: the features of a fitted classifier, for other steps of a pipeline."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..engines.threads import Threads, dense, filled
from ..features.feature_map import FeatureMap
from ..shapes import Array
from .docstrings import with_shared_texts
from .tables import InMemory, answer_rows


@with_shared_texts
class FeatureTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """`transform` and `get_feature_names_out` of classifiers with one feature map."""

    n_jobs: int | None

    def transform(self, X: Any) -> Array:
        """Turn rows into features φ(x), for another model.

        A classifier in the middle of a pipeline passes its features on, as random neurons or a
        kernel approximation for the model that follows.

        Parameters
        ----------
        {X}

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            Features, in the precision of X; lazy where X is.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> from extreme_entropy import EEKMClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> pipeline = make_pipeline(
        ...     EEKMClassifier(50, random_state=0), LogisticRegression(max_iter=1000)
        ... )
        >>> pipeline.fit(X, y).score(X, y) > 0.95
        True
        """
        return self._features(X, learnt=False)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Fit, and return the features of the rows as they were learnt.

        They are those of `fit(X, y).transform(X)`, except for columns of many categories: there a
        row gets the log-odds of the classes among rows of other folds, so that its own label does
        not leak into its features.

        Parameters
        ----------
        X, y
            Rows and labels, as for `fit`.
        **fit_params : dict
            Further arguments of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            Features, in the precision of X; lazy where X is.
        """
        fitted: Any = self
        fitted.fit(X, y, **fit_params)
        return self._features(X, learnt=True)

    def _features(self, X: Any, *, learnt: bool) -> Array:
        """φ of rows, which were perhaps learnt."""
        check_is_fitted(self)
        phi = self.feature_map_
        return answer_rows(self, X, partial(_features, phi, learnt), "features")

    @property
    def _n_features_out(self) -> int:
        return self.feature_map_.h


def _features(phi: FeatureMap, learnt: bool, rows: InMemory) -> Array:
    """φ of checked rows, perhaps of none, and perhaps as they were learnt."""
    X = rows.to_learn(phi) if learnt else rows.X
    leaf = phi.only().in_precision(X.dtype)
    features = np.empty((X.shape[0], phi.h), X.dtype)
    threads, widths = Threads(rows.n_jobs), (X.shape[1], phi.h)
    return filled(features, lambda s: leaf(phi.scaled(dense(X[s]))), threads, *widths)
