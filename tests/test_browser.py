"""The report in a real browser: it runs alone, and its numbers are those of `with_costs`.

Needs a Chromium and Playwright's Python package: on Debian `apt-get install chromium` and
`pip install playwright`; the variable CHROMIUM may name another binary. With
EXTREME_ENTROPY_BROWSER=required nothing here is skipped: a missing browser is an error. Pages are
also held against axe-core's rules of accessibility, which `make test` installs by npm;
EXTREME_ENTROPY_AXE may name another copy of axe.min.js.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from extreme_entropy import EEMClassifier, ExtremeEntropyClassifier, gmean_score
from extreme_entropy.errors import DegenerateWarning
from extreme_entropy.machine.decision import GaussianPair
from extreme_entropy.plots import OperatingDisplay, RegionsDisplay
from extreme_entropy.report import About, numbers
from extreme_entropy.report.build import report_on_batches
from extreme_entropy.report.classifiers import reported
from extreme_entropy.report.harmless_text import visible
from extreme_entropy.report.report_settings import ReportSettings

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]
HOSTILE = [
    "<script>window.ran = 1</script>",
    '"><img src=x onerror="window.ran = 1">',
    "</script><script>window.ran = 1</script>",
    "a\nb\u202e\u2028$\\frac{" + "W" * 170,
]


BROWSER = "apt-get install chromium && pip install playwright, or set CHROMIUM"


def unavailable(why, cure=BROWSER):
    """Skip with a reason, or fail where a browser is required."""
    reason = f"{why}: {cure}"
    if os.environ.get("EXTREME_ENTROPY_BROWSER") == "required":
        pytest.fail(f"EXTREME_ENTROPY_BROWSER=required, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser():
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None or not os.path.exists(path):
        unavailable("no Chromium was found")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        unavailable("Playwright is not installed")
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """`open_page(html, …)` opens a report from disk; afterwards it must have been quiet."""
    contexts, noise = [], []

    def opened(html, name="report.html", *, width=1280, quiet=True, **options):
        file = tmp_path / name
        file.write_text(html, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        if quiet:
            page.on("console", lambda message: noise.append(message.text))
            page.on("dialog", lambda dialog: noise.append(dialog.message))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on(
            "request", lambda request: noise.extend([request.url] * (request.url != file.as_uri()))
        )
        page.goto(file.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    # Neither errors nor requests beyond the file itself.
    assert noise == []


def overlapping(n=400, seed=0, names=("common", "rare"), columns=5):
    rng = np.random.default_rng(seed)
    y = np.repeat(names, [n - n // 8, n // 8])
    X = (
        rng.normal(size=(n, columns)) * (1 + (y == names[1])[:, None])
        + 1.2 * (y == names[1])[:, None]
    )
    return X, y


def first_is_rare(seed=0):
    X, y = overlapping(seed=seed, names=("zebra", "ant"))
    return X, y


CASES = {"rare second": overlapping, "rare first": first_is_rare}
both_orders = pytest.mark.parametrize("case", CASES)


@cache
def fitted(case):
    """A classifier, and rows it has not learnt."""
    classifier = EEMClassifier(40, random_state=0).fit(*CASES[case]())
    return classifier, *CASES[case](seed=1)


def build_report(estimator, X, y, *, about=None, **settings):
    """A page with its map, although the columns' principal plane may say little."""
    sizes = ReportSettings(separation=-1.0, **settings)
    subject = reported(estimator, y)
    return report_on_batches(subject, [(X, y)], lambda: about or About(), sizes)


@cache
def report(case):
    return build_report(*fitted(case))


def numbers_on(page):
    """What the page says at this moment, unrounded."""
    return page.evaluate(
        """() => {
          const value = (id) => document.getElementById(id).dataset.value;
          const cells = [0, 1].map((c) => [0, 1].map((d) => Number(value(`cell${c}${d}`))));
          const costs = [0, 1].map((c) => Number(document.getElementById(`cost${c}`).value));
          const shares = (kind) => [0, 1].map((c) => Number(value(kind + c)));
          const thresholds = value("thresholds").split(" ").filter(Boolean).map(Number);
          return { costs, cells, thresholds,
            gmean: Number(value("live-gmean")), balanced: Number(value("live-balanced")),
            cost: Number(value("cost")), perRow: Number(value("cost-per-row")),
            recalls: shares("recall"), precisions: shares("precision") };
        }"""
    )


def check_against(classifier, X, y, seen, **priors):
    """Every number on the page is that of the classifier under the costs the page shows."""
    costs = dict(zip(classifier.classes_.tolist(), seen["costs"], strict=True))
    other = classifier.with_costs(costs, **priors)
    np.testing.assert_allclose(seen["thresholds"], other.thresholds_, rtol=1e-9)
    said = other.predict(X)
    matrix = confusion_matrix(y, said, labels=classifier.classes_)
    assert seen["cells"] == matrix.tolist()
    np.testing.assert_allclose(seen["recalls"], np.diag(matrix) / matrix.sum(axis=1))
    if matrix.sum(axis=0).all():
        np.testing.assert_allclose(seen["precisions"], np.diag(matrix) / matrix.sum(axis=0))
    assert seen["gmean"] == pytest.approx(gmean_score(y, said), rel=1e-12)
    assert seen["balanced"] == pytest.approx(np.mean(seen["recalls"]), rel=1e-12)
    cost = sum(costs[label] for label in y[said != y])
    assert seen["cost"] == pytest.approx(cost, rel=1e-9)
    assert seen["perRow"] == pytest.approx(cost / len(y), rel=1e-9)
    return other


# ------------------------------------------------------------------------ the slider


