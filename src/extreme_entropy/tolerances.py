"""Numerical tolerances of all stages, each named for what it bounds. None shapes a model."""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(float).eps)  # by which a sum of doubles may be wrong, as a share of it
TINY = float(np.finfo(float).tiny)  # stands for zero where a number is divided by
# Sums. A difference is taken for one if it exceeds what rounding may leave by this factor; an error
# that is such a share of what it is of does not matter.
SUM_MARGIN = 2.0**12
NEGLIGIBLE_ERROR = 1e-6
WEIGHT_ROUNDING = 1e-9  # of a weight: the same weights may have been added in another order
# Columns. Values of a column that differ by less, as a share of their size, differ by rounding.
VALUE_ROUNDING = 8 * EPS
MEAN_ROUNDING = 1e-6  # of a deviation: a mean whose last digit is coarser depends on the order
LEAST_WIDTH = 1e-302  # of a column that varies: 2¹⁶ bins in it are still numbers
# Kernels. (least pivot, added to the diagonal), as shares of its mean: small pivots magnify the
# rounding of a kernel, and single precision bears less of that.
PIVOTS = {"d": (1e-10, 1e-8), "f": (1e-5, 1e-5)}
# Operators. Means that differ by less than this share of their size differ by rounding alone, which
# whitening magnifies; sampled rows differ by far more.
WHITENED_ROUNDING = 2.0**16 * EPS
SINGULAR = 16 * EPS  # per dimension: a matrix whose 1/cond is below this is singular
OUTSIDE_RANGE = 1e-6  # of m: as much of it outside the range of Σ is no rounding
PROJECTION_ROUNDING = 1e-9  # of projections, and of how far they separate classes
# A class whose projections do not vary gets this share of the other's variance, or of the squared
# gap between the means.
VARIANCE_FLOOR = 1e-6
CERTAIN = 1e-9  # no pair of classes is surer than this: it may be asked about a third one's row
NEWTON_STEP, NEWTON_CHANGE = 1e-12, 1e-13  # below which slopes, and their loss, have converged
