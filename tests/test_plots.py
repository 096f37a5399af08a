"""Pictures show what the classifier says, where they are told to, and change nothing."""

import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from fleet import FLEET, TABLES
from scipy.stats import norm, sem
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from extreme_entropy import EEMClassifier
from extreme_entropy.errors import InputError
from extreme_entropy.plots import (
    OperatingDisplay,
    PathDisplay,
    ProjectionDisplay,
    RegionsDisplay,
    RelevanceDisplay,
)
from extreme_entropy.plots.regions import crossings, evenly_of_each

mpl.use("Agg")
import matplotlib.pyplot as plt

every_kind = pytest.mark.parametrize("kind", ["default", "EEM"])
DEFAULT = FLEET["default"]
ROWS_PICTURES = [ProjectionDisplay, OperatingDisplay, RegionsDisplay]
all_rows_pictures = pytest.mark.parametrize("display", ROWS_PICTURES)


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def some_path():
    rng = np.random.default_rng(5)
    return SimpleNamespace(
        sizes=np.array([50, 100, 250, 500]),
        scores=rng.uniform(0.6, 0.9, (3, 4, 5)),
        divergences=rng.uniform(1, 2, (3, 4)),
        labels=["sig", "nsig", "rbf"],
        size_name="n_hidden",
        score_name="GMean",
        best=(2, 1),
    )


class Searched(BaseEstimator):
    """A classifier that keeps a path."""

    def fit(self):
        self.path_ = some_path()
        return self


# ------------------------------------------------------------------------ the projection


