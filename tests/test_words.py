"""What users read is in the words of the field: no term of our own where the field has one."""

import importlib
import inspect
import pkgutil
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from pages import PAGES, ROOT

import extreme_entropy
from extreme_entropy import EEMClassifier
from extreme_entropy.estimators.docstrings import PLACEHOLDER, TEXTS

PACKAGE = Path(extreme_entropy.__file__).parent

# What must not appear ↦ what to write instead. Terms are whole words, whatever their case.
TERMS = {
    "rivals?": "baseline",
    "stakes?": "priors and costs",
    "on (?:the|a|its|that) (?:own )?line": "projected, on the projection",
    "drawn rows": "sampled rows",
    "look_at": "column statistics, row sample",
    "lanes?|stretch(?:es)?": "batch, slice, chunk or block",
    "one_by_one": "serial",
    "keepers?|keepless": "checkpoint",
    "scorer_of": "get_scorer, make_scorer",
    "remarks": "diagnostics, notes",
    "(?:other|alternative|our) readings?|no reading of": "alternative protocols",
    "of all chance|chance by content": "random seed, randomness by content",
    "read and see rows": "use the columns and the feature map",
    "right when said": "calibrated",
    "told how|unless told|told apart": "a plain sentence",
    "choosing is no gift": "choosing gains little",
    "furthest apart": "separated as far as their variances allow",
    "what (?:the )?rows? says?": "the values of the row",
    "said (?:twice|otherwise)|says nothing": "a plain sentence",
    "nobody knows|somebody asks": "a plain sentence",
    "(?:a|of|on|this|one|another|same) machines?": "computer, classifier",
    "(?:smaller|larger|fitted|saved|binary) machines?": "classifier",
}
FORBIDDEN = {
    re.compile(rf"\b(?:{term})\b", re.IGNORECASE): instead for term, instead in TERMS.items()
}
# Names of methods, ours and others.
NAMES = re.compile(
    r"(?:support vector|extreme learning|extreme entropy(?: kernel)?) machines?", re.I
)
MACHINE_VARIABLE = re.compile(r"\bmachine\s*(?:=(?!=)|\.\w+\()")


def found_in(text):
    """Terms in a text that users should not have to learn, with what to write instead."""
    text = NAMES.sub("", re.sub(r"\s+", " ", text))
    found = [
        f"{match[0]!r}: write {instead}"
        for pattern, instead in FORBIDDEN.items()
        for match in pattern.finditer(text)
    ]
    return found + [f"{m[0]!r}: write classifier" for m in MACHINE_VARIABLE.finditer(text)]


# The changelog tells of names that were replaced.
READ = [page for page in PAGES if page.name != "CHANGELOG.md"]


@pytest.mark.parametrize("page", READ, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages(page):
    assert found_in(page.read_text(encoding="utf-8")) == []


TEMPLATES = sorted((PACKAGE / "report" / "assets").iterdir())


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_the_reports_template(path):
    assert len(TEMPLATES) > 10
    assert found_in(path.read_text(encoding="utf-8")) == []


def test_the_help_of_every_command():
    testing = pytest.importorskip("click.testing")
    from extreme_entropy.cli.root import COMMANDS, root

    for command in ([], *([name] for name in COMMANDS)):
        help_ = testing.CliRunner().invoke(root, [*command, "--help"])
        assert help_.exit_code == 0, help_.output
        assert found_in(help_.output) == [], command


def public_docstrings():
    """Docstrings of what users import, by full name: modules, functions, classes and methods."""
    for found in pkgutil.walk_packages(extreme_entropy.__path__, "extreme_entropy."):
        if found.name.endswith("__main__"):
            continue
        needed = {"engines.ray": "ray", "engines.spark": "pyspark"}  # extras that tests do without
        package = needed.get(found.name.partition(".")[2])
        if package is not None and find_spec(package) is None:
            continue
        module = importlib.import_module(found.name)
        yield found.name, module.__doc__
        for name, value in vars(module).items():
            ours = getattr(value, "__module__", None) == found.name
            if name.startswith("_") or not ours or not callable(value):
                continue
            yield f"{found.name}.{name}", inspect.getdoc(value)
            for method, part in vars(value).items() if inspect.isclass(value) else ():
                if not method.startswith("_"):
                    yield f"{found.name}.{name}.{method}", getattr(part, "__doc__", None)


def test_docstrings():
    found = {name: found_in(text) for name, text in public_docstrings() if text}
    assert len(found) > 300
    assert {name: terms for name, terms in found.items() if terms} == {}


def test_texts_that_docstrings_share_are_all_put_in():
    """No placeholder is left, and each text is used somewhere."""
    texts = {name: text for name, text in public_docstrings() if text}
    left = {name: PLACEHOLDER.findall(text) for name, text in texts.items()}
    assert {name: found for name, found in left.items() if found} == {}
    everything = re.sub(r"\s+", " ", " ".join(texts.values()))
    unused = [name for name in TEXTS if re.sub(r"\s+", " ", TEXTS[name]) not in everything]
    assert unused == []
    assert "X : {array-like" in EEMClassifier.predict.__doc__


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_messages_and_comments(path):
    """All of the source but the names of Python, which may hold a solved machine."""
    text = NAMES.sub("", re.sub(r"\s+", " ", path.read_text(encoding="utf-8")))
    patterns = [pattern for pattern in FORBIDDEN if "machine" not in pattern.pattern]
    assert [match[0] for pattern in patterns for match in pattern.finditer(text)] == []


@pytest.mark.parametrize(
    "planted",
    [
        "Compared with its rivals.",
        "Gaussians on the\nline",
        "each on its own line",
        "The stakes are high",
        "the `scorer_of` function",
        "Of all chance.",
        "Brier score, told how rare",
        "Choosing is no gift",
        "classes are furthest apart for their spread",
        "folds by what rows say",
        "saved by this machine",
        "on one machine or many",
        "machine = EEMClassifier().fit(X, y)",
        "machine.predict(X)",
        "equal priors unless told otherwise",
        "a Keeper",
    ],
)
def test_a_planted_fault_is_found(planted):
    assert len(found_in(f"Some words. {planted} And more.")) == 1


@pytest.mark.parametrize(
    "fine",
    [
        "Extreme Entropy Machine, a Support Vector Machine and an Extreme Learning\nMachine",
        "the solved machine of `machine_`, in `machine/decision.py`",
        "a line in the changelog; the vertical line; on the dotted line",
        "keeps what was learnt; mistakes; one line on stderr",
    ],
)
def test_what_is_allowed_is_not_found(fine):
    assert found_in(fine) == []