@both_orders
def test_the_keyboard_moves_the_slider_and_all_numbers_follow(open_page, case):
    """They are those of `with_costs`: thresholds to 1e-9, the matrix exactly."""
    classifier, X, y = fitted(case)
    page = open_page(report(case))
    before = numbers_on(page)
    check_against(classifier, X, y, before)
    rare = classifier.classes_.tolist().index(min(set(y), key=list(y).count))
    start = before["costs"][rare]  # as many as there are common rows for each rare one
    assert start == 7
    for key, times, cost in (
        ("ArrowRight", 16, start * 10**0.8),
        ("ArrowLeft", 10, start * 10**-0.5),
        ("End", 1, 1000),
        ("Home", 1, 0.01),
    ):
        page.focus("#ratio")
        for _ in range(times):
            page.keyboard.press(key)
        seen = numbers_on(page)
        assert seen["thresholds"] != before["thresholds"]
        check_against(classifier, X, y, seen)
        assert seen["costs"][rare] == pytest.approx(cost, rel=0.07)  # the slider has steps
        page.click("#reset")
        assert numbers_on(page) == before


def test_the_mouse_moves_the_slider_too(open_page):
    classifier, X, y = fitted("rare second")
    page = open_page(report("rare second"))
    slider = page.locator("#ratio")
    box = slider.bounding_box()
    slider.click(position={"x": 0.6 * box["width"], "y": box["height"] / 2})
    seen = numbers_on(page)
    assert 5 < seen["costs"][1] < 20
    check_against(classifier, X, y, seen)


def test_costs_can_be_typed_and_bad_ones_are_refused(open_page):
    """The last good cost stays in use, and the slider follows."""
    plain, X, y = fitted("rare second")
    classifier = plain.with_costs({"rare": 3.7, "common": 2})
    page = open_page(build_report(classifier, X, y))
    assert numbers_on(page)["costs"] == [2, 3.7]
    page.fill("#cost1", "12345.6")
    seen = numbers_on(page)
    check_against(classifier, X, y, seen)
    assert float(page.input_value("#ratio")) == 3
    for bad in ("0", "-3", ""):
        page.fill("#cost1", bad)
        assert page.get_attribute("#cost1", "aria-invalid") == "true"
        assert page.is_visible("#refused")
        assert numbers_on(page)["thresholds"] == seen["thresholds"]
    page.fill("#cost1", "0.5")
    assert not page.is_visible("#refused")
    check_against(classifier, X, y, numbers_on(page))
    page.click("#reset")
    assert numbers_on(page)["costs"] == [2, 3.7]
    check_against(classifier, X, y, numbers_on(page))


@both_orders
def test_the_classes_may_be_as_frequent_as_in_the_rows(open_page, case):
    """Then the numbers are those of `with_costs` under these priors."""
    plain, X, y = fitted(case)
    classifier = plain.with_costs(priors="balanced")
    page = open_page(build_report(classifier, X, y))
    assert not page.is_visible("#at-rows")
    page.get_by_label("class frequencies as in these rows").check()
    assert page.is_visible("#at-rows")
    page.fill("#cost0", "5")
    shares = {label: float((y == label).mean()) for label in classifier.classes_.tolist()}
    check_against(classifier, X, y, numbers_on(page), priors=shares)


@both_orders
def test_pictures_move_with_the_costs(open_page, case):
    """Lines, points, regions and rings are where Python draws them for such costs."""
    classifier, X, y = fitted(case)
    page = open_page(report(case))
    page.fill("#cost0", "4")
    other = check_against(classifier, X, y, numbers_on(page))
    marks = page.evaluate(
        """() => {
          const data = JSON.parse(document.getElementById("data").textContent);
          const back = ([v0, v1, p0, p1], p) => v0 + (p - p0) / (p1 - p0) * (v1 - v0);
          const at = (where, element, x, y) => [
            back(data.frames[where].x, Number(element.getAttribute(x))),
            back(data.frames[where].y, Number(element.getAttribute(y)))];
          const one = (where, kind) => document.querySelector(`#${where} .live-${kind}`);
          const lines = [...one("projection0", "threshold").children];
          const regions = [...one("projection0", "region").children];
          return {
            thresholds: lines.map((line) => at("projection", line, "x1", "y1")[0]),
            regions: regions.map(
              (r) => [r.getAttribute("class"), at("projection", r, "x", "y")[0]]),
            view: data.frames.projection.x.slice(0, 2),
            roc: at("roc", one("roc", "operating").firstChild, "cx", "cy"),
            pr: at("precision_recall", one("precision_recall", "operating").firstChild, "cx", "cy"),
            limit: at("reliability", one("reliability", "operating").firstChild, "x1", "y1")[0],
            rings: one("plane", "ring").children.length,
            left: document.querySelectorAll("[class^='mark-'], [class*=' mark-']").length,
          };
        }"""
    )
    low, high = marks["view"]
    inside = [t for t in other.thresholds_ if low < t < high]
    np.testing.assert_allclose(marks["thresholds"], inside, rtol=1e-6)
    np.testing.assert_allclose([at for _, at in marks["regions"]], [low, *inside], rtol=1e-6)
    ends = np.array([low, *inside, high])
    scores = other.machine_.scores((ends[:-1, None] + ends[1:, None]) / 2)
    assert [kind for kind, _ in marks["regions"]] == [f"fill-hue{int(s > 0)}" for s in scores]
    theirs = OperatingDisplay.from_estimator(other, X, y)
    alarms, recall, precision = theirs.point
    np.testing.assert_allclose(marks["roc"], [alarms, recall], atol=1e-6)
    np.testing.assert_allclose(marks["pr"], [recall, precision], atol=1e-6)
    assert marks["limit"] == pytest.approx(theirs.limit, abs=1e-6)
    regions = RegionsDisplay.from_estimator(other, X, y)
    assert marks["rings"] == len(regions.rings_.get_offsets())
    assert marks["left"] == 0


