"""Explanations: every layer's gradient is its derivative, and contributions add up to the score."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import log_softmax, logit
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.inspection import permutation_importance

from extreme_entropy import EEKMClassifier, EEMClassifier, EEMClassifierCV, load
from extreme_entropy.features.feature_map import same
from extreme_entropy.machine import coupling, explanation
from extreme_entropy.machine.decision import Line
from extreme_entropy.machine.explanation import ExplanationSettings
from extreme_entropy.machine.machine import Decision, with_first
from extreme_entropy.tolerances import CERTAIN


def waves(Z, weights, biases):
    """An activation of a user's own."""
    return np.cos(Z @ weights.T + biases)


def bumps(a, b):
    """A kernel of a user's own."""
    return float(np.exp(-((a - b) ** 2).sum()))


ACTIVATIONS = ["mixed", "laplacian", "sig", "nsig", "rbf", "tanimoto", "sorensen", "relu", waves]
KERNELS = ["mixed", "rbf", "laplacian", "polynomial", "linear", "cosine", "tanimoto", bumps]
CLASSIFIERS = {
    **{
        f"{getattr(a, '__name__', a)}": EEMClassifier(30, activation=a, relevance="uniform")
        for a in ACTIVATIONS
    },
    **{
        f"k {getattr(k, '__name__', k)}": EEKMClassifier(30, kernel=k, relevance="uniform")
        for k in KERNELS
    },
    "learned": EEMClassifier(30, relevance="learned"),
    "k learned": EEKMClassifier(30, kernel="mixed", relevance="learned"),
    "k learned rbf": EEKMClassifier(30, kernel="rbf", relevance="learned"),
    "relu learned": EEMClassifier(30, activation="relu", relevance="learned"),
    "minmax": EEMClassifier(30, activation="sig", scale="minmax"),
    "standard": EEKMClassifier(30, scale="standard"),
    "unscaled": EEMClassifier(30, scale=None),
}
every_layer = pytest.mark.parametrize("classifier", CLASSIFIERS.values(), ids=CLASSIFIERS)
FEW = {name: CLASSIFIERS[name] for name in ("mixed", "learned", "relu", "k mixed", "k laplacian")}
few_layers = pytest.mark.parametrize("classifier", FEW.values(), ids=FEW)


def table(n_classes=2, n=200, d=5):
    """Skewed columns, the last one idle, and a class that lies between the others."""
    rng = np.random.default_rng(4)
    y = np.arange(n) % n_classes
    X = rng.exponential(size=(n, d))
    X[:, :-1] += 0.8 * y[:, None] * rng.random(d - 1)
    return X, y


def fitted(classifier, n_classes=2):
    X, y = table(n_classes)
    return clone(classifier).set_params(random_state=0).fit(X, y), X


def scores_of_scaled(classifier, Z):
    """`decision_function` of scaled rows, by way of φ."""
    phi, features = classifier.feature_map_, []
    for part in phi.only().parts:
        H = part.layer(part.seen(Z))
        features.append(H if part.whitening is None else H @ part.whitening)
    taking_turns = np.empty((len(Z), phi.h))
    for i, own in enumerate(features):
        taking_turns[:, i :: len(features)] = own
    projections = taking_turns @ classifier.machine_.leaves[0].operators.T
    return classifier.machine_.scores(projections), projections


# -------------------------------------------------------------------- gradients


@every_layer
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gradient_is_the_derivative(classifier, n_classes):
    """∂/∂z of βᵀφ against central differences, away from kinks; through weights and whitening."""
    classifier, _ = fitted(classifier, n_classes)
    phi, operators = classifier.feature_map_, classifier.machine_.leaves[0].operators
    Z, step = 0.1 + 0.8 * np.random.default_rng(0).random((20, 5)), 1e-6
    gradient = phi.only().gradient(Z, operators)
    assert gradient.shape == (len(operators), *Z.shape)
    for column in range(5):
        e = step * (np.arange(5) == column)
        above, below = (scores_of_scaled(classifier, Z + side * e)[1] for side in (1, -1))
        theirs = (above - below).T / (2 * step)
        np.testing.assert_allclose(
            gradient[:, :, column], theirs, rtol=1e-4, atol=1e-5 * abs(gradient).max() + 1e-7
        )


