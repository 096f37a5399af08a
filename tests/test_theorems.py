"""The paper's theorems and remarks, each as the identity or the limit that it is.

Theorem 1 as printed cannot hold: N centred rows never have an invertible N×N image, and
cov(H) = a±cov(H±) with different means forces H onto one line. What its proof needs is weaker, and
is what is tested: with balanced classes and centred features, HᵀH = N/2 (Σ₊ + Σ₋) + N/4 mmᵀ, so
H⁺y is parallel to (Σ₊ + Σ₋)⁻¹m whatever the two covariances are; equal spreads on the line then
put EEM's one threshold where ELM has its own.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from extreme_entropy import EEKMClassifier
from extreme_entropy.entropy.gaussian import cauchy_schwarz_divergence
from extreme_entropy.machine.decision import GaussianPair
from extreme_entropy.machine.solving import Method, solve
from extreme_entropy.moments.summary import ClassMoments, FoldMoments


def _solved(negative, positive, shrinkage=None):
    """The paper's machine of two classes of features, without shrinkage."""
    return solve(
        FoldMoments(((negative,), (positive,))),
        Method(shrinkage, ridge=0.0, cross_fitted=False),
        log_priors=np.zeros(2),
        log_costs=np.zeros(2),
    )


def _machine_of_rows(negative, positive):
    return _solved(ClassMoments.of(negative), ClassMoments.of(positive))


def _cosine(a, b):
    return a @ b / np.sqrt((a @ a) * (b @ b))


# ------------------------------------------------------------------ theorem 1: ELM


def _twins(rng, n, h, distance):
    """Two classes that are one cloud moved to ±m: balanced, centred, equal covariances."""
    cloud = rng.normal(size=(n, h)) @ rng.normal(size=(h, h))
    cloud -= cloud.mean(axis=0)
    m = rng.normal(size=h)
    m *= distance / np.linalg.norm(m)
    return cloud - m, cloud + m


def _elm(negative, positive):
    """The pseudo-inverse's output weights for labels ∓1."""
    y = np.repeat([-1.0, 1.0], [len(negative), len(positive)])
    return np.linalg.pinv(np.concatenate([negative, positive])) @ y


@pytest.mark.parametrize(("n", "h", "distance"), [(60, 5, 0.5), (60, 5, 3.0), (200, 20, 1.0)])
def test_theorem_1_elm_and_eem_are_one_classifier(rng, n, h, distance):
    """Balanced, centred classes with equal covariances: parallel operators, the same decisions."""
    negative, positive = _twins(rng, n, h, distance)
    machine = _machine_of_rows(negative, positive)
    beta, elm = machine.leaves[0].operators[0], _elm(negative, positive)
    assert _cosine(beta, elm) == pytest.approx(1, abs=1e-10)
    new = 2 * distance * rng.normal(size=(3000, h))
    scores = machine.scores((new @ beta)[:, None])
    assert np.array_equal(scores > 0, new @ elm > 0)
    assert 0.1 < (scores > 0).mean() < 0.9


def test_theorem_1_what_elm_learns_without_error_eem_does_too(rng):
    """Where the pseudo-inverse reproduces every label (N ≤ h), so does EEM, through singular Σ."""
    negative, positive = _twins(rng, 12, 40, 1.0)
    elm = _elm(negative, positive)
    np.testing.assert_allclose(negative @ elm, -1, atol=1e-9)
    np.testing.assert_allclose(positive @ elm, 1, atol=1e-9)
    machine = _machine_of_rows(negative, positive)
    beta = machine.leaves[0].operators[0]
    np.testing.assert_allclose(beta, elm, atol=1e-9 * np.linalg.norm(elm))
    assert (machine.scores((negative @ beta)[:, None]) < 0).all()
    assert (machine.scores((positive @ beta)[:, None]) > 0).all()


def test_theorem_1_needs_centring_and_balance_but_not_equal_covariances(rng):
    """β stays parallel to H⁺y for any two covariances, and no longer off centre or off balance."""
    negative = rng.normal(size=(80, 6)) * np.geomspace(0.1, 3, 6)
    positive = rng.normal(size=(80, 6)) * np.geomspace(2, 0.2, 6)
    negative -= negative.mean(axis=0) + 0.4
    positive -= positive.mean(axis=0) - 0.4
    beta = _machine_of_rows(negative, positive).leaves[0].operators[0]
    assert _cosine(beta, _elm(negative, positive)) == pytest.approx(1, abs=1e-10)
    aside = np.array([2.0, -1.0, 0.0, 1.0, 0.0, -2.0])  # along m itself it would not matter
    assert _cosine(beta, _elm(negative + aside, positive + aside)) < 0.999
    thrice = np.repeat(positive, 3, axis=0)
    middle = np.concatenate([negative, thrice]).mean(axis=0)
    assert _cosine(beta, _elm(negative - middle, thrice - middle)) < 0.999