@pytest.mark.parametrize("columns", [2, 5])
def test_the_ground_of_the_plane_is_what_python_draws(open_page, columns):
    """At the middle of each cell, whichever way the costs tip it."""
    classifier = EEMClassifier(40, random_state=0).fit(*overlapping(columns=columns))
    X, y = overlapping(seed=1, columns=columns)
    page = open_page(build_report(classifier, X, y))
    for cost in ("0.3", "6"):
        page.fill("#cost1", cost)
        theirs = RegionsDisplay.from_estimator(classifier.with_costs({"rare": float(cost)}), X, y)
        rows, across = slice(2, -2, 9), slice(2, -2, 7)
        places = [[a, b] for b in theirs.y[rows] for a in theirs.x[across]]
        inside = page.evaluate(
            """(places) => {
              const { x, y } = JSON.parse(document.getElementById("data").textContent).frames.plane;
              const place = ([v0, v1, p0, p1], v) => p0 + (v - v0) / (v1 - v0) * (p1 - p0);
              const path = document.querySelector("#plane .live-ground").children[1];
              const at = ([a, b]) => new DOMPoint(place(x, a), place(y, b));
              return places.map((point) => path.isPointInFill(at(point)));
            }""",
            places,
        )
        ours = theirs.scores[rows, across].ravel()
        clear = np.abs(ours) > 0.05 * np.abs(ours).max()
        assert clear.mean() > 0.5
        np.testing.assert_array_equal(np.array(inside)[clear], ours[clear] > 0)


def test_a_change_is_told_to_who_cannot_see_it(open_page):
    """Once, in a sentence, in a live region."""
    page = open_page(report("rare second"))
    page.focus("#ratio")
    page.keyboard.press("End")
    page.locator("#spoken", has_text="1,000 times").wait_for(state="attached")
    assert page.get_attribute("#spoken", "aria-live") == "polite"
    assert page.get_attribute("#ratio", "aria-valuetext").startswith("1,000 times")
    found = int(numbers_on(page)["cells"][1][1])
    assert f"{found} of 50 rare found" in page.text_content("#spoken")


def test_a_classifier_without_thresholds_can_be_played_with(open_page):
    """Its answer is constant, and a cost turns it over."""
    X, y = np.ones((40, 3)), np.repeat(["a", "b"], 20)
    with pytest.warns(DegenerateWarning):
        classifier = EEMClassifier(5, random_state=0).fit(X, y)
    page = open_page(build_report(classifier, X, y))
    check_against(classifier, X, y, numbers_on(page))
    page.fill("#cost1", "2")
    check_against(classifier, X, y, numbers_on(page))
    page.fill("#cost1", "0.5")
    check_against(classifier, X, y, numbers_on(page))
    assert "never changes" in page.text_content("#thresholds")


def test_many_rows_are_near_and_the_page_says_so(open_page):
    """A class beyond the limit stands by its quantiles."""
    classifier = EEMClassifier(40, random_state=0).fit(*overlapping())
    X, y = overlapping(3000, seed=1)
    page = open_page(build_report(classifier, X, y, page_rows=1000, sure_rows=200, quantiles=500))
    matrix = confusion_matrix(y, classifier.predict(X))
    assert numbers_on(page)["cells"] == matrix.tolist()  # of the model as it is, all are counted
    page.fill("#cost1", "3")
    matrix = confusion_matrix(y, classifier.with_costs({"rare": 3}).predict(X))
    seen = np.array(numbers_on(page)["cells"])
    np.testing.assert_allclose(seen[0], matrix[0], atol=2 * 2425 / 500)
    np.testing.assert_array_equal(seen[1], matrix[1])
    assert "counts are approximate" in page.text_content(".matrix caption")


# ------------------------------------------------------------------------ where it costs least


def costs_by_rows_flagged(classifier, X, y, rare, costs):
    """The cost of flagging the first rows by probability, for each number of rows, from scratch."""
    p = classifier.decision_function(X) * (1 if classifier.classes_[1] == rare else -1)
    truth = (y == rare)[np.argsort(-p, kind="stable")]
    found = np.concatenate([[0], np.cumsum(truth)])
    flagged = np.arange(len(y) + 1)
    return found, (truth.sum() - found) * costs[0] + (flagged - found) * costs[1]


@both_orders
def test_one_click_shows_where_mistakes_cost_least(open_page, case):
    """At the costs on the page: no number of rows flagged costs less."""
    classifier, X, y = fitted(case)
    rare = min(set(y), key=list(y).count)
    position = classifier.classes_.tolist().index(rare)
    page = open_page(report(case))
    assert not page.is_visible("#at-cheapest")
    page.click("#to-cheapest")
    assert page.is_visible("#at-cheapest")
    assert page.get_by_label("where mistakes cost least").is_checked()
    for cost in (1, 7):
        page.fill(f"#cost{position}", str(cost))
        found, costs = costs_by_rows_flagged(classifier, X, y, rare, (cost, 1))
        best = int(costs.argmin())
        seen = numbers_on(page)
        assert seen["cost"] == costs[best]
        cells = seen["cells"]
        assert cells[position][position] == found[best]
        assert cells[position][position] + cells[1 - position][position] == best
        assert page.text_content("#least-cost") == numbers.amount(costs[best])
        # The thresholds are those that decide so.
        other = classifier.with_costs({rare: cost})
        low, high = min(other.project(X)) - 1, max(other.project(X)) + 1
        inside = [t for t in seen["thresholds"] if low < t < high]
        assert inside
    page.click("#reset")
    check_against(classifier, X, y, numbers_on(page))


