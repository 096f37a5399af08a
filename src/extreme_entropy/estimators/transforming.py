"""φ as a transformer: the features of a fitted classifier, for other steps of a pipeline."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..drawing.sampling import with_folds
from ..engines.blocks import Block
from ..engines.threads import Threads, chunks, dense, row_slices
from ..features.feature_map import FeatureMap
from .inputs import Columns, check_block, check_x
from .tables import engine_for, in_blocks

Array = np.ndarray[Any, Any]


class FeatureTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """`transform` and `get_feature_names_out` of classifiers with one feature map."""

    n_jobs: int | None

    def transform(self, X: Any) -> Array:
        """φ(x): the features that β projects.

        A classifier in the middle of a pipeline hands its features on, as the random neurons or the
        kernel approximation of another model.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame, Dask array or frame} of shape \
(n_samples, n_features)
            Rows.

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
        """Fit, and give the features of the rows as they were learnt.

        They are those of `fit(X, y).transform(X)`, but for columns of many categories: there a row
        gets the log-odds of the classes among rows of other folds, so that its own label does not
        reach its features, and a classifier after this one does not learn from it.

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
        phi, engine = self.feature_map_, engine_for(X)
        learnt = learnt and phi.encoding.by_fold
        if engine is None:
            rows = check_x(self, X)
            rows = with_folds(rows, phi.content(rows)) if learnt else rows
            return features_of(phi, rows, Threads(self.n_jobs))
        table = in_blocks(self, engine(X, None, None), reset=False)
        nothing = np.empty((0, phi.h), table.dtype)
        shared = table.dtype, table.columns, phi, learnt
        return table.blocks.each(transform_block, *shared, like=nothing, name="features")

    @property
    def _n_features_out(self) -> int:
        return self.feature_map_.h


def features_of(phi: FeatureMap, X: Any, execute: Any) -> Array:
    """φ of checked rows."""
    leaf = phi.only().in_precision(X.dtype)
    features = np.empty((X.shape[0], phi.h), X.dtype)

    def fill(rows: slice) -> None:
        own, mine = X[rows], features[rows]
        for chunk in chunks(*own.shape, phi.h):
            mine[chunk] = leaf(phi.scaled(dense(own[chunk])))

    for _ in execute(partial(fill, rows) for rows in row_slices(X.shape[0])):
        pass
    return features


def transform_block(
    block: Block, dtype: np.dtype[Any], columns: Columns, phi: FeatureMap, learnt: bool
) -> Array:
    """φ of the rows of a block, perhaps of none, and perhaps as they were learnt."""
    X, _, _ = check_block(block, dtype, columns)
    return features_of(phi, with_folds(X, phi.content(X)) if learnt else X, Threads(1))
