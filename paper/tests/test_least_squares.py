"""ELM, WELM and LS-SVM are what their formulas say, and scikit-learn's citizens."""

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.estimator_checks import parametrize_with_checks

from extreme_entropy import DivergenceSearch, EEMClassifier, gmean_score
from extreme_entropy.errors import InputError, TooLargeError
from extreme_entropy_paper import ELMClassifier, LSSVMClassifier, WELMClassifier
from extreme_entropy_paper.elm import solve_beta
from extreme_entropy_paper.errors import IndefiniteWarning
from extreme_entropy_paper.lssvm import memory_needed, solve_bordered

BOTH_ELMS = [ELMClassifier, WELMClassifier]


def table(n=150, d=4, n_classes=2, seed=3):
    """Rows with zeros, one class larger than the next."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.geometric(0.6, n) - 1, n_classes - 1)
    y[:n_classes] = np.arange(n_classes)
    X = rng.exponential(size=(n, d)) * (rng.random((n, d)) < 0.7)
    X[:, 0] += y
    X[:, 1] -= 0.5 * y
    return X, y


def counts_of(X, y, seed=5):
    """Whole weights from 0 to 3, and the rows repeated as often."""
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    times[np.unique(y, return_index=True)[1]] = 2
    return times, np.repeat(X, times, axis=0), np.repeat(y, times)


def peak_of(work):
    """The most bytes held at once while `work` ran."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def assert_same_answers(ours, theirs, X, digits=1e-7):
    b = theirs.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), b, atol=digits * abs(b).max(), rtol=0)


# -------------------------------------------------------------------- scikit-learn

MACHINES = [
    ELMClassifier(30, activation="nsig", C=10.0, random_state=0),
    ELMClassifier(20, activation="rbf", random_state=0),
    WELMClassifier(30, random_state=0),
    WELMClassifier(40, C=100.0, random_state=0),
    LSSVMClassifier(),
    LSSVMClassifier(100.0, balanced=False, gamma=0.5),
]


@pytest.mark.filterwarnings("ignore::extreme_entropy.errors.ExtremeEntropyWarning")
@parametrize_with_checks(MACHINES)
def test_scikit_learn_checks(estimator, check):
    """No expected failures are listed."""
    check(estimator)


# -------------------------------------------------------------------- ELM and WELM


def hidden(machine, X):
    """φ(X), written out for the paper's sig: features in [0, 1], w and b uniform."""
    Z = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    neurons = machine._outputs.features
    return 1 / (1 + np.exp(-Z @ neurons.weights.T + neurons.biases))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rival", BOTH_ELMS)
def test_beta_is_the_papers_pseudo_inverse(rival, n_classes):
    """β = (B·H)⁺ (B·T), with B_i² = 1/(rows of the class) in WELM."""
    X, y = table(n_classes=n_classes)
    ours = rival(15, activation="sig", random_state=0).fit(X, y)
    H = hidden(ours, X)
    B = np.ones(len(y)) if rival is ELMClassifier else np.bincount(y)[y] ** -0.5
    T = np.where(y[:, None] == np.arange(n_classes), 1.0, -1.0)[:, 1 if n_classes == 2 else 0 :]
    theirs = np.linalg.pinv(B[:, None] * H) @ (B[:, None] * T)
    beta = ours.beta_.reshape(-1, 15).T
    np.testing.assert_allclose(beta, theirs, atol=1e-9 * abs(theirs).max(), rtol=0)
    outputs = ours.decision_function(X).reshape(len(y), -1)
    np.testing.assert_allclose(outputs, H @ theirs, atol=1e-9)


