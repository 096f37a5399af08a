"""The mlflow flavour: logged and loaded without further arguments, and without pickle."""

import mlflow
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from extreme_entropy import (
    EEMClassifier,
    EEMClassifierCV,
    ExtremeEntropyClassifier,
)
from extreme_entropy import mlflow as flavour
from extreme_entropy.errors import FileFormatError

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, y = X.iloc[:200, :4].assign(word=np.array(list("ab"))[np.arange(200) % 2]), y[:200]
FITTED = EEMClassifier(20, random_state=0).fit(X, y)


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Runs in a folder of their own."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield
    mlflow.set_tracking_uri(before)


def test_a_logged_classifier_is_the_same_to_the_last_bit(store):
    """In a run, with text columns."""
    with mlflow.start_run():
        logged = flavour.log_model(FITTED)
    again = flavour.load_model(logged.model_uri)
    np.testing.assert_array_equal(again.predict_proba(X), FITTED.predict_proba(X))
    assert again.get_params() == FITTED.get_params()


@pytest.mark.parametrize(
    "classifier",
    [
        ExtremeEntropyClassifier(n_landmarks=20, random_state=0),
        EEMClassifierCV([5, 10], cv=3, random_state=0),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
def test_all_that_can_be_saved_can_be_logged(classifier, tmp_path):
    """Searches by what they found."""
    rows = X.drop(columns="word")
    flavour.save_model(classifier.fit(rows, y), tmp_path / "model")
    again = flavour.load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(rows), classifier.predict(rows))


def test_a_slim_classifier_stays_slim(tmp_path):
    """It is written as it is."""
    flavour.save_model(FITTED.slim(), tmp_path / "model")
    with pytest.raises(ValueError, match="sums"):
        flavour.load_model(tmp_path / "model").partial_fit(X, y)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_pyfunc_answers_with_the_method_that_was_asked_for(method, tmp_path):
    """When it was saved, or when it is loaded."""
    flavour.save_model(FITTED, tmp_path / "own", method=method)
    flavour.save_model(FITTED, tmp_path / "other")
    own = mlflow.pyfunc.load_model(str(tmp_path / "own"))
    other = mlflow.pyfunc.load_model(str(tmp_path / "other"), model_config={"method": method})
    for model in (own, other):
        np.testing.assert_array_equal(model.predict(X), getattr(FITTED, method)(X))


def test_only_methods_that_answer_can_be_asked_for(tmp_path):
    """A name in a configuration reaches nothing else."""
    flavour.save_model(FITTED, tmp_path / "model")
    with pytest.raises(ValueError, match="must be one of predict, predict_proba"):
        mlflow.pyfunc.load_model(str(tmp_path / "model"), model_config={"method": "__class__"})


def test_the_signature_follows_from_an_example(tmp_path):
    """Its columns, and what is answered."""
    flavour.save_model(FITTED, tmp_path / "model", input_example=X.head(3))
    signature = mlflow.models.get_model_info(str(tmp_path / "model")).signature
    assert signature.inputs.input_names() == X.columns.tolist()
    assert signature.outputs is not None


def test_nothing_in_the_folder_is_pickled(tmp_path):
    """The classifier is one checked file; the rest is text."""
    flavour.save_model(FITTED, tmp_path / "model")
    files = {file.name for file in (tmp_path / "model").rglob("*") if file.is_file()}
    assert {"MLmodel", "model.eem", "requirements.txt"} <= files
    assert not [name for name in files if "pkl" in name or "pickle" in name]
    whole = bytearray((tmp_path / "model" / "data" / "model.eem").read_bytes())
    whole[-1] ^= 1
    (tmp_path / "model" / "data" / "model.eem").write_bytes(bytes(whole))
    with pytest.raises(FileFormatError, match="altered"):
        flavour.load_model(tmp_path / "model")


def test_requirements_name_this_version(tmp_path):
    """Or what the user names."""
    flavour.save_model(FITTED, tmp_path / "own")
    flavour.save_model(FITTED, tmp_path / "given", pip_requirements=["extreme-entropy"])
    own, given = (
        (tmp_path / name / "requirements.txt").read_text().split() for name in ("own", "given")
    )
    assert any(line.startswith("extreme-entropy==") for line in own)
    assert "extreme-entropy" in given
