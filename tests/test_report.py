"""The report says what is true of the classifier and its rows, and lets nothing in them run."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from scipy.stats import binom
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_moons
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from extreme_entropy import (
    EEKMClassifier,
    EEMClassifier,
    EEMClassifierCV,
    ExtremeEntropyClassifier,
    gmean_score,
)
from extreme_entropy.cli.evaluate import score_lines
from extreme_entropy.cli.report import left_out
from extreme_entropy.cli.root import root
from extreme_entropy.errors import DegenerateWarning, InputError
from extreme_entropy.metrics import Outcome, ScoreInterval, by_class
from extreme_entropy.report import About, build_report, write_report
from extreme_entropy.report import rows as rows_module
from extreme_entropy.report.build import compared_sizes, report_on_batches, write_page
from extreme_entropy.report.classifiers import reported
from extreme_entropy.report.evaluation import METRICS, Metric, evaluate
from extreme_entropy.report.evidence import collect as collect_of
from extreme_entropy.report.harmless_text import json_block, visible
from extreme_entropy.report.live import points_of
from extreme_entropy.report.numbers import amount, count, percent, times
from extreme_entropy.report.page import SECTIONS, render
from extreme_entropy.report.ranking import rank
from extreme_entropy.report.report_settings import ReportSettings
from extreme_entropy.report.rows import cell_text
from extreme_entropy.report.sections.importance import explained_rows, important_columns
from extreme_entropy.report.sections.matrix import shown_matrix
from extreme_entropy.report.sections.short import possible_mistakes, score_cards, worst_confusions
from extreme_entropy.report.subject import Section, SectionContent, class_name, subject_of
from extreme_entropy.report.verdict import verdict

HOSTILE = [
    "<script>window.ran = 1</script>",
    '"><img src=x onerror="window.ran = 1">',
    r"$\frac{1}{$",
    "</script><script>window.ran = 1</script>",
    "a\nb\tc\x00\u202eevil\u2028 👩‍🚀",
    "{{ 7 * 7 }}{% raw %}",
    "'; window.ran = 1; //",
]


def overlapping(n=400, seed=0, names=("common", "rare")):
    """Five columns, a rare class that is not always told apart."""
    rng = np.random.default_rng(seed)
    y = np.repeat(names, [n - n // 8, n // 8])
    X = rng.normal(size=(n, 5)) + 1.2 * (y == names[1])[:, None]
    order = rng.permutation(n)
    return X[order], y[order]


@pytest.fixture(scope="module")
def classifier():
    return EEMClassifier(40, random_state=0).fit(*overlapping())


@pytest.fixture(scope="module")
def page(classifier):
    return build_report(classifier, *overlapping(seed=1))


def collect(classifier, batches, **settings):
    """Evidence of a classifier of this library."""
    return collect_of(reported(classifier), batches, ReportSettings(**settings))


def report_with(classifier, X, y, **settings):
    """A page of other sizes."""
    return report_on_batches(reported(classifier), [(X, y)], About, ReportSettings(**settings))


class Parsed(HTMLParser):
    """Elements, attributes and text of a page."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.text, self._inside = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._inside.append(tag)

    def handle_endtag(self, tag):
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data):
        if self._inside and self._inside[-1] not in ("script", "style"):
            self.text.append(data)


def data_of(page):
    """What the page's script is given."""
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(block[1])


def text_at(page, name):
    """The text of an element without children."""
    return re.search(rf'id="{name}"[^>]*>([^<]*)<', page)[1]


# ------------------------------------------------------------------------ numbers


def test_scores_are_those_that_scikit_learn_gives(classifier):
    """GMean, balanced accuracy, AUC and Brier of `predict` and `predict_proba`."""
    X, y = overlapping(seed=1)
    cards = score_cards(collect(classifier, [(X, y)]).evaluation)
    scores = {card.name: card.interval for card in cards}
    p, said = classifier.predict_proba(X)[:, 1], classifier.predict(X)
    assert scores["GMean"].value == pytest.approx(gmean_score(y, said), rel=1e-12)
    ours = scores["Balanced accuracy"].value
    assert ours == pytest.approx(balanced_accuracy_score(y, said), rel=1e-12)
    assert scores["AUC"].value == pytest.approx(roc_auc_score(y == "rare", p), rel=1e-12)
    assert scores["Brier score"].value == pytest.approx(brier_score_loss(y == "rare", p), rel=1e-12)
    assert all(score.low < score.value < score.high for score in scores.values())


def test_the_matrix_on_the_page_is_that_of_predict(classifier, page):
    """Also without a script: cells, recalls and precisions are in the page itself."""
    X, y = overlapping(seed=1)
    said = classifier.predict(X)
    for c, row in enumerate(confusion_matrix(y, said)):
        assert [int(text_at(page, f"cell{c}{d}")) for d in (0, 1)] == row.tolist()
    for c, name in enumerate(classifier.classes_):
        recall = recall_score(y, said, pos_label=name)
        precision = precision_score(y, said, pos_label=name)
        assert text_at(page, f"recall{c}") == percent(recall)
        assert text_at(page, f"precision{c}") == percent(precision)
    assert float(text_at(page, "live-gmean")) == pytest.approx(gmean_score(y, said), abs=5e-4)


def test_the_brier_score_at_these_frequencies_is_that_of_priors_as_counted(classifier):
    """As if `with_costs(priors=shares)` had been asked."""
    X, y = overlapping(seed=1)
    share = float((y == "rare").mean())
    told = classifier.with_costs(priors={"common": 1 - share, "rare": share}).predict_proba(X)[:, 1]
    shown_at = re.search(
        r"Brier score at these frequencies</h3>\s*<p class=\"big\">([\d.]+)",
        build_report(classifier.with_costs(priors="balanced"), X, y),
    )
    assert float(shown_at[1]) == pytest.approx(brier_score_loss(y == "rare", told), abs=5e-4)


def test_a_classifier_that_knows_the_frequencies_has_one_brier_score():
    """No second Brier score, and no question about frequency."""
    X, y = overlapping()
    page = build_report(EEMClassifier(40, random_state=0).fit(X, y), X, y)
    assert "at these frequencies" not in page
    assert 'name="priors"' not in page


def test_no_mistake_is_not_taken_for_certainty():
    """The share stated is the largest under which so many rows without mistake are not unlikely."""
    ((c, share),) = possible_mistakes(np.array([[30, 0], [2, 5]]))
    assert c == 0
    assert binom.cdf(0, 30, share) == pytest.approx(0.05)
    assert possible_mistakes(np.array([[0, 0, 0], [1, 3, 0], [0, 0, 2]]))[0][0] == 2


@pytest.mark.parametrize(
    ("share", "words"),
    [
        *((0, "0 %"), (1, "100 %"), (0.5, "50 %"), (0.954, "95.4 %"), (0.99999, "over 99.9 %")),
        *((0.0001, "under 0.1 %"), (0.012, "1.2 %"), (float("nan"), "–")),
    ],
)
def test_nearly_all_is_not_all(share, words):
    assert percent(share) == words.replace(" %", "\u00a0%")


def test_the_page_says_what_the_data_are(classifier):
    """Rows, shares, imbalance, missing values, rows left out, what was learnt."""
    X, y = overlapping(160, seed=2)
    about = About(
        data="new.csv", target="kind", missing={"a": 7, "b": 0}, left_out=3, columns=list("abcde")
    )
    words = " ".join(" ".join(Parsed(build_report(classifier, X, y, about=about)).text).split())
    assert "7 times as many rows as the rarest" in words
    assert "3 rows have no label" in words
    assert "5 columns" in words
    assert "Predicting kind: report on 160 rows" in words
    for row in ("common 140 88 % 350", "rare 20 12 % 50", "Column missing a 7"):
        assert row in words.replace("\u00a0", " ")
    assert "Column missing a 7 " in words
    assert "b 0" not in words[words.index("Column missing") :]