@pytest.mark.parametrize("n_hidden", [200, 30])
def test_beta_is_the_shortest_of_all_solutions(n_hidden):
    """With more neurons than rows the outputs are the targets and β is in the span of the rows."""
    X, y = table(n=60)
    ours = WELMClassifier(n_hidden, activation="rbf", random_state=0).fit(X, y)
    H = ours._outputs.features(ours._scaling(X))
    if n_hidden > len(y):
        np.testing.assert_allclose(ours.decision_function(X), 2 * y - 1, atol=1e-6)
    in_span = np.linalg.lstsq(H.T, ours.beta_)[0] @ H
    np.testing.assert_allclose(in_span, ours.beta_, atol=1e-6 * abs(ours.beta_).max())


@pytest.mark.parametrize("rival", BOTH_ELMS)
def test_c_adds_its_inverse_to_the_diagonal(rival):
    """β = (HᵀWH + I/C)⁻¹ HᵀWT."""
    X, y = table()
    ours = rival(25, C=50.0, random_state=0).fit(X, y)
    H, t = hidden(ours, X), 2.0 * y - 1
    W = np.ones(len(y)) if rival is ELMClassifier else 1 / np.bincount(y)[y]
    theirs = np.linalg.solve(H.T @ (W[:, None] * H) + np.eye(25) / 50, H.T @ (W * t))
    np.testing.assert_allclose(ours.beta_, theirs, atol=1e-9 * abs(theirs).max())


@pytest.mark.parametrize("activation", ["sig", "nsig", "rbf"])
def test_the_neurons_are_those_of_eem(activation):
    """With the same seed both have the same φ."""
    X, y = table()
    eem = EEMClassifier.paper(activation, 20, random_state=7).fit(X, y)
    welm = WELMClassifier(20, activation=activation, random_state=7).fit(X, y)
    ours = welm._outputs.features(welm._scaling(X))
    np.testing.assert_allclose(ours, eem.transform(X), rtol=0, atol=1e-14)


def test_more_rows_need_no_more_memory():
    """What a fit adds beyond its rows does not grow with n."""
    rng = np.random.default_rng(0)
    X = rng.random((80_000, 3))
    y = (X.sum(axis=1) > 1.8).astype(int)

    def peak(n):
        machine = WELMClassifier(100, random_state=0)
        return peak_of(lambda: machine.fit(X[:n], y[:n]))

    peak(1000)  # modules are loaded here
    rows = 80_000 * 8 * 16  # checked, counted and scaled; labels, weights and targets
    assert peak(80_000) < peak(20_000) + rows < 80_000 * 100 * 8 / 2


@pytest.mark.parametrize("C", [None, 3.0])
def test_blocks_of_rows_give_the_pseudo_inverse_of_all(C):
    """Many blocks, the last of one row, weights, three classes: as if all were held at once."""
    X, y = table(n=401, n_classes=3)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    whole = WELMClassifier(20, C=C, activation="rbf", random_state=0).fit(X, y, weight)
    W = weight / np.bincount(y, weight)[y]
    T = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    neurons, Z = whole._outputs.features, whole._scaling(X)
    blocks = solve_beta(neurons, Z, T, W, 0.0 if C is None else 1 / C, block=25)
    A, R = np.sqrt(W)[:, None] * neurons(Z), np.sqrt(W)[:, None] * T
    if C is not None:
        A, R = np.vstack([A, np.eye(20) / C**0.5]), np.vstack([R, np.zeros((20, 3))])
    theirs = np.linalg.pinv(A) @ R
    for ours in (blocks, whole.beta_.T):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-8 * abs(theirs).max())


def test_blocks_keep_what_squares_would_lose():
    """Singular values of 1e-12 of the largest count, in one block or many, unlike with HᵀWH."""
    X, y = table(n=3000, d=2)
    whole = WELMClassifier(60, random_state=0).fit(X, y)
    H, W, t = hidden(whole, X), 1 / np.bincount(y)[y], 2.0 * y - 1
    Z, neurons = whole._scaling(X), whole._outputs.features
    blocks = H @ solve_beta(neurons, Z, t[:, None], W, 0.0, block=100)[:, 0]
    values = np.linalg.svd(np.sqrt(W)[:, None] * H, compute_uv=False)
    assert values[-1] < 1e-8 * values[0]
    squared = H @ np.linalg.pinv(H.T @ (W[:, None] * H), hermitian=True) @ (H.T @ (W * t))
    far = abs(squared - whole.decision_function(X)).max()
    assert abs(blocks - whole.decision_function(X)).max() < 1e-3 * far


