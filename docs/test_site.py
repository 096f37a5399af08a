"""The built site in a real browser: nothing is broken, nothing is fetched, everything can be read.

Run by `make docs` after the build. Needs a Chromium, as tests/test_browser.py does.
"""

import re
import sys
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from test_browser import browser  # noqa: F401 (a fixture)

import extreme_entropy

DOCS = Path(__file__).parent
SITE = DOCS / "_build" / "html"
sys.path.insert(0, str(DOCS / "_ext"))
from public_names import own_methods, public_names  # noqa: E402

PAGES = sorted(
    path.relative_to(SITE).as_posix()
    for path in SITE.rglob("*.html")
    if not path.is_relative_to(SITE / "_static")
)
EXAMPLES = [page for page in PAGES if page.startswith("auto_examples/") and "/plot_" in page]
GUIDE = [page for page in PAGES if page.startswith("guide/")]
# One page of each kind.
KINDS = [
    *("index.html", "start.html", "guide/forgetting.html", "auto_examples/index.html"),
    *(*EXAMPLES[:1], "api/index.html", "evidence/index.html", "evidence/more-rows.html"),
    *("guide/faq.html", "guide/compared.html", "guide/cheat-sheet.html"),
    "api/generated/extreme_entropy.plots.RegionsDisplay.html",
]
LONG = "api/generated/extreme_entropy.ExtremeEntropyClassifier.html"
AXE = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], "preload": False}


# ------------------------------------------------------------------ without a browser


LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}


