"""The Cauchy–Schwarz divergence of two Gaussians on the line, in closed form.

    D_CS(f, g) = ln∫f² + ln∫g² − 2 ln∫fg
               = ln( ½(S₊+S₋) / √(S₊S₋) ) + (m₊−m₋)² / (S₊+S₋)

It is 0 exactly when the two coincide. The paper prints another constant and the log term with the
other sign; this form is the one that numerical integration confirms (docs/errata.md).
"""

from __future__ import annotations

import math


def cauchy_schwarz_divergence(
    mean_a: float, variance_a: float, mean_b: float, variance_b: float
) -> float:
    """D_CS of N(mean_a, variance_a) and N(mean_b, variance_b).

    Examples
    --------
    >>> cauchy_schwarz_divergence(0.0, 1.0, 0.0, 1.0)
    0.0
    >>> round(cauchy_schwarz_divergence(1.3, 0.4, -0.7, 2.1), 4)
    1.9103
    """
    joint = variance_a + variance_b
    # ln of the arithmetic over the geometric mean, from logs so that nothing under- or overflows.
    spread = math.log(joint / 2) - (math.log(variance_a) + math.log(variance_b)) / 2
    return max(spread, 0.0) + (mean_a - mean_b) ** 2 / joint
