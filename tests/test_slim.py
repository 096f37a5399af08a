"""Classifiers for deployment: without sums, in bytes and file objects, added up by `sum`."""

import copy
import io
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import cross_val_score

from extreme_entropy import (
    DivergenceSearch,
    EEKMClassifier,
    EEKMClassifierCV,
    EEMClassifier,
    EEMClassifierCV,
    ExtremeEntropyClassifier,
    load,
)
from extreme_entropy.errors import FileFormatError, InputError
from extreme_entropy.estimators.saving import pack
from extreme_entropy.moments.step_sums import StepSums
from extreme_entropy.moments.summary import ClassMoments, FoldMoments

CLASSIFIERS = {
    "EEM": EEMClassifier(30, random_state=0),
    "EEKM": EEKMClassifier(30, random_state=0),
    "forest": ExtremeEntropyClassifier(n_landmarks=20, random_state=0),
    "leaves": ExtremeEntropyClassifier(n_landmarks=20, n_leaves=3, random_state=0),
}


def rows(n=400, n_classes=2):
    """A table that takes some features to learn."""
    return make_classification(
        n, 6, n_informative=4, n_classes=n_classes, class_sep=0.7, random_state=3
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_slim_classifier_answers_with_the_same_bits(name, n_classes, tmp_path):
    """Under other costs and priors too; pickled, saved and loaded."""
    X, y = rows(n_classes=n_classes)
    fitted = clone(CLASSIFIERS[name]).fit(X, y)
    fitted.save(tmp_path / "slim.eem", sums=False)
    pickled = pickle.loads(pickle.dumps(fitted.slim()))  # noqa: S301 (our own bytes)
    for slim in (fitted.slim(), load(tmp_path / "slim.eem"), pickled):
        for mine, theirs in (
            (slim, fitted),
            (slim.with_costs({1: 5}), fitted.with_costs({1: 5})),
            (slim.with_costs(priors="empirical"), fitted.with_costs(priors="empirical")),
            (slim.slim(), fitted),
        ):
            for method in ("predict", "predict_proba", "decision_function", "project", "explain"):
                ours = getattr(mine, method)(X[:50])
                np.testing.assert_array_equal(ours, getattr(theirs, method)(X[:50]))
        np.testing.assert_array_equal(slim.thresholds_, fitted.thresholds_)
        if isinstance(fitted, ExtremeEntropyClassifier):
            np.testing.assert_array_equal(slim.predict_set(X), fitted.predict_set(X))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_slim_classifier_refuses_to_learn_and_says_why(name):
    X, y = rows()
    fitted = clone(CLASSIFIERS[name]).fit(X, y)
    slim = fitted.slim()
    for call in (
        lambda: slim.partial_fit(X, y),
        lambda: slim.forget(X, y),
        lambda: slim.merge(fitted),
        lambda: fitted.merge(slim),
        lambda: slim.twin(),
    ):
        with pytest.raises(InputError, match="only where sums are kept"):
            call()
    again = slim.fit(X, y)  # a new fit is one
    np.testing.assert_array_equal(
        again.forget(X[:9], y[:9]).predict(X), fitted.forget(X[:9], y[:9]).predict(X)
    )


def test_a_slim_forest_keeps_no_rows_but_landmarks():
    X, y = rows()
    fitted = clone(CLASSIFIERS["forest"]).fit(X, y)
    assert len(fitted.feature_map_.held.Z)
    assert len(fitted.slim().feature_map_.held.Z) == 0


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_half_of_a_symmetric_matrix_is_written(name, tmp_path):
    """And read back with the same bits, so that learning goes on with them."""
    X, y = rows()
    fitted = clone(CLASSIFIERS[name]).fit(X, y)
    leaf = fitted.summary_.leaves[0]
    # The step's sums of all folds are one array.
    name, axes = ("gram", 2) if isinstance(leaf, StepSums) else ("scatter", 1)
    matrices = leaf.gram if name == "gram" else leaf.cells[0][0].scatter
    assert np.array_equal(matrices, matrices.swapaxes(-1, -2))
    _, arrays = pack(fitted)
    written = [array for key, array in arrays.items() if key.endswith(name)]
    assert written
    assert all(array.ndim == axes for array in written)
    fitted.save(tmp_path / "m.eem")
    loaded = load(tmp_path / "m.eem")
    for one in (fitted, loaded):
        one.forget(X[:100], y[:100]).partial_fit(X[:50], y[:50])
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize("h", [3, 8, 33, 100])
def test_sums_stay_symmetric_to_the_last_bit(h, rng):
    """However they were added and taken apart."""
    a, b, c = (
        FoldMoments(((ClassMoments.of(rng.normal(size=(n, h)) + rng.normal()),),))
        for n in (5, 70, 31)
    )
    scatter = (a + b + c - b).totals[0].scatter
    np.testing.assert_array_equal(scatter, scatter.T)


def test_models_go_to_bytes_and_file_objects_and_back(tmp_path):
    X, y = rows()
    fitted = EEMClassifier(20, random_state=0).fit(X, y)
    buffer = io.BytesIO()
    fitted.save(buffer)
    with (tmp_path / "m.eem").open("wb") as file:
        fitted.save(file)
    buffer.seek(0)
    with (tmp_path / "m.eem").open("rb") as file:
        for source in (buffer, buffer.getvalue(), file):
            np.testing.assert_array_equal(load(source).predict(X), fitted.predict(X))


@pytest.mark.parametrize("n", [0, 4, 8, 100, 5000])
def test_damaged_bytes_are_an_error_of_ours(n):
    X, y = rows()
    buffer = io.BytesIO()
    EEMClassifier(5, random_state=0).fit(X, y).save(buffer)
    with pytest.raises(FileFormatError, match="'bytes'"):
        load(buffer.getvalue()[:n])
    altered = bytearray(buffer.getvalue())
    altered[-1] ^= 1
    with pytest.raises(FileFormatError, match="checksum"):
        load(bytes(altered))


def test_parts_are_added_up_by_sum():
    X, y = rows()
    first = EEMClassifier(20, random_state=0).fit(X[:100], y[:100])
    parts = [first, *(first.twin().fit(X[s], y[s]) for s in (slice(100, 250), slice(250, 400)))]
    whole = first.twin().fit(X, y)
    np.testing.assert_allclose(sum(parts).predict_proba(X), whole.predict_proba(X), atol=1e-9)
    assert first.summary_.counts.sum() == 100  # unchanged
    with pytest.raises(TypeError):
        1 + first


def test_the_clone_of_a_twin_keeps_the_feature_map():
    X, y = rows()
    first = EEMClassifier(20, random_state=0).fit(X[:100], y[:100])
    twin = clone(first.twin())
    assert twin.feature_map_ is first.feature_map_
    assert not twin.summary_.counts.any()
    assert cross_val_score(first.twin(), X, y).mean() > 0.6
    assert not hasattr(clone(first), "feature_map_")


@pytest.mark.parametrize("looked", [False, True])
def test_parameters_set_after_a_fit_act_from_the_next_fit_on(looked):
    """Whether or not anyone has looked at the classifier in between."""
    X, y = load_iris(return_X_y=True)
    fitted = EEMClassifier(20, random_state=0).partial_fit(X, y)
    expected = EEMClassifier(20, random_state=0).fit(X, y).decision_function(X)
    if looked:
        fitted.predict(X)
    fitted.set_params(costs={1: 50}, ridge=3.0)
    np.testing.assert_array_equal(fitted.decision_function(X), expected)
    fitted.fit(X, y)
    costly = EEMClassifier(20, random_state=0, costs={1: 50}, ridge=3.0).fit(X, y)
    np.testing.assert_array_equal(fitted.decision_function(X), costly.decision_function(X))


# ------------------------------------------------------------------------------- searches


SEARCHES = {
    "EEM": EEMClassifierCV([5, 10], cv=3, random_state=0),
    "EEKM": EEKMClassifierCV([5, 10], cv=3, random_state=0),
    "divergence": DivergenceSearch(EEMClassifier(random_state=0), {"n_hidden": [5, 10]}),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_the_best_classifier_of_a_search_learns_saves_and_takes_costs(name, tmp_path):
    X, y = rows()
    search = clone(SEARCHES[name])
    assert not hasattr(search, "merge")  # before there is a best one
    search.partial_fit(X[:300], y[:300])  # the first rows choose
    assert search.best_params_ == clone(SEARCHES[name]).fit(X[:300], y[:300]).best_params_
    with pytest.raises(InputError, match="must have all classes"):
        clone(SEARCHES[name]).partial_fit(X, y, classes=[0, 1, 2])
    search.save(tmp_path / "best.eem")
    best = load(tmp_path / "best.eem")
    np.testing.assert_array_equal(search.predict_proba(X), best.predict_proba(X))
    part = best.twin().fit(X[300:], y[300:])
    np.testing.assert_allclose(
        clone_fitted(search).merge(part).predict_proba(X),
        clone_fitted(search).partial_fit(X[300:], y[300:]).predict_proba(X),
        atol=1e-9,
    )
    np.testing.assert_array_equal(
        search.with_costs({1: 9}).decision_function(X), best.with_costs({1: 9}).decision_function(X)
    )
    np.testing.assert_array_equal(search.decision_function(X), best.decision_function(X))
    np.testing.assert_array_equal(search.slim().predict(X), best.predict(X))
    np.testing.assert_array_equal(search.feature_importances_, best.feature_importances_)
    search.forget(X[:50], y[:50])
    assert search.best_estimator_.summary_.counts.sum() == 250


def clone_fitted(search):
    """A copy that can be changed."""
    return copy.deepcopy(search)


@pytest.mark.parametrize("name", ["EEM", "EEKM"])
def test_cv_results_hold_every_candidate_as_grid_search_does(name):
    X, y = rows()
    search = clone(SEARCHES[name]).fit(X, y)
    found = search.cv_results_
    best = int(np.argmin(found["rank_test_score"]))
    assert {key: found["params"][best][key] for key in search.best_params_} == search.best_params_
    assert found["mean_test_score"][best] == pytest.approx(search.best_score_)
    splits = np.stack([found[f"split{k}_test_score"] for k in range(3)])
    np.testing.assert_allclose(splits.mean(axis=0), found["mean_test_score"])
    sizes = found[f"param_{'n_hidden' if name == 'EEM' else 'n_landmarks'}"]
    assert sorted(set(sizes.tolist())) == [5, 10]