@both_orders
def test_the_cost_curve_is_the_cost_of_every_number_of_rows(open_page, case):
    """Its points, and the marks of now and of the cheapest, at costs other than the model's."""
    classifier, X, y = fitted(case)
    rare = min(set(y), key=list(y).count)
    position = classifier.classes_.tolist().index(rare)
    page = open_page(report(case))
    page.fill(f"#cost{position}", "5")
    seen = page.evaluate(
        """() => {
          const { x, y } = JSON.parse(document.getElementById("data").textContent).frames.costcurve;
          const rows = (p) => Math.exp(Math.log(x[0])
            + (p - x[2]) / (x[3] - x[2]) * (Math.log(x[1]) - Math.log(x[0])));
          const share = (p) => y[0] + (p - y[2]) / (y[3] - y[2]) * (y[1] - y[0]);
          const one = (kind) => document.querySelector(`#costcurve .live-${kind}`).firstChild;
          const path = one("curve").getAttribute("d").slice(1).split("L");
          const at = (text) => text.split(" ").map(Number);
          const best = at(one("cheapest").getAttribute("d").slice(1).split("l")[0]);
          const now = ["cx", "cy"].map((name) => Number(one("operating").getAttribute(name)));
          const places = [...path.map(at), [best[0], best[1] + 6], now];
          return places.map(([a, b]) => [rows(a), share(b)]);
        }"""
    )
    _, costs = costs_by_rows_flagged(classifier, X, y, rare, (5, 1))
    nothing, best = costs[0], int(costs.argmin())
    *curve, cheapest, now = seen
    assert len(curve) > 50
    for rows, share in curve:
        near = costs[max(round(rows) - 2, 0) : round(rows) + 3] / nothing
        assert min(near) - 0.02 <= share <= max(near) + 0.02 or share > 1.4
    np.testing.assert_allclose(cheapest, [best, costs[best] / nothing], rtol=1e-6)
    flagged = int((classifier.with_costs({rare: 5}).predict(X) == rare).sum())
    assert now == pytest.approx([flagged, min(costs[flagged] / nothing, 1.5)], rel=1e-6)


@both_orders
def test_the_budget_says_what_the_most_suspicious_rows_hold(open_page, case):
    """For every number that is typed; others are refused."""
    classifier, X, y = fitted(case)
    rare = min(set(y), key=list(y).count)
    page = open_page(report(case))
    found, _ = costs_by_rows_flagged(classifier, X, y, rare, (1, 1))
    for n in (1, 4, 50, 400):
        page.fill("#budget-rows", str(n))
        words = " ".join(page.inner_text("#budget-words").split())
        assert words.startswith(f"The {n} most suspicious rows hold ")
        assert f"({found[n]} of 50)" in words
        shown = page.evaluate(
            "['budget-share', 'budget-precision', 'lift']"
            ".map((id) => Number(document.getElementById(id).dataset.value))"
        )
        np.testing.assert_allclose(shown, [found[n] / 50, found[n] / n, found[n] / n / 0.125])
    page.locator("#spoken", has_text="400 most suspicious").wait_for(state="attached")
    for bad in ("0", "401", "2.5", ""):
        page.fill("#budget-rows", bad)
        assert page.is_visible("#budget-refused")
        assert page.get_attribute("#budget-rows", "aria-invalid") == "true"
        assert page.text_content("#budget-n") == "400"
    page.fill("#budget-rows", "40")
    assert not page.is_visible("#budget-refused")
    ring = page.evaluate(
        """() => {
          const { x, y } = JSON.parse(document.getElementById("data").textContent).frames.gains;
          const mark = document.querySelector("#gains .live-operating").firstChild;
          const [cx, cy] = ["cx", "cy"].map((name) => Number(mark.getAttribute(name)));
          return [(cx - x[2]) / (x[3] - x[2]) * Math.log(x[1] / x[0]) + Math.log(x[0]),
            y[0] + (cy - y[2]) / (y[3] - y[2]) * (y[1] - y[0])];
        }"""
    )
    np.testing.assert_allclose(ring, [np.log(40), found[40] / 50], rtol=1e-6)


def test_numbers_are_written_alike_by_both(open_page):
    """The page and its script agree on every format."""
    values = [0, 1, 0.5, 0.1, 0.0999, 0.012, 1e-5, 0.99999, 12, 12.345678, 999.96, 1234.5, 29714.0]
    values += [1e6, 0.00123456, 41.10999, 3.14159, 9.96, 97.5, 2159, 1e-7, 123456789.123]
    page = open_page(report("rare second"))
    for name in ("amount", "times", "percent"):
        theirs = page.evaluate(f"(values) => values.map(format.{name})", values)
        assert theirs == [getattr(numbers, name)(value) for value in values], name
    whole = [round(value) for value in values]
    theirs = page.evaluate("(values) => values.map(format.count)", whole)
    assert theirs == [numbers.count(value) for value in whole]


# ------------------------------------------------------------------------ any classifier


