"""One Newton step is a penalised logistic regression, calibrated on rows that were held out."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.linear_model import LogisticRegression

from extreme_entropy import ExtremeEntropyClassifier
from extreme_entropy.columns.statistics import N_FOLDS
from extreme_entropy.drawing.pilot import fit_pilot
from extreme_entropy.drawing.settings import DRAWING, PilotSettings
from extreme_entropy.engines.threads import one_blas_thread
from extreme_entropy.errors import DegenerateWarning
from extreme_entropy.features.content import folds_of
from extreme_entropy.features.feature_map import same
from extreme_entropy.machine import stepping
from extreme_entropy.machine.stepping import STEPPING, Held, fit_line, solve_steps
from extreme_entropy.moments.logistic import targets_of

few_and_many = pytest.mark.parametrize("n_classes", [2, 4])
TO_THE_END = PilotSettings(most_steps=3000, least_gain=0.0)


class Converged(ExtremeEntropyClassifier):
    """With pilots that are at their optimum."""

    settings = replace(ExtremeEntropyClassifier.settings, pilots=TO_THE_END)


def table(n_classes=2, n=900, seed=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = np.where(X[:, 0] > 0, X[:, 1], -X[:, 2]) + 0.4 * rng.normal(size=n)
    return X, np.digitize(score, [0.4, 0.8, 1.2][: n_classes - 1])


def new(kind=ExtremeEntropyClassifier, n_leaves=1, **parameters):
    return kind(n_leaves=n_leaves, n_landmarks=20, random_state=3, **parameters)


def loss_of(theta, H, y, weight, prior):
    """The penalised loss, by its definition: 1 on features, 0.1 on the constant less the prior."""
    n_classes = max(len(prior), 2)
    theta = theta.reshape(H.shape[1] + 1, -1)
    odds = H @ theta[:-1] + theta[-1]
    logits = np.column_stack([np.zeros(len(H)), odds]) if n_classes == 2 else odds
    fit = weight @ (logsumexp(logits, axis=1) - logits[np.arange(len(H)), y])
    return fit + np.square(theta[:-1]).sum() / 2 + 0.1 * np.square(theta[-1] - prior).sum() / 2


def gradient_of(theta, H, y, weight, prior):
    n_classes = max(len(prior), 2)
    shaped = theta.reshape(H.shape[1] + 1, -1)
    odds = H @ shaped[:-1] + shaped[-1]
    logits = np.column_stack([np.zeros(len(H)), odds]) if n_classes == 2 else odds
    error = (softmax(logits, axis=1) - np.eye(n_classes)[y]) * weight[:, np.newaxis]
    error = error[:, 1:] if n_classes == 2 else error
    gradient = np.vstack(
        [H.T @ error + shaped[:-1], error.sum(axis=0) + 0.1 * (shaped[-1] - prior)]
    )
    return gradient.ravel()


def optimum(H, y, weight, prior):
    start = np.zeros((H.shape[1] + 1) * len(prior))
    best = minimize(
        loss_of, start, (H, y, weight, prior), jac=gradient_of, method="L-BFGS-B",
        options={"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9},
    )  # fmt: skip
    return best.x.reshape(H.shape[1] + 1, -1)


def log_odds(shares):
    """Of the second of two classes, or the logarithms of the shares of all."""
    logs = np.log(shares)
    return logs[1:] - logs[:1] if len(shares) == 2 else logs


# -------------------------------------------------------------------- the step


@few_and_many
@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
def test_one_step_ends_at_the_optimum_of_the_penalised_loss(n_classes, weighted):
    """From a pilot on all rows; by a general minimiser of the loss as it is written."""
    X, y = table(n_classes)
    weight = np.random.default_rng(0).choice([1.0, 2.0, 3.0], len(y)) if weighted else None
    classifier = new(Converged).fit(X, y, sample_weight=weight)
    phi, counts = classifier.feature_map_, np.ones(len(y)) if weight is None else weight
    prior = log_odds(np.bincount(y, counts) / counts.sum())
    [part] = [
        stepping._solve_leaf(sums, prior, 1.0, STEPPING) for sums in classifier.summary_.leaves
    ]
    H = phi(X)
    best = optimum(H, y, counts, prior)
    np.testing.assert_allclose(part.theta, best, atol=2e-4)
    ours, theirs = (loss_of(t.ravel(), H, y, counts, prior) for t in (part.theta, best))
    assert ours < theirs + 1e-6


def test_the_pilot_is_scikit_learns_logistic_regression(rng):
    """Where the constant is all but free, as it is there."""
    H, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    y[H[:, 0] > 0.5] = 1
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(H, y)
    prior = np.array([theirs.intercept_[0]])  # which then costs nothing
    ours = fit_pilot(H, targets_of(y, 2), np.ones(300), prior, TO_THE_END)
    np.testing.assert_allclose(ours[:-1, 0], theirs.coef_[0], atol=1e-6)
    np.testing.assert_allclose(ours[-1], theirs.intercept_, atol=1e-6)


@few_and_many
def test_a_pilot_on_few_rows_costs_little(n_classes):
    """One step from a pilot on a quarter of the rows is nearly the optimum of all of them."""
    X, y = table(n_classes, n=6000)

    class Few(ExtremeEntropyClassifier):
        settings = replace(Converged.settings, pilots=replace(TO_THE_END, class_rows=400))

    few = new(Few).fit(X, y)
    H, weight = few.feature_map_(X), np.ones(len(y))
    prior = log_odds(np.bincount(y) / len(y))
    [sums] = few.summary_.leaves
    part = stepping._solve_leaf(sums, prior, 1.0, STEPPING)
    if n_classes > 2:
        part = stepping._lengthened(few.feature_map_, 0, sums, part, np.bincount(y), 1.0)
    best = optimum(H, y, weight, prior)
    pilot, step, least = (
        loss_of(theta.ravel(), H, y, weight, prior)
        for theta in (few.feature_map_.pilots[0], part.theta, best)
    )
    assert least <= step < least + {2: 0.1, 4: 0.35}[n_classes] * (pilot - least)


def test_steps_of_many_classes_end_where_the_curvature_along_them_asks():
    """By the loss as it is written, of rows outside each fold, along the step from the pilot."""
    X, y = table(4)

    class Early(ExtremeEntropyClassifier):
        settings = replace(Converged.settings, pilots=replace(TO_THE_END, most_steps=1))

    classifier = new(Early).fit(X, y)
    phi, [sums], totals = classifier.feature_map_, classifier.summary_.leaves, np.bincount(y)
    prior, pilot = log_odds(totals / len(y)), phi.pilots[0]
    short = stepping._solve_leaf(sums, prior, 1.0, STEPPING)
    longer = stepping._lengthened(phi, 0, sums, short, totals, 1.0)
    H, folds = phi(X), folds_of(phi.content(X), N_FOLDS)
    for k in range(N_FOLDS):
        rest = folds != k
        step = short.by_fold[k] - pilot

        def loss(length, rest=rest, step=step):
            theta = (pilot + length * step).ravel()
            return loss_of(theta, H[rest], y[rest], np.ones(rest.sum()), prior)

        below, at, above = loss(-1e-2), loss(0), loss(1e-2)
        best = (below - above) / (2e-2 * (below - 2 * at + above) / 1e-4)  # Newton's, in one line
        length = np.vdot(longer.by_fold[k] - pilot, step) / np.vdot(step, step)
        assert length > 1.05
        np.testing.assert_allclose(length, best, rtol=0.02)


def test_all_pilots_of_a_table_that_is_sampled_whole_meet_its_frequencies():
    """Summed over rows, p is the number of each class, but for what the penalty takes."""
    X, y = table(4)
    classifier = new(Converged).fit(X, y)
    theta, n = classifier.feature_map_.pilots[0], np.bincount(y)
    p = softmax(classifier.feature_map_(X) @ theta[:-1] + theta[-1], axis=1)
    taken = stepping.penalties_of(len(theta) - 1)[-1] * (theta[-1] - np.log(n / n.sum()))
    np.testing.assert_allclose(p.sum(axis=0), n - taken, atol=0.05)


@few_and_many
@pytest.mark.parametrize("n_leaves", [1, 4])
def test_log_odds_of_a_row_are_those_of_its_leaf(n_classes, n_leaves):
    """Row by row: φ and θ of its leaf, the leaf's line, and the frequencies of all rows."""
    X, y = table(n_classes, n=1500)
    classifier = new(n_leaves=n_leaves, priors="balanced").fit(X, y)
    phi, held = classifier.feature_map_, classifier.feature_map_.held
    assert len(phi.leaves) == n_leaves
    totals = np.bincount(y)
    prior = log_odds(totals / totals.sum())
    sums = classifier.summary_.leaves
    solved = [stepping._solve_leaf(leaf, prior, 1.0, STEPPING) for leaf in sums]
    if n_classes > 2:
        parts = zip(sums, solved, strict=True)
        solved = [stepping._lengthened(phi, i, *part, totals, 1.0) for i, part in enumerate(parts)]
    logits, held_at = stepping._held_logits(phi, solved, n_classes), phi.tree(held.Z)
    at, p = phi.leaves_of(X), classifier.predict_log_proba(X)
    for i, part in enumerate(solved):
        own = held_at == i
        line = fit_line(logits[own], Held(held.labels[own], held.counts[own]), held, totals)
        rows = np.flatnonzero(at == i)[:20]
        f = phi.leaves[i](phi.scaled(X[rows])) @ part.theta[:-1] + part.theta[-1]
        f = np.column_stack([np.zeros(len(rows)), f]) if n_classes == 2 else f
        f = line.slope * f + line.constants - np.log(totals)
        for c, d in combinations(range(n_classes), 2):
            np.testing.assert_allclose(p[rows, d] - p[rows, c], f[:, d] - f[:, c], atol=1e-6)