@pytest.mark.parametrize("table", ["moons", "wide"])
@every_kind
def test_the_projection_is_the_classifiers(kind, table, fleet):
    """Projections, Gaussians and thresholds are the classifier's own."""
    classifier, X, y = fleet(kind, table)
    display = ProjectionDisplay.from_estimator(classifier, X, y)
    np.testing.assert_allclose(display.projections, classifier.project(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(display.positive, y == classifier.classes_[1])
    if kind == "EEM":
        np.testing.assert_array_equal(display.means, classifier.means_)
        np.testing.assert_array_equal(display.variances, classifier.variances_)
    np.testing.assert_array_equal(display.thresholds, classifier.thresholds_)
    low, high = display.ax_.get_xlim()
    drawn = [line.get_xdata()[0] for line in display.threshold_lines_]
    assert drawn == [t for t in classifier.thresholds_ if low < t < high]


@every_kind
def test_all_densities_integrate_to_one(kind, fleet):
    """Histograms exactly, Gaussians but for their tails, however rare the class."""
    display = ProjectionDisplay.from_estimator(*fleet(kind, "wide"), bins=17)
    for histogram in display.histograms_:
        density, edges, _ = histogram.get_data()
        assert len(density) == 17
        assert density @ np.diff(edges) == pytest.approx(1, abs=1e-12)
    for curve in display.gaussians_:
        assert np.trapezoid(curve.get_ydata(), curve.get_xdata()) == pytest.approx(1, abs=1e-4)


def test_each_class_has_its_own_histogram_and_gaussian(fleet):
    """Drawn curves are the density of each class's mean and variance; bars count its own rows."""
    classifier, X, y = fleet("EEM", "wide")
    display = ProjectionDisplay.from_estimator(classifier, X, y)
    for c in range(2):
        t, drawn = display.gaussians_[c].get_data()
        ours = norm(classifier.means_[c], np.sqrt(classifier.variances_[c])).pdf(t)
        np.testing.assert_allclose(drawn, ours)
        density, edges, _ = display.histograms_[c].get_data()
        counts, _ = np.histogram(display.projections[y == classifier.classes_[c]], edges)
        np.testing.assert_allclose(density, counts / counts.sum() / np.diff(edges))


@pytest.mark.parametrize("costs", [None, {"yes": 8}, {"no": 1e60}, {"yes": 1e60}])
def test_regions_are_shaded_for_the_class_that_wins_there(costs, fleet):
    """At each region's middle, the colour is that of the larger cost times density."""
    classifier, X, y = fleet("EEM", "moons")
    classifier = classifier.with_costs(costs, priors="balanced")
    display = ProjectionDisplay.from_estimator(classifier, X, y)
    low, high = display.ax_.get_xlim()
    assert len(display.regions_) == 1 + sum(low < t < high for t in classifier.thresholds_)
    costs = costs or {}
    for region in display.regions_:
        t = region.get_x() + region.get_width() / 2
        weighted = [
            costs.get(name, 1) * norm(m, np.sqrt(s)).pdf(t)
            for name, m, s in zip(
                classifier.classes_, classifier.means_, classifier.variances_, strict=True
            )
        ]
        winner = display.histograms_[int(np.argmax(weighted))].get_facecolor()
        np.testing.assert_allclose(region.get_facecolor()[:3], winner[:3])
    assert not ProjectionDisplay.from_estimator(classifier, X, y, regions=False).regions_


def test_thresholds_far_from_the_data_are_not_stated(fleet):
    """They decide about no row: the legend speaks of the one that is drawn."""
    display = ProjectionDisplay.from_estimator(*fleet("EEM", "moons"))
    display.thresholds = np.array([-1234.0, 0.1])
    legend = display.plot().ax_.get_legend()
    assert legend.get_texts()[-1].get_text() == "threshold"
    assert len(display.threshold_lines_) == 1


def test_single_rows_far_off_do_not_squeeze_the_others_into_a_corner(fleet):
    """The view is that of the others, and a little more; densities still count all rows."""
    display = ProjectionDisplay.from_estimator(*fleet("default", "moons"))
    low, high = display.ax_.get_xlim()
    display.projections[np.flatnonzero(display.positive)[0]] = 1e6
    far_low, far_high = display.plot().ax_.get_xlim()
    assert far_high - far_low < 2 * (high - low)
    for c, histogram in enumerate(display.histograms_):
        heights, edges, _ = histogram.get_data()
        inside = 1 - (1 / display.positive.sum() if c else 0)
        assert heights @ np.diff(edges) == pytest.approx(inside)


def rare_rows(n=4000, share=0.01):
    rng = np.random.default_rng(0)
    y = (np.arange(n) < n * share).astype(int)
    return rng.normal(size=(n, 3)) + 2 * y[:, None], y


def test_a_rare_class_has_logarithmic_scales():
    """No point of a curve is lost in a corner: each of the last panel has a tenth of the class."""
    X, y = rare_rows()
    classifier = clone(DEFAULT).fit(X, y)
    display = OperatingDisplay.from_estimator(classifier, X, y)
    roc, precision_recall, reliability = display.axes_
    assert [ax.get_xscale() for ax in display.axes_] == ["log", "linear", "log"]
    assert [ax.get_yscale() for ax in display.axes_] == ["linear", "linear", "log"]
    assert precision_recall.get_xlim() == (-0.02, 1.02)
    odds = classifier.with_costs(priors=[0.99, 0.01]).decision_function(X)
    p = 1 / (1 + np.exp(-odds))
    order = np.argsort(p)
    parts = np.split(order, np.flatnonzero(y[order])[3:-1:4] + 1)
    np.testing.assert_allclose(display.reliability.x, [p[part].mean() for part in parts])
    np.testing.assert_allclose(display.reliability.y, [y[part].mean() for part in parts])
    for curve in display.curves_:
        assert np.isfinite(curve.get_xydata()).all()
    low = roc.get_xlim()[0]
    assert low == pytest.approx(0.5 / 3960)
    assert min(display.curves_[0].get_xdata()) >= low
    assert reliability.get_xlim() == reliability.get_ylim()
    common = OperatingDisplay.from_estimator(classifier, X, y, positive=0)
    assert [ax.get_xscale() for ax in common.axes_] == ["linear"] * 3


def test_a_pair_of_many_classes_has_its_own_projection(fleet):
    """`pair` chooses the projection; rows of other classes are left out."""
    classifier, X, y = fleet("EEM", "ternary")
    for pair, (i, j) in enumerate(classifier.machine_.pairs):
        display = ProjectionDisplay.from_estimator(classifier, X, y, pair=pair)
        two = classifier.classes_[[i, j]]
        rows = np.isin(y, two)
        np.testing.assert_allclose(
            display.projections, classifier.project(X)[rows, pair], rtol=1e-9
        )
        np.testing.assert_array_equal(display.positive, y[rows] == two[1])
        np.testing.assert_array_equal(display.thresholds, classifier.thresholds_[pair])
        assert display.class_names == tuple(map(str, two))


def test_the_default_draws_every_pair_of_many_classes(fleet):
    """By the difference of their log-odds, and where costs make them equal."""
    classifier, X, y = fleet("default", "ternary")
    classifier = classifier.with_costs({classifier.classes_[2]: 3})
    scores = classifier.decision_function(X)
    for pair, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        display = ProjectionDisplay.from_estimator(classifier, X, y, pair=pair)
        two = classifier.classes_[[i, j]]
        rows = np.isin(y, two)
        (threshold,) = display.thresholds
        between = (scores[:, j] - scores[:, i])[rows]
        np.testing.assert_allclose(display.projections - threshold, between, atol=1e-9)
        np.testing.assert_array_equal(display.positive, y[rows] == two[1])
        assert display.class_names == tuple(map(str, two))
    with pytest.raises(InputError, match="below 3"):
        ProjectionDisplay.from_estimator(classifier, X, y, pair=3)


# ------------------------------------------------------------------------ the path


def test_bands_are_one_standard_error_about_the_mean():
    """Over folds, by SciPy's `sem`."""
    path = some_path()
    display = PathDisplay(**vars(path)).plot()
    for setting, (line, band) in enumerate(zip(display.lines_, display.bands_, strict=True)):
        mean, error = path.scores[setting].mean(axis=1), sem(path.scores[setting], axis=1)
        np.testing.assert_allclose(line.get_ydata(), mean)
        corners = band.get_paths()[0].vertices
        for size, low, high in zip(path.sizes, mean - error, mean + error, strict=True):
            edge = corners[corners[:, 0] == size, 1]
            np.testing.assert_allclose([edge.min(), edge.max()], [low, high])
    drawn = [line.get_ydata() for line in display.divergence_lines_]
    np.testing.assert_array_equal(drawn, path.divergences)


def test_the_best_classifier_is_marked_in_both_panels():
    """At its size, mean score and divergence, and by name."""
    path = some_path()
    display = PathDisplay.from_estimator(Searched().fit())
    places = [mark.get_xydata()[0] for mark in display.best_]
    np.testing.assert_allclose(
        places, [[100, path.scores[2, 1].mean()], [100, path.divergences[2, 1]]]
    )
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["sig", "nsig", "rbf", "± standard error", "best: rbf, 100"]
    assert display.ax_.get_shared_x_axes().joined(display.ax_, display.divergence_ax_)


def test_a_path_may_come_in_any_order_and_with_a_single_fold():
    """Curves run from small to large; one fold has no band."""
    display = PathDisplay(
        sizes=[500, 50, 100], scores=[[[0.9], [0.7], [0.8]]], divergences=[[3, 1, 2]], best=(0, 0)
    ).plot()
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), [50, 100, 500])
    np.testing.assert_array_equal(display.divergence_lines_[0].get_ydata(), [1, 2, 3])
    assert display.bands_ == []
    assert display.best_[0].get_xydata().tolist() == [[500, 0.9]]


