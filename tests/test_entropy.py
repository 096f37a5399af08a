"""Rényi's quadratic entropies and the Cauchy–Schwarz divergence: Gaussians and kernel densities."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import dblquad, quad
from scipy.stats import (
    beta,
    expon,
    laplace,
    logistic,
    multivariate_normal,
    norm,
    t,
    uniform,
)

from extreme_entropy.entropy import (
    cauchy_schwarz_divergence,
    cross_entropy,
    kde,
    kde_cross_entropy,
    kde_divergence,
    kde_quadratic_entropy,
    quadratic_entropy,
    silverman_bandwidth,
)
from extreme_entropy.errors import InputError

means = st.floats(-3, 3)
variances = st.floats(0.05, 20)
seeds = st.integers(0, 2**32 - 1)
PAPERS_EXAMPLE = (1.3, 0.4, -0.7, 2.1)


# ------------------------------------------------------------------ two Gaussians on the line


def _log_integral(f, g):
    """ln∫fg of two Gaussians (mean, variance) by quadrature."""
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


def _integrated(mean_a, variance_a, mean_b, variance_b):
    """ln∫f² + ln∫g² − 2 ln∫fg by quadrature."""
    a, b = (mean_a, variance_a), (mean_b, variance_b)
    return _log_integral(a, a) + _log_integral(b, b) - 2 * _log_integral(a, b)


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
def test_the_entropies_are_the_integrals(mean_a, variance_a, mean_b, variance_b):
    """H₂ = −ln∫f² and H₂× = −ln∫fg, for any two Gaussians."""
    f, g = (mean_a, variance_a), (mean_b, variance_b)
    assert quadratic_entropy(variance_a) == pytest.approx(-_log_integral(f, f), abs=1e-9)
    assert cross_entropy(*f, *g) == pytest.approx(-_log_integral(f, g), rel=1e-9, abs=1e-9)


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


@pytest.mark.parametrize(
    "other",
    [uniform(-1, 2), laplace(0.3, 2), logistic(), norm(1, 3), beta(0.5, 0.5), t(5), expon()],
    ids=lambda other: other.dist.name,
)
def test_a_gaussian_has_the_largest_entropy_of_its_variance(other):
    """The paper's first remark: −∫f ln g = H(g) for the Gaussian g of f's mean and variance."""
    gaussian = norm(other.mean(), other.std())
    cross = -other.expect(gaussian.logpdf)
    assert cross == pytest.approx(gaussian.entropy(), rel=1e-6)
    gap = float(cross - other.entropy())  # Kullback and Leibler's divergence
    assert gap == pytest.approx(0, abs=1e-9) if other.dist.name == "norm" else gap > 0.01


def test_the_papers_first_line_is_half_of_its_divergence():
    """Erratum 10: −ln∫(f/‖f‖)(g/‖g‖) is ½D_CS; the definition has −2 ln."""
    f, g = PAPERS_EXAMPLE[:2], PAPERS_EXAMPLE[2:]
    norms = (_log_integral(f, f) + _log_integral(g, g)) / 2
    assert 2 * (norms - _log_integral(f, g)) == pytest.approx(
        cauchy_schwarz_divergence(*f, *g), rel=1e-9
    )


# ------------------------------------------------------------------ two Gaussians in h dimensions


def _gaussians(rng, h):
    """Two random means and covariances, in the order of the arguments."""
    roots = rng.normal(size=(2, h, h + 2))
    covariances = roots @ roots.transpose(0, 2, 1) / h
    return (rng.normal(size=h), covariances[0], rng.normal(size=h), covariances[1])


def _log_area(f, g, middle, reach=12.0):
    """ln∫fg over the plane, by quadrature about a point."""
    ends = (-reach, reach, -reach, reach)

    def product(y, x):
        return f(middle[0] + x, middle[1] + y) * g(middle[0] + x, middle[1] + y)

    return math.log(dblquad(product, *ends, epsabs=1e-9, epsrel=1e-7)[0])


def _normal_in_the_plane(mean, covariance):
    """The density as a function of two numbers, without vectors to be quick."""
    (a, b), (_, c) = np.linalg.inv(covariance).tolist()
    height = math.sqrt(a * c - b * b) / (2 * math.pi)
    m, n = mean.tolist()

    def f(x, y):
        x, y = x - m, y - n
        return height * math.exp(-(a * x * x + 2 * b * x * y + c * y * y) / 2)

    return f


def test_the_closed_forms_are_the_integrals_in_the_plane(rng):
    """H₂, H₂× and D_CS against quadrature over two dimensions."""
    for _ in range(2):
        mean_a, cov_a, mean_b, cov_b = _gaussians(rng, 2)
        f, g = _normal_in_the_plane(mean_a, cov_a), _normal_in_the_plane(mean_b, cov_b)
        ff, fg, gg = _log_area(f, f, mean_a), _log_area(f, g, mean_a), _log_area(g, g, mean_b)
        assert quadratic_entropy(cov_a) == pytest.approx(-ff, rel=1e-5)
        assert cross_entropy(mean_a, cov_a, mean_b, cov_b) == pytest.approx(-fg, rel=1e-5)
        ours = cauchy_schwarz_divergence(mean_a, cov_a, mean_b, cov_b)
        assert ours == pytest.approx(ff + gg - 2 * fg, rel=1e-4)


@given(seeds, st.integers(1, 8))
def test_the_cross_entropy_is_a_density_at_the_gap(seed, h):
    """∫fg = N(m₊ − m₋; 0, Σ₊+Σ₋), by SciPy's density; H₂ is H₂× of a Gaussian with itself."""
    mean_a, cov_a, mean_b, cov_b = _gaussians(np.random.default_rng(seed), h)
    theirs = -multivariate_normal(np.zeros(h), cov_a + cov_b).logpdf(mean_a - mean_b)
    assert cross_entropy(mean_a, cov_a, mean_b, cov_b) == pytest.approx(theirs, rel=1e-8)
    itself = cross_entropy(mean_a, cov_a, mean_a, cov_a)
    assert quadratic_entropy(cov_a) == pytest.approx(itself, rel=1e-9, abs=1e-9)