# ------------------------------------------------------------------------ rows


def share_learnt(classifier, X, y):
    """The share of rows that a report takes for those of the fit."""
    return collect(classifier, [(X, y)]).evaluation.share_learnt


@pytest.mark.parametrize(
    ("estimator", "kind"), [(EEMClassifier, np.float64), (EEKMClassifier, np.float32)]
)
def test_rows_that_were_learnt_are_known_again(estimator, kind):
    """In any order, all of them or some; other rows of the same number and kind are not."""
    X, y = overlapping()
    X = X.astype(kind)
    classifier = estimator(30, random_state=0).fit(X, y)
    assert share_learnt(classifier, X[::-1], y[::-1]) == 1
    assert share_learnt(classifier, X[10:], y[10:]) == 1
    assert "fitted on these very rows" in build_report(classifier, X[::-1], y[::-1])
    other, labels = overlapping(seed=1)
    assert share_learnt(classifier, other.astype(kind), labels) == 0
    assert 'id="same-rows"' not in build_report(classifier, other, labels)
    assert share_learnt(classifier.slim(), X, y) == 0


def test_a_mixture_of_rows_learnt_and_others_is_known():
    """By its share."""
    X, y = overlapping()
    other, labels = overlapping(seed=1)
    classifier = EEMClassifier(30, random_state=0).fit(X, y)
    n = len(y)
    mixed = np.vstack([X, other, other, other]), np.concatenate([y, labels, labels, labels])
    assert share_learnt(classifier, *mixed) == pytest.approx(0.25, abs=0.01)
    assert "fitted on 25\u00a0% of these rows" in build_report(classifier, *mixed)
    assert share_learnt(classifier, other, labels) == 0
    assert len(mixed[0]) == 4 * n


def test_rows_of_many_categories_are_known_again():
    """They are encoded without their own label when they are learnt, and as others later."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    frame = pd.DataFrame({"shop": [f"s{i}" for i in rng.integers(0, 60, 600)]})
    frame["x"] = rng.normal(size=600) + y
    classifier = ExtremeEntropyClassifier(n_landmarks=20, random_state=0).fit(frame, y)
    assert share_learnt(classifier, frame, y) == 1
    new = frame.assign(x=rng.normal(size=600) + y)
    assert share_learnt(classifier, new, y) == 0


def test_rows_that_are_few_and_come_often_are_known_only_all_together():
    """New rows of such a table are equal to some that were learnt."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(2000, 2)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=2000) > 2).astype(int)
    classifier = EEMClassifier(20, random_state=0).fit(X[:1000], y[:1000])
    assert share_learnt(classifier, X[1000:], y[1000:]) == 0
    assert share_learnt(classifier, X[:1000], y[:1000]) == 1


def test_rows_are_drawn_from_all_of_a_long_file(classifier):
    """Early batches have as many as late ones, within a factor of two."""
    X, y = overlapping(200)
    stamped = [np.column_stack([X[:, :4], np.full(200, float(i))]) for i in range(120)]
    rows = collect(classifier, [(part, y) for part in stamped]).rows
    early, late = np.bincount((rows[:, 4] >= 60).astype(int), minlength=2)
    assert len(rows) == 800
    assert 0.5 < early / late < 2


def test_a_file_of_the_same_name_is_pointed_out(classifier):
    """The rows differ, but a reader should ask."""
    page = build_report(
        classifier, *overlapping(seed=1), about=About(data="a.csv", learnt_from="a.csv")
    )
    assert 'id="same-name"' in page


def test_batches_are_as_good_as_all_rows_at_once(classifier):
    """Labels and projections are kept of all rows, rows themselves of a few."""
    X, y = overlapping(3000, seed=3)
    whole = collect(classifier, [(X, y)])
    parts = collect(classifier, ((X[i : i + 70], y[i : i + 70]) for i in range(0, 3000, 70)))
    np.testing.assert_array_equal(whole.labels, parts.labels)
    np.testing.assert_allclose(whole.values, parts.values, rtol=1e-9)
    ours, theirs = whole.evaluation, parts.evaluation
    np.testing.assert_array_equal(ours.confusion, theirs.confusion)
    np.testing.assert_array_equal(ours.sketch.keys, theirs.sketch.keys)
    assert ours.auc == theirs.auc
    brier = [dict(one.probabilities[one.priors])["brier"].value for one in (ours, theirs)]
    assert brier[0] == pytest.approx(brier[1], rel=1e-9)
    assert [row.number for row in whole.telling] == [row.number for row in parts.telling]
    for evidence in (whole, parts):
        assert len(evidence.row_labels) == evidence.rows.shape[0] <= 800
        assert (evidence.row_labels == 1).sum() == min(375, 400)


def test_of_many_rows_the_most_suspicious_are_there_one_by_one(classifier):
    """Counts of them are exact; quantiles stand for the others, and the sum is that of all rows."""
    settings = ReportSettings(page_rows=1000, sure_rows=300, quantiles=200)
    evidence = collect(classifier, [overlapping(4000, seed=4)])
    common, rare = points_of(reported(classifier), evidence, settings)
    assert (len(common.values), common.exact) == (500, 300)
    assert (len(rare.values), rare.exact) == (500, 500)
    ratio = classifier.machine_.curves[0].log_ratio
    own = ratio(evidence.values[evidence.labels == 0, 0])
    weights = np.repeat(common.weights, [300, 200])
    assert weights.sum() == pytest.approx(3500)
    shown = ratio(common.values)
    np.testing.assert_allclose(np.sort(shown[:300]), np.sort(own)[-300:])
    for t in np.linspace(own.min(), own.max(), 30):
        counted, true = weights[shown > t].sum(), (own > t).sum()
        assert counted == pytest.approx(true, abs=1e-6 if true <= 300 else 1.5 * 3200 / 200)
    assert ReportSettings().page_rows == 20_000


def test_very_many_rows_are_sampled_and_counts_stay_exact(classifier):
    """A rare class is kept whole; the sample does not depend on the batches."""
    X, y = overlapping(4000, seed=5)
    whole = collect(classifier, [(X, y)], kept_rows=1200)
    batches = ((X[i : i + 170], y[i : i + 170]) for i in range(0, 4000, 170))
    parts = collect(classifier, batches, kept_rows=1200)
    assert whole.sampled
    assert np.bincount(whole.labels).tolist() == [600, 500]
    assert whole.counts.tolist() == [3500, 500]
    np.testing.assert_array_equal(
        whole.evaluation.confusion,
        confusion_matrix(y, classifier.predict(X), labels=classifier.classes_),
    )
    np.testing.assert_allclose(np.sort(whole.values, 0), np.sort(parts.values, 0), rtol=1e-9)
    assert whole.weights.sum() == pytest.approx(4000)
    kept, mean = whole.values[whole.labels == 0, 0], classifier.project(X[y == "common"]).mean()
    assert abs(kept.mean() - mean) < 4 * kept.std() / np.sqrt(600)
    some = np.bincount(whole.labels[whole.proportional()])
    assert some[1] / some[0] == pytest.approx(1 / 7, abs=0.01)
    page = report_with(classifier, X, y, kept_rows=1200)
    assert "a random sample of 1,100 of them" in page
    assert "fitted on these very rows" not in page
    again = EEMClassifier(20, random_state=0).fit(X, y)
    assert "fitted on these very rows" in report_with(again, X, y, kept_rows=1200)


