"""ProcessDisplay shows what the classifier says, where it is told to, and changes nothing."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from extreme_entropy import EEKMClassifier, EEMClassifier, ExtremeEntropyClassifier
from extreme_entropy.errors import InputError
from extreme_entropy_paper import ProcessDisplay
from extreme_entropy_paper.process_display import widest_across

mpl.use("Agg")
import matplotlib.pyplot as plt

CLASSIFIERS = [EEMClassifier(30, random_state=0), EEKMClassifier(30, random_state=0)]
every_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS, ids=["EEM", "EEKM"])


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def moons():
    X, y = make_moons(240, noise=0.25, random_state=0)
    return X, np.array(["no", "yes"])[y]


def wide():
    """Five columns, a rare class."""
    rng = np.random.default_rng(3)
    y = np.repeat(["common", "rare"], [180, 30])
    return rng.normal(size=(210, 5)) + 1.5 * (y == "rare")[:, None], y


@every_classifier
@pytest.mark.parametrize("data", [moons, wide])
def test_the_feature_plane_is_true_to_the_method(classifier, data):
    """Rows and ellipses in it are φ(x), m± and Σ± by another route, and v is widest across β."""
    X, y = data()
    classifier = clone(classifier).fit(X, y)
    features = ProcessDisplay.from_estimator(classifier, X, y).features
    phi = classifier.feature_map_(X)
    np.testing.assert_allclose(features.points[:, 0], classifier.project(X), atol=1e-9)

    # v from the rows: the part of the plane's second coordinate that φ(x) explains.
    v = np.linalg.lstsq(phi, features.points[:, 1], rcond=None)[0]
    np.testing.assert_allclose(phi @ v, features.points[:, 1], atol=1e-7)
    for c, epsilon in enumerate(classifier.shrinkage_):
        rows = phi[y == classifier.classes_[c]]
        plain = np.cov(rows.T, bias=True)
        theirs = (1 - epsilon) * plain + epsilon * np.trace(plain) / len(plain) * np.eye(len(plain))
        np.testing.assert_allclose(features.means[c, 0], classifier.beta_ @ rows.mean(axis=0))
        np.testing.assert_allclose(
            features.covariances[c, 0, 0], classifier.beta_ @ theirs @ classifier.beta_
        )
        points = features.points[y == classifier.classes_[c]]
        np.testing.assert_allclose(features.means[c], points.mean(axis=0), atol=1e-9)


def test_v_is_a_unit_vector_across_beta_and_none_is_wider(rng):
    """Rayleigh: vᵀΣv is the largest of all unit vectors orthogonal to β."""
    root = rng.normal(size=(12, 12))
    covariance, beta = root @ root.T, rng.normal(size=12) * 7
    v = widest_across(beta, covariance)
    assert v @ beta == pytest.approx(0, abs=1e-10)
    assert v @ v == pytest.approx(1)
    others = rng.normal(size=(500, 12)) + 3 * v
    others -= np.outer(others @ beta, beta) / (beta @ beta)
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    assert (np.einsum("ij,jk,ik->i", others, covariance, others) <= v @ covariance @ v).all()


def test_ellipses_lie_at_one_and_two_deviations():
    """(p − m)ᵀΣ⁻¹(p − m) = k² for each point drawn."""
    X, y = moons()
    display = ProcessDisplay.from_estimator(EEMClassifier(30, random_state=0).fit(X, y), X, y)
    for lines, mean, covariance in zip(
        display.ellipses_, display.features.means, display.features.covariances, strict=True
    ):
        for k, line in enumerate(lines, start=1):
            away = line.get_xydata() - mean
            squared = np.einsum("ij,jk,ik->i", away, np.linalg.inv(covariance), away)
            np.testing.assert_allclose(squared, k**2, rtol=1e-6)


@every_classifier
@pytest.mark.parametrize("costs", [None, {"yes": 5}])
def test_the_grid_is_what_the_classifier_predicts(classifier, costs):
    """Probabilities and boundary of two columns; costs move the boundary only."""
    X, y = moons()
    classifier = clone(classifier).set_params(costs=costs).fit(X, y)
    display = ProcessDisplay.from_estimator(classifier, X, y)
    x, y_, predicted = display.grid
    rows = np.array([[a, b] for b in y_[::20] for a in x[::20]])
    np.testing.assert_allclose(
        predicted.probabilities[::20, ::20].ravel(), classifier.predict_proba(rows)[:, 1], atol=1e-9
    )
    for path in display.boundary_.get_paths():
        near = classifier.decision_function(path.vertices)
        assert np.median(abs(near)) < 0.02 * abs(predicted.decisions).max()


def test_more_columns_are_seen_by_their_principal_components():
    """Points are the scaled rows' two widest directions, coloured by probability."""
    X, y = wide()
    classifier = EEMClassifier(30, random_state=0).fit(X, y)
    display = ProcessDisplay.from_estimator(classifier, X, y)
    scaled = classifier.feature_map_.scaling(X)
    singular = np.linalg.svd(scaled - scaled.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(display.inputs.points, axis=0), singular[:2])
    assert display.inputs.names[0].startswith("principal component 1 (")
    assert display.grid is None
    assert display.boundary_ is None
    np.testing.assert_allclose(display.predicted.probabilities, classifier.predict_proba(X)[:, 1])
    coloured = [c for c in display.axes_[3].collections if c.get_array() is not None]
    shown = np.concatenate([np.ma.getdata(c.get_array()) for c in coloured])
    np.testing.assert_allclose(np.sort(shown), np.sort(display.predicted.probabilities))