@pytest.mark.parametrize("name", ["laplacian", "k laplacian", "relu", "relu learned"])
def test_kinks_are_averaged_over_a_segment(name):
    """`half` gives the mean gradient: that of many points of the segment, for a short one."""
    classifier, X = fitted(CLASSIFIERS[name])
    phi, operators = classifier.feature_map_, classifier.machine_.leaves[0].operators
    Z, half = phi.scaling(X[:6]), np.random.default_rng(0).normal(size=(6, 5)) * 0.01
    ours = phi.only().gradient(Z, operators, half)
    points = (np.arange(4000) + 0.5) / 2000 - 1
    theirs = np.mean([phi.only().gradient(Z + t * half, operators) for t in points], axis=0)
    plain = phi.only().gradient(Z, operators)
    np.testing.assert_allclose(ours, theirs, atol=0.01 * abs(theirs).max())
    assert abs(plain - theirs).max() > 0.01 * abs(theirs).max()  # these rows lie on kinks


def test_a_row_at_a_singular_point_has_a_finite_gradient():
    """Cosines of a row at the origin, similarities of an empty row to an empty centre."""
    for name in ("k cosine", "k tanimoto", "tanimoto", "sorensen"):
        classifier, _ = fitted(CLASSIFIERS[name])
        layer = classifier.feature_map_.only().parts[0].layer
        Z = np.full((1, 5), getattr(layer, "origin", 0.0))
        assert np.isfinite(layer.gradient(Z, np.ones((layer.size, 1)))).all()


@pytest.mark.parametrize("stakes", [np.zeros(4), np.log([0.1, 0.2, 0.3, 0.4])])
def test_slopes_of_coupled_odds_are_derivatives(stakes):
    """Of ln p over the odds of each pair; averaged, they are the difference along the way."""
    rng = np.random.default_rng(0)
    pairs = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))

    def coupled(odds):
        return log_softmax(coupling.couple(odds, pairs, 4) + stakes, axis=1)

    start = rng.normal(size=(30, 6)) * 4
    for pair in range(6):
        e = 1e-5 * (np.arange(6) == pair)
        theirs = coupled(start + e) - coupled(start - e)
        ours = coupling.mean_slopes(start - e, start + e, pairs, stakes)
        np.testing.assert_allclose(ours[:, :, pair], theirs / 2e-5, atol=1e-6)
    end = start + rng.normal(size=start.shape)
    moved = (coupling.mean_slopes(start, end, pairs, stakes) * (end - start)[:, None]).sum(axis=2)
    np.testing.assert_allclose(moved, coupled(end) - coupled(start), atol=0.02)


def test_slopes_of_the_softmax_are_derivatives():
    """Of ln p over the log-odds beside the first class; averaged, the difference along the way."""
    rng = np.random.default_rng(0)
    decision = Decision(
        pairs=with_first(4),
        curves=(Line(0.5),) * 3,
        log_priors=np.log([0.1, 0.2, 0.3, 0.4]),
        log_costs=np.zeros(4),
    )
    start = rng.normal(size=(30, 3)) * 4
    for pair in range(3):
        e = 1e-5 * (np.arange(3) == pair)
        theirs = decision.log_probabilities(start + e) - decision.log_probabilities(start - e)
        ours = decision.mean_slopes(start - e, start + e)
        np.testing.assert_allclose(ours[:, :, pair], theirs / 2e-5, atol=1e-6)
    end = start + rng.normal(size=start.shape) * 4
    moved = (decision.mean_slopes(start, end) * (end - start)[:, None]).sum(axis=2)
    theirs = decision.log_probabilities(end) - decision.log_probabilities(start)
    np.testing.assert_allclose(moved, theirs, atol=0.02)


def test_odds_that_are_certain_change_nothing():
    """From 30 to 300 nothing moves; from 0 to 300 as much as to where odds are certain."""
    pairs, most = ((0, 1), (0, 2), (1, 2)), logit(1 - CERTAIN)
    start, end = np.array([[30.0, 0.0, 1.0]]), np.array([[300.0, 0.0, 1.0]])
    stakes = np.log([0.2, 0.3, 0.5])
    assert not coupling.mean_slopes(start, end, pairs, stakes)[:, :, 0].any()
    assert not coupling.mean_slopes(start, start, pairs, stakes)[:, :, 0].any()
    start[:, 0], near = 0.0, end.copy()
    near[:, 0] = most
    far = coupling.mean_slopes(start, end, pairs, stakes)[:, :, 0] * 300
    near = coupling.mean_slopes(start, near, pairs, stakes)[:, :, 0] * most
    np.testing.assert_allclose(far, near)


# -------------------------------------------------------------------- contributions


