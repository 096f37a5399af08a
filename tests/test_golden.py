"""A changed field of a model file does not go unnoticed."""

import json

import numpy as np
import pytest
from golden_models import FOLDER, MODELS, rows, stored_fields

from extreme_entropy import load
from extreme_entropy.errors import FileFormatError
from extreme_entropy.persistence import READ, VERSION

WHAT_TO_DO = (
    "Fields of the classes in a model file are not those that are recorded. If `load` would take a "
    "file written before for something else, or refuse it, raise VERSION in persistence.py. Then "
    "run `python tests/golden_models.py`, and add what it writes to the change."
)


def recorded(version=VERSION):
    return json.loads((FOLDER / f"{version}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("version", READ)
@pytest.mark.parametrize("name", MODELS)
def test_a_file_of_each_version_that_is_read_predicts_as_when_it_was_written(name, version):
    """And goes on learning."""
    X = rows()[0][MODELS[name][1]]
    loaded = load(FOLDER / f"{version}-{name}.eem")
    probabilities = loaded.predict_proba(X)[:, 1]
    np.testing.assert_allclose(probabilities, recorded(version)["predictions"][name], atol=1e-9)
    if name != "classifier":  # which has no sums
        n = loaded.summary_.counts.sum()
        assert loaded.partial_fit(X, loaded.predict(X)).summary_.counts.sum() == n + len(X)


def test_files_of_other_versions_are_refused_by_name():
    """Those that earlier versions of the library have left here."""
    for path in FOLDER.glob("*.eem"):
        version = path.name.partition("-")[0]
        if int(version) not in READ:
            with pytest.raises(FileFormatError, match=f"file version '{version}'"):
                load(path)


def test_what_is_written_is_read():
    assert VERSION in READ


def test_fields_of_a_model_file_are_those_of_its_version():
    assert stored_fields() == recorded()["fields"], WHAT_TO_DO


def test_golden_files_are_small():
    assert sum(path.stat().st_size for path in FOLDER.glob(f"{VERSION}-*")) < 50_000