# ------------------------------------------------------------------ theorem 2: LS-SVM


def _rbf(A, B, gamma):
    return np.exp(-gamma * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


def _ls_svm(K, y, inverse_c):
    """b and the multipliers of the paper's bordered system."""
    n = len(y)
    system = np.block([[np.zeros((1, 1)), np.ones((1, n))], [np.ones((n, 1)), K]])
    system[1:, 1:] += inverse_c * np.eye(n)
    solution = np.linalg.solve(system, np.append(0.0, y))
    return solution[0], solution[1:]


def _eekm(X, y, gamma, ridge):
    """EEKM with every row as a landmark, the paper's decision and no shrinkage."""
    return EEKMClassifier(
        len(X),
        kernel="rbf",
        gamma=gamma,
        scale=None,
        shrinkage=None,
        ridge=ridge,
        decision="paper",
        random_state=0,
    ).fit(X, y)


def _mirrored(rng, n, d):
    """Classes that are each other's mirror image, x ↦ −x, which an rbf kernel does not see.

    The mirror is an isometry of feature space that swaps the classes and turns β into −β, so the
    two spreads on the line are equal: all that the proof asks of homogeneous covariances.
    """
    positive = rng.normal(size=(n, d)) + 0.3
    return np.concatenate([-positive, positive]), np.repeat([-1.0, 1.0], n)


@pytest.mark.parametrize("c", [0.1, 1.0, 100.0])
def test_theorem_2_ls_svm_is_eekm_with_a_ridge(rng, c):
    """For balanced rows and any C, LS-SVM's function is EEKM's line with ridge 2/(NC), at every x.

    LS-SVM's w solves (N/2 (Σ₊+Σ₋) + N/4 mmᵀ + I/C) w = N/2 m, so w is parallel to
    (Σ₊+Σ₋ + 2I/(NC))⁻¹m, for any covariances. Its zero is midway between the projected means.
    """
    y = np.repeat([-1.0, 1.0], 30)
    X = rng.normal(size=(60, 3)) * (1 + 0.5 * (y > 0))[:, None] + 0.4 * y[:, None]
    gamma, new = 0.7, 2 * rng.normal(size=(400, 3))
    b, alpha = _ls_svm(_rbf(X, X, gamma), y, 1 / c)
    ls_svm = _rbf(new, X, gamma) @ alpha + b
    machine = _eekm(X, y, gamma, 2 / (60 * c))
    line = machine.project(new) - machine.means_.mean()
    slope = (line @ ls_svm) / (line @ line)
    assert slope > 0
    np.testing.assert_allclose(ls_svm, slope * line, atol=1e-7 * np.abs(ls_svm).max())


@pytest.mark.parametrize("c", [0.1, 10.0])
def test_theorem_2_equal_spreads_make_it_one_classifier(rng, c):
    """With equal spreads EEKM's threshold is LS-SVM's zero: the same answer at any x."""
    X, y = _mirrored(rng, 30, 3)
    gamma, new = 0.7, 1.5 * rng.normal(size=(2000, 3))
    b, alpha = _ls_svm(_rbf(X, X, gamma), y, 1 / c)
    ls_svm = _rbf(new, X, gamma) @ alpha + b
    machine = _eekm(X, y, gamma, 2 / (60 * c))
    assert machine.variances_[0] == pytest.approx(machine.variances_[1], rel=1e-9)
    clear = abs(ls_svm) > 1e-6 * abs(ls_svm).max()  # but for ties that rounding decides
    assert clear.mean() > 0.99
    assert np.array_equal(machine.predict(new)[clear], np.sign(ls_svm)[clear])


def test_theorem_2_what_ls_svm_learns_without_error_eekm_does_too(rng):
    """C → ∞: LS-SVM reproduces every label; EEKM, by singular Σ, has its line and no error."""
    X, y = _mirrored(rng, 30, 3)
    gamma, new = 2.0, rng.normal(size=(200, 3))
    b, alpha = _ls_svm(_rbf(X, X, gamma), y, 0.0)
    np.testing.assert_allclose(_rbf(X, X, gamma) @ alpha + b, y, atol=1e-8)
    machine = _eekm(X, y, gamma, 0.0)
    assert np.array_equal(machine.predict(X), y)
    ls_svm = _rbf(new, X, gamma) @ alpha + b
    line = machine.project(new) - machine.means_.mean()
    np.testing.assert_allclose(line, ls_svm, atol=1e-5 * np.abs(ls_svm).max())


# ------------------------------------------------------------------ the remark on wide kernels

SAMPLE = np.array([-2.0, -1.7, -0.3, 0.1, 0.2, 2.9, 3.0])


def _normal(t, mean, variance):
    return np.exp(-((t - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


def _kde(t, sample, width):
    """⟦A⟧_σ: the mean of N(a, σ² cov(A))."""
    return np.mean([_normal(t, a, width**2 * sample.var()) for a in sample], axis=0)


def _integral(f, reach):
    return quad(f, -reach, reach, epsabs=0, epsrel=1e-9, limit=400)[0]


def test_a_wide_kernel_density_is_a_gaussian():
    """‖⟦A⟧_σ − N(m, σ²cov)‖₂ → 0, also as a share of ‖N‖₂, which itself vanishes; like σ⁻²."""
    widths = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0])
    distances, shares = [], []
    for width in widths:
        variance, reach = width**2 * SAMPLE.var(), 5 + 12 * width * SAMPLE.std()

        def gap(t, width=width, variance=variance):
            return (_kde(t, SAMPLE, width) - _normal(t, SAMPLE.mean(), variance)) ** 2

        distances.append(np.sqrt(_integral(gap, reach)))
        shares.append(distances[-1] / np.sqrt(1 / np.sqrt(4 * np.pi * variance)))
    assert np.all(np.diff(distances) < 0)
    assert np.all(np.diff(shares) < 0)
    assert shares[-1] < 2e-3
    assert np.log2(shares[-2] / shares[-1]) == pytest.approx(2, abs=0.05)
    # The Gaussian must be the right one: with twice its variance nothing vanishes.
    wrong = _kde(0.0, SAMPLE, 16.0) / _normal(0.0, SAMPLE.mean(), 2 * 16.0**2 * SAMPLE.var())
    assert abs(wrong - 1) > 0.2


def test_the_divergence_of_wide_kernel_densities_is_that_of_the_gaussians():
    """D_CS of two kernel densities tends to the closed form that EEM maximises."""
    other = 4 * SAMPLE[::-1] ** 2 / 3
    gaps = []
    for width in (1.0, 3.0, 9.0, 27.0):
        reach = 30 + 12 * width * other.std()

        def product(a, b, width=width, reach=reach):
            return np.log(_integral(lambda t: _kde(t, a, width) * _kde(t, b, width), reach))

        kernels = product(SAMPLE, SAMPLE) + product(other, other) - 2 * product(SAMPLE, other)
        closed = cauchy_schwarz_divergence(
            SAMPLE.mean(), width**2 * SAMPLE.var(), other.mean(), width**2 * other.var()
        )
        assert closed > 0.3
        gaps.append(abs(kernels - closed))
    assert np.all(np.diff(gaps) < 0)
    assert gaps[-1] < 1e-3


# ------------------------------------------------------------------ the remark on Bayes

MEANS = np.array([0.0, 0.0, 0.0]), np.array([1.2, -0.4, 0.9])
SHARED = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.5]])


