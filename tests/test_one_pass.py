"""All folds and sizes in one pass: equal to refits from scratch, honest, and the same bits."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
)

from extreme_entropy import EEKMClassifier, EEKMClassifierCV, EEMClassifier, EEMClassifierCV
from extreme_entropy.errors import FewRowsWarning, InputError
from extreme_entropy.features.kernels import whitening
from extreme_entropy.features.neurons import draw_radial
from extreme_entropy.machine.solving import Method, solve
from extreme_entropy.metrics import gmean_scorer
from extreme_entropy.moments.summary import ClassMoments, FoldMoments
from extreme_entropy.selection import one_pass
from extreme_entropy.selection.one_pass import CrossValidation

SIZES = (6, 15, 30)
PAPER = {"ridge": 0.0, "decision": "paper"}


class Recorder:
    """A scorer that keeps what it was shown."""

    def __init__(self):
        self.seen = []

    def __call__(self, estimator, lines, y, sample_weight=None):
        self.seen.append((estimator, lines, y))
        return float(np.mean(estimator.predict(lines) == y))


def problem(rng, n=300, d=4, n_classes=2):
    """Rows within [0, 1] with labels that depend on them."""
    X = rng.random((n, d))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=n), np.linspace(0, 1, n_classes + 1)[1:-1])
    return X, y


def drawn_in_each_fold(search, X):
    """Whether φ looks at so many rows that it is drawn anew in each training set."""
    sizes = {spec.sample_size for spec in search._specifications(SIZES[-1], search._settings())}
    return max(sizes) > 0.5 * len(X) or search._cross_validation.left > 1


def judged(search, X, y, **fit):
    """{(setting, size, fold): (estimator, lines, labels)} as a scorer was shown them."""
    recorder = Recorder()
    search.set_params(scoring=recorder).fit(X, y, **fit)
    calls = iter(recorder.seen)
    n_settings, n_sizes, n_folds = search.path_.scores.shape
    order = [(setting, fold) for setting in range(n_settings) for fold in range(n_folds)]
    if drawn_in_each_fold(search, X):
        order = [(setting, fold) for fold in range(n_folds) for setting in range(n_settings)]
    found = {
        (setting, size, fold): next(calls) for setting, fold in order for size in range(n_sizes)
    }
    assert next(calls, None) is None
    return found


def close(ours, theirs):
    """To 10⁻⁶ of their scale."""
    np.testing.assert_allclose(ours, theirs, atol=1e-6 * np.abs(theirs).max())


# ------------------------------------------------------------------ equal to refits


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("shrinkage", ["ledoit-wolf", "oas", 0.1])
def test_every_size_and_fold_equals_a_refit_from_scratch(rng, n_classes, shrinkage):
    """Decision values of EEMClassifier(size).fit(training rows), for each activation."""
    X, y = problem(rng, n_classes=n_classes)
    settings = {"scale": None, "shrinkage": shrinkage, **PAPER}
    search = EEMClassifierCV(
        SIZES, activation=("sig", "nsig", "rbf"), cv=4, random_state=3, **settings
    )
    found = judged(search, X, y)
    seed = search.best_estimator_.random_state
    splits = list(PredefinedSplit(search.folds_).split())
    for (setting, size, fold), (estimator, lines, labels) in found.items():
        train, test = splits[fold]
        refit = EEMClassifier(
            SIZES[size], activation=search.activation[setting], random_state=seed, **settings
        ).fit(X[train], y[train])
        assert np.array_equal(labels, y[test])
        close(estimator.decision_function(lines), refit.decision_function(X[test]))
        close(estimator.predict_proba(lines), refit.predict_proba(X[test]))


@pytest.mark.parametrize("n_folds", [2, 3, 5, 10])
def test_inner_folds_are_those_of_the_training_set(rng, n_folds):
    """Held-out Gaussians and ridges of each fold's machine come from its training rows alone."""
    X, y = problem(rng, 400)
    search = EEMClassifierCV(SIZES, activation=("rbf",), cv=n_folds, scale=None, random_state=3)
    found = judged(search, X, y)
    phi = (
        EEMClassifier(
            SIZES[-1],
            activation="rbf",
            scale=None,
            random_state=search.best_estimator_.random_state,
        )
        .fit(X, y)
        .feature_map_
    )
    H = phi(X)
    per_fold = -(-6 // n_folds)
    folds = search.folds_
    cells = folds * per_fold + (phi.content(X) % np.uint64(per_fold)).astype(int)
    for (_, size, fold), (estimator, lines, _) in found.items():
        h = H[:, : SIZES[size]]
        training = FoldMoments(
            tuple(
                tuple(
                    ClassMoments.of(h[(y == c) & (cells % 3 == g) & (folds != fold)])
                    for g in range(3)
                )
                for c in (0, 1)
            )
        )
        stakes = {"log_priors": np.log([0.5, 0.5]), "log_costs": np.zeros(2)}
        machine = solve(training, Method(), **stakes)
        assert not machine.diagnostics
        line = h[folds == fold] @ machine.leaves[0].operators.T
        close(estimator.decision_function(lines), machine.scores(line))


def test_data_drawn_neurons_are_drawn_in_each_training_set_of_a_small_table(rng):
    """A few hundred rows: φ of each fold is the one a refit on its training rows draws."""
    X, y = problem(rng)
    settings = {"activation": "mixed", **PAPER}
    search = EEMClassifierCV(SIZES, cv=3, random_state=3, **settings | {"activation": ("mixed",)})
    found = judged(search, X, y)
    seed = search.best_estimator_.random_state
    for fold, (train, test) in enumerate(PredefinedSplit(search.folds_).split()):
        refit = EEMClassifier(SIZES[-1], random_state=seed, **settings).fit(X[train], y[train])
        estimator, lines, _ = found[0, 2, fold]
        close(estimator.decision_function(lines), refit.decision_function(X[test]))
        phi = refit.feature_map_
        for size, k in enumerate(SIZES[:2]):
            h = phi(X)[:, :k]
            moments = FoldMoments(
                tuple((ClassMoments.of(h[train][y[train] == c]),) for c in (0, 1))
            )
            machine = solve(
                moments,
                Method("ledoit-wolf", ridge=0.0, cross_fitted=False),
                log_priors=np.log([0.5, 0.5]),
                log_costs=np.zeros(2),
            )
            estimator, lines, _ = found[0, size, fold]
            line = h[test] @ machine.leaves[0].operators.T
            close(estimator.decision_function(lines), machine.scores(line))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial"])
def test_every_gamma_and_landmark_count_equals_a_refit(rng, kernel):
    """Decision values of EEKMClassifier(landmarks, gamma).fit(training rows)."""
    X, y = problem(rng)
    settings = {"kernel": kernel, "scale": "minmax", **PAPER}
    gammas = (0.5, 2.0)
    search = EEKMClassifierCV(SIZES, gamma=gammas, cv=3, random_state=3, **settings)
    search._cross_validation = CrossValidation(left=2.0)  # never enough: landmarks in each fold
    found = judged(search, X, y)
    seed = search.best_estimator_.random_state
    splits = list(PredefinedSplit(search.folds_).split())
    for (setting, size, fold), (estimator, lines, _) in found.items():
        train, test = splits[fold]
        refit = EEKMClassifier(
            SIZES[size], gamma=gammas[setting], random_state=seed, **settings
        ).fit(X[train], y[train])
        close(estimator.decision_function(lines), refit.decision_function(X[test]))


def test_the_winner_is_grid_search_s(rng):
    """The same scores, winner and machine as GridSearchCV over the same fits."""
    X, y = problem(rng, 400)
    settings = {"scale": None, **PAPER}
    search = EEMClassifierCV(SIZES, activation=("nsig", "rbf"), cv=5, random_state=3, **settings)
    search.fit(X, y)
    seed = search.best_estimator_.random_state
    grid = GridSearchCV(
        EEMClassifier(random_state=seed, **settings),
        {"activation": ["nsig", "rbf"], "n_hidden": list(SIZES)},
        cv=PredefinedSplit(search.folds_),
        scoring=gmean_scorer,
    ).fit(X, y)
    ours = search.path_.mean_scores.ravel()
    np.testing.assert_allclose(ours, grid.cv_results_["mean_test_score"], atol=1e-12)
    assert search.best_params_ == grid.best_params_
    assert search.best_score_ == pytest.approx(grid.best_score_)
    close(search.decision_function(X), grid.decision_function(X))
    np.testing.assert_allclose(search.scores_, search.path_.scores[search.best_index_[0]])


# ------------------------------------------------------------------ the best machine


@pytest.mark.parametrize("settings", [PAPER, {}], ids=["paper", "cross-fitted"])
@pytest.mark.parametrize("n_folds", [5, 10])
def test_the_best_machine_is_the_fit_on_all_rows(rng, settings, n_folds):
    """Put together from the folds' sums, without another pass; it learns and forgets on."""
    X, y = problem(rng, 900)
    search = EEMClassifierCV(
        SIZES, activation=("nsig", "rbf"), cv=n_folds, scale="minmax", random_state=3, **settings
    ).fit(X, y)
    best = search.best_estimator_
    fresh = EEMClassifier(**best.get_params()).fit(X, y)
    close(best.decision_function(X), fresh.decision_function(X))
    assert best.summary_.n_folds == fresh.summary_.n_folds
    np.testing.assert_allclose(best.summary_.counts, fresh.summary_.counts)
    more, labels = problem(rng, 50)
    best.partial_fit(more, labels).forget(more, labels)
    close(best.decision_function(X), fresh.decision_function(X))


@pytest.mark.parametrize("n_folds", [3, 4, 5, 7, 10])
@pytest.mark.parametrize("kind", ["mixed", "kernel"])
def test_the_best_machine_of_drawn_rows_is_the_one_that_was_scored(rng, n_folds, kind):
    """In one pass or refitted, its parts are those of a machine of that size."""
    X, y = problem(rng, 5000)
    common = {"cv": n_folds, "random_state": 3}
    if kind == "mixed":
        search = EEMClassifierCV(SIZES, activation=("mixed",), **common).fit(X, y)
    else:
        search = EEKMClassifierCV(SIZES, **common).fit(X, y)
    best = search.best_estimator_
    assert best.feature_map_.h == SIZES[search.best_index_[1]]
    assert np.sum(best.summary_.counts) == len(X)
    assert best.score(X, y) > search.best_score_ - 0.05
    folds = best.feature_map_.content(X) % np.uint64(best.summary_.n_folds)
    counts = [
        [np.sum((y == c) & (folds == f)) for f in range(best.summary_.n_folds)] for c in (0, 1)
    ]
    np.testing.assert_allclose(best.summary_.counts, counts)
    cells = best.summary_.leaves[0].cells
    H = best.feature_map_(X)
    np.testing.assert_allclose(
        cells[1][0].mean, H[(y == 1) & (folds == 0)].mean(axis=0), atol=1e-9 * abs(H).max()
    )
    best.forget(X[:10], y[:10])


def test_a_number_of_folds_forgets_the_order_of_rows(rng):
    """Folds follow from what rows say."""
    X, y = problem(rng, 600)
    X[300:400] = X[:100]
    search = EEMClassifierCV((5,), activation=("rbf",), random_state=3)
    folds = search.fit(X, y).folds_
    assert np.array_equal(folds[300:400], folds[:100])
    order = rng.permutation(600)
    assert np.array_equal(search.fit(X[order], y[order]).folds_, folds[order])


@pytest.mark.parametrize("n_tiny", [1, 2, 5])
@pytest.mark.parametrize("kind", [EEMClassifierCV, EEKMClassifierCV])
def test_a_class_of_very_few_rows_is_named_and_does_not_decide(kind, n_tiny, rng):
    """Two classes are told apart; the third has rows that nothing can learn."""
    X = rng.normal(size=(200 + n_tiny, 3))
    y = np.where(X[:, 0] > 0, "right", "left")
    y[200:] = "tiny"
    with pytest.warns(FewRowsWarning, match=rf"'tiny': {n_tiny}\}}.*others decide"):
        search = kind([5, 10], cv=4, random_state=0).fit(X, y)
    assert search.best_score_ > 0.8
    assert search.classes_.tolist() == ["left", "right", "tiny"]
    assert search.best_estimator_.summary_.counts.sum(axis=1)[2] == n_tiny  # it is learnt
    assert (search.folds_[200:] == -1).all()
    assert (search.folds_[:200] >= 0).all()


def test_of_two_classes_a_very_small_one_still_decides_with_a_warning(rng):
    X = rng.normal(size=(100, 2))
    y = (np.arange(100) < 5).astype(int)
    X[y == 1] += 6
    with pytest.warns(FewRowsWarning, match="uncertain"):
        search = EEMClassifierCV([5, 10], cv=3, random_state=0).fit(X, y)
    assert (search.folds_ >= 0).all()


def test_a_rare_class_is_dealt_to_the_folds_in_turn(rng):
    """As even as can be, whatever the order; equal rows stay together, weight 0 is no row."""
    X, _ = problem(rng, 600)
    y = (np.arange(600) < 43).astype(int)
    X[40:43] = X[:3]
    search = EEMClassifierCV((5,), activation=("rbf",), random_state=3)
    folds = search.fit(X, y).folds_
    assert np.array_equal(folds[40:43], folds[:3])
    counts = np.bincount(folds[:40], minlength=10)
    assert counts.tolist() == [4] * 10
    assert np.ptp(np.bincount(folds[43:], minlength=10)) == 1
    order = rng.permutation(600)
    assert np.array_equal(search.fit(X[order], y[order]).folds_, folds[order])
    weight = np.r_[np.ones(600), np.zeros(50)]
    more = np.vstack([X, rng.random((50, X.shape[1]))]), np.r_[y, np.ones(50, int)]
    assert np.array_equal(search.fit(*more, weight).folds_[:600], folds)


def test_a_class_of_equal_rows_still_gets_to_every_fold(rng):
    """Too few of its rows differ to keep equal ones together."""
    X, _ = problem(rng, 300)
    y = (np.arange(300) < 30).astype(int)
    X[:30] = X[0]
    folds = EEMClassifierCV((5,), activation=("rbf",), random_state=3).fit(X, y).folds_
    assert np.bincount(folds[:30], minlength=10).tolist() == [3] * 10


@pytest.mark.parametrize("search", [EEMClassifierCV, EEKMClassifierCV])
def test_the_best_estimator_fitted_anew_is_the_one_that_was_chosen(search):
    """`best_params_` say it all: a smaller φ is the first part of a larger one."""
    rng = np.random.default_rng(0)
    X, X_new = rng.standard_normal((2, 90, 60))
    y, y_new = ((part[:, 0] + part[:, 1] > 0).astype(int) for part in (X, X_new))
    chosen = search((10, 30, 60), random_state=0).fit(X, y).best_estimator_
    again = clone(chosen).fit(X, y)
    np.testing.assert_allclose(again.project(X_new), chosen.project(X_new), atol=1e-9)
    np.testing.assert_allclose(again.predict_proba(X_new), chosen.predict_proba(X_new), atol=1e-9)
    chosen.partial_fit(X_new, y_new).forget(X_new, y_new)


def test_sorted_rows_do_not_mislead_the_choice():
    """Rows along a curve: folds of neighbours would test machines where they never learnt."""
    along = np.linspace(0, 4 * np.pi, 160)
    X = np.column_stack([along, np.cos(along), np.sin(along)])
    y = (np.sin(2 * along) > 0).astype(int)
    order = np.random.default_rng(0).permutation(160)
    search = EEMClassifierCV((10, 40), activation=("rbf",), random_state=0)
    in_order = search.fit(X, y).path_.scores
    np.testing.assert_allclose(search.fit(X[order], y[order]).path_.scores, in_order, atol=1e-6)


# ------------------------------------------------------------------ honest


@pytest.mark.parametrize(
    "search",
    [
        EEMClassifierCV((5, 10), activation=("mixed",), relevance="uniform", cv=3, random_state=0),
        EEKMClassifierCV((5, 10), kernel="rbf", cv=3, random_state=0),
    ],
)
def test_no_scored_row_was_drawn_for_phi(rng, search):
    """In one pass, rows drawn (and rows like them) are trained on but never scored."""
    X, y = problem(rng, 4000)
    X[2000:2500] = X[:500]  # rows said twice
    y[2000:2500] = y[:500]
    found = judged(search, X, y)
    scored = sum(len(labels) for (s, k, _), (_, _, labels) in found.items() if s == k == 0)
    content = search.best_estimator_.feature_map_.content
    hashes = content(X)
    drawn = np.unique(hashes)[:1000]
    assert len(np.intersect1d(hashes, drawn)) == 1000
    assert scored == len(X) - np.isin(hashes, drawn).sum()


def test_rows_drawn_stay_in_every_training_set(rng, monkeypatch):
    """Training counts of each fold's machine include the drawn rows."""
    X, y = problem(rng, 4000)
    counts = []
    kept = one_pass.solve

    def watched(moments, *settings):
        counts.append(moments.counts.sum())
        return kept(moments, *settings)

    monkeypatch.setattr(one_pass, "solve", watched)
    found = judged(EEMClassifierCV((5,), activation=("mixed",), cv=4), X, y)
    scored = [len(labels) for _, _, labels in found.values()]
    np.testing.assert_allclose(np.array(counts) + scored, 4000)


# ------------------------------------------------------------------ the same whatever the road


def test_threads_and_storage_change_nothing(rng):
    """The same bits with two threads; the same scores from CSR rows."""
    X, y = problem(rng, 2500)
    X[X < 0.2] = 0
    for search in (
        EEMClassifierCV(SIZES, activation=("rbf",), cv=4, random_state=0, scale="minmax"),
        EEKMClassifierCV(SIZES, cv=4, random_state=0),
    ):
        one = search.fit(X, y).path_
        two = search.set_params(n_jobs=2).fit(X, y).path_
        assert np.array_equal(one.scores, two.scores)
        assert np.array_equal(one.divergences, two.divergences)
        sparse = search.fit(sp.csr_array(X), y).path_
        np.testing.assert_allclose(sparse.scores, one.scores, atol=1e-12)


def test_a_weight_is_a_repetition(rng):
    """Rows with weight 2, and the same rows twice in the same folds, score alike."""
    X, y = problem(rng, 200)
    weight = rng.integers(1, 3, 200)
    repeated = np.repeat(np.arange(200), weight)
    folds = np.empty(200, dtype=int)
    for fold, (_, test) in enumerate(StratifiedKFold(3).split(X, y)):
        folds[test] = fold

    def splits(numbers):
        return [(np.flatnonzero(numbers != f), np.flatnonzero(numbers == f)) for f in range(3)]

    for kind in (EEMClassifierCV, EEKMClassifierCV):
        search = kind(SIZES, cv=splits(folds), random_state=0)
        weighted = search.fit(X, y, sample_weight=weight).path_
        twice = kind(SIZES, cv=splits(folds[repeated]), random_state=0)
        theirs = twice.fit(X[repeated], y[repeated]).path_
        np.testing.assert_allclose(weighted.scores, theirs.scores, atol=1e-12)
        np.testing.assert_allclose(weighted.divergences, theirs.divergences, rtol=1e-6)


def test_single_precision_agrees_with_double(rng):
    """float32 rows give nearly the same scores."""
    X, y = problem(rng, 3000)
    search = EEMClassifierCV(SIZES, activation=("rbf",), cv=4, random_state=0, scale="minmax")
    double = search.fit(X, y).path_.scores
    single = search.fit(X.astype(np.float32), y).path_.scores
    np.testing.assert_allclose(single, double, atol=0.01)


def test_groups_stay_together(rng):
    """A splitter by groups gets them."""
    X, y = problem(rng, 300)
    groups = np.arange(300) // 3
    found = judged(
        EEMClassifierCV(SIZES, activation=("rbf",), cv=GroupKFold(3), scale=None, **PAPER),
        *(X, y),
        groups=groups,
    )
    expected = [y[test] for _, test in GroupKFold(3).split(X, y, groups)]
    for (_, _, fold), (_, _, labels) in found.items():
        assert np.array_equal(labels, expected[fold])


# ------------------------------------------------------------------ scoring


def test_any_scorer_by_name(rng):
    """Names of scikit-learn's scorers, on labels, decision values and probabilities."""
    X, y = problem(rng)
    settings = {"activation": ("rbf",), "cv": 3, "scale": None, "random_state": 0, **PAPER}
    for scoring in ("accuracy", "roc_auc", "average_precision", "neg_log_loss", "f1"):
        search = EEMClassifierCV((10,), scoring=scoring, **settings).fit(X, y)
        folds = PredefinedSplit(search.folds_)
        grid = GridSearchCV(search.best_estimator_, {"n_hidden": [10]}, cv=folds, scoring=scoring)
        assert search.best_score_ == pytest.approx(grid.fit(X, y).best_score_)
        assert search.path_.score_name == scoring


# ------------------------------------------------------------------ the nested whitening


def test_the_whitening_is_one_and_nested(rng):
    """WᵀKW = I, and its leading blocks whiten the first landmarks."""
    A = rng.normal(size=(30, 30))
    gram = A @ A.T + np.eye(30)
    W = whitening(gram, np.dtype(float))
    np.testing.assert_allclose(W.T @ gram @ W, np.eye(30), atol=1e-6)
    for k in (3, 10):
        theirs = whitening(gram[:k, :k], np.dtype(float))
        np.testing.assert_allclose(W[:k, :k], theirs, atol=1e-6)


@pytest.mark.parametrize("r", [1, 4])
def test_landmarks_that_are_combinations_of_others_add_nothing(rng, r):
    """Of 30 landmarks of rank r, features are as good as r: they multiply to the same kernel."""
    A = rng.normal(size=(30, r))
    gram = A @ A.T
    features = gram @ whitening(gram, np.dtype(float))
    np.testing.assert_allclose(features @ features.T, gram, atol=1e-7 * np.abs(gram).max())
    variances = np.linalg.eigvalsh(features.T @ features)
    assert (variances > 1e-6 * variances[-1]).sum() == r


def test_kernels_that_are_zero_or_indefinite_are_whitened_to_finite_features(rng):
    """The first have features of zero, the others are lifted until they are definite."""
    assert not (np.zeros((5, 5)) @ whitening(np.zeros((5, 5)), np.dtype(float))).any()
    A = rng.normal(size=(8, 8))
    assert np.isfinite(whitening(A + A.T, np.dtype(float))).all()


@pytest.mark.parametrize("k", [1, 2, 7, 12])
@pytest.mark.parametrize("d", [3, 9])
def test_a_smaller_mixed_layer_is_the_first_part_of_a_larger_one(rng, k, d):
    """Drawn alone it has the same neurons; linear ones are at most half of them, and at most d."""
    rows = rng.random((40, d))
    largest, drawn = draw_radial(12, rows, rows, 0), draw_radial(k, rows, rows, 0)
    smaller = largest.first(k)
    assert smaller.n_linear == drawn.n_linear == min(d, k // 2)
    assert smaller.size == drawn.size == k
    np.testing.assert_allclose(smaller(rows), largest(rows)[:, :k])
    np.testing.assert_allclose(drawn(rows), largest(rows)[:, :k], atol=1e-12)


def test_all_linear_neurons_together_are_the_columns_up_to_a_rotation(rng):
    """Their scalar products are those of the centred columns, times one number."""
    rows = rng.random((40, 6)) * np.arange(1, 7)
    linear = draw_radial(30, rows, rows, 0)(rows)[:, 1:12:2]
    centred = rows - rows.mean(axis=0)
    factor = 1 / rows.var(axis=0).mean()
    np.testing.assert_allclose(linear @ linear.T, factor * centred @ centred.T, atol=1e-10)
    assert linear.var(axis=0).mean() == pytest.approx(1.0)


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("search", "words"),
    [
        (EEMClassifierCV(()), ["n_hidden", "empty"]),
        (EEMClassifierCV((10, 0)), ["n_hidden", "positive", "0"]),
        (EEMClassifierCV((10, 2.5)), ["n_hidden", "whole", "2.5"]),
        (EEMClassifierCV((10,), activation=()), ["activation", "empty"]),
        (EEMClassifierCV((10,), activation=("tanh",)), ["activation", "tanh"]),
        (EEMClassifierCV((10,), scoring="gmeen"), ["gmeen"]),
        (EEMClassifierCV((10,), cv=40), ["cv=40", "30 rows", "1"]),
        (EEMClassifierCV((10,), cv=ShuffleSplit(3, random_state=0)), ["overlap", "fold"]),
        (EEKMClassifierCV(()), ["n_landmarks", "empty"]),
        (EEKMClassifierCV((10,), gamma=()), ["gamma", "empty"]),
        (EEKMClassifierCV((10,), gamma=(1.0, -2.0)), ["gamma", "positive", "-2"]),
        (EEKMClassifierCV((10,), kernel="linear"), ["kernel", "linear"]),
        (EEMClassifierCV((10,), scoring=lambda *_: np.nan), ["NaN"]),
    ],
    ids=lambda value: "" if isinstance(value, list) else None,
)
def test_bad_input_is_a_clear_error(rng, search, words):
    """What must hold, what came, what to do."""
    X = rng.random((300, 3))
    y = (np.arange(300) < 30).astype(int)
    with pytest.raises(ValueError) as error:  # noqa: PT011  # words are checked below
        search.fit(X, y)
    for word in words:
        assert word in str(error.value)


def test_a_fold_without_a_class_is_a_clear_error(rng):
    """Folds along sorted labels."""
    X, y = rng.random((60, 2)), np.repeat([0, 1], 30)
    splits = [(np.arange(20, 60), np.arange(20)), (np.arange(20), np.arange(20, 60))]
    with pytest.raises(InputError, match="fold 0 has none of"):
        EEMClassifierCV((5,), cv=splits).fit(X, y)


def test_one_class_is_a_clear_error(rng):
    """As for EEMClassifier."""
    with pytest.raises(InputError, match="only one class"):
        EEMClassifierCV((5,)).fit(rng.random((60, 2)), np.zeros(60))
