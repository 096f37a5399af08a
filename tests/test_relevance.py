"""Learned relevance: gradients are derivatives, weights find what matters, sums add up as ever."""

from dataclasses import replace

import numpy as np
import pytest
from laws import assert_same_decisions
from sklearn.base import clone
from sklearn.datasets import make_classification

from extreme_entropy import EEKMClassifier, EEKMClassifierCV, EEMClassifier, EEMClassifierCV, load
from extreme_entropy.drawing.settings import DRAWING, RelevanceSettings
from extreme_entropy.features.feature_map import same

LEARNED = [
    EEMClassifier(40, relevance="learned", random_state=0),
    EEMClassifier(40, activation="laplacian", relevance="learned", random_state=0),
    EEKMClassifier(40, kernel="mixed", relevance="learned", random_state=0),
    EEKMClassifier(40, kernel="laplacian", relevance="learned", random_state=0),
]
every = pytest.mark.parametrize("classifier", LEARNED, ids=lambda c: f"{type(c).__name__}")


in_full = pytest.mark.usefixtures("all_landmarks")


def few_of_many(seed=0, n=600, d=12, n_classes=2):
    """Rows of which the first three columns alone tell the classes, the third by a curve."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    z = X[:, 0] + X[:, 1] + X[:, 2] ** 2 - 1 + 0.3 * rng.normal(size=n)
    return X, np.digitize(z, np.quantile(z, np.arange(1, n_classes) / n_classes))


@every
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gradient_is_the_derivative(classifier, n_classes):
    """∂/∂z of βᵀφ against central differences, for each pair of classes."""
    X, y = few_of_many(n_classes=n_classes)
    fitted = clone(classifier).fit(X, y)
    phi, operators = fitted.feature_map_, fitted.machine_.leaves[0].operators
    Z, step = phi.scaling(X[:20]), 1e-6
    gradient = phi.only().gradient(Z, operators)
    assert gradient.shape == (len(operators), *Z.shape)

    def project(Z):
        features = np.empty((len(Z), phi.h))
        for i, part in enumerate(phi.only().parts):
            H = part.layer(part.seen(Z))
            own = H if part.whitening is None else H @ part.whitening
            features[:, i :: len(phi.only().parts)] = own
        return features @ operators.T

    for column in range(Z.shape[1]):
        e = step * (np.arange(Z.shape[1]) == column)
        theirs = (project(Z + e) - project(Z - e)) / (2 * step)
        # A landmark's own row has a corner, where the derivative is not defined.
        away = np.abs(theirs - gradient[:, :, column].T) < 1e-3 * np.abs(gradient).max() + 1e-6
        assert away.mean() > 0.9


@in_full
@pytest.mark.parametrize("seed", range(5))
def test_three_relevant_columns_of_forty_have_the_largest_weights(seed):
    """On five generated tables; importances sum to one."""
    X, y = make_classification(
        1500,
        40,
        n_informative=3,
        n_redundant=0,
        n_clusters_per_class=1,
        class_sep=1.0,
        shuffle=False,
        random_state=seed,
    )
    classifier = EEKMClassifier(60, kernel="mixed", relevance="learned", random_state=0).fit(X, y)
    importances = classifier.feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert set(np.argsort(importances)[-3:]) == {0, 1, 2}


@in_full
def test_importances_agree_with_permutation():
    """Permuting a column that has importance costs accuracy; permuting the others costs none."""
    X, y = few_of_many(n=1500, d=10)
    classifier = EEMClassifier(100, relevance="learned", random_state=0).fit(X[:1000], y[:1000])
    rng, base = np.random.default_rng(0), classifier.score(X[1000:], y[1000:])
    lost = []
    for column in range(10):
        permuted = X[1000:].copy()
        permuted[:, column] = rng.permutation(permuted[:, column])
        lost.append(base - classifier.score(permuted, y[1000:]))
    assert set(np.argsort(lost)[-3:]) == {0, 1, 2}
    assert set(np.argsort(classifier.feature_importances_)[-3:]) == {0, 1, 2}


def test_uniform_relevance_has_no_importances():
    """The error says what to set."""
    X, y = few_of_many()
    fitted = EEMClassifier(20, relevance="uniform", random_state=0).fit(X, y)
    with pytest.raises(AttributeError, match="relevance='learned'"):
        _ = fitted.feature_importances_


@in_full
@every
def test_noise_columns_cost_less_where_relevance_is_learned(classifier):
    """Thirty columns of noise beside three that matter."""
    X, y = few_of_many(n=900, d=33)
    learned = clone(classifier).fit(X[:500], y[:500])
    uniform = clone(classifier).set_params(relevance="uniform").fit(X[:500], y[:500])
    assert learned.score(X[500:], y[500:]) > uniform.score(X[500:], y[500:]) + 0.02


@every
def test_sums_add_up_whatever_was_learned(classifier, tmp_path):
    """partial_fit, merge, forget, threads, weights as repetition, and files, for one frozen φ."""
    X, y = few_of_many()
    whole = clone(classifier).fit(X, y)
    parts = [whole.twin().fit(X[i::3], y[i::3]) for i in range(3)]
    assert_same_decisions(parts[0] + parts[1] + parts[2], whole, X)
    assert_same_decisions(
        parts[0].partial_fit(X[1::3], y[1::3]).partial_fit(X[2::3], y[2::3]), whole, X
    )
    more = clone(classifier).fit(X, y)
    more.partial_fit(X[:50], y[:50]).forget(X[:50], y[:50])
    assert_same_decisions(more, whole, X)
    threads = clone(classifier).set_params(n_jobs=2).fit(X, y)
    assert same(threads.feature_map_, whole.feature_map_)
    assert np.array_equal(threads.beta_, whole.beta_)
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    weighted = clone(classifier).fit(X, y, sample_weight=weight)
    assert_same_decisions(
        weighted, clone(classifier).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)), X
    )
    whole.save(tmp_path / "m.eem")
    again = load(tmp_path / "m.eem")
    assert np.array_equal(again.predict_proba(X), whole.predict_proba(X))
    assert np.array_equal(again.feature_importances_, whole.feature_importances_)


@every
def test_order_and_units_do_not_matter(classifier):
    """Rows in another order draw the same φ; shifted and rescaled columns predict the same."""
    X, y = few_of_many()
    order = np.random.default_rng(1).permutation(len(y))
    whole = clone(classifier).fit(X, y)
    assert_same_decisions(clone(classifier).fit(X[order], y[order]), whole, X)
    moved = X * 1e3 ** np.linspace(-1, 1, X.shape[1]) + 5.0
    again = clone(classifier).fit(moved, y)
    assert (again.predict(moved) == whole.predict(X)).mean() > 0.99


@every
def test_a_first_batch_without_a_class_learns_from_the_others(classifier):
    """Relevance is then that of the classes which are there, or uniform where there is only one."""
    X, y = few_of_many(n_classes=3)
    for there in (y < 2, y < 1):
        fitted = clone(classifier).partial_fit(X[there], y[there], classes=[0, 1, 2])
        assert np.isfinite(fitted.partial_fit(X, y).predict_proba(X)).all()


@pytest.mark.parametrize(
    "search",
    [
        EEMClassifierCV((10, 40), cv=3, relevance="learned", random_state=0),
        EEKMClassifierCV((10, 40), cv=3, kernel="mixed", relevance="learned", random_state=0),
    ],
    ids=["EEM", "EEKM"],
)
def test_a_search_over_learned_relevance_gives_what_a_fit_would(search):
    """`clone(best_estimator_).fit` is the one that was chosen; a smaller φ is part of a larger."""
    X, y = few_of_many()
    best = clone(search).fit(X, y).best_estimator_
    assert_same_decisions(clone(best).fit(X, y), best, X)


def test_no_scored_row_took_part_in_learning_weights():
    """Scores of pure noise are those of chance, though weights were learned from labels."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 60)), np.arange(400) % 2
    search = EEKMClassifierCV((40,), kernel="mixed", relevance="learned", cv=5, random_state=0)
    assert abs(search.fit(X, y).path_.mean_scores - 0.5).max() < 0.1