def test_weighted_finds_the_rare_class():
    """On rows it has not seen, WELM's GMean is far above ELM's."""
    X, y = make_classification(3000, weights=[0.95], class_sep=0.6, flip_y=0.02, random_state=1)
    X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
    plain, weighted = (
        gmean_score(y_new, rival(100, random_state=0).fit(X, y).predict(X_new))
        for rival in BOTH_ELMS
    )
    assert weighted > plain + 0.2


# -------------------------------------------------------------------- LS-SVM


def kernel_of(X, gamma):
    Z = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    return rbf_kernel(Z, gamma=gamma)


@pytest.mark.parametrize("C", [0.1, 1.0, 1e4])
@pytest.mark.parametrize("balanced", [True, False])
def test_alpha_and_b_solve_the_bordered_system(balanced, C):
    """[0 1ᵀ; 1 K+D][b; α] = [0; y], with D = 1/C or, balanced, (rows of class / largest)/C."""
    X, y = table()
    ours = LSSVMClassifier(C, gamma=2.0, balanced=balanced).fit(X, y)
    sizes = np.bincount(y)
    Q = sizes[y] / sizes.max() if balanced else np.ones(len(y))
    A = kernel_of(X, 2.0) + np.diag(Q / C)
    assert abs(ours.alpha_.sum()) < 1e-10 * abs(ours.alpha_).sum()
    t = 2.0 * y - 1
    np.testing.assert_allclose(A @ ours.alpha_ + ours.intercept_, t, atol=1e-8)
    # Errors of the optimum: ξ = Dα.
    np.testing.assert_allclose(t - ours.decision_function(X), Q / C * ours.alpha_, atol=1e-8)


def test_suykens_form_with_labels_in_the_border_is_the_same_machine():
    """[0 yᵀ; y yyᵀ∘K + D][b; a] = [0; 1] has a = yα and the same b."""
    X, y = table()
    ours = LSSVMClassifier(5.0, gamma=2.0).fit(X, y)
    t, sizes = 2.0 * y - 1, np.bincount(y)
    omega = np.outer(t, t) * kernel_of(X, 2.0) + np.diag(sizes[y] / sizes.max() / 5.0)
    bordered = np.block([[np.zeros((1, 1)), t[None]], [t[:, None], omega]])
    b, *a = np.linalg.solve(bordered, np.r_[0.0, np.ones(len(y))])
    np.testing.assert_allclose(ours.intercept_, b, atol=1e-10)
    np.testing.assert_allclose(ours.alpha_, t * np.array(a), atol=1e-9 * abs(ours.alpha_).max())


def test_every_other_machine_of_the_same_kernel_costs_more():
    """f minimises ½αᵀKα + (C/2) Σ w(y − f)²: no small step of α and b makes it less."""
    X, y = table()
    C, gamma = 3.0, 2.0
    ours = LSSVMClassifier(C, gamma=gamma).fit(X, y)
    K, t, sizes = kernel_of(X, gamma), 2.0 * y - 1, np.bincount(y)
    w = sizes.max() / sizes[y]

    def cost(alpha, b):
        return alpha @ K @ alpha / 2 + C / 2 * w @ (t - K @ alpha - b) ** 2

    rng = np.random.default_rng(0)
    least = cost(ours.alpha_, ours.intercept_)
    for _ in range(20):
        step, shift = rng.normal(size=len(y)), rng.normal()
        for size in (1e-3, -1e-3):
            assert cost(ours.alpha_ + size * step, ours.intercept_ + size * shift) > least