def test_many_rows_are_thinned_but_all_count_in_the_densities():
    """Points are a selection; projections are not."""
    X, y = wide()
    classifier = EEMClassifier(30, random_state=0).fit(X, y)
    display = ProcessDisplay.from_estimator(classifier, X, y, n_points=40)
    assert len(display.inputs.points) == len(display.features.points) == len(display.positive) == 40
    assert len(display.projection.projections) == len(y)
    assert 3 <= display.positive.sum() <= 9


def test_awkward_data_can_be_drawn():
    """One column, one neuron, columns that do not vary, sparse and single-precision rows."""
    X, y = wide()
    one = EEMClassifier(1, activation="rbf", random_state=0).fit(X[:, :1], y)
    ProcessDisplay.from_estimator(one, X[:, :1], y)
    flat = X[:, :2].copy()
    flat[:, 1] = 4.0
    ProcessDisplay.from_estimator(EEMClassifier(20, random_state=0).fit(flat, y), flat, y)
    for rows in (sp.csr_array(X), X.astype(np.float32)):
        ProcessDisplay.from_estimator(EEMClassifier(20, random_state=0).fit(rows, y), rows, y)


@pytest.mark.filterwarnings("ignore::extreme_entropy.errors.DegenerateWarning")
def test_a_classifier_that_cannot_tell_can_be_drawn():
    """Classes alike to φ: no projection, no threshold, no boundary."""
    X, y = np.ones((20, 2)), np.arange(20) % 2
    display = ProcessDisplay.from_estimator(EEMClassifier(5, random_state=0).fit(X, y), X, y)
    assert not display.projection.threshold_lines_
    assert display.boundary_ is None
    display.figure_.canvas.draw()


@every_classifier
def test_it_changes_nothing_and_can_be_drawn_again_and_on_given_axes(classifier, recwarn):
    """The classifier is to the last bit what it was; frames keep their names."""
    X, y = moons()
    frame = pd.DataFrame(X, columns=["wide", "high"])
    classifier = clone(classifier).fit(frame, y)
    before = dict(vars(classifier))
    display = ProcessDisplay.from_estimator(classifier, frame, y)
    assert all(vars(classifier)[name] is value for name, value in before.items())
    assert not recwarn.list
    assert display.axes_[0].get_xlabel() == "wide"
    assert display.axes_[3].get_ylabel() == "high"
    first = display.figure_
    assert display.plot().figure_ is not first
    axes = plt.subplots(2, 2)[1]
    assert list(display.plot(axes).axes_) == list(axes.ravel())


def test_rows_are_seen_as_a_pipelines_classifier_sees_them():
    """Earlier steps transform."""
    X, y = wide()
    pipeline = make_pipeline(StandardScaler(), EEMClassifier(20, random_state=0)).fit(X, y)
    ours = ProcessDisplay.from_estimator(pipeline, X, y)
    theirs = ProcessDisplay.from_estimator(pipeline[-1], pipeline[0].transform(X), y)
    np.testing.assert_array_equal(ours.inputs.points, theirs.inputs.points)
    np.testing.assert_array_equal(ours.projection.projections, theirs.projection.projections)


def test_what_cannot_be_drawn_is_refused_in_words():
    """More classes are drawn pair by pair; leaves have feature spaces of their own."""
    X, y = moons()
    classifier = EEMClassifier(20, random_state=0)
    with pytest.raises(InputError, match=r"draws two classes; this classifier knows 3.*pair="):
        ProcessDisplay.from_estimator(classifier.fit(X, np.arange(240) % 3), X, np.arange(240) % 3)
    with pytest.raises(InputError, match="draws on 4 axes; 3 came"):
        ProcessDisplay.from_estimator(classifier.fit(X, y), X, y, axes=plt.subplots(3)[1])
    leaves = ExtremeEntropyClassifier(n_landmarks=20, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="shows one feature space"):
        ProcessDisplay.from_estimator(leaves, X, y)