def test_every_size_is_named_where_there_is_room():
    """Even sizes get an even axis, doubling ones a logarithmic one."""
    for sizes, scale in (([100, 200, 300, 400], "linear"), ([50, 100, 250, 1000], "log")):
        scores = np.ones((1, len(sizes), 2))
        ax = PathDisplay(sizes=sizes, scores=scores, divergences=scores[..., 0]).plot().ax_
        assert ax.get_xscale() == scale
        assert ax.get_xticks().tolist() == sizes


# ------------------------------------------------------------------------ what is traded


@every_kind
@pytest.mark.parametrize(("positive", "costs"), [("common", None), ("rare", {"rare": 5})])
def test_the_operating_point_is_where_the_classifier_stands(kind, positive, costs, fleet):
    """False alarms, recall and precision of `predict`; areas are scikit-learn's."""
    classifier, X, y = fleet(kind, "wide")
    classifier = classifier.with_costs(costs)
    display = OperatingDisplay.from_estimator(classifier, X, y, positive=positive)
    said, truth = classifier.predict(X), y == positive
    p = classifier.predict_proba(X)[:, classifier.classes_.tolist().index(positive)]
    assert display.point == pytest.approx(
        (
            (said[~truth] == positive).mean(),
            recall_score(y, said, pos_label=positive),
            precision_score(y, said, pos_label=positive),
        )
    )
    assert display.roc_auc == pytest.approx(roc_auc_score(truth, p))
    assert display.average_precision == pytest.approx(average_precision_score(truth, p))
    # The point lies on both curves, since the classifier decides by a limit on the same order.
    for curve, point in (
        (display.roc, display.point[:2]),
        (display.precision_recall, display.point[1:]),
    ):
        steps = np.column_stack(curve)
        near = np.abs(steps[:, 0] - point[0]) < 1e-9
        if near.any():
            assert steps[near, 1].min() - 1e-9 <= point[1] <= steps[near, 1].max() + 1e-9


