"""Importances of the default agree with what is decided: they are measured on its answers."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import make_classification
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression

from extreme_entropy import ExtremeEntropyClassifier, load

pd = pytest.importorskip("pandas")


def table(n=3000, k=2):
    """A column with a large effect, towns with a fifth of it, ages with gaps, and noise."""
    rng = np.random.default_rng(0)
    town, of_town = rng.integers(0, 60, n), rng.normal(size=60)
    X = pd.DataFrame({"town": [f"t{t}" for t in town], "noise": rng.normal(size=n)})
    X["age"] = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    X["size"] = rng.normal(size=n)
    logit = 2 * X["size"] + 0.4 * of_town[town] + X["age"].fillna(1.0)
    y = (logit.to_numpy() + rng.logistic(size=n) > 0).astype(int)
    return X, y + (rng.random(n) < 0.5) * y if k == 3 else y


def fitted(X, y, **parameters):
    return ExtremeEntropyClassifier(n_landmarks=60, random_state=0, **parameters).fit(X, y)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("n_leaves", [1, 4])
def test_importances_are_how_far_probabilities_move_when_a_column_is_shuffled(k, n_leaves):
    """Of frames through `predict_proba`, where each class weighs the same."""
    X, y = table(k=k)
    classifier = fitted(X, y, n_leaves=n_leaves)
    equal = classifier.with_costs(priors="balanced")
    rng = np.random.default_rng(1)
    chances = 1 / np.bincount(y)[y] / k
    rows, others = rng.choice(len(y), (2, 4000), p=chances)
    Z, before = X.iloc[rows].reset_index(drop=True), equal.predict_proba(X.iloc[rows])
    moved = []
    for name in X:
        after = equal.predict_proba(Z.assign(**{name: X[name].to_numpy()[others]}))
        moved.append(abs(after - before).sum(axis=1).mean())
    theirs = np.array(moved) / sum(moved)
    np.testing.assert_allclose(classifier.feature_importances_, theirs, atol=0.02)


def test_a_category_with_a_fifth_of_the_effect_does_not_come_first():
    X, y = table()
    shares = pd.Series(fitted(X, y).feature_importances_, X.columns)
    assert list(shares.nlargest(3).index) == ["size", "age", "town"]
    assert shares["town"] < shares["size"] / 3


def test_columns_that_matter_only_together_are_named_among_twenty():
    X = np.random.default_rng(0).normal(size=(3000, 20))
    y = ((X[:, 4] > 0) ^ (X[:, 9] > 0)).astype(int)
    importances = ExtremeEntropyClassifier(random_state=0).fit(X, y).feature_importances_
    assert set(np.argsort(importances)[-2:]) == {4, 9}
    assert importances[[4, 9]].min() > 3 * np.sort(importances)[-3]


def test_the_order_is_that_of_permutation_importance_on_new_rows():
    """Eight columns of effects that halve from one to the next."""
    X, _ = make_classification(4000, 8, n_informative=8, n_redundant=0, random_state=0)
    X = X / X.std(axis=0)
    logit = X @ (3 * 0.5 ** np.arange(8.0))[np.random.default_rng(0).permutation(8)]
    y = (logit + np.random.default_rng(1).logistic(size=4000) > 0).astype(int)
    classifier = fitted(X[:2000], y[:2000])
    theirs = permutation_importance(classifier, X[2000:], y[2000:], scoring="neg_log_loss")
    ours = classifier.feature_importances_
    assert spearmanr(ours, theirs.importances_mean).statistic > 0.9
    slopes = abs(LogisticRegression().fit(X[:2000], y[:2000]).coef_[0])
    assert spearmanr(ours, slopes).statistic > 0.9


@pytest.mark.parametrize("k", [2, 3])
def test_importances_stay_in_slim_files_and_under_other_costs_and_priors(k, tmp_path):
    X, y = table(k=k)
    X["one"] = "always"  # a column that is not encoded at all
    classifier = fitted(X, y)
    importances = classifier.feature_importances_
    assert importances.shape == (5,)
    assert importances[4] == 0
    assert importances.sum() == pytest.approx(1)
    np.testing.assert_array_equal(classifier.feature_importances_, importances)
    costly = classifier.with_costs({1: 9}, priors="balanced")
    np.testing.assert_array_equal(costly.feature_importances_, importances)
    for sums in (True, False):
        classifier.save(tmp_path / "m.eem", sums=sums)
        loaded = load(tmp_path / "m.eem")
        np.testing.assert_allclose(loaded.feature_importances_, importances, rtol=1e-12)
    assert not len(classifier.slim().feature_map_.held.Z)


def test_importances_follow_the_rows_that_come_and_go():
    """Of sums that are equal they are equal; rows that say otherwise change them."""
    X, y = table()
    first = fitted(X[:1500], y[:1500])
    merged = first + first.twin().fit(X[1500:], y[1500:])
    at_once = first.twin().fit(X, y)
    importances = at_once.feature_importances_
    np.testing.assert_allclose(merged.feature_importances_, importances, rtol=1e-6)
    merged.forget(X[1500:], y[1500:])
    np.testing.assert_allclose(merged.feature_importances_, first.feature_importances_, rtol=1e-6)
    by_noise = (X["noise"] > 0).astype(int).to_numpy()
    other = first.twin().fit(X, by_noise).feature_importances_
    assert other.argmax() == list(X).index("noise")
