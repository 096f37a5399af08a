"""ELM, WELM and LS-SVM are what their formulas say, and scikit-learn's citizens."""

import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.estimator_checks import parametrize_with_checks

from extreme_entropy import EEKMClassifier, EEMClassifier, gmean_score
from extreme_entropy.baselines import elm, lssvm
from extreme_entropy.baselines.elm import ELMClassifier, WELMClassifier, beta_from_sums
from extreme_entropy.baselines.lssvm import LSSVMClassifier, gram, solve_bordered
from extreme_entropy.errors import IndefiniteWarning, InputError, TooLargeError
from extreme_entropy.features.feature_map import same

KERNELS = ["rbf", "laplacian", "polynomial", "linear", "cosine", "tanimoto"]
BOTH_ELMS = [ELMClassifier, WELMClassifier]
SOLVERS = ["pinv", "sums"]


@dataclass(frozen=True)
class Waves:
    """An activation a user might bring."""

    def __call__(self, Z, weights, biases):
        return np.cos(3 * Z @ weights.T + 2 * np.pi * biases)


@dataclass(frozen=True)
class Rational:
    """A kernel a user might bring."""

    def __call__(self, a, b):
        return 1 / (1 + np.sum((a - b) ** 2))


@dataclass(frozen=True)
class Indefinite:
    """A symmetric function of two rows that is no kernel: its matrix has negative eigenvalues."""

    def __call__(self, a, b):
        return np.tanh(2 * a @ b - 1)


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

# Layers and kernels are those of EEM and EEKM, checked there; here are the ways to solve.
MACHINES = [
    ELMClassifier(30, activation="nsig", C=10.0, scale=None, random_state=0),
    ELMClassifier(20, activation="rbf", solver="sums", random_state=0),
    WELMClassifier(30, activation="mixed", scale="quantile", random_state=0),
    WELMClassifier(40, C=100.0, solver="sums", scale="standard", random_state=0),
    LSSVMClassifier(random_state=0),
    LSSVMClassifier(100.0, balanced=False, scale="quantile", gamma=0.5, random_state=0),
    LSSVMClassifier(kernel="cosine", random_state=0),
]


@pytest.mark.filterwarnings("ignore::extreme_entropy.errors.ExtremeEntropyWarning")
@parametrize_with_checks(MACHINES)
def test_scikit_learn_checks(estimator, check):
    """No expected failures are listed."""
    check(estimator)


# -------------------------------------------------------------------- ELM and WELM


def hidden(machine, X):
    """φ(X), written out for the paper's nsig: features in [0, 1], w and b uniform."""
    Z = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    layer = machine._outputs.phi.only().parts[0].layer
    return 1 / (1 + np.exp(-Z @ layer.weights + layer.biases))


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
    H = ours._outputs.phi(X)
    if n_hidden > len(y):
        np.testing.assert_allclose(ours.project(X), 2 * y - 1, atol=1e-6)
    in_span = np.linalg.lstsq(H.T, ours.beta_)[0] @ H
    np.testing.assert_allclose(in_span, ours.beta_, atol=1e-6 * abs(ours.beta_).max())


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("rival", BOTH_ELMS)
def test_c_adds_its_inverse_to_the_diagonal(rival, solver):
    """β = (HᵀWH + I/C)⁻¹ HᵀWT either way."""
    X, y = table()
    ours = rival(25, C=50.0, solver=solver, random_state=0).fit(X, y)
    H, t = hidden(ours, X), 2.0 * y - 1
    W = np.ones(len(y)) if rival is ELMClassifier else 1 / np.bincount(y)[y]
    theirs = np.linalg.solve(H.T @ (W[:, None] * H) + np.eye(25) / 50, H.T @ (W * t))
    np.testing.assert_allclose(ours.beta_, theirs, atol=1e-9 * abs(theirs).max())


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("rival", BOTH_ELMS)
def test_sums_and_rows_give_one_machine_where_h_is_well_conditioned(rival, n_classes):
    """Ten neurons on 150 rows: the condition number squared is still far from 1e16."""
    X, y = table(n_classes=n_classes)
    machine = rival(10, activation=Waves(), random_state=0)
    by_rows, by_sums = (clone(machine).set_params(solver=s).fit(X, y) for s in SOLVERS)
    np.testing.assert_allclose(by_sums.beta_, by_rows.beta_, rtol=1e-6)
    assert_same_answers(by_sums, by_rows, X)