# -------------------------------------------------------------------- folds


@few_and_many
def test_rows_kept_are_predicted_by_sums_of_other_folds(n_classes):
    """By definition: θ from rows outside the fold, whose sums are added up by hand."""
    X, y = table(n_classes)
    classifier = new().fit(X, y)
    phi = classifier.feature_map_
    prior = log_odds(np.bincount(y) / len(y))
    [sums] = classifier.summary_.leaves
    part = stepping._solve_leaf(sums, prior, 1.0, STEPPING)
    found = stepping._held_logits(phi, [part], n_classes)
    H = np.column_stack([phi(X), np.ones(len(y))])
    folds, theta = folds_of(phi.content(X), N_FOLDS), phi.pilots[0]
    odds = H @ theta
    p = 1 / (1 + np.exp(-odds)) if n_classes == 2 else softmax(odds, axis=1)
    w = (p * (1 - p)).sum(axis=1)
    w = w if n_classes == 2 else np.minimum(w, p.max(axis=1))
    pull = w[:, np.newaxis] * odds + targets_of(y, n_classes) - p
    penalty = np.diag(np.append(np.ones(phi.h), 0.1))
    held_H = phi.only()(phi.held.Z)
    for k in range(N_FOLDS):
        others, own = folds != k, phi.held.folds == k
        b = H[others].T @ pull[others]
        b[-1] += 0.1 * prior
        best = np.linalg.solve((H[others].T * w[others]) @ H[others] + penalty, b)
        f = held_H[own] @ best[:-1] + best[-1]
        f = np.column_stack([np.zeros(len(f)), f]) if n_classes == 2 else f
        np.testing.assert_allclose(found[own], f, atol=1e-7)


