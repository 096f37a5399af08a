"""Random and damaged tables, for as long as a test may take; `python -m fuzz.command` goes on."""

from pathlib import Path

import pytest

pytest.importorskip("resource")


def test_every_command_ends_well_or_with_one_line(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1])
    from fuzz import command

    assert command.run(5, seed=0) >= 1