def test_targets_are_met_but_for_the_ridge():
    """y − f = Dα on the training rows and Σα = 0."""
    X, y = table(n_classes=3)
    ours = LSSVMClassifier(2.0, balanced=False).fit(X, y)
    T = np.where(y == np.arange(3)[:, None], 1.0, -1.0)
    np.testing.assert_allclose(T - ours.decision_function(X).T, ours.alpha_ / 2, atol=1e-9)
    np.testing.assert_allclose(ours.alpha_.sum(axis=1), 0, atol=1e-9)
    assert ours.score(X, y) > 0.6


def test_each_class_of_many_is_a_machine_of_its_own():
    """Without balance, column c is the binary machine of class c against all others."""
    X, y = table(n_classes=3)
    machine = LSSVMClassifier(4.0, balanced=False)
    ours = clone(machine).fit(X, y)
    for c in range(3):
        binary = clone(machine).fit(X, y == c)
        np.testing.assert_allclose(
            ours.decision_function(X)[:, c], binary.decision_function(X), atol=1e-9
        )
        np.testing.assert_allclose(ours.intercept_[c], binary.intercept_, atol=1e-9)


def test_balance_helps_the_rare_class():
    """On rows it has not seen, balanced LS-SVM has the better GMean."""
    X, y = make_classification(1500, weights=[0.95], class_sep=0.6, flip_y=0.02, random_state=1)
    X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
    plain, balanced = (
        LSSVMClassifier(gamma=0.1, balanced=b).fit(X, y).predict(X_new) for b in (False, True)
    )
    assert gmean_score(y_new, balanced) > gmean_score(y_new, plain) + 0.2


def test_what_is_singular_to_rounding_is_still_solved_and_said():
    """Cholesky fails; the symmetric solve still fits the rows, with a warning."""
    X, y = table()
    with pytest.warns(IndefiniteWarning, match="not positive definite"):
        ours = LSSVMClassifier(1e17, gamma=1e-3, balanced=False).fit(X, y)
    assert np.isfinite(ours.decision_function(X)).all()


def test_a_failed_cholesky_leaves_no_trace(rng):
    """A pivot fails only after others have overwritten half of K; the answer is still exact."""
    n = 200
    K = rng.normal(size=(n, n)) * 0.01
    K = K + K.T + np.diag(np.where(np.arange(n) < n - 5, 1.0, -3.0))
    y = rng.choice([-1.0, 1.0], size=(n, 1))
    ridges = rng.random(n)
    bordered = np.block(
        [[np.zeros((1, 1)), np.ones((1, n))], [np.ones((n, 1)), K + np.diag(ridges)]]
    )
    theirs = np.linalg.solve(bordered, np.concatenate([[[0.0]], y]))
    alpha, b, definite = solve_bordered(K.copy(), ridges, y)
    assert not definite
    np.testing.assert_allclose(np.concatenate([[b], alpha]), theirs, atol=1e-10)


# -------------------------------------------------------------------- memory of LS-SVM


def test_too_many_rows_are_refused_before_the_kernel_is_made():
    """The paper's protein homology would take 170 GB; the refusal takes next to nothing."""
    X = np.zeros((145_751, 1))
    y = np.arange(len(X)) % 2

    def refuse():
        match = r"170 GB for 145751 rows.* 24 GB are allowed by max_memory.*EEKM"
        with pytest.raises(TooLargeError, match=match):
            LSSVMClassifier(max_memory=24e9).fit(X, y)

    assert peak_of(refuse) < 50e6


def test_max_memory_sets_the_limit():
    """The limit is the user's to lower or raise, and the error is both of ours and built in."""
    X, y = table(n=500)
    for kind in (MemoryError, InputError):
        with pytest.raises(kind, match="a sample of the rows"):
            LSSVMClassifier(max_memory=1e6).fit(X, y)
    LSSVMClassifier(max_memory=3e6).fit(X, y)


