"""Beyond the paper: fair candidates on the same folds, tests by two routes, pages that are true."""

import sys
import warnings
from itertools import chain, combinations, product
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import integrate
from scipy.stats import norm, rankdata
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info

from extreme_entropy import EEMClassifier, gmean_score
from extreme_entropy_paper import facts
from extreme_entropy_paper.baselines import CLASSIFIERS, Entry, Given, make, missing
from extreme_entropy_paper.cli.root import root
from extreme_entropy_paper.experiments import beyond
from extreme_entropy_paper.experiments.beyond import (
    DATASETS,
    MODELS,
    plan,
    work,
)
from extreme_entropy_paper.experiments.beyond_page import page
from extreme_entropy_paper.experiments.catalogue import PAGES
from extreme_entropy_paper.experiments.comparison import compare
from extreme_entropy_paper.experiments.diagram import critical_difference_svg
from extreme_entropy_paper.experiments.jobs import Job
from extreme_entropy_paper.experiments.protocol import fold_of
from extreme_entropy_paper.experiments.ranks import (
    against,
    critical_difference,
    friedman,
    groups,
    holm,
    mean_ranks,
)
from extreme_entropy_paper.store import key_of, read

# ------------------------------------------------------------------ ranks and tests

# Ranks 1 2 3, 1 3 2, 1½ 1½ 3 and 3 2 1.
SMALL = np.array([[9, 8, 7], [9, 7, 8], [8, 8, 6], [5, 6, 7]], dtype=float)


def test_mean_ranks_by_hand():
    """The largest score has rank 1; a tie shares the mean of its ranks."""
    np.testing.assert_allclose(mean_ranks(SMALL), [6.5 / 4, 8.5 / 4, 9 / 4])


def test_friedman_by_hand():
    """χ² = 0.875 over the correction for one tie, 1 − 6/96; F and its tail in closed form."""
    chi2 = 0.875 / (1 - 6 / 96)
    statistic = 3 * chi2 / (8 - chi2)
    test = friedman(SMALL)
    assert test.freedom == (2, 6)
    assert test.statistic == pytest.approx(statistic)
    assert test.p == pytest.approx((6 / (6 + 2 * statistic)) ** 3)  # of F(2, 6)


def test_friedman_is_the_analysis_of_variance_of_the_ranks(rng):
    """Iman and Davenport's F: mean square of models over that of the rest, ties or not."""
    scores = rng.integers(0, 6, size=(12, 5)) + np.arange(5) / 2
    ranks = rankdata(-scores, axis=1)
    n, k = ranks.shape
    between = n * ((ranks.mean(axis=0) - ranks.mean()) ** 2).sum()
    rest = ((ranks - ranks.mean(axis=0)) ** 2).sum() - n * k * np.var(ranks.mean(axis=1))
    expected = between / (k - 1) / (rest / ((k - 1) * (n - 1)))
    assert friedman(scores).statistic == pytest.approx(expected)


def test_friedman_at_its_ends():
    """No difference anywhere; the same order everywhere."""
    assert friedman(np.full((4, 3), 80.0)).p == 1.0
    always = friedman(np.tile(np.arange(4.0), (5, 1)))
    assert always.statistic == np.inf
    assert always.p == 0.0


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (4, 2.569), (5, 2.728), (9, 3.102), (10, 3.164)])
def test_the_critical_difference_is_that_of_demsars_table(k, q):
    """q at 0.05 as printed, and by the integral that defines the studentised range."""
    n = 14
    difference = critical_difference(k, n)
    assert difference == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * n)), rel=5e-4)
    width = difference / np.sqrt(k * (k + 1) / (6 * n)) * np.sqrt(2)
    within, _ = integrate.quad(
        lambda z: k * norm.pdf(z) * (norm.cdf(z) - norm.cdf(z - width)) ** (k - 1), -9, 9 + width
    )
    assert within == pytest.approx(0.95, abs=1e-6)


def test_a_stricter_level_asks_for_a_larger_difference():
    """0.01 against 0.05."""
    assert critical_difference(5, 10, 0.01) > critical_difference(5, 10, 0.05)


def test_groups_are_the_largest_whose_ends_are_not_told_apart():
    """A whole critical difference apart is told apart; groups inside others are left out."""
    assert groups(np.array([3.0, 1.0, 1.5, 2.4]), 1.0) == [[1, 2], [2, 3], [3, 0]]
    assert groups(np.array([1.0, 1.2, 1.4, 3.0]), 1.0) == [[0, 1, 2]]
    assert groups(np.array([1.0, 2.0, 3.0]), 1.0) == []