def test_sums_and_rows_agree_where_h_is_singular_but_for_rounding():
    """More neurons than rows: both give the shortest β that meets the targets."""
    X, y = table(n=40)
    machine = WELMClassifier(300, activation=Waves(), random_state=0)
    by_rows, by_sums = (clone(machine).set_params(solver=s).fit(X, y) for s in SOLVERS)
    np.testing.assert_allclose(by_rows.project(X), 2 * y - 1, atol=1e-8)
    np.testing.assert_allclose(by_sums.beta_, by_rows.beta_, atol=1e-5 * abs(by_rows.beta_).max())


def test_sums_are_the_pseudo_inverse_with_a_coarser_cut():
    """Smooth neurons on two columns have singular values of every size; those below 5e-8 go."""
    X, y = table(n=400, d=2)
    machine = WELMClassifier(100, random_state=0)
    by_rows, by_sums = (clone(machine).set_params(solver=s).fit(X, y) for s in SOLVERS)
    assert np.linalg.norm(by_sums.beta_) < 1e-2 * np.linalg.norm(by_rows.beta_)
    H, B = hidden(by_rows, X), np.bincount(y)[y] ** -0.5
    cut = np.linalg.pinv(B[:, None] * H, rcond=5e-8) @ (B * (2 * y - 1))
    np.testing.assert_allclose(by_sums.project(X), H @ cut, atol=0.02)
    assert abs(by_sums.project(X) - by_rows.project(X)).max() > 0.2


def test_the_sums_are_those_that_eem_keeps():
    """A fitted EEM's summary has all that WELM needs."""
    X, y = table()
    eem = EEMClassifier.paper("rbf", 20, random_state=7).fit(X, y)
    welm = WELMClassifier(20, activation="rbf", solver="sums", random_state=7).fit(X, y)
    assert same(eem.feature_map_, welm._outputs.phi)
    T, weights = np.array([[-1.0], [1.0]]), 1 / np.bincount(y)
    theirs = beta_from_sums(eem.summary_.leaves[0], T, weights, 0.0, X.dtype)
    np.testing.assert_array_equal(welm.beta_, theirs[:, 0])


@pytest.mark.parametrize("solver", SOLVERS)
def test_more_rows_need_no_more_memory(solver):
    """What a fit adds beyond X does not grow with n."""
    rng = np.random.default_rng(0)
    X = rng.random((80_000, 3))
    y = (X.sum(axis=1) > 1.8).astype(int)

    def peak(n):
        machine = WELMClassifier(100, solver=solver, random_state=0)
        return peak_of(lambda: machine.fit(X[:n], y[:n]))

    peak(1000)  # modules are loaded here
    labels = 80_000 * 8 * 6  # encoded, weighted, as targets
    assert peak(80_000) < peak(20_000) + labels < 80_000 * 100 * 8 / 2


