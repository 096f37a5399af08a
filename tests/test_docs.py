"""The documentation is true: its code runs, its links lead somewhere, its figures are rows."""

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_readmes_code_runs(tmp_path, monkeypatch):
    """Ten lines that a newcomer will paste."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {})  # noqa: S102 (our own README)
    assert (tmp_path / "tumours.eem").is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    """Relative links name files that exist."""
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_named_in_backticks_exist(page):
    """`machine/operator.py` and the like are where the page says."""
    for name in re.findall(r"`([\w/]+/[\w/]+\.(?:py|csv|md))`", page.read_text()):
        folders = (ROOT, ROOT / "src" / "extreme_entropy")
        assert any((folder / name).exists() for folder in folders), name


def test_the_speed_figures_are_the_rows_on_disk(monkeypatch):
    """docs/speed.md and the README's table are what benchmarks/page.py makes of the rows."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    page = importlib.import_module("page")
    try:
        assert (ROOT / "docs" / "speed.md").read_text() == page.speed_page()
        readme = (ROOT / "README.md").read_text()
        assert readme == page.with_table(readme)
    finally:
        for name in ("page", "rows"):
            sys.modules.pop(name, None)


def test_the_figures_on_choice_are_the_rows_and_say_what_the_paper_says(monkeypatch):
    """EEM chosen by divergence is as good as by cross-validation; WELM is clearly worse."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    choice, rows = (importlib.import_module(name) for name in ("choice", "rows"))
    try:
        assert (ROOT / "docs" / "choice.md").read_text() == choice.page()
        measured = rows.read("choice")
    finally:
        for name in ("choice", "rows"):
            sys.modules.pop(name, None)

    def mean(model, column):
        values = [float(row[column]) for row in measured if row["model"] == model]
        assert len(values) == 9
        return sum(values) / 9

    for density in ("dcs_gaussian", "dcs_kde"):
        assert mean("EEM", density) > mean("EEM", "nested") - 1.5
        assert mean("EEM", density) > mean("EEM", "best_of_grid") - 1.5
        assert mean("WELM", density) < mean("WELM", "best_of_grid") - 5