def test_memory_does_not_grow_with_the_rows(tmp_path):
    """Ten times the rows take less memory in addition than their values alone would."""
    code = (
        "import sys, resource, numpy as np\n"
        "from extreme_entropy import EEMClassifier\n"
        "from extreme_entropy.report import About\n"
        "from extreme_entropy.report.build import report_on_batches\n"
        "from extreme_entropy.report.classifiers import reported\n"
        "from extreme_entropy.report.report_settings import ReportSettings\n"
        "settings = ReportSettings(kept_rows=20_000)\n"
        "def batch(seed):\n"
        "    rng = np.random.default_rng(seed)\n"
        "    y = rng.integers(0, 6, 10_000)\n"
        "    return rng.normal(size=(10_000, 4)) + y[:, None], y\n"
        "c = EEMClassifier(20, random_state=0).fit(*batch(0))\n"
        "report_on_batches(reported(c), map(batch, range(int(sys.argv[1]))), About, settings)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)\n"
    )
    peaks = []
    for n in (6, 60):
        command = [sys.executable, "-c", code, str(n)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 540_000 * 15 * 8 / 2**20 / 2


@pytest.mark.parametrize("make", [sp.csr_matrix, pd.DataFrame, np.float32])
def test_rows_may_come_as_the_classifier_takes_them(make):
    X, y = overlapping()
    classifier = EEMClassifier(20, random_state=0).fit(make(X[:200]), y[:200])
    assert "In short" in build_report(classifier, make(X[200:]), y[200:])


def test_a_pipeline_is_judged_as_a_whole():
    """Its earlier steps see the rows first."""
    X, y = overlapping()
    pipeline = make_pipeline(StandardScaler(), EEMClassifier(20, random_state=0)).fit(
        X[:200], y[:200]
    )
    ours = build_report(pipeline, X[200:], y[200:])
    names = About(columns=[f"x{j}" for j in range(5)])  # those that the first step gives
    given = (pipeline[-1], pipeline[0].transform(X[200:]), y[200:])
    assert ours == build_report(*given, about=names)


def test_what_cannot_be_reported_is_refused_in_words(classifier):
    X, y = overlapping()
    with pytest.raises(InputError, match="all 50 rows are 'rare'"):
        build_report(classifier, X[y == "rare"], y[y == "rare"])
    with pytest.raises(InputError, match="there are none"):
        collect(classifier, [])
    with pytest.raises(InputError, match="among the classes"):
        build_report(classifier, X, np.where(y == "rare", "odd", y))
    with pytest.raises(InputError, match="LinearSVC has none"):
        build_report(LinearSVC().fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        build_report(EEMClassifier(), X, y)


# ------------------------------------------------------------------------ kinds of classifiers


def test_a_classifier_that_cannot_tell_is_reported_as_such():
    """No threshold, and every part of the page is still there."""
    X, y = np.ones((40, 3)), np.repeat(["a", "b"], 20)
    with pytest.warns(DegenerateWarning):
        classifier = EEMClassifier(5, random_state=0).fit(X, y)
    page = build_report(classifier, X, y)
    assert "The decision never changes" in page
    assert [text_at(page, f"cell{c}{d}") for c in (0, 1) for d in (0, 1)] == ["20", "0", "20", "0"]


def test_three_classes_have_a_matrix_and_a_projection_for_each_pair():
    """And no slider."""
    X, y = load_iris(return_X_y=True)
    classifier = EEMClassifier(40, random_state=0).fit(X[::2], y[::2])
    page = build_report(classifier, X[1::2], y[1::2])
    assert page.count("data-pair=") == 3
    assert 'id="ratio"' not in page
    cells = [int(n or 0) for n in re.findall(r'<td class="n (?:right|wrong) s\d">(\d*)</td>', page)]
    assert cells == confusion_matrix(y[1::2], classifier.predict(X[1::2])).ravel().tolist()
    few = y[1::2] != 2
    page = build_report(classifier, X[1::2][few], y[1::2][few])
    assert page.count("data-pair=") == 1


def test_a_class_without_rows_is_named_where_scores_need_it():
    """GMean is not that of the classes that happen to be there."""
    rng = np.random.default_rng(0)
    y = np.repeat(list("abc"), 60)
    X = rng.normal(size=(180, 3)) + 2 * np.eye(3)[np.repeat(range(3), 60)]
    classifier = EEMClassifier(30, random_state=0).fit(X[::2], y[::2])
    words = " ".join(Parsed(build_report(classifier, X[1:120:2], y[1:120:2])).text)
    assert "AUC are not defined, since there are no rows of c ." in " ".join(words.split())
    assert "recalls of all classes: 1 is no mistake" not in words
    assert "not defined" not in build_report(classifier, X[1::2], y[1::2])


def test_a_path_is_drawn_where_one_was_followed():
    """From the classifier that followed it, or as given."""
    X, y = overlapping()
    chooser = EEMClassifierCV(n_hidden=(10, 20, 30), cv=3, random_state=0).fit(X, y)
    steps = compared_sizes(chooser)
    assert [step["size"] for step in steps] == [10, 20, 30]
    np.testing.assert_allclose(
        [step["gmean"] for step in steps], chooser.path_.scores.mean(axis=2)[0]
    )
    for page in (
        build_report(chooser, *overlapping(seed=1)),
        build_report(chooser.best_estimator_, *overlapping(seed=1), about=About(path=steps)),
    ):
        assert 'id="path"' in page
    assert 'id="path"' not in build_report(chooser.best_estimator_, *overlapping(seed=1))
    one = About(path=steps[:1])
    assert 'id="path"' not in build_report(chooser.best_estimator_, X, y, about=one)


def test_costs_the_classifier_has_are_where_the_page_begins():
    """Given as numbers, not as what a logarithm gives back."""
    X, y = overlapping()
    classifier = EEMClassifier(20, random_state=0, costs={"rare": 7.3}).fit(X, y)
    assert data_of(build_report(classifier, *overlapping(seed=1)))["costs"] == [1.0, 7.3]


def test_the_script_gets_the_classifier_as_it_is(classifier, page):
    """Gaussians, priors and every projection, to the last bit."""
    X, y = overlapping(seed=1)
    data = data_of(page)
    assert data["pair"]["means"] == classifier.means_.tolist()
    assert data["pair"]["variances"] == classifier.variances_.tolist()
    assert data["logPriors"]["model"] == classifier.machine_.log_priors.tolist()
    for c, name in enumerate(classifier.classes_):
        points = np.frombuffer(base64.b64decode(data["points"][c]), "<f8")
        own = np.sort(classifier.project(X[y == name]))
        np.testing.assert_allclose(np.sort(points), own, rtol=1e-9)


# ------------------------------------------------------------------------ the page as such


def test_the_same_input_gives_the_same_bytes(classifier, page):
    assert page == build_report(classifier, *overlapping(seed=1))


def test_the_policy_allows_this_script_and_style_only(page):
    """By their hashes; nothing is fetched, and no style or handler stands in an attribute."""
    parsed = Parsed(page)
    policy = next(a["content"] for t, a in parsed.elements if t == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    for tag, attributes in parsed.elements:
        assert "style" not in attributes, tag
        assert not any(name.startswith("on") for name in attributes), tag
        for name in ("src", "href", "action"):
            assert attributes.get(name, "#").startswith(("#", "data:")), (tag, attributes)


def test_ids_are_unique_and_every_reference_leads_somewhere(page):
    """Also from one picture to another's clip paths."""
    parsed = Parsed(page)
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in parsed.elements:
        for name in ("href", "clip-path", "for", "aria-labelledby", "aria-describedby"):
            for target in re.findall(r"#([\w.-]+)", attributes.get(name, "")) or (
                attributes.get(name, "").split() if name[0] in "fa" else []
            ):
                assert target in ids


def test_users_settings_of_matplotlib_change_nothing_and_are_kept(classifier, page):
    import matplotlib as mpl

    odd = {"font.size": 30, "xtick.labelsize": 30, "lines.linewidth": 9, "svg.fonttype": "path"}
    with mpl.rc_context(odd):
        assert build_report(classifier, *overlapping(seed=1)) == page
        assert mpl.rcParams["font.size"] == 30


@pytest.mark.parametrize("names", list(zip(HOSTILE[::2], [*HOSTILE[1::2], "common"], strict=True)))
def test_names_from_the_data_are_shown_not_run(names):
    """As class, column, file, target, title, warning, command and setting."""
    name = names[0]
    X, y = overlapping(names=names)
    classifier = EEMClassifier(10, random_state=0).fit(X[:200, :2], y[:200])
    about = About(
        title=name, data=name, learnt_from=name + "2", target=name, columns=[name, "b"],
        missing={name: 2}, commands=[name], warnings=[name], versions={name: name}, seed=name,
        path=[{"size": h, "gmean": 0.5, "divergence": 1, "setting": name + s}
              for h in (1, 2) for s in "ab"],
    )  # fmt: skip
    page = build_report(classifier, X[200:, :2], y[200:], about=about)
    parsed = Parsed(page)
    kinds = [tag for tag, _ in parsed.elements]
    assert kinds.count("script") == 2
    assert "img" not in kinds
    words = " ".join(parsed.text)
    assert words.count(visible(name)) >= 8
    assert words.count(visible(names[1])) >= 8
    assert data_of(page)["classes"] == [visible(label) for label in classifier.classes_]


def test_a_bare_class_is_named_with_its_column():
    """Yes, true and 1 say nothing alone; other words do."""
    assert class_name(True, "ill") == "ill = true"
    assert class_name(1, "ill") == "ill = 1"
    assert class_name("No", "ill") == "ill = No"
    assert class_name("malignant", "ill") == "malignant"
    assert class_name(1, "") == "1"


def test_unseen_characters_are_spelt_out():
    """Controls, bidi marks and halves of characters; joiners of emoji stay."""
    assert visible("a\nb\u202ec\x00\ud800") == "a\\nb\\u202ec\\u0000\\ud800"
    assert visible("👩‍🚀 é") == "👩‍🚀 é"
    assert visible("x" * 300, 10) == "x" * 10 + "…"
    assert visible("x" * 10, 10) == "x" * 10


def test_json_cannot_leave_its_block():
    """No angle bracket, ampersand or line separator, and the value comes back."""
    value = {"a": "</script><!-- & \u2028\u2029 ' \""}
    text = json_block(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == value
    with pytest.raises(ValueError, match="JSON"):
        json_block(float("nan"))


# ------------------------------------------------------------------------ files and commands


def test_a_report_is_written_whole_or_not_at_all(classifier, tmp_path, monkeypatch):
    """What was there stays, and nothing is left beside it."""
    target = tmp_path / "report.html"
    write_report(target, classifier, *overlapping(seed=1))
    before = target.read_bytes()

    def broken(*_):
        raise OSError("no more room")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(OSError, match="no more room"):
        write_page(target, "half")
    assert target.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_rows_in_memory_are_reported_without_pyarrow(tmp_path):
    """Whose import is blocked here; only tables in files need it."""
    code = (
        "import sys\n"
        "class Blocked:\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'pyarrow': raise ImportError(name)\n"
        "sys.meta_path.insert(0, Blocked)\n"
        "import numpy as np\n"
        "from extreme_entropy import EEMClassifier\n"
        "from extreme_entropy.report import write_report\n"
        "X = np.random.default_rng(0).normal(size=(80, 3)); y = X[:, 0] > 0\n"
        "write_report('page.html', EEMClassifier(5, random_state=0).fit(X, y), X, y)\n"
        "assert 'pyarrow' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    assert (tmp_path / "page.html").read_text().rstrip().endswith("</html>")


def test_without_jinja_the_error_names_the_extra(classifier, monkeypatch):
    """It is imported when a report is built."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "jinja2"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"needs jinja2: pip install 'extreme-entropy\[report\]'"):
        build_report(classifier, *overlapping(seed=1))


@pytest.fixture(scope="module")
def fitted_table(tmp_path_factory):
    """A model fitted on a CSV file by `fit_table`, and another file of such rows."""
    from extreme_entropy.tables.fitting import FitRequest, fit_table
    from extreme_entropy.tables.reading import open_table

    folder = tmp_path_factory.mktemp("tables")
    for name, seed in (("old.csv", 0), ("new.csv", 1)):
        X, y = overlapping(seed=seed)
        frame = pd.DataFrame(X, columns=["<b>age</b>", "b", "c", "d", "e"]).assign(kind=y)
        frame.loc[:6, "b"] = np.nan
        frame.loc[10:11, "kind"] = None
        frame.to_csv(folder / name, index=False)
    model = fit_table(open_table(folder / "old.csv"), FitRequest("kind", model="eem", size=20))
    model.save(folder / "kinds.eem")
    return folder


def test_a_model_of_a_table_is_reported_on_another_table(fitted_table):
    """With what the model knows of itself; missing values and labels are counted."""
    out = fitted_table / "report.html"
    words = [str(fitted_table / name) for name in ("kinds.eem", "new.csv")]
    done = CliRunner().invoke(root, ["report", *words, "-o", str(out)], catch_exceptions=False)
    assert done.exit_code == 0
    assert done.output == f"Written: {out}\n"
    page = out.read_text()
    text = " ".join(" ".join(Parsed(page).text).split())
    assert "Predicting kind: report on 398 rows" in text
    assert "398 rows of new.csv" in text
    assert "after it was fitted on old.csv" in text
    assert "Columns compared with training" in text
    assert re.search(r" b [\d.]+\s% 1.8\s% ", text)  # 7 of 398 rows here
    assert "2 rows have no label" in text
    assert 'id="same-rows"' not in page
    assert "eem report" in text
    CliRunner().invoke(root, ["report", words[0], str(fitted_table / "old.csv"), "-o", str(out)])
    assert 'id="same-rows"' in out.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.eem", "new.csv"], "none.eem"),
        (["new.csv", "new.csv"], "cannot be read as a saved model"),
        (["kinds.eem", "none.csv"], "There is no file"),
        (["kinds.eem", "narrow.csv"], "'<b>age</b>'"),
        (["kinds.eem", "one.csv"], "all 2 rows are 'rare'"),
        (["kinds.eem", "new.csv", "-o", "nowhere/page.html"], "no folder"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_page(fitted_table, monkeypatch, words, message):
    """Exit code 1, no traceback, nothing written."""
    monkeypatch.chdir(fitted_table)
    (fitted_table / "narrow.csv").write_text("b,kind\n1,rare\n2,common\n")
    (fitted_table / "one.csv").write_text("<b>age</b>,b,c,d,e,kind\n" + "1,2,3,4,5,rare\n" * 2)
    before = sorted(file.name for file in fitted_table.iterdir())
    done = CliRunner().invoke(root, ["report", *words, *["-o", "bad.html"] * ("-o" not in words)])
    assert done.exit_code == 1
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert sorted(file.name for file in fitted_table.iterdir()) == before


def test_the_pages_code_runs(tmp_path, monkeypatch):
    """docs/guide/report.md, as a newcomer would paste it."""
    page = Path(__file__).parent.parent / "docs" / "guide" / "report.md"
    monkeypatch.chdir(tmp_path)
    first, second = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    exec(first + second, {})  # noqa: S102 (our own page)
    assert "HistGradientBoostingClassifier" in (tmp_path / "boosting.html").read_text()
    assert "evaluated on 143 rows of <bdi>tumours</bdi>" in (tmp_path / "report.html").read_text()


# ------------------------------------------------------------------------ what it costs


def headline(page):
    """The sentence in short, as text."""
    start = page.index('id="headline">') + len('id="headline">')
    text = re.sub(r"<[^>]+>", "", page[start : page.index("</p>", start)])
    return " ".join(text.replace("\u00a0", " ").split())


def verdict_on(page):
    """The banner, as text."""
    text = re.sub(r"<[^>]+>", "", re.search(r'<p class="verdict.*?</p>', page, re.S)[0])
    return " ".join(text.replace("\u00a0", " ").split())


def points_on(page):
    """The table of thresholds, row by row."""
    table = page[page.index('<table class="outcomes">') :]
    table = table[table.index("<tbody>") : table.index("</tbody>")]
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    return [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in rows]


def very_rare(seed=0, n=6000):
    """A class of 0.8 %."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n * 0.008, "fraud", "honest")
    X = rng.normal(size=(n, 4)) + 1.8 * (y == "fraud")[:, None]
    return X, y


def test_a_model_of_equal_priors_is_compared_with_nothing_at_the_price_it_decides_by():
    """A miss is as dear as there are common rows for a rare one, for it and for doing nothing."""
    X, y = very_rare(1)
    classifier = EEMClassifier(30, priors="balanced", costs=None, random_state=0)
    said = classifier.fit(*very_rare()).predict(X)
    found = ((said == "fraud") & (y == "fraud")).sum()
    alarms = ((said == "fraud") & (y != "fraud")).sum()
    page = build_report(classifier, X, y)
    words = headline(page)
    weight = (y == "honest").sum() / (y == "fraud").sum()
    cost, nothing = (48 - found) * weight + alarms, 48 * weight
    assert (
        f"Of 48 fraud rows the model finds {found} ({percent(found / 48)})".replace("\u00a0", " ")
        in words
    )
    assert f"and misses {48 - found};" in words
    precision = percent(found / (found + alarms)).replace("\u00a0", " ")
    assert f"of the {count(found + alarms)} rows that it flags, {precision} are fraud" in words
    assert f"{count(alarms)} are false alarms" in words
    assert f"counts a miss as {times(weight)} false alarms" in " ".join(page.split())
    assert f"The model pays. Its mistakes cost {amount(cost)}," in verdict_on(page)
    now, cheapest, idle, every = points_on(page)
    assert (now[4], idle[4]) == (amount(cost), amount(nothing))
    assert (every[0], every[2]) == ("48 (100\u00a0%)", count((y == "honest").sum()))
    assert float(cheapest[4].replace(",", "")) <= cost


def test_stated_costs_are_those_of_the_verdict():
    """As they were given, at the frequencies of the rows, whatever the priors."""
    X, y = very_rare(1)
    classifier = EEMClassifier(30, random_state=0, costs={"fraud": 20, "honest": 0.5})
    said = classifier.fit(*very_rare()).predict(X)
    page = build_report(classifier, X, y)
    cost = 20 * (said != y)[y == "fraud"].sum() + 0.5 * (said != y)[y == "honest"].sum()
    assert f"Its mistakes cost {amount(cost)}, " in verdict_on(page)
    assert "less than flagging no row (960)" in verdict_on(page)
    assert "At the costs given, a miss costs as much as 40 false alarms." in page


def test_a_model_that_costs_more_than_doing_nothing_says_so_in_a_banner():
    """A false alarm that costs ten misses, and a model that raises alarms all the same."""
    X, y = very_rare(1)
    eager = EEMClassifier(30, priors="balanced", costs={"fraud": 1, "honest": 10}, random_state=0)
    page = build_report(eager.fit(*very_rare()), X, y)
    assert 'class="verdict loses" id="verdict"' in page
    assert verdict_on(page).startswith("The model does not pay. Its mistakes cost ")
    assert re.search(r"% more than flagging no row \(48\); 95 % interval: ", verdict_on(page))
    assert page.index('id="verdict"') < page.index('id="headline"')


def test_a_verdict_is_as_certain_as_the_rows_allow():
    """The same mistakes in 40 rows and in 4,000; on rows that were learnt there is none."""
    costs = by_class([1, 4])
    kinds = []
    for n in (1, 100):
        outcome = Outcome(n * np.array([[26, 4], [5, 5]]), costs)
        kinds.append(verdict(outcome, outcome.saving_on_constant(1), ["no", "yes"], 1))
    assert [judged.kind for judged in kinds] == ["unclear", "pays"]
    even = Outcome(np.array([[5943, 15], [37, 5]]), by_class([1, 3]))  # 126, as flagging no row
    assert verdict(even, even.saving_on_constant(0), ["no", "yes"], 1).kind == "loses"
    assert kinds[0].reason.startswith(
        "Its mistakes cost 24, 20\u00a0% less than flagging every row (30)"
    )
    assert verdict(outcome, outcome.saving_on_constant(1), ["no", "yes"], 1, 0.5).kind == "learnt"


def test_a_model_that_knows_frequencies_and_costs_has_one_price():
    """No word about other weights."""
    X, y = very_rare(1)
    classifier = EEMClassifier(30, random_state=0, costs=None).fit(*very_rare())
    page = build_report(classifier, X, y)
    assert "No costs were given: a miss counts like a false alarm." in page
    assert "decides as if" not in page


def test_where_no_costs_were_given_those_that_balance_the_classes_are_told():
    """The dearest class by the rows that the others have for each of its own, the cheapest at 1."""
    X, y = very_rare(1)
    classifier = EEMClassifier(30, random_state=0).fit(*very_rare())
    said, weight = classifier.predict(X), 992 / 8
    page = build_report(classifier, X, y)
    cost = weight * (said != y)[y == "fraud"].sum() + (said != y)[y == "honest"].sum()
    assert f"Its mistakes cost {amount(cost)}, " in verdict_on(page)
    assert f"treats both classes alike and counts a miss as {times(weight)} false alarms" in page
    assert data_of(page)["costs"] == [weight, 1]


def test_the_cheapest_point_is_that_of_all_thresholds():
    """By trying every one of them."""
    X, y = very_rare(1)
    classifier = EEMClassifier(30, random_state=0).fit(*very_rare())
    evidence = collect(classifier, [(X, y)])
    ranking = rank(reported(classifier), evidence, evidence.rare)
    score = -classifier.decision_function(X)  # fraud comes first
    for miss, alarm in ((1, 1), (30, 1), (1, 2)):
        tried = [
            miss * (score <= cut)[y == "fraud"].sum() + alarm * (score > cut)[y == "honest"].sum()
            for cut in [*score, np.inf, -np.inf]
        ]
        point = ranking.cheapest(miss, alarm)
        assert point.cost(ranking.total, miss, alarm) == min(tried)
    order = np.argsort(-score, kind="stable")
    for n in (1, 10, 480, 6000):
        assert ranking.found_within(n) == (y == "fraud")[order[:n]].sum()


def test_rows_of_equal_probability_cannot_be_cut_apart():
    """The ranking has one point for all of them, and in between takes them in proportion."""
    X, y = np.ones((40, 3)), np.repeat(["a", "b"], 20)
    with pytest.warns(DegenerateWarning):
        classifier = EEMClassifier(5, random_state=0).fit(X, y)
    ranking = rank(reported(classifier), collect(classifier, [(X, y)]), 1)
    assert ranking.points.flagged.tolist() == [0, 40]
    assert ranking.found_within(10) == 5


def test_numbers_have_one_format():
    assert [count(n) for n in (0, 999, 1234567)] == ["0", "999", "1,234,567"]
    shown = [amount(x) for x in (3, 1234.5, 12.34567, 0.5, 1e-5, float("nan"))]
    assert shown == ["3", "1,235", "12.35", "0.5", "0.00001", "–"]
    assert [times(x) for x in (1043.2, 10, 8.954, 1.2)] == ["1,043", "10", "8.95", "1.2"]


# ------------------------------------------------------------------------ columns and rows


def one_column_matters(seed=0, n=500):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, np.where(X[:, 3] + 0.3 * rng.normal(size=n) > 1, "yes", "no")


@pytest.mark.parametrize(
    "make",
    [
        lambda: EEMClassifier(40, relevance="learned", random_state=0),
        lambda: EEMClassifier(40, relevance="uniform", random_state=0),
        lambda: RandomForestClassifier(30, random_state=0),
        lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    ],
)
def test_the_column_that_matters_is_named(make):
    """By the classifier itself, or by shuffling the cells of each column."""
    classifier = make().fit(*one_column_matters())
    subject = reported(classifier, one_column_matters(1)[1])
    evidence = collect_of(subject, [one_column_matters(1)])
    found = important_columns(subject, evidence, ReportSettings())
    assert found.shares.argmax() == 3
    assert found.shares.max() > 0.5 or not found.shuffled
    assert found.shares.sum() == pytest.approx(1)
    assert found.shuffled == (subject.importances is None)


def test_a_row_is_explained_by_explain_with_its_cells_as_in_the_data():
    """Numbers, text, dates and gaps; towards the class to be found, whichever comes first."""
    rng = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame(
        {
            "amount": np.round(rng.gamma(2, 100, n), 2),
            "shop": rng.choice(["<b>x</b>", "kiosk"], n),
            "day": pd.Timestamp("2024-02-29") + pd.to_timedelta(rng.integers(0, 90, n), unit="D"),
        }
    )
    y = np.where(X["amount"] + 100 * (X["shop"] == "kiosk") > 420, "bad", "good")
    X.loc[5, "amount"] = np.nan
    classifier = EEMClassifier(40, random_state=0).fit(X[::2], y[::2])
    X_new, y_new = X[1::2].reset_index(drop=True), y[1::2]
    subject = reported(classifier)
    evidence = collect_of(subject, [(X_new, y_new)])
    rows = explained_rows(subject, evidence, list(X), evidence.rare, ReportSettings())
    assert {row.row.kind for row in rows} >= {"Sure hit", "Close decision"}
    shares = {c: float((y_new == c).mean()) for c in ("bad", "good")}
    p = classifier.with_costs(priors=shares).predict_proba(X_new)[:, 0]
    contributions = -classifier.explain(X_new)  # "bad" comes first
    for row in rows:
        i = row.row.number - 1
        assert row.towards == 0
        assert row.probability == pytest.approx(p[i], rel=1e-9)
        assert y_new[i] == classifier.classes_[row.row.label]
        for part in row.parts:
            j = list(X).index(part.name)
            assert part.value == pytest.approx(contributions[i, j], rel=1e-6)
            cell = X_new.iloc[i, j]
            assert part.cell == (cell if j == 1 else f"{cell:.7g}" if j == 0 else str(cell.date()))
    page = build_report(classifier, X_new, y_new)
    assert "<b>x</b>" not in page
    hits = np.flatnonzero((y_new == "bad") & (classifier.predict(X_new) == "bad"))
    surest = hits[np.argmin(classifier.decision_function(X_new)[hits])]
    assert rows[0].row.number == surest + 1


def test_rows_of_any_classifier_are_explained_by_typical_values():
    """What is added is what would be lost if the column had its median or commonest cell."""
    X = pd.DataFrame({"a": np.arange(60.0), "b": list("xyz") * 20, "c": [1.0, np.nan] * 30})
    y = (X["a"] + 10 * (X["b"] == "z") > 45).astype(int).to_numpy()
    classifier = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["b"]), remainder="passthrough"),
        HistGradientBoostingClassifier(min_samples_leaf=2, random_state=0),
    ).fit(X, y)
    subject = reported(classifier, y)
    (found,) = subject.contributions(X[50:51], X)
    own = subject.machine_.scores(subject.values(X[50:51]))[0]
    for j, typical in enumerate((29.0, "x", 1.0)):
        other = X[50:51].copy()
        other.iloc[0, j] = typical
        assert found[j] == pytest.approx(own - subject.machine_.scores(subject.values(other))[0])


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        *((1.0, "1"), (np.float32(0.1), "0.1"), (1234567.0, "1234567"), (None, "missing")),
        *((float("nan"), "missing"), (pd.NaT, "missing"), (pd.NA, "missing"), (True, "true")),
        *((np.int64(7), "7"), (pd.Timestamp("2024-01-02"), "2024-01-02"), ("<i>", "<i>")),
        (pd.Timestamp("2024-01-02 03:04"), "2024-01-02 03:04:00"),
        *(("a\nb", "a\\nb"), ("x" * 60, "x" * 48 + "…"), (float("inf"), "inf")),
    ],
)
def test_cells_are_shown_as_in_the_data(cell, text):
    assert cell_text(cell) == text