@given(seeds, st.integers(1, 8))
def test_the_divergence_is_what_the_cross_entropy_exceeds_the_entropies_by(seed, h):
    """D_CS = 2H₂× − H₂ − H₂, in any dimension."""
    mean_a, cov_a, mean_b, cov_b = _gaussians(np.random.default_rng(seed), h)
    excess = 2 * cross_entropy(mean_a, cov_a, mean_b, cov_b)
    excess -= quadratic_entropy(cov_a) + quadratic_entropy(cov_b)
    ours = cauchy_schwarz_divergence(mean_a, cov_a, mean_b, cov_b)
    assert ours == pytest.approx(excess, rel=1e-8, abs=1e-8)


@given(st.lists(st.tuples(means, variances, means, variances), min_size=1, max_size=6))
def test_divergences_of_independent_coordinates_add_up(coordinates):
    """With diagonal covariances, D_CS in h dimensions is the sum of those on the lines."""
    mean_a, variance_a, mean_b, variance_b = np.transpose(coordinates)
    ours = cauchy_schwarz_divergence(mean_a, np.diag(variance_a), mean_b, np.diag(variance_b))
    theirs = sum(cauchy_schwarz_divergence(*coordinate) for coordinate in coordinates)
    assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12)


@given(seeds, st.integers(1, 8))
def test_the_divergence_in_h_dimensions_is_symmetric_and_zero_for_equals(seed, h):
    """D(f, g) = D(g, f) to the last bit, D(f, f) = 0 exactly, D(f, g) > 0."""
    f = _gaussians(np.random.default_rng(seed), h)
    mean_a, cov_a, _, cov_b = f
    there, back = cauchy_schwarz_divergence(*f), cauchy_schwarz_divergence(*f[2:], *f[:2])
    assert there == back > 0
    assert cauchy_schwarz_divergence(mean_a, cov_a, mean_a, cov_a) == 0
    assert cauchy_schwarz_divergence(mean_a, cov_a, mean_a, cov_b) >= 0


