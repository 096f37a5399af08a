"""The `eem` command itself: its demo, its version, its errors, and what it needs."""

import subprocess
import sys

from click.testing import CliRunner

import extreme_entropy
from extreme_entropy.cli.root import root


def eem(*words, code=0):
    """Run `eem WORDS` in this process and return what it printed."""
    done = CliRunner().invoke(root, words, prog_name="eem")
    assert done.exit_code == code, done.stderr
    return done.stdout + done.stderr


def test_the_demo_is_three_commands_that_a_newcomer_can_repeat(tmp_path):
    """They are shown with what they print; the last line names the report."""
    page = tmp_path / "page.html"
    shown = eem("demo", "--out", str(page))
    assert str(page) in shown.splitlines()[-1]
    written = page.read_text().rstrip()
    assert written.startswith("<!DOCTYPE html>")
    assert written.endswith("</html>")
    train, model = tmp_path / "page-train.csv", tmp_path / "page-model.eem"
    assert f"$ eem fit {train} --target diagnosis -o {model}\n" in shown
    for expected in ('"malignant" found', "Gradient boosting ", "The model pays.", "GMean"):
        assert expected in shown
    assert shown.count("$ eem ") == 3
    assert "The model pays." in eem("evaluate", str(model), str(tmp_path / "page-new.csv"))


def test_version_is_the_packages():
    assert extreme_entropy.__version__ in eem("--version")


def test_an_unknown_command_is_an_error_without_a_traceback():
    """As a process, by the function that `eem` starts."""
    command = [sys.executable, "-c", "from extreme_entropy.cli import main; main()", "fly"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "The first word must be a command" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_click_the_command_names_the_extra():
    """The base install stays light; the command says what is missing."""
    hide = "import sys; sys.modules['click'] = None; from extreme_entropy.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", hide], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "extreme-entropy[cli]" in done.stderr
    assert "Traceback" not in done.stderr


def test_import_pulls_in_nothing_heavy_that_scikit_learn_does_not():
    """Nor do a fit of rows in memory and the pictures and reports, until one is made.

    scikit-learn itself looks at pandas where it is installed; we add no such weight.
    """
    code = (
        "import sys, numpy as np, sklearn.linear_model; before = set(sys.modules);"
        "from extreme_entropy import EEMClassifier, plots, report;"
        "X = np.random.default_rng(0).normal(size=(50, 2));"
        "EEMClassifier(5).fit(X, X[:, 0] > 0).predict(X);"
        "heavy = {'pandas', 'polars', 'dask', 'pyarrow', 'click', 'imblearn', 'jinja2'};"
        "print(sorted(heavy & (set(sys.modules) - before) | {'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