@pytest.mark.parametrize("C", [None, 3.0])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_of_rows_give_the_pseudo_inverse_of_all(monkeypatch, C, n_jobs):
    """Many blocks, the last of one row, weights, three classes: as if all were held at once."""
    X, y = table(n=401, n_classes=3)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    machine = WELMClassifier(20, C=C, n_jobs=n_jobs, activation=Waves(), random_state=0)
    whole = clone(machine).fit(X, y, weight)
    monkeypatch.setattr(elm, "BLOCK", 0)
    monkeypatch.setattr(elm, "LEAST_BLOCK", 25)
    blocks = clone(machine).fit(X, y, weight)
    np.testing.assert_allclose(blocks.beta_, whole.beta_, rtol=1e-9, atol=1e-12)
    B = np.sqrt(weight / np.bincount(y, weight)[y])[:, None]
    T = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    A, R = B * whole._outputs.phi(X), B * T
    if C is not None:
        A, R = np.vstack([A, np.eye(20) / C**0.5]), np.vstack([R, np.zeros((20, 3))])
    np.testing.assert_allclose(blocks.beta_.T, np.linalg.pinv(A) @ R, rtol=1e-8, atol=1e-10)


def test_blocks_keep_what_squares_would_lose(monkeypatch):
    """Singular values of 1e-12 of the largest count, in one block or many, and not with sums."""
    X, y = table(n=3000, d=2)
    machine = WELMClassifier(60, random_state=0)
    whole, by_sums = (clone(machine).set_params(solver=s).fit(X, y) for s in SOLVERS)
    monkeypatch.setattr(elm, "BLOCK", 1)
    monkeypatch.setattr(elm, "LEAST_BLOCK", 100)
    blocks = clone(machine).fit(X, y)
    H, B = hidden(blocks, X), np.bincount(y)[y] ** -0.5
    values = np.linalg.svd(B[:, None] * H, compute_uv=False)
    assert values[-1] < 1e-8 * values[0]
    far = abs(by_sums.project(X) - whole.project(X)).max()
    assert abs(blocks.project(X) - whole.project(X)).max() < 1e-3 * far


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
    ours = LSSVMClassifier(C, gamma=2.0, balanced=balanced, random_state=0).fit(X, y)
    sizes = np.bincount(y)
    Q = sizes[y] / sizes.max() if balanced else np.ones(len(y))
    A = kernel_of(X, 2.0) + np.diag(Q / C)
    assert abs(ours.alpha_.sum()) < 1e-10 * abs(ours.alpha_).sum()
    t = 2.0 * y - 1
    np.testing.assert_allclose(A @ ours.alpha_ + ours.intercept_, t, atol=1e-8)
    # Errors of the optimum: ξ = Dα.
    np.testing.assert_allclose(t - ours.project(X), Q / C * ours.alpha_, atol=1e-8)


def test_suykens_form_with_labels_in_the_border_is_the_same_machine():
    """[0 yᵀ; y yyᵀ∘K + D][b; a] = [0; 1] has a = yα and the same b."""
    X, y = table()
    ours = LSSVMClassifier(5.0, gamma=2.0, random_state=0).fit(X, y)
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
    ours = LSSVMClassifier(C, gamma=gamma, random_state=0).fit(X, y)
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


@pytest.mark.parametrize("kernel", [*KERNELS, Rational()], ids=str)
def test_every_kernel_meets_its_targets_but_for_the_ridge(kernel):
    """y − f = Dα on the training rows and Σα = 0, whatever the kernel."""
    X, y = table(n_classes=3)
    ours = LSSVMClassifier(2.0, kernel=kernel, balanced=False, random_state=0).fit(X, y)
    T = np.where(y == np.arange(3)[:, None], 1.0, -1.0)
    np.testing.assert_allclose(T - ours.project(X).T, ours.alpha_ / 2, atol=1e-9)
    np.testing.assert_allclose(ours.alpha_.sum(axis=1), 0, atol=1e-9)
    assert ours.score(X, y) > 0.6


def test_gamma_is_that_of_eekm():
    """The median heuristic looks at the same rows as EEKM with the same seed."""
    X, y = table(n=700)
    ours = LSSVMClassifier(random_state=4).fit(X, y)
    theirs = EEKMClassifier(500, kernel="rbf", scale="minmax", random_state=4).fit(X, y)
    assert ours.gamma_ == -theirs.feature_map_.only().parts[0].layer.columns[-2, 0]


