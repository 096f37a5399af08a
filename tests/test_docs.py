"""The documentation is true: its code runs, its links lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    *(ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "paper" / "README.md"),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "paper" / "docs").rglob("*.md")),
]


def test_the_readmes_code_runs(tmp_path, monkeypatch):
    """Ten lines that a newcomer will paste."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {})  # noqa: S102 (our own README)
    assert (tmp_path / "tumours.eem").is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    """Relative links name files that exist."""
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_named_in_backticks_exist(page):
    """`machine/operator.py` and the like are where the page says."""
    for name in re.findall(r"`([\w/]+/[\w/]+\.(?:py|csv|md))`", page.read_text()):
        folders = (
            ROOT,
            page.parent,
            *(ROOT / "src").iterdir(),
            *(ROOT / "paper" / "src").iterdir(),
        )
        assert any((folder / name).exists() for folder in folders), name


def test_every_promise_names_tests_that_exist():
    """Functions by file and name, programs by file."""
    page = (ROOT / "docs" / "guide" / "promises.md").read_text()
    named = re.findall(r"`(tests/\w+\.py)::(\w+)`", page)
    assert len(named) > 15
    for file, name in named:
        assert f"def {name}(" in (ROOT / file).read_text(), f"{file}::{name}"