@pytest.mark.parametrize("form", ["array", "sparse", "pandas", "polars", "arrow"])
def test_rows_of_every_form_can_be_taken_mixed_and_read(form):
    """The cells of one column from other rows; all else as it was."""
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    values = np.arange(12.0).reshape(4, 3)
    names = {f"c{j}": values[:, j] for j in range(3)}
    make = {"array": np.array, "sparse": sp.csr_matrix, "pandas": lambda v: pd.DataFrame(names)}
    make |= {"polars": lambda v: pl.DataFrame(names), "arrow": lambda v: pa.table(names)}
    X = make[form](values)
    some = rows_module.take(X, np.array([3, 1]))
    mixed = rows_module.with_column_of(some, 1, X, np.array([0, 2]))
    both = rows_module.stacked([mixed, some])
    expected = np.array([[9, 1, 11], [3, 7, 5], [9, 10, 11], [3, 4, 5]])
    for i, row in enumerate(expected):
        assert rows_module.cells_of(both, i) == [f"{cell:g}" for cell in row]
    np.testing.assert_array_equal(rows_module.column_as_array(both, 1), expected[:, 1])


# ------------------------------------------------------------------------ any classifier


def test_probabilities_of_any_classifier_are_kept():
    """Classes, probabilities and scores are those of predict_proba, also of several classes."""
    for X, y in (overlapping(), load_iris(return_X_y=True)):
        classifier = LogisticRegression(max_iter=500).fit(X[::2], y[::2])
        subject = reported(classifier, y[1::2])
        values = subject.values(X[1::2])
        p = classifier.predict_proba(X[1::2])
        np.testing.assert_allclose(subject.machine_.probabilities(values), p, rtol=1e-9)
        evidence = collect_of(subject, [(X[1::2], y[1::2])])
        theirs = confusion_matrix(y[1::2], classifier.predict(X[1::2]))
        np.testing.assert_array_equal(evidence.evaluation.confusion, theirs)
        for i, j in combinations(range(len(classifier.classes_)), 2):
            n, contrast = evidence.counts, subject.machine_.contrast(i, j)
            odds = np.log(p[:, j] / p[:, i]) - np.log(n[j] / n[i])
            found = contrast.curve.log_ratio(values @ contrast.weights)
            np.testing.assert_allclose(found, odds, atol=1e-9)