def test_no_prediction_that_calibrates_has_seen_its_fold():
    """Sums of a fold may be anything: rows kept of that fold are predicted as before."""
    X, y = table()
    classifier = new().fit(X, y)
    phi, [sums] = classifier.feature_map_, classifier.summary_.leaves
    prior = log_odds(np.bincount(y) / len(y))
    before = stepping._held_logits(phi, [stepping._solve_leaf(sums, prior, 1.0, STEPPING)], 2)
    for k in range(N_FOLDS):
        gram, target = sums.gram.copy(), sums.target.copy()
        gram[k] *= 3
        target[k] -= 50
        other = replace(sums, gram=gram, target=target)
        after = stepping._held_logits(phi, [stepping._solve_leaf(other, prior, 1.0, STEPPING)], 2)
        own = phi.held.folds == k
        assert own.any()
        np.testing.assert_allclose(after[own], before[own], atol=1e-8)
        assert np.median(abs(after[~own] - before[~own])[:, 1]) > 0.1


# -------------------------------------------------------------------- the line


@few_and_many
@pytest.mark.parametrize("n", [0, 1, 12, 400])
def test_the_line_minimises_its_penalised_loss(n_classes, n, rng):
    """By a general minimiser, with counts, and classes of which other shares were kept."""
    labels = rng.integers(0, n_classes, n)
    logits = rng.normal(size=(n, n_classes)) * 3 + 2 * np.eye(n_classes)[labels]
    counts = rng.integers(1, 4, n).astype(float)
    kept = Held(
        np.concatenate([labels, np.arange(n_classes)]), np.concatenate([counts, np.ones(n_classes)])
    )
    totals = 100.0 * (1 + np.arange(n_classes)) ** 2
    line = fit_line(logits, Held(labels, counts), kept, totals)
    shift = np.log(np.bincount(kept.labels, kept.counts, n_classes) / totals)
    weight = counts * n / counts.sum() if n else counts

    def loss(at):
        f = at[0] * logits + np.append(np.zeros(int(n_classes == 2)), at[1:]) + shift
        fit = weight @ (logsumexp(f, axis=1) - f[np.arange(n), labels])
        return fit + 10 / 2 * (at[0] - 1) ** 2 + np.square(at[1:]).sum() / 2

    free = 1 + n_classes - (n_classes == 2)
    best = minimize(loss, np.append(1.0, np.zeros(free - 1)), tol=1e-12).x
    assert line.slope == pytest.approx(max(best[0], STEPPING.least_slope), abs=1e-5)
    np.testing.assert_allclose(line.constants[int(n_classes == 2) :], best[1:], atol=1e-5)
    if not n:
        assert (line.slope, line.constants.any()) == (1.0, False)