def test_holm_is_the_closure_of_bonferroni(rng):
    """p of one hypothesis: the largest Bonferroni p of all sets of hypotheses it is in."""
    p = list(rng.random(5) ** 3)
    sets = list(chain.from_iterable(combinations(range(5), size) for size in range(1, 6)))
    expected = [
        max(min(1.0, len(some) * min(p[j] for j in some)) for some in sets if i in some)
        for i in range(5)
    ]
    np.testing.assert_allclose(holm(p), expected)


def test_wilcoxon_against_one_is_what_all_signs_give(rng):
    """p by enumerating 2⁷ signs of the ranks; data sets without a difference say nothing."""
    scores = np.vstack([rng.random((7, 3)), [[0.5, 0.5, 0.5]]])
    by_hand = []
    for j in (0, 2):
        gaps = scores[:7, 1] - scores[:7, j]
        sizes = rankdata(np.abs(gaps))
        smaller = min(sizes[gaps > 0].sum(), sizes[gaps < 0].sum())
        sums = [sizes @ np.array(signs) for signs in product((0, 1), repeat=7)]
        by_hand.append(min(1.0, 2 * np.mean(np.array(sums) <= smaller)))
    found = against(scores, 1)
    assert np.isnan(found[1])
    np.testing.assert_allclose(found[[0, 2]], holm(by_hand))


def test_equal_models_are_not_told_apart():
    """p = 1, without a warning."""
    assert against(np.ones((5, 2)), 0)[1] == 1.0


# ------------------------------------------------------------------ candidates


def rare_rows(rng, n=120, rare=24):
    """Two overlapping classes, the first of them rare."""
    y = np.where(np.arange(n) < rare, 1, -1)
    return rng.normal(size=(n, 4)) + 1.2 * (y[:, None] > 0), y


@pytest.fixture
def small_data(rng, monkeypatch):
    """The data set `heart` is one of ours for once."""
    X, y = rare_rows(rng)
    monkeypatch.setattr(beyond, "data_of", lambda name: (X, y))
    return X, y


def test_all_that_was_asked_for_is_compared():
    """Five baselines and four of ours, on all UCI and unbalanced data sets."""
    ours = {name for name in MODELS if CLASSIFIERS[name].kind == "ours"}
    assert ours == {"EEM-default", "EEKM-default", "EEM-CV", "EEKM-CV"}
    assert set(MODELS) - ours == {
        *("BalancedRandomForest", "EasyEnsemble", "HistGradientBoosting"),
        *("LightGBM", "Nystroem+LDA"),
    }
    assert len(PAGES["beyond"].datasets) == len(set(PAGES["beyond"].datasets)) == 18
    assert set(PAGES["beyond"].experiment.models) == set(MODELS)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "LightGBM"])
def test_candidates_have_plain_defaults_but_for_seed_balance_and_threads(name):
    """Nothing is set in favour of anybody."""
    model = make(name, Given(90, 7))
    if name == "Nystroem+LDA":
        scaler, kernel, lda = (step for _, step in model.steps)
        assert isinstance(scaler, StandardScaler)
        assert kernel.get_params() == Nystroem(n_components=90, random_state=7).get_params()
        expected = LinearDiscriminantAnalysis(
            solver="lsqr", shrinkage="auto", priors=[0.5, 0.5]
        ).get_params()
        assert lda.get_params() == expected
        assert make(name, Given(10_000, 7)).named_steps["nystroem"].n_components == 500
        return
    plain = type(model)().get_params(deep=False)
    changed = {k: v for k, v in model.get_params(deep=False).items() if v != plain[k]}
    allowed = {"random_state": 7, "n_jobs": 1, "class_weight": "balanced"}
    assert changed.items() <= allowed.items()
    assert changed["random_state"] == 7
    assert ("class_weight" in changed) == (name == "HistGradientBoosting")


class StandIn(GaussianNB):
    """Stands for LightGBM: takes its parameters, knows how rare a class is."""

    def __init__(self, n_jobs=None, random_state=None, verbose=0):
        super().__init__()
        self.n_jobs, self.random_state, self.verbose = n_jobs, random_state, verbose