def _exact(mean, covariance):
    """The summary of a Gaussian class itself; without shrinkage t and q are not asked for."""
    return ClassMoments(1e6, mean, 1e6 * covariance, np.zeros(len(mean)), 0.0, 1e6)


def test_equal_covariances_give_the_bayes_direction_and_threshold():
    """β is parallel to Σ⁻¹(m₊−m₋), with one threshold midway."""
    machine = _solved(_exact(MEANS[0], SHARED), _exact(MEANS[1], SHARED))
    bayes = np.linalg.solve(SHARED, MEANS[1] - MEANS[0])
    assert _cosine(machine.leaves[0].operators[0], bayes) == pytest.approx(1, abs=1e-14)
    pair = machine.curves[0]
    near = min(machine.thresholds[0], key=lambda t: abs(t - sum(pair.means) / 2))
    assert near == pytest.approx(sum(pair.means) / 2, abs=1e-9)


def test_equal_covariances_reach_the_bayes_error(rng):
    """Fitted on one sample, tested on another: the error is Φ(−Δ/2) within Monte Carlo's own."""
    n = 200_000
    root = np.linalg.cholesky(SHARED)
    train, test = (
        [rng.normal(size=(n, 3)) @ root.T + mean for mean in MEANS] for _ in ("fit", "see")
    )
    machine = _machine_of_rows(*train)
    wrong = [
        (machine.scores((rows @ machine.leaves[0].operators[0])[:, None]) > 0) != label
        for rows, label in zip(test, (False, True), strict=True)
    ]
    difference = MEANS[1] - MEANS[0]
    bayes = ndtr(-np.sqrt(difference @ np.linalg.solve(SHARED, difference)) / 2)
    assert 0.05 < bayes < 0.3
    error = np.mean(wrong)
    assert abs(error - bayes) < 4 * np.sqrt(bayes * (1 - bayes) / (2 * n))


