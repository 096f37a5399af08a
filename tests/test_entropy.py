"""The Cauchy–Schwarz divergence of two Gaussians on the line."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from extreme_entropy.entropy.gaussian import cauchy_schwarz_divergence

means = st.floats(-3, 3)
variances = st.floats(0.05, 20)
PAPERS_EXAMPLE = (1.3, 0.4, -0.7, 2.1)


def _integrated(mean_a, variance_a, mean_b, variance_b):
    """ln∫f² + ln∫g² − 2 ln∫fg by quadrature."""
    a, b = (mean_a, variance_a), (mean_b, variance_b)

    def log_integral(f, g):
        # Integrate around the peak of the product, with the peak's height taken out.
        peak = (f[0] * g[1] + g[0] * f[1]) / (f[1] + g[1])
        width = 12 * math.sqrt(f[1] * g[1] / (f[1] + g[1]))
        height = _log_normal(peak, *f) + _log_normal(peak, *g)
        area, _ = quad(
            lambda t: math.exp(_log_normal(t, *f) + _log_normal(t, *g) - height),
            peak - width,
            peak + width,
            epsabs=0,
            epsrel=1e-11,
        )
        return math.log(area) + height

    return log_integral(a, a) + log_integral(b, b) - 2 * log_integral(a, b)


def _log_normal(t, mean, variance):
    return -((t - mean) ** 2 / variance + math.log(2 * math.pi * variance)) / 2


def _printed(mean_a, variance_a, mean_b, variance_b):
    """The closed form as the paper prints it (erratum 2)."""
    joint = variance_a + variance_b
    return (
        -math.log(math.pi / 2) / 2
        - math.log(joint / 2 / math.sqrt(variance_a * variance_b))
        + (mean_a - mean_b) ** 2 / joint
    )


@given(means, variances, means, variances)
def test_the_closed_form_is_the_integral(mean_a, variance_a, mean_b, variance_b):
    """D_CS = ln∫f² + ln∫g² − 2 ln∫fg, for any two Gaussians."""
    ours = cauchy_schwarz_divergence(mean_a, variance_a, mean_b, variance_b)
    theirs = _integrated(mean_a, variance_a, mean_b, variance_b)
    assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)


@given(means, variances, means, variances)
def test_the_divergence_is_symmetric_and_not_negative(mean_a, variance_a, mean_b, variance_b):
    """D(f, g) = D(g, f) ≥ 0, to the last bit."""
    there = cauchy_schwarz_divergence(mean_a, variance_a, mean_b, variance_b)
    back = cauchy_schwarz_divergence(mean_b, variance_b, mean_a, variance_a)
    assert there == back >= 0


@given(means, variances, st.floats(1e-3, 5), st.sampled_from([-1, 1]))
def test_the_divergence_is_zero_exactly_where_the_two_coincide(mean, variance, step, sign):
    """It vanishes for equal Gaussians, and is positive when only mean or only variance differs."""
    assert cauchy_schwarz_divergence(mean, variance, mean, variance) == 0
    assert cauchy_schwarz_divergence(mean, variance, mean + sign * step, variance) > 0
    assert cauchy_schwarz_divergence(mean, variance, mean, variance * (1 + step)) > 0
    assert cauchy_schwarz_divergence(mean, variance * (1 + step), mean, variance) > 0


@given(means, variances, means, variances, st.floats(-9, 9), st.floats(0.01, 100))
def test_the_divergence_knows_no_unit(mean_a, variance_a, mean_b, variance_b, shift, scale):
    """An affine change of the line leaves it unchanged."""
    moved = cauchy_schwarz_divergence(
        scale * (mean_a - shift),
        scale**2 * variance_a,
        scale * (mean_b - shift),
        scale**2 * variance_b,
    )
    plain = cauchy_schwarz_divergence(mean_a, variance_a, mean_b, variance_b)
    assert moved == pytest.approx(plain, rel=1e-9, abs=1e-12)


def test_extreme_variances_neither_overflow_nor_underflow():
    """Logarithms, not products of variances."""
    for size in (1e-200, 1e200):
        value = cauchy_schwarz_divergence(0.0, size, 0.0, 4 * size)
        assert value == pytest.approx(math.log(5 / 4), rel=1e-9)


def test_the_papers_printed_form_is_not_the_integral():
    """Erratum 2: for N(1.3, 0.4) and N(−0.7, 2.1) the paper gives 1.0639; the integral 1.9103."""
    assert _printed(*PAPERS_EXAMPLE) == pytest.approx(1.0639, abs=5e-5)
    assert _integrated(*PAPERS_EXAMPLE) == pytest.approx(1.9103, abs=5e-5)
    assert cauchy_schwarz_divergence(*PAPERS_EXAMPLE) == pytest.approx(1.9103, abs=5e-5)
    # It is no divergence at all: it is negative where the two Gaussians coincide.
    assert _printed(0, 1, 0, 1) < -0.2