@every
@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_count_alike_where_weights_do_not_help(classifier, n_classes):
    """φ is then the one of uniform relevance, and importances are there all the same."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 8)), np.arange(300) % n_classes  # nothing to be learned
    learned = clone(classifier).fit(X, y)
    uniform = clone(classifier).set_params(relevance="uniform").fit(X, y)
    assert all(map(same, learned.feature_map_.only().parts, uniform.feature_map_.only().parts))
    assert np.array_equal(learned.predict_proba(X), uniform.predict_proba(X))
    assert learned.feature_importances_.sum() == pytest.approx(1.0)


@every
def test_relevance_counts_repeated_rows(classifier):
    """A weight is repetition for the weights of columns too, and they notice it."""
    X, y = few_of_many()
    weight = np.where(X[:, 3] > 0.5, 9, 1)
    plain = clone(classifier).fit(X, y)
    weighted = clone(classifier).fit(X, y, sample_weight=weight)
    repeated = clone(classifier).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    ours = weighted.feature_importances_
    np.testing.assert_allclose(ours, repeated.feature_importances_, rtol=1e-6, atol=1e-9)
    assert not np.allclose(ours, plain.feature_importances_, rtol=1e-2)


@pytest.mark.parametrize(
    ("classifier", "learns"),
    [
        (EEMClassifier(20, random_state=0), True),
        (EEMClassifier(20, activation="laplacian", random_state=0), True),
        (EEMClassifier(20, activation="rbf", random_state=0), False),
        (EEMClassifier.paper(n_hidden=20, random_state=0), False),
        (EEKMClassifier(20, random_state=0), True),
        (EEKMClassifier(20, kernel="rbf", random_state=0), False),
        (EEKMClassifier(20, kernel="rbf", relevance="learned", random_state=0), True),
    ],
)
def test_relevance_is_learned_by_itself_for_mixed_and_laplacian_layers(classifier, learns):
    """Other layers see all columns alike unless they are asked to learn."""
    X, y = few_of_many()
    fitted = classifier.fit(X, y)
    assert (fitted.feature_map_.relevance is not None) == learns


@pytest.mark.parametrize("classifier", [LEARNED[0], LEARNED[2]], ids=["EEM", "EEKM"])
def test_where_weights_gain_much_all_of_a_mixed_layer_sees_them(classifier):
    """One part for a large gain, two for some, the plain one for none."""
    X, y = few_of_many(n=900, d=33)
    kinds = []
    for some, large in ((-9.0, -8.0), (-9.0, 9e9), (9e9, 9e9)):
        relevance = RelevanceSettings(landmarks=40, used_gain=some, alone_gain=large)
        other = clone(classifier)
        other.settings = replace(DRAWING, relevance=relevance)
        parts = other.fit(X, y).feature_map_.only().parts
        kinds.append([(type(part.layer).__name__, part.weights is not None) for part in parts])
    alone, both, plain = kinds
    assert alone == [("Laplacian", True)]
    assert both == [("Radial", False), ("Laplacian", True)]
    assert not any(weighted for _, weighted in plain)