@given(seeds, st.integers(1, 8))
def test_a_linear_map_leaves_the_divergence_and_adds_its_volume_to_the_entropies(seed, h):
    """x ↦ Ax + c: D_CS stays, H₂ and H₂× grow by ln|det A|."""
    rng = np.random.default_rng(seed)
    f = mean_a, cov_a, mean_b, cov_b = _gaussians(rng, h)
    A, c = rng.normal(size=(h, h)) + 3 * np.eye(h), rng.normal(size=h)
    moved = (A @ mean_a + c, A @ cov_a @ A.T, A @ mean_b + c, A @ cov_b @ A.T)
    volume = np.linalg.slogdet(A)[1]
    assert cauchy_schwarz_divergence(*moved) == pytest.approx(
        cauchy_schwarz_divergence(*f), rel=1e-6, abs=1e-8
    )
    assert cross_entropy(*moved) == pytest.approx(cross_entropy(*f) + volume, rel=1e-6, abs=1e-8)
    assert quadratic_entropy(moved[1]) == pytest.approx(
        quadratic_entropy(cov_a) + volume, rel=1e-6, abs=1e-8
    )


def test_one_dimension_is_the_line():
    """A variance, an array of one and a matrix of one are the same Gaussian."""
    mean_a, variance_a, mean_b, variance_b = PAPERS_EXAMPLE
    shapes = (
        ([mean_a], [[variance_a]], [mean_b], [[variance_b]]),
        (mean_a, np.array(variance_a), mean_b, np.array(variance_b)),
    )
    for shaped in shapes:
        for function in (cauchy_schwarz_divergence, cross_entropy):
            assert function(*shaped) == pytest.approx(function(*PAPERS_EXAMPLE), rel=1e-12)


def test_many_dimensions_of_extreme_size_neither_overflow_nor_underflow():
    """Determinants of 10^±60000 are sums of logs."""
    h = 300
    for size in (1e-200, 1e200):
        narrow, wide, zero = size * np.eye(h), 4 * size * np.eye(h), np.zeros(h)
        ours = cauchy_schwarz_divergence(zero, narrow, zero, wide)
        assert ours == pytest.approx(h * math.log(5 / 4), rel=1e-9)
        assert math.isfinite(quadratic_entropy(narrow))


def test_gaussians_that_are_none_are_refused():
    """No spread in some direction, or shapes that do not fit."""
    with pytest.raises(InputError, match="positive definite"):
        quadratic_entropy(np.ones((2, 2)))
    with pytest.raises(InputError, match="positive definite"):
        quadratic_entropy(0.0)
    with pytest.raises(InputError, match="h × h"):
        cauchy_schwarz_divergence(np.zeros(2), np.eye(2), np.zeros(2), 1.0)
    with pytest.raises(InputError, match="h × h"):
        cross_entropy(0.0, np.eye(2), 1.0, np.eye(2))


# ------------------------------------------------------------------ kernel densities


def _pairwise(x, y, variance, v=None, w=None):
    """ln∫fg as the plain double sum, its largest term taken out."""
    v, w = np.ones(len(x)) if v is None else v, np.ones(len(y)) if w is None else w
    exponents = np.subtract.outer(x, y) ** 2 * (-0.5 / variance)
    largest = exponents.max()
    total = v @ np.exp(exponents - largest) @ w / (v.sum() * w.sum())
    return largest + np.log(total) - np.log(2 * np.pi * variance) / 2


def _density(points, sigma):
    """The kernel density, as a function."""
    points = np.asarray(points)

    def f(t):
        return np.exp(-((t - points) ** 2) / (2 * sigma**2)).mean() / (
            sigma * math.sqrt(2 * math.pi)
        )

    return f


def _area(f, ends):
    return quad(f, *ends, limit=400, epsabs=0, epsrel=1e-9)[0]


def test_the_entropies_of_kernel_densities_are_the_integrals(rng):
    """H₂, H₂× and D_CS against quadrature of the densities themselves."""
    a, b = rng.normal(size=12), rng.exponential(2.0, 7) - 1
    sigma_a, sigma_b = silverman_bandwidth(a), silverman_bandwidth(b)
    f, g = _density(a, sigma_a), _density(b, sigma_b)
    ends = (min(*a, *b) - 8 * max(sigma_a, sigma_b), max(*a, *b) + 8 * max(sigma_a, sigma_b))
    assert _area(f, ends) == pytest.approx(1)
    ff, gg, fg = (
        math.log(_area(lambda t, p=p, q=q: p(t) * q(t), ends)) for p, q in ((f, f), (g, g), (f, g))
    )
    assert kde_quadratic_entropy(a) == pytest.approx(-ff, rel=1e-7)
    assert kde_quadratic_entropy(b) == pytest.approx(-gg, rel=1e-7)
    assert kde_cross_entropy(a, b) == pytest.approx(-fg, rel=1e-7)
    assert kde_divergence(a, b) == pytest.approx(ff + gg - 2 * fg, rel=1e-7)


