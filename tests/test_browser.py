"""The report in a real browser: it runs alone, and its numbers are those of `with_costs`.

Needs a Chromium and Playwright's Python package: on Debian `apt-get install chromium` and
`pip install playwright`; the variable CHROMIUM may name another binary. With
EXTREME_ENTROPY_BROWSER=required nothing here is skipped: a missing browser is an error.
"""

import os
import shutil
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import confusion_matrix

from extreme_entropy import EEMClassifier, gmean_score
from extreme_entropy.errors import DegenerateWarning
from extreme_entropy.machine.decision import GaussianPair
from extreme_entropy.plots import OperatingDisplay, RegionsDisplay
from extreme_entropy.report import About, build_report
from extreme_entropy.report.text import visible

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]
HOSTILE = [
    "<script>window.ran = 1</script>",
    '"><img src=x onerror="window.ran = 1">',
    "</script><script>window.ran = 1</script>",
    "a\nb\u202e\u2028$\\frac{" + "W" * 170,
]


def unavailable(why):
    """Skip with a reason, or fail where a browser is required."""
    reason = f"{why}: apt-get install chromium && pip install playwright, or set CHROMIUM"
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
    for key, times, factor in (
        ("ArrowRight", 16, 10**0.8),
        ("ArrowLeft", 10, 10**-0.5),
        ("End", 1, 100),
        ("Home", 1, 0.01),
    ):
        page.focus("#ratio")
        for _ in range(times):
            page.keyboard.press(key)
        seen = numbers_on(page)
        assert seen["thresholds"] != before["thresholds"]
        check_against(classifier, X, y, seen)
        assert seen["costs"][rare] == pytest.approx(factor, rel=0.02)
        page.click("#reset")
        assert numbers_on(page) == before


def test_the_mouse_moves_the_slider_too(open_page):
    classifier, X, y = fitted("rare second")
    page = open_page(report("rare second"))
    slider = page.locator("#ratio")
    box = slider.bounding_box()
    slider.click(position={"x": 0.8 * box["width"], "y": box["height"] / 2})
    seen = numbers_on(page)
    assert 10 < seen["costs"][1] < 30
    check_against(classifier, X, y, seen)


def test_costs_can_be_typed_and_bad_ones_are_refused(open_page):
    """The last good cost stays in use, and the slider follows."""
    plain, X, y = fitted("rare second")
    classifier = plain.with_costs({"rare": 3.7, "common": 2})
    page = open_page(build_report(classifier, X, y))
    assert numbers_on(page)["costs"] == [2, 3.7]
    page.fill("#cost1", "1234.5")
    seen = numbers_on(page)
    check_against(classifier, X, y, seen)
    assert float(page.input_value("#ratio")) == 2
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
    classifier, X, y = fitted(case)
    page = open_page(report(case))
    assert not page.is_visible("#frequency")
    page.get_by_label("as in these rows").check()
    assert page.is_visible("#frequency")
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
    page.locator("#spoken", has_text="100 times").wait_for(state="attached")
    assert page.get_attribute("#spoken", "aria-live") == "polite"
    assert page.get_attribute("#ratio", "aria-valuetext").startswith("100 times")
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


def test_many_rows_are_near_and_the_page_says_so(open_page, monkeypatch):
    """A class beyond the limit stands by its quantiles."""
    for name, value in (
        ("live.MOST_ROWS", 1000),
        ("live.QUANTILES", 500),
        ("page.MOST_ROWS", 1000),
    ):
        monkeypatch.setattr(f"extreme_entropy.report.{name}", value)
    classifier = EEMClassifier(40, random_state=0).fit(*overlapping())
    X, y = overlapping(3000, seed=1)
    page = open_page(build_report(classifier, X, y))
    page.fill("#cost1", "3")
    matrix = confusion_matrix(y, classifier.with_costs({"rare": 3}).predict(X))
    seen = np.array(numbers_on(page)["cells"])
    np.testing.assert_allclose(seen[0], matrix[0], atol=2 * 2625 / 500)
    np.testing.assert_array_equal(seen[1], matrix[1])
    assert "counts are approximate" in page.text_content(".matrix caption")


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
        "([pair, priors, points]) =>"
        " closedForm.confusion(pair, priors, [1, 1], points, points.map((part) => part.length))",
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
        )  # fmt: skip
        page = open_page(
            build_report(classifier, *overlapping(names=names, columns=2, seed=1), about=about)
        )
        page.fill("#cost1", "30")
        assert page.evaluate("window.ran") is None
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 2
        assert page.title() == visible(name)
        assert visible(name) in page.inner_text("h1")
        for label in classifier.classes_:
            assert visible(label) in page.inner_text(".matrix")
        drawn = " ".join(page.locator("#plane text").all_text_contents())
        assert visible(name, 32) in drawn
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280


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
    for _ in range(5):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                """() => {
                  const e = document.activeElement;
                  const names = [...(e.labels || [])].map((label) => label.textContent.trim());
                  return [e.id || e.name, names.join(" ") || e.textContent.trim(),
                    parseFloat(getComputedStyle(e).outlineWidth)];
                }"""
            )
        )
    assert [name for name, *_ in reached] == ["ratio", "cost1", "cost0", "priors", "reset"]
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
    assert page.locator("[data-pair]:visible").count() == 1
    page.focus("#pair")
    page.keyboard.press("ArrowDown")
    assert page.locator("[data-pair]:visible").get_attribute("data-pair") == "1"
    assert "first kind – third" in page.locator("#pair option:checked").text_content()


def test_two_columns_and_a_path_load_in_silence(open_page):
    """All pictures at once; the fixture listens."""
    X, y = make_moons(300, noise=0.3, random_state=0)
    classifier = EEMClassifier(30, random_state=0).fit(X[::2], y[::2])
    path = [
        {"size": h, "gmean": 0.8, "divergence": 2.0, "setting": s} for h in (10, 20) for s in "ab"
    ]
    page = open_page(build_report(classifier, X[1::2], y[1::2], about=About(path=path)))
    assert page.locator("svg").count() == 6
    assert "class predicted at that point" in page.inner_text("main")