@pytest.mark.parametrize("costs", [None, {"rare": 5}, {"rare": 0.2}])
def test_reliability_is_of_probabilities_at_the_rows_own_shares(costs, fleet):
    """The limit drawn there parts what the classifier says, and the curve is of these rows."""
    classifier, X, y = fleet("default", "wide")
    classifier = classifier.with_costs(costs)
    display = OperatingDisplay.from_estimator(classifier, X, y, bins=5)
    assert display.name == "rare"
    shares = {"common": 180 / 210, "rare": 30 / 210}
    p = classifier.with_costs(costs, priors=shares).predict_proba(X)[:, 1]
    np.testing.assert_array_equal(p > display.limit, classifier.predict(X) == "rare")
    edges = np.percentile(p, np.linspace(0, 100, 6))
    bins = np.searchsorted(edges[1:-1], p)
    given = [p[bins == b].mean() for b in np.unique(bins)]
    seen = [(y[bins == b] == "rare").mean() for b in np.unique(bins)]
    np.testing.assert_allclose(display.reliability.x, given)
    np.testing.assert_allclose(display.reliability.y, seen)
    assert display.marks_[2].get_xdata()[0] == display.limit


def test_a_class_that_is_never_said_has_no_precision(fleet):
    """The point is then left out of that panel, without a warning."""
    classifier, X, y = fleet("default", "wide")
    display = OperatingDisplay.from_estimator(classifier.with_costs({"rare": 1e-40}), X, y)
    assert np.isnan(display.point[2])
    assert display.point[:2] == (0, 0)


# ------------------------------------------------------------------------ regions


@pytest.mark.parametrize("costs", [None, {"yes": 6}])
def test_two_columns_are_shown_with_the_classifiers_own_regions(costs, fleet):
    """The score at each point of the grid is the classifier's; rings are its mistakes."""
    classifier, X, y = fleet("default", "moons")
    classifier = classifier.with_costs(costs)
    display = RegionsDisplay.from_estimator(classifier, X, y)
    places = np.array([[a, b] for b in display.y for a in display.x])
    theirs = classifier.decision_function(places).reshape(display.scores.shape)
    np.testing.assert_allclose(display.scores, theirs, rtol=1e-6, atol=1e-9)
    assert display.exact
    wrong = X[classifier.predict(X) != y]
    np.testing.assert_allclose(np.sort(display.rings_.get_offsets(), 0), np.sort(wrong, 0))
    inside = display.grounds_[1].get_path().contains_points(places[::37])
    clear = np.abs(theirs.ravel()[::37]) > 0.1
    np.testing.assert_array_equal(inside[clear], theirs.ravel()[::37][clear] > 0)


@all_rows_pictures
def test_awkward_data_can_be_drawn(display, fleet):
    """One column, one neuron, columns that do not vary, sparse and single-precision rows."""
    _, X, y = fleet("default", "wide")
    flat = np.column_stack([X[:, 0], np.full(len(X), 4.0)])
    one = EEMClassifier(1, activation="rbf", random_state=0)
    display.from_estimator(one.fit(X[:, :1], y), X[:, :1], y)
    for rows in (flat, sp.csr_array(X), X.astype(np.float32)):
        display.from_estimator(clone(DEFAULT).fit(rows, y), rows, y)


def test_more_columns_are_seen_by_their_principal_components(fleet):
    """Points are the scaled rows' two widest directions, named with their share."""
    classifier, X, y = fleet("default", "wide")
    display = RegionsDisplay.from_estimator(classifier, X, y)
    scaled = classifier.feature_map_.scaling(X)
    singular = np.linalg.svd(scaled - scaled.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(display.points, axis=0), singular[:2])
    assert display.axis_names[0].startswith("principal component 1 (")