def test_the_papers_bandwidth_as_written_is_another_density(rng):
    """Erratum 5: N(a, σ(A)²cov(A)) has the spread in twice, so the unit of the line matters."""

    def divergence(a, b, bandwidths):
        f, g = (_density(x, sigma) for x, sigma in zip((a, b), bandwidths, strict=True))
        ends = (min(*a, *b) - 8 * max(bandwidths), max(*a, *b) + 8 * max(bandwidths))
        ff, gg, fg = (
            _area(lambda t, p=p, q=q: p(t) * q(t), ends) for p, q in ((f, f), (g, g), (f, g))
        )
        return math.log(ff * gg / fg**2)

    a, b = rng.normal(size=9), rng.normal(1.0, 2.0, 9)
    for scale in (1.0, 3.0):
        x, y = scale * a, scale * b
        meant = [silverman_bandwidth(x), silverman_bandwidth(y)]
        written = [meant[0] * x.std(), meant[1] * y.std()]
        ours = kde_divergence(x, y)
        assert ours == pytest.approx(kde_divergence(a, b), rel=1e-9)
        assert ours == pytest.approx(divergence(x, y, meant), rel=1e-7)
        assert abs(ours - divergence(x, y, written)) > 0.05


@given(
    st.lists(st.floats(-5, 5), min_size=2, max_size=12),
    st.lists(st.floats(-5, 5), min_size=2, max_size=12),
    st.floats(0.1, 3),
    st.floats(0.1, 3),
)
def test_small_samples_are_summed_pair_by_pair(a, b, sigma_a, sigma_b):
    """∫fg = (nm)⁻¹ ΣΣ N(xᵢ − yⱼ; 0, σ_f² + σ_g²), for bandwidths of one's own."""
    cross = _pairwise(a, b, sigma_a**2 + sigma_b**2)
    ours = kde_cross_entropy(a, b, bandwidth_a=sigma_a, bandwidth_b=sigma_b)
    assert ours == pytest.approx(-cross, rel=1e-12, abs=1e-12)
    itself = kde_quadratic_entropy(a, bandwidth=sigma_a)
    assert itself == pytest.approx(-_pairwise(a, a, 2 * sigma_a**2), rel=1e-12, abs=1e-12)


@given(
    st.floats(-1e9, 1e9),
    st.floats(0, 1e9) | st.floats(0, 1e-3),
    st.floats(-20, 3),
    st.sampled_from([1, 3, 1000]),
)
def test_heaps_are_gaussians_at_any_distance(place, gap, log_bandwidth, n):
    """Two heaps with a bandwidth of one's own are two Gaussians: the two modules agree."""
    sigma, other = 10**log_bandwidth, place + gap
    ours = kde_cross_entropy(
        np.full(n, place), np.full(n + 1, other), bandwidth_a=sigma, bandwidth_b=2 * sigma
    )
    theirs = cross_entropy(place, sigma**2, other, 4 * sigma**2)
    assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)


def test_narrow_kernels_far_from_each_other_leave_the_nearest_pair(rng):
    """Exponents of 1e36 and more: the nearest pair decides, and rounding does not lose it."""
    a, b = rng.random(50), 2 + rng.random(50)
    for sigma in (1e-9, 1e-18):
        ours = kde_cross_entropy(a, b, bandwidth_a=sigma, bandwidth_b=sigma)
        assert ours == pytest.approx((b.min() - a.max()) ** 2 / (4 * sigma**2), rel=1e-9)
    for x, y in rng.normal(size=(300, 2)):
        ours = kde_cross_entropy([x], [y], bandwidth_a=1e-18, bandwidth_b=1e-18)
        assert ours == pytest.approx((x - y) ** 2 / 4e-36, rel=1e-9)


