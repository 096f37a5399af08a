"""DivergenceSearch: the largest divergence of training projections wins, one fit a candidate."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from extreme_entropy import (
    DivergenceSearch,
    EEKMClassifier,
    EEMClassifier,
    ExtremeEntropyClassifier,
)
from extreme_entropy.entropy import cauchy_schwarz_divergence, kde_divergence
from extreme_entropy.errors import InputError

EEM = EEMClassifier(random_state=0)
EEM_GRID = {"n_hidden": [5, 20], "activation": ["nsig", "rbf"]}
CASES = {
    "EEM": (EEM, EEM_GRID),
    "EEKM": (EEKMClassifier(random_state=0), {"n_landmarks": [5, 20], "gamma": [0.1, 1.0]}),
    "SVC": (SVC(), {"C": [0.1, 10.0], "gamma": [0.1, 1.0]}),
    "pipeline": (
        make_pipeline(StandardScaler(), EEMClassifier(random_state=0)),
        {"eemclassifier__n_hidden": [5, 20]},
    ),
    "pipeline of SVC": (make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 10.0]}),
}


@pytest.fixture
def problem(rng):
    """Two overlapping classes, one of them rare."""
    y = (rng.random(160) < 0.3).astype(int)
    return rng.normal(size=(160, 3)) + 1.2 * y[:, None], np.array(["no", "yes"])[y]


def projections(estimator, X):
    """By hand: through the pipeline's steps, then `project` or `decision_function`."""
    if hasattr(estimator, "steps"):
        for _, step in estimator.steps[:-1]:
            X = step.transform(X)
        estimator = estimator.steps[-1][1]
    return getattr(estimator, "project", getattr(estimator, "decision_function", None))(X)


@pytest.mark.parametrize("density", ["gaussian", "kde"])
@pytest.mark.parametrize("case", CASES)
def test_the_largest_divergence_wins(problem, case, density):
    """Every candidate's divergence by hand, and the winner among them."""
    X, y = problem
    estimator, grid = CASES[case]
    search = DivergenceSearch(estimator, grid, density=density).fit(X, y)
    by_hand = []
    for params in ParameterGrid(grid):
        t = projections(estimator.set_params(**params).fit(X, y), X)
        no, yes = t[y == "no"], t[y == "yes"]
        by_hand.append(
            cauchy_schwarz_divergence(no.mean(), no.var(), yes.mean(), yes.var())
            if density == "gaussian"
            else kde_divergence(no, yes)
        )
    np.testing.assert_allclose(search.cv_results_["divergence"], by_hand, rtol=1e-9)
    assert search.best_index_ == np.argmax(by_hand)
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    assert search.best_score_ == pytest.approx(max(by_hand))
    assert search.cv_results_["rank_divergence"][search.best_index_] == 1
    best = estimator.set_params(**search.best_params_).fit(X, y)
    assert np.array_equal(search.predict(X), best.predict(X))
    assert search.classes_.tolist() == ["no", "yes"]


class Counting(ClassifierMixin, BaseEstimator):
    """Counts how often it is fitted."""

    fits = 0

    def __init__(self, slope=1.0):
        self.slope = slope

    def fit(self, X, y):
        type(self).fits += 1
        self.classes_ = np.unique(y)
        return self

    def project(self, X):
        return self.slope * X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


def test_one_fit_a_candidate(problem):
    """The winner is not fitted again."""
    X, y = problem
    Counting.fits = 0
    search = DivergenceSearch(Counting(), {"slope": [1.0, 2.0, 3.0]}).fit(X, y)
    assert Counting.fits == 3
    # An affine change of the line is none of the divergence: the first of equals wins.
    assert search.best_index_ == 0
    assert np.ptp(search.cv_results_["divergence"]) < 1e-9


def test_threads_change_nothing(problem):
    """Two at a time give what one at a time gives."""
    X, y = problem
    one = DivergenceSearch(EEM, EEM_GRID).fit(X, y)
    two = DivergenceSearch(EEM, EEM_GRID, n_jobs=2).fit(X, y)
    assert np.array_equal(one.cv_results_["divergence"], two.cv_results_["divergence"])
    assert one.best_params_ == two.best_params_


def test_weights_count_as_repetition(problem, rng):
    """Weight 2 is the row twice, in the fit and in the divergence."""
    X, y = problem
    weight = rng.integers(1, 3, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    for density in ("gaussian", "kde"):
        search = DivergenceSearch(EEM, {"n_hidden": [5, 20]}, density=density)
        ours = search.fit(X, y, sample_weight=weight).cv_results_["divergence"]
        theirs = search.fit(X[repeated], y[repeated]).cv_results_["divergence"]
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (EEM, {"n_hidden": [10]}),
        (SVC(), {"C": [1.0]}),
        (ExtremeEntropyClassifier(random_state=0), {"n_landmarks": [10]}),
    ],
    ids=["EEM", "SVC", "default"],
)
def test_more_classes_are_averaged_over_pairs(estimator, grid):
    """Each pair on its own line."""
    X, y = load_iris(return_X_y=True)
    search = DivergenceSearch(estimator, grid).fit(X, y)
    t = projections(search.best_estimator_, X)
    if isinstance(estimator, ExtremeEntropyClassifier):  # the first class is beside all others
        assert t.shape == (150, 2)
        t = np.column_stack([np.zeros(150), t])
    found = []
    for p, (i, j) in enumerate(combinations(range(3), 2)):
        line = t[:, p] if estimator is EEM else t[:, j] - t[:, i]
        a, b = line[y == i], line[y == j]
        found.append(cauchy_schwarz_divergence(a.mean(), a.var(), b.mean(), b.var()))
    assert search.best_score_ == pytest.approx(np.mean(found))