@pytest.mark.filterwarnings("ignore::extreme_entropy_paper.errors.IndefiniteWarning")
@pytest.mark.parametrize("C", [1.0, 1e17])
def test_a_fit_takes_the_memory_it_says(C):
    """One matrix of n² numbers, factored in place, also where Cholesky fails."""
    X, y = table(n=2500, d=10)
    machine = LSSVMClassifier(C, gamma=1e-3)
    batches = 24e6  # of the kernel's rows
    assert peak_of(lambda: machine.fit(X, y)) < memory_needed(2500, 10) + batches


# -------------------------------------------------------------------- all of them

RIVALS = {
    "ELM": ELMClassifier(15, activation="rbf", random_state=0),
    "WELM": WELMClassifier(15, activation="rbf", random_state=0),
    "WELM C": WELMClassifier(60, C=1e3, random_state=0),
    "LS-SVM": LSSVMClassifier(10.0),
    "LS-SVM plain": LSSVMClassifier(balanced=False),
}
every_rival = pytest.mark.parametrize("machine", RIVALS.values(), ids=RIVALS)


@every_rival
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_weight_is_repetition(machine, n_classes):
    """2 is the row twice and 0 is no row."""
    X, y = table(n_classes=n_classes)
    times, X_repeated, y_repeated = counts_of(X, y)
    weighted = clone(machine).fit(X, y, sample_weight=times)
    assert_same_answers(weighted, clone(machine).fit(X_repeated, y_repeated), X)


@every_rival
def test_the_sign_or_the_largest_output_decides(machine):
    """Outputs of the second class are positive; one column for each of more classes."""
    X, y = table()
    words = np.array(["ill", "well"])[y]
    ours = clone(machine).fit(X, words)
    assert ours.classes_.tolist() == ["ill", "well"]
    assert ours.decision_function(X).shape == (len(y),)
    np.testing.assert_array_equal(ours.predict(X) == "well", ours.decision_function(X) > 0)
    assert ours.decision_function(X)[y == 1].mean() > 0 > ours.decision_function(X)[y == 0].mean()
    X, y = table(n_classes=4)
    more = clone(machine).fit(X, y)
    assert more.decision_function(X).shape == (len(y), 4)
    np.testing.assert_array_equal(more.predict(X), more.decision_function(X).argmax(axis=1))
    assert more.score(X, y) > 0.6


@every_rival
def test_a_column_that_was_constant_is_ignored(machine):
    """Whatever it holds in new rows."""
    X, y = table()
    ours = clone(machine).fit(np.column_stack([X, np.ones(len(X))]), y)
    answers = [ours.decision_function(np.column_stack([X, np.full(len(X), v)])) for v in (1, 9)]
    np.testing.assert_array_equal(answers[0], answers[1])


@pytest.mark.parametrize(
    ("machine", "grid"),
    [
        (WELMClassifier(activation="rbf", random_state=0), {"n_hidden": [5, 20]}),
        (LSSVMClassifier(), {"C": [0.1, 10.0]}),
    ],
    ids=["WELM", "LS-SVM"],
)
def test_divergence_can_choose_among_them(machine, grid):
    """By their outputs, as for any classifier that has a decision function."""
    X, y = table()
    search = DivergenceSearch(machine, grid).fit(X, y)
    assert search.best_params_.keys() == grid.keys()
    assert search.score(X, y) > 0.6


@pytest.mark.parametrize(
    "machine",
    [
        ELMClassifier(0),
        WELMClassifier(C=0.0),
        WELMClassifier(activation="cubic"),
        LSSVMClassifier(0.0),
        LSSVMClassifier(gamma=-1.0),
        LSSVMClassifier(max_memory=0),
        LSSVMClassifier(balanced="yes"),
    ],
    ids=str,
)
def test_parameters_that_mean_nothing_are_refused(machine):
    """Before any work is done."""
    with pytest.raises(InvalidParameterError):
        machine.fit(*table())
