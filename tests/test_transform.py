"""φ serves other pipelines, and what hangs on scikit-learn's conventions works."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler

from extreme_entropy import EEKMClassifier, EEMClassifier, EEMClassifierCV, ExtremeEntropyClassifier

KINDS = [EEMClassifier(15, random_state=0), EEKMClassifier(15, random_state=0)]


def rows():
    """Two of six columns tell the classes apart, the first two."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("classifier", KINDS, ids=["EEM", "EEKM"])
def test_features_times_beta_are_projections(classifier, dtype):
    """Two ways to one number: φ(x) by `transform`, βᵀφ(x) by `project`."""
    X, y = rows()
    classifier.fit(X, y)
    features = classifier.transform(X.astype(dtype))
    assert features.shape == (200, 15)
    assert features.dtype == dtype
    close = {"rtol": 1e-3, "atol": 1e-3} if dtype == np.float32 else {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(
        features @ classifier.beta_, classifier.project(X.astype(dtype)), **close
    )
    np.testing.assert_array_equal(classifier.transform(sp.csr_matrix(X)), classifier.transform(X))


def test_features_have_names_and_serve_pipelines():
    X, y = rows()
    classifier = KINDS[0].fit(X, y)
    assert classifier.get_feature_names_out()[:2].tolist() == ["eemclassifier0", "eemclassifier1"]
    frame = classifier.set_output(transform="pandas").transform(X)
    assert frame.columns.tolist() == classifier.get_feature_names_out().tolist()
    classifier.set_output(transform="default")
    pipeline = make_pipeline(
        make_union(StandardScaler(), EEKMClassifier(15, random_state=0)),
        LinearDiscriminantAnalysis(),
    )
    assert pipeline.fit(X, y).score(X, y) > 0.8
    assert not hasattr(ExtremeEntropyClassifier(), "transform")  # it has a φ in each leaf


def test_features_of_blocks_are_lazy_and_the_same():
    da = pytest.importorskip("dask.array")
    X, y = rows()
    classifier = EEMClassifier(15, random_state=0).fit(X, y)
    lazy = classifier.transform(da.from_array(X, chunks=(70, 6)))
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), classifier.transform(X), atol=1e-12)


@pytest.mark.parametrize(
    "classifier",
    [
        EEMClassifier(30, relevance="learned", random_state=0),
        ExtremeEntropyClassifier(n_landmarks=20, random_state=0),
        EEMClassifierCV([10, 20], cv=3, random_state=0),
    ],
    ids=["EEM", "forest", "CV"],
)
def test_selection_of_columns_goes_by_feature_importances(classifier):
    X, y = rows()
    assert RFE(classifier, n_features_to_select=2).fit(X, y).get_support()[:2].all()
    assert SelectFromModel(classifier, max_features=2).fit(X, y).get_support()[:2].all()


@pytest.mark.parametrize("classifier", KINDS, ids=["EEM", "EEKM"])
def test_a_pipeline_does_not_learn_from_log_odds_of_a_rows_own_label(classifier):
    """Categories that mean nothing, of few rows each, seem to mean a lot with their own labels."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n, x = 2000, rng.normal(size=2000)
    y = (rng.random(n) < 1 / (1 + np.exp(-x))).astype(int)
    frame = pd.DataFrame({"k": np.char.add("c", rng.integers(0, 600, n).astype(str)), "x": x})
    train, test = slice(0, 1000), slice(1000, None)
    scores = {}
    for name, columns in {"with": ["k", "x"], "without": ["x"]}.items():
        pipeline = make_pipeline(clone(classifier), LogisticRegression(max_iter=2000))
        pipeline.fit(frame[columns][train], y[train])
        scores[name] = pipeline.score(frame[columns][test], y[test])
    assert scores["with"] > scores["without"] - 0.04
    learnt = classifier.fit_transform(frame[train], y[train])
    assert learnt.shape == (1000, 15)
    assert not np.allclose(learnt, classifier.transform(frame[train]))
    plain = classifier.fit_transform(frame[["x"]][train], y[train])
    np.testing.assert_array_equal(plain, classifier.transform(frame[["x"]][train]))


def test_features_of_learnt_blocks_are_those_of_learnt_rows():
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"k": np.char.add("c", rng.integers(0, 60, 300).astype(str))})
    frame["x"] = rng.normal(size=300)
    y = pd.Series((frame.x > 0).astype(int))
    lazy = EEMClassifier(15, random_state=0).fit_transform(
        dd.from_pandas(frame, npartitions=3), dd.from_pandas(y, npartitions=3)
    )
    ours = EEMClassifier(15, random_state=0).fit_transform(frame, y)
    np.testing.assert_allclose(lazy.compute(), ours, atol=1e-9)