@every_layer
@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_add_up_to_the_decision(classifier, n_classes):
    """decision_function of the row minus that of the typical row, to rounding."""
    classifier, X = fitted(classifier, n_classes)
    rows = X[:8] if callable(getattr(classifier, "kernel", None)) else X[:40]
    contributions = classifier.explain(rows)
    shape = (len(rows), 5) if n_classes == 2 else (len(rows), 3, 5)
    assert contributions.shape == shape
    typical, _ = scores_of_scaled(classifier, classifier.feature_map_.typical[np.newaxis])
    wanted = classifier.decision_function(rows) - typical
    np.testing.assert_allclose(contributions.sum(axis=-1), wanted, rtol=1e-8, atol=1e-8)


@few_layers
@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_are_those_of_a_fine_integral(classifier, n_classes):
    """Two thousand plain steps of central differences of the scores, to a few percent."""
    classifier, X = fitted(classifier, n_classes)
    ours = classifier.explain(X[:10]).reshape(10, -1, 5)
    phi, step = classifier.feature_map_, 1e-6
    line = phi.scaling(X[:10]) - phi.typical
    theirs = np.zeros_like(ours)
    t = (np.arange(2000) + 0.5) / 2000
    Z = (phi.typical + t[:, None, None] * line).reshape(-1, 5)
    for column in range(5):
        e = step * (np.arange(5) == column)
        above, below = (scores_of_scaled(classifier, Z + side * e)[0] for side in (1, -1))
        slopes = ((above - below) / (2 * step)).reshape(2000, 10, -1).mean(axis=0)
        theirs[:, :, column] = slopes * line[:, [column]]
    total = abs(theirs).sum(axis=2).max(axis=1)
    error = abs(ours - theirs).max(axis=(1, 2)) / total
    assert np.median(error) < 0.002
    assert error.max() < 0.03  # of a row beside many kinks


def test_few_segments_do_where_kinks_are_averaged():
    """Thirty-two segments against two thousand, before anything missing is added."""
    classifier, X = fitted(CLASSIFIERS["k laplacian"])
    phi, machine = classifier.feature_map_, classifier.machine_
    operators, line = machine.leaves[0].operators, phi.scaling(X) - phi.typical
    folded = phi.only().folded(operators, np.dtype(float))
    leaf = explanation.LeafScores(machine, machine.leaves[0], phi.only(), folded)
    few, many = (explanation.integral(leaf, phi.typical, line, n) for n in (32, 2000))
    error = abs(few - many).sum(axis=2) / abs(many).sum(axis=2)
    assert np.median(error) < 0.002


def test_rows_that_miss_their_sum_get_more_segments():
    """Begun with one segment, they end near those that are begun with thirty-two."""
    classifier, X = fitted(CLASSIFIERS["mixed"])
    fine = classifier.explain(X)
    begun_with_one = ExplanationSettings(segments=1)
    phi, machine = classifier.feature_map_, classifier.machine_
    coarse = explanation.explain(phi, machine, X, settings=begun_with_one)[:, 0]
    error = abs(coarse - fine).sum(axis=1) / abs(fine).sum(axis=1)
    assert np.median(error) < 0.01


def test_a_linear_score_gives_each_column_its_own_term():
    """With equal variances and a linear kernel, contributions are weights times distances."""
    X, y = table()
    classifier = EEKMClassifier(5, kernel="linear", scale="standard", random_state=0).fit(X, y)
    (gaussian,) = classifier.machine_.curves
    equal = type(gaussian)(gaussian.means, (1.0, 1.0))
    changed = replace(classifier.machine_, curves=(equal,))
    phi = classifier.feature_map_
    ours = explanation.explain(phi, changed, X)[:, 0]
    line = phi.scaling(X) - phi.typical
    weights = phi.only().gradient(phi.typical[np.newaxis], classifier.machine_.leaves[0].operators)[
        0, 0
    ]
    np.testing.assert_allclose(ours, line * weights * (equal.means[1] - equal.means[0]))


@few_layers
def test_the_typical_row_and_idle_columns_get_nothing(classifier):
    """A row that is typical in a column owes nothing to it."""
    X, y = table()
    X[:, 4] = 3.0  # constant
    classifier = clone(classifier).set_params(random_state=0, scale="standard").fit(X, y)
    phi = classifier.feature_map_
    typical = phi.typical / phi.scaling.factor.clip(1e-300) + phi.scaling.offset
    typical[4] = 3.0
    rows = np.vstack([typical, X[:5]])
    rows[1:, 2] = typical[2]
    contributions = classifier.explain(rows)
    np.testing.assert_allclose(contributions[0], 0, atol=1e-9)
    np.testing.assert_allclose(contributions[:, [2, 4]], 0, atol=1e-9)


