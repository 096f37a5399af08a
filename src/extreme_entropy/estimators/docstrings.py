"""Texts that the docstrings of several methods and classifiers share, each written once.

A line of a docstring that is nothing but `{name}` stands for the text of that name.
`with_shared_texts` puts it there when the class is made, so that `help` and Sphinx show it whole.
"""

from __future__ import annotations

import re
from textwrap import indent
from types import FunctionType
from typing import TypeVar

C = TypeVar("C", bound=type)

TEXTS = {
    # ------------------------------------------------------------ rows
    "X": """\
X : {array-like, sparse matrix, data frame, Dask array or frame} of shape (n_samples, n_features)
    Rows.""",
    "rows to learn from": """\
X : {array-like, sparse matrix, data frame, Dask array or frame} of shape (n_samples, n_features)
    Rows to learn from. float32 is processed in single precision. Blocks of a Dask collection or
    Ray Dataset and partitions of a Spark DataFrame are processed where they are stored.
y : array-like or Dask collection of shape (n_samples,), or str
    Labels of two or more classes. If X is a Spark DataFrame or Ray Dataset, the name of the
    column that holds them; the same goes for `sample_weight`.
sample_weight : array-like or Dask collection of shape (n_samples,), optional
    A weight counts as repetition of the row: 2 is the row twice, 0 is no row. Weights below one
    are relative: weights of 1/n give the same classifier as weights of 1.""",
    # ------------------------------------------------------------ parameters
    "categorical_features": """\
categorical_features : "from_dtype", array-like of {str, int, bool} or None, default="from_dtype"
    Which columns hold categories: names, positions or a mask. "from_dtype" means columns of text,
    and pandas, polars or Arrow columns with a categorical type. With None there are none, and
    text is refused.""",
    "scale": """\
scale : {"minmax", "standard", "quantile"} or None, default="quantile"
    How columns are scaled to a common range. "minmax" is the paper's [0, 1].""",
    "shrinkage, ridge, decision": """\
shrinkage : {"ledoit-wolf", "oas"}, float or None, default="ledoit-wolf"
    How far each class's covariance is shrunk towards a multiple of the identity; with None, not at
    all.
ridge : float or "auto", default="auto"
    Added to the diagonal of Σ, the paper's I/C. "auto" tries a few multiples of the diagonal's mean
    and keeps the one that separates held-out rows best, without another pass over the data.
decision : {"cross-fitted", "paper"}, default="cross-fitted"
    Whether Gaussians of held-out or of training projections decide. Held-out ones give better
    thresholds if a class is rare or h is large, without another pass over the data.""",
    "priors, costs": """\
priors : {"empirical", "balanced"}, dict or array-like, default="empirical"
    How frequent the classes are taken to be: as in the rows learnt ("empirical"), equally frequent
    ("balanced", the paper's ½), or as given by a dict of labels or an array in the order of
    `classes_`.
costs : "balanced", dict, matrix or None, default="balanced"
    Cost of misclassifying a row of each label: in inverse proportion to its frequency in the rows
    learnt ("balanced"), so that all classes count alike; as given, 1 if not named; or equal (None),
    so that the most probable class is predicted. With equal priors, use None. Costs change labels
    and no probabilities.""",
    "n_jobs": """\
n_jobs : int, optional
    Threads. `None` means 1; `-1` uses all processors. The result is the same to the last bit.""",
    "cv, scoring": """\
cv : int, splitter or iterable of splits, default=10
    Folds that do not overlap. A number means folds by the content of rows, so that neither their
    order nor repetition matters, stratified if a class has few rows.
scoring : str or callable, default="gmean"
    "gmean", the name of any of scikit-learn's scorers, or a scorer.""",
    "verbose": """\
verbose : bool or int, default=False
    Whether to show the steps of learning and their progress on stderr. Needs the extra
    `progress`; does not change results.""",
    "progress": """\
progress : bool, default=False
    Show a progress bar. Needs the extra `progress`.""",
    # ------------------------------------------------------------ attributes
    "classes_": """\
classes_ : ndarray of shape (n_classes,)
    Labels, sorted. With two classes, the second is the positive one.""",
    "columns seen": """\
n_features_in_ : int
    Number of columns seen in `fit`.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Their names, if X has names.""",
    "one leaf": """\
feature_map_ : FeatureMap
    The feature map φ, drawn once and fixed; a callable on dense rows.
summary_ : Summary
    Sums of φ over the rows learnt, by class and fold: all that is kept of them.
machine_ : Machine
    The solved machine: β, Gaussians, shrinkage, priors and costs.
beta_ : ndarray of shape (h,)
    The operator β; with more than two classes, one row for each pair of classes.
thresholds_ : ndarray of shape (0,), (1,) or (2,)
    Projections at which the decision changes.
shrinkage_ : ndarray of shape (n_classes,)
    ε of each class.
ridge_ : float
    What was added to the diagonal of Σ: `ridge`, or the choice of "auto".
divergence_ : float
    Cauchy–Schwarz divergence of the two Gaussians of projections.
means_, variances_ : ndarray of shape (2,)
    The two Gaussians of projections.
feature_importances_ : ndarray of shape (`n_features_in_`,)
    How much each column matters, if relevance is learned; they sum to one.""",
    "scores of a path": """\
best_score_ : float
    Its mean score over the folds: as the best of many, a little too high.
scores_ : ndarray of shape (n_sizes, n_folds)
    Held-out scores of the best setting.
folds_ : ndarray of shape (n_samples,)
    The fold in which each row is tested; for other models, use `PredefinedSplit(folds_)`.
path_ : Path
    Scores and divergences of all settings and sizes; `path_.plot()` draws them.""",
}
PLACEHOLDER = re.compile(r"^( *)\{([\w, ]+)\}$", re.MULTILINE)


def with_shared_texts(cls: C) -> C:
    """The class, with the texts that its docstring and those of its methods name."""
    for member in (cls, *vars(cls).values()):
        if isinstance(member, type | FunctionType) and member.__doc__:
            member.__doc__ = PLACEHOLDER.sub(_text, member.__doc__)
    return cls


def _text(line: re.Match[str]) -> str:
    return indent(TEXTS[line[2]], line[1])