def test_a_class_that_is_never_possible_stays_finite():
    """Probabilities of exactly 0 and 1, as of a tree."""
    X, y = overlapping()
    page = build_report(DecisionTreeClassifier(random_state=0).fit(X, y), *overlapping(seed=1))
    assert "In short" in page
    assert np.isfinite(data_of(page)["frames"]["projection"]["x"]).all()


def test_a_search_and_a_threshold_are_reported_as_what_they_wrap():
    """And where predict does not follow the probabilities, the page says so."""
    X, y = overlapping()
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2).fit(X, y)
    ours = GridSearchCV(EEMClassifier(10, random_state=0), {"n_hidden": [5, 10]}, cv=2).fit(X, y)
    assert "LogisticRegression" in build_report(search, *overlapping(seed=1))
    assert "with_costs" in build_report(ours, *overlapping(seed=1))
    fixed = FixedThresholdClassifier(LogisticRegression(), threshold=0.05).fit(X, y)
    new, labels = overlapping(seed=1)
    differ = (fixed.predict(new) != search.classes_[fixed.predict_proba(new).argmax(1)]).sum()
    assert differ
    words = " ".join(build_report(fixed, new, labels).split())
    assert f"most probable class in {differ} of 400 rows" in words
    assert "most probable class" not in build_report(search, new, labels)