def test_lightgbms_threshold_is_chosen_for_gmean(rng, monkeypatch):
    """On rare rows the chosen threshold lies well under one half, and GMean is better for it."""
    monkeypatch.setitem(sys.modules, "lightgbm", SimpleNamespace(LGBMClassifier=StandIn))
    X, y = rare_rows(rng, 1000, 60)
    model = make("LightGBM", Given(1000, 3))
    assert isinstance(model, TunedThresholdClassifierCV)
    assert (model.random_state, model.estimator.random_state, model.estimator.n_jobs) == (3, 3, 1)
    model.fit(X, y)
    assert model.best_threshold_ < 0.3
    assert gmean_score(y, model.predict(X)) > gmean_score(y, model.estimator_.predict(X)) + 0.1


def test_what_is_not_installed_is_skipped_and_tried_once_it_is(monkeypatch):
    """The reason names the package; the skip is no longer in the way afterwards."""
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    skipped = list(plan(["heart"], ["LightGBM", "EEM-default"], 1))
    reason = "LightGBM needs the package lightgbm"
    assert {(job.model, why) for job, why in skipped} == {
        ("LightGBM", reason),
        ("EEM-default", None),
    }
    done = {key_of(job.about(setting)) for job, _ in skipped for setting in job.settings}
    monkeypatch.setitem(sys.modules, "lightgbm", SimpleNamespace())
    assert missing("LightGBM") is None
    left = [job.without(done) for job, _ in plan(["heart"], ["LightGBM", "EEM-default"], 1)]
    assert {(job.model, len(job.settings)) for job in left} == {("LightGBM", 1), ("EEM-default", 0)}


def test_every_fold_of_every_repetition_is_planned_once():
    """Small data sets first, and all folds of the first repetition before the second."""
    jobs = [job for job, _ in plan(["splice", "heart"], ["EEM-CV", "EEM-default"], 2)]
    assert len({(j.dataset, j.model, j.repeat, j.fold) for j in jobs}) == len(jobs) == 80
    assert [j.repeat for j in jobs] == [0] * 40 + [1] * 40
    assert [(j.dataset, j.model) for j in jobs[:40:10]] == [
        *(("heart", "EEM-default"), ("splice", "EEM-default")),
        *(("heart", "EEM-CV"), ("splice", "EEM-CV")),
    ]


def test_a_row_is_the_score_of_a_plain_fit_on_the_protocols_fold(small_data):
    """Recalls by counting, AUC by pairs, Brier by its formula; every fold has its seed."""
    X, y = small_data
    (row,) = work(Job("heart", "EEM-default", 2, 4, ({},)))
    train, test = fold_of(X, y, 2, 4)
    model = EEMClassifier(random_state=24).fit(X[train], y[train])
    right = model.predict(X[test]) == y[test]
    rare, common = y[test] == 1, y[test] == -1
    recalls = right[rare].mean(), right[common].mean()
    chance = model.predict_proba(X[test])[:, list(model.classes_).index(1)]
    ahead = np.sign(chance[rare][:, None] - chance[common])
    assert row["gmean"] == pytest.approx(100 * np.sqrt(recalls[0] * recalls[1]), abs=1e-4)
    assert row["balanced_accuracy"] == pytest.approx(50 * sum(recalls), abs=1e-4)
    assert row["auc"] == pytest.approx(50 * (1 + ahead.mean()), abs=1e-4)
    assert row["brier"] == pytest.approx(np.mean((chance - rare) ** 2), abs=1e-6)
    assert row["seed"] == 24
    assert (row["dataset"], row["model"], row["repeat"], row["fold"]) == (
        "heart",
        "EEM-default",
        2,
        4,
    )
    assert min(row["fit_seconds"], row["fit_cpu_seconds"], row["predict_seconds"]) > 0


@pytest.mark.parametrize("name", [n for n in MODELS if n not in ("EEM-default", "EEM-CV")])
def test_every_candidate_gives_a_whole_row(small_data, monkeypatch, name):
    """All fields, within their ranges, better than a guess; EEM-CV differs only by its size."""
    if name == "LightGBM" and missing(name):
        monkeypatch.setitem(sys.modules, "lightgbm", SimpleNamespace(LGBMClassifier=StandIn))
    (row,) = work(Job("heart", name, 0, 0, ({},)))
    assert 50 < row["auc"] <= 100
    assert 0 <= row["gmean"] <= row["balanced_accuracy"] <= 100
    assert 0 <= row["brier"] < 0.3