def test_costs_and_priors_do_not_change_contributions():
    """They move all rows alike; with more classes a cost does what a prior does."""
    classifier, X = fitted(CLASSIFIERS["mixed"])
    other = classifier.with_costs({1: 9}, priors={0: 0.9, 1: 0.1})
    np.testing.assert_allclose(other.explain(X), classifier.explain(X), atol=1e-9)
    classifier, X = fitted(CLASSIFIERS["mixed"], 3)
    weights = np.exp(classifier.machine_.log_priors) * [1, 9, 1]
    likely = classifier.with_costs(priors=weights / weights.sum())
    costly = classifier.with_costs({1: 9}, priors="empirical")
    np.testing.assert_allclose(costly.explain(X), likely.explain(X), atol=1e-9)
    equal = classifier.with_costs(priors="balanced")
    np.testing.assert_allclose(classifier.explain(X), equal.explain(X), atol=1e-9)


def test_rows_may_come_in_any_form_and_number():
    """Frames, sparse rows, single precision, threads, one row, chunks: the same contributions."""
    classifier, X = fitted(CLASSIFIERS["learned"])
    whole = classifier.explain(X)
    np.testing.assert_allclose(classifier.explain(sp.csr_matrix(X)), whole)
    np.testing.assert_allclose(classifier.explain(X[3:4]), whole[3:4])
    single = classifier.explain(X.astype(np.float32))
    np.testing.assert_allclose(single, whole, atol=1e-3)
    many, threads = np.tile(X, (20, 1)), clone(classifier).set_params(n_jobs=2).fit(*table())
    assert np.array_equal(threads.explain(many), classifier.explain(many))
    np.testing.assert_allclose(threads.explain(many)[-len(X) :], whole)
    names = list("abcde")
    frame = pd.DataFrame(X, columns=names)
    named = clone(classifier).fit(frame, table()[1])
    np.testing.assert_allclose(named.explain(frame), whole)
    with pytest.raises(ValueError, match="feature names"):
        named.explain(frame[names[::-1]])
    with pytest.raises(ValueError, match="4 features"):
        classifier.explain(X[:, :4])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_are_explained_lazily(n_classes):
    """A Dask array of contributions, block by block."""
    da = pytest.importorskip("dask.array")
    classifier, X = fitted(CLASSIFIERS["mixed"], n_classes)
    lazy = classifier.explain(da.from_array(X, chunks=(70, 5)))
    assert isinstance(lazy, da.Array)
    theirs = classifier.explain(X)
    assert lazy.shape == theirs.shape
    np.testing.assert_allclose(lazy.compute(), theirs, rtol=1e-6, atol=1e-9)


def test_far_rows_are_integrated_with_more_segments():
    """A row a thousand deviations away: the score changes in a thousandth of the line."""
    X, y = table()
    classifier = EEKMClassifier(30, kernel="rbf", scale="standard", random_state=0).fit(X, y)
    far = X[:3] * [[1, 1e3, 1, 1, 1]]
    contributions = classifier.explain(far)
    typical = classifier.decision_function(X[:1]) - classifier.explain(X[:1]).sum(axis=1)
    np.testing.assert_allclose(
        contributions.sum(axis=1), classifier.decision_function(far) - typical, atol=1e-8
    )
    assert (abs(contributions).argmax(axis=1) == 1).all()


def steps(Z, weights, biases):
    """An activation that is flat nearly everywhere."""
    return (Z @ weights.T - biases > 0.7).astype(float)


def test_what_no_gradient_explains_is_shared_by_distance():
    """Jumps have no slope: nearly all is missing in the end, and the sum is exact all the same."""
    classifier, X = fitted(EEMClassifier(30, activation=steps))
    contributions, phi = classifier.explain(X), classifier.feature_map_
    typical, _ = scores_of_scaled(classifier, phi.typical[np.newaxis])
    wanted = classifier.decision_function(X) - typical
    np.testing.assert_allclose(contributions.sum(axis=1), wanted, atol=1e-8)
    line = abs(phi.scaling(X) - phi.typical)
    by_distance = wanted[:, None] * line / line.sum(axis=1, keepdims=True)
    assert np.isclose(contributions, by_distance).all(axis=1).mean() > 0.9