def test_what_predict_proba_gives_is_checked():
    class Odd(LogisticRegression):
        def predict_proba(self, X):
            return super().predict_proba(X) * np.nan

    X, y = overlapping()
    with pytest.raises(InputError, match=r"finite numbers of shape \(400, 2\).*with NaN"):
        build_report(Odd().fit(X, y), X, y)


@pytest.mark.parametrize("form", ["sparse", "pandas", "list"])
def test_any_classifier_takes_rows_in_its_own_form(form):
    X, y = overlapping()
    make = {"sparse": sp.csr_matrix, "pandas": pd.DataFrame, "list": lambda X: X.tolist()}[form]
    classifier = RandomForestClassifier(10, random_state=0).fit(make(X[:200]), y[:200])
    page = build_report(classifier, make(X[200:]), y[200:])
    assert page.count('class="parts"') >= 4


# ------------------------------------------------------------------------ many classes


def test_the_worst_confusions_are_told_and_shaded():
    """By rows; a matrix of very many classes shows those with the most mistakes."""
    rng = np.random.default_rng(0)
    confusion = np.diag(rng.integers(50, 90, 40)) + rng.integers(0, 2, (40, 40))
    confusion[3, 7], confusion[20, 1] = 25, 12
    first, second, _ = worst_confusions(confusion)
    assert (first.true, first.predicted, first.rows) == (3, 7, 25)
    assert first.share == 25 / confusion[3].sum()
    assert (second.true, second.predicted) == (20, 1)
    assert worst_confusions(np.diag([3, 4, 5])) == []
    shown = shown_matrix(confusion, most_classes=30, shades=9)
    assert len(shown.classes) == 30
    assert shown.left_out == 10
    assert {1, 3, 7, 20} <= set(shown.classes)
    shades, cells = np.array(shown.shades), np.array(shown.cells)
    assert ((shades > 0) == (cells > 0)).all()
    assert shades.max() <= 9
    assert shades[shown.classes.index(3), shown.classes.index(7)] > 3


