"""Summary ↦ decision: β, the shrunk covariances, the thresholds, the probabilities."""

from functools import reduce
from itertools import combinations, pairwise
from operator import add

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.covariance import OAS, LedoitWolf

from extreme_entropy import EEMClassifier
from extreme_entropy.machine.coupling import couple
from extreme_entropy.machine.decision import GaussianPair
from extreme_entropy.machine.operator import Ridge, operators_of, shrink, solve_operator
from extreme_entropy.machine.solving import FoldProjections, HeldOut, Method, floored, solve
from extreme_entropy.moments.summary import ClassMoments, FoldMoments

# ------------------------------------------------------------------ the operator


def _problem(seed, h, rank=None):
    """Σ of a given rank with eigenvalues over two decades, m, and a generator."""
    rng = np.random.default_rng(seed)
    rank = h if rank is None else rank
    axes = np.linalg.qr(rng.normal(size=(h, h)))[0][:, :rank]
    covariance = axes * 10 ** rng.uniform(-1, 1, rank) @ axes.T
    return (covariance + covariance.T) / 2, rng.normal(size=h), rng


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_every_feasible_step_costs_exactly_its_own_length(seed, h):
    """βᵀm = 2, and ‖β + v‖²_Σ = ‖β‖²_Σ + ‖v‖²_Σ for any v with vᵀm = 0: β is the minimum."""
    covariance, m, rng = _problem(seed, h)
    beta = solve_operator(covariance.copy(), m, 0.0)
    assert beta @ m == pytest.approx(2, rel=1e-12)
    v = rng.normal(size=h)
    v -= v @ m / (m @ m) * m

    def spread(w):
        return w @ covariance @ w

    assert spread(beta + v) == pytest.approx(spread(beta) + spread(v), rel=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_the_operator_solves_the_lagrange_system(seed, h):
    """β is the solution of 2Σβ = λm, βᵀm = 2, solved as one bordered system."""
    covariance, m, _ = _problem(seed, h)
    system = np.block([[2 * covariance, -m[:, None]], [m[None, :], np.zeros((1, 1))]])
    theirs = np.linalg.solve(system, np.append(np.zeros(h), 2.0))[:h]
    ours = solve_operator(covariance.copy(), m, 0.0)
    np.testing.assert_allclose(ours, theirs, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize(("h", "rank"), [(3, 1), (6, 4), (9, 1), (30, 12)])
def test_a_singular_covariance_gets_the_limit_of_a_vanishing_ridge(h, rank, inside):
    """β of singular Σ is the limit of (Σ + δI)⁻¹m as δ → 0, whether or not m lies in its range."""
    covariance, m, _ = _problem(h, h, rank)
    if inside:
        m = covariance @ m
    limit = solve_operator(covariance.copy(), m, 0.0)
    assert limit @ m == pytest.approx(2, rel=1e-12)
    ridges = [1e-1, 1e-3, 1e-5, 1e-7]
    gaps = [
        np.linalg.norm(solve_operator(covariance + ridge * np.eye(h), m, 0.0) - limit)
        for ridge in ridges
    ]
    gaps = np.array(gaps) / np.linalg.norm(limit)
    assert np.all((np.diff(gaps) < 0) | (gaps[1:] < 1e-8))  # for rank 1 the limit is there at once
    assert gaps[-1] < 1e-5
    if not inside:  # then the directions in which neither class varies decide alone
        assert limit @ covariance @ limit < 1e-14 * (limit @ limit)


def test_operators_of_several_ridges_are_those_of_each(rng):
    """β for every ridge is 2Σ⁻¹m/(mᵀΣ⁻¹m) with that ridge alone on the diagonal."""
    classes = [shrink(ClassMoments.of(rng.normal(size=(30, 5)) + c), 0.1) for c in (0, 1)]
    ridges = [Ridge(0.3), Ridge(relative=0.5), Ridge(), Ridge(2.0)]
    m = classes[1].mean - classes[0].mean
    betas, added = operators_of(*classes, ridges)
    for ridge, beta, more in zip(ridges, betas, added, strict=True):
        covariance = sum(c.covariance for c in classes)
        expected = ridge.absolute + ridge.relative * np.trace(covariance) / 5
        assert more == pytest.approx(expected, rel=1e-12)
        covariance = covariance + np.eye(5) * expected
        direction = np.linalg.solve(covariance, m)
        np.testing.assert_allclose(beta, 2 * direction / (m @ direction), rtol=1e-10)


def test_one_redundant_column_never_spoils_the_operator():
    """Of h columns one follows from the others: β is still Σ⁺m scaled, for every seed."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        h = 2 + seed % 6
        rows = rng.normal(size=(50, h - 1)) @ rng.normal(size=(h - 1, h))
        covariance = np.cov(rows.T, bias=True)
        m = covariance @ rng.normal(size=h)
        direction = np.linalg.pinv(covariance, rcond=1e-12, hermitian=True) @ m
        theirs = 2 * direction / (m @ direction)
        ours = solve_operator(covariance.copy(), m, 0.0)
        assert np.linalg.norm(ours - theirs) < 1e-4 * np.linalg.norm(theirs), seed


def test_without_any_covariance_the_operator_points_from_mean_to_mean():
    """One row a class: β = 2m/‖m‖²."""
    m = np.array([3.0, 0.0, -4.0])
    np.testing.assert_allclose(solve_operator(np.zeros((3, 3)), m, 0.0), 2 * m / 25)


def test_means_that_differ_by_rounding_alone_give_no_operator():
    """β = 0 where ‖m‖ is no larger than its noise."""
    assert not solve_operator(np.eye(3), np.array([1e-9, 0, 0]), 1e-8).any()
    assert not solve_operator(np.eye(3), np.zeros(3), 0.0).any()


# ------------------------------------------------------------------ the thresholds

gaussian_pairs = st.builds(
    lambda middle, gap, low, ratio: GaussianPair(
        (middle - gap / 2, middle + gap / 2), (low, low * ratio)
    ),
    st.floats(-50, 50),
    st.sampled_from([2.0, 2.0, 0.3, -1.0]),  # 2 in the paper; held out, it may be anything
    st.floats(0.01, 20),
    st.floats(0.02, 50),
)


@given(gaussian_pairs, st.lists(st.floats(-100, 100), min_size=1, max_size=5))
def test_the_log_ratio_is_that_of_two_normal_densities(pair, points):
    """ln N(m₊,S₊) − ln N(m₋,S₋), by SciPy's densities."""
    t = np.array(points)
    low, high = (
        norm.logpdf(t, mean, np.sqrt(variance))
        for mean, variance in zip(pair.means, pair.variances, strict=True)
    )
    size = 1 + np.abs(low).max() + np.abs(high).max()
    np.testing.assert_allclose(pair.log_ratio(t), high - low, rtol=0, atol=1e-13 * size)


@given(gaussian_pairs, st.floats(-3, 3))
def test_thresholds_are_roots_and_nothing_else_changes_the_decision(pair, bias):
    """The log-odds vanish at each threshold and keep their sign between them."""
    roots = pair.thresholds(bias)
    assert np.all(np.diff(roots) > 0)
    spread = np.sqrt(max(pair.variances))
    for root in roots:
        slope = abs(root) + spread  # what rounding of t itself costs
        terms = sum(
            (root - m) ** 2 / s + slope * abs(root - m) / s
            for m, s in zip(pair.means, pair.variances, strict=True)
        )
        assert abs(pair.log_ratio(root) + bias) < 1e-12 * (1 + abs(bias) + terms)
    edges = np.concatenate([[-200 - 20 * spread], roots, [200 + 20 * spread]])
    for a, b in pairwise(edges):
        if b - a > 1e-6:
            inner = np.linspace(a, b, 23)[1:-1]
            assert len(set(np.sign(pair.log_ratio(inner) + bias))) == 1


@given(st.floats(-20, 20), st.floats(0.01, 20), st.floats(0.01, 20))
def test_thresholds_are_the_papers(middle, s_minus, s_plus):
    """t± = m₋ + (2S₋ ± √(S₋S₊(ln(S₋/S₊)(S₋−S₊)+4))) / (S₋−S₊), with m₊ − m₋ = 2."""
    assume(abs(s_minus / s_plus - 1) > 1e-3)  # the printed form cancels near equality
    m_minus = middle - 1
    root = np.sqrt(s_minus * s_plus * (np.log(s_minus / s_plus) * (s_minus - s_plus) + 4))
    printed = m_minus + (2 * s_minus + np.array([-root, root])) / (s_minus - s_plus)
    pair = GaussianPair((m_minus, m_minus + 2), (s_minus, s_plus))
    np.testing.assert_allclose(pair.thresholds(0.0), np.sort(printed), rtol=1e-9, atol=1e-9)
    # The paper's F: the positive class holds the inside where t₋ < t₊, the outside otherwise.
    inside = pair.log_ratio(printed.mean())
    assert (inside > 0) == (printed[0] < printed[1])


def test_equal_variances_give_the_papers_single_threshold():
    """t₀ = m₋ + 1; a bias moves it by −S·bias/2."""
    for s in (1e-6, 0.3, 7.0):
        pair = GaussianPair((4.0, 6.0), (s, s))
        np.testing.assert_allclose(pair.thresholds(0.0), [5.0], rtol=1e-15)
        np.testing.assert_allclose(pair.thresholds(0.8), [5.0 - 0.4 * s], rtol=1e-15)


def test_costs_decide_whether_there_are_none_one_or_two_thresholds():
    """The narrow class may lose everywhere, but the wide one always wins far out."""
    narrow_positive = GaussianPair((-1.0, 1.0), (2.0, 0.5))
    best = narrow_positive.log_ratio(np.linspace(-9, 9, 100_001)).max()
    assert len(narrow_positive.thresholds(-best - 1e-6)) == 0
    assert len(narrow_positive.thresholds(-best + 1e-6)) == 2
    assert len(narrow_positive.thresholds(100.0)) == 2
    wide_positive = GaussianPair((-1.0, 1.0), (0.5, 2.0))
    worst = wide_positive.log_ratio(np.linspace(-9, 9, 100_001)).min()
    assert len(wide_positive.thresholds(-worst + 1e-6)) == 0
    assert len(wide_positive.thresholds(-worst - 1e-6)) == 2
    assert len(wide_positive.thresholds(-100.0)) == 2
    assert len(GaussianPair((-1.0, 1.0), (2.0, 2.0)).thresholds(-100.0)) == 1
    # Equal means: two thresholds or none; the same Gaussian twice has no threshold at all.
    assert len(GaussianPair((3.0, 3.0), (1.0, 2.0)).thresholds(0.0)) == 2
    assert len(GaussianPair((3.0, 3.0), (1.0, 1.0)).thresholds(0.0)) == 0


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("bias", [0.0, 1.3, -0.4])
@pytest.mark.parametrize("means", [(-1.0, 1.0), (1e3, 1e3 + 2), (1.0, -1.0)])
def test_thresholds_are_smooth_where_the_variances_become_equal(sign, bias, means):
    """As S₊ → S₋ one root tends to t₀ steadily while the other leaves for infinity."""
    s = 0.7
    (t0,) = GaussianPair(means, (s, s)).thresholds(bias)
    assert t0 == pytest.approx(sum(means) / 2 - bias * s / (means[1] - means[0]), rel=1e-14)
    gaps, last = [], 0.0
    for power in range(1, 16):
        roots = GaussianPair(means, (s, s * (1 + sign * 10.0**-power))).thresholds(bias)
        assert len(roots) == 2
        near, far = sorted(roots, key=lambda root: abs(root - t0))
        gaps.append(abs(near - t0))
        assert gaps[-1] < 2 * 10.0**-power + 1e-12
        assert abs(far - t0) > last
        last = abs(far - t0)
    steady = [gap for gap in gaps if gap > 1e-12]
    assert len(steady) >= 6
    assert np.all(np.diff(steady) < 0)


@pytest.mark.parametrize(
    ("variances", "gap"),
    [
        ((0.0, 0.0), 2.0),
        ((0.0, 3.0), 2.0),
        ((3.0, 0.0), 2.0),
        ((-1e-18, 0.5), 2.0),
        ((0.0, 0.0), 0.0),
        ((0.0, 0.0), -1e-3),
        ((1e-300, 0.0), 2.0),
        ((1e-30, 1e30), 2.0),
    ],
)
def test_a_class_without_spread_still_gets_a_density(variances, gap):
    """Variances are floored to be positive; log-odds and thresholds are then finite."""
    low, high = floored(*variances, gap)
    assert min(low, high) > 0
    assert low >= variances[0]
    assert high >= variances[1]
    pair = GaussianPair((0.0, gap), (low, high))
    assert np.isfinite(pair.log_ratio(np.linspace(-5, 5, 11))).all()
    assert np.isfinite(pair.thresholds(0.3)).all()


def test_variances_of_a_usual_size_are_not_floored():
    """The floor is a millionth of the other variance, no more."""
    assert floored(0.2, 1e5, 2.0) == (0.2, 1e5)
    assert floored(0.0, 1e5, 2.0) == (1e5 * 1e-6, 1e5)


# ------------------------------------------------------------------ the covariances


def _rows(rng, n, h):
    """Rows whose columns differ widely in spread, so that ε lies inside (0, 1)."""
    mixing = np.linalg.qr(rng.normal(size=(h, h)))[0] * np.geomspace(1, 0.05, h)
    return rng.standard_t(7, size=(n, h)) @ mixing.T + 3.0


THEIRS = {"ledoit-wolf": LedoitWolf, "oas": OAS}


@pytest.mark.parametrize("name", THEIRS)
@pytest.mark.parametrize(("n", "h"), [(25, 80), (300, 20), (40, 40), (2000, 5), (60, 2)])
def test_shrinkage_is_scikit_learns(rng, name, n, h):
    """ε and Σ from n, S and q alone, on data where ε is strictly between 0 and 1."""
    rows = _rows(rng, n, h)
    theirs = THEIRS[name]().fit(rows)
    assert 1e-4 < theirs.shrinkage_ < 0.999
    _, _, sigma, epsilon, *_ = shrink(ClassMoments.of(rows), name)
    assert epsilon == pytest.approx(theirs.shrinkage_, rel=1e-11)
    np.testing.assert_allclose(sigma, theirs.covariance_, rtol=0, atol=1e-12 * np.trace(sigma) / h)


@pytest.mark.parametrize("name", THEIRS)
def test_one_column_cannot_be_shrunk(rng, name):
    """With h = 1 the target is the variance itself, whatever ε."""
    rows = _rows(rng, 40, 1)
    sigma = shrink(ClassMoments.of(rows), name).covariance
    np.testing.assert_allclose(sigma, THEIRS[name]().fit(rows).covariance_, rtol=1e-12)


@pytest.mark.parametrize("name", THEIRS)
def test_shrinkage_of_a_merged_summary_is_that_of_all_rows(rng, name):
    """ε survives a merge of parts with different means, at an offset of 10⁴, and a subtraction."""
    parts = [_rows(rng, n, 12) + 2 * rng.normal(size=12) + 1e4 for n in (1, 30, 7, 55)]
    extra = ClassMoments.of(_rows(rng, 20, 12))
    merged = (reduce(add, map(ClassMoments.of, parts)) + extra) - extra
    _, _, sigma, epsilon, *_ = shrink(reduce(add, map(ClassMoments.of, parts)), name)
    theirs = THEIRS[name]().fit(np.concatenate(parts) - 1e4)
    assert 1e-3 < theirs.shrinkage_ < 0.999
    assert epsilon == pytest.approx(theirs.shrinkage_, rel=1e-9)
    np.testing.assert_allclose(sigma, theirs.covariance_, atol=1e-9)
    if name == "oas":  # q is lost to the 10⁴ between the parts and the extra rows, as it must be
        assert shrink(merged, name).epsilon == pytest.approx(epsilon, rel=1e-4)


def test_a_number_is_the_shrinkage_itself(rng):
    """Σ = (1−ε)cov + ε tr(cov)/h I; None is ε = 0. The summary is left as it was."""
    moments = ClassMoments.of(_rows(rng, 30, 4))
    before = moments.scatter.copy()
    cov = np.cov(_rows(np.random.default_rng(20150101), 30, 4).T, bias=True)
    for epsilon in (0.0, 0.3, 1.0):
        _, _, sigma, given_back, *_ = shrink(moments, epsilon)
        expected = (1 - epsilon) * cov + epsilon * np.trace(cov) / 4 * np.eye(4)
        np.testing.assert_allclose(sigma, expected, atol=1e-13)
        assert given_back == epsilon
    np.testing.assert_allclose(shrink(moments, None).covariance, cov, atol=1e-13)
    assert np.array_equal(moments.scatter, before)


@pytest.mark.parametrize("name", ["ledoit-wolf", "oas", None])
def test_one_row_or_none_has_no_covariance(name):
    """Zeros, not NaN."""
    for moments in (ClassMoments.empty(3), ClassMoments.of(np.ones((1, 3)))):
        _, _, sigma, epsilon, *_ = shrink(moments, name)
        assert not sigma.any()
        assert 0 <= epsilon <= 1


# ------------------------------------------------------------------ the probabilities


def _machine(rng, n_classes, log_priors=None, log_costs=None, **settings):
    """A machine on Gaussian rows, solved from their moments, and its rows."""
    rows = [
        rng.normal(size=(50 + 10 * c, 3)) * (1 + c) + 2 * rng.normal(size=3)
        for c in range(n_classes)
    ]
    moments = FoldMoments(tuple((ClassMoments.of(part),) for part in rows))
    zeros = np.zeros(n_classes)
    settings = {"shrinkage": "ledoit-wolf", "ridge": 0.0, "cross_fitted": False} | settings
    machine = solve(
        moments,
        Method(**settings),
        log_priors=zeros if log_priors is None else np.log(log_priors),
        log_costs=zeros if log_costs is None else np.log(log_costs),
    )
    return machine, np.concatenate(rows), rows


def _solved(rows, shrinkage=None):
    return solve(
        FoldMoments(tuple((ClassMoments.of(part),) for part in rows)),
        Method(shrinkage, ridge=0.0, cross_fitted=False),
        log_priors=np.zeros(2),
        log_costs=np.zeros(2),
    )


def test_the_line_carries_the_classes_own_moments(rng):
    """m± = βᵀm± and S± = βᵀΣ±β: with ε = 0, the mean and variance of the projected rows."""
    machine, _, rows = _machine(rng, 2, shrinkage=None)
    projected = [part @ machine.leaves[0].operators[0] for part in rows]
    np.testing.assert_allclose(machine.curves[0].means, [p.mean() for p in projected])
    np.testing.assert_allclose(machine.curves[0].variances, [p.var() for p in projected])
    assert projected[1].mean() - projected[0].mean() == pytest.approx(2)


def test_one_row_borrows_the_spread_of_the_other_class(rng):
    """A row alone says nothing of its spread; with one row a class both get a tiny one."""
    row, rows = rng.normal(size=(1, 3)) + 3, rng.normal(size=(40, 3))
    for pair in ((row, rows), (rows, row)):
        machine = _solved(pair)
        low, high = machine.curves[0].variances
        assert low == high == pytest.approx((rows @ machine.leaves[0].operators[0]).var())
        assert machine.diagnostics == ("one row",)
    low, high = _solved((row, rows[:1])).curves[0].variances
    assert 0 < low == high < 1e-6


def test_independent_rows_can_be_projected_to_one_point_a_class(rng):
    """The paper's equation 1: as many features as rows overfit, which shrinkage prevents."""
    negative, positive = rng.normal(size=(2, 6, 20))
    beta = np.linalg.pinv(np.vstack([negative, positive])) @ np.repeat([-1.0, 1.0], 6)
    np.testing.assert_allclose(negative @ beta, -1)
    np.testing.assert_allclose(positive @ beta, 1)
    collapsed, shrunk = (
        max(_solved((negative, positive), shrinkage).curves[0].variances)
        for shrinkage in (None, "ledoit-wolf")
    )
    assert collapsed < 1e-9 < 0.01 < shrunk


def test_equal_means_give_a_constant_machine(rng):
    """β = 0 and even odds everywhere, with a remark for the user."""
    rows = rng.normal(size=(40, 3))
    machine = _solved((rows, 3 * (rows - rows.mean(axis=0)) + rows.mean(axis=0)))
    assert machine.diagnostics == ("degenerate",)
    assert not machine.leaves[0].operators.any()
    np.testing.assert_array_equal(np.exp(machine.log_probabilities(np.zeros((4, 1)))), 0.5)
    assert len(machine.thresholds[0]) == 0


def test_ridge_is_added_once_to_the_sum_of_the_covariances(rng):
    """β ∝ (Σ₊ + Σ₋ + rI)⁻¹m; the variances on the line stay those of Σ±."""
    machine, _, rows = _machine(rng, 2, shrinkage=None, ridge=1.7)
    covariances = [np.cov(part.T, bias=True) for part in rows]
    m = rows[1].mean(axis=0) - rows[0].mean(axis=0)
    direction = np.linalg.solve(sum(covariances) + 1.7 * np.eye(3), m)
    beta = 2 * direction / (m @ direction)
    np.testing.assert_allclose(machine.leaves[0].operators[0], beta, rtol=1e-10)
    np.testing.assert_allclose(
        machine.curves[0].variances, [beta @ cov @ beta for cov in covariances], rtol=1e-10
    )


@pytest.mark.parametrize(
    ("priors", "n_thresholds"), [((0.5, 0.5), 2), ((0.9, 0.1), 2), ((0.02, 0.98), 0)]
)
def test_probabilities_follow_from_bayes_rule(rng, priors, n_thresholds):
    """p(±|t) = π±N±(t) / Σ πN(t); costs change the scores and thresholds but no probability."""
    machine, X, _ = _machine(rng, 2, priors, (1.0, 5.0))
    t = X @ machine.leaves[0].operators.T
    pair = machine.curves[0]
    joint = np.array(priors) * norm.pdf(t, pair.means, np.sqrt(pair.variances))
    ours = np.exp(machine.log_probabilities(t))
    np.testing.assert_allclose(ours, joint / joint.sum(axis=1, keepdims=True), atol=1e-12)
    odds = np.log(joint[:, 1] * 5.0) - np.log(joint[:, 0])
    np.testing.assert_allclose(machine.scores(t), odds, atol=1e-9)
    (thresholds,) = machine.thresholds
    assert len(thresholds) == n_thresholds
    at = machine.scores(thresholds[:, None])
    np.testing.assert_allclose(at, 0, atol=1e-9)
    free = machine.with_priors_and_costs(machine.log_priors, np.zeros(2))
    np.testing.assert_array_equal(np.exp(free.log_probabilities(t)), ours)


def test_log_probabilities_stay_finite_where_probabilities_vanish():
    """Far out on the line ln p is the log-odds themselves."""
    machine, *_ = _machine(np.random.default_rng(3), 2)
    t = np.array([[-1e6], [1e6]])
    logs = machine.log_probabilities(t)
    assert np.isfinite(logs).all()
    assert logs.min() < -1e6


def test_every_pair_of_many_classes_is_the_machine_of_those_two(rng):
    """Three classes are three lines, each as if the third class were not there."""
    machine, _, rows = _machine(rng, 3)
    assert machine.pairs == ((0, 1), (0, 2), (1, 2))
    for p, (i, j) in enumerate(machine.pairs):
        alone = solve(
            FoldMoments(((ClassMoments.of(rows[i]),), (ClassMoments.of(rows[j]),))),
            Method("ledoit-wolf", ridge=0.0, cross_fitted=False),
            log_priors=np.zeros(2),
            log_costs=np.zeros(2),
        )
        np.testing.assert_allclose(
            machine.leaves[0].operators[p], alone.leaves[0].operators[0], rtol=1e-12
        )
        assert machine.curves[p] == alone.curves[0]


# ------------------------------------------------------------------ coupling


def _pairs(n_classes):
    return tuple(combinations(range(n_classes), 2))


@given(st.integers(0, 10**6), st.integers(2, 7))
def test_coupling_finds_the_probabilities_behind_consistent_odds(seed, n_classes):
    """Where r_ij = p_i / (p_i + p_j) for some p, coupling gives that p."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(n_classes, 2.0), size=5)
    odds = np.column_stack([np.log(p[:, j] / p[:, i]) for i, j in _pairs(n_classes)])
    np.testing.assert_allclose(np.exp(couple(odds, _pairs(n_classes), n_classes)), p, atol=1e-12)


@pytest.mark.parametrize("n_classes", [3, 4, 6])
def test_coupling_minimises_the_objective_of_wu_lin_and_weng(rng, n_classes):
    """For odds no p can explain, p minimises Σ(r_ji p_i − r_ij p_j)² over the simplex."""
    pairs = _pairs(n_classes)
    odds = rng.normal(scale=1.5, size=(6, len(pairs)))
    ours = np.exp(couple(odds, pairs, n_classes))
    for row, p in zip(odds, ours, strict=True):
        r = np.zeros((n_classes, n_classes))
        for (i, j), value in zip(pairs, row, strict=True):
            r[j, i] = 1 / (1 + np.exp(-value))
            r[i, j] = 1 - r[j, i]

        def objective(q, r=r):
            return np.sum((r.T * q[:, None] - r * q[None, :]) ** 2)

        best = minimize(
            objective,
            np.full(n_classes, 1 / n_classes),
            method="SLSQP",
            bounds=[(0, 1)] * n_classes,
            constraints={"type": "eq", "fun": lambda q: q.sum() - 1},
            options={"ftol": 1e-15, "maxiter": 500},
        )
        np.testing.assert_allclose(p, best.x, atol=1e-5)
        assert objective(p) <= best.fun + 1e-12


@given(st.integers(0, 10**6), st.integers(2, 6), st.sampled_from([1.0, 10.0, 1000.0]))
def test_coupled_probabilities_sum_to_one(seed, n_classes, size):
    """Positive, and one in sum, however sure or contradictory the pairs are."""
    pairs = _pairs(n_classes)
    odds = np.random.default_rng(seed).normal(scale=size, size=(20, len(pairs)))
    p = np.exp(couple(odds, pairs, n_classes))
    assert (p > 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)


def test_coupling_two_classes_changes_nothing(rng):
    """For one pair p is r itself; and blocks of rows do not matter."""
    odds = rng.normal(scale=4, size=(9000, 1))
    p = np.exp(couple(odds, ((0, 1),), 2))
    np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-odds[:, 0])), rtol=1e-9)


def test_classes_may_be_renamed(rng):
    """Swapping two classes swaps their probabilities."""
    odds = rng.normal(size=(10, 3))
    p = couple(odds, ((0, 1), (0, 2), (1, 2)), 3)
    renamed = couple(
        np.column_stack([-odds[:, 0], odds[:, 2], odds[:, 1]]), ((0, 1), (0, 2), (1, 2)), 3
    )
    np.testing.assert_allclose(renamed[:, [1, 0, 2]], p, atol=1e-12)


# ------------------------------------------------------------------ the cross-fitted decision


def _operator_of(negative, positive):
    """β of two sets of rows, with scikit-learn's Ledoit–Wolf covariances."""
    sigma = LedoitWolf().fit(negative).covariance_ + LedoitWolf().fit(positive).covariance_
    m = positive.mean(axis=0) - negative.mean(axis=0)
    direction = np.linalg.solve(sigma, m)
    return 2 * direction / (m @ direction)


def _middle(beta, negative, positive):
    return beta @ (negative.mean(axis=0) + positive.mean(axis=0)) / 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_cross_fitted_gaussians_are_those_of_held_out_rows(seed, n_classes):
    """Row by row and fold by fold: each row projected by the β that has not seen its fold."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, size=160, p=[0.75, 0.25] if n_classes == 2 else [0.5, 0.3, 0.2])
    X = rng.normal(size=(160, 4)) + 1.2 * np.eye(4)[y]
    fitted = EEMClassifier(25, activation="rbf", ridge=0.0, random_state=seed).fit(X, y)
    phi = fitted.feature_map_
    H, folds = phi(X), phi.content(X) % np.uint64(5)
    for p, (i, j) in enumerate(fitted.machine_.pairs):
        held_out = {i: [], j: []}
        for k in range(5):
            outside = [H[(y == c) & (folds != k)] for c in (i, j)]
            beta = _operator_of(*outside)
            for c in (i, j):
                rows = H[(y == c) & (folds == k)]
                held_out[c].append(rows @ beta - _middle(beta, *outside))
        whole = [H[y == c] for c in (i, j)]
        beta = _operator_of(*whole)
        lines = [np.concatenate(held_out[c]) + _middle(beta, *whole) for c in (i, j)]
        ours = fitted.machine_.curves[p]
        np.testing.assert_allclose(fitted.machine_.leaves[0].operators[p], beta, rtol=1e-6)
        np.testing.assert_allclose(ours.means, [line.mean() for line in lines], atol=1e-7)
        np.testing.assert_allclose(ours.variances, [line.var() for line in lines], rtol=1e-6)
        # It matters: seen from outside, the classes are closer than they look from inside.
        assert ours.means[1] - ours.means[0] < 1.99


def test_the_automatic_ridge_is_the_best_on_held_out_rows(rng):
    """Of a few shares of tr(Σ)/h it is the one that maximises (m₊−m₋)/√(S₊+S₋) out of fold."""
    chosen = set()
    for noise in (0.1, 1.0, 3.0):
        y = rng.integers(0, 2, 90)
        X = noise * rng.normal(size=(90, 6)) + y[:, None]
        fitted = EEMClassifier(60, activation="relu", shrinkage=0.0, random_state=0).fit(X, y)
        phi = fitted.feature_map_
        H, folds = phi(X), phi.content(X) % np.uint64(5)
        shares = np.array(Method().ridge_shares)
        best = shares[np.argmax([_out_of_fold_separation(H, y, folds, s) for s in shares])]
        trace = sum(np.trace(np.cov(H[y == c].T, bias=True)) for c in (0, 1))
        assert fitted.ridge_ == pytest.approx(best * trace / H.shape[1], rel=1e-9)
        chosen.add(best)
    assert len(chosen) > 1  # or any rule that ignores the rows would pass


def _out_of_fold_separation(H, y, folds, share):
    held_out = [[], []]
    for k in range(5):
        outside = [H[(y == c) & (folds != k)] for c in (0, 1)]
        sigma = sum(np.cov(rows.T, bias=True) for rows in outside)
        sigma += share * np.trace(sigma) / len(sigma) * np.eye(len(sigma))
        m = outside[1].mean(axis=0) - outside[0].mean(axis=0)
        beta = solve_operator(sigma, m, 0.0)
        for c in (0, 1):
            rows = H[(y == c) & (folds == k)]
            held_out[c].append(rows @ beta - _middle(beta, *outside))
    low, high = map(np.concatenate, held_out)
    return (high.mean() - low.mean()) / np.sqrt(low.var() + high.var())


@pytest.mark.parametrize("ridge", [0.25, "auto"])
def test_the_ridge_that_was_used_is_told(ridge):
    """A number is itself; "auto" is one of its shares of the mean of Σ's diagonal."""
    rng = np.random.default_rng(5)
    y = np.arange(200) % 2
    machine = EEMClassifier(15, ridge=ridge, random_state=0).fit(rng.normal(size=(200, 4)), y)
    totals = machine.summary_.leaves[0].totals
    mean = sum(np.trace(shrink(t, "ledoit-wolf").covariance) for t in totals) / 15
    choices = [ridge] if ridge != "auto" else [share * mean for share in Method().ridge_shares]
    assert np.isclose(machine.ridge_, choices, rtol=1e-9, atol=1e-12).any()


def test_held_out_rows_that_are_equal_but_for_rounding_are_not_separated(rng):
    """Their gap is no more than rounding, and so is their variance: the ratio says nothing."""
    means = np.full((3, 2, 1, 2), 0.37)  # folds, ridges, pairs, classes
    means[0, 1, 0, 1] += 1e-16
    means[1, 1, 0, 0] -= 2e-16
    n, zeros = np.full((2, 1, 2), 4.0), np.zeros((2, 1, 2))

    def pooled():
        return HeldOut.pooled([FoldProjections(n, m, zeros) for m in means])

    np.testing.assert_array_equal(pooled().separations, 0)
    assert pooled().best == 0
    means[:, 1, 0, 1] += 1.0  # a gap that is one
    assert pooled().best == 1
