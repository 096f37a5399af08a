"""Each row of the table of integrations, with the versions that are installed here."""

import importlib
import warnings

import pytest
from integrations import INTEGRATIONS
from pages import ROOT

from extreme_entropy import TRUSTED_TYPES

PAGE = ROOT / "docs" / "guide" / "integrations.md"


@pytest.mark.parametrize("one", INTEGRATIONS, ids=lambda one: one.work.__name__)
def test_it_works_or_is_refused_as_the_table_says(one):
    if one.absent:
        pytest.skip(f"{', '.join(one.absent)} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other libraries, about each other
        one.work()


def test_the_page_has_a_row_for_each():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    assert [row.split(" | ")[1] for row in rows[1:]] == [one.what for one in INTEGRATIONS]


def test_trusted_types_are_types_of_ours():
    """Each can be found, and is defined where its name says."""
    for name in TRUSTED_TYPES:
        module, _, kind = name.rpartition(".")
        assert module.startswith("extreme_entropy.")
        assert getattr(importlib.import_module(module), kind).__module__ == module