def test_more_columns_are_coloured_by_the_rows_nearest(fleet):
    """Most of the fifteen rows drawn nearest get the ground's colour."""
    classifier, X, y = fleet("default", "wide")
    display = RegionsDisplay.from_estimator(classifier, X, y)
    assert not display.exact
    places = np.array([[a, b] for b in display.y for a in display.x])[::53]
    near = NearestNeighbors(n_neighbors=15).fit(display.points).kneighbors(places)[1]
    votes = (classifier.predict(X) == "rare")[near].mean(axis=1)
    np.testing.assert_array_equal(display.scores.ravel()[::53] > 0, votes > 0.5)


def test_three_classes_have_three_regions(fleet):
    """Each point of the grid belongs to the class with most votes, and to no other."""
    classifier, X, y = fleet("default", "ternary")
    display = RegionsDisplay.from_estimator(classifier, X, y)
    assert display.scores.shape == (120, 80, 3)
    places = np.array([[a, b] for b in display.y[1:-1] for a in display.x[1:-1]])[::41]
    inside = [ground.get_path().contains_points(places) for ground in display.grounds_]
    assert (np.sum(inside, axis=0) == 1).mean() > 0.97
    matrix = confusion_matrix(y, classifier.predict(X))
    assert len(display.rings_.get_offsets()) == matrix.sum() - np.trace(matrix)


def test_one_column_and_a_classifier_without_an_opinion_can_be_drawn(fleet):
    """One column is a strip; a constant classifier gives all to the first class."""
    _, X, y = fleet("default", "moons")
    display = RegionsDisplay.from_estimator(clone(DEFAULT).fit(X[:, :1], y), X[:, :1], y)
    assert display.exact
    with pytest.warns(match="prediction is constant"):
        classifier = EEMClassifier(5, random_state=0).fit(np.ones((20, 3)), y[:20])
    display = RegionsDisplay.from_estimator(classifier, np.ones((20, 3)), y[:20])
    assert len(display.grounds_[0].get_path().vertices) == 5 * 120
    assert len(display.grounds_[1].get_path().vertices) == 0


def test_runs_of_positive_heights_begin_and_end_where_the_line_crosses():
    """Straight between points; the ends of the grid are ends."""
    x = np.array([0.0, 1.0, 2.0, 3.0])
    assert crossings(np.array([-1.0, 1.0, 1.0, -3.0]), x) == [0.5, 2.25]
    assert crossings(np.array([1.0, -1.0, -1.0, 1.0]), x) == [0.0, 0.5, 2.5, 3.0]
    assert crossings(np.array([-1.0, -1.0, 0.0, -1.0]), x) == []


def test_few_rows_of_a_class_are_all_drawn():
    """Of the others as many as there is room for, evenly."""
    labels = np.repeat([0, 1, 2], [1000, 5, 400])
    kept = labels[evenly_of_each(labels, 300)]
    assert np.bincount(kept).tolist() == [100, 5, 100]


# ------------------------------------------------------------------------ columns


def named(columns):
    """The default on a frame of these columns."""
    X, y = TABLES["wide"]
    frame = pd.DataFrame(X, columns=columns)
    return clone(DEFAULT).fit(frame, y), frame


def bars(display):
    """Names and widths, from top to bottom."""
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    return names, [bar.get_width() for bar in display.bars_]


def test_bars_are_importances_with_the_largest_first(fleet):
    """What has no bar of its own is in the last one."""
    classifier, _ = named(list("abcde"))
    importances = classifier.feature_importances_
    order = np.argsort(-importances)
    names, widths = bars(RelevanceDisplay.from_estimator(classifier))
    assert names == [list("abcde")[i] for i in order]
    np.testing.assert_array_equal(widths, importances[order])
    names, widths = bars(RelevanceDisplay.from_estimator(classifier, max_features=2))
    assert names == [*(list("abcde")[i] for i in order[:2]), "3 others"]
    assert sum(widths) == pytest.approx(1)
    names, _ = bars(RelevanceDisplay.from_estimator(classifier, max_features=4))
    assert names[-1] == "1 other"
    display = RelevanceDisplay.from_estimator(fleet("default", "wide")[0])
    assert bars(display)[0] == [f"column {i}" for i in order]
    top, bottom = display.ax_.get_ylim()[::-1]
    assert top < 0 < 4 < bottom