def test_a_slope_is_never_negative(rng):
    """However wrong the held-out predictions are, so that thresholds are finite."""
    labels = rng.integers(0, 2, 500)
    logits = np.column_stack([np.zeros(500), 4.0 - 8 * labels])
    held = Held(labels, np.ones(500))
    assert fit_line(logits, held, held, np.array([250.0, 250.0])).slope == STEPPING.least_slope


def test_overconfident_log_odds_are_damped(rng):
    """The line of many rows is the logistic regression of labels on logits."""
    labels = rng.integers(0, 2, 20_000)
    f = (2 * labels - 1 + 1.5 * rng.normal(size=20_000)) * 2
    held = Held(labels, np.ones(20_000))
    totals = np.bincount(labels).astype(float)
    line = fit_line(np.column_stack([np.zeros(20_000), f]), held, held, totals)
    theirs = LogisticRegression(C=np.inf).fit(f[:, np.newaxis], labels)
    assert line.slope == pytest.approx(theirs.coef_[0, 0], rel=1e-2)
    assert line.constants[1] == pytest.approx(theirs.intercept_[0], abs=1e-2)


# -------------------------------------------------------------------- odd sums


@few_and_many
def test_rows_that_are_all_alike_tie_exactly(n_classes):
    """No label is decided by rounding, whatever weights are."""
    y = np.repeat(np.arange(n_classes), [2, 28, 26, 11][:n_classes])
    X = np.full((len(y), 2), 7.0)
    with pytest.warns(DegenerateWarning):
        classifier = new().fit(X, y)
    assert all(not leaf.constants.any() for leaf in classifier.machine_.leaves)
    assert not classifier.machine_.leaves[0].operators.any()
    with pytest.warns(DegenerateWarning):
        weighted = classifier.twin().fit(X, y, np.full(len(y), 1 / len(y)))
    np.testing.assert_array_equal(weighted.predict(X), classifier.predict(X))
    shares = classifier.with_costs(priors="empirical").predict_proba(X)[0]
    np.testing.assert_allclose(shares, np.bincount(y) / len(y))


