"""The `eem` command itself: its tour, its version, its errors, and what it needs."""

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


def test_demo_shows_scores_beside_two_baselines_thresholds_and_probabilities(tmp_path):
    """The tour prints everything a newcomer should see, and ends by naming the report it wrote."""
    page = tmp_path / "page.html"
    shown = eem("demo", "--out", str(page))
    assert str(page) in shown.splitlines()[-1]
    written = page.read_text().rstrip()
    assert written.startswith("<!DOCTYPE html>")
    assert written.endswith("</html>")
    for expected in ("GMean", "bal. acc.", "AUC", "LogisticRegression", "RandomForest"):
        assert expected in shown
    assert "without refitting" in shown
    assert "Columns that matter most" in shown
    assert "Probabilities of one tumour of each kind" in shown


def test_the_demos_tables_are_those_of_the_tutorial(tmp_path):
    """Its rows, in files that the other commands read; the report is that of the same rows."""
    (tmp_path / "tumours.csv").write_text("old")
    shown = eem("demo", "--out", str(tmp_path / "page.html"), "--tables", str(tmp_path))
    assert "Training rows: 178 benign and 20 malignant." in shown
    fitted = eem(
        *("fit", str(tmp_path / "tumours.csv"), "--target", "diagnosis", "--no-baseline"),
        *("-o", str(tmp_path / "tumours.eem")),
    )
    assert '"benign": 178 rows' in fitted
    assert '"malignant": 20 rows' in fitted
    judged = eem("evaluate", str(tmp_path / "tumours.eem"), str(tmp_path / "new.csv"))
    assert "199" in judged
    assert "does not exist" in eem("demo", "--tables", str(tmp_path / "none"), code=2)


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