def test_certain_classes_do_not_disturb():
    """Iris: odds in the hundreds; no contribution is out of proportion to the scores."""
    X, y = load_iris(return_X_y=True)
    classifier = EEMClassifier(100, random_state=0).fit(X, y)
    contributions, scores = classifier.explain(X), classifier.decision_function(X)
    spread = scores.max() - scores.min()
    assert abs(contributions).sum(axis=2).max() < 3 * spread


def test_a_search_explains_by_its_best_classifier():
    """As it predicts."""
    X, y = table()
    search = EEMClassifierCV((10, 20), cv=3, random_state=0).fit(X, y)
    assert np.array_equal(search.explain(X[:3]), search.best_estimator_.explain(X[:3]))


# -------------------------------------------------------------------- the typical row


@every_layer
def test_the_typical_row_belongs_to_the_feature_map(classifier, tmp_path):
    """Frozen with it, whatever the order of rows and the number of neurons, and saved with it."""
    (ours, X), y = fitted(classifier), table()[1]
    phi = ours.feature_map_
    order = np.random.default_rng(1).permutation(len(y))
    again = clone(ours).fit(X[order], y[order]).feature_map_
    np.testing.assert_allclose(again.typical, phi.typical, rtol=1e-12)
    if ours.scale != "standard":  # whose means owe their last bits to the order
        assert np.array_equal(again.typical, phi.typical)
    assert np.array_equal(phi.first(7).typical, phi.typical)
    size = {"n_hidden": 7} if isinstance(ours, EEMClassifier) else {"n_landmarks": 7}
    smaller = clone(ours).set_params(**size).fit(X, y).feature_map_
    assert np.array_equal(smaller.typical, phi.typical)
    if not any(callable(getattr(ours, p, None)) for p in ("activation", "kernel")):
        ours.save(tmp_path / "m.eem")
        loaded = load(tmp_path / "m.eem")
        assert same(loaded.feature_map_, phi)
        assert np.array_equal(loaded.explain(X[:3]), ours.explain(X[:3]))


def test_typical_is_the_median_or_the_middle():
    """The median of sampled rows, scaled; the middle of the range where no rows are sampled."""
    X, y = table()
    median = EEMClassifier(30, scale="standard", random_state=0).fit(X, y).feature_map_
    np.testing.assert_allclose(median.typical, median.scaling(np.median(X, axis=0)[None])[0])
    middle = EEMClassifier(30, activation="sig", scale="minmax", random_state=0).fit(X, y)
    np.testing.assert_allclose(middle.feature_map_.typical, 0.5)


# -------------------------------------------------------------------- do they find what matters


def linear(X):
    return X[:, 4] - X[:, 7] + X[:, 9]


def xor(X):
    return np.sign(X[:, 4] * X[:, 7]) + X[:, 9]


def radial(X):
    return (X[:, [4, 7, 9]] ** 2).sum(axis=1)


# Two columns that matter only together are found among twenty, but not among forty: the sample that
# relevance is learned from is too small for so many pairs of columns.
lost = pytest.mark.xfail(strict=True, reason="XOR among forty columns needs more rows")
TABLES = [(make, 40, seed) for make in (linear, radial) for seed in range(2)]
TABLES += [(xor, 20, seed) for seed in range(2)] + [pytest.param(xor, 40, 0, marks=lost)]


@pytest.mark.usefixtures("all_landmarks")
@pytest.mark.parametrize(("make", "d", "seed"), TABLES)
@pytest.mark.parametrize("kind", ["EEM", "EEKM"])
def test_importances_and_explanations_find_three_relevant_columns(make, d, seed, kind):
    """Importances in all tables, explanations but for XOR; permutation agrees on linear ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, d))
    score = make(X) + 0.2 * rng.normal(size=2000)
    y = (score > np.median(score)).astype(int)
    classifier = {
        "EEM": EEMClassifier(150, relevance="learned", random_state=0),
        "EEKM": EEKMClassifier(150, kernel="mixed", relevance="learned", random_state=0),
    }[kind].fit(X[:1500], y[:1500])
    found = {"importance": classifier.feature_importances_}
    if make is not xor:
        found["explanation"] = abs(classifier.explain(X[1500:1600])).mean(axis=0)
    if make is linear:
        found["permutation"] = permutation_importance(
            classifier, X[1500:], y[1500:], n_repeats=3, random_state=0
        ).importances_mean
    for name, values in found.items():
        assert set(np.argsort(values)[-3:].tolist()) == {4, 7, 9}, name
