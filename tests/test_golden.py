"""A changed field of a model file does not go unnoticed."""

import json

import numpy as np
import pytest
from golden_models import FOLDER, MODELS, rows, stored_fields

from extreme_entropy import load
from extreme_entropy.errors import FileFormatError
from extreme_entropy.persistence import VERSION

WHAT_TO_DO = (
    "Fields of the classes in a model file are not those that are recorded. If `load` would take a "
    "file written before for something else, or refuse it, raise VERSION in persistence.py. Then "
    "run `python tests/golden_models.py`, and add what it writes to the change."
)


def recorded():
    return json.loads((FOLDER / f"{VERSION}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", MODELS)
def test_a_file_of_this_version_is_read_as_it_was_written(name):
    """With the probabilities that the model had then."""
    X = rows()[0][MODELS[name][1]]
    loaded = load(FOLDER / f"{VERSION}-{name}.eem")
    probabilities = loaded.predict_proba(X)[:, 1]
    np.testing.assert_allclose(probabilities, recorded()["predictions"][name], atol=1e-9)
    if name != "classifier":  # which has no sums
        n = loaded.summary_.counts.sum()
        assert loaded.partial_fit(X, loaded.predict(X)).summary_.counts.sum() == n + len(X)


def test_files_of_other_versions_are_refused_by_name():
    """Those that earlier versions of the library have left here."""
    for path in FOLDER.glob("*.eem"):
        version = path.name.partition("-")[0]
        if version != str(VERSION):
            with pytest.raises(FileFormatError, match=f"file version '{version}'"):
                load(path)


def test_fields_of_a_model_file_are_those_of_its_version():
    assert stored_fields() == recorded()["fields"], WHAT_TO_DO


def test_golden_files_are_small():
    assert sum(path.stat().st_size for path in FOLDER.glob(f"{VERSION}-*")) < 50_000