@pytest.mark.parametrize("row", [0, 200])
def test_bars_of_a_row_are_its_contributions(row):
    """To the right what speaks for the class predicted, or asked about, in its colour."""
    classifier, X = named(list("abcde"))
    one = X[row : row + 1]
    contributions = classifier.explain(one)[0]
    predicted = classifier.predict(one)[0]
    for label in (None, "common", "rare"):
        display = RelevanceDisplay.from_row(classifier, one, label=label)
        side = 1 if (predicted if label is None else label) == "rare" else -1
        order = np.argsort(-abs(contributions))
        names, widths = bars(display)
        assert names == [list("abcde")[i] for i in order]
        np.testing.assert_allclose(widths, side * contributions[order])
        assert display.ax_.get_title(loc="left").endswith(predicted if label is None else label)
        for bar, i in zip(display.bars_, order, strict=True):
            colour = ("#0072B2", "#D55E00")[int(contributions[i] > 0)]
            assert mpl.colors.to_hex(bar.get_facecolor()).upper() == colour


def test_a_row_of_many_classes_is_explained_for_one(fleet):
    """The class predicted, or another."""
    classifier, X, _ = fleet("default", "ternary")
    contributions, predicted = classifier.explain(X[:1])[0], classifier.predict(X[:1])[0]
    for label in (None, 10, 30):
        c = [10, 20, 30].index(predicted if label is None else label)
        _, widths = bars(RelevanceDisplay.from_row(classifier, X[:1], label=label))
        np.testing.assert_allclose(sorted(widths), sorted(contributions[c]))


def test_columns_of_a_pipeline_are_those_that_reach_its_classifier(fleet):
    """Rows go through the steps before."""
    _, X, y = fleet("default", "wide")
    pipeline = make_pipeline(StandardScaler(), clone(DEFAULT)).fit(X, y)
    ours = RelevanceDisplay.from_row(pipeline, X[:1])
    theirs = RelevanceDisplay.from_row(pipeline[-1], pipeline[0].transform(X[:1]))
    np.testing.assert_array_equal(ours.values, theirs.values)


def test_long_names_keep_their_ends_and_fit():
    """A dollar starts no formula; no text leaves the figure."""
    columns = [f"the same long beginning of a name, then ${i}, then the same end" for i in range(5)]
    display = RelevanceDisplay.from_estimator(named(columns)[0])
    display.figure_.canvas.draw()
    width = display.figure_.bbox.width
    for text in [*display.ax_.get_yticklabels(), display.ax_.title, display.ax_.xaxis.label]:
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= width
        assert len(text.get_text()) <= 42
    given = plt.subplots()[1]
    assert display.plot(given).ax_ is given


def test_columns_that_cannot_be_drawn_are_refused_in_words(fleet):
    """One row, a known class, a name for each column, and learned relevance."""
    classifier, X, _ = fleet("default", "wide")
    with pytest.raises(InputError, match=r"draws one row; 2 came. Pass X\[i : i \+ 1\]"):
        RelevanceDisplay.from_row(classifier, X[:2])
    with pytest.raises(InputError, match=r"one of the classes \['common', 'rare'\]; it is 'no'"):
        RelevanceDisplay.from_row(classifier, X[:1], label="no")
    with pytest.raises(InputError, match="at least 1; it is 0"):
        RelevanceDisplay.from_estimator(classifier, max_features=0)
    with pytest.raises(InputError, match="2 names came for 3 values"):
        RelevanceDisplay(values=np.ones(3), names=["a", "b"]).plot()
    with pytest.raises(InputError, match="LogisticRegression is none"):
        RelevanceDisplay.from_estimator(LogisticRegression())
    with pytest.raises(NotFittedError):
        RelevanceDisplay.from_estimator(DEFAULT)
    _, X, y = fleet("EEM", "moons")
    plain = EEMClassifier(5, relevance="uniform", random_state=0).fit(X, y)
    with pytest.raises(AttributeError, match="relevance='learned'"):
        RelevanceDisplay.from_estimator(plain)