class Links(HTMLParser):
    """Ids of a page, where its links lead, and what it loads."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids, self.links, self.loaded = {""}, [], []
        self.feed((SITE / page).read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given.get("id") or "", given.get("name") or ""}
        target = given.get(LOADED.get(tag, "href"))
        if target is None or given.get("rel") == "canonical":
            return
        (self.loaded if tag in LOADED else self.links).append(target)


links_of = cache(Links)


def test_there_is_a_site():
    """Otherwise all that follows would hold of nothing."""
    assert len(PAGES) > 100
    assert len(GUIDE) > 10
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file_and_every_anchor_to_a_place(page):
    broken = []
    for target in links_of(page).links + links_of(page).loaded:
        parts = urlsplit(target)
        if parts.scheme:
            continue
        path = unquote(urlsplit(urljoin(f"/{page}", parts.path)).path).lstrip("/") or page
        file = SITE / path
        if file.is_dir() or not file.is_file():
            broken.append(target)
        elif file.suffix == ".html" and path != "search.html":
            anchor = unquote(parts.fragment)
            broken += [target] * (anchor not in links_of(path).ids)
    assert broken == []


@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("changelog.html", "guide/command.html#labels"),
        ("contributing.html", "architecture.html"),
        ("evidence/reproduction.html", "reproduction/uci.html"),
        ("evidence/reproduction.html", "../guide/paper.html"),
        ("guide/choosing.html", "paper.html#the-baselines"),
        ("guide/deploying.html", "../evidence/large.html#rows-predicted-in-a-second"),
    ],
)
def test_a_link_between_files_of_the_repository_is_one_between_pages(page, link):
    """Also where a page of the site only includes the file, and with its anchor."""
    assert link in links_of(page).links


@pytest.mark.parametrize("page", EXAMPLES)
def test_an_example_draws_prints_and_warns_of_nothing(page):
    """The build has run it, and would have failed with it; what it printed is on its page."""
    text = (SITE / page).read_text(encoding="utf-8")
    printed = re.findall(r'<div class="sphx-glr-script-out.*?</pre>', text, re.DOTALL)
    assert printed, "An example prints the numbers that its text speaks of."
    assert re.search("sphx-glr-(?:single|multi)-img", text)
    assert [output for output in printed if "Warning" in output] == []


def test_examples_leave_nothing_behind():
    files = [path for path in (DOCS / "examples").glob("[!._]*/[!._]*") if path.is_file()]
    assert [path for path in files if path.suffix not in (".py", ".rst")] == []
    assert len(files) >= len(EXAMPLES)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_loads_nothing_from_elsewhere(page):
    """Every script, style, picture and frame is a file of the site, or in the page itself."""
    assert [url for url in links_of(page).loaded if urlsplit(url).scheme not in ("", "data")] == []
    assert [url for url in links_of(page).loaded if url.startswith("//")] == []


@pytest.mark.parametrize("name", public_names())
def test_every_public_name_has_its_page(name):
    """With all its methods."""
    page = f"api/generated/{name}.html"
    assert page in PAGES
    wanted = {name}
    if isinstance(public_names()[name], type):
        wanted |= {f"{name}.{method}" for method in own_methods(name)}
    assert wanted <= links_of(page).ids
    assert f"generated/{name}.html#{name}" in links_of("api/index.html").links


@pytest.mark.parametrize(
    "page",
    ["tutorial", "faq", "compared", "imbalanced-learn", "glossary", "cheat-sheet", "cite"],
)
def test_the_front_page_and_the_guide_lead_to_the_pages_for_newcomers(page):
    assert f"guide/{page}.html" in links_of("index.html").links
    assert f"{page}.html" in links_of("guide/index.html").links


def test_every_page_of_evidence_is_in_the_site():
    """What the package of the paper writes can be read here."""
    folder = DOCS.parent / "paper" / "docs"
    pages = [path.relative_to(folder).with_suffix(".html") for path in folder.rglob("*.md")]
    assert len(pages) > 20
    assert [page for page in pages if f"evidence/{page.as_posix()}" not in PAGES] == []


# ------------------------------------------------------------------ in the browser


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and says nothing of it."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    """Where the site is served, on this computer alone."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def visit(browser, address):  # noqa: F811
    """`visit(page, …)` opens a page of the site; afterwards none of them must have complained."""
    contexts, noise = [], []

    def opened(page, *, base=address, width=1280, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda said: noise.extend([said.text] * (said.type == "error")))
        tab.on("pageerror", lambda error: noise.append(str(error)))
        tab.on(
            "requestfailed",
            lambda sent: noise.extend([sent.url] * (sent.failure != "net::ERR_ABORTED")),
        )
        tab.on("response", lambda got: noise.extend([got.url] * (got.status >= 400)))
        tab.on(
            "request",
            lambda sent: noise.extend([sent.url] * (not sent.url.startswith((base, "data:")))),
        )
        tab.goto(base + page)
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert noise == []


def test_no_page_has_an_error_or_asks_another_host(visit, address):
    """All pages, one after the other; the fixture listens."""
    tab = visit(PAGES[0])
    for page in PAGES[1:]:
        tab.goto(address + page)
    assert tab.title()


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ("forget", ["guide/forgetting", "api/generated"]),
        ("SMOTE", ["guide/compared", "guide/imbalanced-learn", "guide/faq"]),
        ("GPU", ["guide/faq"]),
        ("GDPR", ["guide/faq"]),
        ("cite", ["guide/cite"]),
        ("feature importance", ["guide/faq", "guide/columns"]),
        ("save model", ["guide/faq", "guide/deploying"]),
        ("leading zeros", ["guide/faq", "guide/command"]),
        ("threshold", ["guide/faq", "guide/compared"]),
        ("regression", ["guide/faq"]),
        ("Excel", ["guide/tutorial"]),
        ("CatBoost", ["guide/compared"]),
    ],
)
def test_search_finds_what_newcomers_ask(visit, words, places):
    """Among the results, which come one after another, are the pages that answer."""
    tab = visit(f"search.html?q={words}")
    for place in places:
        tab.wait_for_selector(f'#search-results li a[href*="{place}"]')