def mixed_frame(seed=0, n=600, names=("common", "rare")):
    """Numbers, categories and gaps."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.normal(50, 10, n), "city": rng.choice(["x", "y", "z"], n)})
    odds = 0.15 * (X["age"] - 50) + 1.5 * (X["city"] == "z") - 2.5
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), names[1], names[0])
    X.loc[::20, "age"] = np.nan
    return X, y


ANY = {
    "a pipeline": lambda: make_pipeline(
        OneHotEncoder(handle_unknown="ignore"), LogisticRegression()
    ),
    "boosting, rare first": lambda: HistGradientBoostingClassifier(random_state=0),
    "a forest, with ties": lambda: RandomForestClassifier(10, max_depth=3, random_state=0),
}


@cache
def fitted_any(kind):
    """A classifier that is not of this library, and rows it has not learnt."""
    if kind == "a pipeline":
        given, new = mixed_frame(), mixed_frame(1)
    else:
        names = ("zebra", "ant") if "first" in kind else ("common", "rare")
        given, new = overlapping(names=names), overlapping(seed=1, names=names)
    return ANY[kind]().fit(*given), *new


@pytest.mark.parametrize("kind", ANY)
def test_costs_move_the_threshold_of_any_classifier(open_page, kind):
    """A row is flagged where its probability times the cost exceeds the rest times the other."""
    classifier, X, y = fitted_any(kind)
    p = classifier.predict_proba(X)
    rare = classifier.classes_.tolist().index(min(set(y), key=list(y).count))
    page = open_page(build_report(classifier, X, y))
    matrix = confusion_matrix(y, classifier.predict(X), labels=classifier.classes_)
    assert numbers_on(page)["cells"] == matrix.tolist()
    for cost in (0.3, 5, 60):
        page.fill(f"#cost{rare}", str(cost))
        costs = np.ones(2)
        costs[rare] = cost
        second = (p[:, 1] * costs[1] > p[:, 0] * costs[0]).astype(int)
        matrix = confusion_matrix(y, classifier.classes_[second], labels=classifier.classes_)
        assert numbers_on(page)["cells"] == matrix.tolist()
        words = page.inner_text("#thresholds")
        limit = f"from a probability of {numbers.percent(1 / (1 + cost))} on"
        assert limit in words or "never changes" in words
    page.click("#to-cheapest")
    order = np.argsort(-p[:, rare], kind="stable")
    truth, score = (y == classifier.classes_[rare])[order], p[order, rare]
    found = np.concatenate([[0], np.cumsum(truth)])
    cost = (truth.sum() - found) * 60 + np.arange(len(y) + 1) - found
    ends = np.append(np.append(True, score[1:] != score[:-1]), True)  # ties stay together
    assert numbers_on(page)["cost"] == cost[ends].min()


def test_the_page_of_any_classifier_has_all_that_does_not_need_our_model(open_page):
    """Columns, single rows, curves; no Gaussians, no training rows, no with_costs."""
    classifier, X, y = fitted_any("a pipeline")
    page = open_page(build_report(classifier, X, y, about=About(data="new.csv", target="kind")))
    words = page.inner_text("main")
    for heading in ("In short", "Costs of mistakes", "Which rows to look at first"):
        assert heading in words
    assert "Which columns matter" in words
    bars = page.locator("#columns text").all_text_contents()
    assert {"age", "city"} <= set(bars)
    assert page.locator(".parts").count() >= 4
    assert {"age", "city"} >= set(page.locator(".parts tbody th").all_inner_texts())
    for absent in ("Gaussians", "training rows", "with_costs"):
        assert absent not in words


# ------------------------------------------------------------------------ the closed form


def random_pairs(rng, n):
    """Gaussians of every kind: far, near, equal variances, no gap, extreme spreads."""
    for i in range(n):
        m0 = rng.normal() * 10 ** rng.uniform(-2, 2)
        gap = 0.0 if i % 7 == 0 else abs(rng.normal()) * 10 ** rng.uniform(-3, 2)
        s0, s1 = 10 ** rng.uniform(-4, 4, 2)
        if i % 5 == 0:
            s1 = s0
        if i % 5 == 1:
            s1 = s0 * (1 + 10 ** rng.uniform(-14, -2))
        yield GaussianPair((m0, m0 + (-gap if i % 11 == 0 else gap)), (s0, s1))


def test_the_closed_form_in_the_browser_is_pythons(open_page):
    """Thresholds for many pairs and costs: none, one and two of them."""
    rng = np.random.default_rng(5)
    pairs = [*random_pairs(rng, 300), GaussianPair((0.0, 0.0), (1.0, 1.0))]
    asked, ours = [], []
    for pair in pairs:
        ratio = float(np.log(pair.variances[0] / pair.variances[1]))
        for cost in 10 ** rng.uniform(-3, 3, 4):
            log_priors = np.log([0.5, 0.5])
            costs = [1.0, float(cost)]
            weights = log_priors + np.log(costs)
            ours.append(pair.thresholds(float(weights[1] - weights[0])))
            gaussians = {
                "means": pair.means,
                "variances": pair.variances,
                "logVarianceRatio": ratio,
            }
            asked.append([gaussians, log_priors.tolist(), costs])
    page = open_page(report("rare second"))
    theirs = page.evaluate(
        "(asked) => asked.map(([pair, priors, costs]) =>"
        " closedForm.thresholds(pair, closedForm.bias(priors, costs)))",
        asked,
    )
    assert [len(found) for found in theirs] == [len(found) for found in ours]
    assert {len(found) for found in ours} == {0, 1, 2}
    for found, expected, (pair, *_) in zip(theirs, ours, asked, strict=True):
        scale = max(map(abs, [*pair["means"], *expected]), default=1)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * scale)


def test_a_row_on_the_threshold_is_decided_as_predict_does(open_page):
    """A score of zero is the first class's."""
    page = open_page(report("rare second"))
    pair = {"means": [-1, 1], "variances": [1, 1], "logVarianceRatio": 0}
    priors = np.log([0.5, 0.5]).tolist()
    seen = page.evaluate(
        "([pair, priors, points]) => closedForm.confusion(pair, priors, [1, 1], points, () => 1)",
        [pair, priors, [[-1, 0, 1], [0, 2]]],
    )
    assert seen == [[2, 1], [1, 1]]