def test_scores_by_hand_whichever_class_comes_first():
    """The order in which a model has its classes has no say."""
    y = np.array(["b", "a", "a", "a"])
    answers = np.array(["b", "a", "a", "b"])
    chance = np.array([0.8, 0.1, 0.2, 0.9])  # of b
    both = np.column_stack([1 - chance, chance])
    found = beyond.scores(y, answers, both, np.array(["a", "b"]))
    assert found["gmean"] == pytest.approx(100 * np.sqrt(2 / 3), abs=1e-4)
    assert found["balanced_accuracy"] == pytest.approx(100 * (1 + 2 / 3) / 2, abs=1e-4)
    assert found["auc"] == pytest.approx(100 * 2 / 3, abs=1e-4)
    assert found["brier"] == pytest.approx((0.04 + 0.01 + 0.04 + 0.81) / 4)
    assert beyond.scores(y, answers, both[:, ::-1], np.array(["b", "a"])) == found


def test_fits_have_one_thread(small_data, monkeypatch):
    """Every pool of threads that is loaded is held to one."""
    seen = []

    class Watching(LogisticRegression):
        def fit(self, X, y):
            seen.extend(pool["num_threads"] for pool in threadpool_info())
            return super().fit(X, y)

    watched = Entry(lambda given: Watching(), "kernel")
    monkeypatch.setitem(CLASSIFIERS, "HistGradientBoosting", watched)
    work(Job("heart", "HistGradientBoosting", 0, 0, ({},)))
    assert set(seen) == {1}


def test_runs_say_which_versions_were_there(monkeypatch):
    """Those that are installed; what is not is left out."""
    monkeypatch.setattr(facts, "PACKAGES", ("numpy", "no-such-package"))
    assert facts.versions() == {"numpy": np.__version__}
    monkeypatch.undo()
    assert {"lightgbm", "imbalanced-learn"} <= set(facts.PACKAGES)


# ------------------------------------------------------------------ the page

THREE = ("EEM-default", "Nystroem+LDA", "HistGradientBoosting")


def rows_of(means, models=THREE, repeats=(0,), folds=range(10), **fields):
    """Rows whose means are those given, by data set."""
    return [
        {
            "dataset": dataset,
            "model": model,
            "setting": {},
            "repeat": repeat,
            "fold": fold,
            "gmean": mean + (fold - 4.5) / 10,
            "balanced_accuracy": mean + 1,
            "auc": mean + 2,
            "brier": (100 - mean) / 100,
            "fit_seconds": 7.0,
            "fit_cpu_seconds": 10.0 ** (len(dataset) % 3),
            **fields,
        }
        for dataset, scores in means.items()
        for model, mean in zip(models, scores, strict=True)
        for repeat in repeats
        for fold in folds
    ]


EXAMPLE = {
    "heart": (80, 70, 60),
    "sonar": (80, 60, 70),
    "splice": (75, 75, 90),
    "ecoli": (90, 80, 85),
}


def line_of(text, name, which=0):
    """The cells of a row of a Markdown table."""
    lines = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in lines[which].strip("|").split("|")][1:]


def test_the_page_has_means_ranks_and_tests():
    """By hand from four data sets: ranks 1 1 2½ 1, 2 3 2½ 3, 3 2 1 2."""
    text = page(rows_of(EXAMPLE))[".md"]
    assert line_of(text, "heart") == ["80.0 *", "70.0", "60.0"]
    assert line_of(text, "splice") == ["75.0", "75.0", "90.0 *"]
    assert line_of(text, "diabetes") == ["–"] * 3
    scores = np.array(list(EXAMPLE.values()), dtype=float)
    p = against(scores, 0)
    # heart, sonar and ecoli have 5 letters (100 s), splice 6 (1 s): 100^¾ = 31.62.
    assert line_of(text, "EEM-default") == [
        *("1.38", "3", "81.2", "82.2", "83.2", "0.188", "31.62", "–")
    ]
    assert line_of(text, "Nystroem+LDA")[:3] == ["2.62", "0", "71.2"]
    assert line_of(text, "HistGradientBoosting")[-1] == f"{p[2]:.2g}"
    assert line_of(text, "Nystroem+LDA")[-1] == f"{p[1]:.2g}"
    places = [text.index(f"\n| {model} |") for model in (THREE[0], THREE[2], THREE[1])]
    assert places == sorted(places)
    assert "count the 4 of 18 data sets on which all 3 models ran." in text
    assert "12 cells of 18 data sets and 9 models run, each on 1 or more whole" in text