def test_results_are_a_table(problem):
    """One entry for each candidate; a parameter that a candidate lacks is masked."""
    X, y = problem
    grid = [{"n_hidden": [5]}, {"n_hidden": [5], "activation": ["rbf", "sig"]}]
    results = DivergenceSearch(EEM, grid).fit(X, y).cv_results_
    assert {len(values) for values in results.values()} == {3}
    assert results["param_activation"].mask.tolist() == [True, False, False]
    assert results["param_n_hidden"].tolist() == [5, 5, 5]
    assert (results["fit_time"] > 0).all()


# ------------------------------------------------------------------ what may go wrong


class Failing(Counting):
    """Cannot be fitted with a negative slope, and gives NaN with a slope of zero."""

    def fit(self, X, y):
        if self.slope < 0:
            raise ValueError("slope too small")
        return super().fit(X, y)

    def project(self, X):
        return X[:, 0] / (self.slope or np.nan)


def test_candidates_that_fail_are_told_and_passed_over(problem):
    """A warning that says why; the rest compete; "raise" stops."""
    X, y = problem
    with pytest.warns(FitFailedWarning, match="slope too small"):
        search = DivergenceSearch(Failing(), {"slope": [-1.0, 0.0, 1.0]}).fit(X, y)
    assert search.best_params_ == {"slope": 1.0}
    assert np.isnan(search.cv_results_["divergence"][:2]).all()
    assert search.cv_results_["rank_divergence"].tolist() == [2, 2, 1]
    with pytest.raises(ValueError, match="slope too small"):
        DivergenceSearch(Failing(), {"slope": [-1.0]}, error_score="raise").fit(X, y)


@pytest.mark.parametrize("density", ["gaussian", "kde"])
def test_a_criterion_that_is_nan_for_all_is_a_clear_error(problem, density):
    """Nothing to choose from."""
    X, y = problem
    search = DivergenceSearch(Failing(), {"slope": [0.0, 0.0]}, density=density)
    with pytest.raises(InputError, match="none for all 2"):
        search.fit(X, y)


def test_where_no_candidate_can_be_fitted_its_own_error_is_raised(problem):
    """With a note that the others fared no better."""
    search = DivergenceSearch(Failing(), {"slope": [-1.0, -2.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        with pytest.raises(ValueError, match="slope too small") as error:
            search.fit(*problem)
    assert error.value.__notes__ == ["None of 2 candidates gave a divergence."]


@pytest.mark.parametrize("grid", [{}, [], {"n_hidden": []}])
def test_an_empty_grid_is_a_clear_error(problem, grid):
    """It must give candidates."""
    with pytest.raises(InputError, match="param_grid"):
        DivergenceSearch(EEM, grid).fit(*problem)


def test_an_estimator_without_a_line_is_a_clear_error(problem):
    """Neither `project` nor `decision_function`, or no classifier."""
    X, y = problem
    with pytest.raises(InputError, match="GaussianNB has neither"):
        DivergenceSearch(GaussianNB(), {"var_smoothing": [1e-9]}).fit(X, y)
    with pytest.raises(InputError, match="needs a classifier"):
        DivergenceSearch(StandardScaler(), {"with_std": [True]}).fit(X, y)


def test_columns_for_pairs_are_refused_with_the_cure():
    """SVC's one-vs-one columns are not one for each class (with four classes they are six)."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), np.arange(80) % 4
    with pytest.raises(InputError, match="decision_function_shape='ovr'"):
        DivergenceSearch(SVC(decision_function_shape="ovo"), {"C": [1.0]}).fit(X, y)


def test_without_refit_there_is_no_machine(problem):
    """The choice is there; predicting says what to do."""
    X, y = problem
    search = DivergenceSearch(EEM, {"n_hidden": [5]}, refit=False).fit(X, y)
    assert search.best_params_ == {"n_hidden": 5}
    with pytest.raises(InputError, match="refit=True"):
        search.predict(X)
    with pytest.raises(NotFittedError):
        DivergenceSearch(EEM, {"n_hidden": [5]}).predict(X)


def test_only_what_the_estimator_can_is_offered():
    """SVC has no probabilities, LogisticRegression no `project`."""
    svc = DivergenceSearch(SVC(), {"C": [1.0]})
    assert hasattr(svc, "decision_function")
    assert not hasattr(svc, "predict_proba")
    assert not hasattr(DivergenceSearch(LogisticRegression(), {"C": [1.0]}), "project")


def test_progress_shows(problem, capsys):
    """A bar on stderr, when asked."""
    X, y = problem
    DivergenceSearch(EEM, {"n_hidden": [5, 10]}, progress=True).fit(X, y)
    assert "2/2" in capsys.readouterr().err
