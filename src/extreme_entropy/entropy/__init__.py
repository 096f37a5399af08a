"""Rényi's quadratic entropies H₂ and H₂×, and the Cauchy–Schwarz divergence D_CS = 2H₂× − H₂ − H₂.

`gaussian` has them in closed form for Gaussians, `kde` for kernel densities of numbers.
"""

from .gaussian import cauchy_schwarz_divergence, cross_entropy, quadratic_entropy
from .kde import kde_cross_entropy, kde_divergence, kde_quadratic_entropy, silverman_bandwidth

__all__ = [
    "cauchy_schwarz_divergence",
    "cross_entropy",
    "kde_cross_entropy",
    "kde_divergence",
    "kde_quadratic_entropy",
    "quadratic_entropy",
    "silverman_bandwidth",
]
