"""The examples of the gallery are written to be read; `make docs` runs them (docs/test_site.py)."""

import ast
import re
from pathlib import Path

import pytest
from test_words import found_in

EXAMPLES = Path(__file__).parent.parent / "docs" / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("plot_*.py"))
HEADERS = sorted(EXAMPLES.rglob("GALLERY_HEADER.rst"))

each_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)


@each_script
def test_it_begins_with_a_title_and_an_introduction(script):
    title, underline, *introduction = ast.get_docstring(parsed(script)).split("\n")
    assert re.fullmatch("=+", underline)
    assert len(underline) == len(title)
    assert len(" ".join(introduction)) > 200


@each_script
def test_headings_are_underlined_in_full(script):
    lines = script.read_text(encoding="utf-8").split("\n")
    headings = [i for i, line in enumerate(lines) if re.fullmatch("# -+", line)]
    assert len(headings) >= 2
    assert [lines[i - 1] for i in headings if len(lines[i - 1]) != len(lines[i])] == []
    assert [line for line in lines if re.search(r"\w --+ ", line)] == []  # swallowed by the text
    assert lines[headings[-1] - 1] == "# What to take away"


@each_script
def test_parts_are_short_and_show_no_addresses(script):
    """A part whose last value is an object would print where in memory that is."""
    for part in re.split("^# %%$", script.read_text(encoding="utf-8"), flags=re.M)[1:]:
        statements = ast.parse(part).body
        assert part.startswith("\n# "), "A part begins with a sentence."
        assert sum(s.end_lineno - s.lineno + 1 for s in statements) <= 30, part
        if statements and isinstance(statements[-1], ast.Expr):
            assert re.match(
                r"(print|plt\.show|\w+\.close|\w+\.cleanup)\(", ast.unparse(statements[-1])
            )


@each_script
def test_only_public_names_are_used(script):
    imported = [
        f"{node.module}.{name.name}"
        for node in ast.walk(parsed(script))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("extreme_entropy")
        for name in node.names
    ]
    assert imported
    public = r"extreme_entropy(\.(plots|report|errors|metrics|entropy))?\.[A-Za-z]\w*"
    assert [name for name in imported if not re.fullmatch(public, name)] == []


@pytest.mark.parametrize(
    "page", [*SCRIPTS, *HEADERS], ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_words(page):
    assert found_in(page.read_text(encoding="utf-8").replace("# ", "")) == []


@each_script
def test_made_up_rows_are_called_so(script):
    """Where there is a random generator, or scikit-learn's `make_…`, the text says what it made."""
    text = re.sub(r"[#\s]+", " ", script.read_text(encoding="utf-8"))
    if re.search(r"default_rng|make_(moons|classification)", text):
        assert re.search(r"\bmade[- ]up\b|noise is added here|dealt out", text, re.IGNORECASE)


def test_every_folder_has_a_header_and_examples():
    assert len(SCRIPTS) >= 12
    assert {path.parent for path in HEADERS} == {EXAMPLES, *(path.parent for path in SCRIPTS)}
    for header in HEADERS:
        title, underline, *_ = header.read_text(encoding="utf-8").split("\n")
        assert underline == ("=" if header.parent == EXAMPLES else "-") * len(title)


def parsed(script):
    return ast.parse(script.read_text(encoding="utf-8"))