def test_a_leaf_whose_rows_are_alike_answers_by_their_labels():
    """Only a table that has no other rows tells nothing."""
    X, y = table(n=2000)
    classifier = new(n_leaves=4).fit(X, y)
    inside = np.flatnonzero(classifier.feature_map_.leaves_of(X) == 0)
    X[inside] = X[inside[0]]
    odds = []
    for share in (0.1, 0.9):
        y[inside] = np.arange(len(inside)) < share * len(inside)
        odds.append(classifier.twin().fit(X, y).decision_function(X[inside[:1]])[0])
    assert odds[0] < odds[1]


def test_leaves_that_are_each_of_one_row_are_told_apart():
    """A table tells nothing only where all its rows are alike."""
    X, y = table(n=2000)
    classifier = new(n_leaves=4).fit(X, y)
    at = classifier.feature_map_.leaves_of(X)
    firsts = np.array([np.flatnonzero(at == leaf)[0] for leaf in range(4)])
    other = classifier.twin().fit(X[firsts[at]], (at + np.arange(2000) % 3 > 2).astype(int))
    odds = other.decision_function(X[firsts])
    assert (np.diff(odds) > 0.1).all()


def test_a_leaf_without_rows_answers_with_the_frequencies_of_all():
    X, y = table(n=2000)
    classifier = new(n_leaves=4).fit(X, y)
    away = classifier.feature_map_.leaves_of(X) != 2
    other = classifier.twin().fit(X[away], y[away])
    odds = other.decision_function(X[~away])
    # But for what the line of the rows kept there adds, which have none to come from.
    assert np.ptp(odds) == pytest.approx(0, abs=1e-9)


def test_sums_can_be_solved_whatever_weights_are():
    """Rounding of large sums stays below the penalties, also where columns are the same."""
    X, y = table(n=300)
    X = np.hstack([X, X, X])
    classifier = new().fit(X, y)
    for unit in (1e-9, 1.0, 1e12, 1e15, 1e18):
        for heavy in (1.0, 1e3, 1e9):
            weight = np.full(len(y), unit)
            weight[::7] *= heavy
            odds = classifier.twin().fit(X, y, sample_weight=weight).decision_function(X)
            assert np.isfinite(odds).all()


def test_a_machine_follows_from_sums_and_map_alone():
    """To the last bit, and by any executor."""
    X, y = table(4)
    classifier = new(n_leaves=4, n_jobs=2).fit(X, y)
    machine = classifier.machine_
    with one_blas_thread():
        again = solve_steps(
            classifier.feature_map_, classifier.summary_, machine.log_priors, machine.log_costs
        )
    assert same(machine, again)


def test_settings_of_the_default_are_those_of_the_library_but_for_heaps():
    """A test that changes one says so."""
    features = ExtremeEntropyClassifier.settings.features
    assert replace(ExtremeEntropyClassifier.settings, features=DRAWING.features) == DRAWING
    assert features.most_of_value < DRAWING.features.most_of_value
