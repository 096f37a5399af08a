"""GMean and balanced accuracy: by hand, as imbalanced-learn has them, and as scorers by name."""

import numpy as np
import pytest
from imblearn.metrics import geometric_mean_score
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC

from extreme_entropy import gmean_score
from extreme_entropy.metrics import (
    RunningAUC,
    RunningProbabilityScores,
    balanced_accuracy,
    confusion_counts,
    get_scorer,
    gmean_scorer,
    scores_with_intervals,
)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_gmean_is_imbalanced_learn_s(rng, n_classes, weighted):
    """On labels of any number of classes, weighted or not, strings too."""
    for labels in (np.arange(n_classes), np.array(list("abcde"))[:n_classes]):
        truth = labels[rng.integers(0, n_classes, 300)]
        guess = np.where(rng.random(300) < 0.6, truth, labels[rng.integers(0, n_classes, 300)])
        weight = rng.random(300) if weighted else None
        ours = gmean_score(truth, guess, sample_weight=weight)
        theirs = geometric_mean_score(truth, guess, average="multiclass", sample_weight=weight)
        assert ours == pytest.approx(theirs)


def test_gmean_by_hand():
    """Recalls ½, 1 and ⅓ have the geometric mean (1/6)^⅓; a class never found gives 0."""
    truth = [0, 0, 1, 1, 2, 2, 2]
    assert gmean_score(truth, [0, 1, 1, 1, 2, 0, 0]) == pytest.approx((1 / 6) ** (1 / 3))
    assert gmean_score(truth, [0, 0, 1, 1, 0, 0, 0]) == 0.0
    assert gmean_score(truth, truth) == 1.0


def test_balanced_accuracy_is_scikit_learn_s(rng):
    """The same function under the paper's neighbour's name."""
    truth, guess = rng.integers(0, 3, (2, 50))
    assert balanced_accuracy(truth, guess) == balanced_accuracy_score(truth, guess)


def test_scorers_by_name():
    """ "gmean" is ours, others are scikit-learn's, scorers stay; strange names are refused."""
    X, y = load_iris(return_X_y=True)
    scores = cross_val_score(SVC(), X, y, scoring=get_scorer("gmean"))
    by_hand = cross_val_score(SVC(), X, y, scoring=lambda m, X, y: gmean_score(y, m.predict(X)))
    np.testing.assert_allclose(scores, by_hand)
    assert get_scorer(gmean_scorer) is gmean_scorer
    assert get_scorer("accuracy")(DummyClassifier().fit(X, y), X, y) == pytest.approx(1 / 3)
    grid = GridSearchCV(SVC(), {"C": [0.1, 1.0]}, scoring=get_scorer("gmean")).fit(X, y)
    assert 0.9 < grid.best_score_ <= 1.0
    with pytest.raises(ValueError, match="gmeen"):
        get_scorer("gmeen")


def probabilities(rng, n, k):
    """Labels, and probabilities that know a little of them."""
    labels = rng.integers(0, k, n)
    odds = rng.normal(size=(n, k)) + 0.8 * np.eye(k)[labels]
    p = np.exp(odds)
    return labels, p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("k", [2, 4])
def test_scores_of_batches_are_those_of_all_rows(rng, k):
    labels, p = probabilities(rng, 1000, k)
    area, losses = RunningAUC(k), RunningProbabilityScores()
    for part in np.array_split(np.arange(1000), [0, 1, 300, 301]):
        area.add(labels[part], p[part])
        losses.add(labels[part], p[part])
    whole = scores_with_intervals(confusion_counts(labels, p.argmax(axis=1), k), labels, p)
    assert area.interval() == whole["auc"]
    for ours, theirs in zip(
        vars_of(losses.scores()["brier"]), vars_of(whole["brier"]), strict=True
    ):
        assert ours == pytest.approx(theirs, rel=1e-12)


def vars_of(score):
    """Value and both ends."""
    return score.value, score.low, score.high


@pytest.mark.parametrize("k", [2, 4])
def test_auc_of_very_many_rows_is_counted_in_bins(rng, k):
    """Nearly the same area; the interval is no narrower, and with two classes the same."""
    labels, p = probabilities(rng, 20_000, k)
    exact, binned = RunningAUC(k), RunningAUC(k, most_kept=5000)
    for part in np.array_split(np.arange(20_000), 30):
        exact.add(labels[part], p[part])
        binned.add(labels[part], p[part])
    one, other = exact.interval(), binned.interval()
    assert other.value == pytest.approx(one.value, abs=1e-5)
    widths = [score.high - score.low for score in (one, other)]
    assert widths[1] > widths[0] * (1 - 1e-4)
    assert widths[1] < widths[0] * (1 + 1e-4 if k == 2 else 2)


def test_auc_in_bins_is_not_defined_without_a_class(rng):
    running = RunningAUC(2, most_kept=10)
    running.add(np.zeros(50, int), np.full((50, 2), 0.5))
    assert running.interval().value is None


@pytest.mark.parametrize(
    ("given", "weight", "message"),
    [
        (([0, 1], ["0", "1"]), None, "one holds text"),
        (([0, 1], [0.2, 0.8]), None, "y_pred must hold labels"),
        (([0, 1], [np.nan, 1]), None, "y_pred must hold labels"),
        (([0, 1, 0], [0, 1, 1]), [1, 1, np.nan], "none is negative"),
        (([0, 1, 0], [0, 1, 1]), [1, 1, -1], "none is negative"),
        (([0, 1], [0, 1]), [0, 0], "some are positive"),
        (([], []), None, "There must be rows"),
    ],
)
def test_gmean_refuses_what_is_no_label_and_no_weight(given, weight, message):
    with pytest.raises(ValueError, match=message):
        gmean_score(*given, sample_weight=weight)


def test_a_weight_of_zero_is_no_row_to_gmean():
    weighted = gmean_score([0, 0, 1], [0, 0, 0], sample_weight=[1, 1, 0])
    assert weighted == gmean_score([0, 0], [0, 0]) == 1
    assert gmean_score([0.0, 1.0], [0, 1]) == 1  # whole numbers of another type