def test_the_sentences_follow_from_the_figures():
    """Friedman's F, the critical difference, and where trees are ahead."""
    text = page(rows_of(EXAMPLE))[".md"]
    test = friedman(np.array(list(EXAMPLE.values()), dtype=float))
    assert f"F(2, 6) = {test.statistic:.2f}, p = {test.p:.2g}" in text
    assert "not shown to rank differently" in text
    assert f"at 0.05 is {critical_difference(3, 4):.2f}" in text
    assert "trees is more than 1 point above the best of ours on 1 (splice by 15.0) of 4" in text
    assert "on 3 (heart by 20.0, sonar by 10.0, ecoli by 5.0)." in text


def test_the_sentences_turn_with_the_figures():
    """Trees best everywhere: the page says so, and that the ranks differ."""
    better = dict.fromkeys(DATASETS, (60, 70, 80))
    text = page(rows_of(better))[".md"]
    assert "The best mean rank is that of HistGradientBoosting." in text
    assert "the models do not all rank alike" in text
    assert (
        "behind by that or more are Nystroem+LDA, EEM-default; not distinguished from it are none"
        in text
    )
    assert "above the best of the trees on 0 (none)." in text
    assert "the best of ours on 18 (" in text


def test_one_point_is_within_one_point():
    """A lead is clear only beyond it."""
    near = dict.fromkeys(DATASETS[:3], (80, 70, 81))
    text = page(rows_of(near))[".md"]
    assert "best of ours on 0 (none) of 3" in text


def test_relatives_of_ours_do_not_hide_how_one_of_them_ranks():
    """With three more of ours in front, the default still has rank 1 among the others."""
    models = (*THREE, "EEKM-default", "EEM-CV", "EEKM-CV")
    means = dict.fromkeys(DATASETS, (80, 70, 60, 81, 82, 83))
    text = page(rows_of(means, models))[".md"]
    assert line_of(text, "EEM-default")[0] == "4.00"
    assert (
        "only one of ours: EEM-default 1.00, Nystroem+LDA 2.00, HistGradientBoosting 3.00." in text
    )
    assert "only one of ours" not in page(rows_of(EXAMPLE))[".md"]  # where it is so anyway


def test_only_data_sets_on_which_all_models_ran_count():
    """One with two of three models is shown, and neither ranked nor averaged."""
    part = rows_of({"diabetes": (99, 10)}, THREE[:2])
    text = page([*rows_of(EXAMPLE), *part])[".md"]
    assert line_of(text, "diabetes") == ["99.0 *", "10.0", "–"]
    assert line_of(text, "EEM-default")[2] == "81.2"
    assert "count the 4 of 18" in text


def test_only_whole_repetitions_that_all_have_count():
    """Nine folds are no repetition; a second one that a model lacks is left out for all."""
    torn = rows_of({"diabetes": (99, 98, 97)}, folds=range(9))
    second = rows_of({"heart": (0, 0)}, THREE[:2], repeats=(1,))
    found = compare([*rows_of(EXAMPLE), *torn, *second])
    place = found.datasets.index("heart")
    assert found.complete.sum() == 4
    assert found.repeats[place] == 1
    np.testing.assert_allclose(found.means["gmean"][place], [80, 70, 60])
    assert np.isnan(found.means["gmean"][found.datasets.index("diabetes")]).all()
    both = compare(rows_of(EXAMPLE, repeats=(0, 1)))
    assert both.repeats[place] == 2
    np.testing.assert_allclose(both.means["gmean"][place], [80, 70, 60])


def test_what_is_equal_but_for_rounding_is_a_tie():
    """The same fold scores in another order of summation."""
    tenths = [r | {"gmean": 0.1 * r["fold"]} for r in rows_of({"heart": (0, 0, 0)})]
    turned = [r | {"gmean": 0.1 * (9 - r["fold"])} if r["model"] != THREE[0] else r for r in tenths]
    (scores,) = compare(turned).counted("gmean")
    assert len(set(scores)) == 1
    assert line_of(page(turned)[".md"], "heart") == ["0.5 *"] * 3


def test_rows_of_other_tables_are_not_ours():
    """The paper's columns and lines about runs leave the page as it is."""
    others = [
        {"run": "today"},
        *rows_of({"heart": (1,)}, ("EEM-rbf",)),
        *rows_of({"isolet": (1,)}, ("LightGBM",)),
    ]
    assert page([*others, *rows_of(EXAMPLE)]) == page(rows_of(EXAMPLE))