# ------------------------------------------------------------------------ the manners of all


def test_pictures_see_rows_as_a_pipelines_classifier_does(fleet):
    """Earlier steps transform; one step is a pipeline too."""
    _, X, y = fleet("default", "wide")
    pipeline = make_pipeline(StandardScaler(), clone(DEFAULT)).fit(X, y)
    for display, field in ((ProjectionDisplay, "projections"), (RegionsDisplay, "points")):
        ours = display.from_estimator(pipeline, X, y)
        theirs = display.from_estimator(pipeline[-1], pipeline[0].transform(X), y)
        np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field))
        display.from_estimator(make_pipeline(clone(DEFAULT)).fit(X, y), X, y)


@all_rows_pictures
def test_pictures_change_nothing_and_warn_of_nothing(display, fleet, recwarn):
    """The classifier is to the last bit what it was; frames keep their names."""
    _, X, y = fleet("default", "moons")
    frame = pd.DataFrame(X, columns=["wide", "high"])
    classifier = clone(DEFAULT).fit(frame, y)
    before, solved = dict(vars(classifier)), classifier._solved
    drawn = display.from_estimator(classifier, frame, y)
    assert vars(classifier).keys() == before.keys()
    assert all(vars(classifier)[name] is value for name, value in before.items())
    assert classifier._solved is solved
    assert not recwarn.list
    if display is RegionsDisplay:
        assert drawn.ax_.get_xlabel() == "wide"
        assert drawn.ax_.get_ylabel() == "high"


def test_given_axes_are_drawn_on(fleet):
    """No other figure is made, and the given axes are kept."""
    classifier, X, y = fleet("default", "moons")
    figure, axes = plt.subplots(1, 6)
    line = ProjectionDisplay.from_estimator(classifier, X, y, ax=axes[0])
    operating = OperatingDisplay.from_estimator(classifier, X, y, axes=axes[1:4])
    regions = RegionsDisplay.from_estimator(classifier, X, y, ax=axes[4])
    path = PathDisplay.from_estimator(Searched().fit(), ax=axes[5])
    assert line.ax_ is axes[0]
    assert list(operating.axes_) == list(axes[1:4])
    assert regions.ax_ is axes[4]
    assert path.ax_ is axes[5]
    assert line.figure_ is operating.figure_ is regions.figure_ is path.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    free = figure.add_axes((0.1, 0.1, 0.3, 0.3))
    assert PathDisplay.from_estimator(Searched().fit(), ax=free).ax_ is free


@all_rows_pictures
def test_a_picture_can_be_drawn_again(display, fleet):
    """Data are kept, so `plot` needs no classifier."""
    display = display.from_estimator(*fleet("default", "moons"))
    first = display.figure_
    assert display.plot() is display
    assert display.figure_ is not first