@pytest.fixture(scope="module")
def fifty():
    """A classifier of fifty classes, of which it takes many rows right, and other rows."""
    rng = np.random.default_rng(0)
    names, y = np.array([f"class {i:02}" for i in range(50)]), np.repeat(np.arange(50), 40)
    X = (3 * rng.normal(size=(50, 8)))[y] + rng.normal(size=(2000, 8))
    classifier = ExtremeEntropyClassifier(random_state=0, costs={"class 07": 4.5})
    return classifier.fit(X[::2], names[y[::2]]), X[1::2], names[y[1::2]]


SECTION = re.compile(r'<h2 id="([a-z]+)">')


def test_a_report_on_fifty_classes_stays_readable(fifty):
    """Nothing grows with the pairs of classes; what is listed by class stands side by side."""
    classifier, X, y = fifty
    page = build_report(classifier, X, y)
    headings = ["short", "taken", "pairs", "rows", "warned", "again"]
    assert SECTION.findall(page) == headings
    settings = ReportSettings()
    sections = dict(zip(headings, re.split(SECTION, page)[2::2], strict=True))
    matrix, _ = sections["taken"].split("<h3>Costs</h3>")
    assert len(re.findall(r'class="n (?:right|wrong)', matrix)) == settings.matrix_classes**2
    assert 'class="matrix many dense"' in matrix
    assert page.count("data-pair=") == page.count("<option") == settings.pairs
    assert "28 pairs that are confused most often are shown; 1,197 others" in sections["pairs"]
    assert page.count("<td") < settings.matrix_classes * (settings.matrix_classes + 2) + 10 * 50
    tables = sections["rows"].split("<table>")[1:]
    assert [table.count("<tr>") - 1 for table in tables] == [10] * 5
    assert 'class="n">cost of a miss' in sections["rows"]
    told = re.findall(r"No mistake was made in .*? limit\.", " ".join(Parsed(page).text), re.S)[0]
    assert told.count("class ") == settings.told_classes
    truth = confusion_matrix(y, classifier.predict(X))
    flawless = int((np.diag(truth) == truth.sum(axis=1)).sum())
    assert f"and {flawless - settings.told_classes} other classes" in told


def test_classes_that_the_matrix_leaves_out_have_their_recall_in_the_data(fifty):
    """And their precision; fewer classes have them in the matrix alone."""
    classifier, X, y = fifty
    predicted = classifier.predict(X)
    rows = re.findall(
        r'<tr><th scope="row">(?:(?!<tr>).)*</tr>', build_report(classifier, X, y), re.S
    )
    shown = [re.findall(r'class="n">([^<]*)<', row)[-2:] for row in rows if row.count("<td") == 6]
    recalls = recall_score(y, predicted, average=None)
    precisions = precision_score(y, predicted, average=None)
    expected = [[percent(r), percent(p)] for r, p in zip(recalls, precisions, strict=True)]
    assert shown == expected
    few = report_with(classifier, X, y, matrix_classes=50)
    assert few.count('<th scope="col" class="n">recall') == 0


def test_many_classes_without_rows_are_counted(fifty):
    classifier, X, y = fifty
    some = y < "class 30"
    words = " ".join(" ".join(Parsed(build_report(classifier, X[some], y[some])).text).split())
    assert "class 30 , class 31 , class 32 , class 33 and 16 other classes" in words


def test_colours_do_not_repeat_and_costs_are_told():
    """Six classes have one each; more have none. Costs are listed as given."""
    rng = np.random.default_rng(0)
    for k in (6, 7):
        y = np.repeat([f"k{i}" for i in range(k)], 30)
        X = rng.normal(size=(30 * k, 4)) + 3 * rng.normal(size=(k, 4))[np.repeat(range(k), 30)]
        classifier = EEMClassifier(20, random_state=0, costs={"k2": 4.5}).fit(X, y)
        page = build_report(classifier, X, y)
        hues = set(re.findall(r'<bdi class="name hue(\d+)"', page))
        assert hues == (set("012345") if k == 6 else set())
        text = " ".join(" ".join(Parsed(page).text).split())
        rows = re.search(r"k2 30 [\d.]+\s% 30 (\S+) ", text)
        assert rows[1] == "4.5"
        assert "correctly" in headline(page)


