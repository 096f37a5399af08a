"""What is public does not disappear unannounced (docs/guide/stability.md)."""

import json

import pytest

pytest.importorskip("click", reason="the command needs the extra cli")
from golden_names import RECORD, public

WHAT_TO_DO = (
    "is recorded as public and gone. Deprecate it for a minor release first; if that is done, "
    "run `python tests/golden_names.py` and add what it writes to the change."
)


def missing(recorded, present):
    """Each part of the record that is no longer there."""
    return [
        f"{kind}: {name} {sorted(set(parts) - set(present[kind].get(name, [])))}"
        for kind, entries in recorded.items()
        for name, parts in entries.items()
        if name not in present[kind] or not set(parts) <= set(present[kind][name])
    ]


def test_nothing_public_is_missing():
    recorded, present = json.loads(RECORD.read_text(encoding="utf-8")), public()
    assert missing(recorded, present) == [], WHAT_TO_DO
    assert {"fit", "predict", "evaluate"} <= recorded["json"].keys()
    assert len(recorded["names"]) > 60


def test_what_goes_is_noticed():
    """Of each kind, a name or a part of it."""
    before = {"names": {"f": ["x", "y"], "g": []}, "json": {"fit": ["rows"]}}
    after = {"names": {"f": ["y", "z"]}, "json": {"fit": ["rows", "seed"]}}
    assert missing(before, after) == ["names: f ['x']", "names: g []"]
    assert missing(after, after) == []
