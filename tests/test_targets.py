"""A target that is a quantity is named and refused before anything is fitted."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

from extreme_entropy import EEMClassifier, ExtremeEntropyClassifier
from extreme_entropy.cli.root import root
from extreme_entropy.errors import InputError
from extreme_entropy.estimators.inputs import is_quantity
from extreme_entropy.tables.estimate import Split, estimate_outcome


def people(n=600):
    rng = np.random.default_rng(0)
    age = rng.integers(20, 62, n)
    return pd.DataFrame({"income": age * 100 + rng.normal(0, 900, n), "x": rng.normal(size=n)}), age


@pytest.mark.parametrize("kind", [int, float, np.uint8])
def test_many_numbers_are_no_classes_unless_they_are_text(kind, monkeypatch):
    X, age = people()
    classifier = EEMClassifier(20, random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr(EEMClassifier, "specification", None)  # so nothing can be drawn
        with pytest.raises(InputError, match=r"42 different numbers from 20 to 61.*y\.astype\(str"):
            classifier.fit(X, age.astype(kind))
        with pytest.raises(InputError, match="as a quantity does"):
            classifier.partial_fit(X, age.astype(kind))
    assert len(classifier.fit(X, age.astype(str)).classes_) == 42
    classes = np.unique(age.astype(kind))
    fitted = EEMClassifier(20, random_state=0).partial_fit(X, age.astype(kind), classes)
    assert len(fitted.classes_) == 42


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        (np.arange(20, 40), False),  # few
        (np.arange(100), False),  # counted from 0 or 1 on
        (np.arange(1, 101), False),
        (np.delete(np.arange(100), [0, 7, 50]), False),  # a part of the rows lacks some
        (np.arange(17, 91), True),
        (np.arange(0, 400, 5), True),
        (np.arange(-20, 20), True),
        (np.array([f"a{i}" for i in range(99)]), False),
    ],
)
def test_numbers_that_count_from_zero_or_one_on_are_codes_of_classes(classes, expected):
    assert is_quantity(classes) == expected


@pytest.mark.parametrize("form", ["{}", "{}.5"])
@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_the_command_refuses_a_quantity_unless_it_is_asked_for_classes(form, name, tmp_path):
    X, age = people()
    table = X.assign(Age=[form.format(a) for a in age])
    if name == "a.csv":
        table.to_csv(tmp_path / name, index=False)
    else:
        table.to_parquet(tmp_path / name)
    words = ["fit", tmp_path / name, "--target", "Age", "-o", tmp_path / "m.eem"]
    words = list(map(str, [*words, "--model", "eem", "--size", "10", "--no-baseline"]))
    result = CliRunner().invoke(root, words)
    assert result.exit_code == 1
    assert "'Age' holds 42 different numbers (20" in result.stderr
    assert "add --classes" in result.stderr
    assert not (tmp_path / "m.eem").exists()
    assert CliRunner().invoke(root, [*words, "--classes"]).exit_code == 0


def test_a_default_classifier_refuses_it_too():
    X, age = people()
    with pytest.raises(InputError, match="use a regressor"):
        ExtremeEntropyClassifier().fit(X, age)


def test_classes_that_a_fold_lacks_leave_the_estimate_as_it_is(rng):
    """Labels without some in between are no quantity: 30 classes in five groups, each held out."""
    y = rng.permuted(np.repeat(np.arange(30), 40))
    X = pa.table({"x": y + 0.1 * rng.normal(size=len(y))})
    split = Split("group", "shop", y // 6)
    found = estimate_outcome(EEMClassifier(10, random_state=0), X, y, 0, split=split)
    assert not isinstance(found, str)
    assert found.held_out == len(y)
