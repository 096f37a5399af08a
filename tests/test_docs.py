"""The documentation is true: code runs and prints what the page shows, links lead somewhere."""

import re
import runpy
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from pages import CLONE, DOCS, PAGES, ROOT

from extreme_entropy.engines.blocks import ENGINES

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))

SNIPPET = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
PARTS = ["Context", "Decision", "Alternatives", "Consequences"]  # of a page in docs/decisions
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def snippets(text):
    """Each block of Python of a page: what runs alone, and what the page says that it prints.

    A block continues the one above it if the paragraph before it says so.
    """
    found, end = [("", "")], 0
    for match in SNIPPET.finditer(text):
        paragraph = text[end : match.start()].rstrip().rpartition("\n\n")[2]
        continues = re.search(r"continu(es|ing)\s+the\s+example\s+above", paragraph, re.IGNORECASE)
        code, shown = found[-1] if continues else ("", "")
        found.append((code + match[1], shown + (match[2] or "")))
        end = match.end()
    return found[1:]


SNIPPETS = [
    pytest.param(*snippet, id=f"{page.relative_to(ROOT)}-{number}")
    for page in (ROOT / "README.md", *DOCS)
    for number, snippet in enumerate(snippets(page.read_text(encoding="utf-8")), 1)
]


@pytest.mark.usefixtures("all_landmarks")
@pytest.mark.parametrize(("code", "shown"), SNIPPETS)
def test_code_runs_as_it_stands(code, shown, tmp_path, monkeypatch, capsys):
    """As a script of its own in an empty folder; it prints what a block of text below it shows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    Path("snippet.py").write_text(code, encoding="utf-8")
    with patch.dict(ENGINES):  # a page adds one
        runpy.run_path("snippet.py", run_name="__main__")
    if "matplotlib.pyplot" in sys.modules:  # figures stay open until they are closed
        sys.modules["matplotlib.pyplot"].close("all")
    if shown:
        assert_prints(capsys.readouterr().out, shown)


def assert_prints(printed, shown):
    """The same words, and the same numbers but for what another processor may change."""
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", shown).split()
    for number, expected in zip(NUMBER.findall(printed), NUMBER.findall(shown), strict=True):
        a_little = 0.02 if "." in expected else 2
        assert float(number) == pytest.approx(float(expected), rel=0.05, abs=a_little)


def test_snippets_are_found_and_continued_where_the_page_says_so():
    page = "\n```python\na = 1\n```\n\nContinuing\nthe example above:\n\n```python\nprint(a)\n```\n"
    page += "\n```text\n1\n```\n\nAlone:\n\n```python\nb = 2\n```\n"
    assert snippets(page) == [("a = 1\n", ""), ("a = 1\nprint(a)\n", "1\n"), ("b = 2\n", "")]
    assert len(SNIPPETS) > 30
    written = [page.read_text("utf-8").count("```python") for page in (ROOT / "README.md", *DOCS)]
    assert len(SNIPPETS) == sum(written)


def test_what_a_page_shows_must_be_what_is_printed():
    assert_prints("found 23 of 24\n", "found  22 of 24")
    for other in ("found 20 of 24", "missed 23 of 24", "found 23", ""):
        with pytest.raises(AssertionError):
            assert_prints("found 23 of 24\n", other)


@each_page
def test_links_between_pages_lead_somewhere(page):
    """Relative links name files that exist, and headings of theirs."""
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text("utf-8")):
        file = (page.parent / target).resolve() if target else page
        if not CLONE and file.is_relative_to(ROOT / "paper"):
            continue
        assert file.exists(), target
        assert not anchor or anchor in anchors(file.read_text("utf-8")), f"{target}#{anchor}"


def anchors(text):
    """Of the headings, as code hosts and MyST make them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


@pytest.mark.skipif(not CLONE, reason="pages name files of paper/, which are only in a clone")
@each_page
def test_files_named_in_backticks_exist(page):
    """`machine/operator.py` and the like are where the page says."""
    for name in re.findall(r"`([\w/]+/[\w/]+\.(?:py|csv|md))`", page.read_text("utf-8")):
        folders = (
            ROOT,
            page.parent,
            *(ROOT / "src").iterdir(),
            *(ROOT / "paper" / "src").iterdir(),
        )
        assert any((folder / name).exists() for folder in folders), name


@each_page
def test_tests_named_by_pages_exist(page):
    """By file and function: promises, the map of the paper, and others."""
    for file, name in re.findall(r"`((?:paper/)?tests/\w+\.py)::(\w+)`", page.read_text("utf-8")):
        if CLONE or not file.startswith("paper/"):
            assert f"def {name}(" in (ROOT / file).read_text("utf-8"), f"{file}::{name}"


def test_every_promise_and_all_of_the_paper_name_tests():
    """Equations, remarks and theorems each in a row with a test, tables and figures with a page."""
    promises = (ROOT / "docs" / "guide" / "promises.md").read_text("utf-8")
    assert len(re.findall(r"`tests/\w+\.py::\w+`", promises)) > 15
    map_ = (ROOT / "docs" / "guide" / "paper.md").read_text("utf-8").partition("## Errata")[0]
    for number in range(1, 6):
        assert re.search(rf"^\| equation {number}.*`tests/\w+\.py::\w+`", map_, re.M), number
    for kind, count in {"remark": 4, "theorem": 2, r"tables?": 7, "figure": 3}.items():
        rows = re.findall(rf"^\| {kind}[ :].*$", map_, re.M)
        assert len(rows) == count, kind
        assert all("::test_" in row or "](" in row for row in rows), kind


def test_the_index_of_decisions_lists_them_all():
    """In its table and in the site; and each page has its four parts."""
    folder = ROOT / "docs" / "decisions"
    index = (folder / "index.md").read_text("utf-8")
    pages = sorted(page.stem for page in folder.glob("*.md") if page.stem != "index")
    assert len(pages) >= 12
    assert sorted(re.findall(r"^\| \[.*?\]\(([\w-]+)\.md\) \|", index, re.M)) == pages
    assert sorted(index.partition("```{toctree}")[2].split()[1:-1]) == pages
    for page in pages:
        text = (folder / f"{page}.md").read_text("utf-8")
        assert [h for h in re.findall(r"^## (\w+)", text, re.M) if h != "Evidence"] == PARTS, page