# ------------------------------------------------------------------------ safety


def test_hostile_names_are_shown_and_do_not_run(open_page):
    """As class, column, file, target, title, command, warning and version."""
    for names in (HOSTILE[:2], HOSTILE[2:]):
        X, y = overlapping(names=names, columns=2)
        classifier = EEMClassifier(10, random_state=0).fit(X, y)
        name = names[0]
        about = About(
            title=name, data=name, target=name, columns=names, missing={name: 1},
            commands=[name], warnings=[name], versions={name: name}, seed=name,
            estimate=SimpleNamespace(gmean=0.8, low=0.7, high=0.9),
            baseline=SimpleNamespace(name=name, gmean=0.8, low=0.7, high=0.9),
        )  # fmt: skip
        page = open_page(
            build_report(classifier, *overlapping(names=names, columns=2, seed=1), about=about)
        )
        page.fill("#cost1", "30")
        page.fill("#budget-rows", "3")
        page.click("#to-cheapest")
        assert page.evaluate("window.ran") is None
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 2
        assert page.title() == visible(name)
        assert visible(name) in page.inner_text("h1")
        for label in classifier.classes_:
            assert visible(label, 80) in page.inner_text(".matrix")
        drawn = " ".join(page.locator("#plane text").all_text_contents())
        assert visible(name, 28) in drawn
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_hostile_cells_are_shown_and_do_not_run(open_page):
    """Of rows that are explained, with hostile names of columns, by any classifier."""
    X, y = mixed_frame()
    X["city"] = X["city"].map(dict(zip("xyz", HOSTILE[:3], strict=True)))
    X.columns = [HOSTILE[1], HOSTILE[2]]
    classifier = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    page = open_page(build_report(classifier.fit(X[::2], y[::2]), X[1::2], y[1::2]))
    page.fill("#cost1", "4")
    assert page.evaluate("window.ran") is None
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    shown = " ".join(page.locator(".parts td bdi").all_text_contents())
    assert any(cell in shown for cell in HOSTILE[:3])
    assert {*page.locator(".parts th .name").all_text_contents()} <= {HOSTILE[1], HOSTILE[2]}
    assert visible(HOSTILE[1], 28) in page.locator("#columns text").all_text_contents()


