"""Rényi's quadratic entropies and the Cauchy–Schwarz divergence."""