def test_costs_that_depend_on_the_prediction_are_a_matrix():
    """And the sentence in short counts with them, beside the best constant."""
    X, y = load_iris(return_X_y=True)
    costs = {2: {0: 9.5, 1: 3}}
    classifier = EEMClassifier(20, random_state=0, costs=costs).fit(X[::2, :2], y[::2])
    page = build_report(classifier, X[1::2, :2], y[1::2])
    table = page[page.index('id="cost-matrix"') :]
    cells = re.findall(r'<td class="n">([\d.]*)</td>', table[: table.index("</table>")])
    assert cells == ["", "1", "1", "1", "", "1", "9.5", "3", ""]
    matrix = confusion_matrix(y[1::2], classifier.predict(X[1::2, :2]))
    cost = matrix @ np.array([[0, 1, 1], [1, 0, 1], [9.5, 3, 0]]).T
    assert f"Its mistakes cost {amount(np.trace(cost))}, " in verdict_on(page)
    assert "than always predicting 2 (50)" in verdict_on(page)
    assert 'id="cost-matrix"' not in build_report(classifier.with_costs(), X[1::2, :2], y[1::2])


def test_a_classifier_without_sums_has_a_report_too():
    """It cannot know its rows again; all else is the same."""
    X, y = overlapping()
    classifier = EEMClassifier(20, random_state=0).fit(X, y)
    page, slim = build_report(classifier, X, y), build_report(classifier.slim(), X, y)
    assert headline(page) == headline(slim)
    assert 'id="same-rows"' in page
    assert 'id="same-rows"' not in slim


def test_a_map_is_drawn_only_where_it_says_something():
    """Two columns, or classes that lie apart in the plane; not a cloud without order."""
    X, y = make_moons(300, noise=0.4, random_state=0)
    assert 'id="plane"' in build_report(EEMClassifier(20, random_state=0).fit(X, y), X, y)
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 150)
    apart = rng.normal(size=(300, 6)) + 2 * (y == "b")[:, None]
    within = rng.normal(size=(300, 20)) + np.eye(20)[0] * (3 * (y == "b"))[:, None]
    for X, drawn in ((apart, True), (within, False)):
        page = build_report(EEMClassifier(20, random_state=0).fit(X[::2], y[::2]), X, y)
        assert ('id="plane"' in page) == drawn


# ------------------------------------------------------------------------ tables


def test_a_table_with_text_and_dates_shows_its_own_cells(tmp_path):
    """Not the numbers that they become; what was left out by --drop is no warning."""
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame(
        {
            "amount": np.round(rng.gamma(2, 100, n), 2),
            "shop": rng.choice(["corner <shop>", "market hall"], n),
            "day": (pd.Timestamp("2024-02-01") + pd.to_timedelta(np.arange(n) % 60, "D")).date,
            "note": rng.choice(["a", "b"], n),
        }
    )
    late = frame["amount"] + 150 * (frame["shop"] == "market hall") > 450
    frame["late"] = np.where(late, "yes", "no")
    frame[::2].to_csv(tmp_path / "old.csv", index=False)
    new = frame[1::2].reset_index(drop=True)
    new.to_csv(tmp_path / "new.csv", index=False)
    model, page = str(tmp_path / "m.eem"), tmp_path / "page.html"
    words = ["--target", "late", "--drop", "note", "--model", "eem", "--size", "30", "-o", model]
    for command in (
        ["fit", str(tmp_path / "old.csv"), *words],
        ["report", model, str(tmp_path / "new.csv"), "-o", str(page)],
    ):
        assert CliRunner().invoke(root, command, catch_exceptions=False).exit_code == 0
    html = page.read_text()
    text = " ".join(" ".join(Parsed(html).text).split())
    assert "Predicting late: report on 300 rows" in text
    assert "note was left out" not in text
    shown = re.findall(r"Row ([\d,]+) is.*?<tbody>(.*?)</tbody>", html, re.DOTALL)
    assert len(shown) >= 4
    names = set()
    for number, table in shown:
        row = new.iloc[int(number.replace(",", "")) - 1]
        for name, cell in re.findall(r'title="(\w+)".*?<td><bdi>(.*?)</bdi>', table):
            own = row[name]
            expected = f"{own:.7g}" if name == "amount" else str(own)
            assert cell == expected.replace("<", "&lt;").replace(">", "&gt;")
            names.add(name)
    assert {"amount", "shop"} <= names
    assert "corner <shop>" not in html


def test_a_baseline_stands_beside_the_estimate():
    classifier = EEMClassifier(20, random_state=0).fit(*overlapping())
    about = About(
        estimate=SimpleNamespace(gmean=0.861, low=0.84, high=0.88),
        baseline=SimpleNamespace(name="gradient boosting", gmean=0.9, low=0.88, high=0.92),
    )
    page = build_report(classifier, *overlapping(seed=1), about=about)
    words = " ".join(" ".join(Parsed(page).text).split())
    assert "This model 0.861 (0.840 to 0.880); gradient boosting 0.900 (0.880 to 0.920)" in words
    assert "not with the numbers above, which are of other rows" in words
    assert 'id="baseline"' not in build_report(classifier, *overlapping(seed=1))


def test_columns_that_the_user_dropped_are_no_warning():
    dropped = {"name": "left out by --drop", "id": "all values differ"}
    assert left_out(dropped) == ["Column id was left out: all values differ"]


def test_dates_beyond_those_of_python_are_shown_as_they_are_counted():
    """A damaged file may hold them; the page is made all the same."""
    pa = pytest.importorskip("pyarrow")
    far = pa.table({"when": pa.array([2**62, 0], pa.timestamp("us")), "x": [1.5, None]})
    assert rows_module.cells_of(far, 0) == [f"{2**62} (timestamp[us])", "1.5"]
    assert rows_module.cells_of(far, 1) == ["1970-01-01", "missing"]


def test_the_class_to_be_found_is_that_of_the_training_rows(rng):
    """Rows to evaluate may be chosen so that it is frequent there."""
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] > 1, "ill", "well")
    classifier = EEMClassifier(10, random_state=0).fit(X, y)
    rows = np.concatenate([np.flatnonzero(y == "ill"), np.flatnonzero(y == "well")[:20]])
    evidence = collect_of(reported(classifier), [(X[rows], y[rows])])
    assert evidence.counts[0] > evidence.counts[1]
    assert classifier.classes_[evidence.rare] == "ill"


# ------------------------------------------------------------------------ what may be added


def test_a_metric_is_one_entry_in_a_list(classifier):
    """The page shows it, the command prints it and `--json` writes it."""
    X, y = overlapping(seed=1)

    def accuracy(evaluation):
        share = float(np.trace(evaluation.confusion)) / evaluation.rows
        return ScoreInterval(share, share, share)

    toy = Metric("accuracy", "Accuracy", lambda n: "Rows predicted correctly.", accuracy)
    page = report_with(classifier, X, y, metrics=(*METRICS, toy))
    expected = f"{(classifier.predict(X) == y).mean():.3f}"
    assert re.search(rf"Accuracy</h3>\s*<p class=\"big\">{expected}", page)
    assert "Rows predicted correctly." in page
    scores = evaluate(reported(classifier), [(X, y)]).scores((*METRICS, toy))
    assert f"Accuracy            {expected}" in "\n".join(score_lines(scores))
    assert [metric.key for metric, _ in scores][-1] == "accuracy"


def test_a_section_is_one_entry_in_a_list(classifier):
    """A function that returns its content, or None, and a template that reads it."""
    X, y = overlapping(seed=1)
    evidence = collect(classifier, [(X, y)])
    subject = subject_of(reported(classifier), evidence, About(), ReportSettings())
    one, none = (
        Section("curves.html", content) for content in (SECTIONS[6].content, lambda _: None)
    )
    page = render(subject, [one, none])
    assert "Trade-offs and calibration" in page
    assert "In short" not in page
    assert list(data_of(page)["frames"]) == ["roc", "precision_recall", "reliability"]
    assert isinstance(one.content(subject), SectionContent)