def test_each_class_of_many_is_a_machine_of_its_own():
    """Without balance, column c is the binary machine of class c against all others."""
    X, y = table(n_classes=3)
    machine = LSSVMClassifier(4.0, balanced=False, random_state=0)
    ours = clone(machine).fit(X, y)
    for c in range(3):
        binary = clone(machine).fit(X, y == c)
        np.testing.assert_allclose(ours.project(X)[:, c], binary.project(X), atol=1e-9)
        np.testing.assert_allclose(ours.intercept_[c], binary.intercept_, atol=1e-9)


def test_balance_helps_the_rare_class():
    """On rows it has not seen, balanced LS-SVM has the better GMean."""
    X, y = make_classification(1500, weights=[0.95], class_sep=0.6, flip_y=0.02, random_state=1)
    X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
    plain, balanced = (
        LSSVMClassifier(balanced=b, random_state=0).fit(X, y).predict(X_new) for b in (False, True)
    )
    assert gmean_score(y_new, balanced) > gmean_score(y_new, plain) + 0.2


def test_what_is_no_kernel_is_still_solved_and_said():
    """Cholesky fails; the symmetric solve meets the same system, with a warning."""
    X, y = table()
    machine = LSSVMClassifier(10.0, kernel=Indefinite(), balanced=False, random_state=0)
    with pytest.warns(IndefiniteWarning, match="not positive definite"):
        ours = machine.fit(X, y)
    np.testing.assert_allclose(2 * y - 1 - ours.project(X), ours.alpha_ / 10, atol=1e-8)
    assert abs(ours.alpha_.sum()) < 1e-8


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


def test_a_kernel_without_numbers_is_refused():
    """NaN from a user's kernel must not become a machine."""
    X, y = table()
    with pytest.raises(InputError, match="finite"):
        LSSVMClassifier(kernel=lambda a, b: np.nan).fit(X, y)


# -------------------------------------------------------------------- memory of LS-SVM


def test_too_many_rows_are_refused_before_anything_is_made(monkeypatch):
    """The paper's protein homology would take 170 GB; the refusal takes next to nothing."""
    monkeypatch.setattr(lssvm, "free_memory", lambda: 24e9)
    X = np.zeros((145_751, 1), dtype=np.float32)
    y = np.arange(len(X)) % 2

    def refuse():
        with pytest.raises(TooLargeError, match=r"170 GB for 145751 rows.* 24 GB are free.*EEKM"):
            LSSVMClassifier().fit(X, y)

    assert peak_of(refuse) < 50e6


def test_max_memory_sets_the_limit():
    """The limit is the user's to lower or raise, and the error is both of ours and built in."""
    X, y = table(n=500)
    with pytest.raises(MemoryError, match="allowed by max_memory"):
        LSSVMClassifier(max_memory=1e6).fit(X, y)
    with pytest.raises(InputError, match="a sample of the rows"):
        LSSVMClassifier(max_memory=1e6).fit(sp.csr_matrix(X), y)
    LSSVMClassifier(max_memory=3e6).fit(X, y)


@pytest.mark.filterwarnings("ignore::extreme_entropy.errors.IndefiniteWarning")
@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "tanimoto", "indefinite"])
def test_a_fit_takes_the_memory_it_says(kernel, monkeypatch):
    """One matrix of n² numbers, factored in place, also where Cholesky fails."""
    X, y = table(n=2500, d=10)
    machine = LSSVMClassifier(kernel=kernel, random_state=0)
    if kernel == "indefinite":  # the negative of a kernel
        monkeypatch.setattr(lssvm, "gram", lambda *given: np.negative(K := gram(*given), out=K))
        machine.set_params(kernel="linear")
    chunks = 24e6  # a few chunks of 4 MiB on their way through a kernel
    assert peak_of(lambda: machine.fit(X, y)) < lssvm.memory_needed(2500, 10) + chunks