def test_silvermans_bandwidth_is_the_papers(rng):
    """σ = (4/(3n))^{1/5} std ≈ 1.06 n^{−1/5} std."""
    a = 1e6 + rng.normal(size=100)
    assert silverman_bandwidth(a) == pytest.approx((4 / 300) ** 0.2 * a.std(), rel=1e-9)
    assert silverman_bandwidth(a) == pytest.approx(1.06 * 100**-0.2 * a.std(), rel=1e-2)
    assert not any(silverman_bandwidth(np.full(n, 0.1)) for n in range(1, 50))
    assert silverman_bandwidth(1e15 + np.arange(4.0)) == silverman_bandwidth(np.arange(4.0))
    # Weights are counts: a hundred of a hundredth are one point's worth.
    assert silverman_bandwidth(a, np.full(100, 0.01)) == pytest.approx((4 / 3) ** 0.2 * a.std())


@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 4)), min_size=3, max_size=20), seeds)
def test_a_weight_is_repetition(pairs, seed):
    """Weight 2 is the point twice, weight 0 is no point: bandwidth, entropies and divergence."""
    points, counts = np.array(pairs).T
    counts[0] += 1
    repeated = np.repeat(points, counts.astype(int))
    other = np.random.default_rng(seed).normal(size=5)
    assert silverman_bandwidth(points, counts) == pytest.approx(
        silverman_bandwidth(repeated), rel=1e-9, abs=1e-12
    )
    if np.ptp(repeated) > 1e-6:
        close = {"rel": 1e-7, "abs": 1e-7}
        assert kde_quadratic_entropy(points, counts) == pytest.approx(
            kde_quadratic_entropy(repeated), **close
        )
        assert kde_cross_entropy(points, other, counts) == pytest.approx(
            kde_cross_entropy(repeated, other), **close
        )
        there = kde_divergence(points, other, weight_a=counts)
        assert there == pytest.approx(kde_divergence(repeated, other), **close)
        back = kde_divergence(other, points, weight_b=counts)
        assert back == pytest.approx(there, **close)