def test_the_first_screen_says_what_it_is_and_how_to_get_it(visit):
    """Without scrolling: what for, install, code, a picture with a title, version and links."""
    tab = visit("index.html")
    screen = tab.viewport_size["height"]
    for shown in (
        tab.get_by_text("one class is rare"),
        tab.get_by_text("pip install extreme-entropy"),
        tab.get_by_text("ExtremeEntropyClassifier().fit"),
        tab.get_by_text("Accuracy (PR-AUC) against time to fit"),
        tab.get_by_text("Up and to the left is better"),
        tab.locator(".front .get-started"),
        tab.get_by_text(f"Version {extreme_entropy.__version__}").first,
        tab.get_by_role("link", name="source and contributing"),
    ):
        box = shown.bounding_box()
        assert box["y"] + box["height"] <= screen, shown


def test_pictures_of_the_gallery_are_wide_enough_to_read(visit):
    tab = visit("auto_examples/index.html")
    widths = tab.locator(".sphx-glr-thumbcontainer img").evaluate_all(
        "pictures => pictures.map(p => [p.getBoundingClientRect().width, p.naturalWidth])"
    )
    assert len(widths) == len(EXAMPLES)
    assert min(shown for shown, _ in widths) >= 450
    assert min(pixels for _, pixels in widths) >= 800


def test_search_opens_by_key_and_leads_to_results(visit):
    """As a reader does it, from any page."""
    tab = visit("guide/index.html")
    tab.keyboard.press("Control+k")
    tab.keyboard.type("costs")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search.html?q=costs*")
    tab.wait_for_selector("#search-results li a")


# What reaches beyond the screen, but for what is in a box that scrolls.
TOO_WIDE = """() => {
  const scrolls = (e) => ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
  const inBox = (e) => e.tagName !== "ARTICLE" && (scrolls(e) || inBox(e.parentElement));
  return [...document.querySelectorAll("article *")]
    .filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !inBox(e))
    .map((e) => e.outerHTML.slice(0, 200));
}"""


@pytest.mark.parametrize("page", sorted({*KINDS, *GUIDE, *EXAMPLES, LONG}))
def test_a_phone_shows_a_page_without_scrolling_sideways(visit, page):
    """Tables and code may scroll inside; the page does not."""
    tab = visit(page, width=390)
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        assert tab.evaluate(TOO_WIDE) == []


@pytest.mark.parametrize("page", KINDS)
def test_everybody_can_read_it_in_light_and_dark(visit, page):
    """No violation of WCAG 2.1 A and AA, contrast among them, that axe-core finds."""
    tab = visit(page)
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        tab.wait_for_selector(f"html[data-theme={scheme}]")
        ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, ground[4:-1].split(","))) < 200) == (scheme == "dark")
        found = Axe().run(tab, options=AXE).response["violations"]
        assert {one["id"]: [node["html"] for node in one["nodes"]] for one in found} == {}


def test_the_reader_chooses_dark_or_light(visit):
    """Whatever the system prefers; the report on the front page follows."""
    tab = visit("index.html", scheme="null")  # emulation would hide the choice from the frame
    body = tab.frame_locator("iframe.report").locator("body")
    grounds = []
    for theme in ("light", "dark"):
        tab.locator("button.theme-switch-button:visible").click()
        tab.locator(f"[data-mode={theme}]:visible").click()
        tab.wait_for_selector(f"html[data-theme={theme}]")
        grounds.append(body.evaluate("body => getComputedStyle(body).backgroundColor"))
    light, dark = (sum(map(int, ground[4:-1].split(","))) for ground in grounds)
    assert dark < 200 < light


@pytest.mark.parametrize("place", ["served", "opened from disk"])
def test_the_slider_of_the_report_on_the_front_page_moves_its_numbers(visit, address, place):
    base = address if place == "served" else f"{SITE.as_uri()}/"
    tab = visit("index.html", base=base)
    report = tab.frame_locator("iframe.report")
    before = report.locator("main").inner_text()
    slider = report.locator("input[type=range]").first
    slider.focus()
    slider.press("End")
    assert report.locator("main").inner_text() != before
    assert report.locator("#cell00").is_visible()