def _error_along(direction, means, covariances):
    """Probability of error of the best decision on a line, with equal priors, in closed form."""
    on_line = [float(direction @ mean) for mean in means]
    spreads = [float(direction @ covariance @ direction) for covariance in covariances]
    pair = GaussianPair(tuple(on_line), tuple(spreads))
    edges = np.concatenate([[-np.inf], pair.thresholds(0.0), [np.inf]])
    wrong = 0.0
    for a, b in pairwise(edges):
        inner = (max(a, -1e6) + min(b, 1e6)) / 2
        loser = 0 if pair.log_ratio(inner) > 0 else 1
        below_a, below_b = ndtr((np.array([a, b]) - on_line[loser]) / np.sqrt(spreads[loser]))
        wrong += (below_b - below_a) / 2
    return wrong


def _best_direction(means, covariances):
    """Of 720 directions in the plane, refined, the one with the least error."""

    def error(angle):
        return _error_along(np.array([np.cos(angle), np.sin(angle)]), means, covariances)

    angles = np.linspace(0, np.pi, 720, endpoint=False)
    best = angles[np.argmin([error(angle) for angle in angles])]
    return minimize_scalar(error, bounds=(best - 0.01, best + 0.01), method="bounded").fun


def test_erratum_4_unequal_covariances_have_a_better_direction():
    """β minimises the error when Σ₊ = Σ₋; otherwise some other direction errs far less."""
    means = np.zeros(2), np.array([1.0, 0.4])
    equal = [np.array([[1.0, 0.3], [0.3, 0.5]])] * 2
    beta = _solved(_exact(means[0], equal[0]), _exact(means[1], equal[1])).leaves[0].operators[0]
    ours = _error_along(beta, means, equal)
    assert ours == pytest.approx(_best_direction(means, equal), abs=1e-9)
    # Now the second axis tells the classes apart by spread alone, which β does not look at.
    unequal = [np.diag([1.0, 0.01]), np.diag([1.0, 9.0])]
    beta = (
        _solved(_exact(means[0], unequal[0]), _exact(means[1], unequal[1])).leaves[0].operators[0]
    )
    ours, best = _error_along(beta, means, unequal), _best_direction(means, unequal)
    assert best < ours - 0.1
    assert _error_along(np.array([0.0, 1.0]), means, unequal) < ours - 0.1


def test_the_error_along_a_line_is_the_one_simulated(rng):
    """The closed form that erratum 4 is judged by agrees with drawn rows."""
    means, covariances = (np.zeros(2), np.ones(2)), (np.diag([1.0, 0.2]), np.diag([3.0, 2.0]))
    direction, n = np.array([0.6, 0.8]), 100_000
    pair = GaussianPair(
        tuple(float(direction @ m) for m in means),
        tuple(float(direction @ c @ direction) for c in covariances),
    )
    wrong = 0.0
    for mean, covariance, label in zip(means, covariances, (False, True), strict=True):
        rows = rng.normal(size=(n, 2)) * np.sqrt(np.diag(covariance)) + mean
        wrong += ((pair.log_ratio(rows @ direction) > 0) != label).mean() / 2
    assert wrong == pytest.approx(_error_along(direction, means, covariances), abs=0.006)