def test_models_that_were_skipped_are_named_until_they_have_run():
    """With the reason; no longer once there are rows of them."""
    row = {"dataset": "heart", "model": "LightGBM", "setting": {"without": "lightgbm"}}
    skipped = [{**row, "repeat": 0, "fold": f, "skipped": "not here"} for f in range(10)]
    text = page([*skipped, *rows_of(EXAMPLE)])[".md"]
    assert text.count("Not run: not here.") == 1
    assert "all 3 models" in text
    measured = rows_of(dict.fromkeys(EXAMPLE, (50,)), ("LightGBM",))
    assert "Not run" not in page([*skipped, *measured, *rows_of(EXAMPLE)])[".md"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "There is no data set yet"),
        (rows_of({"heart": (80, 70, 60)}), "needs two data sets and three models"),
        (
            rows_of(dict.fromkeys(EXAMPLE, (80, 70)), THREE[:2]),
            "needs two data sets and three models",
        ),
    ],
)
def test_too_little_for_a_test_is_said_and_draws_nothing(rows, said):
    """No rows, one data set, two models."""
    files = page(rows)
    assert said in files[".md"]
    assert ".svg" not in files
    assert "beyond.svg" not in files[".md"]


def test_html_and_latex_hold_both_tables():
    """Well-formed, with the picture inside; every line of LaTeX has its cells."""
    files = page(rows_of(EXAMPLE))
    (body,) = (part.split("</body>")[0] for part in files[".html"].split("<body>")[1:])
    tree = ElementTree.fromstring(f"<b>{body}</b>")
    assert len(tree.findall(".//table")) == 2
    assert len(tree.findall(".//{http://www.w3.org/2000/svg}svg")) == 1
    assert files[".html"].count("</html>") == 1
    cells = {line.count("&") for line in files[".tex"].splitlines() if line.endswith(r"\\")}
    assert cells == {3, 8}
    assert files[".tex"].count(r"\end{table}") == 2


def test_the_picture_is_the_same_each_time_and_shows_every_model():
    """Bytes do not depend on the day or on chance; each name stands beside its rank."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a picture of ours draws none
        first, again = (page(rows_of(EXAMPLE))[".svg"] for _ in range(2))
    assert first == again
    words = {text.text for text in ElementTree.fromstring(first).iter() if text.text}
    assert {"EEM-default  1.38", "Nystroem+LDA  2.62", "HistGradientBoosting  2.00"} <= words
    assert f"critical difference {critical_difference(3, 4):.2f}" in words
    assert "dc:date" not in first


def test_a_bar_joins_those_not_told_apart():
    """One more thick line for each group, and none where all are apart."""
    names, ranks, none = list("abcd"), np.array([1.0, 1.5, 3.0, 4.0]), [False] * 4
    bars = [
        critical_difference_svg(names, ranks, difference, none).count("stroke-width: 4")
        for difference in (0.4, 0.6, 1.2)
    ]
    assert bars == [0, 1, 2]


def test_without_matplotlib_there_is_the_page_without_the_picture(monkeypatch):
    """Tables do not need it."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    files = page(rows_of(EXAMPLE))
    assert set(files) == {".md", ".html", ".tex"}
    assert "beyond.svg" not in files[".md"]


def test_a_small_run_from_the_command(tmp_path, paper_data, monkeypatch):
    """Two data sets, three models; run again it measures nothing anew and shows the same."""
    paper_data("heart")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    words = ["reproduce", "beyond", "--dataset", "heart", "--dataset", "sonar", "--jobs", "1"]
    words += ["--out", str(tmp_path)]
    for name in ("EEKM-default", *THREE[1:]):
        words += ["--model", name]
    answer = CliRunner().invoke(root, words)
    assert answer.exit_code == 0, answer.output
    assert "count the 2 of 18 data sets on which all 3 models ran" in answer.stdout
    rows = [row for row in read(tmp_path / "rows.jsonl") if "dataset" in row]
    assert len(rows) == 2 * 3 * 10
    assert {"gmean", "balanced_accuracy", "auc", "brier", "fit_seconds", "seed"} <= set(rows[0])
    again = CliRunner().invoke(root, words)
    assert again.stdout == answer.stdout
    assert [row for row in read(tmp_path / "rows.jsonl") if "dataset" in row] == rows
    assert {path.suffix for path in tmp_path.glob("beyond.*")} == {".md", ".html", ".tex", ".svg"}