def _shapes(n):
    """Pairs of samples of very different character."""
    rng = np.random.default_rng(2015)
    bell = rng.normal(size=n)
    outlier = np.append(rng.normal(size=n - 1), 1e9)
    gap = np.concatenate([rng.normal(-40, 1, n // 2), rng.normal(40, 1, n - n // 2)])
    return {
        "bells": (bell, rng.normal(1, 2, n)),
        "the same bell": (bell, rng.normal(size=n)),
        "two humps": (gap / 20, rng.normal(0, 0.1, n)),
        "a hump in a gap": (gap, rng.normal(size=n // 3)),
        "heavy tails": (rng.standard_cauchy(n), rng.standard_t(2, n) + 1),
        "skewed": (rng.lognormal(0, 1.5, n), rng.exponential(2.0, n)),
        "few values": (rng.integers(0, 5, n) * 1.0, rng.poisson(2.0, n) * 1.0),
        "fine steps": (np.round(bell, 2), np.round(rng.normal(0.5, 1, n), 1)),
        "an outlier": (outlier, rng.normal(1, 1, n)),
        "far from the origin": (1e8 + bell, 1e8 + rng.uniform(-1, 2, n)),
        "wide and narrow": (1e3 * bell, rng.normal(1, 1e-2, n)),
        "uneven sizes": (bell[:300], rng.normal(1, 1, n)),
        "apart": (bell, rng.normal(12, 1, n)),
        "far apart": (rng.uniform(0, 1, n), rng.uniform(1000, 1001, n)),
        "a jump between heaps": (np.repeat([0.0, 1.0], n // 2), np.repeat([1.0, 5.0], n // 2)),
    }


@pytest.mark.parametrize("shape", _shapes(600))
def test_large_samples_agree_with_the_double_sum(shape):
    """D_CS and each integral, thinned, against all pairs: within 1e-6, where 1e-3 is promised."""
    a, b = _shapes(2500)[shape]
    assert max(len(a), len(b)) > 2 * 256  # points, which are not thinned
    sigma_a, sigma_b = silverman_bandwidth(a), silverman_bandwidth(b)
    aa, bb = _pairwise(a, a, 2 * sigma_a**2), _pairwise(b, b, 2 * sigma_b**2)
    ab = _pairwise(a, b, sigma_a**2 + sigma_b**2)
    # A difference of logarithms is a relative error of the integrals.
    assert kde_quadratic_entropy(a) == pytest.approx(-aa, rel=1e-9, abs=1e-6)
    assert kde_quadratic_entropy(b) == pytest.approx(-bb, rel=1e-9, abs=1e-6)
    assert kde_cross_entropy(a, b) == pytest.approx(-ab, rel=1e-9, abs=1e-6)
    assert kde_divergence(a, b) == pytest.approx(aa + bb - 2 * ab, rel=1e-6)


@pytest.mark.parametrize("shape", _shapes(600))
def test_large_weighted_samples_agree_with_the_double_sum(shape):
    """Fractional weights over six decades, on the thinned road."""
    a, b = _shapes(2000)[shape]
    rng = np.random.default_rng(1)
    v, w = 10 ** rng.uniform(-6, 0, len(a)), 10 ** rng.uniform(-6, 0, len(b))
    sigmas = []
    for x, weight in ((a, v), (b, w)):
        mean = np.average(x, weights=weight)
        deviation = math.sqrt(np.average((x - mean) ** 2, weights=weight))
        sigmas.append((4 / (3 * weight.sum())) ** 0.2 * deviation)
        assert silverman_bandwidth(x, weight) == pytest.approx(sigmas[-1], rel=1e-6)
    aa, bb = (
        _pairwise(x, x, 2 * s**2, u, u) for x, s, u in zip((a, b), sigmas, (v, w), strict=True)
    )
    ab = _pairwise(a, b, sigmas[0] ** 2 + sigmas[1] ** 2, v, w)
    assert kde_quadratic_entropy(a, v) == pytest.approx(-aa, rel=1e-9, abs=1e-6)
    assert kde_cross_entropy(a, b, v, w) == pytest.approx(-ab, rel=1e-9, abs=1e-6)
    assert kde_divergence(a, b, v, w) == pytest.approx(aa + bb - 2 * ab, rel=1e-5)


@given(seeds, st.floats(-3, 3), st.floats(0, 60))
def test_thinning_hardly_changes_the_integral(seed, log_bandwidth, distance):
    """By less than 1e-5, whatever the bandwidth and however far apart the samples."""
    rng = np.random.default_rng(seed)
    f = kde._sample(rng.normal(size=700) * rng.exponential(size=700), None)
    tau = 10**log_bandwidth
    g = kde._sample(rng.uniform(0, 1, 700) + distance * tau, None)
    assert kde._log_overlap(f, g, tau**2) == pytest.approx(kde._log_sum(f, g, tau**2), abs=1e-5)


@given(seeds, st.floats(0.01, 2))
def test_thinning_keeps_mass_mean_variance_and_skewness(seed, width):
    """The first four moments of the whole follow from those of the cells; no point is made up."""
    rng = np.random.default_rng(seed)
    points, weight = rng.normal(size=500), rng.random(500)
    sample = kde._sample(points, weight)
    fewer = kde._thinned(sample, width)
    assert len(fewer.points) <= 2 * (np.ptp(points) / width + 1)
    assert (fewer.weight > 0).all()
    assert (np.diff(fewer.points) >= 0).all()
    assert sample.points[0] - 1e-12 <= fewer.points[0] <= fewer.points[-1]
    assert fewer.points[-1] <= sample.points[-1] + 1e-12
    for power in range(4):
        assert fewer.weight @ fewer.points**power == pytest.approx(
            sample.weight @ sample.points**power, rel=1e-9, abs=1e-9
        )


@pytest.mark.parametrize("bandwidth", [None, 0.1, 1e-3])
def test_an_outlier_stretches_the_line_but_not_the_memory(rng, bandwidth):
    """A point at 1e9 costs a few arrays as long as the sample, and no accuracy."""
    n = 100_000
    a, b = rng.normal(size=(2, n))
    a[0] = 1e9
    tracemalloc.start()
    ours = kde_cross_entropy(a, b, bandwidth_a=bandwidth, bandwidth_b=bandwidth)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * a.nbytes
    if bandwidth:
        # The rest of the sample is as if alone, but for its share.
        rest = kde_cross_entropy(a[1:], b, bandwidth_a=bandwidth, bandwidth_b=bandwidth)
        assert ours == pytest.approx(rest - math.log1p(-1 / n), abs=1e-7)


@pytest.mark.parametrize("n", [40, 1500])
def test_the_divergence_of_densities_knows_neither_unit_nor_origin_nor_order(rng, n):
    """Shift, scale, reflection and order of the points change nothing."""
    a, b = rng.normal(size=n), rng.exponential(size=n)
    plain = kde_divergence(a, b)
    for shift, scale in ((0, 1e-8), (0, 1e8), (1e6, 1), (-3, -2.5)):
        assert kde_divergence(shift + scale * a, shift + scale * b) == pytest.approx(
            plain, rel=1e-5
        )
    assert kde_divergence(a[::-1], rng.permutation(b)) == plain
    assert kde_quadratic_entropy(7 * a) == pytest.approx(kde_quadratic_entropy(a) + math.log(7))


@given(seeds, st.sampled_from([3, 100, 900]), st.floats(0, 10), st.floats(0.1, 10))
def test_the_divergence_of_densities_is_symmetric_and_zero_for_equals(seed, n, shift, scale):
    """D(f, g) = D(g, f) ≥ 0 and D(f, f) = 0."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), shift + scale * rng.normal(size=n)
    assert kde_divergence(a, a) == 0
    assert kde_divergence(a, b) == pytest.approx(kde_divergence(b, a), rel=1e-9, abs=1e-12)
    assert kde_divergence(a, b) >= 0


@pytest.mark.parametrize("n", [30, 1000])
def test_the_divergence_grows_with_the_distance_and_stays_finite(rng, n):
    """What a search wants of samples that no longer overlap: still a slope to climb."""
    a, b = rng.normal(size=n), rng.normal(size=n)
    values = [kde_divergence(a, b + 10.0**power) for power in range(13)]
    assert np.isfinite(values).all()
    assert (np.diff(values[:9]) > 0).all()
    assert (np.diff(values) >= -1e-6 * np.array(values[1:])).all()


@pytest.mark.parametrize("n", [1, 5, 1000])
def test_points_without_spread_have_finite_divergences(rng, n):
    """Equal heaps 0, different heaps much; a heap beside a bell something between."""
    for place in (0.0, 0.1, -1e9):
        heap = np.full(n, place)
        assert kde_divergence(heap, np.full(n + 4, place)) == pytest.approx(0, abs=1e-12)
        assert 1e6 < kde_divergence(heap, heap + 1) < math.inf
        bell = place + rng.normal(size=50)
        assert 1 < kde_divergence(heap, bell) < 1e4
        assert math.isfinite(kde_quadratic_entropy(heap))
        assert math.isfinite(kde_cross_entropy(heap, bell))


def test_kernel_densities_of_gaussian_samples_approach_the_closed_form():
    """With n large, D_CS of the densities is that of N(m, S + σ²): the two modules agree."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(1.3, math.sqrt(0.4), 200_000), rng.normal(-0.7, math.sqrt(2.1), 200_000)
    widened = [x.var() + silverman_bandwidth(x) ** 2 for x in (a, b)]
    closed = cauchy_schwarz_divergence(a.mean(), widened[0], b.mean(), widened[1])
    assert kde_divergence(a, b) == pytest.approx(closed, rel=5e-3)


def test_samples_that_are_none_are_refused():
    """Each error says what must hold."""
    for sample in ([], [np.nan], [np.inf, 1.0], np.zeros((3, 1))):
        with pytest.raises(InputError, match="finite numbers, at least one"):
            kde_divergence(sample, [0.0, 1.0])
    for weight in ([1.0], [1.0, -1.0], [0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]):
        with pytest.raises(InputError, match="Weights must be"):
            silverman_bandwidth([0.0, 1.0], weight)
    for bandwidth in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="bandwidth must be"):
            kde_quadratic_entropy([0.0, 1.0], bandwidth=bandwidth)