@all_rows_pictures
def test_what_cannot_be_drawn_is_refused_in_words(display, fleet):
    """What must hold, what came, what to do."""
    fitted, X, y = fleet("default", "moons")
    classifier = clone(DEFAULT)
    with pytest.raises(NotFittedError, match="not fitted"):
        display.from_estimator(classifier, X, y)
    with pytest.raises(NotFittedError, match="not fitted"):
        display.from_estimator(make_pipeline(StandardScaler(), classifier), X, y)
    classifier = fitted
    with pytest.raises(InputError, match="LogisticRegression is none"):
        display.from_estimator(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(InputError, match="a label for each row; X has 240, y 239"):
        display.from_estimator(classifier, X, y[1:])
    with pytest.raises(InputError, match=r"among the classes \['no', 'yes'\]"):
        display.from_estimator(classifier, X, np.where(y == "no", "never", "yes"))
    with pytest.raises(ValueError, match="3 features"):
        display.from_estimator(classifier, np.ones((240, 3)), y)
    if display is ProjectionDisplay:
        with pytest.raises(InputError, match="y holds none of 'no'"):
            display.from_estimator(classifier, X[y == "yes"], y[y == "yes"])


def test_the_number_of_classes_and_axes_must_fit(fleet):
    """More classes are drawn pair by pair."""
    classifier, X, y = fleet("default", "ternary")
    with pytest.raises(InputError, match=r"draws two classes; this classifier knows 3"):
        OperatingDisplay.from_estimator(classifier, X, y)
    for pair in (3, -1):
        with pytest.raises(InputError, match=r"below 3.*it is -?\d.*\(10, 20\), \(10, 30\)"):
            ProjectionDisplay.from_estimator(classifier, X, y, pair=pair)
    classifier, X, y = fleet("default", "moons")
    with pytest.raises(InputError, match="draws on 3 axes; 2 came"):
        OperatingDisplay.from_estimator(classifier, X, y, axes=plt.subplots(2)[1])
    with pytest.raises(InputError, match=r"one of the classes \['no', 'yes'\]; it is 'maybe'"):
        OperatingDisplay.from_estimator(classifier, X, y, positive="maybe")
    with pytest.raises(InputError, match="y holds only 'yes'"):
        OperatingDisplay.from_estimator(classifier, X[y == "yes"], y[y == "yes"])


def test_paths_that_do_not_fit_together_are_refused(fleet):
    """Shapes, labels and the best classifier."""
    whole = vars(some_path())
    for change in ({"sizes": [1, 2]}, {"scores": whole["scores"][0]}, {"divergences": [[1, 2]]}):
        with pytest.raises(InputError, match="a score for each setting, size and fold"):
            PathDisplay(**whole | change).plot()
    with pytest.raises(InputError, match="2 labels came for 3 settings"):
        PathDisplay(**whole | {"labels": ["a", "b"]}).plot()
    with pytest.raises(InputError, match=r"below \(3, 4\); it is \(3, 0\)"):
        PathDisplay(**whole | {"best": (3, 0)}).plot()
    with pytest.raises(InputError, match="EEMClassifier has none"):
        PathDisplay.from_estimator(fleet("EEM", "moons")[0])
    with pytest.raises(NotFittedError):
        PathDisplay.from_estimator(Searched())


@all_rows_pictures
def test_a_dollar_in_a_name_starts_no_formula(display, tmp_path, fleet):
    """Names of classes and columns are drawn letter by letter."""
    _, X, y = fleet("default", "moons")
    classes, columns = (r"$\frac{$", r"a$b$\$"), ("$x_{1}$", r"$\beta$")
    frame = pd.DataFrame(X, columns=columns)
    y = np.where(y == "no", *classes)
    display.from_estimator(clone(DEFAULT).fit(frame, y), frame, y)
    with mpl.rc_context({"svg.fonttype": "none"}):
        plt.gcf().savefig(tmp_path / "picture.svg")
    texts = ElementTree.parse(tmp_path / "picture.svg").iter("{http://www.w3.org/2000/svg}text")
    drawn = " ".join("".join(text.itertext()) for text in texts)
    # The curves are of one class only.
    names = [*classes[display is OperatingDisplay :]]
    names += columns if display is RegionsDisplay else ()
    for name in names:
        assert name in drawn


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, fleet):
    """The extra is called `plot`."""
    classifier, X, y = fleet("default", "moons")
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    remedy = r"needs matplotlib: pip install 'extreme-entropy\[plot\]'"
    for draw in (
        lambda: ProjectionDisplay.from_estimator(classifier, X, y),
        lambda: OperatingDisplay.from_estimator(classifier, X, y),
        lambda: RegionsDisplay.from_estimator(classifier, X, y),
        lambda: RelevanceDisplay.from_estimator(classifier),
        lambda: RelevanceDisplay.from_row(classifier, X[:1]),
        lambda: PathDisplay.from_estimator(Searched().fit()),
        lambda: PathDisplay(**vars(some_path())).plot(),
    ):
        with pytest.raises(ImportError, match=f"Display {remedy}"):
            draw()


@pytest.mark.parametrize("d", [1, 2])
def test_rows_without_a_value_have_no_place_in_the_map(d, rng):
    X = rng.normal(size=(80, d))
    y = (X[:, 0] > 0).astype(int)
    X[::9, 0] = np.nan
    classifier = clone(DEFAULT).fit(X, y)
    display = RegionsDisplay.from_rows(classifier, X, y)
    assert len(display.points) == len(display.labels) == (~np.isnan(X[:, 0])).sum()
    assert np.isfinite(display.points).all()
    assert np.isfinite(display.x).all()