def test_the_policy_stops_what_is_not_the_reports_own(open_page):
    """A script slipped into the page does not run, and nothing can be fetched."""
    page = open_page(report("rare second"), quiet=False)
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.ran = 1";
          document.body.append(script);
          const style = document.createElement("style");
          style.textContent = "body { display: none }";
          document.body.append(style);
        }"""
    )
    assert page.evaluate("window.ran") is None
    assert page.is_visible("h1")
    refused = page.evaluate(
        """() => new Promise((done) => {
          document.addEventListener("securitypolicyviolation", (e) => done(e.violatedDirective));
          fetch("http://127.0.0.1:9/").catch(() => 0);
        })"""
    )
    assert refused == "connect-src"


def test_without_a_script_the_page_is_still_a_report(open_page):
    """Numbers and pictures are there; controls, which would do nothing, are not."""
    classifier, X, y = fitted("rare second")
    page = open_page(report("rare second"), java_script_enabled=False)
    assert not page.is_visible("#ratio")
    matrix = confusion_matrix(y, classifier.predict(X))
    assert page.text_content("#cell11") == str(matrix[1, 1])
    assert page.locator("#projection0 .mark-threshold path").count() >= 1


# ------------------------------------------------------------------------ for people


def ternary(seed=0, names=("first kind", "second kind", "third")):
    rng = np.random.default_rng(seed)
    y = np.repeat(names, [80, 50, 30])
    return rng.normal(size=(160, 3)) + np.repeat([0, 1.5, 3], [80, 50, 30])[:, None], y


@pytest.mark.parametrize("kind", ["two classes", "three classes", "long names"])
def test_a_phone_shows_the_page_without_scrolling_sideways(open_page, kind):
    """At 375 pixels, in light and dark, also with names that have no place to break."""
    if kind == "three classes":
        classifier, new = EEMClassifier(30, random_state=0).fit(*ternary()), ternary(1)
    else:
        names = ("a" * 150, "b" * 150) if kind == "long names" else ("common", "rare")
        classifier = EEMClassifier(30, random_state=0).fit(*overlapping(names=names))
        new = overlapping(seed=1, names=names)
    about = About(
        data="d" * 90 + ".csv", commands=["eem report " + "x" * 120], missing={"m" * 150: 3}
    )
    page = open_page(build_report(classifier, *new, about=about), width=375)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        assert page.evaluate("document.body.scrollWidth") <= 375


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((v) => {
      const share = v / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (colour !== "rgba(0, 0, 0, 0)") return colour;
    }
    return "white";
  };
  const kinds = "p, th, td, dd, dt, label, legend, h1, h2, h3, bdi, button, text";
  const seen = (e) => e.textContent.trim() && e.getClientRects().length;
  return [...document.querySelectorAll(kinds)].filter(seen).map((e) => {
    const style = getComputedStyle(e);
    const ink = e instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(ink), light(ground(e))].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), e.textContent.trim().slice(0, 40)];
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(open_page, scheme):
    """By 4.5 to 1 at least, the usual demand, in light and dark; and dark is dark."""
    page = open_page(report("rare second"), color_scheme=scheme)
    found = page.evaluate(CONTRAST)
    assert len(found) > 60
    worst = min(found)
    assert worst[0] >= 4.5, worst
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) < 200) == (scheme == "dark")


def test_every_control_has_a_name_and_shows_its_focus(open_page):
    """Tab reaches each of them in turn."""
    page = open_page(report("rare second"))
    reached = []
    for _ in range(9):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                """() => {
                  const e = document.activeElement;
                  const names = [...(e.labels || [])].map((label) => label.textContent.trim());
                  return [e.id || e.name || e.localName, names.join(" ") || e.textContent.trim(),
                    parseFloat(getComputedStyle(e).outlineWidth)];
                }"""
            )
        )
    order = ["div", "to-cheapest", "summary", "ratio", "cost1", "cost0", "point", "reset"]
    order += ["budget-rows"]  # and first the table, which can be scrolled
    assert [name for name, *_ in reached] == order
    assert all(label and outline >= 2 for _, label, outline in reached)


def test_print_shows_the_choice_instead_of_the_controls(open_page):
    """The sentence says what costs were chosen; the form is gone."""
    page = open_page(report("rare second"), color_scheme="dark")
    page.fill("#cost1", "20")
    page.emulate_media(media="print")
    assert not page.is_visible("#controls")
    assert "20 times as much as" in page.inner_text(".state")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


def test_one_of_several_lines_is_chosen_by_keyboard(open_page):
    """The chooser names the pairs; the line shown is that of the pair."""
    classifier = EEMClassifier(30, random_state=0).fit(*ternary())
    page = open_page(build_report(classifier, *ternary(1)))
    assert page.locator("[data-pair]:visible").count() == 0  # on demand only
    page.focus(".on-demand summary")
    page.keyboard.press("Enter")
    assert page.locator("[data-pair]:visible").count() == 1
    page.focus("#pair")
    page.keyboard.press("ArrowDown")
    assert page.locator("[data-pair]:visible").get_attribute("data-pair") == "1"
    chosen = page.locator("#pair option").nth(1).text_content()
    assert page.locator("#pair option:checked").text_content() == chosen
    shown = page.locator("[data-pair]:visible .legend").inner_text()
    assert all(name in shown for name in chosen.split(" – "))


def pages():
    """One page of each kind."""
    rng = np.random.default_rng(0)
    y = np.repeat([f"class number {i}" for i in range(20)], 30)
    X = rng.normal(size=(600, 6)) + 3 * rng.normal(size=(20, 6))[np.repeat(range(20), 30)]
    many = EEMClassifier(30, random_state=0).fit(X[::2], y[::2])
    about = About(
        data="new.csv", target="kind", warnings=["A column was left out."], commands=["eem report"],
        missing={"a": 3}, path=[{"size": h, "gmean": 0.8, "divergence": 2.0} for h in (10, 20)],
    )  # fmt: skip
    classifier, X_new, y_new = fitted("rare second")
    few = EEMClassifier(30, random_state=0, costs={"third": 3}).fit(*ternary())
    forest = ExtremeEntropyClassifier(random_state=0).fit(*overlapping())
    return {
        "two classes": build_report(classifier, X_new, y_new, about=about),
        "a forest": build_report(forest, X_new, y_new),
        "three classes": build_report(few, *ternary(1), about=about),
        "twenty classes": build_report(many, X[1::2], y[1::2]),
        "any classifier": build_report(*fitted_any("a pipeline")),
    }


PAGES = ("two classes", "a forest", "three classes", "twenty classes", "any classifier")


@pytest.fixture(scope="module")
def every_page():
    return pages()


@pytest.fixture(scope="module")
def axe():
    """The source of axe-core."""
    here = Path(sys.prefix, "axe", "node_modules", "axe-core", "axe.min.js")
    path = Path(os.environ.get("EXTREME_ENTROPY_AXE") or here)
    if not path.exists():
        unavailable("axe-core is not there", "install npm and run `make test`, which fetches it")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", PAGES)
def test_axe_finds_nothing_to_complain_about(open_page, every_page, axe, kind):
    """In light and dark, on a wide screen and on a phone, with all that can be opened open."""
    for scheme, width in (("light", 1280), ("dark", 1280), ("light", 375), ("dark", 375)):
        page = open_page(every_page[kind], width=width, color_scheme=scheme)
        page.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        page.evaluate(axe)
        found = page.evaluate("axe.run()")
        assert len(found["passes"]) > 15
        broken = [
            (one["id"], [node["html"][:200] for node in one["nodes"]])
            for one in found["violations"]
        ]
        assert broken == [], (scheme, width)


def test_axe_would_find_a_planted_fault(open_page, every_page, axe):
    """A field without a name."""
    page = open_page(every_page["two classes"])
    page.evaluate("document.querySelector('label[for=ratio]').remove()")
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    assert [one["id"] for one in found] == ["label"]


def test_twenty_classes_fit_a_screen_and_a_sheet_of_paper(open_page, every_page):
    """The matrix is no wider than its place, at 1100 pixels and on A4."""
    page = open_page(every_page["twenty classes"], width=1100)
    wide = "(() => { const e = document.querySelector('.scroll:has(.many)');"
    wide += " return [e.scrollWidth, e.clientWidth, e.querySelectorAll('tbody tr').length]; })()"
    needed, room, rows = page.evaluate(wide)
    assert needed <= room
    assert rows == 21
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 688, "height": 1000})  # A4 without its margins, at 96 dpi
    table = page.evaluate("document.querySelector('.many').getBoundingClientRect().width")
    assert table <= 688
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_no_word_is_broken_in_the_middle(open_page):
    """Names of one long word are shortened at their end, and whole for those who listen."""
    names = ("Donaudampfschifffahrtsgesellschaft" * 2, "Rindfleischetikettierung" * 3)
    classifier = EEMClassifier(20, random_state=0).fit(*overlapping(names=names))
    for width in (1280, 375):
        page = open_page(build_report(classifier, *overlapping(seed=1, names=names)), width=width)
        heights = page.evaluate(
            """() => [...document.querySelectorAll(".name")].filter((e) => e.offsetParent).map(
              (e) => e.getBoundingClientRect().height / parseFloat(getComputedStyle(e).fontSize))"""
        )
        assert len(heights) > 10
        assert max(heights) < 2  # each on one line
        assert names[1] in page.text_content("#headline")


def test_slider_and_class_share_a_colour(open_page):
    for case, hue in (("rare second", "--hue1"), ("rare first", "--hue0")):
        page = open_page(report(case))
        colours = page.evaluate(
            """(hue) => {
              const of = (name, key) => getComputedStyle(document.querySelector(name))[key];
              const probe = document.createElement("span");
              probe.className = hue.slice(2);
              document.body.append(probe);
              return [of("#ratio", "accentColor"), of("#headline .name", "color"),
                getComputedStyle(probe).color];
            }""",
            hue,
        )
        assert len(set(colours)) == 1, colours


def test_paper_has_the_choice_but_no_controls_and_no_cut_pictures(open_page, every_page):
    """The page prints; pictures, cards and tables are not broken between sheets."""
    page = open_page(every_page["two classes"])
    page.emulate_media(media="print")
    assert page.locator("button:visible, input:visible, select:visible").count() == 0
    broken = page.evaluate(
        """() => [...document.querySelectorAll("figure, .card, tr, .verdict, .many")]
          .filter((e) => getComputedStyle(e).breakInside !== "avoid").length"""
    )
    assert broken == 0
    sheets = page.pdf(format="A4", print_background=True).count(b"/Type /Page\n")
    assert 3 <= sheets <= 9


PAPER = {"A4": (595, 842), "Letter": (612, 792)}  # in points


@pytest.mark.skipif(not shutil.which("pdftoppm"), reason="pages are looked at by pdftoppm")
@pytest.mark.parametrize("paper", PAPER)
@pytest.mark.parametrize("kind", ["two classes", "twenty classes"])
def test_printed_pages_are_filled(open_page, every_page, tmp_path, paper, kind):
    """Each page but the last has ink far down, none in its margins, and the page its own size."""
    page = open_page(every_page[kind])
    page.pdf(path=tmp_path / "report.pdf", format=paper, print_background=True)
    shrink = ["pdftoppm", "-gray", "-r", "36", tmp_path / "report.pdf", tmp_path / "sheet"]
    subprocess.run(shrink, check=True)
    sheets = sorted(tmp_path.glob("sheet*.pgm"))
    assert 2 <= len(sheets) <= 7
    for sheet in sheets:
        head, size, _, pixels = sheet.read_bytes().split(b"\n", 3)
        width, height = map(int, size.split())
        assert head == b"P5"
        assert np.allclose((width, height), np.array(PAPER[paper]) / 2, atol=1)
        ink = np.frombuffer(pixels, np.uint8).reshape(height, width) < 200
        assert not ink[:, :10].any()
        assert not ink[:, -10:].any()
        if sheet != sheets[-1]:
            assert np.flatnonzero(ink.any(axis=1)).max() > 0.55 * height


@pytest.mark.parametrize("kind", ["two classes", "twenty classes"])
@pytest.mark.parametrize("width", [688, 714])
def test_no_text_lies_on_another_on_paper(open_page, every_page, width, kind):
    """Of all texts and tick labels, at the width of A4 and Letter without their margins."""
    page = open_page(every_page[kind])
    page.emulate_media(media="print")
    page.set_viewport_size({"width": width, "height": 1000})
    overlaps = page.evaluate(
        """() => {
          const texts = [];
          const walker = document.createTreeWalker(document.querySelector("main"), 4);
          while (walker.nextNode()) {
            const node = walker.currentNode;
            if (!node.data.trim() || node.parentElement.closest(".sr, script")) continue;
            const range = document.createRange();
            range.selectNodeContents(node);
            for (const box of range.getClientRects()) {
              if (box.width > 1 && box.height > 1) texts.push([node.data.trim(), box]);
            }
          }
          const found = [];
          texts.forEach(([a, p], i) => texts.slice(i + 1).forEach(([b, q]) => {
            const x = Math.min(p.right, q.right) - Math.max(p.left, q.left);
            const y = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
            if (x > 2 && y > 0.4 * Math.min(p.height, q.height)) found.push([a, b, x, y]);
          }));
          return found;
        }"""
    )
    assert overlaps == []


@both_orders
def test_the_class_to_be_found_is_the_accent(open_page, case):
    """Whichever of the two comes first."""
    page = open_page(report(case))
    colour = "getComputedStyle(document.querySelector('#headline .name')).color"
    assert page.evaluate(colour) == "rgb(181, 72, 0)"


def test_two_columns_and_a_path_load_in_silence(open_page):
    """All pictures at once; the fixture listens."""
    X, y = make_moons(300, noise=0.3, random_state=0)
    classifier = EEMClassifier(30, random_state=0).fit(X[::2], y[::2])
    path = [
        {"size": h, "gmean": 0.8, "divergence": 2.0, "setting": s} for h in (10, 20) for s in "ab"
    ]
    page = open_page(build_report(classifier, X[1::2], y[1::2], about=About(path=path)))
    assert page.locator(".picture svg").count() == 9
    assert "class predicted at that point" in page.inner_text("main")