def test_free_memory_is_what_the_system_says(monkeypatch):
    """The least of what Linux has available and what a container leaves."""
    texts = {
        "/proc/meminfo": "MemTotal: 900 kB\nMemAvailable:   500 kB\n",
        "/sys/fs/cgroup/memory.max": "300000",
        "/sys/fs/cgroup/memory.current": "200000",
        "/sys/fs/cgroup/memory.stat": "anon 1\ninactive_file 50000\n",
    }
    monkeypatch.setattr(lssvm, "_text", lambda path: texts.get(path, ""))
    assert lssvm.free_memory() == 150_000
    texts["/sys/fs/cgroup/memory.max"] = "max"
    assert lssvm.free_memory() == 512_000
    texts.clear()
    assert lssvm.free_memory() > 1e8


# -------------------------------------------------------------------- all of them

RIVALS = {
    "ELM": ELMClassifier(15, activation="rbf", random_state=0),
    "WELM": WELMClassifier(15, activation="rbf", random_state=0),
    "WELM sums": WELMClassifier(15, activation="rbf", solver="sums", random_state=0),
    "WELM C": WELMClassifier(60, C=1e3, scale="standard", random_state=0),
    "LS-SVM": LSSVMClassifier(10.0, random_state=0),
    "LS-SVM plain": LSSVMClassifier(balanced=False, scale="quantile", random_state=0),
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
def test_sparse_rows_give_what_dense_rows_give(machine):
    """Rows are made dense a chunk at a time."""
    X, y = table(n=300)
    ours = clone(machine).fit(sp.csr_matrix(X), y)
    theirs = clone(machine).fit(X, y)
    assert_same_answers(ours, theirs, X)
    np.testing.assert_array_equal(ours.predict(sp.csr_matrix(X)), theirs.predict(X))


@every_rival
def test_single_precision_gives_nearly_what_double_gives(machine):
    """ELM's neurons work in single precision then; LS-SVM stays in double."""
    X, y = table(n=300)
    X = X.astype(np.float32)
    single, double = clone(machine).fit(X, y), clone(machine).fit(X.astype(float), y)
    assert np.mean(single.predict(X) == double.predict(X)) > 0.98
    np.testing.assert_allclose(single.project(X), double.project(X), atol=0.05)
    if isinstance(machine, ELMClassifier):
        assert single.beta_.dtype == np.float32
    # A machine solved in double answers single rows in double.
    np.testing.assert_allclose(double.project(X), double.project(X.astype(float)), atol=1e-6)


@every_rival
def test_the_sign_or_the_largest_output_decides(machine):
    """Outputs of the second class are positive; one column for each of more classes."""
    X, y = table()
    words = np.array(["ill", "well"])[y]
    ours = clone(machine).fit(X, words)
    assert ours.classes_.tolist() == ["ill", "well"]
    assert ours.project(X).shape == (len(y),)
    np.testing.assert_array_equal(ours.predict(X) == "well", ours.project(X) > 0)
    np.testing.assert_array_equal(ours.decision_function(X), ours.project(X))
    assert ours.project(X)[y == 1].mean() > 0 > ours.project(X)[y == 0].mean()
    X, y = table(n_classes=4)
    more = clone(machine).fit(X, y)
    assert more.project(X).shape == (len(y), 4)
    np.testing.assert_array_equal(more.predict(X), more.project(X).argmax(axis=1))
    assert more.score(X, y) > 0.6


@every_rival
def test_threads_do_not_change_the_answer(machine):
    """Two threads give what one gives, to rounding."""
    X, y = table(n=500)
    two = clone(machine).set_params(n_jobs=2).fit(X, y)
    assert_same_answers(two, clone(machine).fit(X, y), X)


@pytest.mark.parametrize(
    "machine",
    [
        ELMClassifier(solver="svd"),
        WELMClassifier(C=0.0),
        WELMClassifier(activation="cubic"),
        LSSVMClassifier(0.0),
        LSSVMClassifier(kernel="sigmoid"),
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
