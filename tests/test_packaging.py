"""What is published is what it says: its description, its version, its promises to installers."""

import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

import extreme_entropy

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PYPROJECT["project"]["optional-dependencies"]


def tool(name):
    """A fixture: a module of tools/."""

    @pytest.fixture(name=name)
    def imported(monkeypatch):
        monkeypatch.syspath_prepend(ROOT / "tools")
        yield importlib.import_module(name)
        sys.modules.pop(name)

    return imported


lower_bounds, check_release = tool("lower_bounds"), tool("check_release")


def test_the_description_on_a_package_index_has_no_relative_link():
    """What the build substitutes leaves neither a picture nor a link that is only in a clone."""
    hook = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"\]\((?!https?:)", text)
    for substitution in hook["substitutions"]:
        text = re.sub(substitution["pattern"], substitution["replacement"], text)
    assert not re.search(r"\]\((?!https?:|#)", text)
    assert "![" not in text


def test_every_requirement_has_one_lower_bound(lower_bounds):
    """Otherwise `make oldest` would not test what is promised."""
    assert {"numpy", "scikit-learn", "pyarrow", "pytest"} <= lower_bounds.promised().keys()
    with pytest.raises(ValueError, match="must read"):
        lower_bounds.lower_bounds(["numpy"])
    with pytest.raises(ValueError, match="choose one"):
        lower_bounds.lower_bounds(["numpy>=2.0", "numpy>=2.1"])


def test_all_is_every_extra_that_is_for_users():
    """`pip install extreme-entropy[all]` leaves out what developers need, Ray and Spark."""
    (everything,) = EXTRAS["all"]
    named = re.fullmatch(r"extreme-entropy\[([\w,]+)\]", everything)[1].split(",")
    assert set(named) == EXTRAS.keys() - {"all", "test", "lint", "docs", "dist", "ray", "spark"}


def test_the_version_is_the_same_wherever_it_is_written(check_release):
    """The package, the changelog's newest section and the citation."""
    version, date = check_release.newest_section()
    assert check_release.faults(version, date) == []
    assert extreme_entropy.__version__ == version
    assert check_release.faults("0.0.1", date)
    assert check_release.faults(version, "2001-02-30")


def test_a_tag_releases_what_is_dated_and_nothing_else(check_release, monkeypatch):
    """The workflow of releases asks this before it builds anything."""
    version, _ = check_release.newest_section()
    assert check_release.faults_of_tag("v0.0.1")
    monkeypatch.setattr(check_release, "newest_section", lambda: (version, "unreleased"))
    assert check_release.faults_of_tag(f"v{version}") == [
        f"CHANGELOG.md calls {version} unreleased: give it its date"
    ]


def test_the_page_on_citing_is_what_citation_cff_says():
    """Authors, title, journal and year of the paper, and the name of the software."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "guide" / "cite.md").read_text(encoding="utf-8")
    paper = citation.split("preferred-citation:")[1].split("references:")[0]
    family, given = (re.findall(rf'{key}-names: "?([^"\n]+)', paper) for key in ("family", "given"))
    values = re.findall(r'(?:title|journal|year): "?([^"\n]+)', paper)
    values += re.findall(r'(?:^title|  - name|^license): "?([^"\n]+)', citation, re.M)
    values.append(" and ".join(", ".join(names) for names in zip(family, given, strict=True)))
    assert len(values) == 7
    assert [value for value in values if f"{{{value}}}" not in page] == []
